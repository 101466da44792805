//! The batch engine: many keys at once, by [`ed25519_batch`].
//!
//! It leaves one bit of each key unknown, the sign of x. That bit changes one character of the body,
//! and the whole fingerprint. So the matcher tests both signs, and a hit does not know which of them
//! matches.

use std::sync::Arc;

use ed25519_batch::simd::InstructionSet;
use ed25519_batch::{BackEnd, Deriver};

use super::traits::{Engine, EngineOptions, EngineWorker, Hit, SeedSource, Tuning};
use crate::key::{PublicKey, Seed};
use crate::notice::Notice;
use crate::pattern::{Matcher, fingerprints};
use crate::wire::Target;

/// The engine of one back end.
struct Batched {
    back_end: BackEnd,
    deriver: Deriver,
}

/// Builds the engine of a back end. Returns the reason if this machine cannot run it.
pub(super) fn build(back_end: BackEnd, options: EngineOptions) -> Result<Arc<dyn Engine>, String> {
    let EngineOptions { expected_attempts, table_memory, windows, .. } = options;
    let sizing = ed25519_batch::Sizing { expected_keys: expected_attempts, table_memory, windows };
    let deriver = Deriver::new(back_end, sizing).map_err(|why| why.to_string())?;
    Ok(Arc::new(Batched { back_end, deriver }))
}

impl Engine for Batched {
    fn name(&self) -> &'static str {
        self.back_end.name()
    }

    fn worker(&self) -> Box<dyn EngineWorker + '_> {
        let set = self.deriver.instruction_set();
        Box::new(BatchWorker { worker: self.deriver.worker(), set, digests: Vec::new() })
    }

    fn instruction_set(&self) -> InstructionSet {
        self.deriver.instruction_set()
    }

    fn is_settled(&self) -> bool {
        self.deriver.is_settled()
    }

    fn tuning(&self) -> Option<Tuning> {
        Some(self.deriver.tuning())
    }

    fn notices(&self) -> Vec<Notice> {
        if !self.deriver.take_wrong_table() {
            return Vec::new();
        }
        vec![Notice::warning(format!(
            "a larger table of the engine '{}' computed a wrong key in its self-test and is not used",
            self.name()
        ))]
    }
}

struct BatchWorker<'a> {
    worker: ed25519_batch::Worker<'a>,
    set: InstructionSet,
    /// The fingerprints of some keys with either sign, if fingerprints are searched.
    digests: Vec<[u8; 32]>,
}

impl EngineWorker for BatchWorker<'_> {
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
        let Self { worker, set, digests } = self;
        let keys = worker.batch(&mut |batch| seeds.fill(batch), &mut |seeds, keys| {
            for index in matching(*set, matcher, keys, digests) {
                let (seed, public_key) = (Seed::new(seeds[index]), PublicKey(keys[index]));
                hits.push(Hit { index: index as u64, seed, public_key, has_sign: false });
            }
        });
        keys as u64
    }
}

/// The number of keys whose fingerprints are computed before they are matched. They fit in the
/// first-level cache, 64 bytes for each key.
const HASHED: usize = 512;

/// Returns the places of the keys that match with one sign or the other, in ascending order. The
/// sign of every key must be 0. `digests` is a buffer for the fingerprints with either sign.
pub(super) fn matching(
    set: InstructionSet,
    matcher: &Matcher,
    keys: &[[u8; 32]],
    digests: &mut Vec<[u8; 32]>,
) -> Vec<usize> {
    if matcher.target() == Target::Key {
        return matcher.candidates(keys);
    }
    let mut places = Vec::new();
    for (part, keys) in keys.chunks(HASHED).enumerate() {
        digests.resize(2 * keys.len(), [0; 32]);
        let (plus, minus) = digests.split_at_mut(keys.len());
        fingerprints(set, keys, [plus, minus]);
        let found = matcher.candidates(digests);
        places.extend(found.iter().map(|at| part * HASHED + at % keys.len()));
    }
    places.sort_unstable();
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use ed25519_batch::simd::InstructionSet;

    use super::*;
    use crate::pattern::{Kind, MatchOptions, Pattern};

    /// Searches six characters of each place of fingerprints with either sign.
    #[test]
    fn a_part_of_any_fingerprint_is_found() {
        let key = |number: u32| {
            let mut key = [0; 32];
            key[..4].copy_from_slice(&number.to_be_bytes());
            key
        };
        let keys: Vec<[u8; 32]> = (0..700).map(key).collect();
        let mut digests = [vec![[0; 32]; keys.len()], vec![[0; 32]; keys.len()]];
        for (set, start) in
            InstructionSet::every().into_iter().flat_map(|set| (0..38).map(move |at| (set, at)))
        {
            fingerprints(set, &keys, digests.each_mut().map(Vec::as_mut_slice));
            let at = 18 * start;
            let body = Target::Fingerprint.body(&digests[start % 2][at]);
            let text = str::from_utf8(&body[start..start + 6]).unwrap();
            let kinds: &[Kind] = match start {
                0 => &[Kind::Anywhere, Kind::Prefix],
                37 => &[Kind::Anywhere, Kind::Suffix],
                _ => &[Kind::Anywhere],
            };
            for (kind, case_sensitive) in kinds.iter().flat_map(|kind| [(*kind, true), (*kind, false)]) {
                let target = Target::Fingerprint;
                let options = MatchOptions { kind, case_sensitive, target, ..MatchOptions::default() };
                let patterns = [Pattern::new(text, options).unwrap()];
                let matcher = Matcher::with_set(set, &patterns, [0]);
                let expected: Vec<usize> = (0..keys.len())
                    .filter(|at| digests.iter().any(|digests| matcher.is_match(&digests[*at])))
                    .collect();
                assert!(expected.contains(&at));
                assert_eq!(matching(set, &matcher, &keys, &mut Vec::new()), expected, "{text} at {start}");
            }
        }
    }
}
