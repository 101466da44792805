//! Literals that stand at one place only: one look-up of their characters there.

use super::Run;
use crate::pattern::classes::Classes;
use crate::wire::{BODY_LEN, Bytes, SIGN_POSITION, SYMBOL_BITS, Subject, with_sign};

/// The most characters of a literal that are looked at: its first, or at the end its last.
const MOST: usize = 6;

/// Bits of the bitmap for each literal: one of 16 random windows falls on a mark by chance, and 1,000,000 take 2 MiB.
const BITS_FOR_EACH: usize = 16;

/// Spreads codes over the bitmap: 2^64 over the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// What a look-up costs in nanoseconds.
const COST: f64 = 6.0;

/// Where a window begins and how many characters it has.
pub(super) type Window = (usize, usize);

/// The literals with the same window.
pub(super) struct Anchored {
    subject: Subject,
    window: Window,
    bitmap: Vec<u64>,
    /// The highest bits of a spread code are its place in the bitmap.
    shift: u32,
    /// Where the literals begin.
    starts: u64,
    marked: usize,
}

impl Anchored {
    /// The window of a run that stands at one place only.
    pub(super) fn window_of(run: &Run) -> Window {
        let (start, end) = (*run.starts.start(), run.starts.start() + run.symbols.len());
        let count = run.symbols.len().min(MOST);
        (if end == BODY_LEN { end - count } else { start }, count)
    }

    pub(super) fn new(subject: Subject, window: Window, literals: usize) -> Self {
        let bits = (BITS_FOR_EACH * literals).next_power_of_two().max(64);
        Self { subject, window, bitmap: vec![0; bits / 64], shift: 64 - bits.ilog2(), starts: 0, marked: 0 }
    }

    pub(super) fn window(&self) -> Window {
        self.window
    }

    pub(super) fn mark(&mut self, classes: &Classes, run: &Run) {
        let (first, count) = self.window;
        let from = first - run.starts.start();
        let values =
            run.symbols[from..from + count].iter().map(|symbols| symbols.first().unwrap_or_default());
        let window = values.fold(0, |window, value| window << SYMBOL_BITS | u64::from(value));
        let (word, bit) = self.place(classes.code(window, count));
        self.marked += usize::from(self.bitmap[word] >> bit & 1 == 0);
        self.bitmap[word] |= 1 << bit;
        self.starts |= 1 << run.starts.start();
    }

    /// The chance that random bytes pass.
    pub(super) fn hits(&self) -> f64 {
        self.marked as f64 / (64 * self.bitmap.len()) as f64
    }

    pub(super) fn cost(&self) -> f64 {
        COST
    }

    /// Where a literal may begin; of a key, with either sign.
    #[inline(always)]
    pub(super) fn starts(&self, classes: &Classes, bytes: &Bytes) -> u64 {
        let (first, count) = self.window;
        let shows_sign = self.subject == Subject::Key && first + count > SIGN_POSITION;
        let hit = self.hit(classes, bytes) || shows_sign && self.hit(classes, &with_sign(*bytes));
        if hit { self.starts } else { 0 }
    }

    #[inline(always)]
    fn hit(&self, classes: &Classes, bytes: &Bytes) -> bool {
        let (first, count) = self.window;
        let (word, bit) = self.place(classes.code(self.subject.window(bytes, first, count), count));
        self.bitmap[word] >> bit & 1 == 1
    }

    #[inline(always)]
    fn place(&self, code: u64) -> (usize, u32) {
        let number = code.wrapping_mul(SPREAD) >> self.shift;
        ((number / 64) as usize, (number % 64) as u32)
    }
}
