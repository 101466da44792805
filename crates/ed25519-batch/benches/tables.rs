//! Measures the cost of a key by size of table and size of batch, for every back end. One thread
//! does only the curve's part. The result is a table.
//!
//! ```text
//! cargo bench --bench tables -- [BACK-END]...
//! ```
//!
//! Each figure is the median of many batches. Every batch has fresh scalars.

use std::sync::Arc;
use std::time::Instant;

use ed25519_batch::internals::{Batch, Field, Table};
use ed25519_batch::simd::Words;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

mod back_ends;

use back_ends::{BackEnd, each_back_end};

/// Numbers of windows, from a table for the second-level cache to one of 115 MB.
const WINDOWS: [usize; 8] = [36, 28, 24, 21, 18, 16, 15, 14];

/// Numbers of keys in a batch.
const BATCHES: [usize; 5] = [512, 1024, 2048, 4096, 8192];

/// The number of keys for each figure.
const KEYS: usize = 200_000;

fn main() {
    // `cargo test --benches` does not pass `--bench`.
    let test =
        !std::env::args().any(|word| word == "--bench") || std::env::args().any(|word| word == "--test");
    each_back_end(&mut Tables { test });
}

struct Tables {
    test: bool,
}

impl BackEnd for Tables {
    fn measure<F: Field>(&mut self, name: &str, field: F) {
        if std::env::args().skip(1).any(|word| !word.starts_with('-') && word != name) {
            return;
        }
        let (windows, keys) = if self.test { (&WINDOWS[..1], 1) } else { (&WINDOWS[..], KEYS) };
        println!("{name}, ns a key by keys in a batch");
        print!("windows  table KiB  built in ms |");
        println!("{}", BATCHES.map(|batch| format!("{batch:>6}")).concat());
        for &windows in windows {
            let start = Instant::now();
            let table = Arc::new(Table::new(field, windows));
            print!(
                "{windows:>7}{:>11}{:>13.1} |",
                Table::bytes(windows) >> 10,
                start.elapsed().as_secs_f64() * 1e3
            );
            for batch in BATCHES {
                print!("{:>6.0}", nanoseconds(field, &table, batch, keys.div_ceil(batch)));
            }
            println!();
        }
    }
}

/// Returns the nanoseconds for each key: the median of `rounds` batches, each of fresh random
/// scalars. The same scalars again would find their entries in the caches.
fn nanoseconds<F: Field>(field: F, table: &Arc<Table>, keys: usize, rounds: usize) -> f64 {
    let mut scalars = vec![[0; 32]; keys];
    let mut random = ChaCha20Rng::from_seed([1; 32]);
    let mut batch = Batch::new(field, Arc::clone(table), keys);
    let mut public_keys = vec![[0; 32]; keys];
    let simd = field.simd();
    let mut one = || {
        random.fill_bytes(scalars.as_flattened_mut());
        for (group, scalars) in scalars.chunks_exact(<F::Simd as Words>::LANES).enumerate() {
            simd.run(
                #[inline(always)]
                || batch.set(group, &simd.transpose_bytes(|lane| &scalars[lane])),
            );
        }
        let start = Instant::now();
        batch.public_keys(&mut public_keys);
        start.elapsed().as_secs_f64() * 1e9 / keys as f64
    };
    let mut figures: Vec<f64> = (0..rounds).map(|_| one()).collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
