//! The instruction set whose words and doubles are ranges.

use super::interval::Interval;
use super::real::Real;
use super::splits::{self, Limit};
use ed25519_batch::simd::{CacheLine, Doubles, Madd52, Wide, Words};

/// What a sum or a difference of words may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sums {
    /// An integer of 64 bits, with or without a sign.
    Checked,
    /// Any integer. But when its bits count, the range must not pass a multiple of 2^64. The sums
    /// of bit patterns in the back end for floating point are such sums.
    Modular,
    /// Any word, and `or` takes any words. The sums of a hash are such sums.
    Wrapping,
}

/// The instruction set. It has two lanes: what it stores is the two ends of a range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranges<const SIGNED_CARRY: bool = true>(pub(crate) Sums);

/// A range of numbers of 128 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WideInterval {
    pub(crate) low: u128,
    pub(crate) high: u128,
    name: u64,
}

impl<const SIGNED_CARRY: bool> Ranges<SIGNED_CARRY> {
    /// Returns a sum, a difference or a product.
    #[inline(never)]
    fn integer(self, operands: [&Interval; 2], low: i128, high: i128) -> Interval {
        assert!(operands.iter().all(|operand| !operand.is_cut), "a word that was cut: {operands:?}");
        let result = Interval::new(low, high);
        match self.0 {
            Sums::Checked => {
                assert!(result.fits(), "{operands:?} give {low} to {high}");
                if low < high {
                    splits::reached(Limit::Word, low.unsigned_abs().max(high.unsigned_abs()) as f64);
                }
                result
            }
            Sums::Modular => result,
            Sums::Wrapping => result.unsigned().unwrap_or_else(Interval::any),
        }
    }

    /// Returns the range as integers from 0 to 2^64 - 1.
    fn unsigned(self, a: Interval) -> Interval {
        a.unsigned().unwrap_or_else(|| panic!("a word that passes 2^64 or is negative: {a:?}"))
    }

    /// Notes that the bits of `a` below `bit` are taken.
    fn take_low(self, a: &Interval, bit: u32) {
        if bit < 64 {
            splits::low(a.name, bit, a.is_cut || a.largest() >> bit > 0);
        }
    }

    /// Returns the factor that a 52-bit product takes from a word, and notes that the upper bits
    /// are left out.
    fn factor(self, a: Interval) -> [u128; 2] {
        self.take_low(&a, 52);
        if a.is_cut || a.largest() >> 52 > 0 {
            return [0, (1 << 52) - 1];
        }
        let a = self.unsigned(a);
        [a.low as u128, a.high as u128]
    }
}

/// Returns whether a range is one power of two, and its logarithm.
fn power_of_two(a: &Interval) -> Option<u32> {
    let number = u64::try_from(a.low).ok()?;
    (a.low == a.high && number.is_power_of_two()).then(|| number.trailing_zeros())
}

impl<const SIGNED_CARRY: bool> Words for Ranges<SIGNED_CARRY> {
    const LANES: usize = 2;
    type Word = Interval;

    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }

    /// The upper half of the constants are negative numbers.
    fn splat(self, word: u64) -> Interval {
        let number = if self.0 == Sums::Checked { word.cast_signed().into() } else { word.into() };
        Interval::new(number, number)
    }

    fn load(self, words: &[u64]) -> Interval {
        self.splat(words[0]).hull(self.splat(words[1]))
    }

    fn store(self, a: Interval, words: &mut [u64]) {
        words[..2].copy_from_slice(&a.ends());
    }

    fn load_u32(self, halves: &[u32]) -> Interval {
        self.load(&[halves[0].into(), halves[1].into()])
    }

    fn store_u32(self, a: Interval, halves: &mut [u32]) {
        let a = self.unsigned(a);
        assert!(a.high < 1 << 32, "more than 32 bits: {a:?}");
        (halves[0], halves[1]) = (a.low as u32, a.high as u32);
    }

    fn transpose<'a>(self, row: impl Fn(usize) -> &'a CacheLine) -> [Interval; 8] {
        std::array::from_fn(|at| self.load(&[row(0).0[at], row(1).0[at]]))
    }

    /// The rows are not read: every word of the result may be any word.
    fn transpose_bytes<'a>(self, _: impl Fn(usize) -> &'a [u8; 32]) -> [Interval; 4] {
        [(); 4].map(|()| Interval::any())
    }

    #[inline(never)]
    fn add(self, a: Interval, b: Interval) -> Interval {
        self.integer([&a, &b], a.low + b.low, a.high + b.high)
    }

    #[inline(never)]
    fn sub(self, a: Interval, b: Interval) -> Interval {
        self.integer([&a, &b], a.low - b.high, a.high - b.low)
    }

    #[inline(never)]
    fn and(self, a: Interval, b: Interval) -> Interval {
        for (word, mask) in [(&a, &b), (&b, &a)] {
            if mask.low == mask.high && mask.bits().1.leading_ones() == 0 {
                self.take_low(word, 64 - mask.bits().1.leading_zeros());
            }
        }
        let ((a_zeros, a_ones), (b_zeros, b_ones)) = (a.bits(), b.bits());
        let bits = Interval::of_bits(a_zeros | b_zeros, a_ones & b_ones);
        // The result is not above either operand.
        Interval { high: bits.high.min(a.largest().min(b.largest()).into()), ..bits }
    }

    /// The operands must not have a bit in common, unless sums wrap.
    #[inline(never)]
    fn or(self, a: Interval, b: Interval) -> Interval {
        let ((a_zeros, a_ones), (b_zeros, b_ones)) = (a.bits(), b.bits());
        assert!(
            self.0 == Sums::Wrapping || a_zeros | b_zeros == u64::MAX,
            "{a:?} and {b:?} have common bits"
        );
        let bits = Interval::of_bits(a_zeros & b_zeros, a_ones | b_ones);
        match (a.unsigned(), b.unsigned()) {
            // Without common bits it is a sum.
            (Some(a), Some(b)) if a_zeros | b_zeros == u64::MAX && !a.is_cut && !b.is_cut => {
                let (low, high) = (bits.low.max(a.low + b.low), bits.high.min(a.high + b.high));
                Interval { low, high, ..bits }
            }
            _ => bits,
        }
    }

    fn xor(self, a: Interval, b: Interval) -> Interval {
        let ((a_zeros, a_ones), (b_zeros, b_ones)) = (a.bits(), b.bits());
        Interval::of_bits(a_zeros & b_zeros | a_ones & b_ones, a_zeros & b_ones | a_ones & b_zeros)
    }

    fn shl<const N: u32>(self, a: Interval) -> Interval {
        self.shl_by(a, N)
    }

    fn shr<const N: u32>(self, a: Interval) -> Interval {
        self.shr_by(a, N)
    }

    /// In sums of patterns a shift is a product. Elsewhere it may cut a word.
    #[inline(never)]
    fn shl_by(self, a: Interval, bits: u32) -> Interval {
        assert!(!a.is_cut, "a shift of a word that was cut");
        if bits >= 64 {
            return Interval { is_cut: true, ..self.splat(0) };
        }
        let (zeros, ones) = a.bits();
        let (zeros, ones) = (!(!zeros << bits), ones << bits);
        if self.0 == Sums::Modular || a.largest() >> (63 - bits) >> 1 == 0 {
            return Interval { zeros, ones, ..Interval::new(a.low << bits, a.high << bits) };
        }
        self.take_low(&a, 64 - bits);
        Interval { is_cut: true, ..Interval::of_bits(zeros, ones) }
    }

    #[inline(never)]
    fn shr_by(self, a: Interval, bits: u32) -> Interval {
        assert!(!a.is_cut, "a shift of a word that was cut");
        let a = self.unsigned(a);
        if bits >= 64 {
            return self.splat(0);
        }
        splits::high(a.name, bits);
        let (zeros, ones) = (!(!a.zeros >> bits), a.ones >> bits);
        let shifted = Interval::new(a.low >> bits, a.high >> bits);
        Interval { zeros: zeros | shifted.zeros, ones: ones | shifted.ones, ..shifted }
    }

    fn rotr<const N: u32>(self, a: Interval) -> Interval {
        assert!((1..64).contains(&N));
        let (zeros, ones) = a.bits();
        Interval::of_bits(zeros.rotate_right(N), ones.rotate_right(N))
    }

    fn swap_bytes(self, a: Interval) -> Interval {
        let (zeros, ones) = a.bits();
        Interval::of_bits(zeros.swap_bytes(), ones.swap_bytes())
    }

    fn opaque(self, a: Interval) -> Interval {
        a
    }
}

impl<const SIGNED_CARRY: bool> Wide for Ranges<SIGNED_CARRY> {
    type Wide = WideInterval;

    #[inline(never)]
    fn times(self, a: Interval, factor: u64) -> Interval {
        self.integer([&a, &a], a.low * i128::from(factor), a.high * i128::from(factor))
    }

    #[inline(never)]
    fn wide_product(self, a: Interval, b: Interval) -> WideInterval {
        let [a, b] = [a, b].map(|word| {
            assert!(!word.is_cut, "a factor that was cut");
            self.unsigned(word)
        });
        let name = splits::new_name();
        WideInterval { low: a.low as u128 * b.low as u128, high: a.high as u128 * b.high as u128, name }
    }

    #[inline(never)]
    fn wide_add(self, a: WideInterval, b: WideInterval) -> WideInterval {
        let high = a.high.checked_add(b.high).unwrap_or_else(|| panic!("{a:?} + {b:?} passes 2^128"));
        splits::reached(Limit::Wide, high as f64);
        WideInterval { low: a.low + b.low, high, name: splits::new_name() }
    }

    fn widen(self, a: Interval) -> WideInterval {
        assert!(!a.is_cut, "a word that was cut");
        let a = self.unsigned(a);
        WideInterval { low: a.low as u128, high: a.high as u128, name: a.name }
    }

    #[inline(never)]
    fn narrow(self, a: WideInterval) -> Interval {
        let (low, high) =
            if a.high >> 64 > 0 { (0, u64::MAX.into()) } else { (a.low as i128, a.high as i128) };
        Interval { is_cut: a.high >> 64 > 0, name: a.name, ..Interval::new(low, high) }
    }

    fn wide_shr<const N: u32>(self, a: WideInterval) -> WideInterval {
        splits::high(a.name, N);
        WideInterval { low: a.low >> N, high: a.high >> N, name: splits::new_name() }
    }
}

impl<const SIGNED_CARRY: bool> Madd52 for Ranges<SIGNED_CARRY> {
    const SIGNED_CARRY: bool = SIGNED_CARRY;

    #[inline(never)]
    fn madd52lo(self, sum: Interval, a: Interval, b: Interval) -> Interval {
        // A product by 2^n moves the word up by n bits, to where the sum has none.
        if let Some(n @ 0..52) = power_of_two(&b) {
            let ((zeros, ones), low) = (a.bits(), (1 << 52) - 1);
            let part = Interval::of_bits(!(!zeros << n & low), ones << n & low);
            if sum.bits().0 | part.zeros == u64::MAX {
                self.take_low(&a, 52 - n);
                return self.or(sum, part);
            }
        }
        let ([a_low, a_high], [b_low, b_high]) = (self.factor(a), self.factor(b));
        let part = if (a_high * b_high) >> 52 > 0 {
            splits::low_half(a.name, b.name);
            [0, (1 << 52) - 1]
        } else {
            splits::reached(Limit::Factor, (a_high * b_high) as f64);
            [a_low * b_low, a_high * b_high]
        };
        self.integer([&sum; 2], sum.low + part[0] as i128, sum.high + part[1] as i128)
    }

    #[inline(never)]
    fn madd52hi(self, sum: Interval, a: Interval, b: Interval) -> Interval {
        let ([a_low, a_high], [b_low, b_high]) = (self.factor(a), self.factor(b));
        splits::high_half(a.name, b.name);
        let part = [(a_low * b_low) >> 52, (a_high * b_high) >> 52];
        self.integer([&sum; 2], sum.low + part[0] as i128, sum.high + part[1] as i128)
    }

    #[inline(never)]
    fn carry(self, a: Interval) -> Interval {
        assert!(!a.is_cut, "a carry of a word that was cut");
        if !SIGNED_CARRY {
            return self.shr::<52>(a);
        }
        assert!(a.fits() && a.high < 1 << 63, "no number with a sign: {a:?}");
        splits::high(a.name, 52);
        Interval::new(a.low >> 52, a.high >> 52)
    }
}

impl<const SIGNED_CARRY: bool> Doubles for Ranges<SIGNED_CARRY> {
    type Double = Real;

    fn double(self, bits: Interval) -> Real {
        Real::of_patterns(&bits)
    }

    fn bits(self, a: Real) -> Interval {
        a.patterns()
    }

    fn minus(self, a: Real, b: Real) -> Real {
        a.minus(b)
    }

    fn plus(self, a: Real, b: Real) -> Real {
        a.plus(b)
    }

    fn fma(self, a: Real, b: Real, c: Real) -> Real {
        a.fma(b, c)
    }

    fn accumulate(
        self,
        sums: (Interval, Interval),
        a: Real,
        b: &Real,
        high: Real,
        both: Real,
    ) -> (Interval, Interval) {
        let (l, h) = a.split(*b, high, both);
        (self.add(sums.0, l.patterns()), self.add(sums.1, h.patterns()))
    }
}
