//! A filter for few runs: the sets of runs that each of some characters in a row may belong to.
//!
//! Every run has one of eight *buckets*, a bit of a byte, and is represented by a *sequence*: the
//! 3, 4 or 6 neighbouring characters of it that random characters show most rarely. For each place in a
//! sequence, a table has the buckets whose sequences may have a symbol there. A text shows a
//! sequence only if the looked-up bytes of characters in a row have a common bit:
//!
//! ```text
//! text        x      k      E      t      t      9
//! table 0     0      k..    e..    0      0      0
//!   & table 1 of the next character, & table 2 of the one after it ...
//! ```
//!
//! All characters of a text are looked up at once in one vector. Hyperscan's Teddy does this for
//! bytes of a stream, with two tables of 16 entries for each byte. Here a character has 6 bits, and
//! AVX-512 VBMI looks up 64 characters in a table of 64 bytes by one instruction: a text takes 1 to
//! 2 ns. Without VBMI the look-ups take longer than `window_filter`.
//!
//! Where a run is shorter than the sequence, its bucket is in all entries of the other tables.
//!
//! For sequences of three characters a text is laid out in words of eight characters that overlap.
//! A sequence lies in one word wherever it begins, so shifts of words replace moves across the
//! vector, which have fewer units.

use super::costs::{LOOK_UP_SEXTETS, LOOK_UP_SYMBOL, LOOK_UP_SYMBOL_OF_WORD, PASS_SEQUENCES};
use super::folded::{characters, starts_in_words, values, values_in_words};
use super::run::Run;
use super::stage::EachPlace;
use crate::wire::{BODY_LEN, Bytes, Target};
use ed25519_batch::simd::{Bytes64, InstructionSet, Words as _, with_set};

/// The number of buckets: bits of a byte.
const BUCKETS: usize = 8;

/// The lengths of sequences.
pub(super) const SHORTEST: usize = 3;
pub(super) const SHORT: usize = 4;
pub(super) const LONG: usize = 6;

/// The most runs. More of them fill the tables.
const MOST_RUNS: usize = 256;

/// The number of texts that are tested before those that pass are reported: the bits of a word.
const CHUNK: usize = 64;

/// Rejects bytes that show no sequence.
pub(super) struct SequenceFilter {
    target: Target,
    set: InstructionSet,
    tables: Tables,
    /// The share of random bytes that pass.
    share: f64,
}

/// The buckets of every symbol, by its value, for each place in a sequence.
pub(super) enum Tables {
    Shortest(Box<[[u8; 64]; SHORTEST]>),
    Short(Box<[[u8; 64]; SHORT]>),
    Long(Box<[[u8; 64]; LONG]>),
}

impl SequenceFilter {
    /// Returns the filters that may pay on a processor, one for each length. There are none for
    /// many runs, and on processors whose look-ups take several instructions.
    pub(super) fn all(target: Target, set: InstructionSet, runs: impl Iterator<Item = Run>) -> Vec<Self> {
        if !with_set!(set, simd => looks_up_at_once(simd)) {
            return Vec::new();
        }
        let runs: Vec<Run> = runs.take(MOST_RUNS + 1).collect();
        if runs.is_empty() || runs.len() > MOST_RUNS {
            return Vec::new();
        }
        Self::of_each_length(target, set, &runs)
    }

    /// Makes a filter of each length. There is none of the shortest sequences if a run has only one
    /// character, because a sequence would end two characters after the text.
    pub(super) fn of_each_length(target: Target, set: InstructionSet, runs: &[Run]) -> Vec<Self> {
        let mut filters = vec![Self::short(target, set, runs), Self::long(target, set, runs)];
        if runs.iter().all(|run| run.symbols.len() > 1) {
            filters.push(Self::shortest(target, set, runs));
        }
        filters
    }

    /// Makes a filter of the shortest sequences. Each run must have two characters or more.
    fn shortest(target: Target, set: InstructionSet, runs: &[Run]) -> Self {
        Self::of(target, set, Tables::Shortest(Box::new(tables(runs))))
    }

    /// Makes a filter of short sequences.
    fn short(target: Target, set: InstructionSet, runs: &[Run]) -> Self {
        Self::of(target, set, Tables::Short(Box::new(tables(runs))))
    }

    /// Makes a filter of long sequences.
    fn long(target: Target, set: InstructionSet, runs: &[Run]) -> Self {
        Self::of(target, set, Tables::Long(Box::new(tables(runs))))
    }

    /// Makes the filter of these tables.
    pub(super) fn of(target: Target, set: InstructionSet, tables: Tables) -> Self {
        let share = match &tables {
            Tables::Shortest(tables) => share(tables),
            Tables::Short(tables) => share(tables),
            Tables::Long(tables) => share(tables),
        };
        Self { target, set, tables, share }
    }

    /// Estimates the share of random bytes that pass.
    pub(super) fn share_passing(&self) -> f64 {
        self.share
    }

    /// Returns the cost of this test in nanoseconds for each element.
    pub(super) fn cost(&self) -> f64 {
        let symbols = match self.tables {
            Tables::Shortest(_) => LOOK_UP_SYMBOL_OF_WORD * SHORTEST as f64,
            Tables::Short(_) => LOOK_UP_SYMBOL * SHORT as f64,
            Tables::Long(_) => LOOK_UP_SYMBOL * LONG as f64,
        };
        LOOK_UP_SEXTETS + symbols + PASS_SEQUENCES * self.share
    }

    /// Calls `each` with the place of every element that may show a run, in ascending order.
    pub(super) fn survivors(&self, batch: &[Bytes], each: EachPlace) {
        with_set!(self.set, simd => simd.run(
            #[inline(always)]
            || match &self.tables {
                Tables::Shortest(tables) => survivors(simd, self.target, tables, batch, each),
                Tables::Short(tables) => survivors(simd, self.target, tables, batch, each),
                Tables::Long(tables) => survivors(simd, self.target, tables, batch, each),
            }
        ));
    }
}

fn looks_up_at_once<S: Bytes64>(_: S) -> bool {
    S::LOOKS_UP_AT_ONCE
}

/// Does [`SequenceFilter::survivors`] with sequences of `N` symbols.
#[inline(always)]
fn survivors<S: Bytes64, const N: usize>(
    simd: S,
    target: Target,
    tables: &[[u8; 64]; N],
    batch: &[Bytes],
    each: EachPlace,
) {
    let places = &if N == SHORTEST { starts_in_words(target) } else { characters(target) };
    // A loop without a call keeps the tables in registers.
    for (chunk, texts) in batch.chunks(CHUNK).enumerate() {
        let mut passing = 0;
        for (at, bytes) in texts.iter().enumerate() {
            let of_words = N == SHORTEST;
            let text =
                if of_words { values_in_words(simd, target, bytes) } else { values(simd, target, bytes) };
            // From the last symbol to the first: one move for each.
            let mut buckets = simd.look_up(&tables[N - 1], text);
            for table in tables[..N - 1].iter().rev() {
                let next = if of_words { simd.next_byte_of_eight(buckets) } else { simd.next_byte(buckets) };
                buckets = simd.and_bytes(simd.look_up(table, text), next);
            }
            passing |= u64::from(simd.meets(buckets, places)) << at;
        }
        while passing != 0 {
            each(CHUNK * chunk + passing.trailing_zeros() as usize);
            passing &= passing - 1;
        }
    }
}

/// Distributes the runs over the buckets, and returns the tables.
pub(super) fn tables<const N: usize>(runs: &[Run]) -> [[u8; 64]; N] {
    let mut sequences: Vec<[u64; N]> = runs.iter().map(rarest).collect();
    // Neighbours in this order share symbols, so their common bucket stays rare.
    sequences.sort_unstable();
    let mut tables = [[0; 64]; N];
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

/// Returns the `N` neighbouring characters of a run that random characters show most rarely, as
/// sets of values. A shorter run is followed by any characters.
fn rarest<const N: usize>(run: &Run) -> [u64; N] {
    let symbols = |at: usize| run.symbols.get(at).map_or(u64::MAX, |symbols| symbols.0);
    let sequences =
        (0..=run.symbols.len().saturating_sub(N)).map(|from| std::array::from_fn(|at| symbols(from + at)));
    let chance =
        |sequence: &[u64; N]| sequence.iter().map(|symbols| u64::from(symbols.count_ones())).product::<u64>();
    sequences.min_by_key(chance).unwrap_or([u64::MAX; N])
}

/// Estimates the share of random texts that show a sequence, as if its places were independent.
fn share<const N: usize>(tables: &[[u8; 64]; N]) -> f64 {
    let of_bucket = |bucket: usize| {
        let has = |table: &[u8; 64]| table.iter().filter(|buckets| *buckets >> bucket & 1 == 1).count();
        tables.iter().map(|table| has(table) as f64 / 64.0).product::<f64>()
    };
    let at_a_place = (0..BUCKETS).map(of_bucket).sum::<f64>().min(1.0);
    1.0 - (1.0 - at_a_place).powi(BODY_LEN as i32)
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::{Rng as _, SeedableRng as _};

    use super::*;
    use crate::syntax::{Literal, Style};
    use crate::wire::without_sign;

    /// Compares the share by which filters are chosen with a count.
    #[test]
    fn the_share_that_passes_is_known() {
        let mut keys = vec![Bytes::default(); 100_000];
        ChaCha8Rng::from_seed([4; 32]).fill_bytes(keys.as_flattened_mut());
        keys.iter_mut().for_each(|key| *key = without_sign(*key));
        let words: Vec<String> = ('a'..='t').map(|first| format!("{first}oneword")).collect();
        for (count, len) in [(1, 2), (1, 3), (8, 3), (20, 4), (20, 6)] {
            let run = |word: &String| Run::of(&Literal::of(&word[..len], Style::default()));
            let runs: Vec<Run> = words[..count].iter().map(run).collect();
            for filter in SequenceFilter::of_each_length(Target::Key, InstructionSet::widest(), &runs) {
                let mut passing = 0.0;
                filter.survivors(&keys, &mut |_| passing += 1.0);
                let expected = filter.share_passing() * keys.len() as f64;
                // The copy with the sign adds places, and neighbouring places are not independent.
                let tolerance = 0.2 * expected + 5.0 * expected.sqrt();
                assert!((passing - expected).abs() < tolerance, "{passing} instead of {expected}");
            }
        }
    }
}
