//! The back end of any 64-bit processor: one lane of five 51-bit limbs, with 64 x 64 -> 128 bit
//! products.

use super::back_end::{Field, Word};
use super::radix51::{self, LIMB, P, five};
use crate::simd::{Scalar, Wide};

/// The back end that runs on every processor.
#[derive(Clone, Copy, Debug)]
pub struct Portable<S = Scalar>(pub S);

/// The exclusive bound of tight limbs: 2^51 for a carried limb, and 2^10 for the last carry.
pub const TIGHT: u64 = (1 << 51) + (1 << 10);

/// The exclusive bound of loose limbs, the largest that a product accepts.
pub const LOOSE: u64 = 1 << 54;

/// The limbs of 2p and 4p. One of them is added before a subtraction, so no limb becomes negative.
const TWO_P: [u64; 5] = [2 * P[0], 2 * P[1], 2 * P[2], 2 * P[3], 2 * P[4]];
const FOUR_P: [u64; 5] = [4 * P[0], 4 * P[1], 4 * P[2], 4 * P[3], 4 * P[4]];

// A tight limb minus a tight limb plus 2p is positive and loose. A tight limb minus a sum of two
// plus 4p is, too.
const _: () = assert!(TIGHT <= TWO_P[0] && TIGHT + TWO_P[1] < LOOSE);
const _: () = assert!(2 * TIGHT <= FOUR_P[0] && TIGHT + FOUR_P[1] < LOOSE);

/// Five limbs below [`TIGHT`].
#[derive(Clone, Copy, Debug)]
pub struct Tight51<W>(pub [W; 5]);

/// Five limbs below [`LOOSE`].
#[derive(Clone, Copy, Debug)]
pub struct Loose51<W>(pub [W; 5]);

/// Five limbs below 2 [`TIGHT`].
#[derive(Clone, Copy, Debug)]
pub struct Sum51<W>(pub [W; 5]);

impl<W> From<Tight51<W>> for Loose51<W> {
    #[inline(always)]
    fn from(tight: Tight51<W>) -> Self {
        Self(tight.0)
    }
}

impl<S: Wide> Portable<S> {
    /// Carries the columns of a product into tight limbs.
    ///
    /// A column is below 5 * 19 * 2^106. The last column has no factor 19 and is below 5 * 2^106,
    /// so 19 times its carry fits into a word.
    #[inline(always)]
    fn reduce(self, mut columns: [S::Wide; 5]) -> Tight51<S::Word> {
        let (simd, limb) = (self.0, self.0.splat(LIMB));
        let mut limbs = [simd.splat(0); 5];
        for at in 0..4 {
            let carry = simd.narrow(simd.wide_shr::<51>(columns[at]));
            columns[at + 1] = simd.wide_add(columns[at + 1], simd.widen(carry));
            limbs[at] = simd.and(simd.narrow(columns[at]), limb);
        }
        limbs[4] = simd.and(simd.narrow(columns[4]), limb);
        let around = simd.narrow(simd.wide_shr::<51>(columns[4]));
        limbs[0] = simd.add(limbs[0], simd.times(around, 19));
        limbs[1] = simd.add(limbs[1], simd.shr::<51>(limbs[0]));
        limbs[0] = simd.and(limbs[0], limb);
        Tight51(limbs)
    }

    /// Returns the sum of products.
    #[inline(always)]
    fn column<const N: usize>(self, factors: [(S::Word, S::Word); N]) -> S::Wide {
        let mut sum = self.0.wide_product(factors[0].0, factors[0].1);
        for (a, b) in &factors[1..] {
            sum = self.0.wide_add(sum, self.0.wide_product(*a, *b));
        }
        sum
    }

    /// Returns the columns of a b. Columns above the last return to the lowest ones with a factor
    /// of 19, because 2^255 = 19 modulo p.
    #[inline(always)]
    fn product(self, a: &Tight51<S::Word>, b: &Loose51<S::Word>) -> [S::Wide; 5] {
        let (a, b) = (&a.0, &b.0);
        let [_, a1, a2, a3, a4] = five!(at => self.0.times(a[at], 19));
        [
            self.column([(a[0], b[0]), (a4, b[1]), (a3, b[2]), (a2, b[3]), (a1, b[4])]),
            self.column([(a[1], b[0]), (a[0], b[1]), (a4, b[2]), (a3, b[3]), (a2, b[4])]),
            self.column([(a[2], b[0]), (a[1], b[1]), (a[0], b[2]), (a4, b[3]), (a3, b[4])]),
            self.column([(a[3], b[0]), (a[2], b[1]), (a[1], b[2]), (a[0], b[3]), (a4, b[4])]),
            self.column([(a[4], b[0]), (a[3], b[1]), (a[2], b[2]), (a[1], b[3]), (a[0], b[4])]),
        ]
    }

    /// Returns the columns of a^2.
    #[inline(always)]
    fn squared(self, a: &Tight51<S::Word>) -> [S::Wide; 5] {
        let (simd, a) = (self.0, &a.0);
        let (a3, a4) = (simd.times(a[3], 19), simd.times(a[4], 19));
        let [twice_0, twice_1, twice_2, _, twice_4] = five!(at => simd.times(a[at], 2));
        [
            self.column([(a[0], a[0]), (twice_1, a4), (twice_2, a3)]),
            self.column([(a[3], a3), (twice_0, a[1]), (twice_2, a4)]),
            self.column([(a[1], a[1]), (twice_0, a[2]), (twice_4, a3)]),
            self.column([(a[4], a4), (twice_0, a[3]), (twice_1, a[2])]),
            self.column([(a[2], a[2]), (twice_0, a[4]), (twice_1, a[3])]),
        ]
    }
}

impl<S: Wide> Field for Portable<S> {
    type Simd = S;
    type Tight = Tight51<S::Word>;
    type Loose = Loose51<S::Word>;
    type Product = Tight51<S::Word>;
    type Sum = Sum51<S::Word>;

    #[inline(always)]
    fn simd(self) -> S {
        self.0
    }

    #[inline(always)]
    fn tight(self, words: [S::Word; 4]) -> Self::Tight {
        Tight51(radix51::split(self.0, words))
    }

    #[inline(always)]
    fn sub(self, a: &Self::Tight, b: &Self::Tight) -> Self::Loose {
        let simd = self.0;
        Loose51(five!(at => simd.sub(simd.add(a.0[at], simd.splat(TWO_P[at])), b.0[at])))
    }

    #[inline(always)]
    fn sum(self, a: &Self::Tight, b: &Self::Tight) -> Self::Sum {
        Sum51(five!(at => self.0.add(a.0[at], b.0[at])))
    }

    #[inline(always)]
    fn sub_sum(self, a: &Self::Tight, b: &Self::Sum) -> Self::Product {
        let simd = self.0;
        let difference = five!(at => simd.sub(simd.add(a.0[at], simd.splat(FOUR_P[at])), b.0[at]));
        self.carry(&Loose51(difference))
    }

    #[inline(always)]
    fn carry(self, a: &Self::Loose) -> Self::Product {
        let (simd, limb) = (self.0, self.0.splat(LIMB));
        let over = five!(at => simd.shr::<51>(a.0[at]));
        Tight51(five!(at => {
            let from = if at == 0 { simd.times(over[4], 19) } else { over[at - 1] };
            simd.add(simd.and(a.0[at], limb), from)
        }))
    }

    #[inline(always)]
    fn mul(self, a: &Self::Product, b: &Self::Loose) -> Self::Product {
        self.reduce(self.product(a, b))
    }

    #[inline(always)]
    fn square(self, a: &Self::Product) -> Self::Product {
        self.reduce(self.squared(a))
    }

    #[inline(always)]
    fn mul_add(self, a: &Self::Product, b: &Self::Loose, c: &Self::Tight) -> Self::Tight {
        let (simd, columns) = (self.0, self.product(a, b));
        self.reduce(five!(at => simd.wide_add(columns[at], simd.widen(c.0[at]))))
    }

    #[inline(always)]
    fn square_sub(self, a: &Self::Product, b: &Self::Sum) -> Self::Tight {
        let (simd, columns) = (self.0, self.squared(a));
        self.reduce(five!(at => {
            let minus = simd.sub(simd.splat(FOUR_P[at]), b.0[at]);
            simd.wide_add(columns[at], simd.widen(minus))
        }))
    }

    #[inline(always)]
    fn words(self, a: &Self::Product) -> [Word<Self>; 4] {
        radix51::canonical(self.0, a.0)
    }
}
