//! A filter on windows of two bytes, by the values that they have where a needle is shown.
//!
//! A *window* is two neighboring bytes, that is, parts of three or four characters. A needle may
//! begin at several places, and at each place it touches some windows. For each place the filter
//! chooses one of these windows, and marks every value that the window can have there, whatever
//! characters are next to the needle. Bytes show no needle if no window has a marked value. All
//! windows share one bitmap of 2^16 bits. Its 8 KiB fit into the first-level cache; a bitmap for
//! each window would not.
//!
//! Four characters are three bytes. So windows that begin three bytes apart cut the characters in
//! the same way; they form a *row*. There are three rows. In a key, character c begins at bit
//! 6c - 2:
//!
//! ```text
//! windows at bytes 0, 3, ... 27    4 low bits of a character, 6, 6
//! windows at bytes 1, 4, ... 28    2 low bits, 6, 6, 2 high bits
//! windows at bytes 2, 5, ... 29    6, 6, 4 high bits
//! ```
//!
//! Wherever six characters begin, some window of the last row lies within them: it holds two of
//! them whole and four bits of a third. With both cases of three letters it has 8 values, and there
//! are four ways in which it can lie. That makes 32 marks, and random bytes pass the 10 windows
//! with a chance of 10 x 32 / 2^16 = 0.5%. Each row alone keeps the promise, so bytes must pass all
//! rows. A row that rejects too little is dropped. Usually all three rows are dropped if a needle
//! of up to three characters may be anywhere, and for lists of some hundred words. Without any row
//! everything passes.
//!
//! A single window, as for a prefix, costs less than half of all windows of a row (`choice`). Few
//! bytes reach the second row.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use super::needle::{EachCandidate, Needle};
use crate::wire::{Bytes, KEY_LEN, SYMBOL_BITS, Symbols, Target};

/// The number of rows: windows three bytes apart begin at byte 0, 1 or 2.
pub const ROWS: usize = 3;

/// The windows of a row. The last window of the last row ends at byte 30, so no window holds byte
/// 31 with the sign.
pub const WINDOWS: usize = 10;

const _: () = assert!((ROWS - 1) + 3 * (WINDOWS - 1) + 1 == KEY_LEN - 2);

const WINDOW_BITS: usize = 16;

/// The number of values that a window has.
const VALUES: usize = 1 << WINDOW_BITS;

/// The number of words of a row for a device.
pub const ROW_WORDS: usize = 1 + WINDOWS + VALUES / 32;

/// The most windows for which a list pays: a window of a list takes longer than one of all windows
/// of a row, whose places are constants in the code.
const FEW: usize = 3;

/// The largest share of random bytes that a row may let pass. A row pays if it saves a few percent
/// of the exact tests. But the rows share bits, so a later row rejects less than its own share.
const MOST_CANDIDATES: f64 = 0.8;

/// The rows that pay.
pub struct PairBitmap {
    /// The rows, in ascending order of the share that each lets pass.
    rows: Vec<Row>,
}

impl PairBitmap {
    /// Returns a filter that rejects nothing.
    pub fn none() -> Self {
        Self { rows: Vec::new() }
    }

    /// Returns whether every element is a candidate.
    pub fn is_none(&self) -> bool {
        self.rows.is_empty()
    }

    /// Makes a filter that lets all bytes pass that show one of `needles`.
    pub fn new(target: Target, needles: &[Needle]) -> Self {
        let mut rows: Vec<Row> = (0..ROWS).filter_map(|first| Row::new(target, first, needles)).collect();
        rows.sort_unstable_by(|left, right| left.candidate_share().total_cmp(&right.candidate_share()));
        Self { rows }
    }

    /// Estimates the share of random bytes that pass, as if the rows were independent.
    pub fn candidate_share(&self) -> f64 {
        self.rows.iter().map(Row::candidate_share).product()
    }

    /// Returns the share of random bytes that pass each row, and whether it tests few windows.
    pub fn rows(&self) -> impl Iterator<Item = (f64, bool)> {
        self.rows.iter().map(|row| (row.candidate_share(), row.marked.len() <= FEW))
    }

    /// Appends [`ROW_WORDS`] words for each row: the number of windows that are tested, the byte at
    /// which each begins, and the bitmap. Returns the number of rows.
    pub fn write(&self, words: &mut Vec<u32>) -> usize {
        for row in &self.rows {
            let windows = row.windows();
            words.push(windows.len() as u32);
            words.extend((0..WINDOWS).map(|at| windows.get(at).map_or(0, |byte| *byte as u32)));
            words.extend(row.bitmap.iter().flat_map(|word| [*word as u32, (word >> 32) as u32]));
        }
        self.rows.len()
    }

    /// Calls `each` with the place of every element that may show a needle, in ascending order.
    pub fn candidates(&self, batch: &[Bytes], each: EachCandidate) {
        match &self.rows[..] {
            [] => (0..batch.len()).for_each(each),
            [row, others @ ..] => row.candidates(batch, &mut |place| {
                if others.iter().all(|row| row.passes(&batch[place])) {
                    each(place);
                }
            }),
        }
    }

    /// Returns the candidates and their bytes.
    pub fn copied(&self, batch: &[Bytes]) -> (Vec<usize>, Vec<Bytes>) {
        let (mut candidates, mut bytes) = (Vec::new(), Vec::new());
        self.candidates(batch, &mut |candidate| {
            candidates.push(candidate);
            bytes.push(batch[candidate]);
        });
        (candidates, bytes)
    }
}

/// A row of windows three bytes apart.
pub struct Row {
    target: Target,
    /// The first byte of the first window.
    first: usize,
    /// The first bytes of the windows in which some needle is marked.
    marked: Vec<usize>,
    bitmap: Box<[u64; VALUES / 64]>,
    /// The number of bits that are set in the bitmap.
    marks: u32,
}

impl Row {
    /// Makes the row that begins at byte `first`, with all needles marked. `None` if it would let
    /// too many keys pass.
    pub fn new(target: Target, first: usize, needles: &[Needle]) -> Option<Self> {
        let mut row =
            Self { target, first, marked: Vec::new(), bitmap: Box::new([0; VALUES / 64]), marks: 0 };
        // A needle that may be anywhere shows the same values again four characters later.
        let mut seen = HashSet::new();
        for needle in needles {
            for start in needle.starts.clone() {
                row.mark(needle, start, &mut seen)?;
                if row.candidate_share() > MOST_CANDIDATES {
                    return None;
                }
            }
        }
        Some(row)
    }

    /// Marks `needle` at the position `start`, in the window that has the fewest values there.
    /// `None` if the needle touches no window. Among windows with equally many values, those that
    /// are already tested come first, and later windows come next, because later positions touch
    /// them, too.
    fn mark(&mut self, needle: &Needle, start: usize, seen: &mut HashSet<Vec<Part>>) -> Option<()> {
        let target = self.target;
        let symbols = |position: usize| {
            let typed = position.checked_sub(start).and_then(|at| needle.symbols.get(at));
            typed.map_or(target.symbols(position), |typed| typed.and(target.symbols(position)))
        };
        if symbols(start).is_empty() {
            return Some(());
        }
        let count = |byte: usize| parts(target, byte, symbols).map(|part| part.values.len()).product::<u32>();
        let end = start + needle.symbols.len();
        let touched = (0..WINDOWS).rev().map(|window| self.first + 3 * window).filter(|&byte| {
            let characters = characters(target, byte);
            start <= *characters.end() && *characters.start() < end
        });
        let byte = touched.min_by_key(|byte| (count(*byte), !self.marked.contains(byte)))?;
        if !self.marked.contains(&byte) {
            self.marked.push(byte);
        }
        let parts: Vec<Part> = parts(target, byte, symbols).collect();
        if seen.contains(&parts) {
            return Some(());
        }
        let mut values = vec![0];
        for part in &parts {
            let joined = |value| part.each().map(move |more| value | more);
            values = values.into_iter().flat_map(joined).collect();
        }
        for value in values {
            // The first byte is the high one here, and the low one in `bit`.
            let (word, bit) = place(value.swap_bytes());
            self.marks += u32::from(self.bitmap[word] >> bit & 1 == 0);
            self.bitmap[word] |= 1 << bit;
        }
        seen.insert(parts);
        Some(())
    }

    /// Returns the share of random keys that pass. The windows of a row share no bit, so their
    /// chances are independent.
    pub fn candidate_share(&self) -> f64 {
        let windows = if self.marked.len() > FEW { WINDOWS } else { self.marked.len() };
        1.0 - (1.0 - f64::from(self.marks) / VALUES as f64).powi(windows as i32)
    }

    /// Returns the first bytes of the windows that are tested.
    fn windows(&self) -> Vec<usize> {
        if self.marked.len() > FEW {
            return (0..WINDOWS).map(|window| self.first + 3 * window).collect();
        }
        self.marked.clone()
    }

    /// Returns whether a key passes this row.
    pub fn passes(&self, key: &Bytes) -> bool {
        let mut passes = false;
        self.candidates(std::slice::from_ref(key), &mut |_| passes = true);
        passes
    }

    /// Calls `each` with every candidate. The kind of row is matched once for all keys. With a
    /// match for each key, compilers merge the three kinds, and a key takes three times as long.
    fn candidates(&self, keys: &[Bytes], each: EachCandidate) {
        match (&self.marked[..], self.first) {
            (&[byte], _) => {
                for (place, key) in keys.iter().enumerate() {
                    if self.bit(key, byte) > 0 {
                        each(place);
                    }
                }
            }
            (few, _) if few.len() <= FEW => {
                for (place, key) in keys.iter().enumerate() {
                    if few.iter().map(|&byte| self.bit(key, byte)).sum::<u64>() > 0 {
                        each(place);
                    }
                }
            }
            (_, 0) => self.candidates_of_all::<0>(keys, each),
            (_, 1) => self.candidates_of_all::<1>(keys, each),
            (_, _) => self.candidates_of_all::<2>(keys, each),
        }
    }

    /// Tests all windows of the row that begins at byte `FIRST`, as [`Self::candidates`] does.
    /// Adding the bits of a key compiles to bit tests and additions with carry, which are
    /// faster than OR.
    fn candidates_of_all<const FIRST: usize>(&self, keys: &[Bytes], each: EachCandidate) {
        for (place, key) in keys.iter().enumerate() {
            if (0..WINDOWS).map(|window| self.bit(key, FIRST + 3 * window)).sum::<u64>() > 0 {
                each(place);
            }
        }
    }

    /// Returns 1 if the window at `byte` has a marked value, otherwise 0.
    #[inline]
    fn bit(&self, key: &Bytes, byte: usize) -> u64 {
        let (word, bit) = place(u16::from_le_bytes([key[byte], key[byte + 1]]));
        self.bitmap[word] >> bit & 1
    }
}

/// Returns the index of the word and of the bit of a value in the bitmap.
#[inline]
fn place(value: u16) -> (usize, u32) {
    (usize::from(value / 64), u32::from(value % 64))
}

/// The bits that one character contributes to a window.
#[derive(PartialEq, Eq, Hash)]
pub struct Part {
    /// The values that these bits can have, as a set with one symbol for each.
    values: Symbols,
    /// The number of bits of the window after them.
    below: usize,
}

impl Part {
    /// Returns the contributions, shifted to their place in the window.
    pub fn each(&self) -> impl Iterator<Item = u16> {
        (0..64).filter(|value| self.values.0 >> value & 1 == 1).map(|value| value << self.below)
    }
}

/// Returns the positions of the characters that have bits in the window at `byte`.
fn characters(target: Target, byte: usize) -> RangeInclusive<usize> {
    let start = start_bit(target, byte);
    start / SYMBOL_BITS..=(start + WINDOW_BITS - 1) / SYMBOL_BITS
}

/// Returns the first bit of the window at `byte`, counted in bits of the characters.
fn start_bit(target: Target, byte: usize) -> usize {
    8 * byte + target.lead()
}

/// Returns the parts of the window at `byte`, high bits first, if each position shows one of its
/// `symbols`.
pub fn parts(target: Target, byte: usize, symbols: impl Fn(usize) -> Symbols) -> impl Iterator<Item = Part> {
    let start = start_bit(target, byte);
    let end = start + WINDOW_BITS;
    characters(target, byte).map(move |position| {
        let (from, to) = (SYMBOL_BITS * position, SYMBOL_BITS * (position + 1));
        let (dropped, held) = (to - to.min(end), to.min(end) - from.max(start));
        let of = symbols(position).0;
        let values = (0..64).filter(|value| of >> value & 1 == 1);
        let values = values.fold(0, |seen, value| seen | 1 << (value >> dropped & ((1 << held) - 1)));
        Part { values: Symbols(values), below: end - to.min(end) }
    })
}
