//! The operations that every instruction set offers to algorithms.
//!
//! Code that uses them must not pass vectors through `map`, iterators, or any function or closure
//! without `#[inline(always)]`: these are compiled without the instruction set, so each instruction
//! in them can become a call with its operands in memory (`benches/inlined.sh` finds such calls).

use super::cache_line::CacheLine;
#[cfg(target_arch = "x86_64")]
use super::sha256::Sha256;
#[cfg(target_arch = "aarch64")]
use super::sha512::Sha512;

/// Vectors of 64-bit words, one word in each lane. Sums and differences are modulo 2^64.
pub trait Words: Copy + Send + Sync + 'static {
    /// The number of words in a vector.
    const LANES: usize;
    /// A vector of [`Self::LANES`] words.
    type Word: Copy + Send + Sync;

    /// Runs `work` with the instructions of this set. The compiler uses them in all code that is
    /// inlined into `work`.
    fn run<R>(self, work: impl FnOnce() -> R) -> R;

    /// Returns the token of the processor's own instructions for SHA-256, if there are any and they
    /// are faster than the lanes.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn sha256(self) -> Option<Sha256> {
        None
    }

    /// Returns the token of the processor's own instructions for SHA-512, if there are any and they
    /// are faster than the lanes.
    #[cfg(target_arch = "aarch64")]
    #[inline(always)]
    fn sha512(self) -> Option<Sha512> {
        None
    }

    /// Returns a vector with `word` in every lane.
    fn splat(self, word: u64) -> Self::Word;
    /// Loads the first [`Self::LANES`] words of a slice.
    ///
    /// # Panics
    ///
    /// Panics if the slice is shorter.
    fn load(self, words: &[u64]) -> Self::Word;
    /// Stores `a` in the first [`Self::LANES`] words of a slice.
    ///
    /// # Panics
    ///
    /// Panics if the slice is shorter.
    fn store(self, a: Self::Word, words: &mut [u64]);
    /// Loads [`Self::LANES`] 32-bit numbers, each extended by zeros to a word of 64 bits.
    ///
    /// # Panics
    ///
    /// Panics if the slice is shorter.
    fn load_u32(self, halves: &[u32]) -> Self::Word;
    /// Stores the low half of each word.
    ///
    /// # Panics
    ///
    /// Panics if the slice is shorter than [`Self::LANES`].
    fn store_u32(self, a: Self::Word, halves: &mut [u32]);
    /// Transposes rows, one for each lane: `row(lane)` returns a row, and vector i of the result
    /// holds word i of every row.
    fn transpose<'a>(self, row: impl Fn(usize) -> &'a CacheLine) -> [Self::Word; 8];
    /// Transposes the rows at `offsets`, one for each lane. An offset is in bytes from the first
    /// row; its lowest six bits do not count.
    ///
    /// # Panics
    ///
    /// Panics if there is no row at an offset, or if there are fewer than [`Self::LANES`] offsets.
    #[inline(always)]
    fn transpose_at(self, rows: &[CacheLine], offsets: &[u32]) -> [Self::Word; 8] {
        self.transpose(|lane| &rows[offsets[lane] as usize / size_of::<CacheLine>()])
    }
    /// Transposes rows of 32 bytes, which are four little-endian words each.
    fn transpose_bytes<'a>(self, row: impl Fn(usize) -> &'a [u8; 32]) -> [Self::Word; 4];
    /// Stores the four words of each lane as a row: the inverse of [`Self::transpose_bytes`].
    ///
    /// # Panics
    ///
    /// Panics if there are fewer rows than lanes.
    #[inline(always)]
    fn store_rows(self, words: [Self::Word; 4], rows: &mut [[u8; 32]]) {
        let mut columns = [[0; 8]; 4];
        for at in 0..4 {
            self.store(words[at], &mut columns[at]);
        }
        for lane in 0..Self::LANES {
            rows[lane] = std::array::from_fn(|at| columns[at / 8][lane].to_le_bytes()[at % 8]);
        }
    }

    /// Returns `a + b`.
    fn add(self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns `a - b`.
    fn sub(self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns `a & b`.
    fn and(self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns `a | b`.
    fn or(self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns `a ^ b`.
    fn xor(self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns the value that most of the three have, for each bit. In a hash, `a ^ b` is the `b ^ c`
    /// of the next round, and the compiler computes it once.
    #[inline(always)]
    fn majority(self, a: Self::Word, b: Self::Word, c: Self::Word) -> Self::Word {
        self.xor(b, self.and(self.xor(a, b), self.xor(b, c)))
    }
    /// Returns `a ^ mask` in the lanes where `choice` is odd, and `a` in the others.
    #[inline(always)]
    fn xor_where_odd(self, a: Self::Word, choice: Self::Word, mask: u64) -> Self::Word {
        let odd = self.sub(self.splat(0), self.and(choice, self.splat(1)));
        self.xor(a, self.and(odd, self.splat(mask)))
    }
    /// Returns the low `N` bits of each word, 1 to 63, with the bits of `top` above them.
    #[inline(always)]
    fn with_top<const N: u32>(self, a: Self::Word, top: u64) -> Self::Word {
        self.or(self.and(a, self.splat((1 << N) - 1)), self.splat(top << N))
    }
    /// Shifts each word left by `N` bits, 0 to 63.
    fn shl<const N: u32>(self, a: Self::Word) -> Self::Word;
    /// Shifts each word right by `N` bits, 0 to 63, and fills with zeros.
    fn shr<const N: u32>(self, a: Self::Word) -> Self::Word;
    /// Shifts each word left by `bits`. The result is 0 for 64 or more.
    fn shl_by(self, a: Self::Word, bits: u32) -> Self::Word;
    /// Shifts each word right by `bits` and fills with zeros. The result is 0 for 64 or more.
    fn shr_by(self, a: Self::Word, bits: u32) -> Self::Word;
    /// Rotates each word right by `N` bits, 1 to 63.
    #[inline(always)]
    fn rotr<const N: u32>(self, a: Self::Word) -> Self::Word {
        self.or(self.shr::<N>(a), self.shl_by(a, 64 - N))
    }
    /// Reverses the order of the bytes of each word.
    fn swap_bytes(self, a: Self::Word) -> Self::Word;
    /// Returns `a` and hides from the compiler how it was computed. The compiler then keeps shifts
    /// and sums, and does not replace them with slow multiplications.
    fn opaque(self, a: Self::Word) -> Self::Word;
}

/// The 32-bit halves of the words of [`Words`].
pub trait Halves: Words {
    /// The set that all sets with these vectors have. Code that needs nothing above it is compiled
    /// for this set alone.
    type Common: Halves<Word = Self::Word>;

    /// Returns the token of the common set.
    fn common(self) -> Self::Common;
    /// Returns a vector with `half` in both halves of every word.
    fn splat_u32(self, half: u32) -> Self::Word;
    /// Loads the first 2 [`Words::LANES`] half-words of a slice. The low half of a lane comes
    /// before its high half.
    ///
    /// # Panics
    ///
    /// Panics if the slice is shorter.
    fn load_all_u32(self, halves: &[u32]) -> Self::Word;
    /// Stores both halves of every word in the first 2 [`Words::LANES`] half-words of a slice.
    ///
    /// # Panics
    ///
    /// Panics if the slice is shorter.
    fn store_all_u32(self, a: Self::Word, halves: &mut [u32]);
    /// Adds each half of `b` to the same half of `a`, modulo 2^32.
    fn add_u32(self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns the differences of the halves, modulo 2^32.
    fn sub_u32(self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Rotates each half left by `N` bits, 1 to 31.
    fn rotl_u32<const N: u32>(self, a: Self::Word) -> Self::Word;
    /// Shifts each half right by `N` bits, 0 to 31, and fills with zeros.
    fn shr_u32<const N: u32>(self, a: Self::Word) -> Self::Word;
}

/// Products of 64-bit words, which have 128 bits.
///
/// Sums and products must fit. The builds of tests check that, as for ordinary numbers.
pub trait Wide: Words {
    /// A vector of [`Words::LANES`] numbers of 128 bits.
    type Wide: Copy;

    /// Returns `a` times `factor`, which must be below 2^64.
    fn times(self, a: Self::Word, factor: u64) -> Self::Word;
    /// Returns a b.
    fn wide_product(self, a: Self::Word, b: Self::Word) -> Self::Wide;
    /// Returns `a + b`.
    fn wide_add(self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// Extends each word by zeros.
    fn widen(self, a: Self::Word) -> Self::Wide;
    /// Returns the low 64 bits of each number.
    fn narrow(self, a: Self::Wide) -> Self::Word;
    /// Shifts each number right by `N` bits, 0 to 127, and fills with zeros.
    fn wide_shr<const N: u32>(self, a: Self::Wide) -> Self::Wide;
}

/// Vectors of double-precision numbers in the lanes of [`Words`].
pub trait Doubles: Words {
    /// A vector of [`Words::LANES`] numbers.
    type Double: Copy + Send + Sync;

    /// Returns the numbers with the bit patterns `bits`.
    fn double(self, bits: Self::Word) -> Self::Double;
    /// Returns the bit patterns of the numbers.
    fn bits(self, a: Self::Double) -> Self::Word;
    /// Returns `a - b`.
    fn minus(self, a: Self::Double, b: Self::Double) -> Self::Double;
    /// Returns `a + b`.
    fn plus(self, a: Self::Double, b: Self::Double) -> Self::Double;
    /// Returns a b + c, rounded once.
    fn fma(self, a: Self::Double, b: Self::Double, c: Self::Double) -> Self::Double;
    /// Adds the two parts of a product to `sums`, as bit patterns.
    ///
    /// With h = a b + `high` and l = a b + (`both` - h), each rounded once, it returns
    /// `sums.0` + the bit pattern of l and `sums.1` + the bit pattern of h. The instructions stay
    /// in this order and use two registers besides the operands.
    fn accumulate(
        self,
        sums: (Self::Word, Self::Word),
        a: Self::Double,
        b: &Self::Double,
        high: Self::Double,
        both: Self::Double,
    ) -> (Self::Word, Self::Word);
}

/// Products of 52-bit numbers. A factor is the low 52 bits of a word; the upper 12 bits are
/// ignored.
pub trait Madd52: Words {
    /// Whether [`Self::carry`] takes negative words. AVX2 has no shift that fills with the sign.
    const SIGNED_CARRY: bool;

    /// Returns `sum` + the low 52 bits of a b.
    fn madd52lo(self, sum: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns `sum` + the high 52 bits of a b.
    fn madd52hi(self, sum: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns what a limb carries into the next one: each word, shifted right by 52 bits. The
    /// words may be negative only if [`Self::SIGNED_CARRY`].
    fn carry(self, a: Self::Word) -> Self::Word;
}

/// Vectors of 64 bytes, whatever the lanes of [`Words`]. They are sixteen little-endian words of 32
/// bits.
pub trait Bytes64: Words {
    /// A vector of 64 bytes.
    type Vector64: Copy;

    /// Splits `bytes`, after `lead` zero bits (0 to 8), into sextets, the highest bits first.
    ///
    /// Each byte of words 0 to 10 holds one sextet. Word 11 repeats word 9, and word 12 repeats
    /// word 10. The other words have no meaning.
    fn sextets(self, bytes: &[u8; 32], lead: u32) -> Self::Vector64;
    /// Returns `a | b`.
    fn or_bytes(self, a: Self::Vector64, b: Self::Vector64) -> Self::Vector64;
    /// Replaces each byte of `a`, 0 to 63, by the byte of `table` with that index.
    fn look_up(self, table: &[u8; 64], a: Self::Vector64) -> Self::Vector64;
    /// Returns, for each half of a word, low byte * `weight` + high byte. `weight` is 1 to 127, and
    /// each sum must be less than 2^15.
    fn weigh_bytes(self, a: Self::Vector64, weight: u8) -> Self::Vector64;
    /// Returns, for each word, low half * `weight` + high half. `weight` and both halves must be
    /// less than 2^15.
    fn weigh_u16(self, a: Self::Vector64, weight: u16) -> Self::Vector64;
    /// Moves each half to the place of the half before it. The last half of the result has no
    /// meaning.
    fn next_u16(self, a: Self::Vector64) -> Self::Vector64;
    /// Returns whether `a & mask` has a bit set.
    fn meets(self, a: Self::Vector64, mask: &[u32; 16]) -> bool;
    /// Returns a mask of the words in which at least one byte has its highest bit set.
    fn high_bits(self, a: Self::Vector64) -> u16;
    /// Looks up two bits of a bitmap for each word of `a`: the pair of bits whose number is that
    /// word, modulo the 16 `N` pairs of the bitmap. Returns a mask of the low bits and one of
    /// the high bits. Only words that are in `mask` count; the others give 0. `N` must be a
    /// power of 2.
    fn bit_pairs<const N: usize>(self, bitmap: &[u32; N], a: Self::Vector64, mask: u16) -> [u16; 2];
    /// Does [`Self::bit_pairs`] for the two vectors of each text. `words(text)` returns the vectors
    /// of a text and their masks. It sets `found` for each text: the low bits of the first vector,
    /// and above them those of the second, and then the high bits in the same way.
    #[inline(always)]
    fn bit_pairs_of_each<const N: usize>(
        self,
        bitmap: &[u32; N],
        words: impl Fn(usize) -> ([Self::Vector64; 2], [u16; 2]),
        found: &mut [[u32; 2]],
    ) {
        for (text, found) in found.iter_mut().enumerate() {
            let ([a, b], [mask_a, mask_b]) = words(text);
            let (a, b) = (self.bit_pairs(bitmap, a, mask_a), self.bit_pairs(bitmap, b, mask_b));
            for bit in 0..2 {
                found[bit] = u32::from(a[bit]) | u32::from(b[bit]) << 16;
            }
        }
    }
    /// Loads 64 bytes.
    fn load_bytes(self, bytes: &[u8; 64]) -> Self::Vector64;
    /// Stores 64 bytes.
    fn store_bytes(self, a: Self::Vector64, bytes: &mut [u8; 64]);
}
