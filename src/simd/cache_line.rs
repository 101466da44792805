//! Lines of the cache.

/// Eight words that fill one line of the cache.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct CacheLine(pub [u64; 8]);

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
