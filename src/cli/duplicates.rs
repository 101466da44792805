//! Patterns that occur more than once are searched once.
//!
//! Two are the same if their kinds are and their texts are, but for case where that is ignored. Regular
//! expressions are compared as they stand: `\d` is not `\D`. Sorting by hashes costs 16 bytes a pattern, less than
//! half of what a hash table takes, and 0.1 to 0.6 s for a million patterns.

use std::hash::{DefaultHasher, Hasher as _};

use crate::notice::Notice;
use crate::pattern::{Kind, Pattern};

use super::values::shortened;

/// Where a pattern stands, and its kind.
pub(super) struct Place {
    /// The index of a file's name in the list of names; `None` for the command line.
    pub file: Option<usize>,
    /// The line, or the number of the argument, from 1.
    pub number: usize,
    pub kind: Kind,
}

/// Removes every pattern that has occurred before, and tells of the first. `places` are theirs, `files` the names.
pub(super) fn remove(
    patterns: &mut Vec<Pattern>,
    places: &[Place],
    files: &[String],
    case_sensitive: bool,
) -> Option<Notice> {
    let again = repetitions(patterns, places, case_sensitive);
    let &(second, first) = again.first()?;
    let example = format!(
        "{} ({}, first in {})",
        shortened(patterns[second].text()),
        shown(&places[second], files, None),
        shown(&places[first], files, places[second].file)
    );
    let mut id = 0..;
    let mut later = again.iter().map(|(id, _)| *id).peekable();
    patterns.retain(|_| {
        let id = id.next();
        later.next_if(|later| Some(*later) == id).is_none()
    });

    let mut repeated: Vec<usize> = again.into_iter().map(|(_, first)| first).collect();
    repeated.sort_unstable();
    repeated.dedup();
    Some(Notice::note(match repeated.len() {
        1 => format!("1 pattern occurs more than once and is searched once: {example}"),
        many => {
            format!("{many} patterns occur more than once and are searched once, the first of them {example}")
        }
    }))
}

/// The index of every pattern that has occurred before, in ascending order, and of its first occurrence.
fn repetitions(patterns: &[Pattern], places: &[Place], case_sensitive: bool) -> Vec<(usize, usize)> {
    let folded = |id: usize| {
        let fold = !case_sensitive && places[id].kind != Kind::Regex;
        let bytes = patterns[id].text().bytes();
        bytes.map(move |byte| if fold { byte.to_ascii_lowercase() } else { byte })
    };
    let hash = |id: usize| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(places[id].kind as u8);
        folded(id).for_each(|byte| hasher.write_u8(byte));
        hasher.finish()
    };
    let same =
        |id: usize, other: usize| places[id].kind == places[other].kind && folded(id).eq(folded(other));

    let mut order: Vec<(u64, usize)> = (0..patterns.len()).map(|id| (hash(id), id)).collect();
    order.sort_unstable();
    let mut again = Vec::new();
    for alike in order.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
        // One, unless hashes are equal by chance.
        let mut different: Vec<usize> = Vec::new();
        for &(_, id) in alike {
            match different.iter().find(|first| same(**first, id)) {
                Some(first) => again.push((id, *first)),
                None => different.push(id),
            }
        }
    }
    again.sort_unstable();
    again
}

/// `words.txt:7`, or `line 7` to someone who is in that file, or `argument 7`.
fn shown(place: &Place, files: &[String], in_file: Option<usize>) -> String {
    let number = place.number;
    match place.file {
        None => format!("argument {number}"),
        here if here == in_file => format!("line {number}"),
        Some(file) => format!("{}:{number}", files[file]),
    }
}
