//! The back end of any 64-bit processor: one lane of five 51-bit limbs, with 64 x 64 -> 128 bit
//! products.

use super::back_end::Field;
use super::radix51::{self, LIMB, P, five};
use crate::simd::Scalar;

/// The back end that runs on every processor.
#[derive(Clone, Copy, Debug)]
pub struct Portable(pub Scalar);

/// The exclusive bound of tight limbs: 2^51 for a carried limb, and 2^14 for the last carry.
pub(super) const TIGHT: u64 = (1 << 51) + (1 << 14);

/// The exclusive bound of loose limbs, the largest that a product accepts.
pub(super) const LOOSE: u64 = 1 << 54;

/// The limbs of 2p and 4p. One of them is added before a subtraction, so no limb becomes negative.
const TWO_P: [u64; 5] = [2 * P[0], 2 * P[1], 2 * P[2], 2 * P[3], 2 * P[4]];
const FOUR_P: [u64; 5] = [4 * P[0], 4 * P[1], 4 * P[2], 4 * P[3], 4 * P[4]];

// A tight limb minus a tight limb plus 2p is positive and loose. A tight limb minus a sum of two
// plus 4p is, too.
const _: () = assert!(TIGHT <= TWO_P[0] && TIGHT + TWO_P[1] < LOOSE);
const _: () = assert!(2 * TIGHT <= FOUR_P[0] && TIGHT + FOUR_P[1] < LOOSE);

/// Five limbs below [`TIGHT`].
#[derive(Clone, Copy, Debug)]
pub struct Tight51(pub(super) [u64; 5]);

/// Five limbs below [`LOOSE`].
#[derive(Clone, Copy, Debug)]
pub struct Loose51(pub(super) [u64; 5]);

impl Tight51 {
    #[inline(always)]
    fn new(limbs: [u64; 5]) -> Self {
        debug_assert!(limbs.iter().all(|&limb| limb < TIGHT), "{limbs:x?}");
        Self(limbs)
    }
}

impl Loose51 {
    #[inline(always)]
    fn new(limbs: [u64; 5]) -> Self {
        debug_assert!(limbs.iter().all(|&limb| limb < LOOSE), "{limbs:x?}");
        Self(limbs)
    }
}

impl From<Tight51> for Loose51 {
    #[inline(always)]
    fn from(tight: Tight51) -> Self {
        Self(tight.0)
    }
}

/// Carries the columns of a product into tight limbs.
///
/// A column is below 5 * 19 * 2^106. The last column has no factor 19 and is below 5 * 2^106, so 19
/// times its carry fits into a word.
#[inline(always)]
fn reduce(mut columns: [u128; 5]) -> Tight51 {
    let mut limbs = [0; 5];
    for at in 0..4 {
        columns[at + 1] += u128::from((columns[at] >> 51) as u64);
        limbs[at] = columns[at] as u64 & LIMB;
    }
    limbs[4] = columns[4] as u64 & LIMB;
    limbs[0] += 19 * (columns[4] >> 51) as u64;
    limbs[1] += limbs[0] >> 51;
    limbs[0] &= LIMB;
    Tight51::new(limbs)
}

/// Returns the 128-bit product.
#[inline(always)]
fn wide(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

/// Returns the columns of a b. Columns above the last return to the lowest ones with a factor of
/// 19, because 2^255 = 19 modulo p.
#[inline(always)]
fn product(a: &Tight51, b: &Loose51) -> [u128; 5] {
    let (a, b) = (&a.0, &b.0);
    let [_, a1, a2, a3, a4] = five!(at => 19 * a[at]);
    [
        wide(a[0], b[0]) + wide(a4, b[1]) + wide(a3, b[2]) + wide(a2, b[3]) + wide(a1, b[4]),
        wide(a[1], b[0]) + wide(a[0], b[1]) + wide(a4, b[2]) + wide(a3, b[3]) + wide(a2, b[4]),
        wide(a[2], b[0]) + wide(a[1], b[1]) + wide(a[0], b[2]) + wide(a4, b[3]) + wide(a3, b[4]),
        wide(a[3], b[0]) + wide(a[2], b[1]) + wide(a[1], b[2]) + wide(a[0], b[3]) + wide(a4, b[4]),
        wide(a[4], b[0]) + wide(a[3], b[1]) + wide(a[2], b[2]) + wide(a[1], b[3]) + wide(a[0], b[4]),
    ]
}

/// Returns the columns of a^2.
#[inline(always)]
fn square(a: &Tight51) -> [u128; 5] {
    let a = &a.0;
    let (a3, a4) = (19 * a[3], 19 * a[4]);
    let (twice_0, twice_1) = (2 * a[0], 2 * a[1]);
    [
        wide(a[0], a[0]) + wide(twice_1, a4) + wide(2 * a[2], a3),
        wide(a[3], a3) + wide(twice_0, a[1]) + wide(2 * a[2], a4),
        wide(a[1], a[1]) + wide(twice_0, a[2]) + wide(2 * a[4], a3),
        wide(a[4], a4) + wide(twice_0, a[3]) + wide(twice_1, a[2]),
        wide(a[2], a[2]) + wide(twice_0, a[4]) + wide(twice_1, a[3]),
    ]
}

impl Field for Portable {
    type Simd = Scalar;
    type Tight = Tight51;
    type Loose = Loose51;
    type Product = Tight51;
    type Sum = Loose51;

    fn simd(self) -> Scalar {
        self.0
    }

    #[inline(always)]
    fn tight(self, words: [u64; 4]) -> Tight51 {
        Tight51::new(radix51::split(self.0, words))
    }

    #[inline(always)]
    fn sub(self, a: &Tight51, b: &Tight51) -> Loose51 {
        Loose51::new(five!(at => a.0[at] + TWO_P[at] - b.0[at]))
    }

    #[inline(always)]
    fn sum(self, a: &Tight51, b: &Tight51) -> Loose51 {
        Loose51::new(five!(at => a.0[at] + b.0[at]))
    }

    #[inline(always)]
    fn sub_sum(self, a: &Tight51, b: &Loose51) -> Tight51 {
        self.carry(&Loose51::new(five!(at => a.0[at] + FOUR_P[at] - b.0[at])))
    }

    #[inline(always)]
    fn carry(self, a: &Loose51) -> Tight51 {
        let over = five!(at => a.0[at] >> 51);
        Tight51::new(five!(at => {
            (a.0[at] & LIMB) + if at == 0 { 19 * over[4] } else { over[at - 1] }
        }))
    }

    #[inline(always)]
    fn mul(self, a: &Tight51, b: &Loose51) -> Tight51 {
        reduce(product(a, b))
    }

    #[inline(always)]
    fn square(self, a: &Tight51) -> Tight51 {
        reduce(square(a))
    }

    #[inline(always)]
    fn mul_add(self, a: &Tight51, b: &Loose51, c: &Tight51) -> Tight51 {
        let columns = product(a, b);
        reduce(five!(at => columns[at] + u128::from(c.0[at])))
    }

    #[inline(always)]
    fn square_sub(self, a: &Tight51, b: &Loose51) -> Tight51 {
        let columns = square(a);
        reduce(five!(at => columns[at] + u128::from(FOUR_P[at] - b.0[at])))
    }

    #[inline(always)]
    fn words(self, a: &Tight51) -> [u64; 4] {
        radix51::canonical(self.0, a.0)
    }
}
