//! Cache lines.

/// Eight words that fill one cache line.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct CacheLine(pub [u64; 8]);

/// Asks the processor to load the cache line in which `place` begins. This is a hint; it does
/// nothing on processors other than x86-64.
#[inline(always)]
#[allow(unsafe_code, reason = "the instruction is one of this room's")]
pub fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch changes nothing but the cache, at any address, and this address comes from
    // a reference. Every x86-64 processor has the instruction (SSE).
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
