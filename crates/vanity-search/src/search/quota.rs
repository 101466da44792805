//! The number of wanted keys, and the count of those that are left.

use crate::pattern::{Pattern, PatternId};

/// The number of wanted keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Quota {
    /// This number for each pattern.
    Each(u64),
    /// A number for each pattern, in the order of the patterns. 0 if none is wanted.
    Left(Vec<u64>),
    /// This number in total, whichever patterns match.
    Any(u64),
}

impl Quota {
    /// Returns how many keys a search is expected to try. The figure is a rough one: it serves to
    /// choose the size of tables.
    pub fn expected_attempts(&self, patterns: &[Pattern]) -> f64 {
        let attempts = patterns.iter().map(|pattern| pattern.odds().expected_attempts());
        match self {
            Self::Each(count) => *count as f64 * attempts.fold(0.0, f64::max),
            Self::Left(counts) => counts
                .iter()
                .zip(attempts)
                .map(|(count, attempts)| *count as f64 * attempts)
                .fold(0.0, f64::max),
            Self::Any(count) => *count as f64 * attempts.fold(f64::INFINITY, f64::min),
        }
    }
}

/// The part of a quota that is left.
#[derive(Clone)]
pub struct Remaining {
    /// The patterns that were completed since [`Self::take_due`] last returned true.
    completed: usize,
    left: Counts,
}

#[derive(Clone)]
enum Counts {
    Each {
        /// The keys that each pattern still wants.
        left: Vec<u64>,
        /// The number of patterns that want at least one key.
        patterns: usize,
    },
    /// The keys that are wanted in total.
    Any(u64),
}

impl Counts {
    fn each(left: Vec<u64>) -> Self {
        let patterns = left.iter().filter(|left| **left > 0).count();
        Self::Each { left, patterns }
    }
}

impl Remaining {
    /// Returns the whole quota for this number of patterns.
    #[must_use]
    pub fn new(quota: &Quota, patterns: usize) -> Self {
        let left = match quota {
            Quota::Each(count) => Counts::each(vec![*count; patterns]),
            Quota::Left(counts) => {
                let counts = counts.iter().copied().chain(std::iter::repeat(0));
                Counts::each(counts.take(patterns).collect())
            }
            Quota::Any(count) => Counts::Any(*count),
        };
        Self { completed: 0, left }
    }

    /// Returns the number of keys that are wanted for all patterns together.
    #[must_use]
    pub fn total(&self) -> u64 {
        match &self.left {
            Counts::Each { left, .. } => left.iter().fold(0, |sum: u64, left| sum.saturating_add(*left)),
            Counts::Any(left) => *left,
        }
    }

    /// Returns whether each pattern wants keys of its own.
    #[must_use]
    pub fn is_of_each(&self) -> bool {
        matches!(self.left, Counts::Each { .. })
    }

    /// Returns the number of patterns that still want a key. 0 for [`Quota::Any`].
    #[must_use]
    pub fn patterns(&self) -> usize {
        match &self.left {
            Counts::Each { patterns, .. } => *patterns,
            Counts::Any(_) => 0,
        }
    }

    /// Returns whether the pattern still wants a key.
    #[must_use]
    pub fn wants(&self, id: PatternId) -> bool {
        match &self.left {
            Counts::Each { left, .. } => left[id] > 0,
            Counts::Any(left) => *left > 0,
        }
    }

    /// Returns the number of keys that the pattern still wants. 0 for [`Quota::Any`].
    pub fn left(&self, id: PatternId) -> u64 {
        match &self.left {
            Counts::Each { left, .. } => left[id],
            Counts::Any(_) => 0,
        }
    }

    /// Counts one key for each of `patterns`. All of them must still want a key. Returns the
    /// patterns that this completes.
    pub fn count(&mut self, patterns: &[PatternId]) -> Vec<PatternId> {
        match &mut self.left {
            Counts::Each { left, patterns: open } => {
                patterns.iter().for_each(|&id| left[id] -= 1);
                let done: Vec<PatternId> = patterns.iter().copied().filter(|&id| left[id] == 0).collect();
                *open -= done.len();
                self.completed += done.len();
                done
            }
            Counts::Any(left) => {
                *left -= 1;
                Vec::new()
            }
        }
    }

    /// Returns whether it pays to compute again what depends on all patterns that want a key: more
    /// than an eighth of them were completed since the last time. All these computations together
    /// cost at most eight times the first one.
    pub fn take_due(&mut self) -> bool {
        let Counts::Each { patterns, .. } = &self.left else { return false };
        let due = self.completed * 8 > *patterns && *patterns > 0;
        if due {
            self.completed = 0;
        }
        due
    }

    /// Returns whether no key is wanted any more.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        match &self.left {
            Counts::Each { patterns, .. } => *patterns == 0,
            Counts::Any(left) => *left == 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::MatchOptions;

    #[test]
    fn the_expected_attempts_are_those_of_the_pattern_that_decides() {
        let patterns = ["abc", "abcd"].map(|text| Pattern::new(text, MatchOptions::default()).unwrap());
        let [short, long] = [&patterns[0], &patterns[1]].map(|pattern| pattern.odds().expected_attempts());
        for (quota, attempts) in [
            (Quota::Each(3), 3.0 * long),
            (Quota::Any(3), 3.0 * short),
            (Quota::Left(vec![3, 2]), 2.0 * long),
            (Quota::Left(vec![3, 0]), 3.0 * short),
        ] {
            assert_eq!(quota.expected_attempts(&patterns), attempts);
        }
    }

    #[test]
    fn each_pattern_gets_its_own_count() {
        let mut remaining = Remaining::new(&Quota::Each(2), 2);
        assert!(remaining.count(&[0, 1]).is_empty());
        assert_eq!(remaining.count(&[0]), [0]);
        assert!(!remaining.wants(0) && remaining.wants(1) && !remaining.is_complete());
        assert_eq!(remaining.count(&[1]), [1]);
        assert!(remaining.is_complete());
    }

    #[test]
    fn each_pattern_may_want_its_own_number() {
        let mut remaining = Remaining::new(&Quota::Left(vec![0, 2, 1]), 3);
        assert!(!remaining.wants(0) && remaining.wants(1) && !remaining.is_complete());
        assert_eq!(remaining.count(&[1, 2]), [2]);
        assert_eq!(remaining.count(&[1]), [1]);
        assert!(remaining.is_complete() && Remaining::new(&Quota::Left(vec![0, 0]), 2).is_complete());
        // A pattern without a number wants no key.
        assert!(Remaining::new(&Quota::Left(vec![]), 1).is_complete());
    }

    #[test]
    fn the_matcher_is_due_when_one_in_eight_has_left() {
        let mut remaining = Remaining::new(&Quota::Each(1), 20);
        let due = |remaining: &mut Remaining, id| {
            remaining.count(&[id]);
            remaining.take_due()
        };
        // 2 completed and 18 left, then 3 and 17; then the count begins again.
        assert_eq!([0, 1, 2, 3].map(|id| due(&mut remaining, id)), [false, false, true, false]);
        assert!((4..19).filter(|id| due(&mut remaining, *id)).count() > 4);
        assert!(!due(&mut remaining, 19), "nothing is left");
        let mut remaining = Remaining::new(&Quota::Each(1), 9);
        assert_eq!(
            [0, 1].map(|id| due(&mut remaining, id)),
            [false, true],
            "one for 8 that are left is not more than an eighth"
        );
        let mut any = Remaining::new(&Quota::Any(3), 9);
        any.count(&[0]);
        assert!(!any.take_due());
    }

    #[test]
    fn any_counts_the_keys_of_all_patterns() {
        let mut remaining = Remaining::new(&Quota::Any(2), 3);
        assert!(remaining.count(&[2]).is_empty() && !remaining.is_complete());
        assert!(remaining.wants(2));
        assert!(remaining.count(&[0, 1]).is_empty() && remaining.is_complete());
        assert!(!remaining.wants(2));
    }
}
