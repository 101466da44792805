//! Ranges of words.

use super::splits;

/// The number of words.
const WORDS: i128 = 1 << 64;

/// A range of words: all words that are equal, modulo 2^64, to an integer from `low` to `high`, and
/// whose bits agree with `zeros` and `ones`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    pub(crate) low: i128,
    pub(crate) high: i128,
    /// The bits that are 0 in every word.
    pub(crate) zeros: u64,
    /// The bits that are 1 in every word.
    pub(crate) ones: u64,
    /// Whether a shift has lost upper bits, so that the word is no longer the number that it was.
    /// Only bit operations take such a word.
    pub(crate) is_cut: bool,
    /// The name of this value. Copies have the same name.
    pub(crate) name: u64,
    /// The first and the last word, if the word is a pattern of numbers of both signs.
    pub(crate) patterns: Option<[u64; 2]>,
}

impl Interval {
    /// Returns the range of all words that are integers from `low` to `high`, modulo 2^64.
    pub(crate) fn new(low: i128, high: i128) -> Self {
        assert!(low <= high, "an empty range: {low} to {high}");
        let (zeros, ones) = match (u64::try_from(low), u64::try_from(high)) {
            (Ok(low), Ok(high)) => {
                // The bits above the highest different one are the same in all words.
                let same = !(u64::MAX.checked_shr((low ^ high).leading_zeros()).unwrap_or(0));
                (!low & same, low & same)
            }
            _ => (0, 0),
        };
        Self { low, high, zeros, ones, is_cut: false, name: splits::new_name(), patterns: None }
    }

    /// Returns the range of all words.
    pub(crate) fn any() -> Self {
        Self::new(0, WORDS - 1)
    }

    /// Returns the range of words whose bits agree with `zeros` and `ones`.
    pub(crate) fn of_bits(zeros: u64, ones: u64) -> Self {
        assert_eq!(zeros & ones, 0);
        Self { zeros, ones, ..Self::new(ones.into(), (!zeros).into()) }
    }

    /// Returns the smallest range that has all words of both.
    pub(crate) fn hull(self, other: Self) -> Self {
        let hull = Self::new(self.low.min(other.low), self.high.max(other.high));
        Self {
            zeros: self.zeros & other.zeros | hull.zeros,
            ones: self.ones & other.ones | hull.ones,
            ..hull
        }
    }

    /// Returns whether each word is one integer: none as a number without a sign, and none as a
    /// number with one, is below or above the numbers of 64 bits.
    pub(crate) fn fits(&self) -> bool {
        (-WORDS / 2..WORDS / 2).contains(&self.low) && self.high < WORDS / 2 || self.is_unsigned()
    }

    fn is_unsigned(&self) -> bool {
        self.low >= 0 && self.high < WORDS
    }

    /// Returns the range as integers from 0 to 2^64 - 1, or `None` if it passes an end of these.
    pub(crate) fn unsigned(&self) -> Option<Self> {
        if self.is_unsigned() {
            return Some(*self);
        }
        let multiple = self.low.div_euclid(WORDS) * WORDS;
        let moved = Self::new(self.low - multiple, self.high - multiple);
        let (zeros, ones) = (moved.zeros | self.zeros, moved.ones | self.ones);
        let (name, is_cut) = (self.name, self.is_cut);
        moved.is_unsigned().then_some(Self { zeros, ones, name, is_cut, ..moved })
    }

    /// Returns the bits that are 0 and those that are 1 in every word.
    pub(crate) fn bits(&self) -> (u64, u64) {
        let range = self.unsigned().unwrap_or(*self);
        (range.zeros, range.ones)
    }

    /// Returns the largest word.
    pub(crate) fn largest(&self) -> u64 {
        self.unsigned().map_or(u64::MAX, |range| range.high as u64)
    }

    /// Returns the words at both ends.
    pub(crate) fn ends(&self) -> [u64; 2] {
        self.patterns.unwrap_or_else(|| [self.low, self.high].map(|end| end.rem_euclid(WORDS) as u64))
    }
}
