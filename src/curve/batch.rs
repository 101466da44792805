//! The public keys of a batch of scalars.
//!
//! All keys of a batch pass through the windows together, so all additions of a window share one
//! inversion. One pass closes the additions of a window and opens those of the next. It visits the
//! keys in the reverse order of the pass before. The time depends on the scalars.
//!
//! A pass works on blocks of a few vectors. Within a block it does the first step of all additions,
//! then the second step of all, and so on. So consecutive products do not wait for each other, and
//! the vectors stay in the first-level cache. The code of each step is a short loop that the
//! processor keeps decoded. The code of a whole addition (1,600 instructions, 10 KB) would be too
//! long for that.

use std::ops::Range;

use super::addition::{Addition, Point};
use super::field::{Element, Field, Word, invert};
use super::table::{Table, shift_of_x};
use crate::simd::{Words, prefetch};
use crate::sys::{wipe, wipe_vec};

/// The number of vectors in a block. With 8 lanes a block takes 13 KB.
const BLOCK: usize = 8;

/// The distance, in vectors, between a prefetch of table entries and their use in [`Batch::begin`].
const AHEAD: usize = 4;

/// The buffers of one batch of keys.
pub struct Batch<'a, F: Field> {
    field: F,
    table: &'a Table,
    /// The number of vectors of keys.
    groups: usize,
    /// The digits of all keys, ordered by window.
    digits: Vec<u32>,
    /// The additions of a window.
    additions: Vec<Addition<F>>,
    /// The Edwards y of each key.
    fractions: Vec<Fraction<F>>,
    /// -A/3 - 1 and -A/3 + 1.
    shifts: [F::Tight; 2],
}

/// A quotient whose denominator is not yet inverted.
#[derive(Clone, Copy)]
struct Fraction<F: Field> {
    numerator: F::Loose,
    denominator: F::Loose,
    /// The product of the denominators of all fractions before this one.
    product_before: F::Product,
}

/// The error of a batch with a denominator of 0. Its probability is about 2^-250 for each key. The
/// whole batch is lost, because its keys share the inversion.
#[derive(Debug, PartialEq, Eq)]
pub struct ZeroProduct;

impl<F: Field> Drop for Batch<'_, F> {
    /// Wipes the buffers, because intermediate sums reveal the scalars.
    fn drop(&mut self) {
        wipe_vec(&mut self.additions);
        wipe_vec(&mut self.fractions);
        wipe_vec(&mut self.digits);
    }
}

impl<'a, F: Field> Batch<'a, F> {
    /// Allocates buffers for `keys` keys, rounded up to whole vectors.
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

    /// Sets the scalars of vector `group`, as little-endian words. Only the 251 bits that clamping
    /// leaves free count.
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

    /// Computes the public keys of the scalars that were set, and wipes their digits. The sign of
    /// x, the highest bit of a key, is left 0.
    ///
    /// # Errors
    ///
    /// Returns an error if a denominator is 0. The keys then have no meaning.
    ///
    /// # Panics
    ///
    /// Panics if the number of keys is not that of the batch, rounded up to whole vectors.
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
            || self.last_window(last, inverse),
        )?;
        simd.run(
            #[inline(always)]
            || self.divide(inverse, keys),
        );
        Ok(())
    }

    /// Opens the additions of the points of window 1 to those of window 0.
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

    /// Closes the additions of the window before, and opens those of `window`.
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

    /// Returns the steps of a pass, as one range for each block.
    fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<F> {
        let groups = self.groups;
        (0..groups).step_by(BLOCK).map(move |first| first..groups.min(first + BLOCK))
    }

    /// Closes the additions of a block, and prefetches the entries of `window`, which are added
    /// next.
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

    /// Closes the additions of the window before, and prepares the fractions for the Edwards y.
    ///
    /// The last window needs no full addition, only the Montgomery u of the sum, as a fraction.
    /// With N / D as the slope, u = (N^2 - (x1 + x2 + A / 3) D^2) / D^2. The Edwards y is
    /// (u - 1) / (u + 1) (RFC 7748, section 4.1).
    #[inline(always)]
    fn last_window(&mut self, window: usize, mut inverse: F::Product) -> Result<F::Product, ZeroProduct> {
        let field = self.field;
        let mut product = field.one();
        let zero = Element::new(0).in_every_lane(field);
        let zero_sum = field.sum(&zero, &zero);
        self.fractions.clear();
        // The tuples are (x1 + x2, D^2, N^2), one for each vector.
        let mut parts = Vec::with_capacity(BLOCK);
        for block in self.blocks() {
            self.close(window, block.clone(), &mut inverse);
            for step in block.clone() {
                let group = self.group(window, step);
                let (a, b) = (self.additions[group].negative_sum(), self.fetch(window, group));
                let d_squared = field.square(&field.carry(&field.sub(&b.x, &a.x)));
                let n = field.carry(&field.sub(&b.y, &a.y));
                parts.push((field.sum(&a.x, &b.x), d_squared, field.square_sub(&n, &zero_sum)));
            }
            for (sum, d_squared, n_squared) in parts.drain(..) {
                let d_squared = d_squared.into();
                let tight_numerator =
                    field.mul_add(&field.sub_sum(&self.shifts[0], &sum), &d_squared, &n_squared);
                let tight_denominator =
                    field.mul_add(&field.sub_sum(&self.shifts[1], &sum), &d_squared, &n_squared);
                let (numerator, denominator) =
                    (field.sub(&tight_numerator, &zero), field.sub(&tight_denominator, &zero));
                self.fractions.push(Fraction { numerator, denominator, product_before: product });
                product = field.mul(&product, &denominator);
            }
        }
        wipe_vec(&mut parts);
        invert(field, &product).ok_or(ZeroProduct)
    }

    /// Computes the Edwards y of each key, the quotient of its fraction.
    #[inline(always)]
    fn divide(&mut self, mut inverse: F::Product, keys: &mut [[u8; 32]]) {
        let (field, simd) = (self.field, self.field.simd());
        let lanes = <F::Simd as Words>::LANES;
        let window = self.table.windows() - 1;
        for (step, fraction) in self.fractions.iter().enumerate().rev() {
            let inverse_of_this = field.mul(&inverse, &fraction.product_before.into());
            inverse = field.mul(&inverse, &fraction.denominator);
            let mut columns = [[0; 8]; 4];
            let words = field.words(&field.mul(&inverse_of_this, &fraction.numerator));
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

    /// Returns the vector that a step works on. Even windows go backward. For a step beyond the
    /// last vector, the result is at least `self.groups`.
    #[inline(always)]
    fn group(&self, window: usize, step: usize) -> usize {
        if window.is_multiple_of(2) { self.groups.wrapping_sub(1 + step) } else { step }
    }

    /// Returns the points of a window for one vector.
    #[inline(always)]
    fn fetch(&self, window: usize, group: usize) -> Point<F> {
        self.table.fetch(self.field, window, self.digits(window, group))
    }

    /// Prefetches the table entries of a vector. Does nothing if `group` is out of range.
    #[inline(always)]
    fn prefetch(&self, window: usize, group: usize) {
        if group < self.groups {
            let entries = self.table.window(window);
            for digit in self.digits(window, group) {
                prefetch(&entries[(digit >> 1) as usize]);
            }
        }
    }

    /// Returns the digits of a window for one vector.
    #[inline(always)]
    fn digits(&self, window: usize, group: usize) -> &[u32] {
        let lanes = <F::Simd as Words>::LANES;
        &self.digits[(window * self.groups + group) * lanes..][..lanes]
    }
}
