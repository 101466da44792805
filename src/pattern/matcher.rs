//! Many patterns against one body, in one pass.
//!
//! All literals share one Aho-Corasick automaton over folded text: symbols that some literal cannot tell
//! apart (by case, by `--leet`) are folded into one. What it reports is a candidate, which the literal's own
//! symbol sets then confirm. Each regular expression has its own automaton.
//!
//! Before a key has a body, [`Matcher::may_match`] looks at its bytes and rules out most that do not match.

use std::ops::Range;

use aho_corasick::automaton::OverlappingState;
use aho_corasick::{AhoCorasick, BuildError};

use super::literal::Literal;
use super::prefilter::Prefilter;
use super::regex::Regex;
use super::{Form, Pattern};
use crate::wire::{Body, KEY_LEN, Symbols};

/// The place of a pattern in the list that a [`Matcher`] was built from.
pub type PatternId = usize;

/// A compiled list of patterns.
pub struct Matcher {
    /// What rules keys out before they have a body.
    prefilter: Prefilter,
    /// What each byte is folded to.
    fold: [u8; 256],
    folded: AhoCorasick,
    literals: Vec<(PatternId, Literal)>,
    regexes: Vec<(PatternId, Regex)>,
}

impl Matcher {
    /// Compiles `patterns`.
    ///
    /// # Errors
    ///
    /// The list is too large for an Aho-Corasick automaton (2^31 states).
    pub fn new(patterns: &[Pattern]) -> Result<Self, TooManyPatterns> {
        let mut literals = Vec::new();
        let mut regexes = Vec::new();
        for (id, pattern) in patterns.iter().enumerate() {
            match &pattern.form {
                Form::Literal(literal) => literals.push((id, literal.clone())),
                Form::Regex(regex) => regexes.push((id, Regex::clone(regex))),
            }
        }
        let fold = fold(literals.iter().map(|(_, literal)| literal));
        let folded = literals.iter().map(|(_, literal)| {
            let text = (0..literal.len()).filter_map(|at| literal.symbols(at).bytes().next());
            text.map(|byte| fold[usize::from(byte)]).collect::<Vec<_>>()
        });
        let folded = AhoCorasick::new(folded).map_err(TooManyPatterns)?;
        let prefilter = if regexes.is_empty() {
            Prefilter::new(literals.iter().map(|(_, literal)| literal.run()))
        } else {
            Prefilter::off()
        };
        Ok(Self { prefilter, fold, folded, literals, regexes })
    }

    /// Whether any pattern may match a key with these bits, whatever its highest one, the sign of x, is.
    ///
    /// `false` is certain: the body matches with neither sign. `true` says to test the body. Where nothing can be
    /// told cheaply, as of regular expressions, every key may match.
    #[must_use]
    pub fn may_match(&self, key: &[u8; KEY_LEN]) -> bool {
        let mut may_match = false;
        self.survivors(std::slice::from_ref(key), |_| may_match = true);
        may_match
    }

    /// Calls `each` with the place of every key that [may match](Self::may_match), in ascending order.
    pub fn survivors(&self, keys: &[[u8; KEY_LEN]], mut each: impl FnMut(usize)) {
        self.prefilter.survivors(keys, &mut each);
    }

    /// Whether any pattern matches `body`.
    #[must_use]
    pub fn is_match(&self, body: &Body) -> bool {
        self.matching(body).next().is_some()
    }

    /// Every pattern that matches `body`, once each, in ascending order.
    #[must_use]
    pub fn find(&self, body: &Body) -> Vec<PatternId> {
        let mut found: Vec<PatternId> = self.matching(body).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The patterns that match `body`, a literal once for every place it stands in.
    fn matching(&self, body: &Body) -> impl Iterator<Item = PatternId> {
        let folded = body.map(|byte| self.fold[usize::from(byte)]);
        let mut state = OverlappingState::start();
        let literals = std::iter::from_fn(move || {
            loop {
                self.folded.find_overlapping(&folded, &mut state);
                let candidate = state.get_match()?;
                let (id, literal) = &self.literals[candidate.pattern().as_usize()];
                if stands(literal, body, candidate.range()) {
                    return Some(*id);
                }
            }
        });
        let regexes = self.regexes.iter().filter(|(_, regex)| regex.is_match(body));
        literals.chain(regexes.map(|(id, _)| *id))
    }
}

/// Whether `literal` really stands where a candidate was seen.
fn stands(literal: &Literal, body: &Body, range: Range<usize>) -> bool {
    let fits = |(at, &byte)| !literal.symbols(at).and(Symbols::of(byte)).is_empty();
    literal.may_stand(range.start, body) && body[range].iter().enumerate().all(fits)
}

/// Folds together all symbols that some character of some literal accepts alike.
fn fold<'a>(literals: impl Iterator<Item = &'a Literal>) -> [u8; 256] {
    let mut fold: [u8; 256] = std::array::from_fn(|byte| byte as u8);
    let mut merge = |symbols: Symbols| {
        let Some(to) = symbols.bytes().next().map(|byte| fold[usize::from(byte)]) else { return };
        for byte in symbols.bytes() {
            let from = fold[usize::from(byte)];
            fold.iter_mut().filter(|folded| **folded == from).for_each(|folded| *folded = to);
        }
    };
    let mut seen = std::collections::HashSet::new();
    for literal in literals {
        for at in 0..literal.len() {
            let symbols = literal.symbols(at);
            if seen.insert(symbols) {
                merge(symbols);
            }
        }
    }
    fold
}

/// A list of patterns that no automaton can hold.
#[derive(Debug)]
pub struct TooManyPatterns(BuildError);

impl std::fmt::Display for TooManyPatterns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the patterns do not fit into one automaton: {}", self.0)
    }
}

impl std::error::Error for TooManyPatterns {}
