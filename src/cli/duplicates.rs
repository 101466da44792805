//! Removal of patterns that occur more than once.

use std::collections::{BTreeSet, HashMap};

use crate::notice::Notice;
use crate::pattern::Pattern;

use crate::escape::quoted_start;

/// The location of a pattern on the command line or in a file.
pub(super) struct Location {
    /// The index of a file's name in the list of names; `None` for the command line.
    pub file: Option<usize>,
    /// The line, or the number of the argument, from 1.
    pub number: usize,
}

/// Removes every pattern that has occurred before.
///
/// `locations` has the location of each pattern, and `files` the names of the files. Returns a note with
/// the first repetition as an example.
pub(super) fn remove(
    patterns: &mut Vec<Pattern>,
    locations: &[Location],
    files: &[String],
) -> Option<Notice> {
    let firsts = first_occurrences(patterns);
    let again = || firsts.iter().enumerate().filter(|(id, first)| id != *first);
    let (second, &first) = again().next()?;
    let example = format!(
        "{} ({}, first in {})",
        quoted_start(patterns[second].text()),
        shown(&locations[second], files, None),
        shown(&locations[first], files, locations[second].file)
    );
    let mut ids = firsts.iter().enumerate();
    patterns.retain(|_| ids.next().is_some_and(|(id, first)| id == *first));

    let repeated: BTreeSet<&usize> = again().map(|(_, first)| first).collect();
    Some(Notice::note(match repeated.len() {
        1 => format!("1 pattern occurs more than once and is searched for once: {example}"),
        many => {
            format!("{many} patterns occur more than once and are searched for once, such as {example}")
        }
    }))
}

/// Returns the index of the first occurrence of each pattern.
fn first_occurrences(patterns: &[Pattern]) -> Vec<usize> {
    let mut firsts = HashMap::with_capacity(patterns.len());
    patterns.iter().enumerate().map(|(id, pattern)| *firsts.entry(pattern.identity()).or_insert(id)).collect()
}

/// Returns a location in words: `argument 7`, `words.txt:7`, or `line 7` if the file is `in_file`.
fn shown(location: &Location, files: &[String], in_file: Option<usize>) -> String {
    let number = location.number;
    match location.file {
        None => format!("argument {number}"),
        here if here == in_file => format!("line {number}"),
        Some(file) => format!("{}:{number}", files[file]),
    }
}
