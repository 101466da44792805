//! The choice of an instruction set at run time.

#[cfg(target_arch = "aarch64")]
use super::aarch64::Neon;
use super::scalar::Scalar;
#[cfg(target_arch = "x86_64")]
use super::x86::{Avx2, Avx512f};

/// An instruction set that this processor has, with [`Bytes64`](super::Bytes64).
#[derive(Clone, Copy, Debug)]
pub enum InstructionSet {
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

impl InstructionSet {
    /// Returns the set with the widest vectors.
    #[must_use]
    pub fn widest() -> Self {
        Self::every().swap_remove(0)
    }

    /// Returns all sets of this processor, the widest first.
    #[must_use]
    pub fn every() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        let vectors = [Avx512f::detect().map(Self::Avx512f), Avx2::detect().map(Self::Avx2)];
        #[cfg(target_arch = "aarch64")]
        let vectors = [Neon::detect().map(Self::Neon)];
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let vectors: [Result<Self, super::detect::Missing>; 0] = [];
        let scalar = Self::Scalar(Scalar::detect());
        vectors.into_iter().filter_map(Result::ok).chain([scalar]).collect()
    }
}

/// Evaluates an expression with the token of an [`InstructionSet`]. The expression is generic in
/// [`Bytes64`](super::Bytes64).
#[macro_export]
macro_rules! with_set {
    ($set:expr, $simd:ident => $work:expr) => {
        match $set {
            #[cfg(target_arch = "x86_64")]
            $crate::simd::InstructionSet::Avx512f($simd) => $work,
            #[cfg(target_arch = "x86_64")]
            $crate::simd::InstructionSet::Avx2($simd) => $work,
            #[cfg(target_arch = "aarch64")]
            $crate::simd::InstructionSet::Neon($simd) => $work,
            $crate::simd::InstructionSet::Scalar($simd) => $work,
        }
    };
}
pub use crate::with_set;
