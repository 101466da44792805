//! A filter for few needles: the sets of needles that each of four characters in a row may belong
//! to.
//!
//! Every needle is represented by two *sequences*: the four neighboring characters of it, with an
//! even and with an odd place in the text, that random characters show most rarely. So only
//! sequences at even places are tested. Every sequence has one of eight *buckets*, a bit of a byte.
//! For each character of a sequence, a table has the buckets whose sequences may have a symbol
//! there. A text shows a sequence only if the looked-up bytes of four characters have a common bit:
//!
//! ```text
//! text        x      k      E      t      t      9
//! table 0     0             e..           0
//!   & table 1 of the next character, & table 2 of the one after it ...
//! ```
//!
//! Characters at even places need tables 0 and 2 alone, and the others 1 and 3. So two look-ups of
//! all characters of a text do, each in a table for even and one for odd places. Hyperscan's Teddy
//! does this for bytes of a stream, with two tables of 16 entries for each byte. Here a character
//! has 6 bits, and AVX-512 VBMI looks up 64 characters in two tables of 64 bytes by one
//! instruction. Without VBMI the look-ups take longer than `pair_bitmap`.
//!
//! A vector holds a text in parts of eight characters. Neighboring parts share two characters, so
//! every sequence lies in one part, and its bytes meet by shifts. A single needle has two buckets.
//! Then one table has the bits of all four, and one look-up does.
//!
//! Where a sequence goes beyond its needle, its bucket is in all entries of the table.

use super::needle::Needle;
use super::prefilter::EachCandidate;
use crate::wire::{BODY_LEN, Bytes, SIGN_POSITION, SIGN_VALUE, Target};
use ed25519_batch::simd::{Bytes64, InstructionSet, OVERLAPPING, Scalar, with_set};

/// The number of buckets: bits of a byte.
const BUCKETS: usize = 8;

/// The length of sequences.
pub(super) const LEN: usize = 4;

/// The most needles. More of them fill the tables.
const MOST_NEEDLES: usize = 256;

/// The number of texts that are tested before their candidates are reported: the bits of a word.
const CHUNK: usize = 64;

/// The number of texts that are tested together before each of them is.
const GROUP: usize = 4;

/// The buckets of every symbol, by its value, for each character of a sequence.
pub(super) type Tables = [[u8; 64]; LEN];

/// Rejects bytes that show no sequence.
pub(super) struct SequenceFilter {
    target: Target,
    set: InstructionSet,
    tables: Box<Tables>,
    /// The tables in one, if they have two buckets.
    joint: Option<Box<[u8; 64]>>,
    /// The share of random bytes that are candidates.
    share: f64,
}

impl SequenceFilter {
    /// Returns a filter if it may pay on a processor. `None` for many needles, for one of a single
    /// character, and on processors whose look-ups take several instructions.
    pub(super) fn new(
        target: Target,
        set: InstructionSet,
        needles: impl Iterator<Item = Needle>,
    ) -> Option<Self> {
        if !with_set!(set, simd => looks_up_at_once(simd)) {
            return None;
        }
        let needles: Vec<Needle> = needles.take(MOST_NEEDLES + 1).collect();
        let is_few = !needles.is_empty() && needles.len() <= MOST_NEEDLES;
        let has_pairs = needles.iter().all(|needle| needle.symbols.len() > 1);
        (is_few && has_pairs).then(|| Self::of(target, set, tables(&needles)))
    }

    /// Makes the filter of these tables, on any processor.
    pub(super) fn of(target: Target, set: InstructionSet, tables: Tables) -> Self {
        Self { target, set, share: share(&tables), joint: joint(&tables), tables: Box::new(tables) }
    }

    /// Estimates the share of random bytes that are candidates.
    pub(super) fn candidate_share(&self) -> f64 {
        self.share
    }

    /// Calls `each` with every candidate.
    pub(super) fn candidates(&self, batch: &[Bytes], each: EachCandidate) {
        with_set!(self.set, simd => self.candidates_on(simd, batch, each));
    }

    /// Does the same. It is compiled for the sets that look up at once, and for tests by one lane.
    fn candidates_on<S: Bytes64>(&self, simd: S, batch: &[Bytes], each: EachCandidate) {
        if const { S::LANES > 1 && !S::LOOKS_UP_AT_ONCE } {
            self.candidates_on(Scalar::plain(), batch, each);
            return;
        }
        simd.run(
            #[inline(always)]
            || match self.target {
                Target::Key => self.candidates_by(
                    simd,
                    batch,
                    each,
                    #[inline(always)]
                    |bytes| values_of_key(simd, bytes),
                ),
                Target::Fingerprint => self.candidates_by(
                    simd,
                    batch,
                    each,
                    #[inline(always)]
                    |bytes| values_of_fingerprint(simd, bytes),
                ),
            },
        );
    }

    /// Does the same. `values` returns the values of a text's characters.
    #[inline(always)]
    fn candidates_by<S: Bytes64>(
        &self,
        simd: S,
        batch: &[Bytes],
        each: EachCandidate,
        values: impl Fn(&Bytes) -> S::Vector64,
    ) {
        match &self.joint {
            Some(table) => scan(
                simd,
                batch,
                each,
                &starts(self.target, 0b11),
                #[inline(always)]
                |bytes| simd.look_up_joint(table, values(bytes)),
            ),
            None => scan(
                simd,
                batch,
                each,
                &starts(self.target, 0xff),
                #[inline(always)]
                |bytes| simd.look_up_in_turn(&self.tables, values(bytes)),
            ),
        }
    }
}

/// Calls `each` with every element of `batch` whose `buckets` have a bit of `starts`.
#[inline(always)]
fn scan<S: Bytes64>(
    simd: S,
    batch: &[Bytes],
    each: EachCandidate,
    starts: &[u32; 16],
    buckets: impl Fn(&Bytes) -> S::Vector64,
) {
    // A loop without a call keeps the tables in registers.
    for (chunk, texts) in batch.chunks(CHUNK).enumerate() {
        let mut candidates = 0;
        for (group, texts) in texts.chunks(GROUP).enumerate() {
            // Most groups have no candidate, and one test shows it.
            if let Ok([first, others @ ..]) = <&[Bytes; GROUP]>::try_from(texts) {
                let mut of_any = buckets(first);
                for bytes in others {
                    of_any = simd.or_bytes(of_any, buckets(bytes));
                }
                if !simd.meets(of_any, starts) {
                    continue;
                }
            }
            for (at, bytes) in texts.iter().enumerate() {
                candidates |= u64::from(simd.meets(buckets(bytes), starts)) << (GROUP * group + at);
            }
        }
        while candidates != 0 {
            each(CHUNK * chunk + candidates.trailing_zeros() as usize);
            candidates &= candidates - 1;
        }
    }
}

/// Returns the values of a fingerprint's characters, in the parts of [`OVERLAPPING`].
#[inline(always)]
fn values_of_fingerprint<S: Bytes64>(simd: S, bytes: &Bytes) -> S::Vector64 {
    simd.overlapping_sextets(bytes, Target::Fingerprint.lead() as u32)
}

/// Returns those of a key's characters. The sign is set in the last part, which repeats the one before.
#[inline(always)]
fn values_of_key<S: Bytes64>(simd: S, bytes: &Bytes) -> S::Vector64 {
    simd.or_bytes(simd.overlapping_sextets(bytes, Target::Key.lead() as u32), simd.load_bytes(&SIGN))
}

fn looks_up_at_once<S: Bytes64>(_: S) -> bool {
    S::LOOKS_UP_AT_ONCE
}

/// The number of parts that hold a text. One more repeats the last of them.
const PARTS: usize = OVERLAPPING.len() - 1;

const _: () = assert!(OVERLAPPING[PARTS] == OVERLAPPING[PARTS - 1] && OVERLAPPING[PARTS] + 7 >= BODY_LEN);

/// The bit that sets the sign of a key in the part that repeats the last one.
const SIGN: [u8; 64] = {
    let mut bytes = [0; 64];
    bytes[8 * PARTS + SIGN_POSITION - OVERLAPPING[PARTS]] = SIGN_VALUE;
    bytes
};

/// Returns a mask of `bits` in the bytes where a sequence may begin: the characters at even places
/// that lie in a part with the three after them.
fn starts(target: Target, bits: u32) -> [u32; 16] {
    let parts = if target == Target::Key { PARTS + 1 } else { PARTS };
    std::array::from_fn(|word| match word {
        _ if word >= 2 * parts => 0,
        _ if word % 2 == 0 => bits | bits << 16,
        _ => bits,
    })
}

/// Returns one table with two bits for each of the four, the first one lowest. `None` if there are
/// more than two buckets.
fn joint(tables: &Tables) -> Option<Box<[u8; 64]>> {
    let of = |value: usize| tables.iter().rev().fold(0, |joint, table| joint << 2 | table[value]);
    let are_two = tables.as_flattened().iter().all(|buckets| *buckets < 4);
    are_two.then(|| Box::new(std::array::from_fn(of)))
}

/// Distributes the sequences of the needles over the buckets, and returns the tables.
pub(super) fn tables(needles: &[Needle]) -> Tables {
    let mut sequences: Vec<[u64; LEN]> = needles.iter().flat_map(rarest).collect();
    // Neighbors in this order share symbols, so their common bucket stays rare.
    sequences.sort_unstable();
    let mut tables = [[0; 64]; LEN];
    for (bucket, sequences) in sequences.chunks(sequences.len().div_ceil(BUCKETS)).enumerate() {
        for (table, at) in tables.iter_mut().zip(0..) {
            let symbols = sequences.iter().fold(0, |symbols, sequence| symbols | sequence[at]);
            for (value, buckets) in table.iter_mut().enumerate() {
                *buckets |= ((symbols >> value & 1) as u8) << bucket;
            }
        }
    }
    tables
}

/// Returns the sequences of a needle, as sets of values: one for each parity of the places where it
/// may begin. Each has two characters of the needle.
fn rarest(needle: &Needle) -> impl Iterator<Item = [u64; LEN]> {
    let parities =
        [0, 1].into_iter().filter(|parity| needle.starts.clone().any(|start| start % 2 == *parity));
    // A sequence begins at an even place: at the needle's first character or the one before it, or an
    // even number of characters later.
    parities.map(|before| {
        let symbols = |at: usize| {
            at.checked_sub(before).and_then(|at| needle.symbols.get(at)).map_or(u64::MAX, |symbols| symbols.0)
        };
        let sequences = (0..before + needle.symbols.len() - 1)
            .step_by(2)
            .map(|from| std::array::from_fn(|at| symbols(from + at)));
        let chance = |sequence: &[u64; LEN]| {
            sequence.iter().map(|symbols| u64::from(symbols.count_ones())).product::<u64>()
        };
        sequences.min_by_key(chance).unwrap_or([u64::MAX; LEN])
    })
}

/// Estimates the share of random texts that show a sequence, as if its places were independent.
fn share(tables: &Tables) -> f64 {
    let of_bucket = |bucket: usize| {
        let has = |table: &[u8; 64]| table.iter().filter(|buckets| *buckets >> bucket & 1 == 1).count();
        tables.iter().map(|table| has(table) as f64 / 64.0).product::<f64>()
    };
    let at_a_place = (0..BUCKETS).map(of_bucket).sum::<f64>().min(1.0);
    1.0 - (1.0 - at_a_place).powi((BODY_LEN / 2) as i32)
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::{Rng as _, SeedableRng as _};

    use super::*;
    use crate::syntax::{Literal, MatchOptions};
    use crate::wire::without_sign;

    /// Compares the share by which filters are chosen with a count.
    #[test]
    fn the_share_of_candidates_is_known() {
        let mut keys = vec![Bytes::default(); 100_000];
        ChaCha8Rng::from_seed([4; 32]).fill_bytes(keys.as_flattened_mut());
        keys.iter_mut().for_each(|key| *key = without_sign(*key));
        let words: Vec<String> = ('a'..='t').map(|first| format!("{first}oneword")).collect();
        for (count, len) in [(1, 2), (1, 3), (8, 3), (20, 4), (20, 6)] {
            let needle = |word: &String| Needle::of(&Literal::of(&word[..len], MatchOptions::default()));
            let needles: Vec<Needle> = words[..count].iter().map(needle).collect();
            let filter = SequenceFilter::of(Target::Key, InstructionSet::widest(), tables(&needles));
            let mut candidates = 0.0;
            filter.candidates(&keys, &mut |_| candidates += 1.0);
            let expected = filter.candidate_share() * keys.len() as f64;
            // The copy with the sign adds places, and neighboring places are not independent.
            let tolerance = 0.2 * expected + 5.0 * expected.sqrt();
            assert!((candidates - expected).abs() < tolerance, "{candidates} instead of {expected}");
        }
    }
}
