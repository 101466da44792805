//! Graphics processors and the processor at once, where that is faster than either.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use zeroize::Zeroizing;

use super::{Engine, Hit, SeedSource, Sizing, Worker, gpu, of_the_processor, self_test};
use crate::key::fill_random;
use crate::pattern::{Matcher, Pattern, Style};

/// Below so many expected attempts the processor is done before kernels are compiled: some seconds of it.
const FEW_ATTEMPTS: f64 = 2e7;

/// How long each way of searching is tried, after the time that batches take to grow.
const TRIAL: Duration = Duration::from_millis(150);

/// Both.
struct SideBySide {
    graphics: Box<dyn Engine>,
    processor: Box<dyn Engine>,
    /// Workers of `graphics` that there are.
    there: AtomicUsize,
}

/// The fastest of graphics processors, the processor, and both. `None` where no graphics processor works, or the search is too
/// short for one.
pub(super) fn build(sizing: Sizing) -> Option<Box<dyn Engine>> {
    if sizing.expected_attempts < FEW_ATTEMPTS {
        return None;
    }
    let graphics = gpu::build_graphics(sizing).ok().filter(|graphics| self_test::run(&**graphics).is_ok())?;
    let Ok(processor) = of_the_processor(sizing) else { return Some(graphics) };
    fastest(graphics, processor)
}

fn fastest(graphics: Box<dyn Engine>, processor: Box<dyn Engine>) -> Option<Box<dyn Engine>> {
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    let [of_graphics, of_processor] = [&graphics, &processor].map(|engine| rate(&**engine, threads));
    let both = SideBySide { graphics, processor, there: AtomicUsize::new(0) };
    let of_both = rate(&both, threads);
    if of_both > of_graphics.max(of_processor) {
        return Some(Box::new(both));
    }
    (of_graphics > of_processor).then_some(both.graphics)
}

/// Keys per second in a short trial.
fn rate(engine: &dyn Engine, threads: usize) -> f64 {
    let Ok(pattern) = Pattern::new(&"x".repeat(20), Style::default()) else { return 0.0 };
    let patterns = [pattern];
    let matcher = Matcher::new(&patterns);
    let tried = AtomicUsize::new(0);
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..engine.workers(threads) {
            scope.spawn(|| {
                let Some(mut seeds) = Seeds::new() else { return };
                let (mut worker, mut hits) = (engine.worker(), Vec::new());
                while began.elapsed() < 2 * TRIAL {
                    let batch = worker.batch(&matcher, &mut seeds, &mut hits);
                    if began.elapsed() >= TRIAL {
                        tried.fetch_add(batch as usize, Relaxed);
                    }
                }
            });
        }
    });
    tried.load(Relaxed) as f64 / (began.elapsed() - TRIAL).as_secs_f64()
}

/// Seeds of which nothing is kept.
struct Seeds(ChaCha20Rng);

impl Seeds {
    fn new() -> Option<Self> {
        let mut key = Zeroizing::new([0; 32]);
        fill_random(&mut *key).ok()?;
        Some(Self(ChaCha20Rng::from_seed(*key)))
    }
}

impl SeedSource for Seeds {
    fn fill(&mut self, seeds: &mut [[u8; 32]]) {
        self.0.fill_bytes(seeds.as_flattened_mut());
    }

    fn key(&mut self) -> Option<Zeroizing<[u8; 32]>> {
        let mut key = Zeroizing::new([0; 32]);
        self.0.fill_bytes(&mut *key);
        Some(key)
    }
}

impl Engine for SideBySide {
    fn name(&self) -> &'static str {
        super::SIDE_BY_SIDE
    }

    /// The first that are asked for are those of graphics processors.
    fn worker(&self) -> Box<dyn Worker + '_> {
        let wanted = self.graphics.workers(0);
        let more = |there: usize| (there < wanted).then_some(there + 1);
        match self.there.fetch_update(Relaxed, Relaxed, more) {
            Ok(_) => Box::new(OfGraphics { worker: self.graphics.worker(), there: &self.there }),
            Err(_) => self.processor.worker(),
        }
    }

    fn workers(&self, threads: usize) -> usize {
        self.graphics.workers(threads) + self.processor.workers(threads)
    }

    fn notes(&self) -> Vec<String> {
        [self.graphics.notes(), self.processor.notes()].concat()
    }
}

struct OfGraphics<'a> {
    worker: Box<dyn Worker + 'a>,
    there: &'a AtomicUsize,
}

impl Drop for OfGraphics<'_> {
    fn drop(&mut self) {
        self.there.fetch_sub(1, Relaxed);
    }
}

impl Worker for OfGraphics<'_> {
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
        self.worker.batch(matcher, seeds, hits)
    }
}
