//! Measures every engine of this machine with criterion, in candidate keys per second.
//!
//! One thread tries one batch after the other for a six-letter word anywhere, case ignored. For
//! ratios between engines use `vanity-ed25519 --bench`, which measures whole searches in
//! interleaved rounds.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use vanity_ed25519::engine::{self, SeedSource};
use vanity_ed25519::pattern::{MatchOptions, Matcher, Pattern};

/// ChaCha20, as in a search, but with a fixed key.
struct Seeds(ChaCha20Rng);

impl SeedSource for Seeds {
    fn fill(&mut self, seeds: &mut [[u8; 32]]) {
        self.0.fill_bytes(seeds.as_flattened_mut());
    }
}

fn engines(criterion: &mut Criterion) {
    let patterns = [Pattern::new("vanity", MatchOptions::default()).expect("the word can be searched")];
    let matcher = Matcher::new(&patterns);
    let mut seeds = Seeds(ChaCha20Rng::from_seed([1; 32]));
    let mut group = criterion.benchmark_group("engines");
    for engine in engine::available(engine::Sizing::for_attempts(f64::INFINITY)) {
        let mut worker = engine.worker();
        let mut hits = Vec::new();
        let batch = worker.batch(&matcher, &mut seeds, &mut hits);
        group.throughput(Throughput::Elements(batch));
        group.bench_function(engine.name(), |bencher| {
            bencher.iter(|| {
                hits.clear();
                worker.batch(&matcher, &mut seeds, &mut hits)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, engines);
criterion_main!(benches);
