//! The program keeps and shows no wrong key if its engine is faulty, and its panics show no secret.
//!
//! The fault is between the search and a real back end, in a process of its own. There this test
//! program carries out the plan as `main` does.

#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use crate::{program, require};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use program::{Ran, check_pair, names, objects, of_type, run, text};
use tempfile::TempDir;
use vanity_ed25519::program::{EngineChoice, Plan, SearchPlan, carry_out, plan};
use vanity_search::engine::{Engine, EngineOptions, EngineWorker, Hit, SeedSource};
use vanity_search::key::Seed;
use vanity_search::notice::Notice;
use vanity_search::pattern::Matcher;

/// The variables that turn a test into the program: its arguments, one on each line, the fault, and
/// a file for seeds.
const ARGUMENTS: &str = "VANITY_FAULTY_ARGUMENTS";
const FAULT: &str = "VANITY_FAULTY_FAULT";
const SEEDS: &str = "VANITY_FAULTY_SEEDS";

/// What is wrong with the engine.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// Of this many lanes, this one derives the keys of other seeds.
    Lane(usize, usize),
    /// The same, and the other lanes report no hits.
    LaneAlone(usize, usize),
    /// Of the hits, this one has the seed of another key. One worker searches.
    Hit(usize),
    /// A worker panics.
    Worker,
    /// The engine panics when the thread that reports asks it for notes.
    Notes,
}

impl Fault {
    fn read(typed: &str) -> Self {
        let words: Vec<&str> = typed.split(' ').collect();
        let number = |at: usize| words[at].parse().unwrap();
        match words[0] {
            "lane" => Self::Lane(number(1), number(2)),
            "lane-alone" => Self::LaneAlone(number(1), number(2)),
            "hit" => Self::Hit(number(1)),
            "worker" => Self::Worker,
            "notes" => Self::Notes,
            other => panic!("no fault {other}"),
        }
    }
}

struct Faulty {
    inner: Arc<dyn Engine>,
    fault: Fault,
}

impl Engine for Faulty {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn worker(&self) -> Box<dyn EngineWorker + '_> {
        Box::new(FaultyWorker { inner: self.inner.worker(), fault: self.fault, hits: 0 })
    }

    fn workers(&self, threads: usize) -> usize {
        if let Fault::Hit(_) = self.fault { 1 } else { threads }
    }

    fn notices(&self) -> Vec<Notice> {
        assert!(self.fault != Fault::Notes, "the engine has no notes");
        Vec::new()
    }
}

struct FaultyWorker<'a> {
    inner: Box<dyn EngineWorker + 'a>,
    fault: Fault,
    /// The number of hits so far.
    hits: usize,
}

/// Gives wrong seeds to the lane of the fault, and keeps the right ones.
struct OtherSeeds<'a> {
    inner: &'a mut dyn SeedSource,
    fault: Fault,
    given: Vec<[u8; 32]>,
}

impl SeedSource for OtherSeeds<'_> {
    fn fill(&mut self, seeds: &mut [[u8; 32]]) {
        self.inner.fill(seeds);
        self.given.extend_from_slice(seeds);
        if let Fault::Lane(lanes, lane) | Fault::LaneAlone(lanes, lane) = self.fault {
            seeds.iter_mut().skip(lane).step_by(lanes).for_each(|seed| seed[0] ^= 1);
        }
    }
}

impl EngineWorker for FaultyWorker<'_> {
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
        let mut seeds = OtherSeeds { inner: seeds, fault: self.fault, given: Vec::new() };
        let mut new = Vec::new();
        let tried = self.inner.batch(matcher, &mut seeds, &mut new);
        if let Ok(file) = std::env::var(SEEDS) {
            let mut seen = fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
            seen.write_all(seeds.given.as_flattened()).unwrap();
        }
        assert!(self.fault != Fault::Worker, "{} seeds were tried", seeds.given.len());
        for mut hit in new {
            let index = usize::try_from(hit.index).unwrap();
            hit.seed = Seed::new(seeds.given[index]);
            self.hits += 1;
            match self.fault {
                Fault::Hit(wrong) if wrong == self.hits => {
                    hits.push(Hit { seed: Seed::new([7; 32]), ..hit });
                }
                Fault::LaneAlone(lanes, lane) if index % lanes != lane => {}
                _ => hits.push(hit),
            }
        }
        tried
    }
}

/// If the variables are set, this process is the program from here on. Without them this test does
/// nothing.
#[test]
fn run_as_the_program() {
    let (Ok(arguments), Ok(fault)) = (std::env::var(ARGUMENTS), std::env::var(FAULT)) else { return };
    let fault = Fault::read(&fault);
    let arguments: Vec<String> =
        std::iter::once("vanity-ed25519").chain(arguments.lines()).map(str::to_owned).collect();
    let status = carry_out(|limit| {
        let Plan::Search(search) = plan(arguments.into_iter().map(Into::into), limit)? else {
            panic!("no search")
        };
        let inner = search.engine.build(f64::INFINITY)?;
        let engine = EngineChoice::Given(Arc::new(Faulty { inner, fault }));
        Ok(Plan::Search(SearchPlan { engine, ..search }))
    });
    std::process::exit(status.into());
}

/// Runs the program with a fault.
fn faulty(fault: &str, arguments: &[&str], more: &[(&str, &str)]) -> Ran {
    run(Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "faulty::run_as_the_program", "--nocapture"])
        .env(ARGUMENTS, arguments.join("\n"))
        .env(FAULT, fault)
        .envs(more.iter().copied()))
}

/// Returns the engines of this processor, each with its number of lanes.
fn back_ends() -> Vec<(&'static str, usize)> {
    let lanes = |name| match name {
        "reference" | "portable" => Some(1),
        "neon" => Some(2),
        "avx2" | "avxifma" => Some(4),
        "avx512f" | "avx512ifma" => Some(8),
        _ => None,
    };
    let engines = require::engines(EngineOptions::for_attempts(0.0));
    engines.iter().filter_map(|engine| Some((engine.name(), lanes(engine.name())?))).collect()
}

/// Checks that the search has failed with the message of the self-check.
fn check_failed(ran: &Ran, engine: &str) {
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let expected = format!("error: self-check: the engine '{engine}' reported a wrong key, ");
    assert!(ran.stderr.contains(&expected), "{ran:?}");
    assert!(!ran.stderr.contains("panicked"), "{ran:?}");
}

/// The search ends by its fourth hit, while the keys of the first three are encrypted.
#[test]
fn keys_that_are_encrypted_when_a_search_fails_are_kept_or_named() {
    for (rounds, timeout, kept) in [("1", "1min", 3), ("10000", "1s", 0)] {
        let directory = TempDir::new().unwrap();
        let secret = directory.path().join("secret");
        fs::write(&secret, "correct horse").unwrap();
        let keys = directory.path().join("keys");
        let args = ["-q", "--engine", "reference", "-t", "6", "--rounds", rounds, "--timeout", timeout];
        let args = [&args[..], &["--passphrase-file", secret.to_str().unwrap(), "-n", "9", "ab", "-d"]];
        let ran = faulty("hit 4", &[&args.concat()[..], &[keys.to_str().unwrap()]].concat(), &[]);
        check_failed(&ran, "reference");
        let given_up = ran.stderr.contains("error: gave up 3 keys for 'ab': the encryption did not finish");
        assert_eq!(given_up, kept == 0, "{ran:?}");
        assert_eq!(program::private_paths(&keys).len(), kept, "{ran:?}");
    }
}

#[test]
fn a_fault_in_one_lane_leaves_no_file() {
    let outer = TempDir::new().unwrap();
    let secret = outer.path().join("secret");
    fs::write(&secret, "correct horse").unwrap();
    let secret = secret.to_str().unwrap();
    for (engine, lanes) in back_ends() {
        for lane in 0..lanes {
            let directory = outer.path().join(format!("{engine}-{lane}"));
            fs::create_dir(&directory).unwrap();
            let file = directory.join("id_x");
            let file = file.to_str().unwrap();
            let base = ["--engine", engine, "abc"];
            // Every lane can hurt a key. The ways of a key are the same for all of them.
            let ways: [&[&str]; 5] = [
                // `-q` leaves out the measurement before the search.
                &["-q", "-o", file],
                &["-o", file],
                &["-q", "-o", file, "--rounds", "1", "--passphrase-file", secret],
                &["-q"],
                &["-q", "--json"],
            ];
            for options in &ways[..if lane == 0 { ways.len() } else { 1 }] {
                let ran = faulty(&format!("lane-alone {lanes} {lane}"), &[&base[..], *options].concat(), &[]);
                check_failed(&ran, engine);
                assert!(!ran.stdout.contains("ssh-ed25519 ") && !ran.stdout.contains("PRIVATE"), "{ran:?}");
                assert_eq!(names(&directory), [""; 0], "{options:?}");
            }
        }
    }
}

#[test]
fn only_right_keys_are_kept_beside_a_fault_in_one_lane() {
    let outer = TempDir::new().unwrap();
    for (engine, lanes) in back_ends() {
        let directory = outer.path().join(engine);
        let path = directory.to_str().unwrap();
        let arguments = ["-q", "--json", "-t", "2", "--engine", engine, "-n", "100000", "-d", path, "ab"];
        let ran = faulty(&format!("lane {lanes} {}", lanes - 1), &arguments, &[]);
        check_failed(&ran, engine);
        let json: String =
            ran.stdout.lines().filter(|line| line.starts_with('{')).collect::<Vec<_>>().join("\n");
        let json = objects(&json);
        let found = of_type(&json, "found");
        for object in &found {
            let private = Path::new(text(object, "private_key_file"));
            assert_eq!(check_pair(private), text(object, "public_key"));
        }
        let keys = if directory.exists() { names(&directory) } else { Vec::new() };
        assert_eq!(keys.iter().filter(|name| name.ends_with(".pub")).count(), found.len(), "{keys:?}");
        assert_eq!(keys.iter().filter(|name| *name != program::LEDGER).count(), 2 * found.len(), "{keys:?}");
    }
}

#[test]
fn a_panic_ends_with_status_1_and_shows_no_secret() {
    let directory = TempDir::new().unwrap();
    let seen = directory.path().join("seen");
    let file = directory.path().join("id_x");
    let (seen_path, file) = (seen.to_str().unwrap(), file.to_str().unwrap());
    let engines = back_ends();
    // The notes of an engine come from the search, whatever the back end is.
    for (fault, engines) in [("worker", &engines[..]), ("notes", &engines[..1])] {
        for (engine, _) in engines {
            let arguments =
                ["-q", "-t", "2", "--however-long", "--engine", engine, "-o", file, "abcdefghijkl"];
            let ran = faulty(fault, &arguments, &[(SEEDS, seen_path), ("RUST_BACKTRACE", "full")]);
            assert_eq!(ran.status, Some(1), "{ran:?}");
            assert!(ran.stderr.contains("panicked at") && ran.stderr.contains("stack backtrace"), "{ran:?}");
            assert_eq!(names(directory.path()), ["seen"]);
            let seeds = fs::read(&seen).unwrap();
            assert!(seeds.len() >= 256 * 32);
            let output = ran.stdout + &ran.stderr;
            for seed in seeds.as_chunks::<32>().0.iter().rev().take(256) {
                let hex: String = seed[..8].iter().map(|byte| format!("{byte:02x}")).collect();
                let [numbers, hexes] = [format!("{:?}", &seed[..4]), format!("{:02x?}", &seed[..4])];
                for text in
                    [&hex, &STANDARD.encode(&seed[..9]), numbers.trim_matches(']'), hexes.trim_matches(']')]
                {
                    assert!(!output.contains(text), "{text} in {output}");
                }
            }
            fs::remove_file(&seen).unwrap();
        }
    }
}
