//! The batch engine: many keys at once, by affine additions from large tables that share their inversions.
//!
//! [`crate::curve`] does the arithmetic and leaves one bit of each key open, the sign of x. It stands in one character
//! of the body, so a candidate is tested with both; only one that passes is derived once more to know the sign.

use zeroize::Zeroize as _;

use super::{Engine, Hit, SeedSource, Worker, reference};
use crate::curve::{Batch, Field, Portable, Table, ZeroProduct};
use crate::key::{PublicKey, Seed, scalar_bytes};
use crate::pattern::Matcher;
use crate::wire;

pub(super) const NAME: &str = "portable";

/// Keys in a batch: some 4 ms of work. With 4096, the second-level cache is felt (7 %).
const KEYS: usize = 1024;

/// The numbers of windows worth having, each with the expected number of keys from which on its larger table
/// pays: 2.7 MB, 9.2 MB and 28 MB are built in 13, 32 and 96 ms, and a key then takes 3.5, 3.1 and 2.9 us.
const WINDOWS: [(f64, usize); 3] = [(250_000.0, 16), (40_000.0, 18), (0.0, 21)];

/// The engine of one back end.
struct Batched<F> {
    field: F,
    table: Table,
}

/// With the table that suits so many keys.
pub(super) fn build(expected_attempts: f64) -> Result<Box<dyn Engine>, String> {
    let suits = |(from, _): &&(f64, usize)| expected_attempts >= *from;
    let windows = WINDOWS.iter().find(suits).map_or(WINDOWS[0].1, |(_, windows)| *windows);
    Ok(Box::new(Batched { field: Portable, table: Table::new(windows) }))
}

impl<F: Field> Engine for Batched<F> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn worker<'a>(&'a self, matcher: &'a Matcher) -> Box<dyn Worker + 'a> {
        Box::new(Together {
            matcher,
            batch: Batch::new(self.field, &self.table, KEYS),
            seeds: vec![[0; 32]; KEYS],
            scalars: vec![[0; 32]; KEYS],
            keys: vec![[0; 32]; KEYS],
        })
    }
}

struct Together<'a, F: Field> {
    matcher: &'a Matcher,
    batch: Batch<'a, F>,
    seeds: Vec<[u8; 32]>,
    scalars: Vec<[u8; 32]>,
    /// The public keys, the sign of x left 0.
    keys: Vec<[u8; 32]>,
}

impl<F: Field> Worker for Together<'_, F> {
    fn batch(&mut self, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
        seeds.fill(&mut self.seeds);
        for (scalar, seed) in self.scalars.iter_mut().zip(&self.seeds) {
            *scalar = *scalar_bytes(seed);
        }
        if self.batch.public_keys(&self.scalars, &mut self.keys) == Err(ZeroProduct) {
            for (key, seed) in self.keys.iter_mut().zip(&self.seeds) {
                *key = reference::public_key(seed).0;
                key[31] &= 0x7f;
            }
        }
        for (index, (key, seed)) in (0..).zip(self.keys.iter().zip(&self.seeds)) {
            if may_match(self.matcher, key) {
                hits.extend(hit(self.matcher, index, seed, key));
            }
        }
        self.seeds.as_flattened_mut().zeroize();
        self.scalars.as_flattened_mut().zeroize();
        KEYS as u64
    }
}

/// Whether a key matches with one sign or the other.
fn may_match(matcher: &Matcher, key: &[u8; 32]) -> bool {
    let mut body = *wire::body(&wire::text(key));
    matcher.is_match(&body) || {
        body[wire::SIGN_POSITION] = wire::symbol_of_set_sign(key);
        matcher.is_match(&body)
    }
}

/// The hit, if the key matches with the sign that it has. All other bits are as this engine computed them.
fn hit(matcher: &Matcher, index: u64, seed: &[u8; 32], key: &[u8; 32]) -> Option<Hit> {
    let mut public_key = PublicKey(*key);
    public_key.0[31] |= reference::public_key(seed).0[31] & 0x80;
    let matches = matcher.is_match(wire::body(&public_key.text()));
    matches.then(|| Hit { index, seed: Seed::new(*seed), public_key })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::self_test;

    #[test]
    fn every_table_passes() {
        for (expected_attempts, _) in WINDOWS {
            assert_eq!(self_test::run(&*build(expected_attempts).unwrap()), Ok(()));
        }
    }

    /// In a spoilt table, one digit of the first window gives a denominator of 0.
    #[test]
    fn a_batch_with_a_zero_product_is_done_again() {
        let spoilt = |digit| {
            let mut table = Table::new(63);
            table.spoil(digit);
            self_test::run(&Batched { field: Portable, table })
        };
        let digits = crate::key::known::pairs().map(|(seed, _)| usize::from(scalar_bytes(&seed)[0] >> 3 & 7));
        let unused = (0..8).find(|digit| !digits.contains(digit)).unwrap();
        assert!(spoilt(unused).is_err(), "the spoilt window is used, and no denominator is 0");
        assert_eq!(spoilt(digits[0]), Ok(()));
    }
}
