//! The batch engine: many keys at once, by affine additions from large tables that share their
//! inversions.
//!
//! [`crate::curve`] does the arithmetic and leaves one bit of each key unknown, the sign of x. That
//! bit changes one character of the body, and the whole fingerprint. So the matcher tests both
//! signs, and a hit does not know which of them matches.

use super::reference;
use super::sizing::Sizing;
use super::worker::{Engine, Hit, SeedSource, Worker};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::curve::Fma;
#[cfg(target_arch = "x86_64")]
use crate::curve::Ifma;
use crate::curve::{Batch, Field, Portable, Table, ZeroProduct};
use crate::hash::sha256;
use crate::hash::sha512;
use crate::key::{PublicKey, Seed};
use crate::pattern::Matcher;
use crate::simd::{CacheLine, Missing, Scalar, Words};
use crate::sys::{caches, memory_limit, wipe};
use crate::wire::{Target, without_sign};

/// The keys in a batch: the first number if the second-level cache has at least [`LARGE_CACHE`],
/// otherwise the second. A batch takes some milliseconds, and enough keys share an inversion. The
/// first number is 3 to 5 % slower with a cache of 1 MiB.
const KEYS: [usize; 2] = [4096, 2048];

/// The smallest second-level cache that holds the larger batch, 1.25 MiB: 25 cache lines for each
/// vector of 8 keys, and the digits.
const LARGE_CACHE: usize = 1280 << 10;

/// The useful numbers of windows: tables from 16 KiB, which the first-level cache holds, to 300 MB.
const WINDOWS: [usize; 14] = [126, 84, 63, 50, 42, 36, 28, 24, 21, 18, 16, 15, 14, 13];

/// The most memory that tables take unless more is allowed. Fewer windows than 14 gain almost
/// nothing.
const MOST_MEMORY: usize = 128 << 20;

/// The size of the last-level cache if the system does not report it.
const USUAL_CACHE: usize = 32 << 20;

/// If the memory of the process is limited, tables take at most this part of the limit: one eighth.
/// Threads and buffers need the rest.
const SHARE_OF_LIMIT: usize = 8;

/// More keys than any search tries.
const ENDLESS: f64 = 1e18;

/// The cost of making an entry of a table, in additions.
const COST_OF_ENTRY: f64 = 1.5;

/// The engine of one back end.
struct Batched<F> {
    name: &'static str,
    field: F,
    table: Table,
}

/// Builds the engine for ordinary 64-bit words.
pub(super) fn portable(sizing: Sizing) -> Result<Box<dyn Engine>, String> {
    build("portable", Ok(Portable(Scalar::detect())), sizing)
}

/// Returns an error that names what the processor lacks for an engine.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn lacks<T>(detected: Result<T, Missing>) -> Result<(), String> {
    detected.map(|_| ()).map_err(|missing| missing.to_string())
}

#[cfg(target_arch = "x86_64")]
pub(super) fn detect_avx2() -> Result<(), String> {
    lacks(crate::simd::Avx2::detect())
}

#[cfg(target_arch = "x86_64")]
pub(super) fn detect_avxifma() -> Result<(), String> {
    lacks(crate::simd::AvxIfma::detect())
}

#[cfg(target_arch = "x86_64")]
pub(super) fn detect_avx512f() -> Result<(), String> {
    lacks(crate::simd::Avx512f::detect())
}

#[cfg(target_arch = "x86_64")]
pub(super) fn detect_avx512ifma() -> Result<(), String> {
    lacks(crate::simd::Avx512ifma::detect())
}

/// Builds the engine with four lanes.
#[cfg(target_arch = "x86_64")]
pub(super) fn avx2(sizing: Sizing) -> Result<Box<dyn Engine>, String> {
    build("avx2", crate::simd::Avx2::detect().map(Fma), sizing)
}

/// Builds the engine with four lanes and 52-bit products.
#[cfg(target_arch = "x86_64")]
pub(super) fn avxifma(sizing: Sizing) -> Result<Box<dyn Engine>, String> {
    build("avxifma", crate::simd::AvxIfma::detect().map(Ifma), sizing)
}

/// Builds the engine with eight lanes.
#[cfg(target_arch = "x86_64")]
pub(super) fn avx512f(sizing: Sizing) -> Result<Box<dyn Engine>, String> {
    build("avx512f", crate::simd::Avx512f::detect().map(Fma), sizing)
}

/// Builds the engine with eight lanes and 52-bit products.
#[cfg(target_arch = "x86_64")]
pub(super) fn avx512ifma(sizing: Sizing) -> Result<Box<dyn Engine>, String> {
    build("avx512ifma", crate::simd::Avx512ifma::detect().map(Ifma), sizing)
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) use {
    lacks_x86 as detect_avx2, lacks_x86 as detect_avx512f, lacks_x86 as detect_avx512ifma,
    lacks_x86 as detect_avxifma, not_x86 as avx2, not_x86 as avx512f, not_x86 as avx512ifma,
    not_x86 as avxifma,
};

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn lacks_x86() -> Result<(), String> {
    Err("this processor is not x86-64".to_owned())
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn not_x86(_: Sizing) -> Result<Box<dyn Engine>, String> {
    lacks_x86().map(|()| unreachable!("it is not there"))
}

#[cfg(target_arch = "aarch64")]
pub(super) fn detect_neon() -> Result<(), String> {
    lacks(crate::simd::Neon::detect())
}

/// Builds the engine with two lanes.
#[cfg(target_arch = "aarch64")]
pub(super) fn neon(sizing: Sizing) -> Result<Box<dyn Engine>, String> {
    build("neon", crate::simd::Neon::detect().map(Fma), sizing)
}

#[cfg(not(target_arch = "aarch64"))]
pub(super) fn detect_neon() -> Result<(), String> {
    Err("this processor is not aarch64".to_owned())
}

#[cfg(not(target_arch = "aarch64"))]
pub(super) fn neon(_: Sizing) -> Result<Box<dyn Engine>, String> {
    detect_neon().map(|()| unreachable!("it is not there"))
}

fn build<F: Field>(
    name: &'static str,
    field: Result<F, Missing>,
    sizing: Sizing,
) -> Result<Box<dyn Engine>, String> {
    let field = field.map_err(|missing| missing.to_string())?;
    Ok(Box::new(Batched { name, field, table: Table::new(field, windows(sizing)) }))
}

/// Returns the number of windows for which building the table and trying the expected keys costs
/// least together. The table must fit into the allowed memory. By default that is the size of the
/// last-level cache, because every thread reads the table at random.
fn windows(sizing: Sizing) -> usize {
    let most = sizing.table_memory.unwrap_or_else(|| {
        let allowed = memory_limit().map_or(usize::MAX, |bytes| bytes as usize / SHARE_OF_LIMIT);
        caches().last().map_or(USUAL_CACHE, |bytes| *bytes).min(MOST_MEMORY).min(allowed)
    });
    let cost = |windows: usize| {
        let entries = (Table::bytes(windows) / size_of::<CacheLine>()) as f64;
        COST_OF_ENTRY * entries + sizing.expected_attempts.min(ENDLESS) * windows as f64
    };
    let allowed = WINDOWS.iter().copied().filter(|&windows| Table::bytes(windows) <= most);
    allowed.min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(WINDOWS[0])
}

impl<F: Field> Engine for Batched<F> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(self.batch_worker())
    }
}

impl<F: Field> Batched<F> {
    fn batch_worker(&self) -> BatchWorker<'_, F> {
        let keys = batch_size();
        BatchWorker {
            field: self.field,
            batch: Batch::new(self.field, &self.table, keys),
            seeds: vec![[0; 32]; keys],
            keys: vec![[0; 32]; keys],
            digests: [Vec::new(), Vec::new()],
        }
    }
}

/// Returns the number of keys in a batch on this machine.
fn batch_size() -> usize {
    let large = caches().get(1).is_some_and(|&second| second >= LARGE_CACHE);
    if large { KEYS[0] } else { KEYS[1] }
}

struct BatchWorker<'a, F: Field> {
    field: F,
    batch: Batch<'a, F>,
    seeds: Vec<[u8; 32]>,
    /// The public keys, with the sign of x cleared.
    keys: Vec<[u8; 32]>,
    /// Their fingerprints with either sign, if fingerprints are searched.
    digests: [Vec<[u8; 32]>; 2],
}

impl<F: Field> BatchWorker<'_, F> {
    /// Derives the public keys of the seeds, with the sign of x cleared.
    fn derive(&mut self) {
        let simd = self.field.simd();
        let Self { seeds, batch, .. } = self;
        let lanes = <F::Simd as Words>::LANES;
        simd.run(
            #[inline(always)]
            || {
                for (group, seeds) in seeds.chunks_exact(lanes).enumerate() {
                    let scalars = sha512::scalars(
                        simd,
                        #[inline(always)]
                        |lane| &seeds[lane],
                    );
                    batch.set(group, &scalars);
                }
            },
        );
        if self.batch.public_keys(&mut self.keys) == Err(ZeroProduct) {
            for (key, seed) in self.keys.iter_mut().zip(&self.seeds) {
                *key = without_sign(reference::public_key(seed).0);
            }
        }
    }
}

/// Returns the places of the keys that match with one sign or the other, in ascending order. The
/// sign of every key must be 0. `digests` are buffers for the fingerprints with either sign.
pub(super) fn candidates<S: Words>(
    simd: S,
    matcher: &Matcher,
    keys: &[[u8; 32]],
    digests: &mut [Vec<[u8; 32]>; 2],
) -> Vec<usize> {
    match matcher.target() {
        Target::Key => matcher.candidates(keys),
        Target::Fingerprint => {
            digests.iter_mut().for_each(|digests| digests.resize(keys.len(), [0; 32]));
            let [plus, minus] = digests;
            sha256::of_both_signs(simd, keys, [plus, minus]);
            let mut candidates = matcher.candidates(plus);
            candidates.extend(matcher.candidates(minus));
            candidates.sort_unstable();
            candidates.dedup();
            candidates
        }
    }
}

impl<F: Field> Worker for BatchWorker<'_, F> {
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
        seeds.fill(&mut self.seeds);
        self.derive();
        for index in candidates(self.field.simd(), matcher, &self.keys, &mut self.digests) {
            let (seed, public_key) = (Seed::new(self.seeds[index]), PublicKey(self.keys[index]));
            hits.push(Hit { index: index as u64, seed, public_key, has_sign: false });
        }
        wipe(&mut self.seeds);
        self.seeds.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::self_test;

    #[test]
    fn every_table_passes() {
        for windows in WINDOWS {
            let table_memory = Some(Table::bytes(windows));
            let sizing = Sizing { table_memory, ..Sizing::for_attempts(f64::INFINITY) };
            assert_eq!(super::windows(sizing), windows);
            let field = Portable(Scalar::detect());
            let engine = Batched { name: "portable", field, table: Table::new(field, windows) };
            assert!(self_test::passes(&engine));
        }
    }

    /// Derives the keys of a batch, with the sign of x cleared.
    type Derive = Box<dyn FnMut(&[[u8; 32]]) -> Vec<[u8; 32]>>;

    fn deriver<F: Field>(field: F) -> Derive {
        let engine: &Batched<F> =
            Box::leak(Box::new(Batched { name: "any", field, table: Table::new(field, 18) }));
        let mut worker = engine.batch_worker();
        Box::new(move |seeds| {
            worker.seeds.copy_from_slice(seeds);
            worker.derive();
            worker.keys.clone()
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
        let mut seeds = vec![[0; 32]; batch_size()];
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
            self_test::passes(&Batched { name: "spoilt", field, table })
        };
        let digits = crate::key::rfc8032_vectors::pairs()
            .map(|(seed, _)| usize::from(crate::key::scalar_bytes(&seed)[0] >> 3 & 7));
        let unused = (0..8).find(|digit| !digits.contains(digit)).unwrap();
        assert!(!spoilt(unused), "the spoilt window is used, and no denominator is 0");
        assert!(spoilt(digits[0]));
    }
}
