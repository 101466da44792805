//! Instruction sets, detected at run time, and vector operations for each of them.
//!
//! A token ([`Scalar`], `Neon`, `Avx2`, `AvxIfma`, `Avx512f`, `Avx512ifma`) stands for an instruction set. Only detection makes a token, so its holder can use
//! its instructions, and everything above this module is safe Rust.
//!
//! An algorithm uses the traits: [`Words`] of 64 bits, [`Doubles`] in the same lanes, the 52-bit
//! products of [`Madd52`], the 128-bit products of [`Wide`], and the characters of [`Bytes64`]. It
//! is written once, with `#[inline(always)]` on every function. [`Words::run`] compiles it for an
//! instruction set.
//!
//! Only this module, and `gpu` and `sys::windows` with their foreign calls, contain `unsafe`.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod cache_line;
mod detect;
mod extends;
mod instruction_set;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod sha256;
#[cfg(target_arch = "aarch64")]
mod sha512;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod token;
mod words;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "aarch64")]
pub use aarch64::Neon;
pub use cache_line::{Cache, CacheLine, prefetch, prefetch_at};
pub use detect::{DISABLE_ENV, Missing, detected};
pub use extends::Extends;
pub use instruction_set::InstructionSet;
pub use instruction_set::with_set;
pub use scalar::Scalar;
#[cfg(target_arch = "x86_64")]
pub use sha256::{Quad, Sha256};
#[cfg(target_arch = "aarch64")]
pub use sha512::{Pair, Sha512};
pub use words::{Bytes64, Doubles, Halves, Madd52, Wide, Words};
#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512f, Avx512ifma, AvxIfma, compiled_splits};

/// Repeats a block for each of the numbers, without a loop. With constant indices the compiler
/// keeps an array in registers.
#[doc(hidden)]
#[macro_export]
macro_rules! unroll {
    ($at:ident of $($number:literal)* => $block:block) => {
        $({
            let $at: usize = $number;
            $block
        })*
    };
}
#[doc(hidden)]
pub use crate::unroll;
