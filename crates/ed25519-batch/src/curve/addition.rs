//! Affine additions that share their inversions (Montgomery's trick).
//!
//! On a short Weierstrass curve, x3 = l^2 - x1 - x2 and -y3 = l (x3 - x1) + y1, with the slope
//! l = (y2 - y1) / (x2 - x1). An addition has two phases. Opening needs both points, and opens the
//! division for the slope. Closing needs the inverse of the product of all divisors. Together they
//! cost five products and one square.
//!
//! The result is the *negative* of the sum, which saves a subtraction. The next addition
//! compensates: it takes its point with the other sign.
//!
//! Every y is stored as y + [`SHIFT`], which is 9. The complement of these 255 bits is the stored
//! form of -y, because 2^255 - 1 - (y + 9) = -y + 9 modulo p.

use super::field::{Field, Word};
use crate::simd::Words as _;

/// The offset of every stored y.
pub const SHIFT: u64 = 9;

/// An affine point in every lane. Its y is stored with an offset of 9.
pub struct Point<F: Field> {
    /// x.
    pub x: F::Tight,
    /// y + 9.
    pub y: F::Tight,
}

/// A division in progress. Divisions share the inversion of the product of their divisors.
#[derive(Clone, Copy)]
pub struct Division<F: Field> {
    divisor: F::Loose,
    /// The dividend times the divisors of all earlier divisions, then the quotient.
    quotient: F::Product,
}

impl<F: Field> Division<F> {
    /// Returns the place of divisions.
    #[inline(always)]
    pub fn place(field: F) -> Self {
        Self { divisor: field.one().into(), quotient: field.one() }
    }

    /// Opens a division, and multiplies `product` by its divisor. `product` is the product of the
    /// divisors of all divisions that are open.
    #[inline(always)]
    pub fn open(&mut self, field: F, dividend: &F::Loose, divisor: F::Loose, product: &mut F::Product) {
        self.quotient = field.mul(product, dividend);
        self.divisor = divisor;
        *product = field.mul(product, &self.divisor);
    }

    /// Computes the quotient. `inverse` is the inverse of the product up to this division, and
    /// becomes the inverse of the product before it. So divisions are closed in the reverse of the
    /// order in which they were opened.
    #[inline(always)]
    pub fn close(&mut self, field: F, inverse: &mut F::Product) {
        self.quotient = field.mul(inverse, &self.quotient.into());
        *inverse = field.mul(inverse, &self.divisor);
    }

    /// Does [`Self::close`], and returns the quotient + `c` instead of keeping it.
    #[inline(always)]
    pub fn close_and_add(&self, field: F, inverse: &mut F::Product, c: &F::Tight) -> F::Tight {
        let quotient = field.mul_add(inverse, &self.quotient.into(), c);
        *inverse = field.mul(inverse, &self.divisor);
        quotient
    }
}

/// A point, and the addition to it that is in progress. [`Self::open`] begins one, and
/// [`Self::find_slope`], [`Self::find_x`] and [`Self::find_y`] close it, in this order and in place.
#[derive(Clone, Copy)]
pub struct Addition<F: Field> {
    /// x1, then x3.
    x: F::Tight,
    /// y1, then -y3.
    y: F::Tight,
    /// x1 + x2.
    sum: F::Sum,
    /// Gives the slope. The divisor is x2 - x1; after [`Self::find_x`] its place holds x3 - x1.
    slope: Division<F>,
}

impl<F: Field> Addition<F> {
    /// Returns a point, with the place of additions to it.
    #[inline(always)]
    pub fn to(field: F, Point { x, y }: Point<F>) -> Self {
        Self { x, y, sum: field.sum(&x, &x), slope: Division::place(field) }
    }

    /// Opens the addition of `other` to the point, which is the negative sum after
    /// [`Self::find_y`]. `product` is that of [`Division::open`].
    #[inline(always)]
    pub fn open(&mut self, field: F, other: &Point<F>, product: &mut F::Product) {
        let (divisor, dividend) = (field.sub(&other.x, &self.x), field.sub(&other.y, &self.y));
        self.sum = field.sum(&self.x, &other.x);
        self.slope.open(field, &dividend, divisor, product);
    }

    /// Computes the slope. `inverse` is that of [`Division::close`].
    #[inline(always)]
    pub fn find_slope(&mut self, field: F, inverse: &mut F::Product) {
        self.slope.close(field, inverse);
    }

    /// Computes the x of the sum, after the slope.
    #[inline(always)]
    pub fn find_x(&mut self, field: F) {
        let x = field.square_sub(&self.slope.quotient, &self.sum);
        self.slope.divisor = field.sub(&x, &self.x);
        self.x = x;
    }

    /// Computes the y of the negative sum, after its x.
    #[inline(always)]
    pub fn find_y(&mut self, field: F) {
        self.y = field.mul_add(&self.slope.quotient, &self.slope.divisor, &self.y);
    }

    /// Returns the negative of the sum, after [`Self::find_y`].
    #[inline(always)]
    pub fn negative_sum(&self) -> Point<F> {
        Point { x: self.x, y: self.y }
    }

    /// Returns the place of a division that needs no addition any more.
    #[inline(always)]
    pub fn division(&mut self) -> &mut Division<F> {
        &mut self.slope
    }
}

/// Negates a stored y, given by its words, in the lanes where `choice` is odd.
#[inline(always)]
pub fn negate_y<F: Field>(field: F, [a, b, c, d]: [Word<F>; 4], choice: Word<F>) -> [Word<F>; 4] {
    let complement = |word, mask| field.simd().xor_where_odd(word, choice, mask);
    [complement(a, u64::MAX), complement(b, u64::MAX), complement(c, u64::MAX), complement(d, u64::MAX >> 1)]
}
