//! Many scalars at once to public keys.
//!
//! All keys of a batch go through window after window together: the affine additions of one window share one
//! inversion (Montgomery's trick), which leaves five products and one square an addition. Variable-time.

use zeroize::Zeroize as _;

use super::field::{Digit, Fetched, Field};
use super::table::{A, Table};

/// The buffers of one batch of keys.
pub struct Batch<'a, F: Field> {
    field: F,
    table: &'a Table,
    /// The digits of all keys, window by window.
    digits: Vec<Digit>,
    /// The sums so far, a vector of lanes in each place.
    x: Vec<F::Tight>,
    y: Vec<F::Tight>,
    /// The products of all denominators before.
    before: Vec<F::Tight>,
    /// The numerators and denominators of the Edwards y.
    fractions: Vec<(F::Loose, F::Loose)>,
    /// A / 3, by which x and the Montgomery u differ.
    shift: F::Tight,
}

/// A denominator was 0. The chance is about 2^-250 a key; it says nothing about any key, but spoils the batch.
#[derive(Debug, PartialEq, Eq)]
pub struct ZeroProduct;

impl<'a, F: Field> Batch<'a, F> {
    /// Buffers for `keys` keys, rounded up to whole vectors.
    #[must_use]
    pub fn new(field: F, table: &'a Table, keys: usize) -> Self {
        let groups = keys.div_ceil(F::LANES);
        let zero = field.small(0);
        let third = field.invert(&field.small(3)).unwrap_or(zero);
        Self {
            field,
            table,
            digits: vec![Digit::default(); table.windows() * groups * F::LANES],
            x: vec![zero; groups],
            y: vec![zero; groups],
            before: vec![zero; groups],
            fractions: vec![(zero.into(), zero.into()); groups],
            shift: field.mul(&third.into(), &field.small(A).into()),
        }
    }

    /// The public keys of `scalars`, of each of which only the 251 bits count that clamping leaves free. The sign of
    /// x, the highest bit of a key, is left 0.
    ///
    /// # Errors
    ///
    /// A denominator was 0, and no key is known.
    ///
    /// # Panics
    ///
    /// Unless there are as many scalars and keys as the batch was made for.
    pub fn public_keys(&mut self, scalars: &[[u8; 32]], keys: &mut [[u8; 32]]) -> Result<(), ZeroProduct> {
        let places = self.x.len() * F::LANES;
        assert!(scalars.len() == places && keys.len() == places, "a batch is full");
        for (place, scalar) in scalars.iter().enumerate() {
            for (window, digit) in self.table.digits(scalar).enumerate() {
                self.digits[window * places + place] = digit;
            }
        }
        self.begin();
        let last = self.table.windows() - 1;
        let outcome =
            (1..last).try_for_each(|window| self.add(window)).and_then(|()| self.finish(last, keys));
        self.digits.iter_mut().for_each(|digit| {
            digit.index.zeroize();
            digit.negative.zeroize();
        });
        outcome
    }

    /// The points of window 0.
    fn begin(&mut self) {
        for group in 0..self.x.len() {
            let fetched = self.fetch(0, group);
            (self.x[group], self.y[group]) = (fetched.x, fetched.y);
        }
    }

    /// Adds the points of one window to all sums.
    fn add(&mut self, window: usize) -> Result<(), ZeroProduct> {
        let field = self.field;
        let mut product = field.small(1);
        for group in 0..self.x.len() {
            self.prefetch(window, group);
            self.before[group] = product;
            let difference = field.sub(&self.fetch(window, group).x, &self.x[group]);
            product = field.mul(&product.into(), &difference);
        }
        let mut inverse = field.invert(&product).ok_or(ZeroProduct)?;
        for group in (0..self.x.len()).rev() {
            let (x1, y1, point) = (self.x[group], self.y[group], self.fetch(window, group));
            let of_this = field.mul(&inverse.into(), &self.before[group].into());
            inverse = field.mul(&inverse.into(), &field.sub(&point.x, &x1));
            let slope = field.mul(&field.sub_from_fetched(&point, &y1), &of_this.into());
            let x3 = field.carry(&field.sub_both(&field.square(&slope.into()), &x1, &point.x));
            let y3 = field.sub(&field.mul(&slope.into(), &field.sub(&x1, &x3)), &y1);
            (self.x[group], self.y[group]) = (x3, field.carry(&y3));
        }
        Ok(())
    }

    /// Adds the last window's points, of which only the Montgomery u is needed, and that as a fraction: with
    /// N / D the slope, u = U / D^2, U = N^2 - (x1 + x2 + A / 3) D^2. The Edwards y is (u - 1) / (u + 1)
    /// (RFC 7748, section 4.1) = (U - D^2) / (U + D^2).
    fn finish(&mut self, window: usize, keys: &mut [[u8; 32]]) -> Result<(), ZeroProduct> {
        let field = self.field;
        let mut product = field.small(1);
        for group in 0..self.x.len() {
            self.prefetch(window, group);
            let (x1, y1, point) = (self.x[group], self.y[group], self.fetch(window, group));
            let squared = field.square(&field.sub(&point.x, &x1));
            let sum = field.carry(&field.add(&x1, &point.x));
            let subtrahend = field.mul(&field.add(&sum, &self.shift), &squared.into());
            let numerator = field.square(&field.sub_from_fetched(&point, &y1));
            let u = field.carry(&field.sub(&numerator, &subtrahend));
            let (over, under) = (field.sub(&u, &squared), field.add(&u, &squared));
            self.fractions[group] = (over, under);
            self.before[group] = product;
            product = field.mul(&product.into(), &under);
        }
        let mut inverse = field.invert(&product).ok_or(ZeroProduct)?;
        for (group, keys) in keys.chunks_exact_mut(F::LANES).enumerate().rev() {
            let (over, under) = self.fractions[group];
            let of_this = field.mul(&inverse.into(), &self.before[group].into());
            inverse = field.mul(&inverse.into(), &under);
            field.encode(&field.mul(&over, &of_this.into()), keys);
        }
        Ok(())
    }

    #[inline(always)]
    fn fetch(&self, window: usize, group: usize) -> Fetched<F> {
        self.field.fetch(self.table.window(window), self.digits(window, group))
    }

    /// Asks for the entries of a group that comes soon.
    #[inline(always)]
    fn prefetch(&self, window: usize, group: usize) {
        const AHEAD: usize = 4;
        if group + AHEAD < self.x.len() {
            let entries = self.table.window(window);
            for digit in self.digits(window, group + AHEAD) {
                crate::simd::prefetch(&entries[digit.index as usize]);
            }
        }
    }

    #[inline(always)]
    fn digits(&self, window: usize, group: usize) -> &[Digit] {
        &self.digits[(window * self.x.len() + group) * F::LANES..][..F::LANES]
    }
}
