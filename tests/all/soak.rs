//! A long search finds right keys only, and its memory does not grow.
//!
//! `VANITY_SOAK` sets how many seconds it runs (1 by default). So short a search gets a table that does
//! not grow any more, because on a busy machine it finds its table later.

#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::program;
use program::{body, of_type, program, text, whole};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// How many KiB a search may grow after its middle: about what an allocator keeps in reserve after
/// a long time.
const GROWTH: u64 = 4 << 10;

/// The most KiB that a search may take at any time: 166 MiB for two tables that it compares, as
/// docs/engines.md says, and what it takes besides.
const MOST: u64 = (166 + 16) << 10;

/// Returns the memory that a process uses, in KiB.
fn resident(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

#[test]
fn a_long_search_stays_right_and_small() {
    let long = std::env::var("VANITY_SOAK").ok();
    let seconds = long.as_deref().map_or(1, |seconds| seconds.parse().unwrap());
    let directory = TempDir::new().unwrap();
    // The search tries many thousand keys for each that it finds, so that it does more than write
    // files.
    let mut search = program(&["--json", "-q", "-n", "100000000", "--engine", "auto", "abcd"]);
    if long.is_none() {
        search.args(["--table-memory", "4MiB"]);
    }
    search.arg("-d");
    let mut child = program::start(search.arg(directory.path()).stdout(Stdio::piped()));
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let (begun, end) = (Instant::now(), Duration::from_secs(seconds));
    let mut sizes = Vec::new();
    let (mut found, mut attempts, mut line) = (0u64, 0, String::new());
    let mut is_stopped = false;
    while stdout.read_line(&mut line).unwrap() > 0 {
        for object in of_type(&program::objects(&line), "found") {
            found += 1;
            attempts = whole(object, "attempts").max(attempts);
            let private = text(object, "private_key_file");
            let public = program::check_pair(private.as_ref());
            assert_eq!(public, text(object, "public_key"));
            assert!(body(&public).to_lowercase().contains("abcd"), "{public}");
            // Otherwise this would test a directory of a million files.
            std::fs::remove_file(private).unwrap();
            std::fs::remove_file(program::public_path(private.as_ref())).unwrap();
        }
        line.clear();
        // At least one size is needed, however late.
        if begun.elapsed() < end || sizes.is_empty() {
            sizes.push((begun.elapsed(), resident(child.id())));
        } else if !is_stopped {
            kill_process(Pid::from_child(&child), Signal::INT).unwrap();
            is_stopped = true;
        }
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let largest = |from: Duration, to: Duration| {
        sizes.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, size)| *size).max()
    };
    let peak = largest(Duration::ZERO, Duration::MAX).unwrap();
    // On a busy machine there may be no key in the middle.
    let middle = largest(end * 2 / 5, end * 3 / 5).unwrap_or(peak);
    let late = largest(end * 3 / 5, Duration::MAX).unwrap_or(middle);
    eprintln!(
        "{seconds} s: {found} of {found} keys right, {attempts} tried; at most {peak} KiB; \
         {middle} KiB in the middle, then at most {late} KiB"
    );
    assert!(peak <= MOST, "{peak} KiB");
    assert!(late <= middle + GROWTH, "from {middle} to {late} KiB");
}
