//! Lists of patterns. A line is a pattern, or the word for a kind, a colon and a pattern.
//!
//! A colon never occurs in key text, so a literal cannot begin with such a word and a colon. A
//! regular expression can contain colons, but only the five words name a kind.

use std::collections::HashMap;

use crate::syntax::{KINDS, Kind, MatchOptions, Pattern, PatternError, PatternId};

/// The lines of a list that are neither blank nor comments. A comment begins with `#`.
pub struct Lines<'a> {
    lines: std::str::Lines<'a>,
    /// The number of the last line, from 1.
    number: usize,
    options: MatchOptions,
}

impl<'a> Lines<'a> {
    /// Reads the lines of `text`. `options` apply to the lines that do not name a kind.
    #[must_use]
    pub fn new(text: &'a str, options: MatchOptions) -> Self {
        Self { lines: text.trim_start_matches('\u{feff}').lines(), number: 0, options }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        self.lines.find_map(|line| {
            self.number += 1;
            let written = line.trim_end();
            let text = written.trim_start();
            if text.is_empty() || text.starts_with('#') {
                return None;
            }
            let named = kind(text);
            let kind = named.map_or(self.options.kind, |(kind, _)| kind);
            Some(Line {
                number: self.number,
                written,
                pattern: named.map_or(text, |(_, rest)| rest.trim_start()),
                options: MatchOptions { kind, ..self.options },
                names_kind: named.is_some(),
            })
        })
    }
}

/// Returns the kind that the word before the colon in `text` names, and the text after the colon.
fn kind(text: &str) -> Option<(Kind, &str)> {
    let (word, rest) = text.split_once(':')?;
    KINDS.iter().find(|(name, _)| *name == word).map(|(_, kind)| (*kind, rest))
}

/// A line of a list.
pub struct Line<'a> {
    /// The number of the line, from 1.
    pub number: usize,
    /// The line without the whitespace at its end.
    pub written: &'a str,
    /// The part of the line that is the pattern. The line ends with it.
    pub pattern: &'a str,
    /// How the pattern is read.
    pub options: MatchOptions,
    /// Whether the line names the kind of its pattern.
    pub names_kind: bool,
}

impl Line<'_> {
    /// Reads the pattern of the line.
    ///
    /// # Errors
    ///
    /// Returns an error as [`Pattern::new`] does. Its place counts from the start of the pattern.
    pub fn read(&self) -> Result<Pattern, PatternError> {
        Pattern::new(self.pattern, self.options)
    }
}

/// Returns for each pattern the first one that is [the same](Pattern::identity).
#[must_use]
pub fn firsts(patterns: &[Pattern]) -> Vec<PatternId> {
    let mut firsts = HashMap::with_capacity(patterns.len());
    patterns.iter().zip(0..).map(|(pattern, id)| *firsts.entry(pattern.identity()).or_insert(id)).collect()
}
