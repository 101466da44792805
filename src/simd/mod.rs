//! Instruction sets: found out at run time, and the lanes that each of them has.
//!
//! A token ([`Scalar`], [`Avx2`], [`Avx512f`], [`Avx512ifma`]) stands for an instruction set. Only detection makes one,
//! so whoever holds a token may use its instructions, and everything above this room is safe Rust. What an
//! algorithm needs it asks of the traits: [`Words`] of 64 bits, [`Doubles`] in the same lanes,
//! the 52-bit products of [`Madd52`], and the characters of [`Bytes64`]. It is written once, marked `#[inline(always)]` from top to bottom, and becomes
//! machine code of an instruction set where [`Words::run`] is called.
//!
//! With `gpu`, whose foreign calls need it, this is the only room with `unsafe`.

mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use scalar::Scalar;
#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512f, Avx512ifma};

/// Vectors of 64-bit words, one word a lane. Sums and differences are taken modulo 2^64.
pub trait Words: Copy + Send + Sync + 'static {
    /// Words in a vector.
    const LANES: usize;
    /// A vector.
    type Word: Copy + Send + Sync;

    /// Does `work` by the instructions of this set. The code is compiled for them as far as it is inlined into `work`.
    fn run<R>(self, work: impl FnOnce() -> R) -> R;

    /// The same word in every lane.
    fn splat(self, word: u64) -> Self::Word;
    /// The first [`Self::LANES`] words of a slice.
    ///
    /// # Panics
    ///
    /// The slice is shorter.
    fn load(self, words: &[u64]) -> Self::Word;
    /// Writes to the first [`Self::LANES`] words of a slice.
    ///
    /// # Panics
    ///
    /// The slice is shorter.
    fn store(self, a: Self::Word, words: &mut [u64]);
    /// As [`Self::load`], each word from a half.
    fn load_u32(self, halves: &[u32]) -> Self::Word;
    /// As [`Self::store`], of each word the low half.
    fn store_u32(self, a: Self::Word, halves: &mut [u32]);
    /// The transpose of the rows that `row` gives for each lane: element i holds word i of every row.
    fn transpose<'a>(self, row: impl Fn(usize) -> &'a CacheLine) -> [Self::Word; 8];
    /// The same of 32-byte rows, their words little-endian.
    fn transpose_bytes<'a>(self, row: impl Fn(usize) -> &'a [u8; 32]) -> [Self::Word; 4];

    /// a + b
    fn add(self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// a - b
    fn sub(self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// a and b
    fn and(self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// a or b
    fn or(self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// a exclusive-or b
    fn xor(self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// a shifted up by `N` bits, 0 to 63.
    fn shl<const N: u32>(self, a: Self::Word) -> Self::Word;
    /// a shifted down by `N` bits, 0 to 63, zeros following.
    fn shr<const N: u32>(self, a: Self::Word) -> Self::Word;
    /// a shifted up by as many bits; 64 or more leave 0.
    fn shl_by(self, a: Self::Word, bits: u32) -> Self::Word;
    /// a shifted down by as many bits; 64 or more leave 0.
    fn shr_by(self, a: Self::Word, bits: u32) -> Self::Word;
    /// a rotated down by `N` bits, 1 to 63.
    fn rotr<const N: u32>(self, a: Self::Word) -> Self::Word;
    /// a with the order of the bytes of each word reversed.
    fn swap_bytes(self, a: Self::Word) -> Self::Word;
    /// The same half-word in every half.
    fn splat_u32(self, half: u32) -> Self::Word;
    /// The first 2 [`Self::LANES`] half-words of a slice, the lower half of a lane before the upper one.
    ///
    /// # Panics
    ///
    /// The slice is shorter.
    fn load_all_u32(self, halves: &[u32]) -> Self::Word;
    /// Writes to the first 2 [`Self::LANES`] half-words of a slice.
    ///
    /// # Panics
    ///
    /// The slice is shorter.
    fn store_all_u32(self, a: Self::Word, halves: &mut [u32]);
    /// a + b, of each half for itself, modulo 2^32.
    fn add_u32(self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Each half of a rotated up by `N` bits, 1 to 31.
    fn rotl_u32<const N: u32>(self, a: Self::Word) -> Self::Word;
    /// Each half of a shifted down by `N` bits, 0 to 31, zeros following.
    fn shr_u32<const N: u32>(self, a: Self::Word) -> Self::Word;
    /// a, of which the compiler does not know how it was computed: it then takes shifts and sums as they stand, instead of
    /// making slow multiplications of them.
    fn opaque(self, a: Self::Word) -> Self::Word;
}

/// Vectors of double-precision numbers in the lanes of [`Words`].
pub trait Doubles: Words {
    /// A vector.
    type Double: Copy + Send + Sync;

    /// The numbers that the words are as bit patterns.
    fn double(self, bits: Self::Word) -> Self::Double;
    /// The bit patterns of the numbers.
    fn bits(self, a: Self::Double) -> Self::Word;
    /// a - b
    fn minus(self, a: Self::Double, b: Self::Double) -> Self::Double;
    /// a + b
    fn plus(self, a: Self::Double, b: Self::Double) -> Self::Double;
    /// a b + c, rounded once.
    fn fma(self, a: Self::Double, b: Self::Double, c: Self::Double) -> Self::Double;
    /// With h = a b + `high` and l = a b + (`both` - h), each rounded once: the sums of `sums.0` and the bit pattern of l, and
    /// of `sums.1` and the bit pattern of h. In the order written, in two registers besides the operands.
    fn accumulate(
        self,
        sums: (Self::Word, Self::Word),
        a: Self::Double,
        b: &Self::Double,
        high: Self::Double,
        both: Self::Double,
    ) -> (Self::Word, Self::Word);
}

/// Products of 52-bit numbers. Of the factors, the low 52 bits of each word count.
pub trait Madd52: Words {
    /// sum + the low 52 bits of a b
    fn madd52lo(self, sum: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word;
    /// sum + the high 52 bits of a b
    fn madd52hi(self, sum: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word;
    /// a shifted down by `N` bits, 0 to 63, the sign following.
    fn sar<const N: u32>(self, a: Self::Word) -> Self::Word;
}

/// Vectors of sixteen words of 32 bits, whatever the lanes of [`Words`]: 64 bytes, four in each word, the first one lowest.
pub trait Bytes64: Words {
    /// A vector.
    type Vector64: Copy;

    /// The sextets of `bytes` after `lead` zero bits, 0 to 8, the highest bits first, one in each byte: words 0 to 10.
    /// Word 11 repeats word 9, and word 12 word 10. The others are of no meaning.
    fn sextets(self, bytes: &[u8; 32], lead: u32) -> Self::Vector64;
    /// a or b
    fn or_bytes(self, a: Self::Vector64, b: &[u32; 16]) -> Self::Vector64;
    /// For each byte of a, 0 to 63, that byte of the table.
    fn look_up(self, table: &[u8; 64], a: Self::Vector64) -> Self::Vector64;
    /// In each half of a word: its lower byte times `weight`, 1 to 127, and its upper byte, less than 2^15 in all.
    fn weigh_bytes(self, a: Self::Vector64, weight: u8) -> Self::Vector64;
    /// In each word: its lower half times `weight`, and its upper half, each below 2^15.
    fn weigh_u16(self, a: Self::Vector64, weight: u16) -> Self::Vector64;
    /// Each half from the one after it. The last one is of no meaning.
    fn next_u16(self, a: Self::Vector64) -> Self::Vector64;
    /// The words in which some byte has its highest bit set.
    fn high_bits(self, a: Self::Vector64) -> u16;
    /// The bits of a bitmap that some words number, modulo their count; 0 for the others. `N`, the words of the bitmap, is
    /// a power of 2.
    fn bits<const N: usize>(self, bitmap: &[u32; N], a: Self::Vector64, some: u16) -> u16;
    /// The vector of some bytes.
    fn load_bytes(self, bytes: &[u8; 64]) -> Self::Vector64;
    /// Writes the bytes.
    fn store_bytes(self, a: Self::Vector64, bytes: &mut [u8; 64]);
}

/// The best instruction set for [`Bytes64`] that there is.
#[derive(Clone, Copy, Debug)]
pub enum Best {
    /// One vector.
    #[cfg(target_arch = "x86_64")]
    Avx512f(Avx512f),
    /// Two vectors.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// Ordinary words.
    Scalar(Scalar),
}

impl Best {
    /// Finds out.
    #[must_use]
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let wide = Avx512f::detect().map(Self::Avx512f);
            if let Ok(set) = wide.or_else(|_| Avx2::detect().map(Self::Avx2)) {
                return set;
            }
        }
        Self::Scalar(Scalar::detect())
    }
}

/// Does something with the token of a [`Best`], generic in [`Bytes64`].
macro_rules! with_best {
    ($best:expr, $simd:ident => $work:expr) => {
        match $best {
            #[cfg(target_arch = "x86_64")]
            $crate::simd::Best::Avx512f($simd) => $work,
            #[cfg(target_arch = "x86_64")]
            $crate::simd::Best::Avx2($simd) => $work,
            $crate::simd::Best::Scalar($simd) => $work,
        }
    };
}
pub(crate) use with_best;

/// Eight words that fill one line of the cache.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct CacheLine(pub [u64; 8]);

/// The environment variable that takes instruction sets away, a list with commas, so that a test can walk the paths of a
/// lesser processor. It cannot give any.
pub const WITHOUT: &str = "VANITY_WITHOUT";

/// The instruction sets that matter to a search, in the processor's own names, as far as they are there.
#[must_use]
pub fn detected() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    let known = [
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("bmi2", is_x86_feature_detected!("bmi2")),
        ("adx", is_x86_feature_detected!("adx")),
        ("sha", is_x86_feature_detected!("sha")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512vl", is_x86_feature_detected!("avx512vl")),
        ("avx512dq", is_x86_feature_detected!("avx512dq")),
        ("avx512bw", is_x86_feature_detected!("avx512bw")),
        ("avx512ifma", is_x86_feature_detected!("avx512ifma")),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let known: [(&str, bool); 0] = [];
    let without = std::env::var(WITHOUT).unwrap_or_default();
    let taken_away = |set: &str| without.split(',').any(|name| name.trim() == set);
    known.into_iter().filter_map(|(set, has)| (has && !taken_away(set)).then_some(set)).collect()
}

/// Instruction sets that are not there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing(pub Vec<&'static str>);

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the processor has no {}", self.0.join(", "))
    }
}

impl std::error::Error for Missing {}

/// Fails unless all of `sets` are there.
#[cfg(target_arch = "x86_64")]
fn need(sets: &[&'static str]) -> Result<(), Missing> {
    let detected = detected();
    let missing: Vec<_> = sets.iter().copied().filter(|set| !detected.contains(set)).collect();
    if missing.is_empty() { Ok(()) } else { Err(Missing(missing)) }
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
