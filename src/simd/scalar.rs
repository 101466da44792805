//! One lane: what every 64-bit processor has.

use super::{Madd52, Row, Words};

/// One lane of ordinary words. Where the processor has BMI2 and ADX, code is compiled for these.
#[derive(Clone, Copy, Debug)]
pub struct Scalar(Extra);

#[derive(Clone, Copy, Debug)]
enum Extra {
    None,
    #[cfg(target_arch = "x86_64")]
    Bmi2Adx,
}

impl Scalar {
    /// Finds out what there is besides.
    #[must_use]
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if super::need(&["bmi2", "adx"]).is_ok() {
            return Self(Extra::Bmi2Adx);
        }
        Self(Extra::None)
    }

    /// Without anything besides.
    #[must_use]
    pub const fn plain() -> Self {
        Self(Extra::None)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2,adx")]
fn with_bmi2_adx<R>(work: impl FnOnce() -> R) -> R {
    work()
}

impl Words for Scalar {
    const LANES: usize = 1;
    type Word = u64;

    #[inline(always)]
    #[allow(unsafe_code, reason = "calls code for detected instructions")]
    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        match self.0 {
            Extra::None => work(),
            // SAFETY: only `detect` makes this, on a processor that has both.
            #[cfg(target_arch = "x86_64")]
            Extra::Bmi2Adx => unsafe { with_bmi2_adx(work) },
        }
    }

    #[inline(always)]
    fn splat(self, word: u64) -> u64 {
        word
    }

    #[inline(always)]
    fn load(self, words: &[u64]) -> u64 {
        words[0]
    }

    #[inline(always)]
    fn store(self, a: u64, words: &mut [u64]) {
        words[0] = a;
    }

    #[inline(always)]
    fn load_halves(self, halves: &[u32]) -> u64 {
        halves[0].into()
    }

    #[inline(always)]
    fn store_halves(self, a: u64, halves: &mut [u32]) {
        halves[0] = a as u32;
    }

    #[inline(always)]
    fn columns<'a>(self, row: impl Fn(usize) -> &'a Row) -> [u64; 8] {
        row(0).0
    }

    #[inline(always)]
    fn columns_of_bytes<'a>(self, row: impl Fn(usize) -> &'a [u8; 32]) -> [u64; 4] {
        let (words, _) = row(0).as_chunks();
        std::array::from_fn(|at| u64::from_le_bytes(words[at]))
    }

    #[inline(always)]
    fn add(self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }

    #[inline(always)]
    fn sub(self, a: u64, b: u64) -> u64 {
        a.wrapping_sub(b)
    }

    #[inline(always)]
    fn and(self, a: u64, b: u64) -> u64 {
        a & b
    }

    #[inline(always)]
    fn or(self, a: u64, b: u64) -> u64 {
        a | b
    }

    #[inline(always)]
    fn xor(self, a: u64, b: u64) -> u64 {
        a ^ b
    }

    #[inline(always)]
    fn shl<const N: u32>(self, a: u64) -> u64 {
        a << N
    }

    #[inline(always)]
    fn shr<const N: u32>(self, a: u64) -> u64 {
        a >> N
    }

    #[inline(always)]
    fn shl_by(self, a: u64, bits: u32) -> u64 {
        a.checked_shl(bits).unwrap_or(0)
    }

    #[inline(always)]
    fn shr_by(self, a: u64, bits: u32) -> u64 {
        a.checked_shr(bits).unwrap_or(0)
    }

    #[inline(always)]
    fn rotr<const N: u32>(self, a: u64) -> u64 {
        a.rotate_right(N)
    }

    #[inline(always)]
    fn swap_bytes(self, a: u64) -> u64 {
        a.swap_bytes()
    }

    #[inline(always)]
    fn splat_halves(self, half: u32) -> u64 {
        u64::from(half) | u64::from(half) << 32
    }

    #[inline(always)]
    fn load_all_halves(self, halves: &[u32]) -> u64 {
        u64::from(halves[0]) | u64::from(halves[1]) << 32
    }

    #[inline(always)]
    fn store_all_halves(self, a: u64, halves: &mut [u32]) {
        (halves[0], halves[1]) = (a as u32, (a >> 32) as u32);
    }

    #[inline(always)]
    fn add_halves(self, a: u64, b: u64) -> u64 {
        let low = (a as u32).wrapping_add(b as u32);
        let high = ((a >> 32) as u32).wrapping_add((b >> 32) as u32);
        u64::from(low) | u64::from(high) << 32
    }

    #[inline(always)]
    fn rotl_halves<const N: u32>(self, a: u64) -> u64 {
        u64::from((a as u32).rotate_left(N)) | u64::from(((a >> 32) as u32).rotate_left(N)) << 32
    }

    #[inline(always)]
    fn shr_halves<const N: u32>(self, a: u64) -> u64 {
        u64::from(a as u32 >> N) | (a >> 32 >> N) << 32
    }

    #[inline(always)]
    fn opaque(self, a: u64) -> u64 {
        a
    }
}

/// What the instructions do, by ordinary products: slow, but on every machine.
impl Madd52 for Scalar {
    #[inline(always)]
    fn madd52lo(self, sum: u64, a: u64, b: u64) -> u64 {
        sum.wrapping_add(product(a, b) as u64 & LOW)
    }

    #[inline(always)]
    fn madd52hi(self, sum: u64, a: u64, b: u64) -> u64 {
        sum.wrapping_add((product(a, b) >> 52) as u64)
    }

    #[inline(always)]
    fn sar<const N: u32>(self, a: u64) -> u64 {
        (a.cast_signed() >> N).cast_unsigned()
    }
}

/// The low 52 bits.
const LOW: u64 = (1 << 52) - 1;

/// The product of the low 52 bits.
#[inline(always)]
fn product(a: u64, b: u64) -> u128 {
    u128::from(a & LOW) * u128::from(b & LOW)
}
