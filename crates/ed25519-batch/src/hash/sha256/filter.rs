//! A filter of fingerprints that is tested in the lanes that hash them, before they are bytes.
//!
//! Text that a fingerprint shows at some place fixes bits of two words of its digest. A test
//! compares them as one word, which has each bit from one of the two. For six characters from
//! character 4 on, the letters are the fixed bits:
//!
//! ```text
//! word 0     ........................abcdefgh
//! word 1     ijklmnopqrstuvwxyzABCDEFGHIJ....
//! compared   ijklmnopqrstuvwxyzABCDEFabcdefgh    G to J are not compared
//! ```
//!
//! A character has 6 bits and a word has 32. So text that may be anywhere fixes the same bits three
//! words later, and every test is made at all such places. Then its constants are loaded once.

use super::{MOST_KEYS, Use, each_vector, hashes_in_lanes, of_both_signs};
use crate::simd::{Halves, InstructionSet, Scalar, unroll, with_set};

/// Bits of a digest in two words in a row. A digest has eight words of 32 bits, and its first bit is
/// the highest bit of word 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MaskedBits {
    /// The first of the two words, 0 to 6.
    pub first: usize,
    /// The bits that count. The upper half is for the first word.
    pub mask: u64,
    /// The values of these bits. The other bits are ignored.
    pub value: u64,
}

/// Finds keys whose fingerprints may show certain bits.
///
/// ```
/// use ed25519_batch::simd::InstructionSet;
/// use ed25519_batch::{FingerprintFilter, MaskedBits, fingerprints};
///
/// let set = InstructionSet::widest();
/// let keys: Vec<[u8; 32]> = (0..100).map(|number| [number; 32]).collect();
/// let mut digests = [vec![[0; 32]; 100], vec![[0; 32]; 100]];
/// fingerprints(set, &keys, digests.each_mut().map(Vec::as_mut_slice));
///
/// // Fingerprints that begin with the byte of key 7.
/// let first = u64::from(digests[0][7][0]) << 56;
/// let filter = FingerprintFilter::new([MaskedBits { first: 0, mask: 0xff << 56, value: first }]);
/// assert!(filter.candidates(set, &keys).contains(&7));
/// ```
#[derive(Default)]
pub struct FingerprintFilter {
    /// The tests for words 0, 3 and 6, for words 1 and 4, and for words 2 and 5.
    tests: [Vec<Test>; PERIOD],
}

/// The number of words after which the characters of a fingerprint lie in the same way.
const PERIOD: usize = 3;

/// The number of words of a digest.
const WORDS: usize = 8;

/// A comparison with a word that is made of two in a row.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Test {
    /// The bits that are from the first word. The others are from the next one.
    from_first: u32,
    mask: u32,
    value: u32,
}

/// The number of vectors that are tested together: the bits of a word.
const VECTORS: usize = 64;

/// What the tests of some vectors show.
pub(super) struct Tested {
    /// The vectors with a digest that passes, one bit for each.
    passing: u64,
    /// The least difference in each half of a lane, for each vector. It is 0 where a digest passes.
    differences: [[u32; MOST_KEYS]; VECTORS],
}

impl Test {
    fn of(bits: MaskedBits) -> Self {
        let halves = |both: u64| [(both >> 32) as u32, both as u32];
        let ([from_first, from_next], [first, next]) = (halves(bits.mask), halves(bits.value));
        Self {
            from_first,
            mask: from_first | from_next,
            value: first & from_first | next & from_next & !from_first,
        }
    }
}

impl FingerprintFilter {
    /// Returns a filter that lets every digest pass that has the bits of one of `any`.
    ///
    /// # Panics
    ///
    /// Panics if a first word is not 0 to 6.
    #[must_use]
    pub fn new(any: impl IntoIterator<Item = MaskedBits>) -> Self {
        let mut filter = Self::default();
        for bits in any {
            assert!(bits.first + 1 < WORDS, "two words of a digest");
            let (test, tests) = (Test::of(bits), &mut filter.tests[bits.first % PERIOD]);
            if !tests.contains(&test) {
                tests.push(test);
            }
        }
        filter
    }

    /// Returns whether this instruction set hashes many keys in the lanes of a vector. Otherwise it
    /// takes less to test the bytes of [`fingerprints`](crate::fingerprints).
    #[must_use]
    pub fn is_fast(set: InstructionSet) -> bool {
        with_set!(set, simd => has_many_lanes(simd.common()))
    }

    /// Returns the number of comparisons.
    #[must_use]
    pub fn comparisons(&self) -> usize {
        self.tests.iter().zip(0..).map(|(tests, first)| tests.len() * places(first).count()).sum()
    }

    /// Estimates the share of random digests that pass.
    #[must_use]
    pub fn candidate_share(&self) -> f64 {
        let share = |test: &Test| 0.5_f64.powi(test.mask.count_ones().cast_signed());
        let of_places = |(tests, first): (&Vec<Test>, usize)| {
            tests.iter().map(share).sum::<f64>() * places(first).count() as f64
        };
        self.tests.iter().zip(0..).map(of_places).sum()
    }

    /// Returns whether a digest passes.
    #[must_use]
    pub fn passes(&self, digest: &[u8; 32]) -> bool {
        let simd = Scalar::plain();
        let mut words = [0; WORDS];
        for (word, bytes) in words.iter_mut().zip(digest.as_chunks().0) {
            *word = simd.splat_u32(u32::from_be_bytes(*bytes));
        }
        self.least_difference(simd, &[words]) == 0
    }

    /// Returns the places of the keys whose fingerprint passes with one sign of x or the other, in
    /// ascending order.
    #[must_use]
    pub fn candidates(&self, set: InstructionSet, keys: &[[u8; 32]]) -> Vec<usize> {
        with_set!(set, simd => self.candidates_by(simd.common(), keys))
    }

    /// Does the same with a token.
    pub(super) fn candidates_by<S: Halves>(&self, simd: S, keys: &[[u8; 32]]) -> Vec<usize> {
        let mut candidates = Vec::new();
        let part = VECTORS * 2 * S::LANES;
        for (number, keys) in keys.chunks(part).enumerate() {
            let add = |at: usize| candidates.push(number * part + at);
            if const { S::LANES > 1 } && hashes_in_lanes(simd) && keys.len() >= 2 * S::LANES {
                self.in_lanes(simd, keys, add);
            } else {
                self.in_bytes(simd, keys, add);
            }
        }
        // A vector has them in the order of its lanes, and the last one may have some again.
        candidates.sort_unstable();
        candidates.dedup();
        candidates
    }

    /// Calls `each` with the places of the candidates among at most [`VECTORS`] vectors of keys.
    fn in_lanes<S: Halves>(&self, simd: S, keys: &[[u8; 32]], mut each: impl FnMut(usize)) {
        let vector = 2 * S::LANES;
        let mut tested = Tested { passing: 0, differences: [[0; MOST_KEYS]; VECTORS] };
        each_vector(simd, keys, Use::Test(self, &mut tested));
        while tested.passing != 0 {
            let number = tested.passing.trailing_zeros() as usize;
            let first = (number * vector).min(keys.len() - vector);
            for (half, difference) in tested.differences[number][..vector].iter().enumerate() {
                if *difference == 0 {
                    each(first + half / 2 + half % 2 * S::LANES);
                }
            }
            tested.passing &= tested.passing - 1;
        }
    }

    /// Calls `each` with the places of the candidates, in ascending order.
    fn in_bytes<S: Halves>(&self, simd: S, keys: &[[u8; 32]], each: impl FnMut(usize)) {
        let mut digests = [vec![[0; 32]; keys.len()], vec![[0; 32]; keys.len()]];
        of_both_signs(simd, keys, digests.each_mut().map(Vec::as_mut_slice));
        let passes = |at: &usize| digests.iter().any(|digests| self.passes(&digests[*at]));
        (0..keys.len()).filter(passes).for_each(each);
    }

    /// Tests the digests of vector `number` with either sign.
    #[inline(always)]
    pub(super) fn test<S: Halves>(
        &self,
        simd: S,
        words: &[[S::Word; WORDS]; 2],
        number: usize,
        tested: &mut Tested,
    ) {
        let differences = &mut tested.differences[number];
        simd.store_all_u32(self.least_difference(simd, words), differences);
        let mut least = u32::MAX;
        for difference in &differences[..2 * S::LANES] {
            least = least.min(*difference);
        }
        tested.passing |= u64::from(least == 0) << number;
    }

    /// Returns, for each half of a lane, a number that is 0 if one of the `N` digests there passes.
    #[inline(always)]
    fn least_difference<S: Halves, const N: usize>(
        &self,
        simd: S,
        digests: &[[S::Word; WORDS]; N],
    ) -> S::Word {
        let mut least = simd.splat(u64::MAX);
        unroll!(first of 0 1 2 => {
            for test in &self.tests[first] {
                let from_first = simd.splat_u32(test.from_first);
                let (mask, value) = (simd.splat_u32(test.mask), simd.splat_u32(test.value));
                for at in places(first) {
                    for words in digests {
                        let (word, next) = (words[at], words[at + 1]);
                        let compared = simd.xor(next, simd.and(simd.xor(word, next), from_first));
                        least = simd.min_u32(least, simd.and(simd.xor(compared, value), mask));
                    }
                }
            }
        });
        least
    }
}

fn has_many_lanes<S: Halves>(simd: S) -> bool {
    hashes_in_lanes(simd) && S::LANES >= 4
}

/// Returns the first words of the places where a test is made, if it is for word `first`.
#[inline(always)]
fn places(first: usize) -> impl Iterator<Item = usize> {
    (first..WORDS - 1).step_by(PERIOD)
}
