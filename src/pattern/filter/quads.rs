//! Four characters at a time, folded into classes: for long lists of literals.
//!
//! The characters are read in pairs, 0 and 1, 2 and 3, and so on; two neighbouring pairs are a *quad*. So quads begin at all even
//! places. Every literal of five characters or more holds a whole quad, wherever it begins: with its first character at an
//! even place, with its second at an odd one. Shorter ones, and what is left of a quad beside them, are marked with every
//! class that may stand there. One bitmap holds the marks of all places: 65 KiB where a list has nothing but letters and case is
//! ignored (27 classes), 512 KiB at most.
//!
//! Literals that stand at one place only are not marked there but looked up apart (`anchored`).
//!
//! The cost: 11 groups of four characters, 22 pairs, and 23 look-ups, all independent of each other: 25 ns.

use std::collections::BTreeMap;

use super::anchored::Anchored;
use super::{Run, Starts};
use crate::pattern::classes::Classes;
use crate::wire::{BODY_LEN, Bytes, QUADS, SIGN_POSITION, SIGN_VALUE, SYMBOL_BITS, Subject};

/// What looking at all quads costs in nanoseconds.
const COST: f64 = 25.0;

/// What is cheaper than this, quads cannot better.
pub(super) const LEAST_COST: f64 = COST;

/// Pairs of characters; the last one is half empty.
const PAIRS: usize = 2 * QUADS;

/// The bits of the largest bitmap: 512 KiB.
const MOST_BITS: u32 = 22;

/// Spreads quads over a bitmap that is smaller than their number. Odd.
const SPREAD: u32 = 0x9e37_79b1;

const _: () = assert!(BODY_LEN == 43 && SIGN_POSITION == 41);

/// The marks.
pub(in super::super) struct Quads {
    subject: Subject,
    /// The number of a quad is `factor` times that of its first pair, plus that of its second, modulo the size of the bitmap.
    factor: u32,
    /// Empty if every literal stands at one place only.
    bitmap: Vec<u64>,
    /// Where a literal begins that shows a quad: one place before it, there, one after it.
    around: [bool; 3],
    /// How many quads of random bytes are marked, on average.
    hits: f64,
    /// The literals that stand at one place only, by that of their window and its length.
    anchored: Vec<Anchored>,
}

impl Quads {
    /// `None` for lists with a literal of one character, which nearly everything shows.
    pub(super) fn new(
        subject: Subject,
        classes: &Classes,
        runs: impl Iterator<Item = Run> + Clone,
    ) -> Option<Self> {
        let mut quads = Self {
            subject,
            factor: 0,
            bitmap: Vec::new(),
            around: [false; 3],
            hits: 0.0,
            anchored: anchored(subject, classes, runs.clone()),
        };
        let movable = runs.filter(|run| run.starts.start() != run.starts.end());
        if movable.clone().any(|run| run.symbols.len() == 1) {
            return None;
        }
        if movable.clone().next().is_some() {
            quads.mark_all(classes, movable);
        }
        quads.hits += quads.anchored.iter().map(Anchored::hits).sum::<f64>();
        Some(quads)
    }

    /// How many places of random bytes have to be looked at, on average.
    pub(super) fn hits(&self) -> f64 {
        self.hits
    }

    /// What this test costs, in nanoseconds.
    pub(super) fn cost(&self) -> f64 {
        let of_quads = if self.bitmap.is_empty() { 0.0 } else { COST };
        of_quads + self.anchored.iter().map(Anchored::cost).sum::<f64>()
    }

    fn mark_all(&mut self, classes: &Classes, runs: impl Iterator<Item = Run>) {
        let pairs = classes.count() * classes.count();
        let needed = u64::from(pairs).pow(2).next_power_of_two().ilog2().max(6);
        let bits = needed.min(MOST_BITS);
        self.factor = if needed > MOST_BITS { SPREAD } else { pairs };
        self.bitmap = vec![0; 1 << (bits - 6)];
        let mut share = 0.0;
        for run in runs {
            for odd in [false, true] {
                if let Some(shift) = shift(&run, odd) {
                    self.around[(1 - shift) as usize] = true;
                    share += self.mark(classes, &run, shift);
                }
            }
        }
        let marked: u32 = self.bitmap.iter().map(|word| word.count_ones()).sum();
        // Where quads share bits, others fall on those that are marked.
        let fallen = if needed > MOST_BITS { f64::from(marked) / 2f64.powi(bits as i32) } else { 0.0 };
        let around = self.around.iter().filter(|is| **is).count() as f64;
        self.hits = (share + fallen) * (PAIRS - 1) as f64 * around;
    }

    /// Marks the quad that begins `shift` characters after the run, and gives the share of quads that were not marked before.
    fn mark(&mut self, classes: &Classes, run: &Run, shift: isize) -> f64 {
        let mut all = vec![(0, 1.0)];
        for at in shift..shift + 4 {
            let symbols = usize::try_from(at).ok().and_then(|at| run.symbols.get(at));
            let these = match symbols {
                Some(symbols) => {
                    symbols.first().map_or(0..0, |first| classes.of(first)..classes.of(first) + 1)
                }
                None => 0..classes.count(),
            };
            all = all
                .into_iter()
                .flat_map(|(quad, share)| {
                    these.clone().map(move |class| {
                        (quad * u64::from(classes.count()) + u64::from(class), share * classes.share(class))
                    })
                })
                .collect();
        }
        let pairs = u64::from(classes.count() * classes.count());
        let mut added = 0.0;
        for (quad, share) in all {
            let (word, bit) = self.place((quad / pairs) as u32, (quad % pairs) as u32);
            if self.bitmap[word] >> bit & 1 == 0 {
                self.bitmap[word] |= 1 << bit;
                added += share;
            }
        }
        added
    }

    #[inline(always)]
    fn place(&self, first: u32, second: u32) -> (usize, u32) {
        let number =
            first.wrapping_mul(self.factor).wrapping_add(second) as usize & (64 * self.bitmap.len() - 1);
        (number / 64, number as u32 % 64)
    }

    /// Calls `each` with the place of everything that may show a literal, in ascending order, and where that may begin.
    pub(super) fn survivors(&self, classes: &Classes, batch: &[Bytes], each: &mut dyn FnMut(usize, Starts)) {
        match (self.bitmap.is_empty(), self.subject) {
            (true, _) => self.all(classes, batch, each, |_| 0),
            (false, Subject::Key) => self.all(classes, batch, each, |bytes| self.key(classes, bytes)),
            (false, Subject::Fingerprint) => {
                self.all(classes, batch, each, |bytes| {
                    self.hits_of(&pairs(classes, &Subject::Fingerprint.quads(bytes)))
                });
            }
        }
    }

    #[inline(always)]
    fn all(
        &self,
        classes: &Classes,
        batch: &[Bytes],
        each: &mut dyn FnMut(usize, Starts),
        hits: impl Fn(&Bytes) -> u32,
    ) {
        for (place, bytes) in batch.iter().enumerate() {
            let hits = hits(bytes);
            let mut starts = if hits == 0 { 0 } else { self.starts(hits) };
            for anchored in &self.anchored {
                starts |= anchored.starts(classes, bytes);
            }
            if starts != 0 {
                each(place, Starts(starts).and(Starts::ALL));
            }
        }
    }

    /// The quads of a key that are marked with one sign or the other.
    #[inline(always)]
    fn key(&self, classes: &Classes, key: &Bytes) -> u32 {
        let quads = Subject::Key.quads(key);
        let pairs = pairs(classes, &quads);
        // The sign is in the second character of the last but one pair.
        let both = quads[QUADS - 1] >> (2 * SYMBOL_BITS) | u32::from(SIGN_VALUE);
        let (before, with_sign, after) = (pairs[PAIRS - 3], classes.pair(both), pairs[PAIRS - 1]);
        self.hits_of(&pairs)
            | self.hit(before, with_sign) << (PAIRS - 3)
            | self.hit(with_sign, after) << (PAIRS - 2)
    }

    /// Bit j: the quad that begins with pair j is marked.
    #[inline(always)]
    fn hits_of(&self, pairs: &[u32; PAIRS]) -> u32 {
        let mut hits = 0;
        for at in 0..PAIRS - 1 {
            hits |= self.hit(pairs[at], pairs[at + 1]) << at;
        }
        hits
    }

    #[inline(always)]
    fn hit(&self, first: u32, second: u32) -> u32 {
        let (word, bit) = self.place(first, second);
        (self.bitmap[word] >> bit) as u32 & 1
    }

    /// Where a literal may begin that shows one of these quads.
    fn starts(&self, mut hits: u32) -> u64 {
        let around = self.around.iter().rev().fold(0u64, |around, is| around << 1 | u64::from(*is));
        let mut starts = 0;
        while hits != 0 {
            starts |= around << (2 * hits.trailing_zeros()) >> 1;
            hits &= hits - 1;
        }
        starts
    }
}

#[inline(always)]
fn pairs(classes: &Classes, quads: &[u32; QUADS]) -> [u32; PAIRS] {
    let mut pairs = [0; PAIRS];
    for at in 0..QUADS {
        pairs[2 * at] = classes.pair(quads[at] >> (2 * SYMBOL_BITS));
        pairs[2 * at + 1] = classes.pair(quads[at] & 0xfff);
    }
    pairs
}

/// How many characters after the beginning of a run the quad begins that is marked for it where it begins at an odd or an even place:
/// the one that holds most of it. `None` if it does not begin there.
fn shift(run: &Run, odd: bool) -> Option<isize> {
    let begins_there = run.starts.clone().any(|start| start % 2 == usize::from(odd));
    let first_odd_shift = if run.symbols.len() > 4 { 1 } else { -1 };
    begins_there.then_some(if odd { first_odd_shift } else { 0 })
}

/// The runs that stand at one place only, those together that are looked up by a window of the same place and length.
fn anchored(subject: Subject, classes: &Classes, runs: impl Iterator<Item = Run> + Clone) -> Vec<Anchored> {
    let fixed = || runs.clone().filter(|run| run.starts.start() == run.starts.end());
    let mut groups = BTreeMap::<_, usize>::new();
    for run in fixed() {
        *groups.entry(Anchored::window_of(&run)).or_default() += 1;
    }
    let mut all: Vec<Anchored> =
        groups.into_iter().map(|(window, runs)| Anchored::new(subject, window, runs)).collect();
    for run in fixed() {
        let window = Anchored::window_of(&run);
        if let Some(anchored) = all.iter_mut().find(|anchored| anchored.window() == window) {
            anchored.mark(classes, &run);
        }
    }
    all
}
