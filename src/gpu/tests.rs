//! The room's own tests, on every device that there is; PoCL makes one of any processor.

use rand_core::{Rng as _, SeedableRng as _};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use super::*;
use crate::curve::{Portable, Table, numbers_of_edwards};
use crate::simd::Scalar;

/// Every device; where there is none, the test is skipped by name, or fails if `VANITY_REQUIRE` has `opencl` in it.
pub(crate) fn devices() -> Vec<Box<dyn Device>> {
    super::devices().unwrap_or_else(|error| {
        let required = std::env::var("VANITY_REQUIRE").unwrap_or_default();
        assert!(
            !required.split(',').any(|entry| entry.trim() == "opencl"),
            "VANITY_REQUIRE names opencl: {error}"
        );
        use std::io::Write as _;
        // Not `eprintln!`, which the test harness holds back when a test passes.
        let _ = writeln!(std::io::stderr(), "skipped: opencl is missing: {error}");
        Vec::new()
    })
}

fn pipeline(device: &dyn Device, windows: usize, depth: u32) -> Pipeline {
    let table = Table::new(Portable(Scalar::detect()), windows);
    let windows =
        table.layout().iter().map(|window| [window.start, window.index_bits, window.first].map(|n| n as u32));
    let settings = Settings {
        windows: windows.collect(),
        depth,
        screen_numbers: crate::pattern::Screen::NUMBERS.to_vec(),
    };
    let first = table.layout()[1].first as u32;
    let numbers = numbers_of_edwards().map(|number| number.0);
    Pipeline::new(device, &settings, table.rows(), first, numbers).unwrap()
}

fn dalek(seed: &[u8; 32]) -> [u8; 32] {
    let mut key = ed25519_dalek::SigningKey::from_bytes(seed).verifying_key().to_bytes();
    key[31] &= 0x7f;
    key
}

/// `VANITY_SEEDS` sets how many random seeds are tried.
#[test]
fn every_device_derives_dalek_s_keys() {
    let count = std::env::var("VANITY_SEEDS").map_or(20_000, |count| count.parse().unwrap());
    let mut key = [0; 32];
    getrandom::fill(&mut key).unwrap();
    println!("random seeds: ChaCha20 of {key:02x?}");
    for device in devices() {
        for (windows, depth) in [(18, 8), (50, 1)] {
            let pipeline = pipeline(&*device, windows, depth);
            let mut random = rand_chacha::ChaCha20Rng::from_seed(key);
            let mut seeds = vec![[0; 32]; 4096];
            let mut line = pipeline.line(seeds.len()).unwrap();
            for _ in 0..usize::div_ceil(count, seeds.len()) {
                random.fill_bytes(seeds.as_flattened_mut());
                line.take(&seeds).unwrap();
                let expected: Vec<_> = seeds.par_iter().map(dalek).collect();
                assert!(line.keys().unwrap() == expected, "{} with {windows} windows", device.name());
                let digest = expected.iter().map(digest_of).fold(0, u64::wrapping_add);
                assert_eq!(line.digest().unwrap(), digest);
            }
        }
        println!("{}: {count} seeds, no difference", device.name());
    }
}

#[test]
fn a_device_draws_the_seeds_of_the_stream() {
    for device in devices() {
        let pipeline = pipeline(&*device, 18, 2);
        let mut line = pipeline.line(1024).unwrap();
        for (first, total) in [(0, 1024), (5, 2), (u64::from(u32::MAX) - 3, 128)] {
            let key = std::array::from_fn(|at| (5 * at) as u8);
            let mut random = rand_chacha::ChaCha20Rng::from_seed(key);
            random.set_word_pos(u128::from(first) * 16);
            let mut seeds = vec![[0; 32]; total];
            random.fill_bytes(seeds.as_flattened_mut());
            line.draw(&key, first, total).unwrap();
            assert_eq!(
                line.keys().unwrap(),
                seeds.iter().map(dalek).collect::<Vec<_>>(),
                "{}",
                device.name()
            );
        }
    }
}
