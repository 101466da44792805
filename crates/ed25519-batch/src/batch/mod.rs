//! Batches: many seeds at once, by affine additions from large tables that share their inversions.
//!
//! `curve` does the arithmetic and leaves one bit of each key unknown, the sign of x. The tuner
//! finds the fastest table while the batches of all workers run.

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
use crate::curve::{Batch, Field, Table, VECTORS_AHEAD, Word};
use crate::hash::sha512;
use crate::memory::{overwrite, thread_time, wipe};
use crate::rfc8032_vectors;
use crate::simd::{Halves, Words};
use crate::{Sizing, Tuning, without_sign};

/// What the workers of one back end share: a [`Deriver`](crate::Deriver) without the types of its
/// lanes.
pub(crate) trait Shared: Send + Sync {
    fn worker(&self) -> Box<dyn Batches + '_>;
    fn is_settled(&self) -> bool;
    fn tuning(&self) -> Tuning;
    fn take_wrong_table(&self) -> bool;
}

/// One thread's batches: a [`Worker`](crate::Worker) without the types of its lanes.
pub(crate) trait Batches {
    fn batch(&mut self, fill: Fill<'_>, look: Look<'_>) -> usize;
}

/// Overwrites every seed of a batch with a fresh one.
pub type Fill<'a> = &'a mut dyn FnMut(&mut [[u8; 32]]);

/// Takes the seeds of a batch and their public keys.
pub type Look<'a> = &'a mut dyn FnMut(&[[u8; 32]], &[[u8; 32]]);

/// The tables of one back end.
struct BackEnd<F> {
    field: F,
    tuner: Tuner<F>,
}

/// Returns what workers with this back end share, or `None` if it computes wrong keys.
pub(crate) fn shared<F: Field<Simd: Halves>>(field: F, sizing: Sizing) -> Option<Box<dyn Shared>> {
    let tuner = Tuner::new(field, Sizes::new(sizing), reproduces_known_vectors);
    let is_right = reproduces_known_vectors(field, &tuner.turn().table);
    is_right.then(|| Box::new(BackEnd { field, tuner }) as Box<dyn Shared>)
}

impl<F: Field<Simd: Halves>> Shared for BackEnd<F> {
    fn worker(&self) -> Box<dyn Batches + '_> {
        Box::new(self.batch_worker())
    }

    fn is_settled(&self) -> bool {
        self.tuner.is_settled()
    }

    fn tuning(&self) -> Tuning {
        let (windows, batch_keys) = self.tuner.best();
        let table_bytes = Table::bytes(windows);
        Tuning { windows, table_bytes, batch_keys, prefetch_vectors: VECTORS_AHEAD }
    }

    fn take_wrong_table(&self) -> bool {
        self.tuner.take_wrong_table()
    }
}

impl<F: Field<Simd: Halves>> BackEnd<F> {
    fn batch_worker(&self) -> BatchWorker<'_, F> {
        let turn = self.tuner.turn();
        BatchWorker { back_end: self, buffers: Buffers::new(self.field, &turn), turn }
    }
}

struct BatchWorker<'a, F: Field> {
    back_end: &'a BackEnd<F>,
    turn: Turn,
    buffers: Buffers<F>,
}

/// The buffers of one batch.
struct Buffers<F: Field> {
    field: F,
    batch: Batch<F>,
    seeds: Vec<[u8; 32]>,
    /// The scalars of [`HASHED`] vectors of seeds.
    scalars: Vec<[Word<F>; 4]>,
    /// The public keys, with the sign of x cleared.
    keys: Vec<[u8; 32]>,
}

impl<F: Field<Simd: Halves>> Buffers<F> {
    /// Allocates buffers for a turn.
    fn new(field: F, turn: &Turn) -> Self {
        Self {
            field,
            batch: Batch::new(field, Arc::clone(&turn.table), turn.keys),
            seeds: vec![[0; 32]; turn.keys],
            scalars: vec![zero(field); HASHED],
            keys: vec![[0; 32]; turn.keys],
        }
    }

    /// Changes the table and the number of keys to those of a turn. All seeds must be wiped.
    fn change(&mut self, turn: &Turn) {
        self.batch.change(Arc::clone(&turn.table), turn.keys);
        self.seeds.resize(turn.keys, [0; 32]);
        self.keys.resize(turn.keys, [0; 32]);
    }

    /// Derives the public keys of the seeds, with the sign of x cleared. Returns the time of a fixed
    /// piece of this work that needs no table: it shows how fast the processor is.
    fn derive(&mut self) -> Duration {
        let simd = self.field.simd();
        let lanes = <F::Simd as Words>::LANES;
        let mut yardstick = Duration::ZERO;
        let Self { seeds, scalars, batch, .. } = self;
        for (at, seeds) in seeds.chunks(HASHED * lanes).enumerate() {
            let began = thread_time();
            let scalars = &mut scalars[..seeds.len() / lanes];
            sha512::scalars(simd.common(), seeds, scalars);
            // The first chunk brings the code into the cache.
            if at == 1 {
                yardstick = thread_time().saturating_sub(began);
            }
            simd.run(
                #[inline(always)]
                || {
                    for (vector, scalars) in scalars.iter().enumerate() {
                        batch.set(at * HASHED + vector, scalars);
                    }
                },
            );
        }
        overwrite(scalars, zero(self.field));
        self.batch.public_keys(&mut self.keys);
        yardstick
    }
}

/// Returns the scalar 0 in every lane.
fn zero<F: Field>(field: F) -> [Word<F>; 4] {
    let simd = field.simd();
    simd.run(
        #[inline(always)]
        || [simd.splat(0); 4],
    )
}

/// The vectors of seeds that are hashed before their scalars are set.
const HASHED: usize = 64;

/// Returns whether a batch with this table derives the key pairs of RFC 8032, each in every lane.
fn reproduces_known_vectors<F: Field<Simd: Halves>>(field: F, table: &Arc<Table>) -> bool {
    let pairs = rfc8032_vectors::pairs();
    let keys = pairs.len() * <F::Simd as Words>::LANES;
    let mut buffers = Buffers::new(field, &Turn::of(keys, Arc::clone(table)));
    for (seed, (known, _)) in buffers.seeds.iter_mut().zip(pairs.iter().cycle()) {
        *seed = *known;
    }
    buffers.derive();
    buffers.keys.iter().zip(pairs.iter().cycle()).all(|(key, (_, known))| *key == without_sign(*known))
}

impl<F: Field<Simd: Halves>> Batches for BatchWorker<'_, F> {
    fn batch(&mut self, fill: Fill<'_>, look: Look<'_>) -> usize {
        if let Some(turn) = self.back_end.tuner.renewed(&self.turn) {
            self.buffers.change(&turn);
            self.turn = turn;
        }
        let buffers = &mut self.buffers;
        let began = thread_time();
        fill(&mut buffers.seeds);
        let yardstick = buffers.derive();
        look(&buffers.seeds, &buffers.keys);
        wipe(&mut buffers.seeds);
        let keys = buffers.seeds.len();
        if self.back_end.tuner.is_due() {
            let time = thread_time().saturating_sub(began);
            self.back_end.tuner.report(&self.turn, Timing { keys, time, yardstick });
        }
        keys
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::SigningKey;

    use super::*;
    use crate::curve::{Multiples, Portable};
    use crate::simd::Scalar;

    /// Returns a back end that keeps this table.
    fn fixed<F: Field>(field: F, table: Table, keys: usize) -> BackEnd<F> {
        let sizes = Sizes::only(table.layout().len(), keys);
        let tuner = Tuner::with_table(field, sizes, Arc::new(table), Multiples::compute(), |_, _| true);
        BackEnd { field, tuner }
    }

    #[test]
    fn every_table_passes() {
        for windows in sizes::WINDOWS {
            let field = Portable(Scalar::detect());
            let table = Arc::new(Table::new(field, windows));
            assert!(reproduces_known_vectors(field, &table), "{windows} windows");
        }
    }

    #[test]
    fn a_worker_uses_the_table_of_its_turn_and_no_other() {
        let field = Portable(Scalar::plain());
        let back_end = fixed(field, Table::new(field, 28), 64);
        assert!(back_end.is_settled() && !back_end.take_wrong_table());
        let mut worker = back_end.batch_worker();
        let turn = Turn::of(128, Arc::new(Table::new(field, 21)));
        worker.buffers.change(&turn);
        assert_eq!((worker.buffers.seeds.len(), worker.buffers.keys.len()), (128, 128));
        assert_eq!(Arc::strong_count(&turn.table), 2, "the worker holds it, too");
    }

    #[test]
    fn a_wrong_table_is_reported() {
        let sizing = Sizing { table_memory: Some(4 << 20), ..Sizing::for_keys(1e18) };
        let is_first = |_, table: &Arc<Table>| table.layout().len() >= 28;
        let field = Portable(Scalar::detect());
        let back_end = BackEnd { field, tuner: Tuner::new(field, Sizes::new(sizing), is_first) };
        assert!(!back_end.is_settled() && !back_end.take_wrong_table());
        let mut worker = back_end.batch_worker();
        while !back_end.take_wrong_table() {
            worker.batch(&mut |_| {}, &mut |_, _| {});
        }
    }

    /// Derives the keys of a batch, with the sign of x cleared.
    type Derive = Box<dyn FnMut(&[[u8; 32]]) -> Vec<[u8; 32]>>;

    const KEYS: usize = 4096;

    fn deriver<F: Field<Simd: Halves>>(field: F) -> Derive {
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
        let count = std::env::var("VANITY_SEEDS").map_or(8192, |count| count.parse().unwrap());
        let mut key = [0; 32];
        getrandom::fill(&mut key).unwrap();
        println!("random seeds: ChaCha20 of {key:02x?}");
        let mut random = rand_chacha::ChaCha20Rng::from_seed(key);
        let mut seeds = vec![[0; 32]; KEYS];
        for _ in 0..usize::div_ceil(count, seeds.len()) {
            random.fill_bytes(seeds.as_flattened_mut());
            let derive = |seed| without_sign(SigningKey::from_bytes(seed).verifying_key().to_bytes());
            let expected: Vec<[u8; 32]> = seeds.par_iter().map(derive).collect();
            for (at, derive) in derivers.iter_mut().enumerate() {
                assert!(derive(&seeds) == expected, "back end {at} of {}", expected.len());
            }
        }
        println!("{} back ends, {count} seeds, no difference", derivers.len());
    }
}
