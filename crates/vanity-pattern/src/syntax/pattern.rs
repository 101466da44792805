//! One pattern: its text, its options, and its exact odds.

use std::ops::Range;

use super::error::{PatternError, Reason};
use super::identity::Identity;
use super::literal::Literal;
use super::options::{Kind, MatchOptions};
use super::regex::Regex;
use crate::odds::Odds;
use crate::wire::Body;

/// A pattern to search for.
///
/// ```
/// use vanity_pattern::{Kind, MatchOptions, Pattern};
///
/// let pattern = Pattern::new("abc", MatchOptions { kind: Kind::Prefix, ..MatchOptions::default() })?;
// One of 2 among 16 characters (`a`, `A`), then one of 2 among 64, twice.
/// assert_eq!(pattern.odds().expected_attempts(), 16.0 * 32.0 * 32.0);
/// # Ok::<(), vanity_pattern::PatternError>(())
/// ```
#[derive(Clone)]
pub struct Pattern {
    text: Box<str>,
    options: MatchOptions,
    odds: Odds,
    /// `None` except for [`Kind::Regex`].
    regex: Option<Box<Regex>>,
}

impl Pattern {
    /// Reads a pattern and computes its odds.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is empty or malformed, or if no key can ever match it. The
    /// error names the place and the reason.
    pub fn new(text: &str, options: MatchOptions) -> Result<Self, PatternError> {
        let about = |error: PatternError| error.about(options.target);
        if text.is_empty() {
            return Err(about(PatternError::new(Reason::Empty, 0..0)));
        }
        let (regex, chance) = if options.kind == Kind::Regex {
            let (regex, chance) = Regex::new(text, options).map_err(about)?;
            (Some(Box::new(regex)), chance)
        } else {
            let literal = Literal::new(text, options).map_err(about)?;
            (None, literal.chance(&options.target.positions()).map_err(about)?)
        };
        let odds = Odds::new(chance).ok_or_else(|| about(PatternError::new(Reason::NeverMatches, 0..1)))?;
        Ok(Self { text: text.into(), options, odds, regex })
    }

    /// Returns the pattern as it was typed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the options of the pattern.
    #[must_use]
    pub fn options(&self) -> MatchOptions {
        self.options
    }

    /// Returns the identity, by which patterns are compared.
    #[must_use]
    pub fn identity(&self) -> Identity<'_> {
        Identity::new(&self.text, self.options)
    }

    /// Returns the exact chance that a random key matches.
    #[must_use]
    pub fn odds(&self) -> Odds {
        self.odds
    }

    /// Returns the first range of `body` that matches the pattern, by plain comparison.
    ///
    /// This is the slow, certain test: it shares no code with
    /// [`Matcher`](crate::Matcher), and it proves every hit.
    #[must_use]
    pub fn find(&self, body: &Body) -> Option<Range<usize>> {
        match self.form() {
            Form::Literal(literal) => literal.find(body),
            Form::Regex(regex) => regex.find(body),
        }
    }

    /// Returns the literal. For a regular expression it holds the text of the expression.
    pub(crate) fn literal(&self) -> Literal<'_> {
        Literal::of(&self.text, self.options)
    }

    pub(crate) fn form(&self) -> Form<'_> {
        match &self.regex {
            Some(regex) => Form::Regex(regex),
            None => Form::Literal(self.literal()),
        }
    }
}

/// The index of a pattern in its list.
pub type PatternId = usize;

/// The two forms of a pattern.
pub(crate) enum Form<'a> {
    Literal(Literal<'a>),
    Regex(&'a Regex),
}
