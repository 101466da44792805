//! The reference engine: one key at a time, by curve25519-dalek.
//!
//! The fixed-base multiplication is dalek's constant-time radix-16 `mul_base`: 64 mixed additions
//! from a 30 KB table. It is nearly all of the work for a key (RESULTS.txt, the published record). The speed and the keys of
//! every other engine are compared with this one.

use std::sync::Arc;

use curve25519_dalek::EdwardsPoint;
use zeroize::Zeroize as _;

use super::traits::{Engine, EngineOptions, EngineWorker, Hit, SeedSource};
use crate::key::{PublicKey, Seed, scalar_bytes};
use crate::pattern::Matcher;

pub(super) const NAME: &str = "reference";

/// The keys in a batch: about 4 ms of work for each update of the shared counter.
const BATCH: usize = 256;

pub(super) struct Reference;

pub(super) fn build(_: EngineOptions) -> Result<Arc<dyn Engine>, String> {
    Ok(Arc::new(Reference))
}

impl Engine for Reference {
    fn name(&self) -> &'static str {
        NAME
    }

    fn worker(&self) -> Box<dyn EngineWorker + '_> {
        Box::new(OneByOne { seeds: [[0; 32]; BATCH] })
    }
}

struct OneByOne {
    seeds: [[u8; 32]; BATCH],
}

impl EngineWorker for OneByOne {
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
        seeds.fill(&mut self.seeds);
        for (index, seed) in (0..).zip(&self.seeds) {
            let public_key = public_key(seed);
            if matcher.is_match(&public_key.bytes(matcher.target())) {
                hits.push(Hit { index, seed: Seed::new(*seed), public_key, has_sign: true });
            }
        }
        self.seeds.zeroize();
        BATCH as u64
    }
}

/// Derives the public key of a seed, in constant time (RFC 8032, section 5.1.5).
#[must_use]
pub fn public_key(seed: &[u8; 32]) -> PublicKey {
    PublicKey(EdwardsPoint::mul_base_clamped(*scalar_bytes(seed)).compress().to_bytes())
}
