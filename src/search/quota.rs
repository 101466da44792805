//! How many keys are wanted, and what is left of that.

use crate::pattern::PatternId;

/// How many keys are wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Quota {
    /// So many for each pattern.
    Each(u64),
    /// For each pattern a number of its own, in the order of the patterns; 0 where none is wanted.
    Left(Vec<u64>),
    /// So many in all, whichever patterns they match.
    Any(u64),
}

/// What is left of a quota.
#[derive(Clone)]
pub struct Remaining {
    /// Patterns that have left since [`Self::is_due`] said so the last time.
    gone: usize,
    wanted: Wanted,
}

#[derive(Clone)]
enum Wanted {
    Each {
        /// For each pattern, the keys it still wants.
        left: Vec<u64>,
        /// Patterns that want at least one.
        patterns: usize,
    },
    /// Keys wanted in all.
    Any(u64),
}

impl Wanted {
    fn each(left: Vec<u64>) -> Self {
        let patterns = left.iter().filter(|left| **left > 0).count();
        Self::Each { left, patterns }
    }
}

impl Remaining {
    /// Returns all of a quota for so many patterns.
    #[must_use]
    pub fn new(quota: &Quota, patterns: usize) -> Self {
        let wanted = match quota {
            Quota::Each(count) => Wanted::each(vec![*count; patterns]),
            Quota::Left(counts) => {
                let counts = counts.iter().copied().chain(std::iter::repeat(0));
                Wanted::each(counts.take(patterns).collect())
            }
            Quota::Any(count) => Wanted::Any(*count),
        };
        Self { gone: 0, wanted }
    }

    /// Returns how many keys are wanted, for all patterns together.
    #[must_use]
    pub fn total(&self) -> u64 {
        match &self.wanted {
            Wanted::Each { left, .. } => left.iter().fold(0, |sum: u64, left| sum.saturating_add(*left)),
            Wanted::Any(left) => *left,
        }
    }

    /// Whether each pattern wants keys of its own.
    #[must_use]
    pub fn is_of_each(&self) -> bool {
        matches!(self.wanted, Wanted::Each { .. })
    }

    /// Returns how many patterns still want a key.
    #[must_use]
    pub fn patterns(&self) -> usize {
        match &self.wanted {
            Wanted::Each { patterns, .. } => *patterns,
            Wanted::Any(_) => 0,
        }
    }

    /// Whether the pattern still wants a key.
    #[must_use]
    pub fn wants(&self, id: PatternId) -> bool {
        match &self.wanted {
            Wanted::Each { left, .. } => left[id] > 0,
            Wanted::Any(left) => *left > 0,
        }
    }

    /// Counts one key for each of `patterns`, all of which want it. Gives those that now want no more.
    pub fn count(&mut self, patterns: &[PatternId]) -> Vec<PatternId> {
        match &mut self.wanted {
            Wanted::Each { left, patterns: open } => {
                patterns.iter().for_each(|&id| left[id] -= 1);
                let done: Vec<PatternId> = patterns.iter().copied().filter(|&id| left[id] == 0).collect();
                *open -= done.len();
                self.gone += done.len();
                done
            }
            Wanted::Any(left) => {
                *left -= 1;
                Vec::new()
            }
        }
    }

    /// Whether it is time to compute anew what depends on all patterns that want a key: one in eight has left since the last
    /// time. All of that together costs no more than eight times the first.
    pub fn is_due(&mut self) -> bool {
        let Wanted::Each { patterns, .. } = &self.wanted else { return false };
        let due = self.gone * 8 > *patterns && *patterns > 0;
        if due {
            self.gone = 0;
        }
        due
    }

    /// Whether nothing is wanted any more.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        match &self.wanted {
            Wanted::Each { patterns, .. } => *patterns == 0,
            Wanted::Any(left) => *left == 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn what_each_pattern_wants_may_differ() {
        let mut remaining = Remaining::new(&Quota::Left(vec![0, 2, 1]), 3);
        assert!(!remaining.wants(0) && remaining.wants(1) && !remaining.is_complete());
        assert_eq!(remaining.count(&[1, 2]), [2]);
        assert_eq!(remaining.count(&[1]), [1]);
        assert!(remaining.is_complete() && Remaining::new(&Quota::Left(vec![0, 0]), 2).is_complete());
        // A pattern without a number wants nothing.
        assert!(Remaining::new(&Quota::Left(vec![]), 1).is_complete());
    }

    #[test]
    fn the_matcher_is_due_when_one_in_eight_has_left() {
        let mut remaining = Remaining::new(&Quota::Each(1), 20);
        let due = |remaining: &mut Remaining, id| {
            remaining.count(&[id]);
            remaining.is_due()
        };
        // 2 of the 18 that are left, then 3 of 17; then anew.
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
        assert!(!any.is_due());
    }

    #[test]
    fn any_counts_keys_whatever_they_match() {
        let mut remaining = Remaining::new(&Quota::Any(2), 3);
        assert!(remaining.count(&[2]).is_empty() && !remaining.is_complete());
        assert!(remaining.wants(2));
        assert!(remaining.count(&[0, 1]).is_empty() && remaining.is_complete());
        assert!(!remaining.wants(2));
    }
}
