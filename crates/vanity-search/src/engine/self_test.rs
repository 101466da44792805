//! The self-test: known vectors that every engine must reproduce before it is used.

use super::traits::{Engine, SeedSource};
use crate::pattern::{Kind, MatchOptions, Matcher, Pattern};
use ed25519_batch::rfc8032_vectors;

/// Runs one batch of the key pairs of RFC 8032. Returns whether every key comes back as a
/// hit, with its key.
pub(super) fn passes(engine: &dyn Engine) -> bool {
    let everything = Pattern::new(".", MatchOptions { kind: Kind::Regex, ..MatchOptions::default() })
        .unwrap_or_else(|_| unreachable!("a dot matches every body"));
    let everything = [everything];
    let matcher = Matcher::new(&everything);
    let mut hits = Vec::new();
    // The number of pairs, 5, has no factor in common with a number of lanes. So in a long batch
    // every lane gets every pair.
    let pairs = rfc8032_vectors::pairs();
    let mut seeds = Cycle(pairs.iter().map(|(seed, _)| *seed).cycle());
    let tried = engine.worker().batch(&matcher, &mut seeds, &mut hits);

    let right = hits.iter().filter(|hit| {
        let (seed, public_key) = pairs[hit.index as usize % pairs.len()];
        *hit.seed.bytes() == seed && hit.possible().any(|key| key.0 == public_key)
    });
    let indices: std::collections::BTreeSet<u64> = hits.iter().map(|hit| hit.index).collect();
    let complete = tried > 0 && indices.len() as u64 == tried && hits.len() as u64 == tried;
    complete && right.count() == hits.len()
}

/// A source that gives the same seeds again and again.
struct Cycle<I>(I);

impl<I: Iterator<Item = [u8; 32]>> SeedSource for Cycle<I> {
    fn fill(&mut self, seeds: &mut [[u8; 32]]) {
        seeds.iter_mut().zip(&mut self.0).for_each(|(seed, next)| *seed = next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{EngineWorker, Hit, reference::Reference};
    use crate::key::PublicKey;

    #[test]
    fn the_reference_engine_passes() {
        assert!(passes(&Reference));
    }

    /// The reference engine with one fault.
    #[derive(Clone, Copy, PartialEq)]
    enum Fault {
        WrongKey,
        MissedKey,
        RepeatedKey,
        Nothing,
    }

    impl Engine for Fault {
        fn name(&self) -> &'static str {
            "faulty"
        }

        fn worker(&self) -> Box<dyn EngineWorker + '_> {
            Box::new(Faulty(*self, Reference.worker()))
        }
    }

    struct Faulty<'a>(Fault, Box<dyn EngineWorker + 'a>);

    impl EngineWorker for Faulty<'_> {
        fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
            let tried = self.1.batch(matcher, seeds, hits);
            let last = hits.len() - 1;
            match self.0 {
                Fault::WrongKey => hits[last].public_key = PublicKey([1; 32]),
                Fault::MissedKey => drop(hits.pop()),
                Fault::RepeatedKey => hits[last].index = 0,
                Fault::Nothing => {
                    hits.clear();
                    return 0;
                }
            }
            tried
        }
    }

    #[test]
    fn an_engine_with_one_fault_does_not_pass() {
        for fault in [Fault::WrongKey, Fault::MissedKey, Fault::RepeatedKey, Fault::Nothing] {
            assert!(!passes(&fault));
        }
    }
}
