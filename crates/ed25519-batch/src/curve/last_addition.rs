//! The last addition of a key. It needs no full sum, only the Edwards y of the sum.
//!
//! With N / D as the slope, the Montgomery u of the sum is (N^2 - (x1 + x2 + A / 3) D^2) / D^2. The
//! Edwards y is (u - 1) / (u + 1) (RFC 7748, section 4.1), a fraction. All fractions of a batch
//! share one inversion, as the slopes of a window do.

use super::addition::Point;
use super::field::{Element, Field};
use super::table::shift_of_x;
use crate::simd::Words as _;

/// Parts of the y of a sum.
#[derive(Clone, Copy)]
pub(super) struct LastAddition<F: Field> {
    /// x1 + x2.
    sum: F::Sum,
    /// D^2.
    d_squared: F::Product,
    /// N^2.
    n_squared: F::Tight,
}

/// The numbers that every [`LastAddition`] needs.
#[derive(Clone, Copy)]
pub(super) struct Numbers<F: Field> {
    zero: F::Tight,
    zero_sum: F::Sum,
    /// -A/3 - 1 and -A/3 + 1.
    shifts: [F::Tight; 2],
}

impl<F: Field> Numbers<F> {
    /// Computes the numbers.
    pub(super) fn new(field: F) -> Self {
        let shift = Element::new(0) - shift_of_x();
        let shifts = [shift - Element::new(1), shift + Element::new(1)];
        field.simd().run(
            #[inline(always)]
            || {
                let zero = Element::new(0).in_every_lane(field);
                let shifts = [shifts[0].in_every_lane(field), shifts[1].in_every_lane(field)];
                Self { zero, zero_sum: field.sum(&zero, &zero), shifts }
            },
        )
    }
}

impl<F: Field> LastAddition<F> {
    /// Computes the parts for a + b.
    #[inline(always)]
    pub(super) fn new(field: F, a: &Point<F>, b: &Point<F>, numbers: &Numbers<F>) -> Self {
        let d_squared = field.square(&field.carry(&field.sub(&b.x, &a.x)));
        let n = field.carry(&field.sub(&b.y, &a.y));
        let n_squared = field.square_sub(&n, &numbers.zero_sum);
        Self { sum: field.sum(&a.x, &b.x), d_squared, n_squared }
    }

    /// Returns the numerator and the denominator of the Edwards y.
    #[inline(always)]
    pub(super) fn y(&self, field: F, numbers: &Numbers<F>) -> [F::Loose; 2] {
        let d_squared = self.d_squared.into();
        let [numerator, denominator] = &numbers.shifts;
        let numerator = field.mul_add(&field.sub_sum(numerator, &self.sum), &d_squared, &self.n_squared);
        let denominator = field.mul_add(&field.sub_sum(denominator, &self.sum), &d_squared, &self.n_squared);
        [field.sub(&numerator, &numbers.zero), field.sub(&denominator, &numbers.zero)]
    }
}
