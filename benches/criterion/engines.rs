//! Measures every engine of this machine with criterion, in candidate keys per second.
//!
//! One thread tries one batch after the other for a six-letter word anywhere, case ignored, after the
//! engine has found its fastest table. The size of a batch is the engine's own, so an iteration is a
//! number of keys: what is timed are whole batches with at least as many keys, and their time is that
//! of a key times the number. For ratios between engines use `cargo bench` or `vanity-ed25519
//! --bench`, which measure whole searches in interleaved rounds. `benches/agree.sh` compares both.

use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use vanity_search::engine::{self, SeedSource};
use vanity_search::pattern::{MatchOptions, Matcher, Pattern};

/// The number of keys of an iteration.
const KEYS: u64 = 64;

/// The longest time for which an engine may look for its fastest table.
const SETTLING: Duration = Duration::from_secs(20);

/// ChaCha20, as in a search, but with a fixed key.
struct Seeds(ChaCha20Rng);

impl SeedSource for Seeds {
    fn fill(&mut self, seeds: &mut [[u8; 32]]) {
        self.0.fill_bytes(seeds.as_flattened_mut());
    }
}

fn engines(criterion: &mut Criterion) {
    let is_test = std::env::args().any(|argument| argument == "--test");
    let patterns = [Pattern::new("vanity", MatchOptions::default()).expect("the word can be searched")];
    let matcher = Matcher::new(&patterns);
    let mut seeds = Seeds(ChaCha20Rng::from_seed([1; 32]));
    let mut group = criterion.benchmark_group("engines");
    group.throughput(Throughput::Elements(KEYS));
    for engine in engine::available(engine::EngineOptions::for_attempts(f64::INFINITY)) {
        let mut worker = engine.worker();
        let mut hits = Vec::new();
        let mut batch = || {
            hits.clear();
            worker.batch(&matcher, &mut seeds, &mut hits)
        };
        group.bench_function(engine.name(), |bencher| {
            let end = Instant::now() + SETTLING;
            while !is_test && !engine.is_settled() && Instant::now() < end {
                batch();
            }
            bencher.iter_custom(|iterations| {
                let (mut tried, began) = (0, Instant::now());
                while tried < iterations * KEYS {
                    tried += batch();
                }
                began.elapsed().mul_f64((iterations * KEYS) as f64 / tried as f64)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, engines);
criterion_main!(benches);
