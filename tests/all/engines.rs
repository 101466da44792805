//! Every engine of this machine reports the same hits for the same seeds. The tests compare them
//! with ed25519-dalek and with a plain search of the texts.

#![cfg(unix)]

use std::sync::Arc;
use std::sync::LazyLock;

use crate::require;
use ed25519_dalek::SigningKey;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use vanity_search::engine::{self, Engine, EngineOptions, Hit, SeedSource};
use vanity_search::key::PublicKey;
use vanity_search::pattern::{Kind, MatchOptions, Matcher, Pattern};
use vanity_search::wire::Target;

/// A long search, which has the largest tables.
const LONG: EngineOptions = EngineOptions::for_attempts(1e9);

/// The number of random seeds for each engine, unless `VANITY_SEEDS` sets it.
const RANDOM_SEEDS: usize = 10_000;

/// Returns every engine that this machine can run, and names the others. Without a graphics
/// processor, the GPU engine runs on the processor by OpenCL.
fn engines() -> Vec<Arc<dyn Engine>> {
    let mut engines = require::engines(LONG);
    if cfg!(feature = "gpu") && engines.iter().all(|engine| engine.name() != engine::GPU) {
        match engine::select(engine::GPU, LONG) {
            Ok(engine) => engines.push(engine),
            Err(engine::EngineError::Unavailable { .. }) => require::missing("opencl"),
            Err(error) => panic!("{error}"),
        }
    }
    engines
}

/// Seeds with the keys that dalek derives: chosen ones first, then random ones.
struct Known {
    /// The key of the ChaCha20 stream that gives the random seeds. The operating system gives the
    /// key.
    random: [u8; 32],
    pairs: Vec<([u8; 32], PublicKey)>,
}

/// Returns the same pairs to all tests, because it takes seconds to derive them. If a test fails,
/// the harness shows the key.
fn known() -> &'static Known {
    static KNOWN: LazyLock<Known> = LazyLock::new(|| {
        let mut random = [0; 32];
        getrandom::fill(&mut random).unwrap();
        let mut seeds = chosen_seeds();
        let chosen = seeds.len();
        let random_seeds = std::env::var("VANITY_SEEDS").map_or(RANDOM_SEEDS, |seeds| seeds.parse().unwrap());
        seeds.resize(chosen + random_seeds, [0; 32]);
        ChaCha20Rng::from_seed(random).fill_bytes(seeds[chosen..].as_flattened_mut());
        let derive =
            |seed: [u8; 32]| (seed, PublicKey(SigningKey::from_bytes(&seed).verifying_key().to_bytes()));
        Known { random, pairs: seeds.into_par_iter().map(derive).collect() }
    });
    println!("random seeds: ChaCha20 of {}", hex(&KNOWN.random));
    &KNOWN
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns seeds of one repeated byte, of one bit, of a run of ones from either end, and of bytes
/// that count up.
fn chosen_seeds() -> Vec<[u8; 32]> {
    let mut seeds: Vec<[u8; 32]> = (0..=0xff).map(|byte| [byte; 32]).collect();
    for bit in 0..256 {
        let mut single = [0; 32];
        single[bit / 8] = 1 << (bit % 8);
        let below: [u8; 32] = std::array::from_fn(|byte| match bit.saturating_sub(8 * byte) {
            run @ 0..8 => (1 << run) - 1,
            _ => 0xff,
        });
        seeds.extend([single, below, below.map(|byte| !byte)]);
    }
    for number in 0..=0xff {
        let mut counting = [0; 32];
        counting[0] = number;
        seeds.push(counting);
        seeds.push(std::array::from_fn(|byte| number.wrapping_add(byte as u8)));
    }
    seeds
}

/// Gives the known seeds in their order, again and again, and counts them.
struct Source {
    pairs: &'static [([u8; 32], PublicKey)],
    given: usize,
}

impl SeedSource for Source {
    fn fill(&mut self, seeds: &mut [[u8; 32]]) {
        for seed in seeds {
            *seed = self.pairs[self.given % self.pairs.len()].0;
            self.given += 1;
        }
    }
}

/// Runs batches until `pairs` are used up. Passes the pairs and the hits of each batch, in order,
/// to `check`.
fn batches(
    engine: &dyn Engine,
    patterns: &[Pattern],
    pairs: &'static [([u8; 32], PublicKey)],
    mut check: impl FnMut(&[([u8; 32], PublicKey)], &[Hit]),
) {
    let name = engine.name();
    let matcher = Matcher::new(patterns);
    let mut worker = engine.worker();
    let mut source = Source { pairs, given: 0 };
    let mut hits = Vec::new();
    while source.given < pairs.len() {
        let before = source.given;
        let tried = worker.batch(&matcher, &mut source, &mut hits);
        assert!(tried > 0, "{name}: an empty batch");
        assert_eq!(tried, (source.given - before) as u64, "{name}: seeds tried and seeds taken");
        let batch: Vec<_> = (before..source.given).map(|at| pairs[at % pairs.len()]).collect();
        // Engines may report hits in any order; searches do not care.
        hits.sort_by_key(|hit| hit.index);
        for hit in &hits {
            let seed = batch.get(usize::try_from(hit.index).unwrap()).map(|(seed, _)| seed);
            assert_eq!(seed, Some(hit.seed.bytes()), "{name}: candidate {}", hit.index);
        }
        check(&batch, &hits);
        hits.clear();
    }
}

/// Names an engine and a seed for a message.
fn named(engine: &dyn Engine, seed: &[u8; 32]) -> String {
    format!("{}, seed {}", engine.name(), hex(seed))
}

#[test]
fn every_candidate_has_the_key_that_dalek_derives() {
    let everything =
        [Pattern::new(".", MatchOptions { kind: Kind::Regex, ..MatchOptions::default() }).unwrap()];
    let known = known();
    for engine in &engines() {
        batches(&**engine, &everything, &known.pairs, |pairs, hits| {
            let indices: Vec<u64> = hits.iter().map(|hit| hit.index).collect();
            assert_eq!(indices, (0..pairs.len() as u64).collect::<Vec<_>>(), "{}", engine.name());
            for ((seed, key), hit) in pairs.iter().zip(hits) {
                assert!(hit.possible().any(|claimed| claimed == *key), "{}", named(&**engine, seed));
            }
        });
    }
}

/// Returns patterns of every kind. Some hundreds of keys match each of the most likely ones.
fn patterns() -> Vec<Pattern> {
    let plain = MatchOptions::default();
    let exact = MatchOptions { case_sensitive: true, ..plain };
    let leet = MatchOptions { leet: true, ..plain };
    let kind = |kind, options| MatchOptions { kind, ..options };
    [
        ("ab", plain),
        ("aB", exact),
        ("ale", leet),
        ("+/", plain),
        ("ba", kind(Kind::Prefix, plain)),
        ("Ba", kind(Kind::Prefix, exact)),
        ("lo", kind(Kind::Prefix, leet)),
        ("z9", kind(Kind::Suffix, plain)),
        ("Zq", kind(Kind::Suffix, exact)),
        ("so", kind(Kind::Suffix, leet)),
        ("x", kind(Kind::Word, plain)),
        ("Y", kind(Kind::Word, exact)),
        ("t", kind(Kind::Word, leet)),
        ("^A.*9$", kind(Kind::Regex, exact)),
        ("(abc|[0-9]{6}|x.y.z)", kind(Kind::Regex, plain)),
    ]
    .map(|(text, options)| Pattern::new(text, options).unwrap())
    .into()
}

/// Returns those of [`patterns`] that a fingerprint can show, and one more.
fn patterns_of_fingerprints() -> Vec<Pattern> {
    let of_fingerprint = |pattern: &Pattern| {
        let options = MatchOptions { target: Target::Fingerprint, ..pattern.options() };
        Pattern::new(pattern.text(), options).ok()
    };
    let mut patterns: Vec<Pattern> = patterns().iter().filter_map(of_fingerprint).collect();
    let suffix = MatchOptions { kind: Kind::Suffix, target: Target::Fingerprint, ..MatchOptions::default() };
    patterns.insert(0, Pattern::new("ke", suffix).unwrap());
    patterns
}

#[test]
fn the_hits_are_the_keys_that_match_and_no_others() {
    the_hits_are_right(&patterns());
}

#[test]
fn the_hits_are_the_keys_whose_fingerprints_match_and_no_others() {
    the_hits_are_right(&patterns_of_fingerprints());
}

fn the_hits_are_right(all: &[Pattern]) {
    let known = known();
    let target = all[0].options().target;
    let shown = |key: &PublicKey| -> Vec<bool> {
        let body = key.body(target);
        all.iter().map(|pattern| pattern.find(&body).is_some()).collect()
    };
    // To search the texts takes longer than to derive the keys, so this is done once for all
    // engines.
    let shown_by_known: Vec<Vec<bool>> = known.pairs.iter().map(|(_, key)| shown(key)).collect();
    for engine in &engines() {
        // First all patterns, then some alone, because an engine may treat a single pattern or kind
        // in its own way.
        for range in [0..all.len(), 0..1, 4..5, 7..8, 10..11, all.len() - 1..all.len()] {
            let chosen = &all[range.clone()];
            let first = if chosen.len() > 1 { 0 } else { known.pairs.len() / 10 * 9 };
            let pairs = &known.pairs[first..];
            let mut matched = vec![0; chosen.len()];
            let mut shown_by_pairs = shown_by_known[first..].iter().cycle();
            batches(&**engine, chosen, pairs, |pairs, hits| {
                let mut hits = hits.iter().peekable();
                for ((index, (seed, key)), shown_by_key) in (0..).zip(pairs).zip(&mut shown_by_pairs) {
                    let shown_by_key = &shown_by_key[range.clone()];
                    for (matches, count) in shown_by_key.iter().zip(&mut matched) {
                        *count += u32::from(*matches);
                    }
                    let matches = shown_by_key.contains(&true);
                    let hit = hits.next_if(|hit| hit.index == index);
                    let claimed: Vec<PublicKey> = hit.iter().flat_map(|hit| hit.possible()).collect();
                    let right = claimed.contains(key);
                    assert!(right || hit.is_none(), "a wrong key by {}", named(&**engine, seed));
                    assert!(right || !matches, "a match is missed by {}", named(&**engine, seed));
                    // A hit that leaves the sign open may match with the other sign.
                    let shown =
                        matches || claimed.iter().any(|key| shown(key)[range.clone()].contains(&true));
                    assert!(
                        shown || hit.is_none(),
                        "a hit that matches nothing by {}",
                        named(&**engine, seed)
                    );
                }
                assert!(hits.next().is_none(), "hits in order, one for each candidate");
            });
            for (pattern, count) in chosen.iter().zip(matched) {
                let expected = pattern.odds().probability() * pairs.len() as f64;
                // If 20 are expected, the chance to find none is 2 in 10^9. If fewer are expected, a
                // search that finds none proves nothing.
                assert!(count > 0 || expected < 20.0, "{}: 0 instead of {expected}", pattern.text());
            }
        }
    }
}

#[test]
fn an_engine_has_the_name_by_which_it_is_selected() {
    for name in engine::list().map(engine::Listed::name) {
        match engine::select(name, LONG) {
            Ok(engine) => assert_eq!(engine.name(), name),
            Err(error) => assert!(matches!(error, engine::EngineError::Unavailable { .. }), "{error}"),
        }
    }
}

#[test]
fn an_unknown_engine_is_refused_and_auto_takes_the_fastest() {
    assert!(matches!(engine::select("nonsense", LONG), Err(engine::EngineError::Unknown(_))));
    let names: Vec<&str> = require::engines(LONG).iter().map(|engine| engine.name()).collect();
    let fastest = match names[..] {
        // Both together may be faster than either.
        [engine::GPU, processor, ..] => vec![engine::GPU, engine::HYBRID, processor],
        [first, ..] => vec![first],
        [] => panic!("no engine"),
    };
    let auto = engine::select(engine::AUTO, LONG).unwrap();
    assert!(fastest.contains(&auto.name()), "{} instead of {fastest:?}", auto.name());
}
