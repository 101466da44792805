//! The choice of the best instruction set for bytes, at run time.

#[cfg(target_arch = "aarch64")]
use super::aarch64::Neon;
use super::scalar::Scalar;
#[cfg(target_arch = "x86_64")]
use super::vbmi::Avx512vbmi;
#[cfg(target_arch = "x86_64")]
use super::x86::{Avx2, Avx512f};

/// The best instruction set of this processor for [`Bytes64`](super::Bytes64).
#[derive(Clone, Copy, Debug)]
pub enum Best {
    /// AVX-512 VBMI: any byte of a vector in one instruction.
    #[cfg(target_arch = "x86_64")]
    Avx512vbmi(Avx512vbmi),
    /// AVX-512: 64 bytes are one vector.
    #[cfg(target_arch = "x86_64")]
    Avx512f(Avx512f),
    /// AVX2: 64 bytes are two vectors.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// NEON: 64 bytes are four vectors.
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    /// Ordinary words, on any processor.
    Scalar(Scalar),
}

impl Best {
    /// Detects the best instruction set.
    #[must_use]
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let widest = Avx512vbmi::detect().map(Self::Avx512vbmi);
            let wide = widest.or_else(|_| Avx512f::detect().map(Self::Avx512f));
            if let Ok(set) = wide.or_else(|_| Avx2::detect().map(Self::Avx2)) {
                return set;
            }
        }
        #[cfg(target_arch = "aarch64")]
        if let Ok(set) = Neon::detect() {
            return Self::Neon(set);
        }
        Self::Scalar(Scalar::detect())
    }
}

/// Evaluates an expression with the token of a [`Best`]. The expression is generic in
/// [`Bytes64`](super::Bytes64).
macro_rules! with_best {
    ($best:expr, $simd:ident => $work:expr) => {
        match $best {
            #[cfg(target_arch = "x86_64")]
            $crate::simd::Best::Avx512vbmi($simd) => $work,
            #[cfg(target_arch = "x86_64")]
            $crate::simd::Best::Avx512f($simd) => $work,
            #[cfg(target_arch = "x86_64")]
            $crate::simd::Best::Avx2($simd) => $work,
            #[cfg(target_arch = "aarch64")]
            $crate::simd::Best::Neon($simd) => $work,
            $crate::simd::Best::Scalar($simd) => $work,
        }
    };
}
pub(crate) use with_best;
