//! What to look for: typed text becomes a [`Pattern`] with exact [`Odds`], many become a [`Matcher`].
//!
//! A pattern is matched against the 43 characters that show a [`Subject`]: the body of a key's text, or the fingerprint.
//! The odds of a literal are computed by a dynamic programme over its characters, those of a regular expression over the
//! states of its deterministic automaton; both are exact. A pattern whose chance is 0 is refused when it is made, with the
//! place and the reason.
//!
//! A [`Matcher`] goes through whole batches: a cheap test of the bytes first (`filter`), an exact one for what survives it
//! (`index` for literals, `walk` for expressions).

mod automaton;
mod chance;
mod classes;
mod error;
mod filter;
mod folded;
mod index;
mod literal;
mod literals;
mod marks;
mod matcher;
mod odds;
mod regex;
mod required;
mod screen;
mod walk;

use std::ops::Range;

pub use error::{PatternError, Reason};
pub use matcher::{Matcher, PatternId};
pub use odds::{Bounds, Odds};
pub use screen::Screen;

use crate::wire::{BODY_LEN, Body, Subject};
use automaton::Automaton;
use literal::Literal;
use regex::Regex;

/// Where the text must stand, or that it is a regular expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Kind {
    /// Anywhere.
    #[default]
    Anywhere,
    /// At the beginning, right after the fixed characters.
    Prefix,
    /// At the end.
    Suffix,
    /// Anywhere, with `+` or `/` on both sides.
    Word,
    /// A regular expression over all 43 characters, which `^` and `$` delimit.
    Regex,
}

/// Every kind, and the word for it: an option's name, what stands before a colon in a file, and what a ledger says.
pub const KINDS: [(&str, Kind); 5] = [
    ("anywhere", Kind::Anywhere),
    ("prefix", Kind::Prefix),
    ("suffix", Kind::Suffix),
    ("word", Kind::Word),
    ("regex", Kind::Regex),
];

/// How a typed pattern is to be read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Style {
    /// Where the text must stand.
    pub kind: Kind,
    /// Whether `a` and `A` differ.
    pub case_sensitive: bool,
    /// Whether a letter also matches its usual digit (not for [`Kind::Regex`]).
    pub leet: bool,
    /// What shows the text.
    pub subject: Subject,
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
    text: Box<str>,
    style: Style,
    odds: Odds,
    /// Of [`Kind::Regex`] only.
    regex: Option<Box<Regex>>,
}

impl Pattern {
    /// Reads a pattern and computes its odds.
    ///
    /// # Errors
    ///
    /// The text is empty or malformed, or no key can ever match it: the error names the place and the
    /// reason.
    pub fn new(text: &str, style: Style) -> Result<Self, PatternError> {
        let about = |error: PatternError| error.about(style.subject);
        if text.is_empty() {
            return Err(about(PatternError::new(Reason::Empty, 0..0)));
        }
        let (regex, chance) = if style.kind == Kind::Regex {
            let regex = Regex::new(text, style).map_err(about)?;
            let chance = regex.chance(&style.subject.positions());
            (Some(Box::new(regex)), chance)
        } else {
            let literal = Literal::new(text, style).map_err(about)?;
            (None, literal.chance(&style.subject.positions()).map_err(about)?)
        };
        let odds = Odds::new(chance).ok_or_else(|| about(PatternError::new(Reason::NeverMatches, 0..1)))?;
        Ok(Self { text: text.into(), style, odds, regex })
    }

    /// The pattern as it was typed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How it is read.
    #[must_use]
    pub fn style(&self) -> Style {
        self.style
    }

    /// The exact chance that a random key matches.
    #[must_use]
    pub fn odds(&self) -> Odds {
        self.odds
    }

    /// About the bytes that a search needs for a regular expression beside its text; 0 for any other pattern.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.regex.as_ref().map_or(0, |regex| regex.bytes())
    }

    /// Where the pattern matches in `body`, by plain comparison.
    ///
    /// This is the slow certain test: it shares no code with [`Matcher`], and every hit is proved with it.
    #[must_use]
    pub fn find(&self, body: &Body) -> Option<Range<usize>> {
        match self.form() {
            Form::Literal(literal) => literal.find(body),
            Form::Regex(regex) => regex.find(body),
        }
    }

    /// The literal; of a regular expression, its text.
    fn literal(&self) -> Literal<'_> {
        Literal::of(&self.text, self.style)
    }

    fn form(&self) -> Form<'_> {
        match &self.regex {
            Some(regex) => Form::Regex(regex),
            None => Form::Literal(self.literal()),
        }
    }
}

/// What a pattern is compiled to.
enum Form<'a> {
    Literal(Literal<'a>),
    Regex(&'a Regex),
}

/// The most expressions whose common automaton is built.
const MOST_EXPRESSIONS: usize = 32;

/// The chance that a key matches at least one of `patterns`: exact for lists of literals up to 800,000 characters, and for short
/// lists with expressions while their common automaton has no more than 512 KiB; else bounds. `None` of no patterns.
#[must_use]
pub fn any_of<'a>(patterns: impl Iterator<Item = &'a Pattern> + Clone) -> Option<Bounds> {
    let subject = patterns.clone().next()?.style.subject;
    let (literals, others): (Vec<&Pattern>, Vec<&Pattern>) =
        patterns.clone().partition(|pattern| pattern.style.kind != Kind::Regex);
    let of_literals = chance_of_any(&literals, subject);
    if let (Some(chance), []) = (of_literals, &others[..]) {
        return Odds::new(chance).map(Bounds::exact);
    }
    if literals.len() + others.len() <= MOST_EXPRESSIONS {
        let hirs = patterns.clone().map(|pattern| match pattern.form() {
            Form::Literal(literal) => literal.hir(),
            Form::Regex(regex) => regex.hir().clone(),
        });
        if let Ok(automaton) = Automaton::of(&regex_syntax::hir::Hir::alternation(hirs.collect())) {
            return Odds::new(automaton.chance(&subject.positions())).map(Bounds::exact);
        }
    }
    let probability = |pattern: &Pattern| pattern.odds.probability();
    let of_one = patterns.clone().map(probability).fold(0.0, f64::max);
    let of_others: f64 = others.iter().map(|pattern| probability(pattern)).sum();
    let of_all =
        of_literals.unwrap_or_else(|| literals.iter().map(|pattern| probability(pattern)).sum()) + of_others;
    let of_some = of_literals.or_else(|| chance_of_any(&likeliest(literals.clone()), subject)).unwrap_or(0.0);
    let at_least = Odds::new(of_one.max(of_some))?;
    Some(Bounds::between(at_least, Odds::new(of_all.min(1.0))?))
}

/// Of too many literals, so many are taken, those that most keys show: however long, they are not too many.
const LIKELIEST: usize = chance::MOST_CHARACTERS / (BODY_LEN + 1);

/// Some literals, for a lower bound.
fn likeliest(mut literals: Vec<&Pattern>) -> Vec<&Pattern> {
    if literals.len() > LIKELIEST {
        let probability = |pattern: &Pattern| pattern.odds.probability();
        literals.select_nth_unstable_by(LIKELIEST, |a, b| probability(b).total_cmp(&probability(a)));
        literals.truncate(LIKELIEST);
    }
    literals
}

/// The exact chance that a key shows one of these literals, if it can be had quickly.
fn chance_of_any(literals: &[&Pattern], subject: Subject) -> Option<f64> {
    let characters: usize = literals.iter().map(|pattern| pattern.text.len()).sum();
    if characters > chance::MOST_CHARACTERS {
        return None;
    }
    let shapes: Vec<_> =
        literals.iter().map(|pattern| (pattern.literal().characters(), pattern.literal().place())).collect();
    let shapes = shapes.iter().map(|(symbols, place)| chance::Shape { symbols, place: *place });
    chance::of_any(shapes, &subject.positions())
}

#[cfg(test)]
mod tests;
