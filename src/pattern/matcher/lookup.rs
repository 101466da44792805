//! Which literals may begin with the characters that are seen: one look-up for the first few of them.

use super::bloom::{Bloom, BloomView, spread};
use super::classes::Classes;
use super::folded::{Folded, literal_window};
use crate::pattern::syntax::{Literal, PatternId};
use crate::sys::Zeros;
use crate::wire::{BODY_LEN, SIGN_POSITION};

/// Where the count stands, above 7 classes.
const COUNT: u32 = 56;

/// The literals of a list by their first characters, folded into classes.
pub(super) struct Lookup {
    /// How many characters the look-ups are for, each number that some literal needs.
    counts: Vec<usize>,
    /// The keys that there are. Most look-ups end here.
    marks: Bloom,
    /// Where the entries begin whose highest bits are the place in this list, and where the last of them end.
    directory: Zeros<u32>,
    /// The highest bits of a key are its place in the directory.
    shift: u32,
    /// The literals in ascending order of their keys, of which the low halves stand here.
    entries: Zeros<[u32; 2]>,
}

impl Lookup {
    /// Of each literal the first `most` characters are looked up, up to 7.
    pub(super) fn new<'a>(
        classes: &Classes,
        most: usize,
        literals: impl ExactSizeIterator<Item = (PatternId, Literal<'a>)>,
    ) -> Self {
        let mut present = vec![false; most + 1];
        // At most two bits more than it takes to number the literals.
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
        let mut marks = Bloom::new(entries.len());
        for (key, _) in &entries {
            marks.put(*key);
            directory[(key >> shift) as usize + 1] += 1;
        }
        for at in 1..directory.len() {
            directory[at] += directory[at - 1];
        }
        let mut low_halves = Zeros::<[u32; 2]>::new(entries.len());
        for (entry, (key, id)) in low_halves.iter_mut().zip(entries) {
            *entry = [key as u32, id];
        }
        let counts = (1..=most).filter(|&count| present[count]).collect();
        Self { counts, marks, directory, shift, entries: low_halves }
    }

    /// How many look-ups there are for each place.
    pub(super) fn look_ups(&self) -> usize {
        self.counts.len()
    }

    /// The keys that there may be.
    #[inline(always)]
    pub(super) fn prefix_hashes(&self) -> PrefixHashes<'_> {
        PrefixHashes { counts: &self.counts, marks: self.marks.view() }
    }

    /// All literals.
    pub(super) fn ids(&self) -> impl Iterator<Item = PatternId> + Clone {
        self.entries.iter().map(|[_, id]| *id as usize)
    }

    /// The literals that may have this key.
    pub(super) fn ids_of(&self, key: u64) -> impl Iterator<Item = PatternId> {
        let slot = (key >> self.shift) as usize;
        let (from, to) = (self.directory[slot] as usize, self.directory[slot + 1] as usize);
        let of_key = move |[low, id]: &[u32; 2]| (*low == key as u32).then_some(*id as usize);
        self.entries[from..to].iter().filter_map(of_key)
    }
}

/// The keys of an index, borrowed for many questions.
#[derive(Clone, Copy)]
pub(super) struct PrefixHashes<'a> {
    counts: &'a [usize],
    marks: BloomView<'a>,
}

impl PrefixHashes<'_> {
    /// Whether any key for which there may be literals at `start` of a text does; in a key, with either sign.
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
        self.marks.may_have(hash) && does(hash)
    }
}

/// Windows of different counts have different keys, too.
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
