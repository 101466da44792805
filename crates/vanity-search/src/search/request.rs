//! The parameters of a search.

use std::num::NonZeroUsize;
use std::time::Duration;

use super::quota::Quota;
use crate::engine::Engine;
use crate::pattern::Pattern;

/// The most worker threads of a search.
pub const MAX_THREADS: usize = 1024;

/// The most worker threads for each processor. After a signal each of them ends its batch, which
/// must not take them all together a second.
const MAX_FOR_EACH_PROCESSOR: usize = 32;

/// Returns the most worker threads that a search starts on this machine.
#[must_use]
pub fn max_threads() -> NonZeroUsize {
    let processors = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let most = processors.get().saturating_mul(MAX_FOR_EACH_PROCESSOR).min(MAX_THREADS);
    NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MIN)
}

/// The parameters of a search.
pub struct Search<'a> {
    /// The engine that tries keys.
    pub engine: &'a dyn Engine,
    /// The patterns to search for, all in the same pass.
    pub patterns: &'a [Pattern],
    /// The number of worker threads. At most [`max_threads`] are started.
    pub threads: NonZeroUsize,
    /// The goal: keys, or a measurement.
    pub goal: Goal,
    /// The time after which the search ends in any case, beside the limit of its
    /// [`Stop`](super::Stop).
    pub timeout: Option<Duration>,
}

/// The goal of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Goal {
    /// These keys. The search is complete when it has found them.
    Keys(Quota),
    /// A measurement. The first keys that each worker finds are proved, and all are dropped.
    Measurement,
}
