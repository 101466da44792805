//! What the odds of patterns mean for a search.

use super::forecast::attempts_for_all;
use crate::pattern::{Bounds, Odds, Pattern};
use crate::search::Quota;

/// The odds of several patterns together.
pub(super) struct Several {
    pub(super) patterns: usize,
    /// Of a key that matches at least one of them.
    pub(super) any: Bounds,
    /// After how many keys the chance is 50 % and 95 % at the latest that each has one, if each wants just one.
    pub(super) attempts_for_all: Option<[f64; 2]>,
}

impl Several {
    pub(super) fn of(patterns: &[Pattern], quota: &Quota, any: Option<Bounds>) -> Option<Self> {
        let for_all = |chance| attempts_for_all(patterns, chance);
        let one_each = match quota {
            Quota::Each(count) => *count == 1,
            Quota::Left(counts) => counts.iter().all(|count| *count == 1),
            Quota::Any(_) => false,
        };
        let attempts_for_all = one_each.then(|| [0.50, 0.95].map(for_all));
        let patterns = patterns.len();
        any.filter(|_| patterns > 1).map(|any| Self { patterns, any, attempts_for_all })
    }
}

/// How long it takes until the chance of a match reaches `chance`.
pub(super) fn seconds_for(odds: Odds, chance: f64, keys_per_second: f64) -> f64 {
    odds.attempts_for(chance) / keys_per_second
}
