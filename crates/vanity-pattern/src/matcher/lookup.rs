//! Sets of the first characters of literals: one look-up for each number of characters gives the
//! literals that may begin with them.
//!
//! Most look-ups end in a blocked Bloom filter: a set of numbers that may also report numbers that
//! were never added. A number sets three bits of one word, so a look-up is one load (F. Putze, P.
//! Sanders, J. Singler, "Cache-, hash- and space-efficient Bloom filters", 2007). With four numbers
//! for each word, about 12 of its 64 bits are set, and one number of 150 is found by chance. A
//! million numbers take 2 MiB.

use super::symbol_classes::{ClassText, SymbolClasses, literal_window};
use crate::syntax::{Literal, PatternId};
use crate::wire::{BODY_LEN, SIGN_POSITION};
use ed25519_batch::memory::Zeros;
use ed25519_batch::simd::prefetch;

/// The most characters that are looked up.
pub const MOST_COUNT: usize = 7;

/// The lowest bit of the count in a number to hash, above up to [`MOST_COUNT`] classes.
const COUNT: u32 = 8 * MOST_COUNT as u32;

/// The literals of a list, by the hash of their first characters, folded into classes.
pub struct Lookup {
    /// The numbers of characters that are looked up, in ascending order.
    counts: Vec<usize>,
    /// The hashes of all literals. Most look-ups end here.
    bloom: Bloom,
    /// The index of the first entry for each value of a hash's highest bits, and the number of
    /// entries at the end.
    directory: Zeros<u32>,
    /// The shift that leaves the highest bits of a hash: its index in the directory.
    shift: u32,
    /// The literals in ascending order of their hashes: the two halves of the window, and the id,
    /// with [`DECIDED`] added.
    entries: Zeros<[u32; 3]>,
}

/// The bit of an entry whose literal stands wherever its window is found.
const DECIDED: u32 = 1 << 31;

/// The most characters in a window.
const WINDOW: usize = 8;

/// The highest bit of every byte. No class of a literal has it, and the bytes after a literal's end
/// have all bits.
const HIGH_BITS: u64 = u64::from_le_bytes([0x80; WINDOW]);

impl Lookup {
    /// Indexes the literals by their first `most` characters, up to 7. A literal of up to 8
    /// characters is decided by its window, if `by_classes` says that its classes and its place
    /// decide it.
    pub fn new<'a>(
        classes: &SymbolClasses,
        most: usize,
        literals: impl ExactSizeIterator<Item = (PatternId, Literal<'a>)>,
        by_classes: impl Fn(&Literal) -> bool,
    ) -> Self {
        let mut present = vec![false; most + 1];
        // The index has at most one bit more than the number of literals needs.
        let shift = 63 - literals.len().max(1).ilog2().min(30);
        let mut entries: Vec<(u64, u64, u32)> = literals
            .map(|(id, literal)| {
                let (count, len) = (literal.len().min(most), literal.len());
                present[count] = true;
                assert!(id < DECIDED as usize, "a list is shorter than 2^31");
                let decided = len <= WINDOW && by_classes(&literal);
                let mut window = literal_window(&literal, classes, 0, len.min(WINDOW));
                if len < WINDOW {
                    window |= u64::MAX << (8 * len);
                }
                let hash = prefix_hash(literal_window(&literal, classes, 0, count), count);
                (hash, window, id as u32 | if decided { DECIDED } else { 0 })
            })
            .collect();
        entries.sort_unstable();
        let mut directory = Zeros::<u32>::new((u64::MAX >> shift) as usize + 2);
        let mut bloom = Bloom::new(entries.len());
        for (hash, ..) in &entries {
            bloom.put(*hash);
            directory[(hash >> shift) as usize + 1] += 1;
        }
        for at in 1..directory.len() {
            directory[at] += directory[at - 1];
        }
        let mut in_order = Zeros::<[u32; 3]>::new(entries.len());
        for (entry, (_, window, id)) in in_order.iter_mut().zip(entries) {
            *entry = [window as u32, (window >> 32) as u32, id];
        }
        let counts = (1..=most).filter(|&count| present[count]).collect();
        Self { counts, bloom, directory, shift, entries: in_order }
    }

    /// Returns the number of look-ups for each place.
    pub fn look_ups(&self) -> usize {
        self.counts.len()
    }

    /// Borrows the hashes for look-ups.
    #[inline(always)]
    pub fn prefix_hashes(&self) -> PrefixHashes<'_> {
        PrefixHashes { counts: &self.counts, bloom: self.bloom.view() }
    }

    /// Returns the ids of all literals, in the order of their hashes.
    pub fn ids(&self) -> impl Iterator<Item = PatternId> + Clone {
        self.entries.iter().map(|[.., id]| (*id & !DECIDED) as usize)
    }

    /// Returns the ids of the literals with this hash whose first characters are at `start`, and
    /// whether that decides that they stand there.
    pub fn ids_at(
        &self,
        hash: u64,
        text: &ClassText,
        start: usize,
        sign: bool,
    ) -> impl Iterator<Item = (PatternId, bool)> {
        let slot = (hash >> self.shift) as usize;
        let (from, to) = (self.directory[slot] as usize, self.directory[slot + 1] as usize);
        let mut shown = text.window(start, WINDOW, sign);
        if start + WINDOW > BODY_LEN {
            // No class equals what comes after the end of the text.
            shown |= u64::MAX << (8 * (BODY_LEN - start));
        }
        self.entries[from..to].iter().filter_map(move |[low, high, id]| {
            let window = u64::from(*low) | u64::from(*high) << 32;
            let ignored = ((window & HIGH_BITS) >> 7) * 0xff;
            ((window ^ shown) & !ignored == 0).then_some(((*id & !DECIDED) as usize, *id & DECIDED != 0))
        })
    }
}

/// The hashes of a [`Lookup`], borrowed for many look-ups.
#[derive(Clone, Copy)]
pub struct PrefixHashes<'a> {
    counts: &'a [usize],
    bloom: BloomView<'a>,
}

impl PrefixHashes<'_> {
    /// Returns whether `does` accepts a hash of the characters from `start` on for which literals
    /// may exist. Hashes a key with either sign if `either_sign`.
    #[inline(always)]
    pub fn any_at(
        self,
        text: &ClassText,
        start: usize,
        either_sign: bool,
        mut does: impl FnMut(u64) -> bool,
    ) -> bool {
        self.counts.iter().take_while(|count| start + **count <= BODY_LEN).any(|&count| {
            let has_sign = either_sign && (start..start + count).contains(&SIGN_POSITION);
            self.ask(text.window(start, count, false), count, &mut does)
                || has_sign && self.ask(text.window(start, count, true), count, &mut does)
        })
    }

    #[inline(always)]
    fn ask(self, window: u64, count: usize, does: &mut impl FnMut(u64) -> bool) -> bool {
        let hash = prefix_hash(window, count);
        self.bloom.may_have(hash) && does(hash)
    }
}

/// Hashes the classes of `count` characters. Windows of different counts have different hashes.
#[inline(always)]
pub fn prefix_hash(window: u64, count: usize) -> u64 {
    spread(window | (count as u64) << COUNT)
}

/// The most numbers for each word, on average.
const NUMBERS_IN_A_WORD: usize = 4;

/// 2^64 divided by the golden ratio.
pub const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A set of numbers.
pub struct Bloom {
    words: Zeros<u64>,
    /// The shift that leaves the highest bits of a spread number: the index of its word.
    shift: u32,
    numbers: usize,
}

/// A borrowed set, for many look-ups.
#[derive(Clone, Copy)]
pub struct BloomView<'a> {
    words: &'a [u64],
    shift: u32,
}

/// Hashes a number, so that every bit of the result depends on every bit of `number`: the two
/// halves of a product, XOR-ed.
#[inline(always)]
pub fn spread(number: u64) -> u64 {
    let product = u128::from(number) * u128::from(SPREAD);
    (product >> 64) as u64 ^ product as u64
}

impl Bloom {
    /// Makes an empty set with room for `numbers`.
    pub fn new(numbers: usize) -> Self {
        // With at least two words, the index has at least one bit.
        let words = numbers.div_ceil(NUMBERS_IN_A_WORD).next_power_of_two().max(2);
        Self { words: Zeros::new(words), shift: 64 - words.ilog2(), numbers }
    }

    /// Adds a number, which must already be [`spread`].
    pub fn put(&mut self, spread: u64) {
        let (word, bits) = place(self.shift, spread);
        self.words[word] |= bits;
    }

    /// Borrows the set for look-ups.
    #[inline(always)]
    pub fn view(&self) -> BloomView<'_> {
        BloomView { words: &self.words, shift: self.shift }
    }

    /// Estimates the share of other numbers that the set reports by chance.
    pub fn share_by_chance(&self) -> f64 {
        (3.0 * self.numbers as f64 / (64 * self.words.len()) as f64).powi(3)
    }
}

impl BloomView<'_> {
    /// Returns whether a number may be in the set. It must already be [`spread`].
    #[inline(always)]
    pub fn may_have(self, spread: u64) -> bool {
        let (word, bits) = place(self.shift, spread);
        self.words[word] & bits == bits
    }

    /// Prefetches the word that [`Self::may_have`] reads for this number.
    #[inline(always)]
    pub fn prefetch(self, spread: u64) {
        prefetch(&self.words[place(self.shift, spread).0]);
    }
}

/// Returns the index of a number's word, and its bits in that word.
#[inline(always)]
fn place(shift: u32, spread: u64) -> (usize, u64) {
    let bit = |at: u32| 1 << (spread >> at & 63);
    ((spread >> shift) as usize, bit(16) | bit(24) | bit(32))
}
