//! Why a pattern is refused, where, and what to do about it.

use std::fmt;
use std::ops::Range;

use crate::escape::escaped_char;
use crate::pattern::odds::SIZE_LIMIT;
use crate::wire::{self, Target};

/// A pattern that cannot be searched.
///
/// Its text is one line; [`PatternError::at`] says which characters are meant and [`PatternError::hint`]
/// what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PatternError {
    target: Target,
    reason: Reason,
    at: Range<usize>,
}

/// The reasons.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// There is no text.
    Empty,
    /// A literal holds a character that base64 does not have.
    NotBase64(char),
    /// The text repeats what every key text begins with.
    Header,
    /// The shortest match, or the text, is longer than what can hold it.
    TooLong {
        /// Characters that are needed.
        len: usize,
        /// Characters that there are.
        most: usize,
    },
    /// The first character of a body cannot be this one (known for literals).
    FirstCharacter(Option<char>),
    /// The last character of a fingerprint cannot be this one (known for literals).
    LastCharacter(Option<char>),
    /// The expression is malformed, as the parser says.
    Syntax(String),
    /// The expression matches only text with characters that base64 does not have.
    NeverBase64,
    /// The expression matches only text that is shorter than a body.
    OtherLength,
    /// The expression contradicts itself.
    NeverMatches,
    /// The automaton would be too large.
    TooComplex,
}

impl PatternError {
    pub(crate) fn new(reason: Reason, at: Range<usize>) -> Self {
        Self { target: Target::Key, reason, at }
    }

    /// The same about another target.
    pub(crate) fn about(self, target: Target) -> Self {
        Self { target, ..self }
    }

    /// What is searched, in words.
    #[must_use]
    pub fn searched(&self) -> &'static str {
        match self.target {
            Target::Key => "key text",
            Target::Fingerprint => "a fingerprint",
        }
    }

    /// The characters that are meant, counted from 0.
    #[must_use]
    pub fn at(&self) -> Range<usize> {
        self.at.clone()
    }

    /// The reason.
    #[must_use]
    pub fn reason(&self) -> &Reason {
        &self.reason
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match &self.reason {
            Reason::Empty => "give at least one character".into(),
            Reason::NotBase64('=') => match self.target {
                Target::Key => "key text is exactly 68 characters long and has no `=` padding".into(),
                Target::Fingerprint => "a fingerprint has 43 characters and no `=` padding".into(),
            },
            Reason::NotBase64('-' | '_') => {
                format!("{} has `+` and `/` where URL-safe base64 has `-` and `_`", self.searched())
            }
            Reason::NotBase64(char) if char.is_whitespace() => {
                "write several patterns as separate arguments; a pattern holds no blanks".into()
            }
            Reason::NotBase64('^' | '$' | '.' | '*' | '?' | '[' | ']' | '(' | ')' | '{' | '}' | '|' | '\\') => {
                "add --regex to search for a regular expression".into()
            }
            Reason::NotBase64(_) | Reason::NeverBase64 => {
                format!("{} is made of A-Z, a-z, 0-9, `+` and `/`", self.searched())
            }
            Reason::Header => match self.target {
                Target::Key => format!(
                    "every key text begins with {} {}; write only what shall follow",
                    wire::ALGORITHM,
                    wire::FIXED
                ),
                Target::Fingerprint => {
                    format!("every fingerprint begins with {}; write only what shall follow", wire::FINGERPRINT_HEADER)
                }
            },
            Reason::TooLong { .. } | Reason::OtherLength => match self.target {
                Target::Key => format!(
                    "the searchable part of a key text has {} characters, the last of its {}",
                    wire::BODY_LEN,
                    wire::TEXT_LEN
                ),
                Target::Fingerprint => {
                    format!("a fingerprint has {} characters after {}", wire::BODY_LEN, wire::FINGERPRINT_HEADER)
                }
            },
            Reason::FirstCharacter(Some(_)) => {
                "put a letter from A to P in front, or search --anywhere (character 1 holds only four key bits)".into()
            }
            Reason::FirstCharacter(None) => {
                "begin with a letter from A to P (character 1 holds only four key bits)".into()
            }
            Reason::LastCharacter(_) => format!(
                "end with one of {} (the last character holds only four bits), or search --anywhere",
                last_characters()
            ),
            Reason::Syntax(_) => "leave out --regex to search for the text itself".into(),
            Reason::NeverMatches => "it contradicts itself; `^` and `$` are the two ends of the body".into(),
            Reason::TooComplex => "use fewer or smaller repetitions, or split it into several patterns".into(),
        }
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let position = self.at.start + 1;
        match &self.reason {
            Reason::Empty => write!(f, "the pattern is empty"),
            Reason::NotBase64(char) => {
                write!(f, "character {position}, {}, never occurs in {}", Shown(*char), self.searched())
            }
            Reason::Header => match self.target {
                Target::Key => write!(f, "the pattern repeats the fixed beginning of every key text"),
                Target::Fingerprint => {
                    write!(f, "the pattern repeats the fixed beginning of every fingerprint")
                }
            },
            Reason::TooLong { len, most } => {
                write!(f, "the pattern needs {len} characters and there is room for {most}")
            }
            Reason::FirstCharacter(Some(char)) => {
                write!(f, "character 1 of the body is always one of A to P, never {}", Shown(*char))
            }
            Reason::FirstCharacter(None) => {
                write!(
                    f,
                    "the body always begins with one of A to P; character {position} of the expression rules that out"
                )
            }
            Reason::LastCharacter(Some(char)) => {
                write!(
                    f,
                    "the last character of a fingerprint is always one of {}, never {}",
                    last_characters(),
                    Shown(*char)
                )
            }
            Reason::LastCharacter(None) => {
                write!(
                    f,
                    "a fingerprint always ends with one of {}; character {position} of the expression rules that out",
                    last_characters()
                )
            }
            Reason::Syntax(message) => {
                write!(f, "malformed regular expression at character {position}: {message}")
            }
            Reason::NeverBase64 => {
                write!(
                    f,
                    "from character {position} of the expression on, it asks for characters that never occur in {}",
                    self.searched()
                )
            }
            Reason::OtherLength => {
                write!(f, "the expression matches only text that is shorter than a body")
            }
            Reason::NeverMatches => {
                write!(f, "from character {position} of the expression on, nothing can match")
            }
            Reason::TooComplex => {
                write!(f, "the automaton of the pattern would need more than {} KiB", SIZE_LIMIT >> 10)
            }
        }
    }
}

impl std::error::Error for PatternError {}

/// What a fingerprint can end with.
fn last_characters() -> String {
    let symbols = Target::Fingerprint.symbols(wire::BODY_LEN - 1);
    symbols.bytes().map(char::from).collect()
}

/// A character in quotes, as it may go to a terminal.
struct Shown(char);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", escaped_char(self.0))
    }
}
