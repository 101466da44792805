//! The last addition of a key. It needs no full sum, only the Edwards y of the sum.
//!
//! With N / D as the slope, the Montgomery u of the sum is (N^2 - (x1 + x2 + A / 3) D^2) / D^2. The
//! Edwards y is (u - 1) / (u + 1) (RFC 7748, section 4.1), which is 1 - 2 / (u + 1). So one
//! numerator, D^2, needs no product. All divisions of a batch share one inversion, as those for the
//! slopes of a window do.

use super::addition::Point;
use super::field::{Element, Field};
use super::table::shift_of_x;
use crate::simd::Words as _;

/// Parts of the y of a sum.
#[derive(Clone, Copy)]
pub struct LastAddition<F: Field> {
    /// x1 + x2.
    sum: F::Sum,
    /// D^2.
    d_squared: F::Product,
    /// N^2.
    n_squared: F::Tight,
}

/// The numbers that every [`LastAddition`] needs.
#[derive(Clone, Copy)]
pub struct Numbers<F: Field> {
    /// 0.
    pub zero: F::Tight,
    zero_sum: F::Sum,
    one: F::Tight,
    /// -A/3 + 1.
    shift: F::Tight,
}

impl<F: Field> Numbers<F> {
    /// Computes the numbers.
    pub fn new(field: F) -> Self {
        let shift = Element::new(1) - shift_of_x();
        field.simd().run(
            #[inline(always)]
            || {
                let zero = Element::new(0).in_every_lane(field);
                let one = Element::new(1).in_every_lane(field);
                Self { zero, zero_sum: field.sum(&zero, &zero), one, shift: shift.in_every_lane(field) }
            },
        )
    }

    /// Returns the Edwards y that belongs to the quotient 1 / (u + 1).
    #[inline(always)]
    pub fn y(&self, field: F, quotient: &F::Tight) -> F::Product {
        field.sub_sum(&self.one, &field.sum(quotient, quotient))
    }
}

impl<F: Field> LastAddition<F> {
    /// Computes the parts for a + b.
    #[inline(always)]
    pub fn new(field: F, a: &Point<F>, b: &Point<F>, numbers: &Numbers<F>) -> Self {
        let d_squared = field.square(&field.carry(&field.sub(&b.x, &a.x)));
        let n = field.carry(&field.sub(&b.y, &a.y));
        let n_squared = field.square_sub(&n, &numbers.zero_sum);
        Self { sum: field.sum(&a.x, &b.x), d_squared, n_squared }
    }

    /// Returns the dividend D^2 and the divisor (u + 1) D^2. Their quotient gives [`Numbers::y`].
    #[inline(always)]
    pub fn fraction(&self, field: F, numbers: &Numbers<F>) -> [F::Loose; 2] {
        let d_squared = self.d_squared.into();
        let factor = field.sub_sum(&numbers.shift, &self.sum);
        let divisor = field.mul_add(&factor, &d_squared, &self.n_squared);
        [d_squared, field.sub(&divisor, &numbers.zero)]
    }
}
