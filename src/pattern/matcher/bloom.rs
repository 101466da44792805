//! A set of numbers, of which some are in it that were never put there: a blocked Bloom filter.
//!
//! A number marks three bits of one word, so that a look-up is one load (F. Putze, P. Sanders, J. Singler, "Cache-, hash- and
//! space-efficient Bloom filters", 2007). With four numbers for each word, 12 of its 64 bits are set, and one number of 150 is found by
//! chance. A million numbers take 2 MiB.

use crate::simd::prefetch;
use crate::sys::Zeros;

/// Numbers for each word.
const NUMBERS_IN_A_WORD: usize = 4;

/// 2^64 over the golden ratio.
pub(super) const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The set.
pub(super) struct Bloom {
    words: Zeros<u64>,
    /// The highest bits of a spread number are its word.
    shift: u32,
    numbers: usize,
}

/// The set, borrowed for many questions.
#[derive(Clone, Copy)]
pub(super) struct BloomView<'a> {
    words: &'a [u64],
    shift: u32,
}

/// A number of which every bit depends on all of those of `number`: both halves of a product in one.
#[inline(always)]
pub(super) fn spread(number: u64) -> u64 {
    let product = u128::from(number) * u128::from(SPREAD);
    (product >> 64) as u64 ^ product as u64
}

impl Bloom {
    /// For so many numbers.
    pub(super) fn new(numbers: usize) -> Self {
        // Two words at least, so that there is a highest bit.
        let words = numbers.div_ceil(NUMBERS_IN_A_WORD).next_power_of_two().max(2);
        Self { words: Zeros::new(words), shift: 64 - words.ilog2(), numbers }
    }

    /// Puts a number in that was [`spread`].
    pub(super) fn put(&mut self, spread: u64) {
        let (word, bits) = place(self.shift, spread);
        self.words[word] |= bits;
    }

    /// Adds the words of the set, as halves, and returns the shift that gives a number's place among them.
    pub(super) fn write(&self, words: &mut Vec<u32>) -> u32 {
        words.extend(self.words.iter().flat_map(|word| [*word as u32, (word >> 32) as u32]));
        self.shift
    }

    /// The set as it is asked.
    #[inline(always)]
    pub(super) fn view(&self) -> BloomView<'_> {
        BloomView { words: &self.words, shift: self.shift }
    }

    /// About what share of the numbers that were not put in is found all the same.
    pub(super) fn share_by_chance(&self) -> f64 {
        (3.0 * self.numbers as f64 / (64 * self.words.len()) as f64).powi(3)
    }
}

impl BloomView<'_> {
    /// Whether a number that was [`spread`] may be in the set.
    #[inline(always)]
    pub(super) fn may_have(self, spread: u64) -> bool {
        let (word, bits) = place(self.shift, spread);
        self.words[word] & bits == bits
    }

    /// Asks the memory for what [`Self::may_have`] of this number reads.
    #[inline(always)]
    pub(super) fn prefetch(self, spread: u64) {
        prefetch(&self.words[place(self.shift, spread).0]);
    }
}

/// The word and the bits of a number.
#[inline(always)]
fn place(shift: u32, spread: u64) -> (usize, u64) {
    let bit = |at: u32| 1 << (spread >> at & 63);
    ((spread >> shift) as usize, bit(16) | bit(24) | bit(32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_found_and_little_else() {
        for count in [1, 5, 1000, 50_000u64] {
            let mut marks = Bloom::new(count as usize);
            (0..count).for_each(|number| marks.put(spread(number)));
            assert!((0..count).all(|number| marks.view().may_have(spread(number))));
            let others =
                (count..count + 1_000_000).filter(|number| marks.view().may_have(spread(*number))).count();
            let expected = 1e6 * marks.share_by_chance();
            let least = if count < 1000 { 0.0 } else { 0.5 * expected };
            assert!(
                (least..2.0 * expected).contains(&(others as f64)),
                "{others} of {count}, not {expected}"
            );
        }
    }
}
