//! The instruction sets that tests run with: those of the processor, and those that are emulated.

#[cfg(target_arch = "x86_64")]
use ed25519_batch::simd::Avx2;
use ed25519_batch::simd::{Extends, Madd52, Missing, Words};

/// Checks an instruction set. If the processor lacks it, prints its name or fails the test
/// ([`crate::require::missing`]).
pub fn on<T>(token: Result<T, Missing>, check: impl FnOnce(T)) {
    match token {
        Ok(token) => check(token),
        Err(Missing(sets)) => sets.into_iter().for_each(crate::require::missing),
    }
}

/// Runs a check, generic in [`Words`], with every instruction set of the processor, and names the
/// missing ones.
macro_rules! on_every_set {
    ($check:ident) => {{
        $crate::simd::sets::on_every_common_set!($check);
        #[cfg(target_arch = "x86_64")]
        {
            use ed25519_batch::simd::{Avx512ifma, AvxIfma};
            use $crate::simd::sets::on;
            on(AvxIfma::detect(), $check);
            on(Avx512ifma::detect(), $check);
        }
    }};
}
pub(crate) use on_every_set;

/// Runs a check, generic in [`Halves`], with every set that is [`Halves::Common`]. The code that
/// hashes is compiled for these alone.
macro_rules! on_every_common_set {
    ($check:ident) => {{
        use ed25519_batch::simd::Scalar;
        $check(Scalar::plain());
        $check(Scalar::detect());
        #[cfg(target_arch = "x86_64")]
        {
            use ed25519_batch::simd::{Avx2, Avx512f};
            use $crate::simd::sets::on;
            on(Avx2::detect(), $check);
            on(Avx2::detect().map(Avx2::without_sha256), $check);
            on(Avx512f::detect(), $check);
        }
        #[cfg(target_arch = "aarch64")]
        {
            use ed25519_batch::simd::Neon;
            use $crate::simd::sets::on;
            on(Neon::detect(), $check);
            on(Neon::detect().map(Neon::without_sha512), $check);
        }
    }};
}
pub(crate) use on_every_common_set;

/// Runs a check, generic in [`Madd52`], with every instruction set of the processor that has 52-bit
/// products, and with those that emulate them. Names the missing ones.
macro_rules! on_every_madd52 {
    (|$simd:ident| $check:expr) => {{
        use ed25519_batch::simd::Scalar;
        use $crate::simd::sets::Emulated;
        let $simd = Emulated::<_, true>(Scalar::plain());
        $check;
        #[cfg(target_arch = "x86_64")]
        {
            use ed25519_batch::simd::{Avx512ifma, AvxIfma};
            use $crate::simd::sets::{AvxIfmaByEvex, on};
            on(AvxIfmaByEvex::detect(), |$simd| $check);
            on(AvxIfma::detect(), |$simd| $check);
            on(Avx512ifma::detect(), |$simd| $check);
        }
        #[cfg(target_arch = "aarch64")]
        {
            use ed25519_batch::simd::Neon;
            use $crate::simd::sets::on;
            on(Neon::detect().map(Emulated::<_, true>), |$simd| $check);
        }
    }};
}
pub(crate) use on_every_madd52;

/// A set with the 52-bit products of [`Madd52`], emulated lane by lane: slow, but on every machine.
#[derive(Clone, Copy)]
pub struct Emulated<S, const SIGNED_CARRY: bool>(pub S);

impl<S: Words, const SIGNED_CARRY: bool> Extends for Emulated<S, SIGNED_CARRY> {
    type Base = S;

    #[inline(always)]
    fn base(self) -> S {
        self.0
    }

    /// The base needs no instruction that the processor may lack.
    #[inline(always)]
    fn run_both<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }
}

/// The mask of the low 52 bits.
const LOW: u64 = (1 << 52) - 1;

/// Returns the product of the low 52 bits of `a` and `b`.
#[inline(always)]
fn product(a: u64, b: u64) -> u128 {
    u128::from(a & LOW) * u128::from(b & LOW)
}

impl<S: Words, const SIGNED_CARRY: bool> Emulated<S, SIGNED_CARRY> {
    /// Replaces the word `sum` of each lane by `of_one(sum, a, b)`.
    #[inline(always)]
    fn each(self, [sum, a, b]: [S::Word; 3], of_one: impl Fn(u64, u64, u64) -> u64) -> S::Word {
        let [mut sums, mut left, mut right] = [[0; 8]; 3];
        self.store(sum, &mut sums);
        self.store(a, &mut left);
        self.store(b, &mut right);
        for lane in 0..S::LANES {
            sums[lane] = of_one(sums[lane], left[lane], right[lane]);
        }
        self.load(&sums)
    }
}

impl<S: Words, const SIGNED_CARRY: bool> Madd52 for Emulated<S, SIGNED_CARRY> {
    const SIGNED_CARRY: bool = SIGNED_CARRY;

    #[inline(always)]
    fn madd52lo(self, sum: S::Word, a: S::Word, b: S::Word) -> S::Word {
        self.each(
            [sum, a, b],
            #[inline(always)]
            |sum, a, b| sum.wrapping_add(product(a, b) as u64 & LOW),
        )
    }

    #[inline(always)]
    fn madd52hi(self, sum: S::Word, a: S::Word, b: S::Word) -> S::Word {
        self.each(
            [sum, a, b],
            #[inline(always)]
            |sum, a, b| sum.wrapping_add((product(a, b) >> 52) as u64),
        )
    }

    #[inline(always)]
    fn carry(self, a: S::Word) -> S::Word {
        if !SIGNED_CARRY {
            return self.shr::<52>(a);
        }
        self.each(
            [a; 3],
            #[inline(always)]
            |a, _, _| (a.cast_signed() >> 52).cast_unsigned(),
        )
    }
}

/// [`AvxIfma`] on a processor that has its instructions only in the encoding of AVX-512.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct AvxIfmaByEvex(Avx2);

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "runs the instructions of AVX-IFMA on more processors")]
mod evex {
    use std::arch::x86_64::{__m256i, _mm256_madd52hi_epu64, _mm256_madd52lo_epu64};

    use ed25519_batch::simd::{Avx2, Avx512ifma, AvxIfma, Extends, Madd52, Missing, Words as _};

    use super::AvxIfmaByEvex;

    impl AvxIfmaByEvex {
        pub fn detect() -> Result<Self, Missing> {
            Avx512ifma::detect()?;
            Avx2::detect().map(Self)
        }
    }

    #[target_feature(enable = "avx512ifma,avx512f,avx512vl,avx2,fma,bmi2")]
    fn with_evex<R>(work: impl FnOnce() -> R) -> R {
        work()
    }

    impl Extends for AvxIfmaByEvex {
        type Base = Avx2;

        #[inline(always)]
        fn base(self) -> Avx2 {
            self.0
        }

        #[inline(always)]
        fn run_both<R>(self, work: impl FnOnce() -> R) -> R {
            // SAFETY: only detection makes the token, so the processor has the instructions.
            unsafe { with_evex(work) }
        }
    }

    impl Madd52 for AvxIfmaByEvex {
        const SIGNED_CARRY: bool = AvxIfma::SIGNED_CARRY;

        #[inline(always)]
        fn madd52lo(self, sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: `detect` made the token.
            unsafe { _mm256_madd52lo_epu64(sum, a, b) }
        }

        #[inline(always)]
        fn madd52hi(self, sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: `detect` made the token.
            unsafe { _mm256_madd52hi_epu64(sum, a, b) }
        }

        #[inline(always)]
        fn carry(self, a: __m256i) -> __m256i {
            self.shr::<52>(a)
        }
    }
}
