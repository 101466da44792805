//! Any text becomes a pattern with a chance above 0, or an error with a place in the text.

#![no_main]

mod options;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use options::{MatchOptions, target};
use vanity_search::pattern::{Kind, Pattern, PatternError};
use vanity_search::wire::{BODY_LEN, Bytes};

/// The most bytes of an expression. A longer one may take many milliseconds.
const MOST_BYTES: usize = 32;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    options: MatchOptions,
    fingerprint: bool,
    values: [Bytes; 2],
    text: &'a str,
}

fuzz_target!(|input: Input| {
    let options = input.options.about(target(input.fingerprint));
    if options.kind == Kind::Regex && input.text.len() > MOST_BYTES {
        return;
    }
    match Pattern::new(input.text, options) {
        Ok(pattern) => check_pattern(&pattern, &input),
        Err(error) => check_error(&error, input.text),
    }
});

fn check_pattern(pattern: &Pattern, input: &Input) {
    assert_eq!(pattern.text(), input.text);
    let chance = pattern.odds().probability();
    assert!(chance > 0.0 && chance <= 1.0, "the chance is {chance}");
    for value in input.values.iter().chain([&[0; 32], &[0xff; 32]]) {
        let found = pattern.find(&pattern.options().target.body(value));
        assert!(found.is_none_or(|found| found.start <= found.end && found.end <= BODY_LEN));
    }
}

fn check_error(error: &PatternError, text: &str) {
    let (at, message) = (error.at(), error.to_string());
    assert!(at.start <= at.end && at.end <= text.chars().count() + 1, "{message}: {at:?}");
    assert!(!message.is_empty() && !message.contains(char::is_control), "{message:?}");
    // Every error has a remedy: this must not panic.
    let _ = error.remedy();
}
