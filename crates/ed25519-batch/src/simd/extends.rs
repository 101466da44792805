//! Instruction sets that add instructions to another set, and have its vectors.

use super::cache_line::CacheLine;
#[cfg(target_arch = "x86_64")]
use super::sha256::Sha256;
#[cfg(target_arch = "aarch64")]
use super::sha512::Sha512;
use super::words::{Halves, Words};

/// A token of an instruction set that includes another one.
pub trait Extends: Copy + Send + Sync + 'static {
    /// The token of the other set.
    type Base: Words;

    /// Returns the token of the other set.
    fn base(self) -> Self::Base;
    /// Does what [`Words::run`] does, with the instructions of both sets.
    fn run_both<R>(self, work: impl FnOnce() -> R) -> R;
}

/// Makes a token, which holds the token of a base, a set that extends the base. The function runs
/// code with the instructions of both.
#[cfg(target_arch = "x86_64")]
macro_rules! extends {
    ($set:ident: $base:ident by $run:ident) => {
        impl Extends for $set {
            type Base = $base;

            #[inline(always)]
            fn base(self) -> $base {
                self.0
            }

            #[inline(always)]
            fn run_both<R>(self, work: impl FnOnce() -> R) -> R {
                // SAFETY: only detection makes the token, so the processor has the instructions.
                unsafe { $run(work) }
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
pub(super) use extends;

/// Defines methods that call the same method of the base.
macro_rules! as_base {
    ($($(#[$only:meta])? $method:ident $(<$n:ident>)? ($($arg:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        $(
            $(#[$only])?
            #[inline(always)]
            fn $method $(<const $n: u32>)? (self, $($arg: $type),*) $(-> $result)? {
                self.base().$method $(::<$n>)? ($($arg),*)
            }
        )*
    };
}

impl<T: Extends> Words for T {
    const LANES: usize = T::Base::LANES;
    type Word = <T::Base as Words>::Word;

    #[inline(always)]
    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        self.run_both(work)
    }

    #[inline(always)]
    fn transpose<'a>(self, row: impl Fn(usize) -> &'a CacheLine) -> [Self::Word; 8] {
        self.base().transpose(row)
    }

    #[inline(always)]
    fn transpose_bytes<'a>(self, row: impl Fn(usize) -> &'a [u8; 32]) -> [Self::Word; 4] {
        self.base().transpose_bytes(row)
    }

    as_base! {
        #[cfg(target_arch = "x86_64")]
        sha256() -> Option<Sha256>;
        #[cfg(target_arch = "aarch64")]
        sha512() -> Option<Sha512>;
        splat(word: u64) -> Self::Word;
        load(words: &[u64]) -> Self::Word;
        store(a: Self::Word, words: &mut [u64]);
        load_u32(halves: &[u32]) -> Self::Word;
        store_u32(a: Self::Word, halves: &mut [u32]);
        store_rows(words: [Self::Word; 4], rows: &mut [[u8; 32]]);
        transpose_at(rows: &[CacheLine], offsets: &[u32]) -> [Self::Word; 8];
        add(a: Self::Word, b: Self::Word) -> Self::Word;
        sub(a: Self::Word, b: Self::Word) -> Self::Word;
        and(a: Self::Word, b: Self::Word) -> Self::Word;
        or(a: Self::Word, b: Self::Word) -> Self::Word;
        xor(a: Self::Word, b: Self::Word) -> Self::Word;
        majority(a: Self::Word, b: Self::Word, c: Self::Word) -> Self::Word;
        xor_where_odd(a: Self::Word, choice: Self::Word, mask: u64) -> Self::Word;
        with_top<N>(a: Self::Word, top: u64) -> Self::Word;
        shl<N>(a: Self::Word) -> Self::Word;
        shr<N>(a: Self::Word) -> Self::Word;
        shl_by(a: Self::Word, bits: u32) -> Self::Word;
        shr_by(a: Self::Word, bits: u32) -> Self::Word;
        rotr<N>(a: Self::Word) -> Self::Word;
        swap_bytes(a: Self::Word) -> Self::Word;
        opaque(a: Self::Word) -> Self::Word;
    }
}

impl<T: Extends<Base: Halves>> Halves for T {
    type Common = T::Base;

    #[inline(always)]
    fn common(self) -> T::Base {
        self.base()
    }

    as_base! {
        splat_u32(half: u32) -> Self::Word;
        load_all_u32(halves: &[u32]) -> Self::Word;
        store_all_u32(a: Self::Word, halves: &mut [u32]);
        add_u32(a: Self::Word, b: Self::Word) -> Self::Word;
        sub_u32(a: Self::Word, b: Self::Word) -> Self::Word;
        rotl_u32<N>(a: Self::Word) -> Self::Word;
        shr_u32<N>(a: Self::Word) -> Self::Word;
    }
}
