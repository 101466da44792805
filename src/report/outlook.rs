//! What is still to come: how many keys, and how likely it was that the next one is here by now.

use vanity_ed25519::pattern::{Odds, Pattern, PatternId, any_of};
use vanity_ed25519::search::Quota;

/// The finds so far, and the odds of those that are missing.
pub(super) struct Outlook {
    wanted: u64,
    found: u64,
    hope: Hope,
}

enum Hope {
    /// Each pattern wants its keys; spoken of is the least likely one that is not done.
    Each {
        /// Keys that each pattern still wants.
        left: Vec<u64>,
        odds: Vec<Odds>,
        /// The number of attempts at which each was last found.
        last: Vec<u64>,
        /// The patterns, the least likely last.
        order: Vec<PatternId>,
    },
    /// Any pattern will do.
    Any {
        /// Their common odds, where they are known.
        odds: Option<Odds>,
        last: u64,
    },
}

impl Outlook {
    pub(super) fn new(patterns: &[Pattern], quota: Quota) -> Self {
        let count = match quota {
            Quota::Each(count) | Quota::Any(count) => count,
            Quota::Endless => 0,
        };
        if let Quota::Any(_) = quota {
            return Self { wanted: count, found: 0, hope: Hope::Any { odds: any_of(patterns), last: 0 } };
        }
        let odds: Vec<Odds> = patterns.iter().map(Pattern::odds).collect();
        let mut order: Vec<PatternId> = (0..patterns.len()).collect();
        order.sort_by(|&a, &b| odds[b].probability().total_cmp(&odds[a].probability()));
        let hope = Hope::Each { left: vec![count; odds.len()], last: vec![0; odds.len()], odds, order };
        Self { wanted: count.saturating_mul(patterns.len() as u64), found: 0, hope }
    }

    /// Counts a find.
    pub(super) fn count(&mut self, patterns: &[PatternId], attempts: u64) {
        match &mut self.hope {
            Hope::Each { left, last, order, .. } => {
                for &id in patterns {
                    left[id] -= 1;
                    last[id] = attempts;
                    self.found += 1;
                }
                while order.pop_if(|id| left[*id] == 0).is_some() {}
            }
            Hope::Any { last, .. } => {
                *last = attempts;
                self.found += 1;
            }
        }
    }

    /// Keys found and keys wanted; a key counts for each pattern that wanted it.
    pub(super) fn found_of(&self) -> (u64, u64) {
        (self.found, self.wanted)
    }

    /// The chance that the next key, of the least likely pattern that is missing, would have been found by now.
    /// `None` where the odds are not known.
    pub(super) fn chance(&self, attempts: u64) -> Option<f64> {
        let (odds, last) = match &self.hope {
            Hope::Each { odds, last, order, .. } => order.last().map(|&id| (odds[id], last[id]))?,
            Hope::Any { odds, last } => ((*odds)?, *last),
        };
        Some(odds.chance_after(attempts.saturating_sub(last) as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vanity_ed25519::pattern::{Kind, Style};

    fn patterns() -> Vec<Pattern> {
        let style = Style { kind: Kind::Regex, ..Style::default() };
        ["^A", "^A.{3}B", "B$"].iter().map(|text| Pattern::new(text, style).unwrap()).collect()
    }

    #[test]
    fn it_speaks_of_the_least_likely_pattern_that_is_missing() {
        let patterns = patterns();
        let mut outlook = Outlook::new(&patterns, Quota::Each(1));
        let chance = |id: usize, attempts| Some(patterns[id].odds().chance_after(attempts));
        assert_eq!(outlook.chance(100), chance(1, 100.0));
        outlook.count(&[0, 1], 50);
        assert_eq!(outlook.found_of(), (2, 3));
        assert_eq!(outlook.chance(100), chance(2, 100.0));
        outlook.count(&[2], 60);
        assert_eq!((outlook.found_of(), outlook.chance(100)), ((3, 3), None));
    }

    #[test]
    fn it_begins_anew_after_each_find() {
        let patterns = patterns();
        let mut outlook = Outlook::new(&patterns[..1], Quota::Each(2));
        outlook.count(&[0], 70);
        assert_eq!(outlook.chance(100), Some(patterns[0].odds().chance_after(30.0)));
        let mut any = Outlook::new(&patterns, Quota::Any(2));
        any.count(&[1], 10);
        assert_eq!(any.chance(10), Some(0.0));
        assert_eq!(any.found_of(), (1, 2));
    }
}
