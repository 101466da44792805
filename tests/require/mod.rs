//! What a test needs from the machine: skipped by name where it is missing, or required.

use std::io::Write as _;
use std::path::PathBuf;

use vanity_ed25519::engine::{self, Engine, EngineError, Sizing};

/// The program `name`, looked for in `PATH` and in the directories of system programs.
///
/// # Panics
///
/// As [`missing`] does.
pub fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .map(|directory| directory.join(name))
        .find(|file| file.is_file());
    if found.is_none() {
        missing(name);
    }
    found
}

/// Returns every engine of this machine, and names those that it cannot run.
///
/// # Panics
///
/// An engine fails its self-test; else as [`missing`] does.
pub fn engines(sizing: Sizing) -> Vec<Box<dyn Engine>> {
    let there = |engine| match engine {
        Ok(engine) => Some(engine),
        Err(EngineError::Unavailable { name, .. }) => {
            missing(name);
            None
        }
        Err(error) => panic!("{error}"),
    };
    engine::every(sizing).filter_map(there).collect()
}

/// Prints to stderr that a test, or a part of one, is skipped because `name` is missing here.
///
/// # Panics
///
/// If `VANITY_REQUIRE`, a list with commas, names it.
pub fn missing(name: &str) {
    let required = std::env::var("VANITY_REQUIRE").unwrap_or_default();
    let required = required.split(',').any(|entry| entry.trim() == name);
    assert!(!required, "{name} is missing, and VANITY_REQUIRE names it");
    // Not `eprintln!`, which the test harness holds back when a test passes. In one piece, on a line of its own: with one
    // thread the harness has begun a line with the test's name.
    let notice = format!("\nskipped: {name} is missing\n");
    let _ = std::io::stderr().write_all(notice.as_bytes());
}
