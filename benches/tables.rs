//! What a key costs by size of table and size of batch: the curve's part alone, one thread, as a table.
//!
//! ```text
//! cargo bench --bench tables
//! ```
//!
//! Each figure is the best of many batches, since only the arithmetic and the caches are asked about here.

use std::time::Instant;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use vanity_ed25519::curve::{Batch, Portable, Table};

/// Numbers of windows, from a table for the second-level cache to one of 115 MB.
const WINDOWS: [usize; 8] = [36, 28, 24, 21, 18, 16, 15, 14];

/// Keys in a batch.
const BATCHES: [usize; 6] = [256, 512, 1024, 2048, 4096, 8192];

/// Keys for each figure.
const KEYS: usize = 100_000;

fn main() {
    // `cargo test --benches` does not say `--bench`.
    let test =
        !std::env::args().any(|word| word == "--bench") || std::env::args().any(|word| word == "--test");
    let (windows, keys) = if test { (&WINDOWS[..1], 1) } else { (&WINDOWS[..], KEYS) };
    let mut scalars = vec![[0; 32]; BATCHES[BATCHES.len() - 1]];
    ChaCha20Rng::from_seed([1; 32]).fill_bytes(scalars.as_flattened_mut());
    println!("portable, ns a key by keys in a batch");
    print!("windows  table KiB  built in ms |");
    println!("{}", BATCHES.map(|batch| format!("{batch:>6}")).concat());
    for &windows in windows {
        let start = Instant::now();
        let table = Table::new(windows);
        print!(
            "{windows:>7}{:>11}{:>13.1} |",
            Table::bytes(windows) >> 10,
            start.elapsed().as_secs_f64() * 1e3
        );
        for batch in BATCHES {
            print!("{:>6.0}", nanoseconds(&table, &scalars[..batch], keys.div_ceil(batch)));
        }
        println!();
    }
}

/// The best of `rounds` batches, for each key.
fn nanoseconds(table: &Table, scalars: &[[u8; 32]], rounds: usize) -> f64 {
    let mut batch = Batch::new(Portable, table, scalars.len());
    let mut keys = vec![[0; 32]; scalars.len()];
    let one = |_| {
        let start = Instant::now();
        let outcome = batch.public_keys(scalars, &mut keys);
        assert_eq!(outcome, Ok(()));
        start.elapsed().as_secs_f64() * 1e9 / scalars.len() as f64
    };
    (0..rounds).map(one).fold(f64::INFINITY, f64::min)
}
