//! What an algorithm may ask of an instruction set.

use super::cache_line::CacheLine;

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
