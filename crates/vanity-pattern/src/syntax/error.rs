//! The errors of patterns: the reason, the place, and a remedy.

use std::ops::Range;

use thiserror::Error;

use crate::odds::SIZE_LIMIT;
use crate::wire::{BODY_LEN, Target};

/// A pattern that cannot be searched.
///
/// Its text is one line. [`PatternError::at`] returns the characters that are wrong, and
/// [`PatternError::remedy`] a way to correct them.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{}", text(.reason, *.target, .at.start + 1))]
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
        searched(self.target)
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

fn searched(target: Target) -> &'static str {
    match target {
        Target::Key => "key text",
        Target::Fingerprint => "a fingerprint",
    }
}

/// Returns the line about a pattern whose character at `position`, counted from 1, is wrong.
fn text(reason: &Reason, target: Target, position: usize) -> String {
    let (searched, last) = (searched(target), last_characters());
    match reason {
        Reason::Empty => "the pattern is empty".to_owned(),
        Reason::NotBase64(char) | Reason::NeverBase64(Some(char)) => {
            format!("character {position}, {}, never occurs in {searched}", quoted(*char))
        }
        Reason::Header => {
            let each = if target == Target::Key { searched } else { "fingerprint" };
            format!("the pattern repeats the fixed beginning of every {each}")
        }
        Reason::TooLong { len, most } => {
            format!("the pattern needs {len} characters, but only {most} fit")
        }
        Reason::FirstCharacter(Some(char)) => {
            format!("character 1 of the body is always one of A to P, never {}", quoted(*char))
        }
        Reason::FirstCharacter(None) => format!(
            "the body always begins with one of A to P; character {position} of the expression makes that impossible"
        ),
        Reason::LastCharacter(Some(char)) => {
            format!("the last character of a fingerprint is always one of {last}, never {}", quoted(*char))
        }
        Reason::LastCharacter(None) => format!(
            "a fingerprint always ends with one of {last}; character {position} of the expression makes that impossible"
        ),
        Reason::Syntax { message, .. } => {
            format!("malformed regular expression at character {position}: {message}")
        }
        Reason::NeverBase64(None) => format!(
            "from character {position} on, the expression needs characters that never occur in {searched}"
        ),
        Reason::OtherLength => {
            format!(
                "the expression matches only text that is shorter than the {BODY_LEN} searched characters"
            )
        }
        Reason::NeverMatches => {
            format!("from character {position} of the expression on, nothing can match")
        }
        Reason::TooComplex => {
            format!("the pattern is too complex: it needs more than {} KiB", SIZE_LIMIT >> 10)
        }
    }
}

/// Returns the 16 characters with which a fingerprint can end.
#[must_use]
pub fn last_characters() -> String {
    let symbols = Target::Fingerprint.symbols(BODY_LEN - 1);
    symbols.bytes().map(char::from).collect()
}

/// Returns a character in quotes. Escapes those that a terminal does not show as they are.
pub fn quoted(char: char) -> String {
    if matches!(char, '\'' | '\\') { format!("'{char}'") } else { format!("{char:?}") }
}
