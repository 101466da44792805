//! Which patterns still want a key.

use super::Quota;
use crate::pattern::PatternId;

/// The finds that are still wanted.
pub(super) struct Tally {
    /// Patterns that have left since a matcher was compiled for those that are left.
    gone: usize,
    wanted: Wanted,
}

enum Wanted {
    Each {
        /// For each pattern, the keys it still wants.
        left: Vec<u64>,
        /// Patterns that want at least one.
        patterns: usize,
    },
    /// Keys wanted in all.
    Any(u64),
    Endless,
}

impl Wanted {
    fn each(left: Vec<u64>) -> Self {
        let patterns = left.iter().filter(|left| **left > 0).count();
        Self::Each { left, patterns }
    }
}

impl Tally {
    pub(super) fn new(quota: &Quota, patterns: usize) -> Self {
        let wanted = match quota {
            Quota::Each(count) => Wanted::each(vec![*count; patterns]),
            Quota::Left(counts) => {
                let counts = counts.iter().copied().chain(std::iter::repeat(0));
                Wanted::each(counts.take(patterns).collect())
            }
            Quota::Any(count) => Wanted::Any(*count),
            Quota::Endless => Wanted::Endless,
        };
        Self { gone: 0, wanted }
    }

    /// Whether the pattern still wants a key.
    pub(super) fn wants(&self, id: PatternId) -> bool {
        match &self.wanted {
            Wanted::Each { left, .. } => left[id] > 0,
            Wanted::Any(left) => *left > 0,
            Wanted::Endless => true,
        }
    }

    /// Counts one key for each of `patterns`, all of which want it. Gives those that now want no more.
    pub(super) fn count(&mut self, patterns: &[PatternId]) -> Vec<PatternId> {
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
            Wanted::Endless => Vec::new(),
        }
    }

    /// Whether it is time to compile a matcher without the patterns that want no more: when one in eight has left, so that all
    /// of that together costs no more than eight times the first matcher.
    pub(super) fn is_due(&mut self) -> bool {
        let Wanted::Each { patterns, .. } = &self.wanted else { return false };
        let due = self.gone * 8 > *patterns && *patterns > 0;
        if due {
            self.gone = 0;
        }
        due
    }

    /// Whether nothing is wanted any more.
    pub(super) fn is_complete(&self) -> bool {
        match &self.wanted {
            Wanted::Each { patterns, .. } => *patterns == 0,
            Wanted::Any(left) => *left == 0,
            Wanted::Endless => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pattern_gets_its_own_count() {
        let mut tally = Tally::new(&Quota::Each(2), 2);
        assert!(tally.count(&[0, 1]).is_empty());
        assert_eq!(tally.count(&[0]), [0]);
        assert!(!tally.wants(0) && tally.wants(1) && !tally.is_complete());
        assert_eq!(tally.count(&[1]), [1]);
        assert!(tally.is_complete());
    }

    #[test]
    fn what_each_pattern_wants_may_differ() {
        let mut tally = Tally::new(&Quota::Left(vec![0, 2, 1]), 3);
        assert!(!tally.wants(0) && tally.wants(1) && !tally.is_complete());
        assert_eq!(tally.count(&[1, 2]), [2]);
        assert_eq!(tally.count(&[1]), [1]);
        assert!(tally.is_complete() && Tally::new(&Quota::Left(vec![0, 0]), 2).is_complete());
        // A pattern without a number wants nothing.
        assert!(Tally::new(&Quota::Left(vec![]), 1).is_complete());
    }

    #[test]
    fn the_matcher_is_due_when_one_in_eight_has_left() {
        let mut tally = Tally::new(&Quota::Each(1), 20);
        let due = |tally: &mut Tally, id| {
            tally.count(&[id]);
            tally.is_due()
        };
        // 2 of the 18 that are left, then 3 of 17; then anew.
        assert_eq!([0, 1, 2, 3].map(|id| due(&mut tally, id)), [false, false, true, false]);
        assert!((4..19).filter(|id| due(&mut tally, *id)).count() > 4);
        assert!(!due(&mut tally, 19), "nothing is left");
        let mut tally = Tally::new(&Quota::Each(1), 9);
        assert_eq!(
            [0, 1].map(|id| due(&mut tally, id)),
            [false, true],
            "one for 8 that are left is not more than an eighth"
        );
        let mut any = Tally::new(&Quota::Any(3), 9);
        any.count(&[0]);
        assert!(!any.is_due());
    }

    #[test]
    fn any_counts_keys_whatever_they_match() {
        let mut tally = Tally::new(&Quota::Any(2), 3);
        assert!(tally.count(&[2]).is_empty() && !tally.is_complete());
        assert!(tally.wants(2));
        assert!(tally.count(&[0, 1]).is_empty() && tally.is_complete());
        assert!(!tally.wants(2));
    }
}
