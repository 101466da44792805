//! Known vectors, which every engine reproduces before it is used.

use super::{Engine, EngineError, SeedSource};
use crate::pattern::{Kind, Matcher, Pattern, Style};

/// Seeds and public keys of RFC 8032, section 7.1: tests 1, 2, 3, 1024 and SHA(abc). Their number has no
/// factor in common with a number of lanes, so that in a long batch every lane meets every seed.
const VECTORS: [(&str, &str); 5] = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    ),
    (
        "f5e5767cf153319517630f226876b86c8160cc583bc013744c6bf255f5cc0ee5",
        "278117fc144c72340f67d0f2316e8386ceffbf2b2428c9c51fef7c597f1d426e",
    ),
    (
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
    ),
];

/// Runs one batch of the vectors, of which every candidate must come back as a hit, with its key.
pub(super) fn run(engine: &dyn Engine) -> Result<(), EngineError> {
    let everything = Pattern::new(".", Style { kind: Kind::Regex, ..Style::default() })
        .ok()
        .and_then(|pattern| Matcher::new(&[pattern]).ok())
        .unwrap_or_else(|| unreachable!("a dot matches every body"));
    let mut hits = Vec::new();
    let tried = engine.worker(&everything).batch(&mut Vectors { next: 0 }, &mut hits);

    let known = |index: u64| &VECTORS[index as usize % VECTORS.len()];
    let right = hits.iter().filter(|hit| {
        let (seed, public_key) = known(hit.index);
        *hit.seed.bytes() == unhex(seed) && hit.public_key.0 == unhex(public_key)
    });
    let indices: std::collections::BTreeSet<u64> = hits.iter().map(|hit| hit.index).collect();
    let complete = tried > 0 && indices.len() as u64 == tried && hits.len() as u64 == tried;
    if complete && right.count() == hits.len() { Ok(()) } else { Err(EngineError::SelfTest(engine.name())) }
}

/// Hands out the seeds of [`VECTORS`] again and again.
struct Vectors {
    next: usize,
}

impl SeedSource for Vectors {
    fn fill(&mut self, seeds: &mut [[u8; 32]]) {
        for seed in seeds {
            *seed = unhex(VECTORS[self.next % VECTORS.len()].0);
            self.next += 1;
        }
    }
}

/// 32 bytes from 64 hexadecimal digits.
fn unhex(digits: &str) -> [u8; 32] {
    let value = |at: usize| char::from(digits.as_bytes()[at]).to_digit(16).unwrap_or(0) as u8;
    std::array::from_fn(|at| value(2 * at) << 4 | value(2 * at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Hit, Worker, reference::Reference};
    use crate::key::PublicKey;

    #[test]
    fn the_reference_engine_passes() {
        assert_eq!(run(&Reference), Ok(()));
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

        fn worker<'a>(&'a self, matcher: &'a Matcher) -> Box<dyn Worker + 'a> {
            Box::new(Faulty(*self, Reference.worker(matcher)))
        }
    }

    struct Faulty<'a>(Fault, Box<dyn Worker + 'a>);

    impl Worker for Faulty<'_> {
        fn batch(&mut self, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
            let tried = self.1.batch(seeds, hits);
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
    fn an_engine_with_one_fault_is_refused_by_name() {
        for fault in [Fault::WrongKey, Fault::MissedKey, Fault::RepeatedKey, Fault::Nothing] {
            assert_eq!(run(&fault), Err(EngineError::SelfTest("faulty")));
        }
    }
}
