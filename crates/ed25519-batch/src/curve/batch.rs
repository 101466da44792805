//! The public keys of a batch of scalars.
//!
//! All keys of a batch pass through the windows together, so all additions of a window share one
//! inversion. One pass closes the additions of a window and opens those of the next. It visits the
//! keys in the reverse order of the pass before. The time depends on the scalars.
//!
//! A pass works on blocks of a few vectors. Within a block it does the first step of all additions,
//! then the second step of all, and so on. So consecutive products do not wait for each other, and
//! the vectors stay in the first-level cache. The code of each step is a short loop that the
//! processor keeps decoded. The code of a whole addition (1,500 instructions, 9 KB) would be too
//! long for that. The module `pass` has what a pass reads, and when it asks for that.

use std::ops::Range;
use std::sync::Arc;

use super::addition::{Addition, Point};
use super::field::{Element, Field, Word, invert};
use super::last_addition::{LastAddition, Numbers};
use super::pass::{Ahead, BLOCK, Loop, Pass, stride};
use super::table::Table;
use crate::memory::{wipe, wipe_vec};
use crate::simd::{Cache, Words, prefetch_at};

/// The distance, in vectors, between a prefetch of table entries and their use in [`Batch::begin`].
const AHEAD: usize = 4;

/// The buffers of one batch of keys.
pub struct Batch<F: Field> {
    field: F,
    table: Arc<Table>,
    /// The number of vectors of keys.
    vectors: usize,
    /// The digits of all keys, ordered by window.
    digits: Vec<u32>,
    /// The additions of a window. After the last window each holds the division for the Edwards y.
    additions: Vec<Addition<F>>,
    /// What the last additions need.
    numbers: Numbers<F>,
}

impl<F: Field> Drop for Batch<F> {
    /// Overwrites the buffers, because intermediate sums reveal the scalars.
    fn drop(&mut self) {
        self.wipe();
    }
}

impl<F: Field> Batch<F> {
    /// Allocates buffers for `keys` keys, rounded up to whole vectors.
    #[must_use]
    pub fn new(field: F, table: Arc<Table>, keys: usize) -> Self {
        let (additions, digits) = (Vec::new(), Vec::new());
        let mut batch = Self { field, vectors: 0, additions, digits, table, numbers: Numbers::new(field) };
        batch.change(Arc::clone(&batch.table), keys);
        batch
    }

    /// Changes the table and the number of keys.
    pub fn change(&mut self, table: Arc<Table>, keys: usize) {
        // A vector that grows leaves its elements behind.
        self.wipe();
        let lanes = <F::Simd as Words>::LANES;
        (self.table, self.vectors) = (table, keys.div_ceil(lanes));
        self.additions.resize(self.vectors, zeros(self.field));
        self.digits.resize(self.table.windows() * stride(self.vectors * lanes), 0);
    }

    fn wipe(&mut self) {
        wipe_vec(&mut self.additions);
        wipe(&mut self.digits);
    }

    /// Sets the scalars of one vector, as little-endian words. Only the 251 bits that clamping
    /// leaves free count.
    #[inline(always)]
    pub fn set(&mut self, vector: usize, scalars: &[Word<F>; 4]) {
        let lanes = <F::Simd as Words>::LANES;
        let (simd, stride) = (self.field.simd(), stride(self.vectors * lanes));
        let (table, digits) = (&self.table, &mut *self.digits);
        table.digits(
            simd,
            scalars,
            #[inline(always)]
            |window, digit| {
                let place = &mut digits[window * stride + vector * lanes..][..lanes];
                simd.store_u32(digit, place);
                // `begin` uses both windows as soon as the last scalar is set.
                if window < 2 {
                    prefetch_at(table.window(window), place, Cache::Second);
                }
            },
        );
    }

    /// Computes the public keys of the scalars that were set, and wipes their digits. The sign of
    /// x, the highest bit of a key, is left 0.
    ///
    /// If a denominator is 0, the keys have no meaning, because they share the inversion. The
    /// probability is about 2^-250 for each key.
    ///
    /// # Panics
    ///
    /// Panics if the number of keys is not that of the batch, rounded up to whole vectors.
    // Not inlined, so that a package that calls it with a back end of this one does not compile it again.
    #[inline(never)]
    pub fn public_keys(&mut self, keys: &mut [[u8; 32]]) {
        assert!(keys.len() == self.vectors * <F::Simd as Words>::LANES, "a batch is full");
        let simd = self.field.simd();
        let last = self.table.windows() - 1;
        let mut inverse = simd.run(
            #[inline(always)]
            || self.begin(),
        );
        for window in 2..last {
            inverse = simd.run(
                #[inline(always)]
                || self.advance(window, inverse),
            );
        }
        inverse = simd.run(
            #[inline(always)]
            || self.last_window(last, inverse),
        );
        simd.run(
            #[inline(always)]
            || self.divide(inverse, keys),
        );
        wipe(&mut self.digits);
    }

    /// Opens the additions of the points of window 1 to those of window 0.
    #[inline(always)]
    fn begin(&mut self) -> F::Product {
        let Self { field, ref table, vectors, ref digits, ref mut additions, .. } = *self;
        let low = Pass::new(field, table, digits, vectors, 0);
        let high = Pass::new(field, table, digits, vectors, 1);
        let mut product = field.one();
        for (vector, addition) in additions.iter_mut().enumerate() {
            if vector + AHEAD < vectors {
                low.prefetch(vector + AHEAD);
                high.prefetch(vector + AHEAD);
            }
            let (a, b) = (low.fetch(vector), high.fetch(vector));
            *addition = Addition::to(field, a);
            addition.open(field, &b, &mut product);
        }
        invert(field, &product)
    }

    /// Closes the additions of the window before, and opens those of `window`.
    #[inline(always)]
    fn advance(&mut self, window: usize, mut inverse: F::Product) -> F::Product {
        let Self { field, ref table, vectors, ref digits, ref mut additions, .. } = *self;
        let (pass, additions) = (Pass::new(field, table, digits, vectors, window), &mut additions[..]);
        let mut product = field.one();
        for block in pass.blocks() {
            let ahead = pass.ahead(block.start);
            close(&pass, additions, block.clone(), &ahead, &mut inverse);
            for step in block {
                ahead.prefetch_part(Loop::Open, step);
                let vector = pass.vector(step);
                additions[vector].open(field, &pass.fetch(vector), &mut product);
            }
        }
        invert(field, &product)
    }

    /// Closes the additions of the window before, and opens the divisions for the Edwards y.
    #[inline(always)]
    fn last_window(&mut self, window: usize, mut inverse: F::Product) -> F::Product {
        let Self { field, ref table, vectors, ref numbers, ref digits, ref mut additions } = *self;
        let (pass, additions) = (Pass::new(field, table, digits, vectors, window), &mut additions[..]);
        let mut product = field.one();
        let mut last_additions = Vec::with_capacity(BLOCK);
        for block in pass.blocks() {
            close(&pass, additions, block.clone(), &pass.ahead(block.start), &mut inverse);
            for step in block.clone() {
                let vector = pass.vector(step);
                let (a, b) = (additions[vector].negative_sum(), pass.fetch(vector));
                let last = LastAddition::new(field, &a, &b, numbers);
                // So the push never asks for more memory, which would be a call.
                assert!(last_additions.len() < last_additions.capacity(), "there is room for a block");
                last_additions.push(last);
            }
            for step in block.clone() {
                let [dividend, divisor] = last_additions[step - block.start].fraction(field, numbers);
                let division = additions[pass.vector(step)].division();
                division.open(field, &dividend, divisor, &mut product);
            }
            last_additions.clear();
        }
        wipe_vec(&mut last_additions);
        invert(field, &product)
    }

    /// Computes the Edwards y of each key.
    #[inline(always)]
    fn divide(&mut self, mut inverse: F::Product, keys: &mut [[u8; 32]]) {
        let Self { field, ref table, vectors, ref numbers, ref digits, ref mut additions } = *self;
        let lanes = <F::Simd as Words>::LANES;
        let last = table.windows() - 1;
        let (pass, additions) = (Pass::new(field, table, digits, vectors, last), &mut additions[..]);
        for vector in (0..vectors).rev().map(|step| pass.vector(step)) {
            let division = additions[vector].division();
            let quotient = division.close_and_add(field, &mut inverse, &numbers.zero);
            let words = field.words(&numbers.y(field, &quotient));
            field.simd().store_rows(words, &mut keys[vector * lanes..]);
        }
    }
}

/// Returns the place of additions to (0, 0), which is no point.
fn zeros<F: Field>(field: F) -> Addition<F> {
    field.simd().run(
        #[inline(always)]
        || {
            let zero = Element::new(0).in_every_lane(field);
            Addition::to(field, Point { x: zero, y: zero })
        },
    )
}

/// Closes the additions of a block, and prefetches the entries that are added next.
#[inline(always)]
fn close<F: Field>(
    pass: &Pass<'_, F>,
    additions: &mut [Addition<F>],
    block: Range<usize>,
    ahead: &Ahead<'_, F>,
    inverse: &mut F::Product,
) {
    let field = pass.field;
    for step in block.clone() {
        let vector = pass.vector(step);
        pass.prefetch(vector);
        ahead.prefetch_part(Loop::Slope, step);
        additions[vector].find_slope(field, inverse);
    }
    for step in block.clone() {
        ahead.prefetch_part(Loop::X, step);
        additions[pass.vector(step)].find_x(field);
    }
    for step in block {
        ahead.prefetch_part(Loop::Y, step);
        additions[pass.vector(step)].find_y(field);
    }
}
