//! Which literals may begin with the characters that are seen: one look-up for the first six of them.

use super::classes::Classes;
use super::literal::Literal;
use super::matcher::PatternId;
use crate::wire::{BODY_LEN, Bytes, SYMBOL_BITS, Subject};

/// How many of a literal's characters are looked up.
const MOST: usize = 6;

/// Spreads codes over 64 bits; odd, so that no two fall together. 2^64 over the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The literals of a list by their first characters, folded into classes.
pub(super) struct Index {
    /// How many characters the look-ups are for, each number that some literal needs.
    counts: Vec<usize>,
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
    pub(super) fn new<'a>(
        classes: &Classes,
        literals: impl ExactSizeIterator<Item = (PatternId, Literal<'a>)>,
    ) -> Self {
        let mut present = [false; MOST + 1];
        // At most two bits more than it takes to number the literals.
        let shift = 63 - literals.len().max(1).ilog2().min(30);
        let mut entries: Vec<(u64, u32)> = literals
            .map(|(id, literal)| {
                let count = literal.len().min(MOST);
                present[count] = true;
                let first = |at| u64::from(literal.symbols(at).first().unwrap_or_default());
                let window = (0..count).fold(0, |window, at| window << SYMBOL_BITS | first(at));
                (key(classes.code(window, count), count), id as u32)
            })
            .collect();
        entries.sort_unstable();
        let mut directory = vec![0; (u64::MAX >> shift) as usize + 2];
        for (key, _) in &entries {
            directory[(key >> shift) as usize + 1] += 1;
        }
        for at in 1..directory.len() {
            directory[at] += directory[at - 1];
        }
        let (keys, ids) = entries.into_iter().unzip();
        let counts = (1..=MOST).filter(|&count| present[count]).collect();
        Self { counts, directory, shift, keys, ids }
    }

    /// How many look-ups there are for each place.
    pub(super) fn look_ups(&self) -> usize {
        self.counts.len()
    }

    /// The literals that may begin at `start`. The others do not.
    #[inline]
    pub(super) fn beginning_at(
        &self,
        classes: &Classes,
        subject: Subject,
        bytes: &Bytes,
        start: usize,
    ) -> impl Iterator<Item = PatternId> {
        let fitting = self.counts.iter().filter(move |&count| start + count <= BODY_LEN);
        fitting.flat_map(move |&count| {
            let key = key(classes.code(subject.window(bytes, start, count), count), count);
            let slot = (key >> self.shift) as usize;
            let (from, to) = (self.directory[slot] as usize, self.directory[slot + 1] as usize);
            let keys = &self.keys[from..to];
            let first = from + keys.partition_point(|other| *other < key);
            let equal = self.keys[first..to].iter().take_while(move |other| **other == key).count();
            self.ids[first..first + equal].iter().map(|id| *id as usize)
        })
    }
}

/// Codes of different counts differ, too.
fn key(code: u64, count: usize) -> u64 {
    (code | (count as u64) << (SYMBOL_BITS * MOST)).wrapping_mul(SPREAD)
}
