//! Ranges of double-precision numbers.

use super::dyadic::power_of_two;
use super::interval::Interval;
use super::splits::{self, Limit};

/// A range of doubles: from `low` to `high` times 2^`exponent`, and all of them multiples of
/// 2^`exponent`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Real {
    pub(crate) low: i128,
    pub(crate) high: i128,
    pub(crate) exponent: i32,
    /// The name of this value. Copies have the same name.
    name: u64,
    /// How the value was rounded on purpose.
    rounded: Option<Rounded>,
}

/// A value that is another one, rounded to a multiple of a step, plus a constant.
#[derive(Clone, Copy, Debug)]
struct Rounded {
    /// The name of the other value.
    of: u64,
    /// The logarithm of the step.
    step: i32,
    /// The constant, as a bit pattern. It is a multiple of the step.
    plus: u64,
}

/// Returns a mantissa and an exponent of a finite number. The number is the mantissa times
/// 2^exponent, and its last place is worth 2^exponent.
fn parts(number: f64) -> (i128, i32) {
    assert!(number.is_finite());
    let bits = number.to_bits();
    let (field, fraction) = ((bits >> 52 & 0x7ff) as i32, i128::from(bits & ((1 << 52) - 1)));
    let mantissa = if field == 0 { fraction } else { fraction | 1 << 52 };
    (if number < 0.0 { -mantissa } else { mantissa }, field.max(1) - 1075)
}

/// Returns `number` times 2^`by`, which must have less than 127 bits.
fn scaled(number: i128, by: i32) -> i128 {
    let bits = 128 - number.unsigned_abs().leading_zeros();
    assert!(number == 0 || by >= 0 && bits.cast_signed() + by < 127, "{number} times 2^{by} is too long");
    if number == 0 { 0 } else { number << by }
}

/// Returns number / 2^`by`, rounded to the nearest integer, halves to even.
fn nearest(number: i128, by: u32) -> i128 {
    let (whole, rest, half) = (number >> by, number & ((1 << by) - 1), 1 << by >> 1);
    whole + i128::from(by > 0 && (rest > half || rest == half && whole & 1 == 1))
}

impl Real {
    fn new(low: i128, high: i128, exponent: i32) -> Self {
        assert!(low <= high, "an empty range: {low} to {high}");
        Self { low, high, exponent, name: splits::new_name(), rounded: None }
    }

    /// Returns the range of the integers from `low` to `high`.
    pub(crate) fn integers(low: i128, high: i128) -> Self {
        Self::new(low, high, 0).checked()
    }

    /// Returns the range of one number.
    pub(crate) fn constant(number: f64) -> Self {
        let (mantissa, exponent) = if number == 0.0 { (0, 0) } else { parts(number) };
        let zeros = if mantissa == 0 { 0 } else { mantissa.trailing_zeros() };
        Self::new(mantissa >> zeros, mantissa >> zeros, exponent + zeros.cast_signed())
    }

    /// Returns the number, if the range has only one.
    pub(crate) fn single(&self) -> Option<f64> {
        (self.low == self.high).then(|| self.ends()[0])
    }

    /// Returns the numbers at both ends. Both are doubles.
    pub(crate) fn ends(&self) -> [f64; 2] {
        [self.low, self.high].map(|end| end as f64 * power_of_two(self.exponent.into()))
    }

    /// Returns the doubles with these bit patterns, which must be those of positive numbers.
    #[inline(never)]
    pub(crate) fn of_patterns(patterns: &Interval) -> Self {
        let patterns = patterns.unsigned().unwrap_or_else(|| panic!("patterns pass 2^64: {patterns:?}"));
        assert!(!patterns.is_cut, "a number with a pattern that was cut");
        let [low, high] = [patterns.low, patterns.high].map(|bits| f64::from_bits(bits as u64));
        if low == high {
            return Self::constant(low);
        }
        assert!(low > 0.0 && high.is_finite(), "patterns of {low} to {high}");
        // All numbers are multiples of the last place of the smallest.
        let ((low, step), (high, larger_step)) = (parts(low), parts(high));
        Self::new(low, scaled(high, larger_step - step), step)
    }

    /// Returns the bit patterns of the numbers.
    #[inline(never)]
    pub(crate) fn patterns(&self) -> Interval {
        let [low, high] = self.ends();
        if low == high {
            return Interval::new(low.to_bits().into(), low.to_bits().into());
        }
        if low < 0.0 {
            // These are not in the order of the numbers. They can be stored, but not computed with.
            return Interval {
                is_cut: true,
                patterns: Some([low.to_bits(), high.to_bits()]),
                ..Interval::any()
            };
        }
        Interval::new(low.to_bits().into(), high.to_bits().into())
    }

    fn with_exponent(self, exponent: i32) -> Self {
        let [low, high] = [self.low, self.high].map(|end| scaled(end, self.exponent - exponent));
        Self { low, high, exponent, ..self }
    }

    /// Checks that every number of the range is a double.
    fn checked(self) -> Self {
        let most = self.low.unsigned_abs().max(self.high.unsigned_abs());
        assert!(most <= 1 << 53, "a sum or a product is rounded: {self:?}");
        if self.low != self.high {
            splits::reached(Limit::Integer, most as f64);
        }
        self
    }

    /// Returns the sums, which may need more bits than doubles have.
    fn exact_sum(self, other: Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let (a, b) = (self.with_exponent(exponent), other.with_exponent(exponent));
        Self::new(a.low + b.low, a.high + b.high, exponent)
    }

    fn exact_product(self, other: Self) -> Self {
        let products = [self.low, self.high].map(|a| {
            [other.low, other.high]
                .map(|b| a.checked_mul(b).unwrap_or_else(|| panic!("a product of {a} and {b}")))
        });
        let products = products.as_flattened();
        let (low, high) = (products.iter().min().unwrap(), products.iter().max().unwrap());
        Self::new(*low, *high, self.exponent + other.exponent)
    }

    /// Returns the range, rounded to doubles. Unless all sums are exact, they must be in one
    /// binade, so that all are rounded to multiples of the same step.
    fn rounded(self) -> Self {
        if self.low.unsigned_abs().max(self.high.unsigned_abs()) <= 1 << 53 {
            return self;
        }
        assert!(
            self.low > 0 && self.low.leading_zeros() == self.high.leading_zeros(),
            "two binades: {self:?}"
        );
        let by = 128 - self.low.leading_zeros() - 53;
        let [low, high] = [self.low, self.high].map(|end| nearest(end, by));
        assert!(high < 1 << 53, "rounded up to the next binade: {self:?}");
        Self::new(low, high, self.exponent + by.cast_signed())
    }

    /// Returns a + b. Only the sum with a constant may be rounded.
    #[inline(never)]
    pub(crate) fn plus(self, other: Self) -> Self {
        let sum = self.exact_sum(other).rounded();
        if sum.exponent <= self.exponent.min(other.exponent) {
            return sum.checked();
        }
        let constant = other.single().unwrap_or_else(|| panic!("rounded: {self:?} + {other:?}"));
        let rounded = Rounded { of: self.name, step: sum.exponent, plus: constant.to_bits() };
        assert!(other.exponent >= sum.exponent, "{constant} is no multiple of the step");
        Self { rounded: Some(rounded), ..sum }
    }

    /// Returns a - b, which must be exact.
    #[inline(never)]
    pub(crate) fn minus(self, other: Self) -> Self {
        let negative = Self { low: -other.high, high: -other.low, ..other };
        let mut difference = self.exact_sum(negative);
        match (self.rounded, other.rounded) {
            // The constant goes, and what is left is the other value, rounded.
            (Some(rounded), _) if other.single().map(f64::to_bits) == Some(rounded.plus) => {
                difference.rounded = Some(Rounded { plus: 0, ..rounded });
            }
            // A value minus itself, rounded: at most half a step.
            (_, Some(rounded)) if rounded.of == self.name && rounded.plus == 0 => {
                let half = scaled(1, rounded.step - difference.exponent) / 2;
                (difference.low, difference.high) = (difference.low.max(-half), difference.high.min(half));
            }
            _ => {}
        }
        difference.checked()
    }

    /// Returns a b + c, which must be exact.
    #[inline(never)]
    pub(crate) fn fma(self, b: Self, c: Self) -> Self {
        self.exact_product(b).exact_sum(c).checked()
    }

    /// Returns the numbers l and h of [`Doubles::accumulate`](ed25519_batch::simd::Doubles::accumulate).
    ///
    /// As ranges, a b and h = a b + `high`, rounded, would lose what they have in common. So this
    /// states the theorem of the split, which Gappa proves for the largest ranges (`proof/field/ranges/split.g`):
    /// h is a b + `high`, rounded in one binade, by at most half its step; the other two operations
    /// are exact; so l is `both` - `high` and at most half a step.
    #[inline(never)]
    pub(crate) fn split(self, b: Self, high: Self, both: Self) -> (Self, Self) {
        let product = self.exact_product(b);
        let h = high.exact_sum(product).rounded();
        let constants = high.single().is_some() && both.single().is_some();
        assert!(constants && h.exponent > product.exponent, "no split: {h:?}");
        assert!(high.exponent >= h.exponent && both.exponent >= h.exponent, "no multiples of the step");
        both.minus(h);
        let low = both.minus(high).with_exponent(product.exponent);
        let half = scaled(1, h.exponent - product.exponent) / 2;
        let l = Self::new(low.low - half, low.high + half, product.exponent).checked();
        // In one binade the patterns grow with the numbers, one by one.
        let [first, last] = l.ends().map(|end| end.to_bits() >> 52);
        assert!(first == last && l.low > 0, "l is in two binades: {l:?}");
        (l, h)
    }
}
