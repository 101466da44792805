//! Says what a test lacks. A test then skips, or fails if `VANITY_REQUIRE` names what is missing.

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
    // The test harness holds back the output of `eprintln!` when a test passes. One write keeps the
    // notice in one piece. It begins a new line, because with one thread the harness has already
    // printed the test's name on the line.
    let notice = format!("\nskipped: {name} is missing\n");
    let _ = std::io::stderr().write_all(notice.as_bytes());
}
