//! Says what a test lacks. A test then skips, or fails if `VANITY_REQUIRE` names what is missing.
//! `VANITY_SKIPPED` is a file that collects what was missing and in which test, so that these tests
//! alone can run again when it is there.

use std::io::Write as _;

/// Prints to stderr that a test, or a part of one, is skipped because `name` is missing here.
///
/// # Panics
///
/// Panics if `VANITY_REQUIRE`, a list with commas, contains `name`.
pub fn missing(name: &str) {
    let required = std::env::var("VANITY_REQUIRE").unwrap_or_default();
    let required = required.split(',').any(|entry| entry.trim() == name);
    assert!(!required, "{name} is missing, and VANITY_REQUIRE names it");
    if let Some(path) = std::env::var_os("VANITY_SKIPPED") {
        // The harness names the thread of a test after it.
        let thread = std::thread::current();
        let line = format!("{name}\t{}\n", thread.name().unwrap_or("?"));
        let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("VANITY_SKIPPED is a file");
    }
    // The test harness holds back the output of `eprintln!` when a test passes. One write keeps the
    // notice in one piece. It begins a new line, because with one thread the harness has already
    // printed the test's name on the line.
    let notice = format!("\nskipped: {name} is missing\n");
    let _ = std::io::stderr().write_all(notice.as_bytes());
}
