//! The keys that the program finds have nothing to do with each other.

#![cfg(unix)]

use std::collections::HashSet;

use crate::{program, require};
use program::{objects, of_type, program, seed, succeed, text};
use sha2::{Digest as _, Sha512};
use vanity_search::engine::EngineOptions;

/// The keys come from two processes of two threads each.
const PROCESSES: usize = 2;
const KEYS: usize = 1000;

/// The fewest bits in which two seeds, scalars or prefixes may differ. Two random texts of 256 bits
/// differ in 128 bits, with a standard deviation of 8. Fewer than this occur among 499,500 pairs
/// once in 10^7 runs.
const FEWEST_DIFFERENT: u32 = 70;

fn words(bytes: &[u8]) -> [u64; 4] {
    std::array::from_fn(|at| u64::from_le_bytes(bytes.as_chunks().0[at]))
}

/// Compares the seeds, and the scalars and prefixes that they expand to. Neighbors in a stream,
/// sums, and walks from point to point would show in one of them.
#[test]
fn no_two_seeds_of_a_thousand_finds_are_related() {
    for engine in require::engines(EngineOptions::for_attempts(f64::INFINITY)) {
        let mut seeds = Vec::new();
        for _ in 0..PROCESSES {
            let count = (KEYS / PROCESSES).to_string();
            let args = ["--json", "-q", "-t", "2", "--engine", engine.name(), "-n", &count, "ab"];
            let ran = succeed(&mut program(&args));
            let objects = objects(&ran.stdout);
            seeds.extend(of_type(&objects, "found").iter().map(|object| seed(text(object, "private_key"))));
        }
        assert_eq!(seeds.len(), KEYS);
        let expanded: Vec<[u8; 64]> = seeds.iter().map(|seed| Sha512::digest(seed).into()).collect();
        let halves =
            |at: usize| expanded.iter().map(|hash| words(&hash[32 * at..][..32])).collect::<Vec<_>>();
        let seeds: Vec<[u64; 4]> = seeds.iter().map(|seed| words(seed)).collect();
        for all in [&seeds, &halves(0), &halves(1)] {
            check(all, engine.name());
        }
        // A difference that occurs twice would be a step.
        let difference = |a: &[u64; 4], b: &[u64; 4]| a[1].wrapping_sub(b[1]);
        let steps: HashSet<u64> = seeds.windows(2).map(|pair| difference(&pair[0], &pair[1])).collect();
        assert_eq!(steps.len(), KEYS - 1);
    }
}

fn check(all: &[[u64; 4]], engine: &str) {
    let different: HashSet<u64> = all.iter().flatten().copied().collect();
    assert_eq!(different.len(), 4 * KEYS, "{engine}: 64 bits come twice");
    for (at, one) in all.iter().enumerate() {
        for other in &all[..at] {
            let different = |at: usize| (one[at] ^ other[at]).count_ones();
            let bits = different(0) + different(1) + different(2) + different(3);
            assert!(
                (FEWEST_DIFFERENT..=256 - FEWEST_DIFFERENT).contains(&bits),
                "{engine}: {bits} bits differ"
            );
        }
    }
    // Each bit is set in half of the 1,000 on average, with a standard deviation of 16.
    for bit in 0..256 {
        let set = all.iter().filter(|words| words[bit / 64] >> (bit % 64) & 1 == 1).count();
        assert!((380..=620).contains(&set), "{engine}: bit {bit} is set in {set} of {KEYS}");
    }
}
