//! Graphics processors and the processor together, where that is faster than either.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use zeroize::Zeroizing;

use super::names::HYBRID;
use super::worker::{Engine, Hit, SeedSource, Worker};
use crate::notice::Notice;
use crate::pattern::{Matcher, Pattern, Style};
use crate::sys::fill_random;

/// The fewest expected attempts for which graphics processors are considered. With fewer, the
/// processor finishes before kernels are compiled, which takes some seconds.
pub(super) const FEW_ATTEMPTS: f64 = 2e7;

/// The time for which each way of searching is measured. As much time before it lets the batches
/// grow.
const TRIAL: Duration = Duration::from_millis(150);

/// Graphics processors and the processor together.
struct Hybrid {
    graphics: Box<dyn Engine>,
    processor: Box<dyn Engine>,
    /// The number of workers of `graphics` that exist.
    graphics_workers: AtomicUsize,
}

/// Returns the fastest of graphics processors, the processor, and both together. Returns the
/// processor if `graphics` is `None`. Also returns the processor, with a notice, if `graphics` is
/// an error.
///
/// # Errors
///
/// Returns the error of the processor if neither works.
pub(super) fn fastest_of<E>(
    graphics: Option<Result<Box<dyn Engine>, String>>,
    processor: Result<Box<dyn Engine>, E>,
) -> Result<Box<dyn Engine>, E> {
    match graphics {
        None => processor,
        Some(Err(why)) => processor.map(|processor| -> Box<dyn Engine> {
            Box::new(CpuFallback { processor, notice: Mutex::new(Some(Notice::warning(why))) })
        }),
        Some(Ok(graphics)) => Ok(match processor {
            Ok(processor) => fastest(graphics, processor),
            Err(_) => graphics,
        }),
    }
}

fn fastest(graphics: Box<dyn Engine>, processor: Box<dyn Engine>) -> Box<dyn Engine> {
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    let [of_graphics, of_processor] = [&graphics, &processor].map(|engine| rate(&**engine, threads));
    let both = Hybrid { graphics, processor, graphics_workers: AtomicUsize::new(0) };
    if rate(&both, threads) > of_graphics.max(of_processor) {
        Box::new(both)
    } else if of_graphics > of_processor {
        both.graphics
    } else {
        both.processor
    }
}

/// Measures the keys per second in a short trial.
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

/// A source of seeds whose keys are not kept.
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

impl Engine for Hybrid {
    fn name(&self) -> &'static str {
        HYBRID
    }

    /// Gives the workers of graphics processors to the first callers, and workers of the processor
    /// to the others.
    fn worker(&self) -> Box<dyn Worker + '_> {
        let wanted = self.graphics.workers(0);
        let more = |graphics_workers: usize| (graphics_workers < wanted).then_some(graphics_workers + 1);
        match self.graphics_workers.fetch_update(Relaxed, Relaxed, more) {
            Ok(_) => Box::new(GpuShare {
                worker: self.graphics.worker(),
                graphics_workers: &self.graphics_workers,
            }),
            Err(_) => self.processor.worker(),
        }
    }

    fn workers(&self, threads: usize) -> usize {
        self.graphics.workers(threads) + self.processor.workers(threads)
    }

    fn notices(&self) -> Vec<Notice> {
        [self.graphics.notices(), self.processor.notices()].concat()
    }
}

/// The processor alone, and the reason why graphics processors do not help it.
struct CpuFallback {
    processor: Box<dyn Engine>,
    notice: Mutex<Option<Notice>>,
}

impl Engine for CpuFallback {
    fn name(&self) -> &'static str {
        self.processor.name()
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        self.processor.worker()
    }

    fn workers(&self, threads: usize) -> usize {
        self.processor.workers(threads)
    }

    fn notices(&self) -> Vec<Notice> {
        let mut notices = self.processor.notices();
        notices.extend(self.notice.lock().unwrap_or_else(PoisonError::into_inner).take());
        notices
    }
}

/// A worker of graphics processors in [`Hybrid`]. It counts as one until it is dropped.
struct GpuShare<'a> {
    worker: Box<dyn Worker + 'a>,
    graphics_workers: &'a AtomicUsize,
}

impl Drop for GpuShare<'_> {
    fn drop(&mut self) {
        self.graphics_workers.fetch_sub(1, Relaxed);
    }
}

impl Worker for GpuShare<'_> {
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
        self.worker.batch(matcher, seeds, hits)
    }
}

#[cfg(test)]
mod tests;
