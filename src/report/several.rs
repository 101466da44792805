//! The odds of several patterns in one search.

use super::forecast::{CHANCES, Wanted, attempts_for_all};
use crate::pattern::{Bounds, Odds, Pattern};
use crate::search::Quota;

/// The odds of several patterns together.
pub(super) struct Several {
    /// The number of patterns.
    pub(super) patterns: usize,
    /// The chance that a key matches at least one of the patterns.
    pub(super) any: Bounds,
    /// Upper bounds on the keys to try until the chance that every pattern has a key is 50% and 95
    /// %. `None` unless each pattern wants exactly one key.
    pub(super) attempts_for_all: Option<[f64; 2]>,
}

impl Several {
    /// Returns the odds of the patterns, or `None` if there is only one or their chance is not
    /// known.
    pub(super) fn of(patterns: &[Pattern], quota: &Quota, any: Option<Bounds>) -> Option<Self> {
        let one_each = match quota {
            Quota::Each(count) => *count == 1,
            Quota::Left(counts) => counts.iter().all(|count| *count == 1),
            Quota::Any(_) => false,
        };
        let attempts_for_all = one_each.then(|| {
            let wanted = Wanted::one_each(patterns);
            CHANCES.map(|chance| attempts_for_all(&wanted, chance))
        });
        let patterns = patterns.len();
        any.filter(|_| patterns > 1).map(|any| Self { patterns, any, attempts_for_all })
    }
}

/// Returns the seconds until the chance of a match reaches `chance`.
pub(super) fn seconds_for(odds: Odds, chance: f64, keys_per_second: f64) -> f64 {
    odds.attempts_for(chance) / keys_per_second
}
