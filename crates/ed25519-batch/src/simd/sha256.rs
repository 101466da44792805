//! The instructions of x86-64 processors for SHA-256 (the SHA extensions).
//!
//! They work on four adjacent words of one message: the earliest word is the lowest one. They keep
//! the state as two vectors: f, e, b, a and h, g, d, c, the lowest word first.

#![allow(unsafe_code, reason = "the module of instructions")]

use std::arch::x86_64::*;

use super::detect::{Missing, need};
use super::token::token;

/// Four adjacent words.
pub type Quad = __m128i;

/// Reverses the bytes of each word.
#[target_feature(enable = "avx2,sha")]
#[inline]
fn swap_bytes(a: Quad) -> Quad {
    _mm_shuffle_epi8(a, _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12))
}

token! {
    /// The token of the instructions for SHA-256 (Zen, Ice Lake and later), together with AVX2.
    Sha256, "avx2,sha";

    /// Returns four words, the first one lowest.
    quad(words: [u32; 4]) -> Quad = {
        let [a, b, c, d] = words;
        _mm_setr_epi32(a.cast_signed(), b.cast_signed(), c.cast_signed(), d.cast_signed())
    };
    /// Writes four big-endian words.
    write(a: Quad, bytes: &mut [u8; 16]) -> () = {
        // SAFETY: the array has 16 bytes, and any alignment is allowed.
        unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), swap_bytes(a)) }
    };
    /// Reads four big-endian words.
    read(bytes: &[u8; 16]) -> Quad = {
        // SAFETY: as in `write`.
        swap_bytes(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
    };
    /// Reads big-endian words: three zero bytes, and the first thirteen of `bytes`.
    read_after_three(bytes: &[u8; 16]) -> Quad = {
        // SAFETY: as in `write`.
        swap_bytes(_mm_slli_si128::<3>(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }))
    };
    /// Reads big-endian words: the last three of `bytes`, and thirteen zero bytes.
    read_last_three(bytes: &[u8; 16]) -> Quad = {
        // SAFETY: as in `write`.
        swap_bytes(_mm_srli_si128::<13>(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }))
    };
    /// Returns `a + b`, word by word.
    add(a: Quad, b: Quad) -> Quad = _mm_add_epi32(a, b);
    /// Returns `a | b`.
    or(a: Quad, b: Quad) -> Quad = _mm_or_si128(a, b);
    /// Returns `a & !b`.
    and_not(a: Quad, b: Quad) -> Quad = _mm_andnot_si128(b, a);
    /// Returns the upper three words of `a` and the lowest word of `b`.
    next(a: Quad, b: Quad) -> Quad = _mm_alignr_epi8::<4>(b, a);
    /// Returns the upper half of `a` as the lower half.
    upper_half(a: Quad) -> Quad = _mm_shuffle_epi32::<0b1110>(a);
    /// Returns the words of a digest from the two vectors of the state.
    digest(abef: Quad, cdgh: Quad) -> [Quad; 2] = {
        let (abef, cdgh) = (_mm_shuffle_epi32::<0b00_01_10_11>(abef), _mm_shuffle_epi32::<0b00_01_10_11>(cdgh));
        [_mm_unpacklo_epi64(abef, cdgh), _mm_unpackhi_epi64(abef, cdgh)]
    };
    /// Does two rounds with the lower half of the input (SHA256RNDS2), and returns the new
    /// `abef`. The old `abef` is the new `cdgh`.
    two_rounds(abef: Quad, cdgh: Quad, input: Quad) -> Quad = _mm_sha256rnds2_epu32(cdgh, abef, input);
    /// Does the first part of four words of the schedule (SHA256MSG1).
    schedule_1(first: Quad, second: Quad) -> Quad = _mm_sha256msg1_epu32(first, second);
    /// Does the second part of four words of the schedule (SHA256MSG2).
    schedule_2(sum: Quad, late: Quad) -> Quad = _mm_sha256msg2_epu32(sum, late);
}
