//! What to look for: typed text becomes a [`Pattern`] with exact [`Odds`], many become a [`Matcher`].
//!
//! A pattern is matched against the 43-character body of a key's text. Whatever its kind, it is compiled
//! to a deterministic automaton over the 64 base64 symbols; one pass of dynamic programming over the 43
//! positions gives the exact chance per key. A pattern whose chance is 0 is refused when it is made, with
//! the place and the reason.

mod automaton;
mod error;
mod literal;
mod matcher;
mod odds;
mod prefilter;
mod regex;

use std::ops::Range;

pub use error::{PatternError, Reason};
pub use matcher::{Matcher, PatternId, TooManyPatterns};
pub use odds::Odds;

use crate::wire::{self, Body, Symbols};
use automaton::Automaton;
use literal::Literal;
use regex::Regex;

/// Where in the body the text must stand, or that it is a regular expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Kind {
    /// Anywhere.
    #[default]
    Anywhere,
    /// At the beginning of the body, right after the fixed characters.
    Prefix,
    /// At the end of the body.
    Suffix,
    /// Anywhere, with `+` or `/` on both sides.
    Word,
    /// A regular expression over the whole body, which `^` and `$` delimit.
    Regex,
}

/// How a typed pattern is to be read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Style {
    /// Where the text must stand.
    pub kind: Kind,
    /// Whether `a` and `A` differ.
    pub case_sensitive: bool,
    /// Whether a letter also matches its usual digit (not for [`Kind::Regex`]).
    pub leet: bool,
}

/// One thing to look for.
///
/// ```
/// use vanity_ed25519::pattern::{Kind, Pattern, Style};
///
/// let pattern = Pattern::new("abc", Style { kind: Kind::Prefix, ..Style::default() })?;
/// // One of `a`, `A` among the 16 first characters, then two of 64 each, twice.
/// assert_eq!(pattern.odds().expected_attempts(), 16.0 * 32.0 * 32.0);
/// # Ok::<(), vanity_ed25519::pattern::PatternError>(())
/// ```
#[derive(Clone)]
pub struct Pattern {
    text: String,
    odds: Odds,
    form: Form,
}

#[derive(Clone)]
enum Form {
    Literal(Literal),
    Regex(Box<Regex>),
}

impl Pattern {
    /// Reads a pattern and computes its odds.
    ///
    /// # Errors
    ///
    /// The text is empty or malformed, or no key can ever match it: the error names the place and the
    /// reason.
    pub fn new(text: &str, style: Style) -> Result<Self, PatternError> {
        if text.is_empty() {
            return Err(PatternError::new(Reason::Empty, 0..0));
        }
        let (form, chance) = if style.kind == Kind::Regex {
            let regex = Regex::new(text, style.case_sensitive)?;
            let chance = regex.chance(&positions());
            (Form::Regex(Box::new(regex)), chance)
        } else {
            let literal = Literal::new(text, style)?;
            let chance = literal.chance(&positions())?;
            (Form::Literal(literal), chance)
        };
        let odds = Odds::new(chance).ok_or_else(|| PatternError::new(Reason::NeverMatches, 0..1))?;
        Ok(Self { text: text.to_owned(), odds, form })
    }

    /// The pattern as it was typed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The exact chance that a random key matches.
    #[must_use]
    pub fn odds(&self) -> Odds {
        self.odds
    }

    /// Where the pattern matches in `body`, by plain comparison.
    ///
    /// This is the slow certain test: it shares no code with [`Matcher`], and every hit is proved with it.
    #[must_use]
    pub fn find(&self, body: &Body) -> Option<Range<usize>> {
        match &self.form {
            Form::Literal(literal) => literal.find(body),
            Form::Regex(regex) => regex.find(body),
        }
    }
}

/// The most patterns whose common odds are computed.
const MOST_IN_UNION: usize = 32;

/// The exact chance that a key matches at least one of `patterns`.
///
/// `None` where it is not computed: for no patterns, for more than 32, and where their common automaton would
/// be too large.
#[must_use]
pub fn any_of(patterns: &[Pattern]) -> Option<Odds> {
    match patterns {
        [] => return None,
        [one] => return Some(one.odds),
        _ if patterns.len() > MOST_IN_UNION => return None,
        _ => {}
    }
    let hirs = patterns.iter().map(|pattern| match &pattern.form {
        Form::Literal(literal) => literal.hir(),
        Form::Regex(regex) => regex.hir(),
    });
    let union = regex_syntax::hir::Hir::alternation(hirs.collect());
    Odds::new(Automaton::of(&union).ok()?.chance(&positions()))
}

/// The symbols at each position of a body.
fn positions() -> [Symbols; wire::BODY_LEN] {
    std::array::from_fn(Symbols::at)
}

#[cfg(test)]
mod tests;
