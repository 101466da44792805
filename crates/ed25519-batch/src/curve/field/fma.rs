//! The back end for fused multiply-add: five signed 51-bit limbs, stored as double-precision
//! numbers.
//!
//! The product of two limbs has up to 102 bits, and a double holds 53. Adding the product to a
//! number whose last place is worth 2^51 rounds the product to its high part. The rest is an
//! integer of 51 bits:
//!
//! ```text
//! h = fma(a, b, HIGH)              = HIGH + high,   high a multiple of 2^51, exact
//! l = fma(a, b, (HIGH + LOW) - h)  = LOW + a b - high,   within 2^50 of LOW, exact
//! ```
//!
//! The bit patterns of h and l are `HIGH.to_bits() + high / 2^51` and `LOW.to_bits() + low`. So a
//! column of a product is an integer sum of bit patterns, and one constant for each column removes
//! all the offsets. This needs |a b| <= 2^102, so differences of carried limbs are valid factors
//! without another carry. (Niall Emmart, Fangyu Zheng, Charles Weems: Faster Modular Exponentiation
//! Using Double Precision Floating Point Arithmetic on the GPU, ARITH 2018.)
//!
//! A tight limb u is stored as the double 2^52 + u, whose bit pattern ends in the integer u. The
//! difference of two such doubles is the difference of their limbs.

use std::cmp::Ordering;

use super::back_end::{Field, Word};
use super::radix51::{self, P, five, times_19};
use crate::simd::Doubles;

/// The back end of processors with fused multiply-add.
#[derive(Clone, Copy, Debug)]
pub struct Fma<S>(pub S);

/// 1.5 2^103, whose last place is worth 2^51.
pub const HIGH: f64 = 3.0 * (1u128 << 102) as f64;

/// 1.5 2^52, whose last place is worth 1.
pub const LOW: f64 = 3.0 * (1u64 << 51) as f64;

/// 2^52. The low bits of the pattern of `UNIT` + a limb are the limb.
pub const UNIT: f64 = (1u64 << 52) as f64;

/// The bound of what a carry adds to a limb: at most `CARRY` to each of four limbs, and 19 times
/// as much to the lowest.
pub const EXCESS: u64 = 1 << 12;

/// The bound of columns, in units of 2^51, before and after the reduction by 2^255 = 19. The
/// largest column has 1 low and 0 high parts, and 19 times 4 low and 5 high parts from the upper
/// column. The absolute value of each part is at most 2^50 and a little. Up to two more limbs are
/// then added or subtracted.
const SPAN: u64 = 90;

/// The number of p in [`OFFSET`].
const TIMES_P: u64 = 96;

/// A multiple of p that makes all columns positive.
const OFFSET: [u64; 5] = [TIMES_P * P[0], TIMES_P * P[1], TIMES_P * P[2], TIMES_P * P[3], TIMES_P * P[4]];

/// The largest carry out of a column.
const CARRY: u64 = SPAN + TIMES_P + 1;

const _: () = assert!(SPAN << 51 < OFFSET[0]);
const _: () = assert!(19 * CARRY < EXCESS);
// The product of a [`Product`] limb and a [`Loose`] limb, (2^50 + e) (2^51 + e), is below 2^102.
const _: () = assert!(((1 << 50) + EXCESS as u128) * ((1 << 51) + EXCESS as u128) < 1 << 102);

/// Five numbers 2^52 + u with u from 0 to 2^51 + [`EXCESS`].
#[derive(Clone, Copy, Debug)]
pub struct Tight<D>(pub [D; 5]);

/// Five integers within 2^51 + [`EXCESS`] of 0.
#[derive(Clone, Copy, Debug)]
pub struct Loose<D>(pub [D; 5]);

/// Five integers within 2^50 + [`EXCESS`] of 0.
#[derive(Clone, Copy, Debug)]
pub struct Product<D>(pub [D; 5]);

/// The sums of the bit patterns of two tight elements.
#[derive(Clone, Copy, Debug)]
pub struct Sum<W>(pub [W; 5]);

impl<D> From<Product<D>> for Loose<D> {
    #[inline(always)]
    fn from(product: Product<D>) -> Self {
        Self(product.0)
    }
}

impl<S: Doubles> Fma<S> {
    /// Returns `value` in every lane.
    #[inline(always)]
    fn number(self, value: f64) -> S::Double {
        self.0.double(self.0.splat(value.to_bits()))
    }

    /// Returns the columns of a b, reduced by 2^255 = 19, with `plus` added to each.
    #[inline(always)]
    fn product(self, a: &[S::Double; 5], b: &[S::Double; 5], plus: u64) -> [S::Word; 5] {
        self.sum_rows(
            a,
            [1, 2, 3, 4, 5, 4, 3, 2, 1, 0],
            plus,
            #[inline(always)]
            |_, j| Some(&b[j]),
        )
    }

    /// Returns the columns of a^2, reduced by 2^255 = 19, with `plus` added to each. Each product of
    /// different limbs is computed once, with one of them doubled.
    #[inline(always)]
    fn squared(self, a: &[S::Double; 5], plus: u64) -> [S::Word; 5] {
        let twice = five!(at => self.0.plus(a[at], a[at]));
        self.sum_rows(
            a,
            [1, 1, 2, 2, 3, 2, 2, 1, 1, 0],
            plus,
            #[inline(always)]
            |i, j| match i.cmp(&j) {
                Ordering::Less => Some(&twice[j]),
                Ordering::Equal => Some(&a[j]),
                Ordering::Greater => None,
            },
        )
    }

    /// Returns the sums of the products of limb i of `a` and `factor(i, j)`, in the columns i + j,
    /// reduced by 2^255 = 19. `products` are their numbers in the columns.
    ///
    /// The rows are the limbs of `a`, and the last one is first. Each row completes an upper column,
    /// and the column five below starts from 19 times that. So a row has one limb and six columns in
    /// registers.
    ///
    /// The upper columns start from constants. They remove the offsets of the bit patterns and add
    /// [`OFFSET`] and `plus` to the lower columns, so they are divided by 19 modulo 2^64.
    #[inline(always)]
    fn sum_rows<'a>(
        self,
        a: &[S::Double; 5],
        products: [u64; 10],
        plus: u64,
        factor: impl Fn(usize, usize) -> Option<&'a S::Double>,
    ) -> [S::Word; 5]
    where
        S::Double: 'a,
    {
        let (simd, high, both) = (self.0, self.number(HIGH), self.number(HIGH + LOW));
        // The offsets of a column: the patterns of 0 for its low parts, and for the high parts of
        // the column below.
        let zeros = |at: usize| {
            let highs = if at == 0 { 0 } else { products[at - 1] };
            products[at].wrapping_mul(LOW.to_bits()).wrapping_add(highs.wrapping_mul(HIGH.to_bits()))
        };
        let start = |at: usize| {
            let zeros = zeros(at).wrapping_add(zeros(at + 5).wrapping_mul(19));
            let start = OFFSET[at].wrapping_add(plus).wrapping_sub(zeros);
            simd.splat(start.wrapping_mul(INVERSE_OF_19))
        };
        let zero = simd.splat(0);
        let mut columns = [zero, zero, zero, zero, zero, start(0), start(1), start(2), start(3), start(4)];
        five!(back => {
            let i = 4 - back;
            five!(back => {
                let j = 4 - back;
                if let Some(factor) = factor(i, j) {
                    let at = i + j;
                    let sums = simd.accumulate((columns[at], columns[at + 1]), a[i], factor, high, both);
                    (columns[at], columns[at + 1]) = sums;
                }
                if j == 4 {
                    columns[i] = times_19(simd, columns[i + 5]);
                }
            });
        });
        five!(at => columns[at])
    }

    /// Carries positive columns. Returns limbs from 0 to 2^51 + [`EXCESS`], as the bit patterns of
    /// 2^52 + the limb. One parallel step is enough, because the carries are small.
    #[inline(always)]
    fn limbs(self, columns: [S::Word; 5]) -> [S::Word; 5] {
        let simd = self.0;
        let carries = five!(at => simd.shr::<51>(columns[at]));
        let around = times_19(simd, carries[4]);
        five!(at => {
            let number = simd.with_top::<51>(columns[at], UNIT.to_bits() >> 51);
            simd.add(number, if at == 0 { around } else { carries[at - 1] })
        })
    }

    /// Carries columns and returns a tight element.
    #[inline(always)]
    fn to_tight(self, columns: [S::Word; 5]) -> Tight<S::Double> {
        let limbs = self.limbs(columns);
        Tight(five!(at => self.0.double(limbs[at])))
    }

    /// Carries columns to which [`CENTER`] was added, and returns limbs around 0.
    #[inline(always)]
    fn to_product(self, columns: [S::Word; 5]) -> Product<S::Double> {
        let middle = self.number(UNIT + CENTER as f64);
        let limbs = self.limbs(columns);
        Product(five!(at => self.0.minus(self.0.double(limbs[at]), middle)))
    }
}

/// 1 / 19 modulo 2^64.
const INVERSE_OF_19: u64 = 0x86bc_a1af_286b_ca1b;

const _: () = assert!(INVERSE_OF_19.wrapping_mul(19) == 1);

/// The middle of a limb.
const CENTER: u64 = 1 << 50;

impl<S: Doubles> Field for Fma<S> {
    type Simd = S;
    type Tight = Tight<S::Double>;
    type Loose = Loose<S::Double>;
    type Product = Product<S::Double>;
    type Sum = Sum<S::Word>;

    #[inline(always)]
    fn simd(self) -> S {
        self.0
    }

    #[inline(always)]
    fn tight(self, words: [S::Word; 4]) -> Tight<S::Double> {
        let (simd, unit) = (self.0, self.0.splat(UNIT.to_bits()));
        let limbs = radix51::split(simd, words);
        Tight(five!(at => simd.double(simd.or(limbs[at], unit))))
    }

    #[inline(always)]
    fn sub(self, a: &Self::Tight, b: &Self::Tight) -> Self::Loose {
        Loose(five!(at => self.0.minus(a.0[at], b.0[at])))
    }

    #[inline(always)]
    fn sum(self, a: &Self::Tight, b: &Self::Tight) -> Self::Sum {
        Sum(five!(at => self.0.add(self.0.bits(a.0[at]), self.0.bits(b.0[at]))))
    }

    #[inline(always)]
    fn sub_sum(self, a: &Self::Tight, b: &Self::Sum) -> Self::Product {
        let simd = self.0;
        // `a` has one pattern of 2^52 and `b` has two. The constant adds the missing one.
        self.to_product(five!(at => {
            let constant = OFFSET[at].wrapping_add(CENTER).wrapping_add(UNIT.to_bits());
            simd.sub(simd.add(simd.bits(a.0[at]), simd.splat(constant)), b.0[at])
        }))
    }

    #[inline(always)]
    fn carry(self, a: &Self::Loose) -> Self::Product {
        let simd = self.0;
        // Adding and subtracting `HIGH` rounds to a multiple of 2^51.
        let high = self.number(HIGH);
        let over = five!(at => simd.minus(simd.plus(a.0[at], high), high));
        let below = 1.0 / (1u64 << 51) as f64;
        Product(five!(at => {
            let rest = simd.minus(a.0[at], over[at]);
            let (from, worth) = if at == 0 { (over[4], 19.0 * below) } else { (over[at - 1], below) };
            simd.fma(from, self.number(worth), rest)
        }))
    }

    #[inline(always)]
    fn mul(self, a: &Self::Product, b: &Self::Loose) -> Self::Product {
        self.to_product(self.product(&a.0, &b.0, CENTER))
    }

    #[inline(always)]
    fn square(self, a: &Self::Product) -> Self::Product {
        self.to_product(self.squared(&a.0, CENTER))
    }

    #[inline(always)]
    fn mul_add(self, a: &Self::Product, b: &Self::Loose, c: &Self::Tight) -> Self::Tight {
        let simd = self.0;
        let columns = self.product(&a.0, &b.0, UNIT.to_bits().wrapping_neg());
        self.to_tight(five!(at => simd.add(columns[at], simd.bits(c.0[at]))))
    }

    #[inline(always)]
    fn square_sub(self, a: &Self::Product, b: &Self::Sum) -> Self::Tight {
        let simd = self.0;
        let columns = self.squared(&a.0, UNIT.to_bits().wrapping_mul(2));
        self.to_tight(five!(at => simd.sub(columns[at], b.0[at])))
    }

    #[inline(always)]
    fn words(self, a: &Self::Product) -> [Word<Self>; 4] {
        let simd = self.0;
        // Convert to integers and add p, so that they are positive. The value was within 1.1 2^254
        // of 0, so it is now below 2p.
        let integers = five!(at => {
            let pattern = simd.bits(simd.plus(a.0[at], self.number(LOW)));
            simd.add(pattern, simd.splat(P[at].wrapping_sub(LOW.to_bits())))
        });
        radix51::canonical(simd, integers)
    }
}
