//! Four characters at a time, folded into classes: for long lists of literals.
//!
//! The characters are read in pairs, 0 and 1, 2 and 3, and so on; two neighbouring pairs are a *quad*. So quads begin at all even
//! places. Every literal of five characters or more holds a whole quad, wherever it begins: with its first character at an
//! even place, with its second at an odd one. Shorter ones, and what is left of a quad beside them, are marked with every
//! class that may stand there. One bitmap holds the marks of all places: 65 KiB are touched where a list has nothing but letters and case
//! is ignored (27 classes), 512 KiB at most.
//!
//! Literals that stand at one end are not marked there but looked up apart (`anchored`).
//!
//! The cost: 11 groups of four characters, 22 pairs, and 23 look-ups, all independent of each other: about 35 ns by
//! itself, and twice that in a search.

use std::collections::BTreeMap;

use super::anchored::Anchored;
use super::{Run, Starts};
use crate::pattern::chance::Place;
use crate::pattern::classes::Classes;
use crate::pattern::literal::Literal;
use crate::wire::{BODY_LEN, Bytes, QUADS, SIGN_POSITION, SIGN_VALUE, SYMBOL_BITS, Subject};

/// About what looking at all quads costs in nanoseconds.
const COST: f64 = 50.0;

/// Pairs of characters; the last one is half empty.
const PAIRS: usize = 2 * QUADS;

/// The bits of the bitmap: 512 KiB. Lists with fewer different quads touch only its beginning.
const BITS: u32 = 22;

/// The bitmap. Its size stands in the type, so that no look-up has to compare with it.
type Bitmap = [u64; 1 << (BITS - 6)];

/// How many elements are looked at together, so that the memory has brought what the last look-ups need when they are done.
const TOGETHER: usize = 32;

/// Spreads quads over a bitmap that is smaller than their number. Odd.
const SPREAD: u32 = 0x9e37_79b1;

const _: () = assert!(BODY_LEN == 43 && SIGN_POSITION == 41);

/// The marks.
pub(in super::super) struct Quads {
    subject: Subject,
    /// The number of a quad is `factor` times that of its first pair, plus that of its second, modulo the size of the bitmap.
    factor: u32,
    /// `None` if every literal stands at one end.
    bitmap: Option<Box<Bitmap>>,
    /// Where a literal begins that shows a quad: one place before it, there, one after it.
    around: [bool; 3],
    /// How many quads of random bytes are marked, on average.
    hits: f64,
    /// The literals that stand at one end.
    anchored: Vec<Anchored>,
}

impl Quads {
    /// `None` for lists with a literal of one character, which nearly everything shows.
    pub(in super::super) fn new<'a>(
        subject: Subject,
        classes: &Classes,
        most: usize,
        literals: impl Iterator<Item = Literal<'a>> + Clone,
    ) -> Option<Self> {
        let movable = literals.clone().filter(|literal| literal.place() == Place::Anywhere);
        let movable = movable.map(|literal| literal.run());
        if movable.clone().any(|run| run.symbols.len() == 1) {
            return None;
        }
        let anchored = anchored(subject, classes, most, literals);
        let hits = anchored.iter().map(Anchored::hits).sum();
        let mut quads = Self { subject, factor: 0, bitmap: None, around: [false; 3], hits, anchored };
        if movable.clone().next().is_some() {
            quads.mark_all(classes, movable);
        }
        Some(quads)
    }

    /// How many places of random bytes have to be looked at, on average.
    pub(in super::super) fn hits(&self) -> f64 {
        self.hits
    }

    /// What this test costs, in nanoseconds.
    pub(super) fn cost(&self) -> f64 {
        let of_quads = if self.bitmap.is_none() { 0.0 } else { COST };
        of_quads + self.anchored.iter().map(Anchored::cost).sum::<f64>()
    }

    fn mark_all(&mut self, classes: &Classes, runs: impl Iterator<Item = Run>) {
        let pairs = classes.count() * classes.count();
        let fits = u64::from(pairs).pow(2) <= 1 << BITS;
        self.factor = if fits { pairs } else { SPREAD };
        let Ok(mut bitmap) = Box::<Bitmap>::try_from(vec![0; 1 << (BITS - 6)].into_boxed_slice()) else {
            unreachable!("it has the size of its type")
        };
        let mut share = 0.0;
        for run in runs {
            for odd in [false, true] {
                if let Some(shift) = shift(&run, odd) {
                    self.around[(1 - shift) as usize] = true;
                    share += mark(&mut bitmap, self.factor, classes, &run, shift);
                }
            }
        }
        // Where quads share bits, others fall on those that are marked.
        let marked = || bitmap.iter().map(|word| word.count_ones()).sum::<u32>();
        let fallen = if fits { 0.0 } else { f64::from(marked()) / 2f64.powi(BITS as i32) };
        let around = self.around.iter().filter(|is| **is).count() as f64;
        self.hits += (share + fallen) * (PAIRS - 1) as f64 * around;
        self.bitmap = Some(bitmap);
    }

    /// Calls `each` with the place of everything that may show a literal, in ascending order, and where that may begin.
    pub(super) fn survivors(&self, classes: &Classes, batch: &[Bytes], each: &mut dyn FnMut(usize, Starts)) {
        for (number, some) in batch.chunks(TOGETHER).enumerate() {
            let mut starts = [0; TOGETHER];
            if let Some(bitmap) = &self.bitmap {
                let factor = self.factor;
                for (starts, bytes) in starts.iter_mut().zip(some) {
                    let hits = match self.subject {
                        Subject::Key => hits_of_key(bitmap, factor, classes, bytes),
                        Subject::Fingerprint => {
                            hits(bitmap, factor, &pairs(classes, &Subject::Fingerprint.quads(bytes)))
                        }
                    };
                    *starts = if hits == 0 { 0 } else { self.around(hits) };
                }
            }
            for anchored in &self.anchored {
                anchored.starts(classes, some, &mut starts);
            }
            for (at, starts) in starts.into_iter().enumerate().filter(|(_, starts)| *starts != 0) {
                each(TOGETHER * number + at, Starts(starts).and(Starts::ALL));
            }
        }
    }

    /// Where a literal may begin that shows one of these quads.
    fn around(&self, mut hits: u32) -> u64 {
        let around = self.around.iter().rev().fold(0u64, |around, is| around << 1 | u64::from(*is));
        let mut starts = 0;
        while hits != 0 {
            starts |= around << (2 * hits.trailing_zeros()) >> 1;
            hits &= hits - 1;
        }
        starts
    }
}

/// Marks the quad that begins `shift` characters after the run, and gives the share of quads that were not marked before.
fn mark(bitmap: &mut Bitmap, factor: u32, classes: &Classes, run: &Run, shift: isize) -> f64 {
    let mut all = vec![(0, 1.0)];
    for at in shift..shift + 4 {
        let symbols = usize::try_from(at).ok().and_then(|at| run.symbols.get(at));
        let these = match symbols {
            Some(symbols) => symbols.first().map_or(0..0, |first| classes.of(first)..classes.of(first) + 1),
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
        let (word, bit) = place(factor, (quad / pairs) as u32, (quad % pairs) as u32);
        if bitmap[word] >> bit & 1 == 0 {
            bitmap[word] |= 1 << bit;
            added += share;
        }
    }
    added
}

/// The quads of a key that are marked with one sign or the other, as [`hits`] has them.
#[inline(always)]
fn hits_of_key(bitmap: &Bitmap, factor: u32, classes: &Classes, key: &Bytes) -> u32 {
    let quads = Subject::Key.quads(key);
    let pairs = pairs(classes, &quads);
    // The sign is in the second character of the last but one pair.
    let both = quads[QUADS - 1] >> (2 * SYMBOL_BITS) | u32::from(SIGN_VALUE);
    let (before, with_sign, after) = (pairs[PAIRS - 3], classes.pair(both), pairs[PAIRS - 1]);
    hits(bitmap, factor, &pairs)
        | (hit(bitmap, factor, before, with_sign) << (PAIRS - 3)) as u32
        | (hit(bitmap, factor, with_sign, after) << (PAIRS - 2)) as u32
}

/// Bit j: the quad that begins with pair j is marked. Adding bits up in this way makes bit tests and additions with carry of it.
#[inline(always)]
fn hits(bitmap: &Bitmap, factor: u32, pairs: &[u32; PAIRS]) -> u32 {
    let mut hits = 0u64;
    for at in (0..PAIRS - 1).rev() {
        hits = hits + hits + hit(bitmap, factor, pairs[at], pairs[at + 1]);
    }
    hits as u32
}

#[inline(always)]
fn hit(bitmap: &Bitmap, factor: u32, first: u32, second: u32) -> u64 {
    let (word, bit) = place(factor, first, second);
    bitmap[word] >> bit & 1
}

#[inline(always)]
fn place(factor: u32, first: u32, second: u32) -> (usize, u32) {
    let number = first.wrapping_mul(factor).wrapping_add(second) % (1 << BITS);
    ((number / 64) as usize, number % 64)
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

/// The literals that stand at one end, those together that have the same window.
fn anchored<'a>(
    subject: Subject,
    classes: &Classes,
    most: usize,
    literals: impl Iterator<Item = Literal<'a>> + Clone,
) -> Vec<Anchored> {
    let mut groups = BTreeMap::<_, usize>::new();
    for window in literals.clone().filter_map(|literal| Anchored::window_of(&literal, most)) {
        *groups.entry(window).or_default() += 1;
    }
    let mut groups: BTreeMap<_, _> =
        groups.into_iter().map(|(window, count)| (window, Anchored::new(subject, window, count))).collect();
    for literal in literals {
        let group = Anchored::window_of(&literal, most).and_then(|window| groups.get_mut(&window));
        if let Some(group) = group {
            group.mark(classes, &literal);
        }
    }
    groups.into_values().collect()
}
