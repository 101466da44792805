//! Values of words as polynomials, and the axioms that take a word apart.
//!
//! A value stands for one integer (or double) for each choice of the variables. It has a
//! polynomial, which is exact, and a range. A word holds its integer modulo 2^64. Sums,
//! differences, products and shifts to the left need no axiom: they are those of polynomials, and
//! all of them are right modulo 2^64. Everything else rests on these axioms:
//!
//! 1. *Split.* For an integer x and k >= 0 there are integers low and high with x = low + 2^k high
//!    and 0 <= low < 2^k. `x & (2^k - 1)` is low. A right shift by k bits is high, if the word is x
//!    itself and not only x modulo 2^64. low is a new variable, and high is (x - low) / 2^k.
//! 2. *Join.* If 0 <= a < 2^m, then the split of a + 2^m b at k <= m has the low part of a, and at
//!    k > m it has a + 2^m times the low part of b at k - m. `a | 2^m b` and `a ^ 2^m b` are this
//!    sum.
//! 3. *Nesting.* The low k bits of the low n bits of x are the low k bits of x, if k <= n.
//! 4. *Flip.* If 0 <= x < 2^k, then x ^ (2^k - 1) is 2^k - 1 - x. Bits of a flip are flips of bits.
//! 5. *Rounding.* A double of the binade from 2^e to 2^(e+1) is a multiple of 2^(e-52). Rounding x
//!    to it gives x - rest, where rest is a new variable from -2^(e-53) to 2^(e-53). An x that fits
//!    a double is not changed.
//! 6. *Bit pattern.* In the binade from 2^e to 2^(e+1), ends included, the bit pattern of x is that
//!    of 2^e, plus (x - 2^e) / 2^(e-52).
//!
//! The same split of the same polynomial gives the same variable. Where an axiom needs a range, the
//! range is asserted. No axiom depends on the width, apart from the numbers 64 and 52 themselves.

use super::dyadic::{Dyadic, power_of_two};
use super::polynomial::Polynomial;
use super::value::{Form, Value};
use super::variables::{
    Origin, Split, is_bit, known_low, known_rest, low_of, note, product_of, range_of, variable,
};

/// The number of bits of a word.
pub(super) const WORD: i64 = 64;

/// The number of bits of the mantissa of a double, without the leading one.
const MANTISSA: i64 = 52;

/// The numbers of trailing zeros of 0.
const MANY: i64 = 1 << 20;

impl Value {
    /// Makes a value of a polynomial. The range is `range` or that of the polynomial, whichever is
    /// smaller at each end.
    fn new(polynomial: Polynomial, range: (Dyadic, Dyadic), zeros: i64) -> Self {
        let (least, most) = range_of(&polynomial);
        let (least, most) = (least.max(range.0), most.min(range.1));
        let range = (least.rounded_up(zeros), most.rounded_down(zeros));
        assert!(range.0 <= range.1, "{range:?}");
        Self { polynomial, range, zeros, form: Form::Plain }
    }

    fn variable(origin: Origin, range: (Dyadic, Dyadic)) -> Self {
        Self::new(Polynomial::variable(variable(origin, &range)), range, 0)
    }

    /// Returns a new variable with this range.
    pub(crate) fn fresh(least: impl Into<Dyadic>, most: impl Into<Dyadic>) -> Self {
        Self::variable(Origin::Given, (least.into(), most.into()))
    }

    pub(crate) fn constant(value: Dyadic) -> Self {
        let zeros = value.trailing_zeros().unwrap_or(MANY);
        let range = (value.clone(), value.clone());
        Self { polynomial: Polynomial::constant(value), range, zeros, form: Form::Plain }
    }

    pub(crate) fn word(value: u64) -> Self {
        Self::constant(value.into())
    }

    pub(super) fn as_constant(&self) -> Option<Dyadic> {
        self.polynomial.value()
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        let range = (&self.range.0 + &other.range.0, &self.range.1 + &other.range.1);
        Self::new(&self.polynomial + &other.polynomial, range, self.zeros.min(other.zeros))
    }

    pub(crate) fn minus(&self, other: &Self) -> Self {
        let range = (&self.range.0 - &other.range.1, &self.range.1 - &other.range.0);
        Self::new(&self.polynomial - &other.polynomial, range, self.zeros.min(other.zeros))
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        let polynomial = self.polynomial.times(&other.polynomial, is_bit);
        for (one, factor) in [(self, other), (other, self)] {
            // A product by 2^n is a shift.
            if let Some(constant) = factor.as_constant()
                && let Some(bits) = constant.trailing_zeros()
                && constant == Dyadic::power(bits)
            {
                return one.shifted(bits);
            }
        }
        Self::new(polynomial, product_of(&self.range, &other.range), (self.zeros + other.zeros).min(MANY))
    }

    /// Returns the value times 2^`bits`.
    pub(crate) fn shifted(&self, bits: i64) -> Self {
        let range = (self.range.0.shifted(bits), self.range.1.shifted(bits));
        let mut value = Self::new(self.polynomial.shifted(bits), range, (self.zeros + bits).min(MANY));
        if bits > 0 {
            value.form = Form::Join(Self::word(0).into(), bits, self.clone().into());
        }
        value
    }

    fn is_within(&self, least: &Dyadic, most: &Dyadic) -> bool {
        *least <= self.range.0 && self.range.1 <= *most
    }

    /// Returns the value of a word that is not negative.
    pub(crate) fn as_unsigned(&self) -> Self {
        let word = self.as_word();
        if word.range.1 < Dyadic::default() { word.plus(&Self::constant(Dyadic::power(WORD))) } else { word }
    }

    /// Returns whether every value is an integer of `bits` bits, not negative.
    pub(crate) fn fits(&self, bits: i64) -> bool {
        self.zeros >= 0 && self.is_within(&Dyadic::default(), &(&Dyadic::power(bits) - &Dyadic::power(0)))
    }

    /// Joins two values (axiom 2): returns `self` + 2^`at` `above`.
    fn join(&self, at: i64, above: &Self) -> Self {
        assert!(self.fits(at), "{:?} is not below 2^{at}", self.range);
        let mut value = self.plus(&above.shifted(at));
        value.form = Form::Join(self.clone().into(), at, above.clone().into());
        value
    }

    /// Returns `self | other` and `self ^ other`, if no bit is in both (axiom 2).
    pub(crate) fn or(&self, other: &Self) -> Option<Self> {
        for (one, other) in [(self, other), (other, self)] {
            if one.as_constant().is_some_and(|value| value.is_zero()) {
                return Some(other.clone());
            }
        }
        for (low, high) in [(self, other), (other, self)] {
            if let Form::Join(zero, at, above) = &high.form
                && zero.as_constant().is_some_and(|zero| zero.is_zero())
                && low.fits(*at)
            {
                return Some(low.join(*at, above));
            }
            if high.zeros > 0 && low.fits(high.zeros) {
                return Some(low.join(high.zeros, &high.shifted(-high.zeros)));
            }
        }
        None
    }

    /// Returns `self ^ (2^bits - 1)` if `choice` is 1, and `self` if it is 0 (axiom 4).
    pub(super) fn flipped_if(&self, choice: &Self, bits: i64) -> Self {
        assert!(self.fits(bits) && choice.fits(1), "{:?}", self.range);
        let ones = Self::constant(&Dyadic::power(bits) - &Dyadic::power(0));
        let mut value = self.plus(&choice.times(&ones.minus(&self.shifted(1))));
        value.range = (Dyadic::default(), ones.range.1);
        value.form = Form::Flip(self.clone().into(), choice.clone().into(), bits);
        value
    }

    /// Returns a value that is the same modulo 2^64: from -2^63 to 2^63 - 1 or else from 0 to
    /// 2^64 - 1. `None` if the range does not say that the integer does not wrap there.
    fn if_word(&self) -> Option<Self> {
        if self.fits(WORD - 1) {
            return Some(self.clone());
        }
        if let Form::Join(low, at, above) = &self.form {
            return Some(low.join(*at, &above.low(WORD - at)));
        }
        let half = Dyadic::power(WORD - 1);
        for (start, most) in [(-&half, half), (Dyadic::default(), Dyadic::power(WORD))] {
            let wraps = Self::constant(Dyadic::new((&self.range.0 - &start).shifted(-WORD).floor(), WORD));
            if &self.range.1 - &wraps.range.1 < most {
                return Some(if wraps.range.1.is_zero() { self.clone() } else { self.minus(&wraps) });
            }
        }
        None
    }

    /// Does the same. Panics if the range does not say that the integer does not wrap.
    pub(crate) fn as_word(&self) -> Self {
        self.if_word().unwrap_or_else(|| {
            panic!("a word may wrap: from {:?} to {:?}", self.range.0.floor(), self.range.1.floor())
        })
    }

    /// Returns the low `bits` bits of a word, which do not depend on whether the integer wraps.
    pub(super) fn low_of_word(&self, bits: i64) -> Self {
        self.if_word().as_ref().unwrap_or(self).low(bits)
    }

    /// Returns the low `bits` bits (axioms 1 to 4).
    pub(crate) fn low(&self, bits: i64) -> Self {
        assert!(self.zeros >= 0, "a fraction has no bits");
        match &self.form {
            _ if bits <= 0 => return Self::word(0),
            Form::Join(low, at, _) if bits <= *at => return low.low(bits),
            Form::Join(low, at, above) => return low.join(*at, &above.low(bits - at)),
            Form::Flip(of, choice, all) => {
                return of.low(bits).flipped_if(choice, bits.min(*all));
            }
            Form::Plain => {}
        }
        let [first, last] = [&self.range.0, &self.range.1].map(|end| end.shifted(-bits).floor());
        if first == last {
            return self.minus(&Self::constant(Dyadic::new(first, bits)));
        }
        if self.zeros > 0 {
            return self.shifted(-self.zeros).low(bits - self.zeros).shifted(self.zeros);
        }
        if let Some((whole, of)) = self.polynomial.as_variable().and_then(low_of)
            && bits <= of
        {
            return whole.low(bits);
        }
        if let Some(low) = known_low(&self.polynomial, bits) {
            return low;
        }
        let most = &Dyadic::power(bits) - &Dyadic::power(0);
        let range = (Dyadic::default(), most);
        let low = Self::variable(Origin::Low(self.clone(), bits), range);
        note(&self.polynomial, bits, Split { low: low.clone(), high: self.above(&low, bits) });
        low
    }

    /// Returns (`self` - `low`) / 2^`bits`.
    fn above(&self, low: &Self, bits: i64) -> Self {
        let ends = [&self.range.0, &self.range.1].map(|end| Dyadic::new(end.shifted(-bits).floor(), 0));
        let polynomial = (&self.polynomial - &low.polynomial).shifted(-bits);
        let [least, most] = ends;
        Self::new(polynomial, (least, most), 0)
    }

    /// Returns the part above the low `bits` bits (axioms 1 and 2). The integer itself counts: see
    /// [`Self::as_word`] for that of a word.
    pub(crate) fn high(&self, bits: i64) -> Self {
        assert!(self.zeros >= 0, "a fraction has no bits");
        match &self.form {
            _ if bits == 0 => self.clone(),
            Form::Join(low, at, above) if bits < *at => low.high(bits).join(at - bits, above),
            Form::Join(_, at, above) => above.high(bits - at),
            Form::Flip(of, choice, all) if bits < *all => of.high(bits).flipped_if(choice, all - bits),
            Form::Flip(..) | Form::Plain => self.above(&self.low(bits), bits),
        }
    }

    /// Returns the exponent of the binade that holds all values, ends included.
    fn binade(&self) -> i64 {
        let exponent = self.range.0.binade();
        assert!(
            self.has_pattern(),
            "no single binade from {:e} to {:e}",
            self.range.0.to_double(),
            self.range.1.to_double()
        );
        exponent
    }

    /// Returns whether all values are in one binade.
    pub(super) fn has_pattern(&self) -> bool {
        self.range.0 > Dyadic::default() && self.range.1 <= Dyadic::power(self.range.0.binade() + 1)
    }

    /// Returns the least and the largest value as they are stored: as words, or as the bit patterns
    /// of doubles.
    pub(super) fn as_shown(&self, is_double: bool) -> (u64, u64) {
        let value = if is_double { self.clone() } else { self.as_word() };
        let shown = |end: &Dyadic| {
            if is_double { end.to_double().to_bits() } else { end.as_word() }
        };
        (shown(&value.range.0), shown(&value.range.1))
    }

    /// Returns the nearest double (axiom 5).
    pub(super) fn rounded(&self) -> Self {
        let most = Dyadic::power(self.zeros.saturating_add(MANTISSA + 1));
        if self.is_within(&-&most, &most) {
            return self.clone();
        }
        let unit = self.binade() - MANTISSA;
        assert!(self.zeros >= 0, "every variable is an integer");
        let half = Dyadic::power(unit - 1);
        let rest = known_rest(&self.polynomial, unit)
            .unwrap_or_else(|| variable(Origin::Rest(self.clone(), unit), &(-&half, half.clone())));
        let range = ((&self.range.0 - &half).rounded_up(unit), (&self.range.1 + &half).rounded_down(unit));
        Self::new(&self.polynomial - &Polynomial::variable(rest), range, unit)
    }

    /// Returns the bit pattern of a double (axiom 6).
    pub(super) fn pattern(&self) -> Self {
        let exponent = self.binade();
        assert!(self.zeros >= exponent - MANTISSA, "a double has 53 bits");
        let first = Self::word(power_of_two(exponent).to_bits());
        self.minus(&Self::constant(Dyadic::power(exponent))).scaled(MANTISSA - exponent).plus(&first)
    }

    /// Returns the double with this bit pattern (axiom 6).
    pub(super) fn double(&self) -> Self {
        let word = self.as_unsigned();
        let [least, most] = [&word.range.0, &word.range.1].map(|end| {
            f64::from_bits(u64::try_from(end.floor()).unwrap_or_else(|_| panic!("a negative pattern")))
        });
        if let Some(value) = word.as_constant() {
            assert_eq!(value, Dyadic::from(least.to_bits()));
            return Self::constant(Dyadic::of_double(least));
        }
        let exponent = Dyadic::of_double(least).binade();
        assert!(Dyadic::of_double(most) <= Dyadic::power(exponent + 1), "patterns of several binades");
        let first = Self::word(power_of_two(exponent).to_bits());
        word.minus(&first).scaled(exponent - MANTISSA).plus(&Self::constant(Dyadic::power(exponent)))
    }

    /// Returns the value times 2^`bits`, without what is known of its bits.
    fn scaled(&self, bits: i64) -> Self {
        Self { form: Form::Plain, ..self.shifted(bits) }
    }
}
