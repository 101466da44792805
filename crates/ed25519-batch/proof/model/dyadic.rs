//! Numbers m 2^e with integers m and e: exact, and closed under sums, products and halving.

use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

use num_bigint::BigInt;

/// Returns 2^`exponent`, which must be a normal double. `powi` need not be exact.
pub(crate) fn power_of_two(exponent: i64) -> f64 {
    assert!((-1022..=1023).contains(&exponent), "2^{exponent}");
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// The number `odd` 2^`exponent`. `odd` is odd, or both are 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Dyadic {
    odd: BigInt,
    exponent: i64,
}

impl Dyadic {
    /// Returns `integer` 2^`exponent`.
    pub(crate) fn new(integer: impl Into<BigInt>, exponent: i64) -> Self {
        let integer = integer.into();
        match integer.trailing_zeros() {
            None => Self::default(),
            Some(zeros) => Self { odd: integer >> zeros, exponent: exponent + zeros.cast_signed() },
        }
    }

    /// Returns 2^`exponent`.
    pub(crate) fn power(exponent: i64) -> Self {
        Self::new(1, exponent)
    }

    /// Returns the value of a double, exactly.
    pub(crate) fn of_double(value: f64) -> Self {
        let (bits, sign) = (value.abs().to_bits(), if value < 0.0 { -1 } else { 1 });
        assert!(value == 0.0 || value.is_normal());
        let mantissa = (bits & ((1 << 52) - 1) | u64::from(value != 0.0) << 52).cast_signed();
        Self::new(sign * mantissa, (bits >> 52).cast_signed() - 1075)
    }

    /// Returns the number divided by 2^`exponent`, which must be an integer.
    fn in_units_of(&self, exponent: i64) -> BigInt {
        &self.odd << (self.exponent - exponent)
    }

    /// Returns the double with this value, rounded towards 0.
    pub(crate) fn to_double(&self) -> f64 {
        let extra = self.odd.bits().saturating_sub(53);
        let digits = i64::try_from(self.odd.magnitude() >> extra).unwrap_or_else(|_| unreachable!("53 bits"));
        let sign = if self.odd < BigInt::ZERO { -1.0 } else { 1.0 };
        sign * digits as f64 * power_of_two(self.exponent + extra.cast_signed())
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.odd == BigInt::ZERO
    }

    /// Returns the number times 2^`bits`.
    pub(crate) fn shifted(&self, bits: i64) -> Self {
        if self.is_zero() {
            Self::default()
        } else {
            Self { odd: self.odd.clone(), exponent: self.exponent + bits }
        }
    }

    /// Returns the largest integer that is not above the number.
    pub(crate) fn floor(&self) -> BigInt {
        if self.exponent >= 0 { &self.odd << self.exponent } else { &self.odd >> -self.exponent }
    }

    /// Returns the largest multiple of 2^`bits` that is not above the number.
    pub(crate) fn rounded_down(&self, bits: i64) -> Self {
        Self::new(self.shifted(-bits).floor(), bits)
    }

    /// Returns the smallest multiple of 2^`bits` that is not below the number.
    pub(crate) fn rounded_up(&self, bits: i64) -> Self {
        -&(-self).rounded_down(bits)
    }

    /// Returns the largest integer that is not above the number, modulo 2^64.
    pub(crate) fn as_word(&self) -> u64 {
        (self.floor() & BigInt::from(u64::MAX)).iter_u64_digits().next().unwrap_or(0)
    }

    /// Returns the integer, if the number is one.
    pub(crate) fn integer(&self) -> Option<BigInt> {
        (self.exponent >= 0).then(|| self.floor())
    }

    /// Returns the number of trailing zero bits, which is negative for fractions.
    pub(crate) fn trailing_zeros(&self) -> Option<i64> {
        (!self.is_zero()).then_some(self.exponent)
    }

    /// Returns whether the odd part is a multiple of `divisor`.
    pub(crate) fn is_multiple_of(&self, divisor: &BigInt) -> bool {
        &self.odd % divisor == BigInt::ZERO
    }

    /// Returns the largest e such that 2^e is not above the number, which must be positive.
    pub(crate) fn binade(&self) -> i64 {
        self.exponent + self.odd.bits().cast_signed() - 1
    }
}

impl From<u64> for Dyadic {
    fn from(word: u64) -> Self {
        Self::new(word, 0)
    }
}

impl Add for &Dyadic {
    type Output = Dyadic;

    fn add(self, other: Self) -> Dyadic {
        let exponent = self.exponent.min(other.exponent);
        Dyadic::new(self.in_units_of(exponent) + other.in_units_of(exponent), exponent)
    }
}

impl Neg for &Dyadic {
    type Output = Dyadic;

    fn neg(self) -> Dyadic {
        Dyadic { odd: -&self.odd, exponent: self.exponent }
    }
}

impl Sub for &Dyadic {
    type Output = Dyadic;

    fn sub(self, other: Self) -> Dyadic {
        self + &-other
    }
}

impl Mul for &Dyadic {
    type Output = Dyadic;

    fn mul(self, other: Self) -> Dyadic {
        Dyadic::new(&self.odd * &other.odd, self.exponent + other.exponent)
    }
}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Dyadic {
    fn cmp(&self, other: &Self) -> Ordering {
        (self - other).odd.cmp(&BigInt::ZERO)
    }
}
