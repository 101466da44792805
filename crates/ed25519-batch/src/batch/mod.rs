//! Batches: many seeds at once, by affine additions from large tables that share their inversions.
//!
//! `curve` does the arithmetic and leaves one bit of each key unknown, the sign of x. The ladder
//! finds the fastest table while the batches of all workers run.

mod ladder;
mod sizes;
mod tables;

use std::sync::Arc;

pub use self::ladder::{Ladder, Schedule};
use self::tables::Tables;
use crate::curve::{Batch, Field, Table, VECTORS_AHEAD, Word};
use crate::hash::sha512;
use crate::memory::{overwrite, thread_time, wipe};
use crate::rfc8032_vectors;
use crate::simd::{Halves, Words};
use crate::{Sizing, Tuning, without_sign};

/// A [`Deriver`](crate::Deriver) of any field.
pub(crate) trait AnyDeriver: Send + Sync {
    fn worker(&self) -> Box<dyn AnyWorker + '_>;
    fn is_settled(&self) -> bool;
    fn tuning(&self) -> Tuning;
    fn take_wrong_table(&self) -> bool;
}

/// A [`Worker`](crate::Worker) of any field.
pub(crate) trait AnyWorker {
    fn batch(&mut self, fill: Fill<'_>, look: Look<'_>) -> usize;
}

/// Overwrites every seed of a batch with a fresh one.
pub type Fill<'a> = &'a mut dyn FnMut(&mut [[u8; 32]]);

/// Takes the seeds of a batch and their public keys.
pub type Look<'a> = &'a mut dyn FnMut(&[[u8; 32]], &[[u8; 32]]);

/// What the workers of one field share.
struct FieldDeriver<F> {
    field: F,
    tables: Tables<F>,
    /// The number of keys in a batch.
    keys: usize,
}

/// The number of keys in the first batch of each worker, which takes less than a millisecond.
const FIRST_KEYS: usize = 512;

/// Returns what workers with this field share, or `None` if it computes wrong keys.
pub(crate) fn any_deriver<F: Field<Simd: Halves>>(field: F, sizing: Sizing) -> Option<Box<dyn AnyDeriver>> {
    let deriver = FieldDeriver::new(field, sizing, reproduces_known_vectors);
    let (_, table) = deriver.tables.current();
    reproduces_known_vectors(field, &table).then(|| Box::new(deriver) as Box<dyn AnyDeriver>)
}

impl<F: Field<Simd: Halves>> AnyDeriver for FieldDeriver<F> {
    fn worker(&self) -> Box<dyn AnyWorker + '_> {
        Box::new(self.field_worker())
    }

    fn is_settled(&self) -> bool {
        self.tables.is_settled()
    }

    fn tuning(&self) -> Tuning {
        let windows = self.tables.best();
        let table_bytes = Table::bytes(windows);
        Tuning { windows, table_bytes, batch_keys: self.keys, prefetch_vectors: VECTORS_AHEAD }
    }

    fn take_wrong_table(&self) -> bool {
        self.tables.take_wrong_table()
    }
}

impl<F: Field<Simd: Halves>> FieldDeriver<F> {
    fn new(field: F, sizing: Sizing, is_right: fn(F, &Arc<Table>) -> bool) -> Self {
        let tables = Tables::new(field, sizes::windows(sizing), is_right);
        Self { field, tables, keys: sizes::batch_keys() }
    }

    fn field_worker(&self) -> FieldWorker<'_, F> {
        let (_, table) = self.tables.current();
        let buffers = Buffers::new(self.field, table, FIRST_KEYS);
        FieldWorker { deriver: self, is_first: true, turn: u64::MAX, buffers }
    }
}

struct FieldWorker<'a, F: Field> {
    deriver: &'a FieldDeriver<F>,
    /// Whether the next batch is the first one.
    is_first: bool,
    /// The number of the turn that the buffers are for, after the first batch.
    turn: u64,
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
    /// Allocates buffers for batches of this number of keys.
    fn new(field: F, table: Arc<Table>, keys: usize) -> Self {
        Self {
            field,
            batch: Batch::new(field, table, keys),
            seeds: vec![[0; 32]; keys],
            scalars: vec![zero(field); HASHED],
            keys: vec![[0; 32]; keys],
        }
    }

    /// Changes the table and the number of keys. All seeds must be wiped.
    fn change(&mut self, table: Arc<Table>, keys: usize) {
        self.batch.change(table, keys);
        self.seeds.resize(keys, [0; 32]);
        self.keys.resize(keys, [0; 32]);
    }

    /// Derives the public keys of the seeds, with the sign of x cleared.
    fn derive(&mut self) {
        let simd = self.field.simd();
        let lanes = <F::Simd as Words>::LANES;
        let Self { seeds, scalars, batch, .. } = self;
        for (at, seeds) in seeds.chunks(HASHED * lanes).enumerate() {
            let scalars = &mut scalars[..seeds.len() / lanes];
            sha512::scalars(simd.common(), seeds, scalars);
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
    let mut buffers = Buffers::new(field, Arc::clone(table), keys);
    for (seed, (known, _)) in buffers.seeds.iter_mut().zip(pairs.iter().cycle()) {
        *seed = *known;
    }
    buffers.derive();
    buffers.keys.iter().zip(pairs.iter().cycle()).all(|(key, (_, known))| *key == without_sign(*known))
}

impl<F: Field<Simd: Halves>> AnyWorker for FieldWorker<'_, F> {
    fn batch(&mut self, fill: Fill<'_>, look: Look<'_>) -> usize {
        let Self { deriver: FieldDeriver { tables, keys, .. }, turn, buffers, .. } = self;
        // The first batch waits for nothing.
        let is_first = std::mem::replace(&mut self.is_first, false);
        if !is_first && *turn != tables.turn() {
            let (new, table) = tables.current();
            buffers.change(table, *keys);
            *turn = new;
        }
        let began = thread_time();
        fill(&mut buffers.seeds);
        buffers.derive();
        look(&buffers.seeds, &buffers.keys);
        wipe(&mut buffers.seeds);
        let derived = buffers.seeds.len();
        if !is_first {
            tables.report(*turn, derived, thread_time().saturating_sub(began));
        }
        derived
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::SigningKey;

    use super::*;
    use crate::curve::Portable;
    use crate::simd::Scalar;

    #[test]
    fn every_table_passes() {
        for windows in sizes::WINDOWS {
            let field = Portable(Scalar::detect());
            let table = Arc::new(Table::new(field, windows));
            assert!(reproduces_known_vectors(field, &table), "{windows} windows");
        }
    }

    #[test]
    fn after_its_first_batch_a_worker_uses_the_table_of_the_turn() {
        let field = Portable(Scalar::plain());
        let sizing = Sizing { table_memory: Some(2 << 20), ..Sizing::for_keys(1e18) };
        let deriver = FieldDeriver::new(field, sizing, |_, _| true);
        let mut worker = deriver.field_worker();
        let mut batch = || worker.batch(&mut |_| {}, &mut |_, _| {});
        assert_eq!([batch(), batch()], [FIRST_KEYS, deriver.keys]);
        while deriver.tables.best() == 28 {
            batch();
        }
        let (turn, table) = deriver.tables.current();
        batch();
        assert_eq!((worker.turn, table.layout().len()), (turn, 24));
        assert_eq!(Arc::strong_count(&table), 3, "the worker holds it, too");
    }

    #[test]
    fn a_wrong_table_is_reported() {
        let sizing = Sizing { table_memory: Some(4 << 20), ..Sizing::for_keys(1e18) };
        let is_first = |_, table: &Arc<Table>| table.layout().len() >= 28;
        let deriver = FieldDeriver::new(Portable(Scalar::detect()), sizing, is_first);
        assert!(!deriver.is_settled() && !deriver.take_wrong_table());
        let mut worker = deriver.field_worker();
        while !deriver.take_wrong_table() {
            worker.batch(&mut |_| {}, &mut |_, _| {});
        }
    }

    /// Derives the keys of a batch, with the sign of x cleared.
    type Derive = Box<dyn FnMut(&[[u8; 32]]) -> Vec<[u8; 32]>>;

    const KEYS: usize = 4096;

    fn deriver<F: Field<Simd: Halves>>(field: F) -> Derive {
        let mut buffers = Buffers::new(field, Arc::new(Table::new(field, 18)), KEYS);
        Box::new(move |seeds| {
            buffers.seeds.copy_from_slice(seeds);
            buffers.derive();
            buffers.keys.clone()
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
