//! The back end with one lane, for every 64-bit processor.

use super::cache_line::CacheLine;
#[cfg(target_arch = "x86_64")]
use super::detect::need;
use super::words::{Bytes64, Halves, Wide, Words};

/// One lane of ordinary words. On a processor with BMI2 and ADX, [`Words::run`] compiles code for
/// these.
#[derive(Clone, Copy, Debug)]
pub struct Scalar(Extra);

#[derive(Clone, Copy, Debug)]
enum Extra {
    None,
    #[cfg(target_arch = "x86_64")]
    Bmi2Adx,
}

impl Scalar {
    /// Returns the token, with BMI2 and ADX if the processor has both.
    #[must_use]
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if need("bmi2,adx").is_ok() {
            return Self(Extra::Bmi2Adx);
        }
        Self(Extra::None)
    }

    /// Returns the token for the base instruction set, without BMI2 and ADX.
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
            // SAFETY: only `detect` makes this variant, on a processor that has both sets.
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
    fn load_u32(self, halves: &[u32]) -> u64 {
        halves[0].into()
    }

    #[inline(always)]
    fn store_u32(self, a: u64, halves: &mut [u32]) {
        halves[0] = a as u32;
    }

    #[inline(always)]
    fn transpose<'a>(self, row: impl Fn(usize) -> &'a CacheLine) -> [u64; 8] {
        row(0).0
    }

    #[inline(always)]
    fn transpose_bytes<'a>(self, row: impl Fn(usize) -> &'a [u8; 32]) -> [u64; 4] {
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
    fn opaque(self, a: u64) -> u64 {
        a
    }
}

impl Halves for Scalar {
    type Common = Self;

    #[inline(always)]
    fn common(self) -> Self {
        self
    }

    #[inline(always)]
    fn splat_u32(self, half: u32) -> u64 {
        u64::from(half) | u64::from(half) << 32
    }

    #[inline(always)]
    fn load_all_u32(self, halves: &[u32]) -> u64 {
        u64::from(halves[0]) | u64::from(halves[1]) << 32
    }

    #[inline(always)]
    fn store_all_u32(self, a: u64, halves: &mut [u32]) {
        (halves[0], halves[1]) = (a as u32, (a >> 32) as u32);
    }

    #[inline(always)]
    fn add_u32(self, a: u64, b: u64) -> u64 {
        let low = (a as u32).wrapping_add(b as u32);
        let high = ((a >> 32) as u32).wrapping_add((b >> 32) as u32);
        u64::from(low) | u64::from(high) << 32
    }

    #[inline(always)]
    fn sub_u32(self, a: u64, b: u64) -> u64 {
        let low = (a as u32).wrapping_sub(b as u32);
        let high = ((a >> 32) as u32).wrapping_sub((b >> 32) as u32);
        u64::from(low) | u64::from(high) << 32
    }

    #[inline(always)]
    fn rotl_u32<const N: u32>(self, a: u64) -> u64 {
        u64::from((a as u32).rotate_left(N)) | u64::from(((a >> 32) as u32).rotate_left(N)) << 32
    }

    #[inline(always)]
    fn shr_u32<const N: u32>(self, a: u64) -> u64 {
        u64::from(a as u32 >> N) | (a >> 32 >> N) << 32
    }
}

impl Wide for Scalar {
    type Wide = u128;

    #[inline(always)]
    fn times(self, a: u64, factor: u64) -> u64 {
        a * factor
    }

    #[inline(always)]
    fn wide_product(self, a: u64, b: u64) -> u128 {
        u128::from(a) * u128::from(b)
    }

    #[inline(always)]
    fn wide_add(self, a: u128, b: u128) -> u128 {
        a + b
    }

    #[inline(always)]
    fn widen(self, a: u64) -> u128 {
        a.into()
    }

    #[inline(always)]
    fn narrow(self, a: u128) -> u64 {
        a as u64
    }

    #[inline(always)]
    fn wide_shr<const N: u32>(self, a: u128) -> u128 {
        a >> N
    }
}

impl Bytes64 for Scalar {
    type Vector64 = [u32; 16];

    #[inline(always)]
    fn sextets(self, bytes: &[u8; 32], lead: u32) -> [u32; 16] {
        let word = |from: usize| bytes[from..].first_chunk().map_or(0, |word| u32::from_be_bytes(*word));
        let mut sextets = [0; 16];
        for (at, four) in sextets.iter_mut().enumerate().take(11) {
            let held = match at {
                0 => word(0) >> 8,
                10 => word(28) << 8,
                _ => word(3 * at - 1),
            } >> lead;
            let sextet = |down: u32| held >> down & 0x3f;
            *four = sextet(18) | sextet(12) << 8 | sextet(6) << 16 | sextet(0) << 24;
        }
        (sextets[11], sextets[12]) = (sextets[9], sextets[10]);
        sextets
    }

    #[inline(always)]
    fn or_bytes(self, a: [u32; 16], b: [u32; 16]) -> [u32; 16] {
        std::array::from_fn(|at| a[at] | b[at])
    }

    #[inline(always)]
    fn look_up(self, table: &[u8; 64], a: [u32; 16]) -> [u32; 16] {
        a.map(|four| u32::from_le_bytes(four.to_le_bytes().map(|byte| table[usize::from(byte % 64)])))
    }

    #[inline(always)]
    fn weigh_bytes(self, a: [u32; 16], weight: u8) -> [u32; 16] {
        a.map(|four| (four & 0xff_00ff) * u32::from(weight) + (four >> 8 & 0xff_00ff))
    }

    #[inline(always)]
    fn weigh_u16(self, a: [u32; 16], weight: u16) -> [u32; 16] {
        a.map(|four| (four & 0xffff) * u32::from(weight) + (four >> 16))
    }

    #[inline(always)]
    fn next_u16(self, a: [u32; 16]) -> [u32; 16] {
        std::array::from_fn(|at| a[at] >> 16 | a[(at + 1) % 16] << 16)
    }

    #[inline(always)]
    fn meets(self, a: [u32; 16], mask: &[u32; 16]) -> bool {
        a.iter().zip(mask).any(|(a, mask)| a & mask != 0)
    }

    #[inline(always)]
    fn high_bits(self, a: [u32; 16]) -> u16 {
        a.iter().rev().fold(0, |bits, four| bits << 1 | u16::from(four & 0x8080_8080 != 0))
    }

    #[inline(always)]
    fn bit_pairs<const N: usize>(self, bitmap: &[u32; N], a: [u32; 16], mask: u16) -> [u16; 2] {
        const { assert!(N.is_power_of_two()) };
        let pair = |number: &u32| bitmap[(number / 16) as usize % N] >> (2 * (number % 16));
        let [low, high] = a.iter().rev().fold([0, 0], |[low, high], number| {
            [low << 1 | (pair(number) & 1) as u16, high << 1 | (pair(number) >> 1 & 1) as u16]
        });
        [low & mask, high & mask]
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 64]) -> [u32; 16] {
        let (fours, _) = bytes.as_chunks();
        std::array::from_fn(|at| u32::from_le_bytes(fours[at]))
    }

    #[inline(always)]
    fn store_bytes(self, a: [u32; 16], bytes: &mut [u8; 64]) {
        for (bytes, four) in bytes.as_chunks_mut().0.iter_mut().zip(a) {
            *bytes = four.to_le_bytes();
        }
    }
}
