//! The vectors of x86-64 processors: AVX2, AVX-IFMA, AVX-512F and AVX-512 IFMA.
//!
//! Every method is one instruction, or the few that replace a missing one. The compiler inlines the
//! methods into the closure of [`Words::run`], and compiles that closure for the instruction set.

#![allow(unsafe_code, reason = "the module of instructions")]

use std::arch::asm;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::cache_line::CacheLine;
use super::detect::{Missing, need};
use super::extends::{Extends, extends};
use super::sha256::Sha256;
use super::token::{accesses, instructions, set, too_short};
use super::words::{Bytes64, Doubles, Halves, Madd52, Words};

set! {
    /// The token of AVX2, FMA and BMI2, with 4 lanes (Haswell, Zen and later). It also knows whether the
    /// processor has instructions for SHA-256.
    Avx2(Option<Sha256>) = Ok(Sha256::detect().ok()), "avx2,fma,bmi2", with_avx2;
    /// The token of [`Avx2`] and AVX-IFMA, with 4 lanes and 52-bit products (Sierra Forest, Arrow Lake
    /// and later).
    AvxIfma(Avx2) = Avx2::detect(), "avxifma,avx2,fma,bmi2", with_avxifma;
    /// The token of AVX-512 F, VL, DQ and BW, with 8 lanes (Skylake-X, Zen 4 and later).
    Avx512f(()) = Ok(()), "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi2,popcnt", with_avx512f;
    /// The token of [`Avx512f`] and AVX-512 IFMA, with 8 lanes and 52-bit products (Ice Lake, Zen 4 and
    /// later).
    Avx512ifma(Avx512f) = Avx512f::detect(),
        "avx512ifma,avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi2,popcnt", with_avx512ifma;
}

impl Avx2 {
    /// Returns the token without the instructions for SHA-256.
    #[must_use]
    pub const fn without_sha256(self) -> Self {
        Self(None)
    }
}

/// A place on the stack at the start of a cache line.
#[repr(align(64))]
struct Anchor(MaybeUninit<u8>);

/// Runs `work` in a frame that begins at a cache line.
///
/// The compiler keeps vectors in the frame if there are too few registers. Without this it does
/// not align them, and each access to a vector of 64 bytes then needs two cache lines.
#[inline(always)]
pub(super) fn with_aligned_frame<R>(work: impl FnOnce() -> R) -> R {
    let anchor = Anchor(MaybeUninit::uninit());
    // SAFETY: the text is a comment, without an instruction.
    unsafe { asm!("/* {0} */", in(reg) anchor.0.as_ptr(), options(readonly, nostack, preserves_flags)) };
    work()
}

#[target_feature(enable = "avx2")]
#[inline]
fn opaque_256(mut a: __m256i) -> __m256i {
    // SAFETY: the text is a comment, without an instruction.
    unsafe { asm!("/* {0} */", inout(ymm_reg) a, options(pure, nomem, nostack, preserves_flags)) };
    a
}

#[target_feature(enable = "avx512f")]
#[inline]
fn opaque_512(mut a: __m512i) -> __m512i {
    // SAFETY: the text is a comment, without an instruction.
    unsafe { asm!("/* {0} */", inout(zmm_reg) a, options(pure, nomem, nostack, preserves_flags)) };
    a
}

/// Returns `word`, and hides it from the compiler, which would replace loads by a gather.
#[inline(always)]
fn not_gathered(mut word: u32) -> u32 {
    // SAFETY: the text is a comment, without an instruction.
    unsafe { asm!("/* {0:e} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags)) };
    word
}

/// Does [`Doubles::accumulate`] with 4 lanes.
///
/// One factor is in memory. So a limb of the other factor, six columns and all temporaries of a
/// product fit into the sixteen registers. Without this assembly the compiler does all
/// multiplications before the first addition, and moves their results through memory.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn accumulate_256(
    (mut low, mut high): (__m256i, __m256i),
    a: __m256d,
    b: &__m256d,
    for_high: __m256d,
    for_both: __m256d,
) -> (__m256i, __m256i) {
    // These have a type, because the compiler can print a register without a type as one of another
    // width.
    let (_h, _l): (__m256d, __m256d);
    // SAFETY: the processor has the instructions. They read borrowed memory, of any alignment.
    unsafe {
        asm!(
            "vmovapd {h}, {for_high}",
            "vfmadd231pd {h}, {a}, [{b}]",
            "vsubpd {l}, {for_both}, {h}",
            "vfmadd231pd {l}, {a}, [{b}]",
            "vpaddq {high}, {high}, {h}",
            "vpaddq {low}, {low}, {l}",
            a = in(ymm_reg) a,
            b = in(reg) b,
            for_high = in(ymm_reg) for_high,
            for_both = in(ymm_reg) for_both,
            low = inout(ymm_reg) low,
            high = inout(ymm_reg) high,
            h = out(ymm_reg) _h,
            l = out(ymm_reg) _l,
            // Without `preserves_flags`, because inexact products set flags of MXCSR.
            options(readonly, nostack),
        );
    }
    (low, high)
}

/// Does [`Doubles::accumulate`] with 8 lanes. The 32 registers hold both factors.
#[target_feature(enable = "avx512f")]
#[inline]
fn accumulate_512(
    (mut low, mut high): (__m512i, __m512i),
    a: __m512d,
    b: __m512d,
    for_high: __m512d,
    for_both: __m512d,
) -> (__m512i, __m512i) {
    // These have a type, because the compiler can print a register without a type as one of another
    // width.
    let (_h, _l): (__m512d, __m512d);
    // SAFETY: the processor has the instructions. They access no memory.
    unsafe {
        asm!(
            "vmovapd {h}, {for_high}",
            "vfmadd231pd {h}, {a}, {b}",
            "vsubpd {l}, {for_both}, {h}",
            "vfmadd231pd {l}, {a}, {b}",
            "vpaddq {high}, {high}, {h}",
            "vpaddq {low}, {low}, {l}",
            a = in(zmm_reg) a,
            b = in(zmm_reg) b,
            for_high = in(zmm_reg) for_high,
            for_both = in(zmm_reg) for_both,
            low = inout(zmm_reg) low,
            high = inout(zmm_reg) high,
            h = out(zmm_reg) _h,
            l = out(zmm_reg) _l,
            // Without `preserves_flags`, because inexact products set flags of MXCSR.
            options(nomem, nostack),
        );
    }
    (low, high)
}

impl Words for Avx2 {
    const LANES: usize = 4;
    type Word = __m256i;

    #[inline(always)]
    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        // SAFETY: the token was made by detection.
        unsafe { with_avx2(work) }
    }

    #[inline(always)]
    fn sha256(self) -> Option<Sha256> {
        self.0
    }

    accesses! {
        load load [u64; 4] -> __m256i = |from| _mm256_loadu_si256(from);
        load load_u32 [u32; 4] -> __m256i = |from| _mm256_cvtepu32_epi64(_mm_loadu_si128(from));
        store store(a: __m256i) [u64; 4] = |to| _mm256_storeu_si256(to, a);
        store store_u32(a: __m256i) [u32; 4] = |to| {
            let low = _mm256_permutevar8x32_epi32(a, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
            _mm_storeu_si128(to, _mm256_castsi256_si128(low));
        };
    }

    #[inline(always)]
    fn transpose<'a>(self, row: impl Fn(usize) -> &'a CacheLine) -> [__m256i; 8] {
        let (p, q, r, s) = (&row(0).0, &row(1).0, &row(2).0, &row(3).0);
        let lower = [self.load(p), self.load(q), self.load(r), self.load(s)];
        let upper = [self.load(&p[4..]), self.load(&q[4..]), self.load(&r[4..]), self.load(&s[4..])];
        let ([a, b, c, d], [e, f, g, h]) = (self.transpose_4x4(lower), self.transpose_4x4(upper));
        [a, b, c, d, e, f, g, h]
    }

    #[inline(always)]
    fn transpose_at(self, rows: &[CacheLine], offsets: &[u32]) -> [__m256i; 8] {
        let offsets: &[u32; 4] = offsets.first_chunk().unwrap_or_else(|| too_short());
        let end = self.splat(size_of_val(rows) as u64);
        // SAFETY: the token was made by detection.
        let inside = unsafe { _mm256_movemask_epi8(_mm256_cmpgt_epi64(end, self.load_u32(offsets))) };
        if inside != -1 {
            no_such_row();
        }
        self.transpose(
            #[inline(always)]
            // SAFETY: every offset is below the size of all rows, and a whole row begins there once
            // its low bits are cleared.
            |lane| unsafe { row_at(rows, &offsets[lane]) },
        )
    }

    #[inline(always)]
    fn transpose_bytes<'a>(self, row: impl Fn(usize) -> &'a [u8; 32]) -> [__m256i; 4] {
        // SAFETY: the token was made by detection; the arrays have 32 bytes, and any alignment is
        // allowed.
        let rows = unsafe {
            [
                _mm256_loadu_si256(row(0).as_ptr().cast()),
                _mm256_loadu_si256(row(1).as_ptr().cast()),
                _mm256_loadu_si256(row(2).as_ptr().cast()),
                _mm256_loadu_si256(row(3).as_ptr().cast()),
            ]
        };
        self.transpose_4x4(rows)
    }

    #[inline(always)]
    fn store_rows(self, words: [__m256i; 4], rows: &mut [[u8; 32]]) {
        let rows: &mut [[u8; 32]; 4] = rows.first_chunk_mut().unwrap_or_else(|| too_short());
        let vectors = self.transpose_4x4(words);
        for at in 0..4 {
            // SAFETY: as for `load`.
            unsafe { _mm256_storeu_si256(rows[at].as_mut_ptr().cast(), vectors[at]) };
        }
    }

    instructions! {
        splat(word: u64) -> __m256i = _mm256_set1_epi64x(word.cast_signed());
        add(a: __m256i, b: __m256i) -> __m256i = _mm256_add_epi64(a, b);
        sub(a: __m256i, b: __m256i) -> __m256i = _mm256_sub_epi64(a, b);
        and(a: __m256i, b: __m256i) -> __m256i = _mm256_and_si256(a, b);
        or(a: __m256i, b: __m256i) -> __m256i = _mm256_or_si256(a, b);
        xor(a: __m256i, b: __m256i) -> __m256i = _mm256_xor_si256(a, b);
        shl<N>(a: __m256i) -> __m256i = _mm256_sll_epi64(a, _mm_cvtsi32_si128(N.cast_signed()));
        shr<N>(a: __m256i) -> __m256i = _mm256_srl_epi64(a, _mm_cvtsi32_si128(N.cast_signed()));
        shl_by(a: __m256i, bits: u32) -> __m256i = _mm256_sll_epi64(a, _mm_cvtsi32_si128(bits.cast_signed()));
        shr_by(a: __m256i, bits: u32) -> __m256i = _mm256_srl_epi64(a, _mm_cvtsi32_si128(bits.cast_signed()));
        swap_bytes(a: __m256i) -> __m256i = _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(SWAP));
        opaque(a: __m256i) -> __m256i = opaque_256(a);
    }
}

impl Halves for Avx2 {
    type Common = Self;

    #[inline(always)]
    fn common(self) -> Self {
        self
    }

    instructions! {
        splat_u32(half: u32) -> __m256i = _mm256_set1_epi32(half.cast_signed());
        add_u32(a: __m256i, b: __m256i) -> __m256i = _mm256_add_epi32(a, b);
        sub_u32(a: __m256i, b: __m256i) -> __m256i = _mm256_sub_epi32(a, b);
        shr_u32<N>(a: __m256i) -> __m256i = _mm256_srl_epi32(a, _mm_cvtsi32_si128(N.cast_signed()));
    }

    accesses! {
        load load_all_u32 [u32; 8] -> __m256i = |from| _mm256_loadu_si256(from);
        store store_all_u32(a: __m256i) [u32; 8] = |to| _mm256_storeu_si256(to, a);
    }

    #[inline(always)]
    fn rotl_u32<const N: u32>(self, a: __m256i) -> __m256i {
        let up = N.cast_signed();
        // SAFETY: the token was made by detection.
        unsafe {
            let (above, below) = (_mm_cvtsi32_si128(up), _mm_cvtsi32_si128(32 - up));
            _mm256_or_si256(_mm256_sll_epi32(a, above), _mm256_srl_epi32(a, below))
        }
    }
}

impl Avx2 {
    /// Transposes four rows of four words.
    #[inline(always)]
    fn transpose_4x4(self, [a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
        // SAFETY: the token was made by detection.
        unsafe {
            let (ab_even, ab_odd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
            let (cd_even, cd_odd) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
            [
                _mm256_permute2x128_si256::<0x20>(ab_even, cd_even),
                _mm256_permute2x128_si256::<0x20>(ab_odd, cd_odd),
                _mm256_permute2x128_si256::<0x31>(ab_even, cd_even),
                _mm256_permute2x128_si256::<0x31>(ab_odd, cd_odd),
            ]
        }
    }
}

impl Doubles for Avx2 {
    type Double = __m256d;

    instructions! {
        double(bits: __m256i) -> __m256d = _mm256_castsi256_pd(bits);
        bits(a: __m256d) -> __m256i = _mm256_castpd_si256(a);
        minus(a: __m256d, b: __m256d) -> __m256d = _mm256_sub_pd(a, b);
        plus(a: __m256d, b: __m256d) -> __m256d = _mm256_add_pd(a, b);
        fma(a: __m256d, b: __m256d, c: __m256d) -> __m256d = _mm256_fmadd_pd(a, b, c);
        accumulate(
            sums: (__m256i, __m256i), a: __m256d, b: &__m256d, high: __m256d, both: __m256d
        ) -> (__m256i, __m256i) = accumulate_256(sums, a, b, high, both);
    }
}

impl Words for Avx512f {
    const LANES: usize = 8;
    type Word = __m512i;

    #[inline(always)]
    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        // SAFETY: the token was made by detection.
        unsafe { with_avx512f(work) }
    }

    accesses! {
        load load [u64; 8] -> __m512i = |from| _mm512_loadu_si512(from);
        load load_u32 [u32; 8] -> __m512i = |from| _mm512_cvtepu32_epi64(_mm256_loadu_si256(from));
        store store(a: __m512i) [u64; 8] = |to| _mm512_storeu_si512(to, a);
        store store_u32(a: __m512i) [u32; 8] = |to| _mm256_storeu_si256(to, _mm512_cvtepi64_epi32(a));
    }

    #[inline(always)]
    fn transpose<'a>(self, row: impl Fn(usize) -> &'a CacheLine) -> [__m512i; 8] {
        let (p, q, r, s) =
            (self.load(&row(0).0), self.load(&row(1).0), self.load(&row(2).0), self.load(&row(3).0));
        let (t, u, v, w) =
            (self.load(&row(4).0), self.load(&row(5).0), self.load(&row(6).0), self.load(&row(7).0));
        // SAFETY: the token was made by detection.
        let (even, odd) = unsafe {
            (
                [
                    _mm512_unpacklo_epi64(p, q),
                    _mm512_unpacklo_epi64(r, s),
                    _mm512_unpacklo_epi64(t, u),
                    _mm512_unpacklo_epi64(v, w),
                ],
                [
                    _mm512_unpackhi_epi64(p, q),
                    _mm512_unpackhi_epi64(r, s),
                    _mm512_unpackhi_epi64(t, u),
                    _mm512_unpackhi_epi64(v, w),
                ],
            )
        };
        let ([a, c, e, g], [b, d, f, h]) = (self.transpose_pairs(even), self.transpose_pairs(odd));
        [a, b, c, d, e, f, g, h]
    }

    #[inline(always)]
    fn transpose_at(self, rows: &[CacheLine], offsets: &[u32]) -> [__m512i; 8] {
        let offsets: &[u32; 8] = offsets.first_chunk().unwrap_or_else(|| too_short());
        let end = self.splat(size_of_val(rows) as u64);
        // SAFETY: the token was made by detection.
        let inside = unsafe { _mm512_cmplt_epu64_mask(self.load_u32(offsets), end) };
        if inside != u8::MAX {
            no_such_row();
        }
        self.transpose(
            #[inline(always)]
            // SAFETY: as for AVX2.
            |lane| unsafe { row_at(rows, &offsets[lane]) },
        )
    }

    #[inline(always)]
    fn transpose_bytes<'a>(self, row: impl Fn(usize) -> &'a [u8; 32]) -> [__m512i; 4] {
        let (a, b) = (self.load_two(row(0), row(4)), self.load_two(row(1), row(5)));
        let (c, d) = (self.load_two(row(2), row(6)), self.load_two(row(3), row(7)));
        // SAFETY: the token was made by detection.
        unsafe {
            let (ab_even, ab_odd) = (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
            let (cd_even, cd_odd) = (_mm512_unpacklo_epi64(c, d), _mm512_unpackhi_epi64(c, d));
            let first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
            let second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
            [
                _mm512_permutex2var_epi64(ab_even, first, cd_even),
                _mm512_permutex2var_epi64(ab_odd, first, cd_odd),
                _mm512_permutex2var_epi64(ab_even, second, cd_even),
                _mm512_permutex2var_epi64(ab_odd, second, cd_odd),
            ]
        }
    }

    #[inline(always)]
    fn store_rows(self, [a, b, c, d]: [__m512i; 4], rows: &mut [[u8; 32]]) {
        let rows: &mut [[u8; 32]; 8] = rows.first_chunk_mut().unwrap_or_else(|| too_short());
        // SAFETY: the token was made by detection; a row has 32 bytes, and any alignment is allowed.
        unsafe {
            let (ab_even, ab_odd) = (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
            let (cd_even, cd_odd) = (_mm512_unpacklo_epi64(c, d), _mm512_unpackhi_epi64(c, d));
            let first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
            let second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
            for (at, two) in [
                (0, _mm512_permutex2var_epi64(ab_even, first, cd_even)),
                (1, _mm512_permutex2var_epi64(ab_odd, first, cd_odd)),
                (4, _mm512_permutex2var_epi64(ab_even, second, cd_even)),
                (5, _mm512_permutex2var_epi64(ab_odd, second, cd_odd)),
            ] {
                _mm256_storeu_si256(rows[at].as_mut_ptr().cast(), _mm512_castsi512_si256(two));
                _mm256_storeu_si256(rows[at + 2].as_mut_ptr().cast(), _mm512_extracti64x4_epi64::<1>(two));
            }
        }
    }

    instructions! {
        splat(word: u64) -> __m512i = _mm512_set1_epi64(word.cast_signed());
        add(a: __m512i, b: __m512i) -> __m512i = _mm512_add_epi64(a, b);
        sub(a: __m512i, b: __m512i) -> __m512i = _mm512_sub_epi64(a, b);
        and(a: __m512i, b: __m512i) -> __m512i = _mm512_and_si512(a, b);
        or(a: __m512i, b: __m512i) -> __m512i = _mm512_or_si512(a, b);
        xor(a: __m512i, b: __m512i) -> __m512i = _mm512_xor_si512(a, b);
        majority(a: __m512i, b: __m512i, c: __m512i) -> __m512i = _mm512_ternarylogic_epi64::<0xe8>(a, b, c);
        shl<N>(a: __m512i) -> __m512i = _mm512_slli_epi64::<N>(a);
        shr<N>(a: __m512i) -> __m512i = _mm512_srli_epi64::<N>(a);
        shl_by(a: __m512i, bits: u32) -> __m512i = _mm512_sll_epi64(a, _mm_cvtsi32_si128(bits.cast_signed()));
        shr_by(a: __m512i, bits: u32) -> __m512i = _mm512_srl_epi64(a, _mm_cvtsi32_si128(bits.cast_signed()));
        swap_bytes(a: __m512i) -> __m512i = _mm512_shuffle_epi8(a, _mm512_broadcast_i32x4(SWAP));
        opaque(a: __m512i) -> __m512i = opaque_512(a);
    }

    #[inline(always)]
    fn xor_where_odd(self, a: __m512i, choice: __m512i, mask: u64) -> __m512i {
        // SAFETY: the token was made by detection.
        unsafe {
            let odd = _mm512_test_epi64_mask(choice, _mm512_set1_epi64(1));
            _mm512_mask_xor_epi64(a, odd, a, self.splat(mask))
        }
    }
}

impl Halves for Avx512f {
    type Common = Self;

    #[inline(always)]
    fn common(self) -> Self {
        self
    }

    instructions! {
        splat_u32(half: u32) -> __m512i = _mm512_set1_epi32(half.cast_signed());
        add_u32(a: __m512i, b: __m512i) -> __m512i = _mm512_add_epi32(a, b);
        sub_u32(a: __m512i, b: __m512i) -> __m512i = _mm512_sub_epi32(a, b);
        shr_u32<N>(a: __m512i) -> __m512i = _mm512_srli_epi32::<N>(a);
    }

    accesses! {
        load load_all_u32 [u32; 16] -> __m512i = |from| _mm512_loadu_si512(from);
        store store_all_u32(a: __m512i) [u32; 16] = |to| _mm512_storeu_si512(to, a);
    }

    #[inline(always)]
    fn rotl_u32<const N: u32>(self, a: __m512i) -> __m512i {
        // SAFETY: the token was made by detection.
        unsafe { _mm512_rolv_epi32(a, _mm512_set1_epi32(N.cast_signed())) }
    }
}

impl Avx512f {
    /// Transposes four rows of four pairs of words: vector i of the result holds pair i of every
    /// row.
    ///
    /// [`Self::transpose`] puts a word of row 2n and the same word of row 2n + 1 into each pair.
    #[inline(always)]
    fn transpose_pairs(self, [a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
        // SAFETY: the token was made by detection.
        unsafe {
            let (ab_even, ab_odd) = (_mm512_shuffle_i64x2::<0x88>(a, b), _mm512_shuffle_i64x2::<0xdd>(a, b));
            let (cd_even, cd_odd) = (_mm512_shuffle_i64x2::<0x88>(c, d), _mm512_shuffle_i64x2::<0xdd>(c, d));
            [
                _mm512_shuffle_i64x2::<0x88>(ab_even, cd_even),
                _mm512_shuffle_i64x2::<0x88>(ab_odd, cd_odd),
                _mm512_shuffle_i64x2::<0xdd>(ab_even, cd_even),
                _mm512_shuffle_i64x2::<0xdd>(ab_odd, cd_odd),
            ]
        }
    }

    /// Loads two rows into one vector.
    #[inline(always)]
    fn load_two(self, a: &[u8; 32], b: &[u8; 32]) -> __m512i {
        // SAFETY: the token was made by detection; the arrays have 32 bytes, and any alignment is
        // allowed.
        unsafe {
            let (a, b) = (_mm256_loadu_si256(a.as_ptr().cast()), _mm256_loadu_si256(b.as_ptr().cast()));
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(a), b)
        }
    }
}

impl Doubles for Avx512f {
    type Double = __m512d;

    instructions! {
        double(bits: __m512i) -> __m512d = _mm512_castsi512_pd(bits);
        bits(a: __m512d) -> __m512i = _mm512_castpd_si512(a);
        minus(a: __m512d, b: __m512d) -> __m512d = _mm512_sub_pd(a, b);
        plus(a: __m512d, b: __m512d) -> __m512d = _mm512_add_pd(a, b);
        fma(a: __m512d, b: __m512d, c: __m512d) -> __m512d = _mm512_fmadd_pd(a, b, c);
        accumulate(
            sums: (__m512i, __m512i), a: __m512d, b: &__m512d, high: __m512d, both: __m512d
        ) -> (__m512i, __m512i) = accumulate_512(sums, a, *b, high, both);
    }
}

impl Bytes64 for Avx2 {
    type Vector64 = [__m256i; 2];

    #[inline(always)]
    fn sextets(self, bytes: &[u8; 32], lead: u32) -> [__m256i; 2] {
        // SAFETY: the token was made by detection; the array has 32 bytes, and any alignment is
        // allowed.
        unsafe {
            let bytes = _mm256_loadu_si256(bytes.as_ptr().cast());
            let lower = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 0, 1, 2, 2, 3, 4, 5));
            let upper = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(5, 6, 7, 0, 5, 6, 7, 0));
            let zero = _mm256_setzero_si256();
            let (lower, upper) =
                (_mm256_blend_epi32::<0x01>(lower, zero), _mm256_blend_epi32::<0x88>(upper, zero));
            let lower = _mm256_shuffle_epi8(lower, _mm256_broadcastsi128_si256(FOURS));
            let upper = _mm256_shuffle_epi8(upper, _mm256_setr_m128i(FOURS_REPEATED, FOURS_FROM_THIRD));
            [sextets_of_words(lower, lead), sextets_of_words(upper, lead)]
        }
    }

    #[inline(always)]
    fn or_bytes(self, a: [__m256i; 2], b: [__m256i; 2]) -> [__m256i; 2] {
        [self.or(a[0], b[0]), self.or(a[1], b[1])]
    }

    #[inline(always)]
    fn look_up(self, table: &[u8; 64], a: [__m256i; 2]) -> [__m256i; 2] {
        // SAFETY: the token was made by detection.
        unsafe { [look_up_256(table, a[0]), look_up_256(table, a[1])] }
    }

    #[inline(always)]
    fn weigh_bytes(self, a: [__m256i; 2], weight: u8) -> [__m256i; 2] {
        // SAFETY: the token was made by detection.
        unsafe {
            let weights = _mm256_set1_epi16(0x100 | i16::from(weight));
            [_mm256_maddubs_epi16(a[0], weights), _mm256_maddubs_epi16(a[1], weights)]
        }
    }

    #[inline(always)]
    fn weigh_u16(self, a: [__m256i; 2], weight: u16) -> [__m256i; 2] {
        // SAFETY: the token was made by detection.
        unsafe {
            let weights = _mm256_set1_epi32(0x1_0000 | i32::from(weight));
            [_mm256_madd_epi16(a[0], weights), _mm256_madd_epi16(a[1], weights)]
        }
    }

    #[inline(always)]
    fn next_u16(self, [a, b]: [__m256i; 2]) -> [__m256i; 2] {
        // SAFETY: the token was made by detection.
        unsafe {
            let middle = _mm256_permute2x128_si256::<0x21>(a, b);
            let end = _mm256_permute2x128_si256::<0x81>(b, b);
            [_mm256_alignr_epi8::<2>(middle, a), _mm256_alignr_epi8::<2>(end, b)]
        }
    }

    #[inline(always)]
    fn meets(self, [a, b]: [__m256i; 2], mask: &[u32; 16]) -> bool {
        let either =
            self.or(self.and(a, self.load_all_u32(mask)), self.and(b, self.load_all_u32(&mask[8..])));
        // SAFETY: the token was made by detection.
        unsafe { _mm256_testz_si256(either, either) == 0 }
    }

    #[inline(always)]
    fn high_bits(self, a: [__m256i; 2]) -> u16 {
        // SAFETY: the token was made by detection.
        unsafe { high_bits_256(a[0]) | high_bits_256(a[1]) << 8 }
    }

    #[inline(always)]
    fn bit_pairs<const N: usize>(self, bitmap: &[u32; N], [a, b]: [__m256i; 2], mask: u16) -> [u16; 2] {
        // SAFETY: the token was made by detection.
        let ([low_a, high_a], [low_b, high_b]) =
            unsafe { (bit_pairs_256(bitmap, a), bit_pairs_256(bitmap, b)) };
        [(low_a | low_b << 8) & mask, (high_a | high_b << 8) & mask]
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 64]) -> [__m256i; 2] {
        let (halves, _) = bytes.as_chunks::<32>();
        // SAFETY: the token was made by detection; each array has 32 bytes, and any alignment is
        // allowed.
        unsafe {
            [_mm256_loadu_si256(halves[0].as_ptr().cast()), _mm256_loadu_si256(halves[1].as_ptr().cast())]
        }
    }

    #[inline(always)]
    fn store_bytes(self, [a, b]: [__m256i; 2], bytes: &mut [u8; 64]) {
        let (halves, _) = bytes.as_chunks_mut::<32>();
        // SAFETY: the token was made by detection; each array has 32 bytes, and any alignment is
        // allowed.
        unsafe {
            _mm256_storeu_si256(halves[0].as_mut_ptr().cast(), a);
            _mm256_storeu_si256(halves[1].as_mut_ptr().cast(), b);
        }
    }
}

/// Does [`Bytes64::sextets`] with words of four bytes, in reverse order, after `lead` zero bits.
#[target_feature(enable = "avx2")]
#[inline]
fn sextets_of_words(held: __m256i, lead: u32) -> __m256i {
    let held = _mm256_srl_epi32(held, _mm_cvtsi32_si128(lead.cast_signed()));
    let first = _mm256_and_si256(_mm256_srli_epi32::<18>(held), _mm256_set1_epi32(0x3f));
    let second = _mm256_and_si256(_mm256_srli_epi32::<4>(held), _mm256_set1_epi32(0x3f00));
    let third = _mm256_and_si256(_mm256_slli_epi32::<10>(held), _mm256_set1_epi32(0x3f_0000));
    let fourth = _mm256_and_si256(_mm256_slli_epi32::<24>(held), _mm256_set1_epi32(0x3f00_0000));
    _mm256_or_si256(_mm256_or_si256(first, second), _mm256_or_si256(third, fourth))
}

/// Does [`Bytes64::look_up`] for half of the bytes.
#[target_feature(enable = "avx2")]
#[inline]
fn look_up_256(table: &[u8; 64], a: __m256i) -> __m256i {
    // SAFETY: the table has four parts of 16 bytes, and any alignment is allowed.
    let parts = unsafe {
        let part: *const __m128i = table.as_ptr().cast();
        [
            _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(part)), a),
            _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(part.add(1))), a),
            _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(part.add(2))), a),
            _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(part.add(3))), a),
        ]
    };
    // A blend chooses by the highest bit of each byte. The shifts move bit 4 and bit 5 there.
    let (by_16, by_32) = (_mm256_slli_epi16::<3>(a), _mm256_slli_epi16::<2>(a));
    let lower = _mm256_blendv_epi8(parts[0], parts[1], by_16);
    let upper = _mm256_blendv_epi8(parts[2], parts[3], by_16);
    _mm256_blendv_epi8(lower, upper, by_32)
}

/// Does [`Bytes64::high_bits`] for half of the words.
#[target_feature(enable = "avx2")]
#[inline]
fn high_bits_256(a: __m256i) -> u16 {
    let high = _mm256_and_si256(a, _mm256_set1_epi8(i8::MIN));
    let none = _mm256_cmpeq_epi32(high, _mm256_setzero_si256());
    !_mm256_movemask_ps(_mm256_castsi256_ps(none)) as u16 & 0xff
}

/// Does [`Bytes64::bit_pairs`] for half of the words, without a mask.
#[target_feature(enable = "avx2")]
#[inline]
fn bit_pairs_256<const N: usize>(bitmap: &[u32; N], a: __m256i) -> [u16; 2] {
    const { assert!(N.is_power_of_two() && N <= 1 << 30) };
    let word = _mm256_and_si256(_mm256_srli_epi32::<4>(a), _mm256_set1_epi32(N as i32 - 1));
    // SAFETY: every index is below `N`.
    let words = unsafe { _mm256_i32gather_epi32::<4>(bitmap.as_ptr().cast(), word) };
    // This shift moves the high bit to the highest place of the word.
    let up = _mm256_andnot_si256(_mm256_slli_epi32::<1>(a), _mm256_set1_epi32(30));
    let pair = _mm256_sllv_epi32(words, up);
    let low = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32::<1>(pair)));
    let high = _mm256_movemask_ps(_mm256_castsi256_ps(pair));
    [low as u16, high as u16]
}

impl Bytes64 for Avx512f {
    type Vector64 = __m512i;

    #[inline(always)]
    fn sextets(self, bytes: &[u8; 32], lead: u32) -> __m512i {
        // SAFETY: the token was made by detection; the array has 32 bytes, and any alignment is
        // allowed.
        unsafe {
            let bytes = _mm512_castsi256_si512(_mm256_loadu_si256(bytes.as_ptr().cast()));
            let places = _mm512_setr_epi32(0, 0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 0, 5, 6, 7, 0);
            let held = _mm512_maskz_permutexvar_epi32(0x77fe, places, bytes);
            let order = _mm512_inserti64x4::<1>(
                _mm512_castsi256_si512(_mm256_broadcastsi128_si256(FOURS)),
                _mm256_setr_m128i(FOURS_REPEATED, FOURS_FROM_THIRD),
            );
            let held = _mm512_shuffle_epi8(held, order);
            let held = _mm512_srl_epi32(held, _mm_cvtsi32_si128(lead.cast_signed()));
            let sum = _mm512_and_si512(_mm512_srli_epi32::<18>(held), _mm512_set1_epi32(0x3f));
            let sum = or_masked(sum, _mm512_srli_epi32::<4>(held), 0x3f00);
            let sum = or_masked(sum, _mm512_slli_epi32::<10>(held), 0x3f_0000);
            or_masked(sum, _mm512_slli_epi32::<24>(held), 0x3f00_0000)
        }
    }

    #[inline(always)]
    fn or_bytes(self, a: __m512i, b: __m512i) -> __m512i {
        self.or(a, b)
    }

    #[inline(always)]
    fn look_up(self, table: &[u8; 64], a: __m512i) -> __m512i {
        // SAFETY: the token was made by detection; the table has four parts of 16 bytes, and any
        // alignment is allowed.
        unsafe {
            let part: *const __m128i = table.as_ptr().cast();
            let (first, second) = (
                _mm512_broadcast_i32x4(_mm_loadu_si128(part)),
                _mm512_broadcast_i32x4(_mm_loadu_si128(part.add(1))),
            );
            let (third, fourth) = (
                _mm512_broadcast_i32x4(_mm_loadu_si128(part.add(2))),
                _mm512_broadcast_i32x4(_mm_loadu_si128(part.add(3))),
            );
            let by_16 = _mm512_test_epi8_mask(a, _mm512_set1_epi8(16));
            let by_32 = _mm512_test_epi8_mask(a, _mm512_set1_epi8(32));
            let lower = _mm512_mask_shuffle_epi8(_mm512_shuffle_epi8(first, a), by_16, second, a);
            let upper = _mm512_mask_shuffle_epi8(_mm512_shuffle_epi8(third, a), by_16, fourth, a);
            _mm512_mask_mov_epi8(lower, by_32, upper)
        }
    }

    instructions! {
        weigh_bytes(a: __m512i, weight: u8) -> __m512i =
            _mm512_maddubs_epi16(a, _mm512_set1_epi16(0x100 | i16::from(weight)));
        weigh_u16(a: __m512i, weight: u16) -> __m512i =
            _mm512_madd_epi16(a, _mm512_set1_epi32(0x1_0000 | i32::from(weight)));
    }

    #[inline(always)]
    fn next_u16(self, a: __m512i) -> __m512i {
        // SAFETY: the token was made by detection.
        unsafe {
            let next = _mm512_alignr_epi32::<1>(a, a);
            _mm512_or_si512(_mm512_srli_epi32::<16>(a), _mm512_slli_epi32::<16>(next))
        }
    }

    #[inline(always)]
    fn meets(self, a: __m512i, mask: &[u32; 16]) -> bool {
        // SAFETY: the token was made by detection.
        unsafe { _mm512_test_epi32_mask(a, self.load_all_u32(mask)) != 0 }
    }

    #[inline(always)]
    fn high_bits(self, a: __m512i) -> u16 {
        // SAFETY: the token was made by detection.
        unsafe { _mm512_test_epi32_mask(a, _mm512_set1_epi8(i8::MIN)) }
    }

    #[inline(always)]
    fn bit_pairs<const N: usize>(self, bitmap: &[u32; N], a: __m512i, mask: u16) -> [u16; 2] {
        const { assert!(N.is_power_of_two() && N <= 1 << 30) };
        // SAFETY: the token was made by detection; every index is below `N`.
        unsafe {
            let word = _mm512_and_si512(_mm512_srli_epi32::<4>(a), _mm512_set1_epi32(N as i32 - 1));
            let zero = _mm512_setzero_si512();
            let words = _mm512_mask_i32gather_epi32::<4>(zero, mask, word, bitmap.as_ptr().cast());
            let pair = _mm512_rorv_epi32(words, _mm512_add_epi32(a, a));
            let (low, high) = (_mm512_set1_epi32(1), _mm512_set1_epi32(2));
            [_mm512_test_epi32_mask(pair, low), _mm512_test_epi32_mask(pair, high)]
        }
    }

    /// Moves the words of a mask together, so that the words of several texts are in one row, and
    /// looks up nothing else. It uses ordinary loads: a gather has many internal operations on most
    /// processors.
    #[inline(always)]
    fn bit_pairs_of_each<const N: usize>(
        self,
        bitmap: &[u32; N],
        words: impl Fn(usize) -> ([__m512i; 2], [u16; 2]),
        found: &mut [[u32; 2]],
    ) {
        const { assert!(N.is_power_of_two() && N <= 1 << 30) };
        /// The number of texts in a row.
        const TEXTS: usize = 32;
        // A whole vector is stored or loaded at any place of a row.
        let (mut row, mut looked_up) = ([0; 32 * TEXTS + 16], [0; 32 * TEXTS + 16]);
        // The low bit of each pair of the row, and the high bit. A word is read at any byte.
        let mut bits = [[0; 4 * TEXTS + 8]; 2];
        let mut masks = [0u32; TEXTS];
        for (chunk, found) in found.chunks_mut(TEXTS).enumerate() {
            let mut len = 0;
            for (text, both) in masks[..found.len()].iter_mut().enumerate() {
                let (vectors, masks) = words(chunk * TEXTS + text);
                for at in 0..2 {
                    // SAFETY: the token was made by detection.
                    let together = unsafe { _mm512_maskz_compress_epi32(masks[at], vectors[at]) };
                    self.store_all_u32(together, &mut row[len..]);
                    len += masks[at].count_ones() as usize;
                }
                *both = u32::from(masks[0]) | u32::from(masks[1]) << 16;
            }
            for first in (0..len).step_by(16) {
                let numbers = self.load_all_u32(&row[first..]);
                // SAFETY: the token was made by detection.
                let words = unsafe {
                    _mm512_and_si512(_mm512_srli_epi32::<4>(numbers), _mm512_set1_epi32(N as i32 - 1))
                };
                self.store_all_u32(words, &mut looked_up[first..]);
            }
            // Whole vectors: the compiler then repeats the loads without a loop.
            for words in &mut looked_up.as_chunks_mut::<16>().0[..len.div_ceil(16)] {
                for word in words {
                    // SAFETY: the loop before has made every index smaller than `N`.
                    *word = not_gathered(unsafe { *bitmap.get_unchecked(*word as usize) });
                }
            }
            for first in (0..len).step_by(16) {
                let (words, numbers) =
                    (self.load_all_u32(&looked_up[first..]), self.load_all_u32(&row[first..]));
                // SAFETY: the token was made by detection.
                let [low, high] = unsafe {
                    let pairs = _mm512_rorv_epi32(words, _mm512_add_epi32(numbers, numbers));
                    let (low, high) = (_mm512_set1_epi32(1), _mm512_set1_epi32(2));
                    [_mm512_test_epi32_mask(pairs, low), _mm512_test_epi32_mask(pairs, high)]
                };
                bits[0][first / 8..][..2].copy_from_slice(&low.to_le_bytes());
                bits[1][first / 8..][..2].copy_from_slice(&high.to_le_bytes());
            }
            let mut first = 0;
            for (found, mask) in found.iter_mut().zip(masks) {
                for bit in 0..2 {
                    let bits: &[u8; 8] = bits[bit][first / 8..].first_chunk().unwrap_or(&[0; 8]);
                    let bits = (u64::from_le_bytes(*bits) >> (first % 8)) as u32;
                    // SAFETY: the token was made by detection. Bits beyond those of the text do not
                    // fit into its mask.
                    found[bit] = unsafe { _pdep_u32(bits, mask) };
                }
                first += mask.count_ones() as usize;
            }
        }
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 64]) -> __m512i {
        // SAFETY: the token was made by detection; the array has 64 bytes, and any alignment is
        // allowed.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store_bytes(self, a: __m512i, bytes: &mut [u8; 64]) {
        // SAFETY: the token was made by detection; the array has 64 bytes, and any alignment is
        // allowed.
        unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), a) }
    }
}

/// Returns `sum | shifted & mask`, for each word.
#[target_feature(enable = "avx512f")]
#[inline]
fn or_masked(sum: __m512i, shifted: __m512i, mask: i32) -> __m512i {
    _mm512_ternarylogic_epi32::<0xf8>(sum, shifted, _mm512_set1_epi32(mask))
}

extends! { Avx512ifma: Avx512f by with_avx512ifma }

impl Madd52 for Avx512ifma {
    const SIGNED_CARRY: bool = true;

    instructions! {
        madd52lo(sum: __m512i, a: __m512i, b: __m512i) -> __m512i = _mm512_madd52lo_epu64(sum, a, b);
        madd52hi(sum: __m512i, a: __m512i, b: __m512i) -> __m512i = _mm512_madd52hi_epu64(sum, a, b);
        carry(a: __m512i) -> __m512i = _mm512_srai_epi64::<52>(a);
    }
}

extends! { AvxIfma: Avx2 by with_avxifma }

impl Madd52 for AvxIfma {
    const SIGNED_CARRY: bool = false;

    instructions! {
        madd52lo(sum: __m256i, a: __m256i, b: __m256i) -> __m256i = _mm256_madd52lo_avx_epu64(sum, a, b);
        madd52hi(sum: __m256i, a: __m256i, b: __m256i) -> __m256i = _mm256_madd52hi_avx_epu64(sum, a, b);
        carry(a: __m256i) -> __m256i = _mm256_srli_epi64::<52>(a);
    }
}

/// The order of bytes that reverses each 64-bit word.
const SWAP: __m128i = order([7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]);

/// Orders of bytes for [`Bytes64::sextets`]: each word takes four bytes in reverse order. The words
/// of `FOURS` begin at bytes 3, 6, 9 and 12, those of `FOURS_REPEATED` at 3, 6, 9 and 6, and all
/// words of `FOURS_FROM_THIRD` at 9.
const FOURS: __m128i = order([6, 5, 4, 3, 9, 8, 7, 6, 12, 11, 10, 9, 15, 14, 13, 12]);
const FOURS_REPEATED: __m128i = order([6, 5, 4, 3, 9, 8, 7, 6, 12, 11, 10, 9, 9, 8, 7, 6]);
const FOURS_FROM_THIRD: __m128i = order([12, 11, 10, 9, 12, 11, 10, 9, 12, 11, 10, 9, 12, 11, 10, 9]);

/// Returns an order of bytes as a vector.
const fn order(bytes: [u8; 16]) -> __m128i {
    // SAFETY: both types have 16 bytes, and every bit pattern is valid for them.
    unsafe { std::mem::transmute(bytes) }
}

/// Returns the row at `offset` bytes from the first one. The lowest six bits do not count.
///
/// # Safety
///
/// The offset must be below the size of all rows.
#[inline(always)]
unsafe fn row_at<'a>(rows: &'a [CacheLine], offset: &u32) -> &'a CacheLine {
    // SAFETY: a row begins there, because the size of all rows is a multiple of 64 bytes. The
    // volatile read keeps the compiler from taking eight offsets out of one vector, which costs more
    // than eight loads.
    unsafe { &*rows.as_ptr().byte_add((std::ptr::from_ref(offset).read_volatile() & !63) as usize) }
}

/// Compiles the functions of [`Doubles::accumulate`] on their own, and returns their names, so that
/// a test can read their instructions.
#[inline]
#[must_use]
pub fn compiled_splits() -> [&'static str; 2] {
    type Sums<W> = (W, W);
    let narrow: unsafe fn(Sums<__m256i>, __m256d, &__m256d, __m256d, __m256d) -> Sums<__m256i> =
        accumulate_256;
    let wide: unsafe fn(Sums<__m512i>, __m512d, __m512d, __m512d, __m512d) -> Sums<__m512i> = accumulate_512;
    std::hint::black_box((narrow, wide));
    ["accumulate_256", "accumulate_512"]
}

#[cold]
fn no_such_row() -> ! {
    panic!("an offset beyond the rows")
}
