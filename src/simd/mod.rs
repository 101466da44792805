//! Instruction sets: found out at run time, and the lanes that each of them has.
//!
//! A token ([`Scalar`], [`Avx2`], [`Avx512f`], [`Avx512ifma`]) stands for an instruction set. Only detection makes one,
//! so whoever holds a token may use its instructions, and everything above this room is safe Rust. What an
//! algorithm needs it asks of the traits: [`Words`] of 64 bits, [`Doubles`] in the same lanes,
//! the 52-bit products of [`Madd52`], and the characters of [`Bytes64`]. It is written once, marked `#[inline(always)]` from top to bottom, and becomes
//! machine code of an instruction set where [`Words::run`] is called.
//!
//! With `gpu`, whose foreign calls need it, this is the only room with `unsafe`.

mod best;
mod cache_line;
mod detect;
mod scalar;
mod words;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use best::Best;
pub(crate) use best::with_best;
pub use cache_line::{CacheLine, prefetch};
pub use detect::{Missing, WITHOUT, detected};
pub use scalar::Scalar;
pub use words::{Bytes64, Doubles, Madd52, Words};
#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512f, Avx512ifma};

/// The block for each of the numbers, written out: an index that is known makes an array a set of registers.
macro_rules! unroll {
    ($at:ident of $($number:literal)* => $block:block) => {
        $({
            let $at: usize = $number;
            $block
        })*
    };
}
pub(crate) use unroll;

#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
pub(crate) use tests::on_every_set;
