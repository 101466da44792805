//! Measures the parts of a key with criterion, for every back end, on one thread.
//!
//! The parts are products, seeds, SHA-512, fingerprints of both signs, entries of the table,
//! inversion, digits, and the curve's part as a whole, digits included.
//!
//! ```text
//! cargo bench --bench parts -- avx2
//! ```
//!
//! Every batch of the curve has fresh scalars. The entries of "fetch" are in the first-level cache.
//!
//! Each rate is in elements per second. A vector counts as one element for each of its lanes.

use std::hint::black_box;
use std::sync::Arc;

use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use ed25519_batch::ChaCha20Lanes;
use ed25519_batch::internals::{Batch, Field, Table, fetch, sha512};
use ed25519_batch::simd::{Halves, Words};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};
use vanity_search::pattern::fingerprint;

#[path = "../../crates/ed25519-batch/benches/back_ends/mod.rs"]
mod back_ends;

use back_ends::{BackEnd, each_back_end};

/// The number of keys in a batch.
const KEYS: usize = 2048;

/// The number of windows. The table has 9 MB.
const WINDOWS: usize = 18;

/// The number of vectors in each measurement of a part. They do not depend on each other.
const VECTORS: usize = 64;

/// The bytes before a key in SSH's wire form.
const HEADER: [u8; 19] = *b"\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20";

struct Parts<'a>(&'a mut Criterion);

impl BackEnd for Parts<'_> {
    fn measure<F: Field<Simd: Halves>>(&mut self, name: &str, field: F) {
        let simd = field.simd();
        let lanes = <F::Simd as Words>::LANES;
        let mut group = self.0.benchmark_group(name);
        group.throughput(Throughput::Elements((VECTORS * lanes) as u64));
        let one = simd.run(
            #[inline(always)]
            || field.one(),
        );
        let mut products = [one; VECTORS];
        measure_each(
            &mut group,
            "mul",
            field,
            &mut products,
            #[inline(always)]
            |a| field.mul(a, &(*a).into()),
        );
        measure_each(
            &mut group,
            "square",
            field,
            &mut products,
            #[inline(always)]
            |a| field.square(a),
        );

        let back_end = ed25519_batch::BackEnd::by_name(name).expect("a name of a back end");
        let set = back_end.instruction_set().expect("the processor has it");
        if let Some(chacha) = ChaCha20Lanes::of(set) {
            let mut stream = vec![[0; 32]; VECTORS * lanes];
            group.bench_function("seeds", |bencher| {
                bencher.iter(|| chacha.fill(black_box(&[1; 32]), black_box(&mut stream)));
            });
        }

        let mut seeds: Vec<[u8; 32]> = (0..KEYS).map(|at| [at as u8; 32]).collect();
        let zero = simd.run(
            #[inline(always)]
            || [simd.splat(0); 4],
        );
        let mut scalars = vec![zero; VECTORS];
        group.bench_function("sha512", |bencher| {
            bencher.iter(|| {
                sha512::scalars(simd, &seeds[..VECTORS * lanes], &mut scalars);
                black_box((&mut seeds, &mut scalars));
            });
        });

        let keys: Vec<[u8; 32]> = (0..VECTORS * lanes).map(|at| [at as u8; 32]).collect();
        let mut digests = [(); 2].map(|()| keys.clone());
        group.bench_function("sha256", |bencher| {
            bencher.iter(|| {
                fingerprint::of_both_signs(simd, black_box(&keys), digests.each_mut().map(Vec::as_mut_slice));
                black_box(&mut digests);
            });
        });

        let table = Arc::new(Table::new(field, WINDOWS));
        let digits: Vec<u32> = (0..KEYS as u32).map(|at| at.wrapping_mul(2_654_435_761) >> 20 << 6).collect();
        let entries = table.window(1);
        group.bench_function("fetch", |bencher| {
            bencher.iter(|| {
                simd.run(
                    #[inline(always)]
                    || {
                        for digits in digits[..VECTORS * lanes].chunks_exact(2 * lanes) {
                            black_box(&fetch(field, entries, digits));
                        }
                    },
                );
            });
        });

        group.throughput(Throughput::Elements(lanes as u64));
        group.bench_function("invert", |bencher| {
            bencher.iter(|| {
                simd.run(
                    #[inline(always)]
                    || ed25519_batch::internals::invert(field, black_box(&products[0])),
                )
            });
        });

        let mut batch = Batch::new(field, Arc::clone(&table), KEYS);
        let mut keys = vec![[0; 32]; KEYS];
        group.throughput(Throughput::Elements(KEYS as u64));
        group.bench_function("digits", |bencher| {
            bencher.iter(|| set_all(simd, &mut batch, black_box(&seeds)))
        });
        // With the same scalars again, the entries would be in the caches.
        let mut random = ChaCha20Rng::from_seed([2; 32]);
        let mut fresh = || {
            let mut scalars = vec![[0; 32]; KEYS];
            random.fill_bytes(scalars.as_flattened_mut());
            scalars
        };
        let mut derive = |scalars: Vec<[u8; 32]>| {
            set_all(simd, &mut batch, &scalars);
            batch.public_keys(&mut keys);
        };
        group.bench_function("curve", |bencher| {
            bencher.iter_batched(&mut fresh, &mut derive, BatchSize::PerIteration);
        });
        group.finish();
    }
}

/// Measures `what` on each of `products`, one after the other.
fn measure_each<F: Field>(
    group: &mut BenchmarkGroup<WallTime>,
    name: &str,
    field: F,
    products: &mut [F::Product; VECTORS],
    what: impl Fn(&F::Product) -> F::Product,
) {
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            field.simd().run(
                #[inline(always)]
                || {
                    for product in products.iter_mut() {
                        *product = what(product);
                    }
                },
            );
            black_box(&mut *products);
        });
    });
}

/// Sets all scalars of a batch. The seeds serve as scalars here.
fn set_all<F: Field>(simd: F::Simd, batch: &mut Batch<F>, seeds: &[[u8; 32]]) {
    simd.run(
        #[inline(always)]
        || {
            for (at, seeds) in seeds.chunks_exact(<F::Simd as Words>::LANES).enumerate() {
                batch.set(at, &simd.transpose_bytes(|lane| &seeds[lane]));
            }
        },
    );
}

fn parts(criterion: &mut Criterion) {
    let mut random = ChaCha20Rng::from_seed([1; 32]);
    let mut stream = vec![[0; 32]; VECTORS];
    let mut group = criterion.benchmark_group("rand_chacha");
    group.throughput(Throughput::Elements(VECTORS as u64));
    group.bench_function("seeds", |bencher| {
        bencher.iter(|| random.fill_bytes(black_box(stream.as_flattened_mut())));
    });
    group.finish();
    let mut group = criterion.benchmark_group("sha2");
    group.throughput(Throughput::Elements(VECTORS as u64));
    group.bench_function("sha256", |bencher| {
        bencher.iter(|| {
            for key in black_box(&mut stream) {
                for sign in [0, 1 << 7] {
                    key[31] = key[31] & 0x7f | sign;
                    black_box(Sha256::digest([&HEADER[..], key].concat()));
                }
            }
        });
    });
    group.finish();
    each_back_end(&mut Parts(criterion));
}

criterion_group!(benches, parts);
criterion_main!(benches);
