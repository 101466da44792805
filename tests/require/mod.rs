//! Finds the tools and engines that tests need. A test without them says what is missing and skips,
//! or fails if `VANITY_REQUIRE` names it.

use std::io::Write as _;
use std::path::PathBuf;

use vanity_ed25519::engine::{self, Engine, EngineError, Sizing};

/// Returns the path of the program `name`, from `PATH` or from the directories of system programs.
///
/// # Panics
///
/// Panics as [`missing`] does.
pub fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .map(|directory| directory.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
        .find(|file| file.is_file());
    if found.is_none() {
        missing(name);
    }
    found
}

/// Returns every engine that this machine can run, and names the others.
///
/// # Panics
///
/// Panics if an engine fails its self-test, and as [`missing`] does.
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
/// Panics if `VANITY_REQUIRE`, a list with commas, contains `name`.
pub fn missing(name: &str) {
    let required = std::env::var("VANITY_REQUIRE").unwrap_or_default();
    let required = required.split(',').any(|entry| entry.trim() == name);
    assert!(!required, "{name} is missing, and VANITY_REQUIRE names it");
    // The test harness holds back the output of `eprintln!` when a test passes. One write keeps the
    // notice in one piece. It begins a new line, because with one thread the harness has already
    // printed the test's name on the line.
    let notice = format!("\nskipped: {name} is missing\n");
    let _ = std::io::stderr().write_all(notice.as_bytes());
}
