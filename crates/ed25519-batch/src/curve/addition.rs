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

use super::field::{Element, Field, Word};
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
    /// Opens a division, and multiplies `product` by its divisor. `product` is the product of the
    /// divisors of all divisions that are open. It is computed first, because the next division
    /// waits for it.
    #[inline(always)]
    pub fn open(field: F, dividend: &F::Loose, divisor: F::Loose, product: &mut F::Product) -> Self {
        let product_before = *product;
        *product = field.mul(product, &divisor);
        Self { divisor, quotient: field.mul(&product_before, dividend) }
    }

    /// Computes the quotient. `inverse` is the inverse of the product up to this division, and
    /// becomes the inverse of the product before it. So divisions are closed in the reverse of the
    /// order in which they were opened.
    #[inline(always)]
    pub fn close(&mut self, field: F, inverse: &mut F::Product) {
        let inverse_of_all = self.take_inverse(field, inverse);
        self.quotient = field.mul(&inverse_of_all, &self.quotient.into());
    }

    /// Does [`Self::close`], and returns the quotient + `c` instead of keeping it.
    #[inline(always)]
    pub fn close_and_add(&self, field: F, inverse: &mut F::Product, c: &F::Tight) -> F::Tight {
        let inverse_of_all = self.take_inverse(field, inverse);
        field.mul_add(&inverse_of_all, &self.quotient.into(), c)
    }

    /// Returns `inverse`, and makes it that of the product before this division. Here, too, what
    /// the next division waits for is computed first.
    #[inline(always)]
    fn take_inverse(&self, field: F, inverse: &mut F::Product) -> F::Product {
        let inverse_of_all = *inverse;
        *inverse = field.mul(inverse, &self.divisor);
        inverse_of_all
    }
}

/// An addition in progress. [`Self::open`] makes it, and [`Self::find_slope`], [`Self::find_x`] and
/// [`Self::find_y`] close it, in this order and in place.
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
    /// Returns an addition without a meaning, which any other can replace.
    pub fn of_zeros(field: F) -> Self {
        let zero = Element::new(0);
        field.simd().run(
            #[inline(always)]
            || {
                let point = Point { x: zero.in_every_lane(field), y: zero.in_every_lane(field) };
                Self::open(field, &point, &point, &mut field.one())
            },
        )
    }

    /// Opens a + b. `product` is that of [`Division::open`].
    #[inline(always)]
    pub fn open(field: F, a: &Point<F>, b: &Point<F>, product: &mut F::Product) -> Self {
        let (divisor, dividend) = (field.sub(&b.x, &a.x), field.sub(&b.y, &a.y));
        let slope = Division::open(field, &dividend, divisor, product);
        Self { x: a.x, y: a.y, sum: field.sum(&a.x, &b.x), slope }
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
