//! Tests of public keys against ed25519-dalek, and of the workers that change their tables.

use std::sync::Arc;

use ed25519_batch::internals::sizes::WINDOWS;
use ed25519_batch::internals::{
    AnyDeriver, AnyWorker as _, FIRST_KEYS, FieldDeriver, Ifma, Portable, Table, any_deriver,
    reproduces_known_vectors,
};
use ed25519_batch::simd::{Missing, Scalar};
use ed25519_batch::{BackEnd, Deriver, Fill, Look, Sizing, Unavailable, without_sign};
use ed25519_dalek::SigningKey;
use rand_core::{Rng as _, SeedableRng as _};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::simd::sets::Emulated;

#[test]
fn every_table_passes() {
    for windows in WINDOWS {
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

/// A worker that other programs hold up would otherwise keep a third table in memory.
#[test]
fn no_third_table_is_built_while_a_worker_uses_an_old_one() {
    let sizing = Sizing { table_memory: Some(4 << 20), ..Sizing::for_keys(1e18) };
    let deriver = FieldDeriver::new(Portable(Scalar::detect()), sizing, |_, _| true);
    let (mut worker, mut late) = (deriver.field_worker(), deriver.field_worker());
    for _ in 0..100 {
        worker.batch(&mut |_| {}, &mut |_, _| {});
    }
    assert_eq!(deriver.tables.best(), 24);
    // Its first batch still has the table that it began with.
    late.batch(&mut |_| {}, &mut |_, _| {});
    assert_eq!(deriver.tables.best(), 24);
    late.batch(&mut |_| {}, &mut |_, _| {});
    while deriver.tables.best() == 24 {
        worker.batch(&mut |_| {}, &mut |_, _| {});
    }
    assert_eq!(deriver.tables.best(), 21);
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

/// The usual sizing, with one table.
const SIZING: Sizing = Sizing { windows: Some(18), ..Sizing::for_keys(1e4) };

/// Returns the derivers of all back ends that the processor supports. Names the others.
fn derivers() -> Vec<Deriver> {
    let deriver = |back_end| match Deriver::new(back_end, SIZING) {
        Ok(deriver) => Some(deriver),
        Err(Unavailable::Instructions(Missing(sets))) => {
            sets.into_iter().for_each(crate::require::missing);
            None
        }
        Err(error) => {
            assert!(!back_end.is_built(), "{}: {error}", back_end.name());
            None
        }
    };
    BackEnd::ALL.into_iter().filter_map(deriver).collect()
}

/// Returns derivers with instructions that other processors have, or without those that this one has.
fn emulated() -> Vec<Box<dyn AnyDeriver>> {
    let mut derivers = vec![
        any_deriver(Portable(Scalar::plain()), SIZING).unwrap(),
        any_deriver(Ifma(Emulated::<_, true>(Scalar::plain())), SIZING).unwrap(),
    ];
    #[cfg(target_arch = "x86_64")]
    {
        use crate::simd::sets::{AvxIfmaByEvex, on};
        on(AvxIfmaByEvex::detect(), |simd| derivers.push(any_deriver(Ifma(simd), SIZING).unwrap()));
    }
    #[cfg(target_arch = "aarch64")]
    {
        use crate::simd::sets::on;
        on(ed25519_batch::simd::Neon::detect().map(Emulated::<_, true>), |simd| {
            derivers.push(any_deriver(Ifma(simd), SIZING).unwrap());
        });
    }
    derivers
}

/// Derives one batch.
type Derive<'a> = Box<dyn FnMut(Fill<'_>, Look<'_>) -> usize + 'a>;

/// `VANITY_SEEDS` sets the number of random seeds.
#[test]
fn every_back_end_derives_dalek_s_keys() {
    let (real, emulated) = (derivers(), emulated());
    let keys = real[0].tuning().batch_keys;
    let real = real.iter().map(|deriver| {
        let mut worker = deriver.worker();
        Box::new(move |fill: Fill<'_>, look: Look<'_>| worker.batch(fill, look)) as Derive<'_>
    });
    let emulated = emulated.iter().map(|deriver| {
        let mut worker = deriver.worker();
        Box::new(move |fill: Fill<'_>, look: Look<'_>| worker.batch(fill, look)) as Derive<'_>
    });
    let mut back_ends: Vec<Derive<'_>> = real.chain(emulated).collect();
    // The first batch of a worker is short.
    for derive in &mut back_ends {
        assert_eq!(derive(&mut |_| {}, &mut |_, _| {}), FIRST_KEYS);
    }
    let count = std::env::var("VANITY_SEEDS").map_or(8192, |count| count.parse().unwrap());
    let mut key = [0; 32];
    getrandom::fill(&mut key).unwrap();
    println!("random seeds: ChaCha20 of {key:02x?}");
    let mut random = rand_chacha::ChaCha20Rng::from_seed(key);
    let mut seeds = vec![[0; 32]; keys];
    for _ in 0..usize::div_ceil(count, seeds.len()) {
        random.fill_bytes(seeds.as_flattened_mut());
        let derive = |seed| without_sign(SigningKey::from_bytes(seed).verifying_key().to_bytes());
        let expected: Vec<[u8; 32]> = seeds.par_iter().map(derive).collect();
        for (at, derive) in back_ends.iter_mut().enumerate() {
            derive(&mut |batch| batch.copy_from_slice(&seeds), &mut |_, keys| {
                assert!(*keys == expected, "back end {at} of {}", expected.len());
            });
        }
    }
    println!("{} back ends, {count} seeds, no difference", back_ends.len());
}
