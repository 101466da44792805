//! Batches: many seeds at once, by affine additions from large tables that share their inversions.
//!
//! `curve` does the arithmetic and leaves one bit of each key unknown, the sign of x. The ladder
//! finds the fastest table while the batches of all workers run.

pub mod ladder;
pub mod sizes;
pub mod tables;

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
pub trait AnyDeriver: Send + Sync {
    /// Does [`Deriver::worker`](crate::Deriver::worker).
    fn worker(&self) -> Box<dyn AnyWorker + '_>;
    /// Does [`Deriver::is_settled`](crate::Deriver::is_settled).
    fn is_settled(&self) -> bool;
    /// Does [`Deriver::tuning`](crate::Deriver::tuning).
    fn tuning(&self) -> Tuning;
    /// Does [`Deriver::take_wrong_table`](crate::Deriver::take_wrong_table).
    fn take_wrong_table(&self) -> bool;
}

/// A [`Worker`](crate::Worker) of any field.
pub trait AnyWorker {
    /// Does [`Worker::batch`](crate::Worker::batch).
    fn batch(&mut self, fill: Fill<'_>, look: Look<'_>) -> usize;
}

/// Overwrites every seed of a batch with a fresh one.
pub type Fill<'a> = &'a mut dyn FnMut(&mut [[u8; 32]]);

/// Takes the seeds of a batch and their public keys.
pub type Look<'a> = &'a mut dyn FnMut(&[[u8; 32]], &[[u8; 32]]);

/// What the workers of one field share.
pub struct FieldDeriver<F> {
    field: F,
    /// The tables that all workers use.
    pub tables: Tables<F>,
    /// The number of keys in a batch.
    pub keys: usize,
}

/// The number of keys in the first batch of each worker, which takes less than a millisecond.
pub const FIRST_KEYS: usize = 512;

/// Returns what workers with this field share, or `None` if it computes wrong keys.
pub fn any_deriver<F: Field<Simd: Halves>>(field: F, sizing: Sizing) -> Option<Box<dyn AnyDeriver>> {
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
    /// Builds the first table. `is_right` returns whether a table reproduces known vectors.
    pub fn new(field: F, sizing: Sizing, is_right: fn(F, &Arc<Table>) -> bool) -> Self {
        let tables = Tables::new(field, sizes::windows(sizing), is_right);
        Self { field, tables, keys: sizes::batch_keys() }
    }

    /// Returns the part of one thread.
    pub fn field_worker(&self) -> FieldWorker<'_, F> {
        let (_, table) = self.tables.current();
        let buffers = Buffers::new(self.field, table, FIRST_KEYS);
        FieldWorker { deriver: self, is_first: true, turn: u64::MAX, buffers }
    }
}

pub struct FieldWorker<'a, F: Field> {
    deriver: &'a FieldDeriver<F>,
    /// Whether the next batch is the first one.
    is_first: bool,
    /// The number of the turn that the buffers are for, after the first batch.
    pub turn: u64,
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
pub fn reproduces_known_vectors<F: Field<Simd: Halves>>(field: F, table: &Arc<Table>) -> bool {
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
