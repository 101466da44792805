//! Many scalars at once to public keys.
//!
//! All keys of a batch go through window after window together, so that the additions of a window share one inversion.
//! Closing the additions of one window and opening those of the next is one pass, which goes through the keys
//! in the reverse order of the pass before. Variable-time.
//!
//! A pass goes from block to block of a few vectors, and within a block does one step of all additions after the other. So
//! consecutive products don't wait for each other, the vectors stay in the first-level cache, and each step's code is a
//! loop that the processor keeps decoded, which it cannot with a whole addition (1,600 instructions, 10 KB).

use std::ops::Range;

use super::addition::{Addition, Point};
use super::field::{Element, Field, Word, invert};
use super::table::{Table, shift_of_x};
use crate::simd::{Words, prefetch};
use crate::sys::{wipe, wipe_vec};

/// Vectors in a block: with 8 lanes 13 KB.
const BLOCK: usize = 8;

/// How many vectors ahead the entries of the table are asked for.
const AHEAD: usize = 4;

/// The buffers of one batch of keys.
pub struct Batch<'a, F: Field> {
    field: F,
    table: &'a Table,
    /// Vectors of keys.
    groups: usize,
    /// The digits of all keys, window by window.
    digits: Vec<u32>,
    /// The additions of a window.
    additions: Vec<Addition<F>>,
    /// The Edwards y.
    fractions: Vec<Fraction<F>>,
    /// -A/3 - 1 and -A/3 + 1.
    shifts: [F::Tight; 2],
}

/// A quotient that waits for the inverse of its denominator.
#[derive(Clone, Copy)]
struct Fraction<F: Field> {
    over: F::Loose,
    under: F::Loose,
    /// The denominators of all fractions before.
    before: F::Product,
}

/// A denominator was 0. The chance is about 2^-250 a key; it says nothing about any key, but spoils the batch.
#[derive(Debug, PartialEq, Eq)]
pub struct ZeroProduct;

impl<F: Field> Drop for Batch<'_, F> {
    /// Sums on the way tell of the scalar.
    fn drop(&mut self) {
        wipe_vec(&mut self.additions);
        wipe_vec(&mut self.fractions);
        wipe_vec(&mut self.digits);
    }
}

impl<'a, F: Field> Batch<'a, F> {
    /// Buffers for `keys` keys, rounded up to whole vectors.
    #[must_use]
    pub fn new(field: F, table: &'a Table, keys: usize) -> Self {
        let lanes = <F::Simd as Words>::LANES;
        let groups = keys.div_ceil(lanes);
        let shift = Element::new(0) - shift_of_x();
        let shifts = [shift - Element::new(1), shift + Element::new(1)];
        Self {
            field,
            table,
            groups,
            digits: vec![0; table.windows() * groups * lanes],
            additions: Vec::with_capacity(groups),
            fractions: Vec::with_capacity(groups),
            shifts: shifts.map(|shift| shift.in_every_lane(field)),
        }
    }

    /// Sets the scalars of one vector, as little-endian words. Only the 251 bits count that clamping leaves free.
    #[inline(always)]
    pub fn set(&mut self, group: usize, scalars: &[Word<F>; 4]) {
        let lanes = <F::Simd as Words>::LANES;
        let (simd, groups) = (self.field.simd(), self.groups);
        let digits = &mut self.digits;
        self.table.digits(
            simd,
            scalars,
            #[inline(always)]
            |window, digit| simd.store_u32(digit, &mut digits[(window * groups + group) * lanes..]),
        );
    }

    /// The public keys of the scalars that were set. The sign of x, the highest bit of a key, is left 0.
    ///
    /// # Errors
    ///
    /// A denominator was 0, and no key is known.
    ///
    /// # Panics
    ///
    /// Unless there are as many keys as the batch was made for.
    pub fn public_keys(&mut self, keys: &mut [[u8; 32]]) -> Result<(), ZeroProduct> {
        assert!(keys.len() == self.groups * <F::Simd as Words>::LANES, "a batch is full");
        let outcome = self.all_windows(keys);
        wipe(&mut self.digits);
        outcome
    }

    fn all_windows(&mut self, keys: &mut [[u8; 32]]) -> Result<(), ZeroProduct> {
        let simd = self.field.simd();
        let last = self.table.windows() - 1;
        let mut inverse = simd.run(
            #[inline(always)]
            || self.begin(),
        )?;
        for window in 2..last {
            inverse = simd.run(
                #[inline(always)]
                || self.advance(window, inverse),
            )?;
        }
        inverse = simd.run(
            #[inline(always)]
            || self.last(last, inverse),
        )?;
        simd.run(
            #[inline(always)]
            || self.divide(inverse, keys),
        );
        Ok(())
    }

    /// Opens the additions of window 1 to the points of window 0.
    #[inline(always)]
    fn begin(&mut self) -> Result<F::Product, ZeroProduct> {
        let field = self.field;
        let mut product = field.one();
        self.additions.clear();
        for group in 0..self.groups {
            self.prefetch(0, group + AHEAD);
            self.prefetch(1, group + AHEAD);
            let (a, b) = (self.fetch(0, group), self.fetch(1, group));
            self.additions.push(Addition::open(field, &a, &b, &mut product));
        }
        invert(field, &product).ok_or(ZeroProduct)
    }

    /// Closes the additions of the window before and opens those of this one.
    #[inline(always)]
    fn advance(&mut self, window: usize, mut inverse: F::Product) -> Result<F::Product, ZeroProduct> {
        let field = self.field;
        let mut product = field.one();
        for block in self.blocks() {
            self.close(window, block.clone(), &mut inverse);
            for step in block {
                let group = self.group(window, step);
                let sum = self.additions[group].negative_sum();
                let point = self.fetch(window, group);
                self.additions[group] = Addition::open(field, &sum, &point, &mut product);
            }
        }
        invert(field, &product).ok_or(ZeroProduct)
    }

    /// The steps of a pass, block by block.
    fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<F> {
        let groups = self.groups;
        (0..groups).step_by(BLOCK).map(move |first| first..groups.min(first + BLOCK))
    }

    /// Closes the additions of a block, and asks for the entries that will be added next.
    #[inline(always)]
    fn close(&mut self, window: usize, block: Range<usize>, inverse: &mut F::Product) {
        for step in block.clone() {
            let group = self.group(window, step);
            self.prefetch(window, group);
            self.additions[group].find_slope(self.field, inverse);
        }
        for step in block.clone() {
            let group = self.group(window, step);
            self.additions[group].find_x(self.field);
        }
        for step in block {
            let group = self.group(window, step);
            self.additions[group].find_y(self.field);
        }
    }

    /// Closes the additions before the last window's, of which only the Montgomery u is needed, and that as a
    /// fraction: with N / D the slope, u = (N^2 - (x1 + x2 + A / 3) D^2) / D^2. The Edwards y is (u - 1) / (u + 1)
    /// (RFC 7748, section 4.1).
    #[inline(always)]
    fn last(&mut self, window: usize, mut inverse: F::Product) -> Result<F::Product, ZeroProduct> {
        let field = self.field;
        let mut product = field.one();
        let zero = Element::new(0).in_every_lane(field);
        let nothing = field.sum(&zero, &zero);
        self.fractions.clear();
        // x1 + x2, D^2 and N^2.
        let mut parts = Vec::with_capacity(BLOCK);
        for block in self.blocks() {
            self.close(window, block.clone(), &mut inverse);
            for step in block.clone() {
                let group = self.group(window, step);
                let (a, b) = (self.additions[group].negative_sum(), self.fetch(window, group));
                let squared = field.square(&field.carry(&field.sub(&b.x, &a.x)));
                let numerator = field.carry(&field.sub(&b.y, &a.y));
                parts.push((field.sum(&a.x, &b.x), squared, field.square_sub(&numerator, &nothing)));
            }
            for (sum, squared, numerator) in parts.drain(..) {
                let squared = squared.into();
                let over = field.mul_add(&field.sub_sum(&self.shifts[0], &sum), &squared, &numerator);
                let under = field.mul_add(&field.sub_sum(&self.shifts[1], &sum), &squared, &numerator);
                let (over, under) = (field.sub(&over, &zero), field.sub(&under, &zero));
                self.fractions.push(Fraction { over, under, before: product });
                product = field.mul(&product, &under);
            }
        }
        wipe_vec(&mut parts);
        invert(field, &product).ok_or(ZeroProduct)
    }

    /// The Edwards y.
    #[inline(always)]
    fn divide(&mut self, mut inverse: F::Product, keys: &mut [[u8; 32]]) {
        let (field, simd) = (self.field, self.field.simd());
        let lanes = <F::Simd as Words>::LANES;
        let window = self.table.windows() - 1;
        for (step, fraction) in self.fractions.iter().enumerate().rev() {
            let of_this = field.mul(&inverse, &fraction.before.into());
            inverse = field.mul(&inverse, &fraction.under);
            let mut columns = [[0; 8]; 4];
            let words = field.words(&field.mul(&of_this, &fraction.over));
            for (column, word) in columns.iter_mut().zip(words) {
                simd.store(word, column);
            }
            let group = self.group(window, step);
            for (lane, key) in keys[group * lanes..][..lanes].iter_mut().enumerate() {
                let words = columns.map(|column| column[lane].to_le_bytes());
                key.copy_from_slice(words.as_flattened());
            }
        }
    }

    /// The vector whose turn it is; beyond the last one, one that there is not.
    #[inline(always)]
    fn group(&self, window: usize, step: usize) -> usize {
        if window.is_multiple_of(2) { self.groups.wrapping_sub(1 + step) } else { step }
    }

    #[inline(always)]
    fn fetch(&self, window: usize, group: usize) -> Point<F> {
        self.table.fetch(self.field, window, self.digits(window, group))
    }

    /// Asks for the entries of a vector that comes soon, if there is one.
    #[inline(always)]
    fn prefetch(&self, window: usize, group: usize) {
        if group < self.groups {
            let entries = self.table.window(window);
            for digit in self.digits(window, group) {
                prefetch(&entries[(digit >> 1) as usize]);
            }
        }
    }

    #[inline(always)]
    fn digits(&self, window: usize, group: usize) -> &[u32] {
        let lanes = <F::Simd as Words>::LANES;
        &self.digits[(window * self.groups + group) * lanes..][..lanes]
    }
}
