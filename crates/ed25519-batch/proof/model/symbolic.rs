//! The instruction set whose words are polynomials.
//!
//! A vector has two lanes, which hold the same polynomial. A word that is stored shows the least
//! value in the first lane and the largest in the second, so that assertions of production code
//! about ranges test both.

use std::cell::RefCell;

use super::axioms::WORD;
use super::dyadic::Dyadic;
use super::value::Value;
use super::variables;
use ed25519_batch::simd::CacheLine;
use ed25519_batch::simd::{Doubles, Madd52, Wide, Words};

/// The instruction set. `SIGNED_CARRY` is that of [`Madd52`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symbolic<const SIGNED_CARRY: bool>;

/// A vector of words: the number of a [`Value`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word(u32);

/// A vector of doubles: the number of a [`Value`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number(u32);

thread_local! {
    static VALUES: RefCell<Vec<Value>> = RefCell::default();
}

#[inline(never)]
fn put(value: Value) -> u32 {
    VALUES.with_borrow_mut(|values| {
        values.push(value);
        values.len() as u32 - 1
    })
}

#[inline(never)]
fn get(number: u32) -> Value {
    VALUES.with_borrow(|values| values[number as usize].clone())
}

/// Forgets all variables and values. Words and numbers from before must not be used again.
pub(crate) fn forget() {
    VALUES.take();
    variables::forget();
}

impl Word {
    /// Makes a word that holds a value.
    pub(crate) fn of(value: Value) -> Self {
        Self(put(value))
    }

    /// Returns the value.
    pub(crate) fn value(self) -> Value {
        assert!(self.0 & PATTERN == 0, "the bit pattern of numbers of several binades");
        get(self.0)
    }
}

impl Number {
    /// Makes a number that holds a value.
    pub(crate) fn of(value: Value) -> Self {
        Self(put(value))
    }

    /// Returns the value.
    pub(crate) fn value(self) -> Value {
        get(self.0)
    }
}

/// Marks a word that is the bit pattern of numbers of several binades. It can only be stored.
const PATTERN: u32 = 1 << 31;

/// Returns the mask's lowest bit and the bit after its highest, for one run of bits.
fn run_of_ones(mask: u64) -> (i64, i64) {
    let from = mask.trailing_zeros();
    let to = from + (mask >> from).trailing_ones();
    assert!(mask.unbounded_shr(to) == 0, "the mask {mask:x} has several runs");
    (i64::from(from), i64::from(to))
}

/// Returns the word that holds a constant.
fn word(value: &Value) -> Option<u64> {
    value.as_constant().map(|value| value.as_word())
}

#[inline(never)]
fn masked(value: &Value, mask: u64) -> Value {
    if mask == 0 {
        return Value::word(0);
    }
    let (from, to) = run_of_ones(mask);
    value.low_of_word(to).high(from).shifted(from)
}

#[inline(never)]
fn exclusive(a: &Value, b: &Value) -> Value {
    let (a, b) = (a.as_unsigned(), b.as_unsigned());
    for (one, other) in [(&a, &b), (&b, &a)] {
        if word(other) == Some(0) {
            return one.clone();
        }
        if let Some(mask) = word(other).filter(|mask| mask & mask.wrapping_add(1) == 0)
            && one.fits(i64::from(mask.trailing_ones()))
        {
            return one.flipped_if(&Value::word(1), i64::from(mask.trailing_ones()));
        }
        // 0 - c, with c = 0 or 1, has no bit or all of them.
        let negative = Value::word(0).minus(&other.as_word());
        if negative.fits(1) {
            return one.flipped_if(&negative, WORD);
        }
    }
    a.or(&b).unwrap_or_else(|| panic!("an exclusive or of unknown words"))
}

impl<const SIGNED_CARRY: bool> Words for Symbolic<SIGNED_CARRY> {
    const LANES: usize = 2;
    type Word = Word;

    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }

    fn splat(self, word: u64) -> Word {
        Word::of(Value::word(word))
    }

    fn load(self, words: &[u64]) -> Word {
        assert_eq!(words[0], words[1]);
        self.splat(words[0])
    }

    fn store(self, a: Word, words: &mut [u64]) {
        let (least, most) = get(a.0 & !PATTERN).as_shown(a.0 & PATTERN != 0);
        (words[0], words[1]) = (least, most);
    }

    fn load_u32(self, halves: &[u32]) -> Word {
        self.load(&[halves[0].into(), halves[1].into()])
    }

    fn store_u32(self, a: Word, halves: &mut [u32]) {
        let mut words = [0; 2];
        self.store(a, &mut words);
        (halves[0], halves[1]) = (words[0] as u32, words[1] as u32);
    }

    fn transpose<'a>(self, row: impl Fn(usize) -> &'a CacheLine) -> [Word; 8] {
        std::array::from_fn(|at| self.load(&[row(0).0[at], row(1).0[at]]))
    }

    fn transpose_bytes<'a>(self, row: impl Fn(usize) -> &'a [u8; 32]) -> [Word; 4] {
        let word = |lane: usize, at: usize| u64::from_le_bytes(row(lane).as_chunks().0[at]);
        std::array::from_fn(|at| self.load(&[word(0, at), word(1, at)]))
    }

    fn add(self, a: Word, b: Word) -> Word {
        Word::of(a.value().plus(&b.value()))
    }

    fn sub(self, a: Word, b: Word) -> Word {
        Word::of(a.value().minus(&b.value()))
    }

    fn and(self, a: Word, b: Word) -> Word {
        let (a, b) = (a.value(), b.value());
        let known = word(&b).map(|mask| (&a, mask)).or_else(|| Some((&b, word(&a)?)));
        let (value, mask) = known.unwrap_or_else(|| panic!("a mask that is not constant"));
        Word::of(masked(value, mask))
    }

    fn or(self, a: Word, b: Word) -> Word {
        let or = a.value().or(&b.value());
        Word::of(or.unwrap_or_else(|| panic!("words with common bits")))
    }

    fn xor(self, a: Word, b: Word) -> Word {
        Word::of(exclusive(&a.value(), &b.value()))
    }

    fn xor_where_odd(self, a: Word, choice: Word, mask: u64) -> Word {
        let (from, to) = run_of_ones(mask);
        assert_eq!(from, 0);
        Word::of(a.value().as_unsigned().flipped_if(&choice.value().as_word().low(1), to))
    }

    fn shl<const N: u32>(self, a: Word) -> Word {
        self.shl_by(a, N)
    }

    fn shr<const N: u32>(self, a: Word) -> Word {
        self.shr_by(a, N)
    }

    fn shl_by(self, a: Word, bits: u32) -> Word {
        if i64::from(bits) < WORD { Word::of(a.value().shifted(bits.into())) } else { self.splat(0) }
    }

    fn shr_by(self, a: Word, bits: u32) -> Word {
        let value = a.value().as_unsigned();
        assert!(value.fits(WORD), "a shift of a word that may be negative");
        Word::of(value.high(bits.into()))
    }

    fn swap_bytes(self, a: Word) -> Word {
        let word = word(&a.value()).unwrap_or_else(|| panic!("the bytes of a word that is not constant"));
        self.splat(word.swap_bytes())
    }

    fn opaque(self, a: Word) -> Word {
        a
    }
}

impl<const SIGNED_CARRY: bool> Doubles for Symbolic<SIGNED_CARRY> {
    type Double = Number;

    fn double(self, bits: Word) -> Number {
        Number::of(bits.value().double())
    }

    fn bits(self, a: Number) -> Word {
        let value = a.value();
        if value.has_pattern() { Word::of(value.pattern()) } else { Word(a.0 | PATTERN) }
    }

    fn minus(self, a: Number, b: Number) -> Number {
        Number::of(a.value().minus(&b.value()).rounded())
    }

    fn plus(self, a: Number, b: Number) -> Number {
        Number::of(a.value().plus(&b.value()).rounded())
    }

    fn fma(self, a: Number, b: Number, c: Number) -> Number {
        Number::of(a.value().times(&b.value()).plus(&c.value()).rounded())
    }

    fn accumulate(
        self,
        sums: (Word, Word),
        a: Number,
        b: &Number,
        high: Number,
        both: Number,
    ) -> (Word, Word) {
        let h = self.fma(a, *b, high);
        let l = self.fma(a, *b, self.minus(both, h));
        (self.add(sums.0, self.bits(l)), self.add(sums.1, self.bits(h)))
    }
}

/// The number of bits of a factor of [`Madd52`].
const FACTOR: i64 = 52;

#[inline(never)]
fn product(a: Word, b: Word) -> Value {
    a.value().as_word().low(FACTOR).times(&b.value().as_word().low(FACTOR))
}

impl<const SIGNED: bool> Madd52 for Symbolic<SIGNED> {
    const SIGNED_CARRY: bool = SIGNED;

    fn madd52lo(self, sum: Word, a: Word, b: Word) -> Word {
        Word::of(sum.value().plus(&product(a, b).low(FACTOR)))
    }

    fn madd52hi(self, sum: Word, a: Word, b: Word) -> Word {
        Word::of(sum.value().plus(&product(a, b).high(FACTOR)))
    }

    fn carry(self, a: Word) -> Word {
        let value = a.value().as_word();
        assert!(SIGNED || value.fits(WORD), "a carry that may be negative");
        assert!(value.range.1 < Dyadic::power(WORD - 1), "a carry of a word that is partly negative");
        Word::of(value.high(FACTOR))
    }
}

/// Numbers of 128 bits are values, too. Sums and products must fit.
impl<const SIGNED_CARRY: bool> Wide for Symbolic<SIGNED_CARRY> {
    type Wide = Number;

    fn times(self, a: Word, factor: u64) -> Word {
        let product = a.value().as_unsigned().times(&Value::word(factor));
        assert!(product.fits(WORD), "a product that does not fit");
        Word::of(product)
    }

    fn wide_product(self, a: Word, b: Word) -> Number {
        Number::of(a.value().as_unsigned().times(&b.value().as_unsigned()))
    }

    fn wide_add(self, a: Number, b: Number) -> Number {
        let sum = a.value().plus(&b.value());
        assert!(sum.fits(2 * WORD), "a sum that does not fit");
        Number::of(sum)
    }

    fn widen(self, a: Word) -> Number {
        Number::of(a.value().as_unsigned())
    }

    fn narrow(self, a: Number) -> Word {
        Word::of(a.value())
    }

    fn wide_shr<const N: u32>(self, a: Number) -> Number {
        assert!(a.value().fits(2 * WORD), "a number of 128 bits");
        Number::of(a.value().high(N.into()))
    }
}
