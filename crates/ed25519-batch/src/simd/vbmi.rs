//! The bytes of processors with AVX-512 VBMI: any byte of a vector in one instruction.

#![allow(unsafe_code, reason = "the module of instructions")]

use std::arch::x86_64::*;

use super::detect::{Missing, need};
use super::extends::{Extends, as_base, extends};
use super::token::set;
use super::words::{Bytes64, OVERLAPPING};
use super::x86::{Avx512f, with_aligned_frame};

set! {
    /// The token of [`Avx512f`] and AVX-512 VBMI (Ice Lake, Zen 4 and later).
    Avx512vbmi(Avx512f) = Avx512f::detect(),
        "avx512vbmi,avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi2,popcnt", with_avx512vbmi;
}

extends! { Avx512vbmi: Avx512f by with_avx512vbmi }

impl Bytes64 for Avx512vbmi {
    const LOOKS_UP_AT_ONCE: bool = true;

    type Vector64 = __m512i;

    as_base! {
        or_bytes(a: __m512i, b: __m512i) -> __m512i;
        meets(a: __m512i, mask: &[u32; 16]) -> bool;
        weigh_bytes(a: __m512i, weight: u8) -> __m512i;
        weigh_u16(a: __m512i, weight: u16) -> __m512i;
        high_bits(a: __m512i) -> u16;
        load_bytes(bytes: &[u8; 64]) -> __m512i;
        store_bytes(a: __m512i, bytes: &mut [u8; 64]);
    }

    #[inline(always)]
    fn sextets(self, bytes: &[u8; 32], lead: u32) -> __m512i {
        self.split(&IN_TURN, bytes, lead)
    }

    #[inline(always)]
    fn look_up(self, table: &[u8; 64], a: __m512i) -> __m512i {
        // SAFETY: the token was made by detection.
        unsafe { _mm512_permutexvar_epi8(a, self.load_bytes(table)) }
    }

    #[inline(always)]
    fn overlapping_sextets(self, bytes: &[u8; 32], lead: u32) -> __m512i {
        self.split(&OVERLAPPED, bytes, lead)
    }

    #[inline(always)]
    fn look_up_in_turn(self, tables: &[[u8; 64]; 4], a: __m512i) -> __m512i {
        let [first, second, third, fourth] = tables;
        // SAFETY: the token was made by detection.
        unsafe {
            // An instruction looks up bytes at even places in one table, and the others in another.
            let other_if_odd = _mm512_or_si512(a, _mm512_set1_epi16(0x4000));
            let [first, second] = [self.load_bytes(first), self.load_bytes(second)];
            let [third, fourth] = [self.load_bytes(third), self.load_bytes(fourth)];
            let before = _mm512_permutex2var_epi8(first, other_if_odd, second);
            let after = _mm512_permutex2var_epi8(third, other_if_odd, fourth);
            let pairs = _mm512_and_si512(before, _mm512_srli_epi64::<16>(after));
            _mm512_and_si512(pairs, _mm512_srli_epi16::<8>(pairs))
        }
    }

    #[inline(always)]
    fn look_up_joint(self, table: &[u8; 64], a: __m512i) -> __m512i {
        let a = self.look_up(table, a);
        // SAFETY: the token was made by detection.
        unsafe {
            // The bits of the next byte are two bits higher.
            let pairs = _mm512_and_si512(a, _mm512_srli_epi64::<10>(a));
            _mm512_and_si512(pairs, _mm512_srli_epi64::<20>(pairs))
        }
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
        found: &mut [[u32; 2]],
    ) {
        self.0.bit_pairs_of_each(bitmap, words, found);
    }
}

impl Avx512vbmi {
    /// Splits `bytes`, after `lead` zero bits, into sextets.
    #[inline(always)]
    fn split(self, split: &Split, bytes: &[u8; 32], lead: u32) -> __m512i {
        // SAFETY: the token was made by detection; every array has the size of its vector, and any
        // alignment is allowed.
        unsafe {
            let bytes = _mm512_zextsi256_si512(_mm256_loadu_si256(bytes.as_ptr().cast()));
            let held = _mm512_permutexvar_epi8(self.load_bytes(&split.places), bytes);
            // Zero bits before the first byte move every sextet down.
            let lead = _mm512_set1_epi8(lead.cast_signed() as i8);
            let shifts = _mm512_add_epi8(self.load_bytes(&split.shifts), lead);
            _mm512_and_si512(_mm512_multishift_epi64_epi8(shifts, held), _mm512_set1_epi8(0x3f))
        }
    }
}

/// A way to split bytes into the sextets of eight words.
struct Split {
    /// The bytes that hold the sextets of a word, for each word. They are eight bytes in reverse
    /// order, from the one before the first sextet on, because zero bits before the bytes move the
    /// sextets down. Bytes from 32 on are 0.
    places: [u8; 64],
    /// The lowest bit of each sextet in its word, without zero bits before the first byte.
    shifts: [u8; 64],
}

impl Split {
    /// Returns the split into these sextets. Each word must have sextets in a row, in any order.
    const fn of(sextets: [usize; 64]) -> Self {
        let mut split = Self { places: [ZERO; 64], shifts: [0; 64] };
        let mut at = 0;
        while at < 64 {
            let word = at - at % 8;
            let (mut first, mut of) = (sextets[word], 1);
            while of < 8 {
                if sextets[word + of] < first {
                    first = sextets[word + of];
                }
                of += 1;
            }
            // The lowest byte of a word is the last one.
            let place = 6 * first / 8 + 7 - at % 8;
            if place > 0 && place <= 32 {
                split.places[at] = place as u8 - 1;
            }
            split.shifts[at] = (50 - 6 * first % 8 - 6 * (sextets[at] - first)) as u8;
            at += 1;
        }
        split
    }
}

/// The place of a byte that is 0.
const ZERO: u8 = 63;

/// The split of [`Bytes64::sextets`].
const IN_TURN: Split = {
    let mut sextets = [0; 64];
    let mut at = 0;
    while at < 64 {
        sextets[at] = match at {
            0..44 => at,
            44..52 => at - 8,
            // The rest has no meaning.
            _ => 36 + at % 8,
        };
        at += 1;
    }
    Split::of(sextets)
};

/// The split of [`Bytes64::overlapping_sextets`].
const OVERLAPPED: Split = {
    let mut sextets = [0; 64];
    let mut at = 0;
    while at < 64 {
        sextets[at] = OVERLAPPING[at / 8] + at % 8;
        at += 1;
    }
    Split::of(sextets)
};

/// The place two bytes after each byte.
const NEXT_U16: [u8; 64] = {
    let mut places = [0; 64];
    let mut at = 0;
    while at < 64 {
        places[at] = ((at + 2) % 64) as u8;
        at += 1;
    }
    places
};
