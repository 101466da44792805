//! One element at a time, always below p: for the few computations that nobody waits for.

use std::ops::{Add, Div, Mul, Sub};

use super::{Field as _, Portable};
use crate::simd::Scalar;

const FIELD: Portable = Portable(Scalar::plain());

/// An element as four little-endian words below p.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element(pub [u64; 4]);

impl Element {
    /// A small number.
    pub const fn new(number: u64) -> Self {
        Self([number, 0, 0, 0])
    }
}

impl Sub for Element {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        let difference = FIELD.sub(&FIELD.tight(self.0), &FIELD.tight(other.0));
        Self(FIELD.words(&FIELD.carry(&difference)))
    }
}

impl Add for Element {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self - (Self::new(0) - other)
    }
}

impl Mul for Element {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let [a, b] = [self, other].map(|element| FIELD.product(element.0));
        Self(FIELD.words(&FIELD.mul(&a, &b.into())))
    }
}

impl Div for Element {
    type Output = Self;

    /// # Panics
    ///
    /// The divisor is 0.
    #[allow(clippy::suspicious_arithmetic_impl, reason = "a quotient is a product with an inverse")]
    fn div(self, divisor: Self) -> Self {
        let inverse = FIELD.invert(&FIELD.product(divisor.0));
        self * Self(FIELD.words(&inverse.unwrap_or_else(|| panic!("a division by 0"))))
    }
}
