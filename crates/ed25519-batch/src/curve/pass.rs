//! What the additions of one window read: the digits of all keys, and the table entries.
//!
//! An entry lies anywhere in a large table, and memory is far slower than an addition. So each
//! entry is prefetched twice: for the second-level cache some blocks before its use, and for the
//! first-level cache at the beginning of its block. A processor has few places for loads on their
//! way (10 to 16 in the first level). So the requests of a block are spread over all its loops.

use std::marker::PhantomData;
use std::ops::Range;

use super::addition::Point;
use super::field::Field;
use super::table::{Table, fetch};
use crate::simd::{Cache, CacheLine, Words, prefetch_at};

/// The number of vectors in a block. With 8 lanes a block takes 13 KB.
pub(super) const BLOCK: usize = 8;

/// The distance, in blocks, between a prefetch for the second-level cache and the use. 1 and 4 are
/// slower by up to 2% (entry 19 of RESULTS.txt at feea510).
const BLOCKS_AHEAD: usize = 2;

/// The same, in vectors.
pub const VECTORS_AHEAD: usize = BLOCKS_AHEAD * BLOCK;

/// The loops of a block. Each prefetches a part of the entries of a later block.
#[derive(Clone, Copy)]
pub(super) enum Loop {
    Slope,
    X,
    Y,
    Open,
}

/// Returns the distance between the digits of two windows for this number of keys. It is not a
/// power of two, because then the digits of one key would share a set of the first-level cache.
pub(super) const fn stride(keys: usize) -> usize {
    keys + size_of::<CacheLine>() / size_of::<u32>()
}

/// The additions of one window.
#[derive(Clone, Copy)]
pub(super) struct Pass<'a, F> {
    pub(super) field: F,
    table: &'a Table,
    window: usize,
    entries: &'a [CacheLine],
    /// The digits of all windows.
    all_digits: &'a [u32],
    /// The digits of this window.
    digits: &'a [u32],
    vectors: usize,
}

impl<'a, F: Field> Pass<'a, F> {
    const LANES: usize = <F::Simd as Words>::LANES;

    /// Returns the pass of `window`. `digits` are those of all windows, for `vectors` vectors.
    #[inline(always)]
    pub(super) fn new(field: F, table: &'a Table, digits: &'a [u32], vectors: usize, window: usize) -> Self {
        let all_digits = digits;
        let keys = vectors * Self::LANES;
        let digits = &digits[window * stride(keys)..][..keys];
        Self { field, table, window, entries: table.window(window), all_digits, digits, vectors }
    }

    /// Returns the steps of the pass, as one range for each block.
    pub(super) fn blocks(self) -> impl Iterator<Item = Range<usize>> {
        (0..self.vectors).step_by(BLOCK).map(move |first| first..self.vectors.min(first + BLOCK))
    }

    /// Returns the vector that a step works on. Even windows go backward.
    #[inline(always)]
    pub(super) fn vector(&self, step: usize) -> usize {
        if self.window.is_multiple_of(2) { self.vectors - 1 - step } else { step }
    }

    /// Returns the points of the window for one vector.
    #[inline(always)]
    pub(super) fn fetch(&self, vector: usize) -> Point<F> {
        fetch(self.field, self.entries, self.digits(vector))
    }

    /// Prefetches the entries of one vector into the first-level cache.
    #[inline(always)]
    pub(super) fn prefetch(&self, vector: usize) {
        prefetch_at(self.entries, self.digits(vector), Cache::First);
    }

    /// Returns the digits of one vector.
    #[inline(always)]
    fn digits(&self, vector: usize) -> &'a [u32] {
        &self.digits[vector * Self::LANES..][..Self::LANES]
    }

    /// Returns the entries to prefetch during the block that begins with `step`. They are used
    /// [`BLOCKS_AHEAD`] blocks later; at the end of the pass they are those of the next window.
    #[inline(always)]
    pub(super) fn ahead(&self, step: usize) -> Ahead<'a, F> {
        let first = step + VECTORS_AHEAD;
        let next = self.window + 1;
        if first < self.vectors {
            self.entries_from(first)
        } else if next < self.table.windows() {
            Self::new(self.field, self.table, self.all_digits, self.vectors, next)
                .entries_from(first - self.vectors)
        } else {
            Ahead { entries: self.entries, digits: &[], field: PhantomData }
        }
    }

    /// Returns the entries of a block of steps.
    #[inline(always)]
    fn entries_from(&self, first: usize) -> Ahead<'a, F> {
        let (first, last) = (first.min(self.vectors), self.vectors.min(first + BLOCK));
        let vectors = if self.window.is_multiple_of(2) {
            self.vectors - last..self.vectors - first
        } else {
            first..last
        };
        let digits = &self.digits[vectors.start * Self::LANES..vectors.end * Self::LANES];
        Ahead { entries: self.entries, digits, field: PhantomData }
    }
}

/// The entries of a later block.
pub(super) struct Ahead<'a, F> {
    entries: &'a [CacheLine],
    digits: &'a [u32],
    field: PhantomData<F>,
}

impl<F: Field> Ahead<'_, F> {
    /// The entries that one step of one loop prefetches. The four loops together have 4 [`BLOCK`]
    /// steps for the entries of [`BLOCK`] vectors.
    const PART: usize = <F::Simd as Words>::LANES.div_ceil(4);

    /// Prefetches a part into the second-level cache. Each pair of a loop and a step has its own.
    #[inline(always)]
    pub(super) fn prefetch_part(&self, of_loop: Loop, step: usize) {
        let first = (of_loop as usize * BLOCK + step % BLOCK) * Self::PART;
        if let Some(digits) = self.digits.get(first..first + Self::PART) {
            prefetch_at(self.entries, digits, Cache::Second);
        }
    }
}
