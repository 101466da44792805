//! The errors of patterns: the reason, the place, and a remedy.

use std::fmt;
use std::ops::Range;

use crate::escape::escaped_char;
use crate::odds::SIZE_LIMIT;
use crate::wire::{self, Target};

/// A pattern that cannot be searched.
///
/// Its text is one line. [`PatternError::at`] returns the characters that are wrong, and
/// [`PatternError::remedy`] a way to correct them.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PatternError {
    target: Target,
    reason: Reason,
    at: Range<usize>,
}

/// The reason why a pattern is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// The text is empty.
    Empty,
    /// A literal holds a character that base64 does not have.
    NotBase64(char),
    /// The text repeats the fixed beginning of every key text, or of every fingerprint.
    Header,
    /// The text, or the shortest match of the expression, is longer than the room for it.
    TooLong {
        /// The characters that the pattern needs.
        len: usize,
        /// The most characters that fit.
        most: usize,
    },
    /// The first character of a body cannot be this one (`None` for an expression).
    FirstCharacter(Option<char>),
    /// The last character of a fingerprint cannot be this one (`None` for an expression).
    LastCharacter(Option<char>),
    /// The expression is malformed.
    Syntax {
        /// The parser's message.
        message: String,
        /// Whether the text itself can be searched for.
        is_literal: bool,
    },
    /// The expression matches only text with characters that base64 does not have. Holds the first of
    /// them, if the expression names a single one.
    NeverBase64(Option<char>),
    /// The expression matches only text that is shorter than a body.
    OtherLength,
    /// The expression contradicts itself.
    NeverMatches,
    /// The automaton, or the NFA, would be too large.
    TooComplex,
}

/// A way to correct a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remedy {
    /// Give at least one character.
    GiveText,
    /// Leave out `=`: the searched text has no padding.
    LeaveOutPadding,
    /// Write `+` and `/`. Only URL-safe base64 has `-` and `_`.
    WritePlusAndSlash,
    /// Split the text into several patterns: a pattern holds no blanks.
    SplitAtBlanks,
    /// Search for a regular expression.
    MakeRegex,
    /// Use the characters of base64 alone.
    UseAlphabet,
    /// Leave out the fixed beginning.
    LeaveOutHeader,
    /// Change the length of the match, so that it fits the 43 characters.
    FitLength,
    /// Begin with another character, or let the text be anywhere.
    ChangeFirstOrMove,
    /// Begin with another character.
    ChangeFirst,
    /// End with another character, or let the text be anywhere.
    ChangeLastOrMove,
    /// Search for the text itself instead of an expression.
    MakeLiteral,
    /// Correct the syntax of the expression.
    CorrectSyntax,
    /// Change the part that contradicts itself.
    ResolveContradiction,
    /// Use fewer or smaller repetitions.
    Simplify,
}

impl PatternError {
    pub(crate) fn new(reason: Reason, at: Range<usize>) -> Self {
        Self { target: Target::Key, reason, at }
    }

    /// Returns the same error about another target.
    pub(crate) fn about(self, target: Target) -> Self {
        Self { target, ..self }
    }

    /// Returns a name for the searched text.
    #[must_use]
    pub fn searched(&self) -> &'static str {
        match self.target {
            Target::Key => "key text",
            Target::Fingerprint => "a fingerprint",
        }
    }

    /// Returns the range of the wrong characters, counted from 0.
    #[must_use]
    pub fn at(&self) -> Range<usize> {
        self.at.clone()
    }

    /// Returns the reason.
    #[must_use]
    pub fn reason(&self) -> &Reason {
        &self.reason
    }

    /// Returns the target of the pattern.
    #[must_use]
    pub fn target(&self) -> Target {
        self.target
    }

    /// Returns a way to correct the pattern.
    #[must_use]
    pub fn remedy(&self) -> Remedy {
        match &self.reason {
            Reason::Empty => Remedy::GiveText,
            Reason::NotBase64('=') | Reason::NeverBase64(Some('=')) => Remedy::LeaveOutPadding,
            Reason::NotBase64('-' | '_') | Reason::NeverBase64(Some('-' | '_')) => Remedy::WritePlusAndSlash,
            Reason::NotBase64(char) | Reason::NeverBase64(Some(char)) if char.is_whitespace() => {
                Remedy::SplitAtBlanks
            }
            Reason::NotBase64(
                '^' | '$' | '.' | '*' | '?' | '[' | ']' | '(' | ')' | '{' | '}' | '|' | '\\',
            ) => Remedy::MakeRegex,
            Reason::NotBase64(_) | Reason::NeverBase64(_) => Remedy::UseAlphabet,
            Reason::Header => Remedy::LeaveOutHeader,
            Reason::TooLong { .. } | Reason::OtherLength => Remedy::FitLength,
            Reason::FirstCharacter(Some(_)) => Remedy::ChangeFirstOrMove,
            Reason::FirstCharacter(None) => Remedy::ChangeFirst,
            Reason::LastCharacter(_) => Remedy::ChangeLastOrMove,
            Reason::Syntax { is_literal: true, .. } => Remedy::MakeLiteral,
            Reason::Syntax { is_literal: false, .. } => Remedy::CorrectSyntax,
            Reason::NeverMatches => Remedy::ResolveContradiction,
            Reason::TooComplex => Remedy::Simplify,
        }
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let position = self.at.start + 1;
        match &self.reason {
            Reason::Empty => write!(f, "the pattern is empty"),
            Reason::NotBase64(char) | Reason::NeverBase64(Some(char)) => {
                write!(f, "character {position}, {}, never occurs in {}", Shown(*char), self.searched())
            }
            Reason::Header => match self.target {
                Target::Key => write!(f, "the pattern repeats the fixed beginning of every key text"),
                Target::Fingerprint => {
                    write!(f, "the pattern repeats the fixed beginning of every fingerprint")
                }
            },
            Reason::TooLong { len, most } => {
                write!(f, "the pattern needs {len} characters, but only {most} fit")
            }
            Reason::FirstCharacter(Some(char)) => {
                write!(f, "character 1 of the body is always one of A to P, never {}", Shown(*char))
            }
            Reason::FirstCharacter(None) => {
                write!(
                    f,
                    "the body always begins with one of A to P; character {position} of the expression makes that impossible"
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
                    "a fingerprint always ends with one of {}; character {position} of the expression makes that impossible",
                    last_characters()
                )
            }
            Reason::Syntax { message, .. } => {
                write!(f, "malformed regular expression at character {position}: {message}")
            }
            Reason::NeverBase64(None) => {
                write!(
                    f,
                    "from character {position} on, the expression needs characters that never occur in {}",
                    self.searched()
                )
            }
            Reason::OtherLength => {
                write!(
                    f,
                    "the expression matches only text that is shorter than the {} searched characters",
                    wire::BODY_LEN
                )
            }
            Reason::NeverMatches => {
                write!(f, "from character {position} of the expression on, nothing can match")
            }
            Reason::TooComplex => {
                write!(f, "the pattern is too complex: it needs more than {} KiB", SIZE_LIMIT >> 10)
            }
        }
    }
}

impl std::error::Error for PatternError {}

/// Returns the 16 characters with which a fingerprint can end.
#[must_use]
pub fn last_characters() -> String {
    let symbols = Target::Fingerprint.symbols(wire::BODY_LEN - 1);
    symbols.bytes().map(char::from).collect()
}

/// A character in quotes, escaped for a terminal.
struct Shown(char);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", escaped_char(self.0))
    }
}
