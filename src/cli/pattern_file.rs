//! Files of patterns. A line is a pattern, or the word for a kind, a colon and a pattern.
//!
//! A colon never occurs in key text, so a literal cannot begin with such a word and a colon. A
//! regular expression can contain colons, but only the five words name a kind.

use std::io::Read as _;
use std::path::Path;

use crate::pattern::{KINDS, Kind, MatchOptions, Pattern, PatternError, Reason};

use super::advice::{Origin, advice, spellings};
use super::option_values::by_name;
use super::stdio::is_stdio;
use crate::plan::Diagnostic;
use crate::sys::{Patient, room};

/// The size of the largest file that is read, in bytes. It has room for millions of words and fits
/// in memory.
const LARGEST_FILE: u64 = 64 << 20;

/// The length of the longest line that is read, in bytes. No pattern needs more, and a copy is
/// cheap.
const LONGEST: usize = 64 << 10;

/// How much of a longer line a diagnostic gets, in characters. This is more than an excerpt shows.
const SHOWN: usize = 100;

const WHAT_A_LINE_HOLDS: &str = "a line is one pattern without whitespace, or a comment that begins with #";

/// Returns the kind that the word before the colon in `text` names, and the text after the colon.
fn kind(text: &str) -> Option<(Kind, &str)> {
    let (word, rest) = text.split_once(':')?;
    Some((by_name(&KINDS, word)?, rest))
}

/// A line that is neither blank nor a comment.
pub(super) struct Line<'a> {
    /// The number of the line, from 1.
    pub number: usize,
    /// The line without the whitespace at its end.
    written: &'a str,
    /// The part of the line that is the pattern; the line ends with it.
    pattern: &'a str,
    pub options: MatchOptions,
}

impl<'a> Line<'a> {
    /// Reads a line. `options` applies unless the line names a kind. Returns `None` for a blank line
    /// and for a comment.
    pub fn read(number: usize, line: &'a str, options: MatchOptions) -> Option<Self> {
        let written = line.trim_end();
        let text = written.trim_start();
        if text.is_empty() || text.starts_with('#') {
            return None;
        }
        let (options, pattern) = match kind(text) {
            Some((kind, rest)) => (MatchOptions { kind, ..options }, rest.trim_start()),
            None => (options, text),
        };
        Some(Self { number, written, pattern, options })
    }

    /// Refuses a line that is longer than [`LONGEST`].
    pub fn check_length(&self, file: &str) -> Result<(), Diagnostic> {
        let len = self.written.len();
        if len <= LONGEST {
            return Ok(());
        }
        let shown: String = self.written.chars().take(SHOWN).collect();
        let problem = format!("{file}:{}: the line has {len} bytes; the limit is {LONGEST}", self.number);
        Err(Diagnostic::new(problem).place(&shown, 0..SHOWN).hint(WHAT_A_LINE_HOLDS))
    }

    /// Returns the pattern of the line.
    pub fn pattern(&self) -> Result<Pattern, PatternError> {
        Pattern::new(self.pattern, self.options)
    }

    /// Returns the diagnostic about this line of `file`. Its columns count from the start of the line.
    pub fn diagnostic(&self, file: &str, error: &PatternError) -> Diagnostic {
        let before = self.written[..self.written.len() - self.pattern.len()].chars().count();
        let at = before + error.at().start..before + error.at().end;
        let problem = match error.reason() {
            Reason::NotBase64(char) | Reason::NeverBase64(Some(char)) => {
                format!("'{char}' never occurs in {}", error.searched())
            }
            Reason::Syntax { message, .. } => format!("malformed regular expression: {message}"),
            _ => error.to_string(),
        };
        let names_kind = kind(self.written.trim_start()).is_some();
        let origin = if names_kind { Origin::LineWithKind } else { Origin::Line };
        Diagnostic::new(format!("{file}:{}:{}: {problem}", self.number, at.start + 1))
            .place(self.written, at)
            .hint(advice(error, origin, self.pattern, self.options))
            .hints(spellings(self.pattern, self.options))
    }
}

/// Reads a file of at most [`LARGEST_FILE`] bytes, or half of the memory that limits leave.
pub(super) fn contents(file: &Path, name: &str) -> Result<Vec<u8>, Diagnostic> {
    let mut bytes = Vec::new();
    // What limits of memory leave must also hold the patterns.
    let most = room().map_or(LARGEST_FILE, |room| LARGEST_FILE.min(room.left / 2));
    // The extra byte shows that the file is larger than the limit.
    let read = if is_stdio(file) {
        Patient(std::io::stdin()).take(most + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|file| Patient(file).take(most + 1).read_to_end(&mut bytes))
    };
    match read {
        Ok(_) if bytes.len() as u64 > most => {
            let why = if most < LARGEST_FILE { ", for which the limits of memory leave no room" } else { "" };
            let problem = format!("{name} is larger than {} MiB{why}", most >> 20);
            Err(Diagnostic::new(problem).hint("split it, and give each part with -f"))
        }
        Ok(_) => Ok(bytes),
        Err(error) => Err(Diagnostic::new(format!("cannot read patterns from {name}: {error}")).hint(
            "-f takes a file of patterns; a pattern itself needs no option, and -o names the key's file",
        )),
    }
}

/// Returns the diagnostic that names the first byte that text in UTF-8 does not have. Programs that
/// read text take a NUL byte for its end, and text in UTF-16 has many of them.
pub(super) fn not_text(origin: &str, bytes: &[u8]) -> Diagnostic {
    let text = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let at = text.find('\0').unwrap_or(text.len());
    let what = if at < text.len() { "text" } else { "UTF-8 text" };
    let line = 1 + bytes[..at].iter().filter(|&&byte| byte == b'\n').count();
    let column = 1 + bytes[..at].iter().rev().take_while(|&&byte| byte != b'\n').count();
    Diagnostic::new(format!(
        "{origin} is not {what}: byte {:#04x} in line {line}, column {column}",
        bytes[at]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the kind and the pattern of a line, with `--suffix` on the command line.
    fn read(line: &str) -> Option<(Kind, &str)> {
        let options = MatchOptions { kind: Kind::Suffix, ..MatchOptions::default() };
        Line::read(1, line, options).map(|line| (line.options.kind, line.pattern))
    }

    #[test]
    fn a_line_can_name_its_kind() {
        assert_eq!(read("abc"), Some((Kind::Suffix, "abc")));
        assert_eq!(read("  prefix:abc\r"), Some((Kind::Prefix, "abc")));
        assert_eq!(read("anywhere: abc"), Some((Kind::Anywhere, "abc")));
        assert_eq!(read("regex:a:b"), Some((Kind::Regex, "a:b")));
        assert_eq!(read("word:"), Some((Kind::Word, "")));
        assert_eq!(read("prefix:suffix:abc"), Some((Kind::Prefix, "suffix:abc")));
        for other in ["Prefix:abc", "prefix :abc", "sufix:abc", "a:b", ":", "prefix"] {
            assert_eq!(read(other), Some((Kind::Suffix, other)));
        }
        for nothing in ["", " \t\r", "#", "  # prefix:abc"] {
            assert_eq!(read(nothing), None);
        }
    }
}
