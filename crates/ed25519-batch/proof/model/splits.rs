//! Notes of the places where a word or a product is cut in two, so that no part of a number is lost
//! without notice.
//!
//! An algorithm takes the low k bits of a word by a mask, by a shift to the left, or as the factor
//! of a 52-bit product, and the upper bits by a shift to the right. Each part is noted with the
//! name of the word. Afterwards every part must have its counterpart.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

/// A part that was taken: of a word, the bits below or from a bit on; of a product of two words,
/// the low or the high half.
type Part = ([u64; 2], u32);

thread_local! {
    static NAMES: Cell<u64> = const { Cell::new(0) };
    /// The low parts, and whether there may be bits above them.
    static LOW: RefCell<BTreeMap<Part, bool>> = const { RefCell::new(BTreeMap::new()) };
    static HIGH: RefCell<BTreeSet<Part>> = const { RefCell::new(BTreeSet::new()) };
    static HEADROOM: Cell<[f64; 4]> = const { Cell::new([0.0; 4]) };
}

/// Returns a name for a new value.
pub(crate) fn new_name() -> u64 {
    NAMES.set(NAMES.get() + 1);
    NAMES.get()
}

/// Notes that the bits of `word` below `bit` were taken, and whether it may have others.
pub(crate) fn low(word: u64, bit: u32, has_others: bool) {
    LOW.with_borrow_mut(|parts| parts.insert(([word, 0], bit), has_others));
}

/// Notes that the bits of `word` from `bit` on were taken.
pub(crate) fn high(word: u64, bit: u32) {
    HIGH.with_borrow_mut(|parts| parts.insert(([word, 0], bit)));
}

/// Notes that the low half of the product of two words was taken.
pub(crate) fn low_half(a: u64, b: u64) {
    LOW.with_borrow_mut(|parts| parts.insert(([a.min(b), a.max(b)], 52), true));
}

/// Notes that the high half of the product of two words was taken.
pub(crate) fn high_half(a: u64, b: u64) {
    HIGH.with_borrow_mut(|parts| parts.insert(([a.min(b), a.max(b)], 52)));
}

/// Runs `work`, and returns its result and the number of parts whose counterpart it did not take:
/// low ones, and high ones.
pub(crate) fn lost<R>(work: impl FnOnce() -> R) -> (R, [usize; 2]) {
    LOW.take();
    HIGH.take();
    let result = work();
    let (low, high) = (LOW.take(), HIGH.take());
    let lost_low = high.iter().filter(|part| !low.contains_key(part)).count();
    let lost_high = low.iter().filter(|(part, has_others)| **has_others && !high.contains(part)).count();
    (result, [lost_low, lost_high])
}

/// A limit of numbers, and the name of what must stay below it.
#[derive(Clone, Copy)]
pub(crate) enum Limit {
    Word,
    Wide,
    Factor,
    Integer,
}

/// The limits, in bits.
pub(crate) const LIMITS: [(&str, f64); 4] = [
    ("sums in words", 64.0),
    ("sums of 128 bits", 128.0),
    ("products without a high half", 52.0),
    ("integers in doubles", 53.0),
];

/// Notes a number that must stay below a limit.
pub(crate) fn reached(limit: Limit, number: f64) {
    let mut reached = HEADROOM.get();
    reached[limit as usize] = reached[limit as usize].max(number);
    HEADROOM.set(reached);
}

/// Returns the largest numbers, in bits, since the last call.
pub(crate) fn headroom() -> [f64; 4] {
    HEADROOM.take().map(f64::log2)
}
