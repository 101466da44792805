//! Whatever is typed, what the program says of it holds no character that a terminal obeys.
//!
//! The input is a command line, its arguments parted by NUL. The two in front of it see to it that nothing is asked, searched or
//! written; `< /dev/null` keeps `-f -` from waiting.

#![no_main]

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use libfuzzer_sys::fuzz_target;
use vanity_ed25519::cli;
use vanity_ed25519::escape::{escaped, escaped_json, escaped_os, is_active, shell_word};
use vanity_ed25519::plan::Plan;
use vanity_ed25519::report::{self, Paint};

const FIRST: [&str; 3] = ["vanity-ed25519", "--estimate", "--engine=reference"];

fuzz_target!(|bytes: &[u8]| {
    let words = bytes.split(|byte| *byte == 0).map(|word| OsStr::from_bytes(word).to_owned());
    match cli::plan(FIRST.map(OsString::from).into_iter().chain(words)) {
        Err(refusal) => check(&report::refusal(&refusal, Paint::PLAIN)),
        Ok(Plan::Print(said)) => check(std::str::from_utf8(&said).expect("what is printed is text")),
        Ok(Plan::Help(text, _)) => check(&text.plain),
        Ok(Plan::Estimate(plan)) => plan.patterns.iter().for_each(|pattern| check_pattern(pattern.text())),
        // No text of the command line is in the list.
        Ok(Plan::ListDevices) => {}
        Ok(Plan::Bench(_) | Plan::Search(_)) => panic!("an estimate was asked for"),
    }
    let foreign = OsStr::from_bytes(bytes);
    assert!(!escaped_os(foreign).contains(is_active));
    assert!(!shell_word(foreign.as_ref()).contains(is_active));
});

/// Nothing but line ends is the program's own.
fn check(said: &str) {
    assert!(!said.contains(|char| is_active(char) && char != '\n'), "{said:?}");
}

/// As text and as JSON, a pattern can be shown; JSON gives it back.
fn check_pattern(text: &str) {
    let json = serde_json::Value::from(text).to_string();
    let shown = escaped_json(&json);
    assert!(!escaped(text).contains(is_active) && !shown.contains(is_active), "{text:?}");
    assert_eq!(serde_json::from_str::<String>(&shown).expect("it is JSON"), text);
}
