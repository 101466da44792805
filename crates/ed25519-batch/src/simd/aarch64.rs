//! The vectors of aarch64 processors: NEON.
//!
//! Every method is one instruction, or the few that replace a missing one. The compiler inlines the
//! methods into the closure of [`Words::run`], and compiles that closure for the instruction set.

#![allow(unsafe_code, reason = "the module of instructions")]

use std::arch::aarch64::*;
use std::arch::asm;

use super::cache_line::CacheLine;
use super::detect::{Missing, need};
use super::sha512::Sha512;
use super::token::{accesses, instructions, too_short};
use super::words::{Bytes64, Doubles, Halves, Words};

/// The token of NEON, with 2 lanes (every aarch64 processor that runs a general system). It also
/// knows whether the processor has instructions for SHA-512.
#[derive(Clone, Copy, Debug)]
pub struct Neon(Option<Sha512>);

impl Neon {
    /// Returns the token, with the instructions for SHA-512 if the processor has them.
    ///
    /// # Errors
    ///
    /// Returns the name of the instruction set if the processor lacks it.
    pub fn detect() -> Result<Self, Missing> {
        need("neon").map(|()| Self(Sha512::detect().ok()))
    }

    /// Returns the token without the instructions for SHA-512.
    #[must_use]
    pub const fn without_sha512(self) -> Self {
        Self(None)
    }
}

#[target_feature(enable = "neon")]
fn with_neon<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// Does [`Doubles::accumulate`].
///
/// Without this assembly the compiler does many multiplications before the first addition, and
/// moves their results through memory.
#[target_feature(enable = "neon")]
#[inline]
fn accumulate(
    (mut low, mut high): (uint64x2_t, uint64x2_t),
    a: float64x2_t,
    b: float64x2_t,
    for_high: float64x2_t,
    for_both: float64x2_t,
) -> (uint64x2_t, uint64x2_t) {
    // These have a type, because a register without a type has another width.
    let (_h, _l): (float64x2_t, float64x2_t);
    // SAFETY: the processor has the instructions. They access no memory.
    unsafe {
        asm!(
            "mov {h:v}.16b, {for_high:v}.16b",
            "fmla {h:v}.2d, {a:v}.2d, {b:v}.2d",
            "fsub {l:v}.2d, {for_both:v}.2d, {h:v}.2d",
            "fmla {l:v}.2d, {a:v}.2d, {b:v}.2d",
            "add {high:v}.2d, {high:v}.2d, {h:v}.2d",
            "add {low:v}.2d, {low:v}.2d, {l:v}.2d",
            a = in(vreg) a,
            b = in(vreg) b,
            for_high = in(vreg) for_high,
            for_both = in(vreg) for_both,
            low = inout(vreg) low,
            high = inout(vreg) high,
            h = out(vreg) _h,
            l = out(vreg) _l,
            // Without `preserves_flags`, because inexact products set flags of FPSR.
            options(pure, nomem, nostack),
        );
    }
    (low, high)
}

/// Shifts each word left by `bits`, -64 to 64. Negative numbers shift right.
#[target_feature(enable = "neon")]
#[inline]
fn shift(a: uint64x2_t, bits: i64) -> uint64x2_t {
    vshlq_u64(a, vdupq_n_s64(bits))
}

/// Shifts each half left by `bits`, -32 to 32. Negative numbers shift right.
#[target_feature(enable = "neon")]
#[inline]
fn shift_u32(a: uint32x4_t, bits: i32) -> uint32x4_t {
    vshlq_u32(a, vdupq_n_s32(bits))
}

impl Words for Neon {
    const LANES: usize = 2;
    type Word = uint64x2_t;

    #[inline(always)]
    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        // SAFETY: the token was made by detection.
        unsafe { with_neon(work) }
    }

    #[inline(always)]
    fn sha512(self) -> Option<Sha512> {
        self.0
    }

    accesses! {
        load load [u64; 2] -> uint64x2_t = |from| vld1q_u64(from);
        load load_u32 [u32; 2] -> uint64x2_t = |from| vmovl_u32(vld1_u32(from));
        store store(a: uint64x2_t) [u64; 2] = |to| vst1q_u64(to, a);
        store store_u32(a: uint64x2_t) [u32; 2] = |to| vst1_u32(to, vmovn_u64(a));
    }

    #[inline(always)]
    fn transpose<'a>(self, row: impl Fn(usize) -> &'a CacheLine) -> [uint64x2_t; 8] {
        let (a, b) = (&row(0).0, &row(1).0);
        let pairs = |from: usize| self.transpose_2x2(self.load(&a[from..]), self.load(&b[from..]));
        let ([p, q], [r, s], [t, u], [v, w]) = (pairs(0), pairs(2), pairs(4), pairs(6));
        [p, q, r, s, t, u, v, w]
    }

    #[inline(always)]
    fn transpose_bytes<'a>(self, row: impl Fn(usize) -> &'a [u8; 32]) -> [uint64x2_t; 4] {
        let halves = |row: &[u8; 32]| {
            // SAFETY: the token was made by detection; the array has 32 bytes, and any alignment is
            // allowed.
            unsafe { vld1q_u8_x2(row.as_ptr()) }
        };
        let (a, b) = (halves(row(0)), halves(row(1)));
        // SAFETY: the token was made by detection.
        let words = |bytes| unsafe { vreinterpretq_u64_u8(bytes) };
        let [p, q] = self.transpose_2x2(words(a.0), words(b.0));
        let [r, s] = self.transpose_2x2(words(a.1), words(b.1));
        [p, q, r, s]
    }

    #[inline(always)]
    fn store_rows(self, [a, b, c, d]: [uint64x2_t; 4], rows: &mut [[u8; 32]]) {
        let rows: &mut [[u8; 32]; 2] = rows.first_chunk_mut().unwrap_or_else(|| too_short());
        let (low, high) = (self.transpose_2x2(a, b), self.transpose_2x2(c, d));
        for (at, row) in rows.iter_mut().enumerate() {
            // SAFETY: the token was made by detection; a row has 32 bytes, and any alignment is
            // allowed.
            unsafe {
                let bytes = uint8x16x2_t(vreinterpretq_u8_u64(low[at]), vreinterpretq_u8_u64(high[at]));
                vst1q_u8_x2(row.as_mut_ptr(), bytes);
            }
        }
    }

    instructions! {
        splat(word: u64) -> uint64x2_t = vdupq_n_u64(word);
        add(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t = vaddq_u64(a, b);
        sub(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t = vsubq_u64(a, b);
        and(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t = vandq_u64(a, b);
        or(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t = vorrq_u64(a, b);
        xor(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t = veorq_u64(a, b);
        xor_where_odd(a: uint64x2_t, choice: uint64x2_t, mask: u64) -> uint64x2_t =
            veorq_u64(a, vandq_u64(vtstq_u64(choice, vdupq_n_u64(1)), vdupq_n_u64(mask)));
        shl<N>(a: uint64x2_t) -> uint64x2_t = shift(a, N.into());
        shr<N>(a: uint64x2_t) -> uint64x2_t = shift(a, -i64::from(N));
        shl_by(a: uint64x2_t, bits: u32) -> uint64x2_t = shift(a, bits.min(64).into());
        shr_by(a: uint64x2_t, bits: u32) -> uint64x2_t = shift(a, -i64::from(bits.min(64)));
        swap_bytes(a: uint64x2_t) -> uint64x2_t =
            vreinterpretq_u64_u8(vrev64q_u8(vreinterpretq_u8_u64(a)));
    }

    #[inline(always)]
    fn with_top<const N: u32>(self, mut a: uint64x2_t, top: u64) -> uint64x2_t {
        // SAFETY: the token was made by detection.
        unsafe {
            asm!(
                "sli {a:v}.2d, {top:v}.2d, {n}",
                a = inout(vreg) a,
                top = in(vreg) vdupq_n_u64(top),
                n = const N,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        a
    }

    #[inline(always)]
    fn opaque(self, mut a: uint64x2_t) -> uint64x2_t {
        // SAFETY: the text is a comment, without an instruction.
        unsafe { asm!("/* {0:v} */", inout(vreg) a, options(pure, nomem, nostack, preserves_flags)) };
        a
    }
}

impl Halves for Neon {
    type Common = Self;

    #[inline(always)]
    fn common(self) -> Self {
        self
    }

    instructions! {
        splat_u32(half: u32) -> uint64x2_t = vreinterpretq_u64_u32(vdupq_n_u32(half));
        add_u32(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t =
            vreinterpretq_u64_u32(vaddq_u32(vreinterpretq_u32_u64(a), vreinterpretq_u32_u64(b)));
        sub_u32(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t =
            vreinterpretq_u64_u32(vsubq_u32(vreinterpretq_u32_u64(a), vreinterpretq_u32_u64(b)));
        shr_u32<N>(a: uint64x2_t) -> uint64x2_t =
            vreinterpretq_u64_u32(shift_u32(vreinterpretq_u32_u64(a), -N.cast_signed()));
    }

    accesses! {
        load load_all_u32 [u32; 4] -> uint64x2_t = |from| vreinterpretq_u64_u32(vld1q_u32(from));
        store store_all_u32(a: uint64x2_t) [u32; 4] = |to| vst1q_u32(to, vreinterpretq_u32_u64(a));
    }

    #[inline(always)]
    fn rotl_u32<const N: u32>(self, a: uint64x2_t) -> uint64x2_t {
        // SAFETY: the token was made by detection.
        unsafe {
            let a = vreinterpretq_u32_u64(a);
            let turned = vorrq_u32(shift_u32(a, N.cast_signed()), shift_u32(a, N.cast_signed() - 32));
            vreinterpretq_u64_u32(turned)
        }
    }
}

impl Neon {
    /// Transposes two rows of two words.
    #[inline(always)]
    fn transpose_2x2(self, a: uint64x2_t, b: uint64x2_t) -> [uint64x2_t; 2] {
        // SAFETY: the token was made by detection.
        unsafe { [vzip1q_u64(a, b), vzip2q_u64(a, b)] }
    }
}

impl Doubles for Neon {
    type Double = float64x2_t;

    instructions! {
        double(bits: uint64x2_t) -> float64x2_t = vreinterpretq_f64_u64(bits);
        bits(a: float64x2_t) -> uint64x2_t = vreinterpretq_u64_f64(a);
        minus(a: float64x2_t, b: float64x2_t) -> float64x2_t = vsubq_f64(a, b);
        plus(a: float64x2_t, b: float64x2_t) -> float64x2_t = vaddq_f64(a, b);
        fma(a: float64x2_t, b: float64x2_t, c: float64x2_t) -> float64x2_t = vfmaq_f64(c, a, b);
    }

    #[inline(always)]
    fn accumulate(
        self,
        sums: (uint64x2_t, uint64x2_t),
        a: float64x2_t,
        b: &float64x2_t,
        high: float64x2_t,
        both: float64x2_t,
    ) -> (uint64x2_t, uint64x2_t) {
        // SAFETY: the token was made by detection.
        unsafe { accumulate(sums, a, *b, high, both) }
    }
}

/// Does [`Bytes64::sextets`] for four words. `places` are the bytes of each word, in reverse order.
#[target_feature(enable = "neon")]
#[inline]
fn sextets_of_words(bytes: uint8x16x2_t, places: &[u8; 16], lead: u32) -> uint8x16_t {
    // SAFETY: the array has 16 bytes.
    let places = unsafe { vld1q_u8(places.as_ptr()) };
    let held = shift_u32(vreinterpretq_u32_u8(vqtbl2q_u8(bytes, places)), -lead.cast_signed());
    let first = vandq_u32(vshrq_n_u32::<18>(held), vdupq_n_u32(0x3f));
    let second = vandq_u32(vshrq_n_u32::<4>(held), vdupq_n_u32(0x3f00));
    let third = vandq_u32(vshlq_n_u32::<10>(held), vdupq_n_u32(0x3f_0000));
    let fourth = vandq_u32(vshlq_n_u32::<24>(held), vdupq_n_u32(0x3f00_0000));
    vreinterpretq_u8_u32(vorrq_u32(vorrq_u32(first, second), vorrq_u32(third, fourth)))
}

/// Does [`Bytes64::weigh_bytes`] for 16 bytes.
#[target_feature(enable = "neon")]
#[inline]
fn weigh_16_bytes(a: uint8x16_t, weight: u8) -> uint8x16_t {
    let a = vreinterpretq_u16_u8(a);
    let (low, high) = (vandq_u16(a, vdupq_n_u16(0xff)), vshrq_n_u16::<8>(a));
    vreinterpretq_u8_u16(vmlaq_n_u16(high, low, weight.into()))
}

/// Does [`Bytes64::weigh_u16`] for 8 halves.
#[target_feature(enable = "neon")]
#[inline]
fn weigh_8_u16(a: uint8x16_t, weight: u16) -> uint8x16_t {
    let a = vreinterpretq_u32_u8(a);
    let (low, high) = (vandq_u32(a, vdupq_n_u32(0xffff)), vshrq_n_u32::<16>(a));
    vreinterpretq_u8_u32(vmlaq_n_u32(high, low, weight.into()))
}

/// Returns all ones for each word that has the highest bit of a byte set, and 0 for the others.
#[target_feature(enable = "neon")]
#[inline]
fn words_with_high_bits(a: uint8x16_t) -> uint16x8_t {
    vreinterpretq_u16_u32(vtstq_u32(vreinterpretq_u32_u8(a), vdupq_n_u32(0x8080_8080)))
}

impl Bytes64 for Neon {
    type Vector64 = [uint8x16_t; 4];

    #[inline(always)]
    fn sextets(self, bytes: &[u8; 32], lead: u32) -> [uint8x16_t; 4] {
        // SAFETY: the token was made by detection; the array has 32 bytes, and any alignment is
        // allowed.
        let bytes = unsafe { vld1q_u8_x2(bytes.as_ptr()) };
        // SAFETY: the token was made by detection.
        unsafe {
            [
                sextets_of_words(bytes, &FOURS[0], lead),
                sextets_of_words(bytes, &FOURS[1], lead),
                sextets_of_words(bytes, &FOURS[2], lead),
                sextets_of_words(bytes, &FOURS[3], lead),
            ]
        }
    }

    #[inline(always)]
    fn or_bytes(self, a: [uint8x16_t; 4], b: [uint8x16_t; 4]) -> [uint8x16_t; 4] {
        // SAFETY: the token was made by detection.
        unsafe { [vorrq_u8(a[0], b[0]), vorrq_u8(a[1], b[1]), vorrq_u8(a[2], b[2]), vorrq_u8(a[3], b[3])] }
    }

    #[inline(always)]
    fn look_up(self, table: &[u8; 64], a: [uint8x16_t; 4]) -> [uint8x16_t; 4] {
        // SAFETY: the token was made by detection; the array has 64 bytes, and any alignment is
        // allowed.
        unsafe {
            let table = vld1q_u8_x4(table.as_ptr());
            [
                vqtbl4q_u8(table, a[0]),
                vqtbl4q_u8(table, a[1]),
                vqtbl4q_u8(table, a[2]),
                vqtbl4q_u8(table, a[3]),
            ]
        }
    }

    #[inline(always)]
    fn weigh_bytes(self, a: [uint8x16_t; 4], weight: u8) -> [uint8x16_t; 4] {
        // SAFETY: the token was made by detection.
        unsafe {
            [
                weigh_16_bytes(a[0], weight),
                weigh_16_bytes(a[1], weight),
                weigh_16_bytes(a[2], weight),
                weigh_16_bytes(a[3], weight),
            ]
        }
    }

    #[inline(always)]
    fn weigh_u16(self, a: [uint8x16_t; 4], weight: u16) -> [uint8x16_t; 4] {
        // SAFETY: the token was made by detection.
        unsafe {
            [
                weigh_8_u16(a[0], weight),
                weigh_8_u16(a[1], weight),
                weigh_8_u16(a[2], weight),
                weigh_8_u16(a[3], weight),
            ]
        }
    }

    #[inline(always)]
    fn next_u16(self, [a, b, c, d]: [uint8x16_t; 4]) -> [uint8x16_t; 4] {
        // SAFETY: the token was made by detection.
        unsafe { [vextq_u8::<2>(a, b), vextq_u8::<2>(b, c), vextq_u8::<2>(c, d), vextq_u8::<2>(d, d)] }
    }

    #[inline(always)]
    fn meets(self, a: [uint8x16_t; 4], mask: &[u32; 16]) -> bool {
        // SAFETY: the token was made by detection; the array has 64 bytes, and any alignment is
        // allowed.
        unsafe {
            let mask = vld1q_u8_x4(mask.as_ptr().cast());
            let first = vorrq_u8(vandq_u8(a[0], mask.0), vandq_u8(a[1], mask.1));
            let second = vorrq_u8(vandq_u8(a[2], mask.2), vandq_u8(a[3], mask.3));
            vmaxvq_u8(vorrq_u8(first, second)) != 0
        }
    }

    #[inline(always)]
    fn high_bits(self, a: [uint8x16_t; 4]) -> u16 {
        // SAFETY: the token was made by detection; the array has 16 bytes.
        unsafe {
            let first = vuzp1q_u16(words_with_high_bits(a[0]), words_with_high_bits(a[1]));
            let second = vuzp1q_u16(words_with_high_bits(a[2]), words_with_high_bits(a[3]));
            // One byte for each word, all ones or 0.
            let words = vuzp1q_u8(vreinterpretq_u8_u16(first), vreinterpretq_u8_u16(second));
            let bits = vandq_u8(words, vld1q_u8(WEIGHTS.as_ptr()));
            u16::from(vaddv_u8(vget_low_u8(bits))) | u16::from(vaddv_u8(vget_high_u8(bits))) << 8
        }
    }

    #[inline(always)]
    fn bit_pairs<const N: usize>(self, bitmap: &[u32; N], a: [uint8x16_t; 4], mask: u16) -> [u16; 2] {
        const { assert!(N.is_power_of_two()) };
        let mut bytes = [0; 64];
        self.store_bytes(a, &mut bytes);
        let (numbers, _) = bytes.as_chunks();
        let (mut low, mut high, mut rest) = (0, 0, mask);
        while rest != 0 {
            let at = rest.trailing_zeros();
            let number = u32::from_le_bytes(numbers[at as usize]);
            let pair = (bitmap[(number / 16) as usize % N] >> (2 * (number % 16))) as u16;
            low |= (pair & 1) << at;
            high |= (pair >> 1 & 1) << at;
            rest &= rest - 1;
        }
        [low, high]
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 64]) -> [uint8x16_t; 4] {
        // SAFETY: the token was made by detection; the array has 64 bytes, and any alignment is
        // allowed.
        let uint8x16x4_t(a, b, c, d) = unsafe { vld1q_u8_x4(bytes.as_ptr()) };
        [a, b, c, d]
    }

    #[inline(always)]
    fn store_bytes(self, [a, b, c, d]: [uint8x16_t; 4], bytes: &mut [u8; 64]) {
        // SAFETY: as for `load_bytes`.
        unsafe { vst1q_u8_x4(bytes.as_mut_ptr(), uint8x16x4_t(a, b, c, d)) }
    }
}

/// The places of bytes for [`Bytes64::sextets`]: each word takes four bytes in reverse order, and
/// begins three bytes after the word before it. A place that does not exist gives 0.
const FOURS: [[u8; 16]; 4] = {
    let mut fours = [[u8::MAX; 16]; 4];
    let mut word = 0;
    while word < 13 {
        // Words 11 and 12 repeat words 9 and 10. The first word has only three bytes.
        let first = 3 * if word < 11 { word } else { word - 2 };
        let mut byte = 0;
        while byte < 4 && byte <= first + 2 {
            fours[word / 4][word % 4 * 4 + byte] = (first + 2 - byte) as u8;
            byte += 1;
        }
        word += 1;
    }
    fours
};

/// The values of the bits that [`Bytes64::high_bits`] sums, for each half of a vector.
const WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
