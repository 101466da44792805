//! The program's output never holds a character that controls a terminal, whatever the arguments are.
//!
//! The input is a command line whose arguments are separated by NUL. Because of the two arguments in
//! front of it, the program asks nothing, searches nothing and writes nothing. With `< /dev/null`,
//! `-f -` does not wait.

#![no_main]

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use libfuzzer_sys::fuzz_target;
use vanity_ed25519::program::{escaped, escaped_json, escaped_os, is_active, shell_word};
use vanity_ed25519::program::Plan;
use vanity_ed25519::program::{Paint, plan, plan_error};

const FIRST: [&str; 3] = ["vanity-ed25519", "--estimate", "--engine=reference"];

fuzz_target!(|bytes: &[u8]| {
    let words = bytes.split(|byte| *byte == 0).map(|word| OsStr::from_bytes(word).to_owned());
    match plan(FIRST.map(OsString::from).into_iter().chain(words), &|_| ()) {
        Err(error) => check(&plan_error(&error, Paint::PLAIN)),
        Ok(Plan::Print(said)) => check(std::str::from_utf8(&said).expect("what is printed is text")),
        Ok(Plan::Help(text, _)) => check(&text.plain),
        Ok(Plan::Estimate(plan)) => {
            plan.search.patterns.iter().for_each(|pattern| check_pattern(pattern.text()))
        }
        // No text of the command line is in the list.
        Ok(Plan::ListDevices) => {}
        Ok(Plan::Bench(_) | Plan::Search(_)) => panic!("--estimate does not search"),
    }
    let foreign = OsStr::from_bytes(bytes);
    assert!(!escaped_os(foreign).contains(is_active));
    assert!(!shell_word(foreign.as_ref()).contains(is_active));
});

/// Checks that no character but the line ends controls a terminal.
fn check(said: &str) {
    assert!(!said.contains(|char| is_active(char) && char != '\n'), "{said:?}");
}

/// Checks that a pattern can be shown as text and as JSON, and that JSON returns the same text.
fn check_pattern(text: &str) {
    let json = serde_json::Value::from(text).to_string();
    let shown = escaped_json(&json);
    assert!(!escaped(text).contains(is_active) && !shown.contains(is_active), "{text:?}");
    assert_eq!(serde_json::from_str::<String>(&shown).expect("it is JSON"), text);
}
