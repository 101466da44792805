//! Lines of a pattern file. A line is a pattern, or the word for a kind, a colon and a pattern.
//!
//! A colon never occurs in key text, so a literal cannot begin with such a word and a colon. A
//! regular expression can contain colons, but only the five words name a kind.

use crate::pattern::{KINDS, Kind, MatchOptions, Pattern, PatternError, Reason};

use super::advice::{Origin, advice, spellings};
use super::values::quoted;
use crate::plan::Diagnostic;

/// The length of the longest line that is read, in bytes. No pattern needs more, and a copy is
/// cheap.
const LONGEST: usize = 64 << 10;

/// How much of a longer line a diagnostic gets, in characters. This is more than an excerpt shows.
const SHOWN: usize = 100;

const WHAT_A_LINE_HOLDS: &str = "a line is one pattern without whitespace, or a comment that begins with #";

/// Returns the word before the colon in `text`, the kind that it names, and the text after the
/// colon. Returns `None` if `text` does not begin with the word for a kind.
pub(super) fn kind(text: &str) -> Option<(&str, Kind, &str)> {
    let (word, rest) = text.split_once(':')?;
    KINDS.iter().find(|(name, _)| *name == word).map(|(_, kind)| (word, *kind, rest))
}

/// A line that is neither blank nor a comment.
pub(super) struct Line<'a> {
    /// The number of the line, from 1.
    pub number: usize,
    /// The line without the whitespace at its end.
    written: &'a str,
    /// The part of the line that is the pattern; the line ends with it.
    pattern: &'a str,
    /// Whether the line names its kind itself.
    names_kind: bool,
    pub options: MatchOptions,
}

/// Why a line is not a pattern.
pub(super) enum LineError {
    /// The line is longer than [`LONGEST`].
    Long,
    /// The pattern cannot be searched for.
    Pattern(PatternError),
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
        Some(match kind(text) {
            Some((_, kind, rest)) => {
                let options = MatchOptions { kind, ..options };
                Self { number, written, pattern: rest.trim_start(), names_kind: true, options }
            }
            None => Self { number, written, pattern: text, names_kind: false, options },
        })
    }

    /// Returns the pattern of the line.
    pub fn pattern(&self) -> Result<Pattern, LineError> {
        if self.written.len() > LONGEST {
            return Err(LineError::Long);
        }
        Pattern::new(self.pattern, self.options).map_err(LineError::Pattern)
    }

    /// Returns the diagnostic about this line of `file`. Its columns count from the start of the
    /// line.
    pub fn diagnostic(&self, file: &str, error: &LineError) -> Diagnostic {
        let number = self.number;
        let error = match error {
            LineError::Pattern(error) => error,
            LineError::Long => {
                let len = self.written.len();
                let problem = format!("{file}:{number}: the line has {len} bytes; the limit is {LONGEST}");
                let shown: String = self.written.chars().take(SHOWN).collect();
                return Diagnostic::new(problem).place(&shown, 0..SHOWN).hint(WHAT_A_LINE_HOLDS);
            }
        };
        let before = self.written[..self.written.len() - self.pattern.len()].chars().count();
        let at = before + error.at().start..before + error.at().end;
        let problem = match error.reason() {
            Reason::NotBase64(char) | Reason::NeverBase64(Some(char)) => {
                format!("{} never occurs in {}", quoted(&char.to_string()), error.searched())
            }
            Reason::Syntax { message, .. } => format!("malformed regular expression: {message}"),
            _ => error.to_string(),
        };
        Diagnostic::new(format!("{file}:{number}:{}: {problem}", at.start + 1))
            .place(self.written, at)
            .hint(self.hint(error))
            .hints(spellings(self.pattern, self.options))
    }

    fn hint(&self, error: &PatternError) -> String {
        let ends_a_word = || !self.names_kind && self.pattern.chars().nth(error.at().start) == Some(':');
        match error.reason() {
            Reason::NotBase64(char) | Reason::NeverBase64(Some(char)) if char.is_whitespace() => {
                WHAT_A_LINE_HOLDS.into()
            }
            Reason::NotBase64(_) | Reason::NeverBase64(_) if ends_a_word() => {
                let [others @ .., last] = KINDS.map(|(word, _)| format!("`{word}:`"));
                format!("a line may begin with {} or {last}", others.join(", "))
            }
            // An option applies to all lines, a word only to this one.
            _ if self.names_kind || self.options.kind != Kind::Regex => {
                advice(error, Origin::Line, self.pattern, self.options)
            }
            _ => advice(error, Origin::Options, self.pattern, self.options),
        }
    }
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
