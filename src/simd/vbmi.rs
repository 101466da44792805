//! The bytes of processors with AVX-512 VBMI: any byte of a vector in one instruction.

#![allow(unsafe_code, reason = "the room of instructions")]

use std::arch::x86_64::*;

use super::detect::{Missing, need};
use super::extends::{Extends, as_base};
use super::words::Bytes64;
use super::x86::{Avx512f, extends};

/// The token of [`Avx512f`] and AVX-512 VBMI (Ice Lake, Zen 4 and later).
#[derive(Clone, Copy, Debug)]
pub struct Avx512vbmi(Avx512f);

impl Avx512vbmi {
    /// Returns the token.
    ///
    /// # Errors
    ///
    /// Returns the names of the instruction sets that the processor lacks.
    pub fn detect() -> Result<Self, Missing> {
        need(&["avx512vbmi"]).and_then(|()| Avx512f::detect()).map(Self)
    }
}

#[target_feature(enable = "avx512vbmi,avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi2,popcnt")]
fn with_avx512vbmi<R>(work: impl FnOnce() -> R) -> R {
    super::x86::with_aligned_frame(work)
}

extends! { Avx512vbmi: Avx512f by with_avx512vbmi }

impl Bytes64 for Avx512vbmi {
    const LOOKS_UP_AT_ONCE: bool = true;

    type Vector64 = __m512i;

    as_base! {
        or_bytes(a: __m512i, b: &[u32; 16]) -> __m512i;
        and_bytes(a: __m512i, b: __m512i) -> __m512i;
        meets(a: __m512i, mask: &[u32; 16]) -> bool;
        weigh_bytes(a: __m512i, weight: u8) -> __m512i;
        weigh_u16(a: __m512i, weight: u16) -> __m512i;
        high_bits(a: __m512i) -> u16;
        load_bytes(bytes: &[u8; 64]) -> __m512i;
        store_bytes(a: __m512i, bytes: &mut [u8; 64]);
    }

    #[inline(always)]
    fn sextets(self, bytes: &[u8; 32], lead: u32) -> __m512i {
        // SAFETY: the token was made by detection; every array has the size of its vector, and any
        // alignment is allowed.
        unsafe {
            let bytes = _mm512_zextsi256_si512(_mm256_loadu_si256(bytes.as_ptr().cast()));
            let held = _mm512_permutexvar_epi8(_mm512_loadu_si512(EIGHTS.as_ptr().cast()), bytes);
            // Zero bits before the first byte move every sextet down.
            let shifts = _mm512_add_epi8(
                _mm512_loadu_si512(SHIFTS.as_ptr().cast()),
                _mm512_set1_epi8(lead.cast_signed() as i8),
            );
            _mm512_and_si512(_mm512_multishift_epi64_epi8(shifts, held), _mm512_set1_epi8(0x3f))
        }
    }

    #[inline(always)]
    fn look_up(self, table: &[u8; 64], a: __m512i) -> __m512i {
        // SAFETY: the token was made by detection.
        unsafe { _mm512_permutexvar_epi8(a, self.load_bytes(table)) }
    }

    #[inline(always)]
    fn next_byte(self, a: __m512i) -> __m512i {
        // SAFETY: the token was made by detection.
        unsafe { _mm512_permutexvar_epi8(self.load_bytes(&NEXT_BYTE), a) }
    }

    #[inline(always)]
    fn next_u16(self, a: __m512i) -> __m512i {
        // SAFETY: the token was made by detection.
        unsafe { _mm512_permutexvar_epi8(self.load_bytes(&NEXT_U16), a) }
    }

    #[inline(always)]
    fn bit_pairs<const N: usize>(self, bitmap: &[u32; N], a: __m512i, mask: u16) -> [u16; 2] {
        self.0.bit_pairs(bitmap, a, mask)
    }

    #[inline(always)]
    fn bit_pairs_of_each<const N: usize>(
        self,
        bitmap: &[u32; N],
        words: impl Fn(usize) -> ([__m512i; 2], [u16; 2]),
        found: &mut [[[u16; 2]; 2]],
    ) {
        self.0.bit_pairs_of_each(bitmap, words, found);
    }
}

/// The bytes from which [`Bytes64::sextets`] takes eight sextets, for each word of 64 bits. They
/// are eight bytes in reverse order, from the one before the first sextet on: six bytes hold eight
/// sextets without zero bits before them, and up to eight zero bits move them back by one byte.
/// Bytes from 32 on are 0. The last words take the sextets 40 to 43, 36 to 39 and 40 to 43.
const EIGHTS: [u8; 64] = {
    let mut places = [ZERO; 64];
    let mut word = 0;
    while word < 7 {
        // Five words of eight sextets, and twice the words that hold the sextets 36 to 43.
        let first = if word < 5 { 6 * word } else { 27 };
        let mut at = 0;
        while at < 8 {
            // The lowest byte of a word is the last one.
            let place = first + 7 - at;
            if place > 0 && place <= 32 {
                places[8 * word + at] = place as u8 - 1;
            }
            at += 1;
        }
        word += 1;
    }
    places
};

/// The place of a byte that is 0.
const ZERO: u8 = 63;

/// The lowest bit of each sextet in its word, without zero bits before the first byte.
const SHIFTS: [u8; 64] = {
    let mut shifts = [0; 64];
    let mut at = 0;
    while at < 56 {
        let sextet = match at {
            // Sextet 36 is the first one of the last two words.
            40..44 | 48..52 => at % 8 + 4,
            44..48 => at % 8 - 4,
            _ => at % 8,
        };
        shifts[at] = 50 - 6 * sextet as u8;
        at += 1;
    }
    shifts
};

const NEXT_BYTE: [u8; 64] = following(1);
const NEXT_U16: [u8; 64] = following(2);

/// Returns the place `count` bytes after each byte.
const fn following(count: usize) -> [u8; 64] {
    let mut places = [0; 64];
    let mut at = 0;
    while at < 64 {
        places[at] = ((at + count) % 64) as u8;
        at += 1;
    }
    places
}
