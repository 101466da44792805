//! Graphics processors and the processor together.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use super::interface::{Engine, HYBRID, Hit, SeedSource, Sizing, Tuning, Worker};
use crate::notice::Notice;
use crate::pattern::Matcher;
use ed25519_batch::simd::InstructionSet;

/// The fewest expected attempts of each thread for which graphics processors are considered. With
/// fewer, the processor finishes before kernels are compiled and the engines are compared, which
/// takes up to ten seconds.
const FEW_ATTEMPTS: f64 = 2e7;

/// Returns whether a search is so short that graphics processors are not considered.
pub(super) fn is_short(sizing: Sizing) -> bool {
    sizing.expected_attempts < FEW_ATTEMPTS * sizing.threads.get() as f64
}

/// Graphics processors and the processor together.
struct Hybrid {
    graphics: Arc<dyn Engine>,
    processor: Arc<dyn Engine>,
    /// The number of workers of `graphics` that exist.
    graphics_workers: AtomicUsize,
}

/// Returns the engines of which one is the fastest: the processor, graphics processors, and both
/// together. Returns only the processor if `graphics` is `None`, and also, with a notice, if
/// `graphics` is an error.
///
/// # Errors
///
/// Returns the error of the processor if neither works.
pub(super) fn candidates<E>(
    graphics: Option<Result<Box<dyn Engine>, String>>,
    processor: Result<Box<dyn Engine>, E>,
) -> Result<Vec<Box<dyn Engine>>, E> {
    Ok(match (graphics, processor) {
        (None, processor) => vec![processor?],
        (Some(Err(why)), processor) => {
            vec![Box::new(Shared::new(processor?.into(), Some(Notice::warning(why))))]
        }
        (Some(Ok(graphics)), Err(_)) => vec![graphics],
        (Some(Ok(graphics)), Ok(processor)) => {
            let (graphics, processor): (Arc<dyn Engine>, Arc<dyn Engine>) =
                (graphics.into(), processor.into());
            let both = Hybrid {
                graphics: Arc::clone(&graphics),
                processor: Arc::clone(&processor),
                graphics_workers: AtomicUsize::new(0),
            };
            let [processor, graphics] = [processor, graphics].map(|engine| Shared::new(engine, None));
            vec![Box::new(processor), Box::new(graphics), Box::new(both)]
        }
    })
}

/// An engine that [`Hybrid`] can hold, too, and a notice to the user.
struct Shared {
    engine: Arc<dyn Engine>,
    /// Why graphics processors do not help the engine, until that is reported.
    notice: Mutex<Option<Notice>>,
}

impl Shared {
    fn new(engine: Arc<dyn Engine>, notice: Option<Notice>) -> Self {
        Self { engine, notice: Mutex::new(notice) }
    }
}

impl Engine for Shared {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        self.engine.worker()
    }

    fn workers(&self, threads: usize) -> usize {
        self.engine.workers(threads)
    }

    fn instruction_set(&self) -> InstructionSet {
        self.engine.instruction_set()
    }

    fn is_settled(&self) -> bool {
        self.engine.is_settled()
    }

    fn tuning(&self) -> Option<Tuning> {
        self.engine.tuning()
    }

    fn notices(&self) -> Vec<Notice> {
        let mut notices = self.engine.notices();
        notices.extend(self.notice.lock().unwrap_or_else(PoisonError::into_inner).take());
        notices
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

    fn instruction_set(&self) -> InstructionSet {
        self.processor.instruction_set()
    }

    fn is_settled(&self) -> bool {
        self.graphics.is_settled() && self.processor.is_settled()
    }

    /// Returns the settings of the graphics processors, which try most of the keys.
    fn tuning(&self) -> Option<Tuning> {
        self.graphics.tuning().or_else(|| self.processor.tuning())
    }

    fn notices(&self) -> Vec<Notice> {
        [self.graphics.notices(), self.processor.notices()].concat()
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
