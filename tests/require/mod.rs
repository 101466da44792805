//! What a test needs from the machine: skipped by name where it is missing, or required.

use std::io::Write as _;
use std::path::PathBuf;

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

/// Says on stderr that a test is skipped because `name` is missing here.
///
/// # Panics
///
/// If `VANITY_REQUIRE`, a list with commas, names it.
pub fn missing(name: &str) {
    let required = std::env::var("VANITY_REQUIRE").unwrap_or_default();
    let required = required.split(',').any(|entry| entry.trim() == name);
    assert!(!required, "{name} is missing, and VANITY_REQUIRE names it");
    // Not `eprintln!`, which the test harness holds back when a test passes.
    let _ = writeln!(std::io::stderr(), "skipped: {name} is missing");
}
