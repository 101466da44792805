//! What the processor at hand can do, found out at run time, and the instructions that Rust itself does not have.

/// The instruction sets that matter to a search, in the processor's own names, as far as this processor
/// has them.
#[must_use]
pub fn detected() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        let known = [
            ("avx2", is_x86_feature_detected!("avx2")),
            ("fma", is_x86_feature_detected!("fma")),
            ("bmi2", is_x86_feature_detected!("bmi2")),
            ("adx", is_x86_feature_detected!("adx")),
            ("sha", is_x86_feature_detected!("sha")),
            ("avx512f", is_x86_feature_detected!("avx512f")),
            ("avx512vl", is_x86_feature_detected!("avx512vl")),
            ("avx512ifma", is_x86_feature_detected!("avx512ifma")),
        ];
        known.into_iter().filter_map(|(name, has)| has.then_some(name)).collect()
    }
    #[cfg(not(target_arch = "x86_64"))]
    Vec::new()
}

/// Asks the processor to bring the line of the cache that `place` begins in. A hint, without effect elsewhere.
#[inline(always)]
#[allow(unsafe_code, reason = "the instruction is one of this room's")]
pub fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect but on the cache, whatever the address; this one is a reference's.
    // Every x86-64 processor has the instruction (SSE).
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
