//! Measures the states of the published program with criterion, in candidate keys per second.
//!
//! Criterion measures one variant after the other, so a slow minute of the machine affects only one
//! of them. To compare variants, use the interleaved rounds of `cargo bench --bench record`.

mod variants;

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group};
use variants::{Variant, all, check, on_threads};

fn steps(criterion: &mut Criterion) {
    for threads in [1, 2] {
        let mut group = criterion.benchmark_group("steps");
        group.throughput(Throughput::Elements(threads as u64));
        for variant in &all() {
            group.bench_function(BenchmarkId::new(variant.name, threads), |bencher| {
                bencher.iter_custom(|keys| wall(variant, threads, keys));
            });
        }
        group.finish();
    }
}

/// Returns the time from the start of the first thread to the end of the last. Each thread tries
/// `keys` candidates.
fn wall(variant: &Variant, threads: usize, keys: u64) -> Duration {
    let spans = on_threads(variant, threads, |search| {
        search.run(keys);
        keys
    });
    let from = spans.iter().map(|span| span.from).min();
    let to = spans.iter().map(|span| span.to).max();
    from.zip(to).map_or(Duration::ZERO, |(from, to)| to - from)
}

criterion_group!(groups, steps);

fn main() {
    check();
    groups();
    Criterion::default().configure_from_args().final_summary();
}
