//! The back ends of this machine, for benches that measure each of them.

use ed25519_batch::internals::{Field, Portable};
use ed25519_batch::simd::{Halves, Scalar};

/// A measurement that works with any back end.
pub trait BackEnd {
    /// Measures one back end.
    fn measure<F: Field<Simd: Halves>>(&mut self, name: &str, field: F);
}

/// Measures every back end that the processor has.
pub fn each_back_end(what: &mut impl BackEnd) {
    what.measure("portable", Portable(Scalar::detect()));
    #[cfg(target_arch = "x86_64")]
    {
        use ed25519_batch::internals::{Fma, Ifma};
        use ed25519_batch::simd::{Avx2, Avx512f, Avx512ifma, AvxIfma};
        if let Ok(simd) = Avx2::detect() {
            what.measure("avx2", Fma(simd));
        }
        if let Ok(simd) = AvxIfma::detect() {
            what.measure("avxifma", Ifma(simd));
        }
        if let Ok(simd) = Avx512f::detect() {
            what.measure("avx512f", Fma(simd));
        }
        if let Ok(simd) = Avx512ifma::detect() {
            what.measure("avx512ifma", Ifma(simd));
        }
    }
    #[cfg(target_arch = "aarch64")]
    if let Ok(simd) = ed25519_batch::simd::Neon::detect() {
        what.measure("neon", ed25519_batch::internals::Fma(simd));
    }
}
