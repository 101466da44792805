//! Which literals may begin with the characters that are seen: one look-up for the first few of them.

use std::ops::ControlFlow;

use super::classes::Classes;
use super::literal::Literal;
use super::marks::{Marks, spread};
use super::matcher::PatternId;
use crate::wire::{BODY_LEN, Bytes, SYMBOL_BITS, Subject};

/// Where the count stands in a key, above the code of 8 characters.
const COUNT: usize = 8 * SYMBOL_BITS;

/// The literals of a list by their first characters, folded into classes.
pub(super) struct Index {
    /// How many characters the look-ups are for, each number that some literal needs.
    counts: Vec<usize>,
    /// The keys that there are. Most look-ups end here.
    marks: Marks,
    /// Where the entries begin whose highest bits are the place in this list, and where the last of them end.
    directory: Vec<u32>,
    /// The highest bits of a key are its place in the directory.
    shift: u32,
    /// The keys of the literals, in ascending order.
    keys: Vec<u64>,
    /// The literal of each key.
    ids: Vec<u32>,
}

impl Index {
    /// Of each literal the first `most` characters are looked up, up to 8.
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
                (key(classes.code(literal.window(0, count), count), count), id as u32)
            })
            .collect();
        entries.sort_unstable();
        let mut directory = vec![0; (u64::MAX >> shift) as usize + 2];
        let mut marks = Marks::new(entries.len());
        for (key, _) in &entries {
            marks.put(*key);
            directory[(key >> shift) as usize + 1] += 1;
        }
        for at in 1..directory.len() {
            directory[at] += directory[at - 1];
        }
        let (keys, ids) = entries.into_iter().unzip();
        let counts = (1..=most).filter(|&count| present[count]).collect();
        Self { counts, marks, directory, shift, keys, ids }
    }

    /// How many look-ups there are for each place.
    pub(super) fn look_ups(&self) -> usize {
        self.counts.len()
    }

    /// Calls `each` with the literals that may begin at `start`, until it breaks off. The others do not.
    #[inline]
    pub(super) fn each_at(
        &self,
        classes: &Classes,
        subject: Subject,
        bytes: &Bytes,
        start: usize,
        mut each: impl FnMut(PatternId) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for &count in &self.counts {
            if start + count > BODY_LEN {
                break;
            }
            let key = key(classes.code(subject.window(bytes, start, count), count), count);
            if self.marks.may_have(key) {
                self.ids_of(key).iter().try_for_each(|id| each(*id as usize))?;
            }
        }
        ControlFlow::Continue(())
    }

    fn ids_of(&self, key: u64) -> &[u32] {
        let slot = (key >> self.shift) as usize;
        let (from, to) = (self.directory[slot] as usize, self.directory[slot + 1] as usize);
        let keys = &self.keys[from..to];
        let first = from + keys.partition_point(|other| *other < key);
        let equal = self.keys[first..to].iter().take_while(|other| **other == key).count();
        &self.ids[first..first + equal]
    }
}

/// Codes of different counts have different keys, too.
fn key(code: u64, count: usize) -> u64 {
    spread(code | (count as u64) << COUNT)
}
