//! One look-up for the first characters of a text: the literals that may begin with them.

use super::bloom::{Bloom, BloomView, spread};
use super::classes::Classes;
use super::folded::{Folded, literal_window};
use crate::pattern::syntax::{Literal, PatternId};
use crate::sys::Zeros;
use crate::wire::{BODY_LEN, SIGN_POSITION};

/// The lowest bit of the count in a number to hash, above up to 7 classes.
const COUNT: u32 = 56;

/// The literals of a list, by the hash of their first characters, folded into classes.
pub(super) struct Lookup {
    /// The numbers of characters that are looked up, in ascending order.
    counts: Vec<usize>,
    /// The hashes of all literals. Most look-ups end here.
    bloom: Bloom,
    /// The index of the first entry for each value of a hash's highest bits, and the number of
    /// entries at the end.
    directory: Zeros<u32>,
    /// The shift that leaves the highest bits of a hash: its index in the directory.
    shift: u32,
    /// The literals in ascending order of their hashes: the low half of the hash, and the id.
    entries: Zeros<[u32; 2]>,
}

impl Lookup {
    /// Indexes the literals by their first `most` characters, up to 7.
    pub(super) fn new<'a>(
        classes: &Classes,
        most: usize,
        literals: impl ExactSizeIterator<Item = (PatternId, Literal<'a>)>,
    ) -> Self {
        let mut present = vec![false; most + 1];
        // The index has at most one bit more than the number of literals needs.
        let shift = 63 - literals.len().max(1).ilog2().min(30);
        let mut entries: Vec<(u64, u32)> = literals
            .map(|(id, literal)| {
                let count = literal.len().min(most);
                present[count] = true;
                (prefix_hash(literal_window(&literal, classes, 0, count), count), id as u32)
            })
            .collect();
        entries.sort_unstable();
        let mut directory = Zeros::<u32>::new((u64::MAX >> shift) as usize + 2);
        let mut bloom = Bloom::new(entries.len());
        for (hash, _) in &entries {
            bloom.put(*hash);
            directory[(hash >> shift) as usize + 1] += 1;
        }
        for at in 1..directory.len() {
            directory[at] += directory[at - 1];
        }
        let mut low_halves = Zeros::<[u32; 2]>::new(entries.len());
        for (entry, (hash, id)) in low_halves.iter_mut().zip(entries) {
            *entry = [hash as u32, id];
        }
        let counts = (1..=most).filter(|&count| present[count]).collect();
        Self { counts, bloom, directory, shift, entries: low_halves }
    }

    /// Returns the number of look-ups for each place.
    pub(super) fn look_ups(&self) -> usize {
        self.counts.len()
    }

    /// Borrows the hashes for look-ups.
    #[inline(always)]
    pub(super) fn prefix_hashes(&self) -> PrefixHashes<'_> {
        PrefixHashes { counts: &self.counts, bloom: self.bloom.view() }
    }

    /// Returns the ids of all literals.
    pub(super) fn ids(&self) -> impl Iterator<Item = PatternId> + Clone {
        self.entries.iter().map(|[_, id]| *id as usize)
    }

    /// Returns the ids of the literals that may have this hash.
    pub(super) fn ids_of(&self, hash: u64) -> impl Iterator<Item = PatternId> {
        let slot = (hash >> self.shift) as usize;
        let (from, to) = (self.directory[slot] as usize, self.directory[slot + 1] as usize);
        let of_hash = move |[low, id]: &[u32; 2]| (*low == hash as u32).then_some(*id as usize);
        self.entries[from..to].iter().filter_map(of_hash)
    }
}

/// The hashes of a [`Lookup`], borrowed for many look-ups.
#[derive(Clone, Copy)]
pub(super) struct PrefixHashes<'a> {
    counts: &'a [usize],
    bloom: BloomView<'a>,
}

impl PrefixHashes<'_> {
    /// Returns whether `does` accepts a hash of the characters from `start` on for which literals
    /// may exist. Hashes a key with either sign if `either_sign`.
    #[inline(always)]
    pub(super) fn any_at(
        self,
        text: &Folded,
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
pub(super) fn prefix_hash(window: u64, count: usize) -> u64 {
    spread(window | (count as u64) << COUNT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Style;

    #[test]
    fn literals_are_looked_up_by_their_first_characters() {
        let words = ["ab", "cd", "abcd", "abcdef", "xbcdefg"];
        let literals = || words.iter().map(|word| Literal::of(word, Style::default()));
        let classes = Classes::new(literals().flat_map(|literal| literal.characters()));
        let index = Lookup::new(&classes, 4, literals().enumerate());
        assert_eq!(index.look_ups(), 2, "one for two characters, one for four");
        let mut ids: Vec<PatternId> = index.ids().collect();
        ids.sort_unstable();
        assert_eq!(ids, [0, 1, 2, 3, 4]);
        for (literal, others) in literals().zip([vec![0], vec![1], vec![2, 3], vec![2, 3], vec![4]]) {
            let count = literal.len().min(4);
            let found = index.ids_of(prefix_hash(literal_window(&literal, &classes, 0, count), count));
            assert_eq!(found.collect::<Vec<_>>(), others);
        }
    }
}
