//! The batch engine: many keys at once, by affine additions from large tables that share their
//! inversions.
//!
//! [`crate::curve`] does the arithmetic and leaves one bit of each key unknown, the sign of x. That
//! bit changes one character of the body, and the whole fingerprint. So the matcher tests both
//! signs, and a hit does not know which of them matches.

mod choice;
mod duel;
#[cfg(test)]
mod simulation;
mod sizes;
mod tuner;

use std::sync::Arc;
use std::time::Duration;

use self::duel::Timing;
use self::sizes::Sizes;
use self::tuner::{Tuner, Turn};
use super::reference;
use super::sizing::Sizing;
use super::worker::{Engine, Hit, SeedSource, Tuning, Worker};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::curve::Fma;
#[cfg(target_arch = "x86_64")]
use crate::curve::Ifma;
use crate::curve::{Batch, Field, Portable, Table, VECTORS_AHEAD, ZeroProduct};
use crate::hash::sha256;
use crate::hash::sha512;
use crate::key::{PublicKey, Seed, rfc8032_vectors};
use crate::notice::Notice;
use crate::pattern::Matcher;
#[cfg(target_arch = "x86_64")]
use crate::simd::Extends as _;
use crate::simd::{Halves, InstructionSet, Scalar, Words};
use crate::sys::{HugePages, HugeVec, thread_time, wipe};
use crate::wire::{Target, without_sign};

/// The engine of one back end.
struct Batched<F> {
    name: &'static str,
    field: F,
    set: InstructionSet,
    tuner: Tuner<F>,
    /// The memory of all workers' buffers.
    pages: HugePages,
}

/// Builds the engine for ordinary 64-bit words.
pub(super) fn portable(sizing: Sizing) -> Result<Box<dyn Engine>, String> {
    let simd = Scalar::detect();
    build("portable", Portable(simd), InstructionSet::Scalar(simd), sizing)
}

/// Defines an engine for an instruction set: a function that returns an error with what this
/// processor lacks, and one that builds the engine.
macro_rules! engine {
    ($name:ident, $detect:ident, $set:ident, $field:ident, $matching:expr, $arch:tt, $processor:literal) => {
        pub(super) fn $detect() -> Result<(), String> {
            #[cfg(target_arch = $arch)]
            return crate::simd::$set::detect().map(|_| ()).map_err(|missing| missing.to_string());
            #[cfg(not(target_arch = $arch))]
            Err(concat!("this processor is not ", $processor).to_owned())
        }

        pub(super) fn $name(sizing: Sizing) -> Result<Box<dyn Engine>, String> {
            $detect()?;
            #[cfg(target_arch = $arch)]
            return match crate::simd::$set::detect() {
                Ok(simd) => build(stringify!($name), $field(simd), $matching(simd), sizing),
                Err(missing) => Err(missing.to_string()),
            };
            #[cfg(not(target_arch = $arch))]
            unreachable!("it was not detected, with {sizing:?}")
        }
    };
}

// Processors with AVX-512 IFMA have AVX-512 VBMI, too.
engine!(avx512ifma, detect_avx512ifma, Avx512ifma, Ifma, |_| InstructionSet::widest(), "x86_64", "x86-64");
engine!(avx512f, detect_avx512f, Avx512f, Fma, InstructionSet::Avx512f, "x86_64", "x86-64");
engine!(
    avxifma,
    detect_avxifma,
    AvxIfma,
    Ifma,
    |simd: crate::simd::AvxIfma| InstructionSet::Avx2(simd.base()),
    "x86_64",
    "x86-64"
);
engine!(avx2, detect_avx2, Avx2, Fma, InstructionSet::Avx2, "x86_64", "x86-64");
engine!(neon, detect_neon, Neon, Fma, InstructionSet::Neon, "aarch64", "aarch64");

fn build<F: Field<Simd: Halves>>(
    name: &'static str,
    field: F,
    set: InstructionSet,
    sizing: Sizing,
) -> Result<Box<dyn Engine>, String> {
    let tuner = Tuner::new(field, Sizes::new(sizing), reproduces_known_vectors);
    Ok(Box::new(Batched { name, field, set, tuner, pages: HugePages::default() }))
}

impl<F: Field<Simd: Halves>> Engine for Batched<F> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(self.batch_worker())
    }

    fn instruction_set(&self) -> InstructionSet {
        self.set
    }

    fn is_settled(&self) -> bool {
        self.tuner.is_settled()
    }

    fn tuning(&self) -> Option<Tuning> {
        let (windows, batch_keys) = self.tuner.best();
        let table_bytes = Table::bytes(windows);
        Some(Tuning { windows, table_bytes, batch_keys, prefetch_vectors: VECTORS_AHEAD })
    }

    fn notices(&self) -> Vec<Notice> {
        if !self.tuner.take_wrong_table() {
            return Vec::new();
        }
        vec![Notice::warning(format!(
            "a larger table of the engine '{}' computed a wrong key in its self-test and is not used",
            self.name
        ))]
    }
}

impl<F: Field> Batched<F> {
    fn batch_worker(&self) -> BatchWorker<'_, F> {
        let turn = self.tuner.turn();
        BatchWorker { engine: self, buffers: Buffers::new(&self.pages, self.field, &turn), turn }
    }
}

struct BatchWorker<'a, F: Field> {
    engine: &'a Batched<F>,
    turn: Turn,
    buffers: Buffers<F>,
}

/// The buffers of one batch.
struct Buffers<F: Field> {
    field: F,
    batch: Batch<F>,
    seeds: HugeVec<[u8; 32]>,
    /// The public keys, with the sign of x cleared.
    keys: HugeVec<[u8; 32]>,
    /// The fingerprints of some keys with either sign, if fingerprints are searched.
    digests: Vec<[u8; 32]>,
}

impl<F: Field> Buffers<F> {
    /// Allocates buffers for a turn.
    fn new(pages: &HugePages, field: F, turn: &Turn) -> Self {
        let keys = turn.keys;
        let mut buffers = Self {
            field,
            batch: Batch::in_pages(pages, field, Arc::clone(&turn.table), keys),
            seeds: pages.vec(keys),
            keys: pages.vec(keys),
            digests: Vec::new(),
        };
        buffers.set_len(keys);
        buffers
    }

    /// Changes the table and the number of keys to those of a turn. All seeds must be wiped.
    fn change(&mut self, pages: &HugePages, turn: &Turn) {
        let keys = turn.keys;
        if self.batch.has_room(&turn.table, keys) && keys <= self.seeds.capacity() {
            self.batch.change(Arc::clone(&turn.table), keys);
            self.set_len(keys);
        } else {
            *self = Self::new(pages, self.field, turn);
        }
    }

    fn set_len(&mut self, keys: usize) {
        self.seeds.resize(keys, [0; 32]);
        self.keys.resize(keys, [0; 32]);
    }

    /// Measures a fixed piece of work that needs no table: the hashes of some seeds.
    fn yardstick(&self) -> Duration {
        let simd = self.field.simd();
        let lanes = <F::Simd as Words>::LANES;
        let mut last = [0; 8];
        let mut hash = |vectors: usize| {
            let began = thread_time();
            simd.run(
                #[inline(always)]
                || {
                    sha512::scalars(
                        simd,
                        &self.seeds[..vectors * lanes],
                        #[inline(always)]
                        |_, scalars| simd.store(scalars[0], &mut last),
                    );
                },
            );
            thread_time().saturating_sub(began)
        };
        // The first one brings the code into the cache.
        hash(YARDSTICK / 8);
        let time = hash(YARDSTICK);
        wipe(&mut last);
        time
    }

    /// Derives the public keys of the seeds, with the sign of x cleared.
    fn derive(&mut self) {
        let simd = self.field.simd();
        let Self { seeds, batch, .. } = self;
        simd.run(
            #[inline(always)]
            || {
                sha512::scalars(
                    simd,
                    seeds,
                    #[inline(always)]
                    |vector, scalars| batch.set(vector, scalars),
                );
            },
        );
        if self.batch.public_keys(&mut self.keys) == Err(ZeroProduct) {
            for (key, seed) in self.keys.iter_mut().zip(self.seeds.iter()) {
                *key = without_sign(reference::public_key(seed).0);
            }
        }
    }
}

/// The vectors of seeds that are hashed to measure the speed of the processor.
const YARDSTICK: usize = 64;

/// Returns whether a batch with this table derives the key pairs of RFC 8032, each in every lane.
fn reproduces_known_vectors<F: Field>(field: F, table: &Arc<Table>) -> bool {
    let pairs = rfc8032_vectors::pairs();
    let keys = pairs.len() * <F::Simd as Words>::LANES;
    let mut buffers = Buffers::new(&HugePages::default(), field, &Turn::of(keys, Arc::clone(table)));
    for (seed, (known, _)) in buffers.seeds.iter_mut().zip(pairs.iter().cycle()) {
        *seed = *known;
    }
    buffers.derive();
    buffers.keys.iter().zip(pairs.iter().cycle()).all(|(key, (_, known))| *key == without_sign(*known))
}

/// The number of keys whose fingerprints are computed before they are matched. They fit in the
/// first-level cache, 64 bytes for each key.
const HASHED: usize = 512;

/// Returns the places of the keys that match with one sign or the other, in ascending order. The
/// sign of every key must be 0. `digests` is a buffer for the fingerprints with either sign.
pub(super) fn candidates<S: Halves>(
    simd: S,
    matcher: &Matcher,
    keys: &[[u8; 32]],
    digests: &mut Vec<[u8; 32]>,
) -> Vec<usize> {
    match matcher.target() {
        Target::Key => matcher.candidates(keys),
        Target::Fingerprint => {
            let mut candidates = Vec::new();
            for (part, keys) in keys.chunks(HASHED).enumerate() {
                digests.resize(2 * keys.len(), [0; 32]);
                let (plus, minus) = digests.split_at_mut(keys.len());
                sha256::of_both_signs(simd, keys, [plus, minus]);
                let matching = matcher.candidates(digests);
                candidates.extend(matching.iter().map(|at| part * HASHED + at % keys.len()));
            }
            candidates.sort_unstable();
            candidates.dedup();
            candidates
        }
    }
}

impl<F: Field<Simd: Halves>> Worker for BatchWorker<'_, F> {
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
        if let Some(turn) = self.engine.tuner.renewed(&self.turn) {
            self.buffers.change(&self.engine.pages, &turn);
            self.turn = turn;
        }
        let buffers = &mut self.buffers;
        let began = thread_time();
        seeds.fill(&mut buffers.seeds);
        let filled = thread_time();
        let yardstick = self.engine.tuner.is_due().then(|| buffers.yardstick());
        let measured = thread_time();
        buffers.derive();
        for index in candidates(buffers.field.simd(), matcher, &buffers.keys, &mut buffers.digests) {
            let (seed, public_key) = (Seed::new(buffers.seeds[index]), PublicKey(buffers.keys[index]));
            hits.push(Hit { index: index as u64, seed, public_key, has_sign: false });
        }
        wipe(&mut buffers.seeds);
        let keys = buffers.seeds.len();
        if let Some(yardstick) = yardstick {
            let time = (thread_time() + filled).saturating_sub(began + measured);
            self.engine.tuner.report(&self.turn, Timing { keys, time, yardstick });
        }
        keys as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Multiples;
    use crate::engine::self_test;

    /// Returns an engine that keeps this table.
    fn fixed<F: Field>(field: F, table: Table, keys: usize) -> Batched<F> {
        let sizes = Sizes::only(table.layout().len(), keys);
        let tuner = Tuner::with_table(field, sizes, Arc::new(table), Multiples::compute(), |_, _| true);
        Batched { name: "fixed", field, set: InstructionSet::widest(), tuner, pages: HugePages::default() }
    }

    #[test]
    fn every_table_passes() {
        for windows in sizes::WINDOWS {
            let field = Portable(Scalar::detect());
            let table = Table::new(field, windows);
            assert!(self_test::passes(&fixed(field, table, 2048)), "{windows} windows");
        }
    }

    /// Derives the keys of a batch, with the sign of x cleared.
    type Derive = Box<dyn FnMut(&[[u8; 32]]) -> Vec<[u8; 32]>>;

    const KEYS: usize = 4096;

    fn deriver<F: Field>(field: F) -> Derive {
        let mut worker = Box::leak(Box::new(fixed(field, Table::new(field, 18), KEYS))).batch_worker();
        Box::new(move |seeds| {
            worker.buffers.seeds.copy_from_slice(seeds);
            worker.buffers.derive();
            worker.buffers.keys.to_vec()
        })
    }

    /// `VANITY_SEEDS` sets the number of random seeds.
    #[test]
    fn every_back_end_derives_dalek_s_keys() {
        use rand_core::{Rng as _, SeedableRng as _};
        use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

        let mut derivers = Vec::new();
        crate::curve::on_every_back_end!(|field| derivers.push(deriver(field)));
        let count = std::env::var("VANITY_SEEDS").map_or(20_000, |count| count.parse().unwrap());
        let mut key = [0; 32];
        getrandom::fill(&mut key).unwrap();
        println!("random seeds: ChaCha20 of {key:02x?}");
        let mut random = rand_chacha::ChaCha20Rng::from_seed(key);
        let mut seeds = vec![[0; 32]; KEYS];
        for _ in 0..usize::div_ceil(count, seeds.len()) {
            random.fill_bytes(seeds.as_flattened_mut());
            let derive =
                |seed| without_sign(ed25519_dalek::SigningKey::from_bytes(seed).verifying_key().to_bytes());
            let expected: Vec<[u8; 32]> = seeds.par_iter().map(derive).collect();
            for (at, derive) in derivers.iter_mut().enumerate() {
                assert!(derive(&seeds) == expected, "back end {at} of {}", expected.len());
            }
        }
        println!("{} back ends, {count} seeds, no difference", derivers.len());
    }

    /// Spoils a table, so that one digit of the first window gives a denominator of 0.
    #[test]
    fn a_batch_with_a_zero_product_is_done_again() {
        let spoilt = |digit| {
            let field = Portable(Scalar::plain());
            let mut table = Table::new(field, 63);
            table.spoil(digit);
            self_test::passes(&fixed(field, table, KEYS))
        };
        let digits = crate::key::rfc8032_vectors::pairs()
            .map(|(seed, _)| usize::from(crate::key::scalar_bytes(&seed)[0] >> 3 & 7));
        let unused = (0..8).find(|digit| !digits.contains(digit)).unwrap();
        assert!(!spoilt(unused), "the spoilt window is used, and no denominator is 0");
        assert!(spoilt(digits[0]));
    }
}
