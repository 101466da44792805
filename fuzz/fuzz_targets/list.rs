//! A file of patterns becomes patterns or diagnostics, whatever it holds. The patterns are those of
//! its lines, in the same order. The diagnostics name lines and columns that exist.

#![no_main]

mod options;

use std::cell::RefCell;
use std::io::{Seek as _, Write as _};
use std::num::NonZeroUsize;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use options::{MatchOptions, target};
use tempfile::NamedTempFile;
use vanity_ed25519::program::read_patterns;
use vanity_search::pattern::{self, KINDS, Kind, Pattern};
use vanity_ed25519::program::PlanError;

/// The length of a filler, which consists of one of the bytes [`FILLERS`]. It makes a file so long
/// that threads compile it, or a line longer than the program reads.
const LONG: usize = 70_000;
const FILLERS: [u8; 4] = *b"\n# a";

/// The most bytes without the filler, and the most lines with expressions. Each expression may take
/// milliseconds.
const MOST_BYTES: usize = 256;
const EXPRESSIONS: usize = 2;

const THREADS: NonZeroUsize = NonZeroUsize::new(2).unwrap();

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    options: MatchOptions,
    fingerprint: bool,
    /// The number of the filler in the middle; none for a number above the last filler's.
    long: u8,
    bytes: &'a [u8],
}

thread_local! {
    /// The file that every input is written to.
    static FILE: RefCell<NamedTempFile> = RefCell::new(NamedTempFile::new().expect("a file can be made"));
}

fuzz_target!(|input: Input| {
    let options = input.options.about(target(input.fingerprint));
    let typed = &input.bytes[..input.bytes.len().min(MOST_BYTES)];
    if expressions(typed, options.kind) > EXPRESSIONS {
        return;
    }
    let (before, after) = typed.split_at(typed.len() / 2);
    let filler = FILLERS.get(usize::from(input.long)).map_or(vec![], |filler| vec![*filler; LONG]);
    FILE.with_borrow_mut(|file| check(file, &[before, &filler, after].concat(), options));
});

/// Returns the number of lines that may hold expressions.
fn expressions(bytes: &[u8], kind: Kind) -> usize {
    let is_one = |line: &&[u8]| {
        kind == Kind::Regex && !line.is_empty() || line.windows(6).any(|part| part == b"regex:")
    };
    bytes.split(|byte| *byte == b'\n').filter(is_one).count()
}

fn check(file: &mut NamedTempFile, bytes: &[u8], options: pattern::MatchOptions) {
    file.as_file().set_len(0).and_then(|()| file.rewind()).expect("the file can be emptied");
    file.write_all(bytes).expect("the file can be written");
    match read_patterns(&[] as &[&str], &[file.path()], options, THREADS) {
        Ok(read) => check_patterns(&read.patterns, read.notices.len(), bytes, options),
        Err(PlanError::Diagnostics(diagnostics)) => {
            assert!(!diagnostics.is_empty());
            let name = file.path().display().to_string();
            diagnostics.iter().for_each(|diagnostic| check_complaint(&diagnostic.to_string(), &name, bytes));
        }
        Err(PlanError::SelfTest(_)) => panic!("no list causes this"),
    }
}

fn check_patterns(patterns: &[Pattern], notices: usize, bytes: &[u8], options: pattern::MatchOptions) {
    let text = std::str::from_utf8(bytes).expect("only text holds patterns");
    let typed = || {
        text.trim_start_matches('\u{feff}')
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
    };
    let mut lines = typed();
    for pattern in patterns {
        assert!(lines.any(|line| is_of(pattern, line, options)), "{} is in no line", pattern.text());
    }
    let left_out = typed().count() - patterns.len();
    assert_eq!(
        left_out > 0,
        notices == 1,
        "{left_out} lines have no pattern, and there are {notices} notices"
    );
}

/// Returns whether a line, without the blanks at its ends, holds this pattern.
fn is_of(pattern: &Pattern, line: &str, options: pattern::MatchOptions) -> bool {
    let kind = pattern.options().kind;
    let named = |before: &str| {
        KINDS.iter().any(|(name, named)| *named == kind && before.strip_suffix(':') == Some(*name))
    };
    pattern.options() == pattern::MatchOptions { kind, ..options }
        && line.strip_suffix(pattern.text()).is_some_and(|before| {
            if before.is_empty() { kind == options.kind } else { named(before.trim_end()) }
        })
}

/// Checks that a diagnostic is `error: FILE:LINE:COLUMN: ...`, the line, carets, and a hint. A
/// diagnostic about the whole file has no line and no column.
fn check_complaint(diagnostic: &str, name: &str, bytes: &[u8]) {
    assert!(!diagnostic.contains(|char: char| char.is_control() && char != '\n'), "{diagnostic:?}");
    let mut said = diagnostic.lines();
    let problem = said.next().and_then(|line| line.strip_prefix("error: ")).expect("a problem comes first");
    if let Some(place) = problem.strip_prefix(&format!("{name}:")) {
        let mut numbers = place.split(':').map(|number| number.parse::<usize>().ok());
        let number = numbers.next().flatten().expect("the line is named");
        let text = std::str::from_utf8(bytes).expect("only text has lines");
        let line = text.lines().nth(number - 1).expect("there is such a line");
        // A line that is too long is named without a column.
        let column = numbers.next().flatten().unwrap_or(1);
        assert!((1..=line.chars().count() + 1).contains(&column), "{diagnostic}");
    } else {
        assert!(
            problem.starts_with(&format!("'{name}'")) || problem.contains(" patterns cannot be searched"),
            "{diagnostic}"
        );
    }
    for line in said {
        assert!(line.starts_with("    ") || line.strip_prefix("hint: ").is_some_and(|hint| !hint.is_empty()));
    }
}
