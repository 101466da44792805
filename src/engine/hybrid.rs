//! Graphics processors and the processor at once, where that is faster than either.

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

/// Below so many expected attempts the processor is done before kernels are compiled: some seconds of it.
pub(super) const FEW_ATTEMPTS: f64 = 2e7;

/// How long each way of searching is tried, after the time that batches take to grow.
const TRIAL: Duration = Duration::from_millis(150);

/// Both.
struct Hybrid {
    graphics: Box<dyn Engine>,
    processor: Box<dyn Engine>,
    /// Workers of `graphics` that there are.
    there: AtomicUsize,
}

/// Returns the fastest of graphics processors, the processor, and both; the processor where there are no others (`None`) or
/// they do not work.
///
/// # Errors
///
/// Neither works.
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
    let both = Hybrid { graphics, processor, there: AtomicUsize::new(0) };
    if rate(&both, threads) > of_graphics.max(of_processor) {
        Box::new(both)
    } else if of_graphics > of_processor {
        both.graphics
    } else {
        both.processor
    }
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

impl Engine for Hybrid {
    fn name(&self) -> &'static str {
        HYBRID
    }

    /// The first that are asked for are those of graphics processors.
    fn worker(&self) -> Box<dyn Worker + '_> {
        let wanted = self.graphics.workers(0);
        let more = |there: usize| (there < wanted).then_some(there + 1);
        match self.there.fetch_update(Relaxed, Relaxed, more) {
            Ok(_) => Box::new(GpuShare { worker: self.graphics.worker(), there: &self.there }),
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

/// The processor, and why graphics processors that are there do not help it.
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

/// A worker of graphics processors in [`Hybrid`].
struct GpuShare<'a> {
    worker: Box<dyn Worker + 'a>,
    there: &'a AtomicUsize,
}

impl Drop for GpuShare<'_> {
    fn drop(&mut self) {
        self.there.fetch_sub(1, Relaxed);
    }
}

impl Worker for GpuShare<'_> {
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
        self.worker.batch(matcher, seeds, hits)
    }
}

#[cfg(test)]
mod tests;
