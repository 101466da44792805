//! Single elements, always below p, for the few computations whose speed does not matter.

use std::ops::{Add, Mul, Sub};

use super::back_end::Field;
use super::portable::Portable;
use crate::simd::{Scalar, Words as _};

const FIELD: Portable = Portable(Scalar::plain());

/// An element as four little-endian words below p.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element(pub [u64; 4]);

impl Element {
    /// Returns the element `number`.
    pub const fn new(number: u64) -> Self {
        Self([number, 0, 0, 0])
    }

    /// Returns the element in every lane.
    #[inline(always)]
    pub fn in_every_lane<F: Field>(self, field: F) -> F::Tight {
        let (simd, [a, b, c, d]) = (field.simd(), self.0);
        field.tight([simd.splat(a), simd.splat(b), simd.splat(c), simd.splat(d)])
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
        let (a, b) = (FIELD.product(self.0), FIELD.product(other.0));
        Self(FIELD.words(&FIELD.mul(&a, &b.into())))
    }
}
