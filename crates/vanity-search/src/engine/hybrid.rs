//! The CPU, and GPUs that join it.
//!
//! A search begins on the CPU at once. Each device joins when its kernel is compiled and its
//! check passed, in [`Gpu::joining`]. A search that ends before that never waits for it.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::gpu::{self, Gpu, Pace};
use super::traits::{Engine, EngineOptions, EngineWorker, HYBRID, Hit, SeedSource, Tuning, UsedDevice};
use crate::notice::Notice;
use crate::pattern::Matcher;
use ed25519_batch::simd::InstructionSet;

/// The CPU, and the devices that have joined.
struct Hybrid {
    cpu: Arc<dyn Engine>,
    devices: Gpu,
    pace: Arc<Pace>,
}

/// Returns the engine `cpu`, and begins to open the devices that join it.
pub(super) fn build(cpu: Arc<dyn Engine>, options: EngineOptions) -> Arc<dyn Engine> {
    let pace = Arc::<Pace>::default();
    let devices = Gpu::joining(move || gpu::joining(options.devices), options, Arc::clone(&pace));
    Arc::new(Hybrid { cpu, devices, pace })
}

impl Engine for Hybrid {
    fn name(&self) -> &'static str {
        if self.devices.joined() > 0 { HYBRID } else { self.cpu.name() }
    }

    fn worker(&self) -> Box<dyn EngineWorker + '_> {
        self.pace.workers.fetch_add(1, Relaxed);
        Box::new(PacedWorker { worker: self.cpu.worker(), pace: &self.pace })
    }

    fn workers(&self, threads: usize) -> usize {
        self.cpu.workers(threads)
    }

    fn joined_workers(&self) -> usize {
        self.devices.workers(0)
    }

    fn joined_worker(&self) -> Box<dyn EngineWorker + '_> {
        self.devices.worker()
    }

    fn devices(&self) -> Vec<UsedDevice> {
        self.devices.devices()
    }

    fn instruction_set(&self) -> InstructionSet {
        self.cpu.instruction_set()
    }

    fn is_settled(&self) -> bool {
        self.devices.is_settled() && self.cpu.is_settled()
    }

    /// Returns the settings of the devices, which try most of the keys.
    fn tuning(&self) -> Option<Tuning> {
        self.devices.tuning().or_else(|| self.cpu.tuning())
    }

    fn notices(&self) -> Vec<Notice> {
        [self.devices.notices(), self.cpu.notices()].concat()
    }
}

/// A worker of the CPU, whose keys are counted.
struct PacedWorker<'a> {
    worker: Box<dyn EngineWorker + 'a>,
    pace: &'a Pace,
}

impl Drop for PacedWorker<'_> {
    fn drop(&mut self) {
        self.pace.workers.fetch_sub(1, Relaxed);
    }
}

impl EngineWorker for PacedWorker<'_> {
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
        let tried = self.worker.batch(matcher, seeds, hits);
        self.pace.keys.fetch_add(tried, Relaxed);
        tried
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::reference::Reference;

    #[test]
    fn it_is_the_engine_of_the_cpu_until_a_device_joins() {
        let pace = Arc::<Pace>::default();
        let devices = Gpu::joining(|| Ok(Vec::new()), EngineOptions::for_attempts(1e9), Arc::clone(&pace));
        let hybrid = Hybrid { cpu: Arc::new(Reference), devices, pace };
        assert_eq!((hybrid.name(), hybrid.workers(3), hybrid.joined_workers()), (Reference.name(), 3, 0));
        let workers = [hybrid.worker(), hybrid.worker()];
        assert_eq!(hybrid.pace.workers.load(Relaxed), 2);
        drop(workers);
        assert_eq!(hybrid.pace.workers.load(Relaxed), 0);
    }
}
