//! Cache lines.

/// Eight words that fill one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct CacheLine(pub [u64; 8]);

#[allow(unsafe_code, reason = "the type is one of this module's")]
// SAFETY: it has eight words and no padding, and zeros are such words.
unsafe impl bytemuck::Zeroable for CacheLine {}

#[allow(unsafe_code, reason = "the type is one of this module's")]
// SAFETY: any bits are eight words, and it has no padding.
unsafe impl bytemuck::Pod for CacheLine {}

/// A cache of the processor.
#[derive(Clone, Copy)]
pub enum Cache {
    /// The first-level cache: for what is used within some hundred cycles.
    First,
    /// The second-level cache: for what is used later.
    Second,
}

/// Asks the processor to load the cache line in which `place` begins into the first-level cache.
/// This is a hint; it does nothing on processors other than x86-64 and aarch64.
#[inline(always)]
pub fn prefetch<T>(place: &T) {
    prefetch_address(std::ptr::from_ref(place).cast(), Cache::First);
}

/// Asks the processor to load the lines at `offsets` into `cache`, as [`prefetch`] does. Offsets
/// are in bytes from the first line. One beyond the last line does no harm.
#[inline(always)]
pub fn prefetch_at(lines: &[CacheLine], offsets: &[u32], cache: Cache) {
    let first: *const i8 = lines.as_ptr().cast();
    for offset in offsets {
        prefetch_address(first.wrapping_add(*offset as usize), cache);
    }
}

#[inline(always)]
#[allow(unsafe_code, reason = "the instruction is one of this module's")]
fn prefetch_address(address: *const i8, cache: Cache) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch changes nothing but the caches, at any address. Every x86-64 processor has
    // the instruction (SSE).
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        match cache {
            Cache::First => _mm_prefetch::<_MM_HINT_T0>(address),
            Cache::Second => _mm_prefetch::<_MM_HINT_T1>(address),
        }
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a prefetch changes nothing but the caches, at any address. Every aarch64 processor has
    // the instruction.
    unsafe {
        use std::arch::asm;
        let at = address.addr();
        match cache {
            Cache::First => {
                asm!("prfm pldl1keep, [{}]", in(reg) at, options(nomem, nostack, preserves_flags))
            }
            Cache::Second => {
                asm!("prfm pldl2keep, [{}]", in(reg) at, options(nomem, nostack, preserves_flags))
            }
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = (address, cache);
}
