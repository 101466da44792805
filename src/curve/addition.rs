//! Affine additions that share their inversions (Montgomery's trick).
//!
//! On a short Weierstrass curve, x3 = l^2 - x1 - x2 and -y3 = l (x3 - x1) + y1 with l = (y2 - y1) / (x2 - x1). An
//! addition is opened when both points are known, and closed when the inverse of the product of all differences is:
//! five products and one square. It gives the *negative* of the sum, which spares a subtraction; whoever adds again takes
//! the next point with the other sign.
//!
//! Every y is kept as y + [`SHIFT`]. Complementing its 255 bits then changes its sign: 2^255 - 1 - (y + 9) = -y + 9
//! modulo p.

use super::field::{Field, Word};
use crate::simd::Words as _;

/// What is added to every y.
pub(super) const SHIFT: u64 = 9;

/// An affine point in every lane, its y shifted.
pub struct Point<F: Field> {
    pub(super) x: F::Tight,
    pub(super) y: F::Tight,
}

/// An addition on its way: opened, given its slope, its x, its y, one after the other and in place.
#[derive(Clone, Copy)]
pub(super) struct Addition<F: Field> {
    /// x1, then x3.
    x: F::Tight,
    /// y1, then -y3.
    y: F::Tight,
    /// x1 + x2.
    sum: F::Sum,
    /// x2 - x1, then x3 - x1.
    difference: F::Loose,
    /// (y2 - y1) times the differences of all additions opened before, then the slope.
    slope: F::Product,
}

impl<F: Field> Addition<F> {
    /// a + b. `product` is that of all differences so far.
    #[inline(always)]
    pub(super) fn open(field: F, a: &Point<F>, b: &Point<F>, product: &mut F::Product) -> Self {
        let difference = field.sub(&b.x, &a.x);
        let slope = field.mul(product, &field.sub(&b.y, &a.y));
        *product = field.mul(product, &difference);
        Self { x: a.x, y: a.y, sum: field.sum(&a.x, &b.x), difference, slope }
    }

    /// The slope. `inverse` is that of the product up to this addition, and becomes that of the product before: the last
    /// to be opened is the first to be closed.
    #[inline(always)]
    pub(super) fn find_slope(&mut self, field: F, inverse: &mut F::Product) {
        self.slope = field.mul(inverse, &self.slope.into());
        *inverse = field.mul(inverse, &self.difference);
    }

    /// The x of the sum, after the slope.
    #[inline(always)]
    pub(super) fn find_x(&mut self, field: F) {
        let x = field.square_sub(&self.slope, &self.sum);
        self.difference = field.sub(&x, &self.x);
        self.x = x;
    }

    /// The y of the sum's negative, after its x.
    #[inline(always)]
    pub(super) fn find_y(&mut self, field: F) {
        self.y = field.mul_add(&self.slope, &self.difference, &self.y);
    }

    /// The negative of the sum, after its y.
    #[inline(always)]
    pub(super) fn negative_sum(&self) -> Point<F> {
        Point { x: self.x, y: self.y }
    }
}

/// The words of -y + [`SHIFT`] from those of y + [`SHIFT`], in the lanes whose `sign` is all ones.
#[inline(always)]
pub(super) fn with_sign<F: Field>(field: F, [a, b, c, d]: [Word<F>; 4], sign: Word<F>) -> [Word<F>; 4] {
    let simd = field.simd();
    [simd.xor(a, sign), simd.xor(b, sign), simd.xor(c, sign), simd.xor(d, simd.shr::<1>(sign))]
}
