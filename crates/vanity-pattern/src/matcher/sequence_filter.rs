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
//! Where a sequence goes beyond its needle, its bucket is in all entries of the table.

use super::needle::Needle;
use super::prefilter::EachCandidate;
use super::symbol_classes::{characters, values};
use crate::wire::{BODY_LEN, Bytes, Target};
use ed25519_batch::simd::{Bytes64, InstructionSet, Words as _, with_set};

/// The number of buckets: bits of a byte.
const BUCKETS: usize = 8;

/// The length of sequences.
pub(super) const LEN: usize = 4;

/// The most needles. More of them fill the tables.
const MOST_NEEDLES: usize = 256;

/// The number of texts that are tested before their candidates are reported: the bits of a word.
const CHUNK: usize = 64;

/// The buckets of every symbol, by its value, for each character of a sequence.
pub(super) type Tables = [[u8; 64]; LEN];

/// Rejects bytes that show no sequence.
pub(super) struct SequenceFilter {
    target: Target,
    set: InstructionSet,
    tables: Box<Tables>,
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
        Self { target, set, share: share(&tables), tables: Box::new(tables) }
    }

    /// Estimates the share of random bytes that are candidates.
    pub(super) fn candidate_share(&self) -> f64 {
        self.share
    }

    /// Calls `each` with every candidate.
    pub(super) fn candidates(&self, batch: &[Bytes], each: EachCandidate) {
        with_set!(self.set, simd => simd.run(
            #[inline(always)]
            || self.candidates_by(simd, batch, each)
        ));
    }

    #[inline(always)]
    fn candidates_by<S: Bytes64>(&self, simd: S, batch: &[Bytes], each: EachCandidate) {
        let (target, starts) = (self.target, &starts(self.target));
        let [first, second] = self.tables.as_chunks().0 else { unreachable!("a sequence has two pairs") };
        // A loop without a call keeps the tables in registers.
        for (chunk, texts) in batch.chunks(CHUNK).enumerate() {
            let mut candidates = 0;
            for (at, bytes) in texts.iter().enumerate() {
                let text = values(simd, target, bytes);
                let second = simd.next_u16(simd.look_up_by_turns(second, text));
                let buckets = simd.and_bytes(simd.look_up_by_turns(first, text), second);
                candidates |= u64::from(simd.meets(simd.and_pairs(buckets), starts)) << at;
            }
            while candidates != 0 {
                each(CHUNK * chunk + candidates.trailing_zeros() as usize);
                candidates &= candidates - 1;
            }
        }
    }
}

fn looks_up_at_once<S: Bytes64>(_: S) -> bool {
    S::LOOKS_UP_AT_ONCE
}

/// Returns a mask of the places where a sequence may begin: the characters at even places that
/// another one follows.
fn starts(target: Target) -> [u32; 16] {
    characters(target).map(|word| word & word >> 8 & 0x00ff_00ff)
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
