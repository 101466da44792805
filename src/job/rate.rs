//! The rate of this machine, measured during a search.

use std::time::Duration;

use crate::engine::Engine;
use crate::search::Progress;

/// The time over which the rate of an engine is measured once it has settled.
const SHORTEST: Duration = Duration::from_millis(150);

/// How many keys this machine tries per second.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// The number of keys per second.
    pub keys_per_second: f64,
    /// Whether the engine has found its fastest settings. If not, the rate can rise.
    pub is_settled: bool,
}

/// Measures the rate during a search, until it is known.
pub(super) struct RateMeter {
    /// Whether the rate is still to be returned once the engine has settled.
    is_wanted: bool,
    /// Whether the rate was never returned.
    is_unknown: bool,
    /// The first progress with the settings that are measured.
    since: Option<Progress>,
}

impl RateMeter {
    /// Returns a meter, which gives no rate unless `is_wanted`.
    pub(super) fn new(is_wanted: bool) -> Self {
        Self { is_wanted, is_unknown: is_wanted, since: None }
    }

    /// Takes the progress of a search. Returns the rate once, when the engine has settled.
    pub(super) fn progress(&mut self, engine: &dyn Engine, progress: &Progress) -> Option<Rate> {
        if !self.is_wanted || !engine.is_settled() {
            return None;
        }
        let since = self.since.get_or_insert(*progress);
        let elapsed = progress.elapsed.saturating_sub(since.elapsed);
        let attempts = progress.attempts - since.attempts;
        if elapsed < SHORTEST || attempts == 0 {
            return None;
        }
        (self.is_wanted, self.is_unknown) = (false, false);
        Some(Rate { keys_per_second: attempts as f64 / elapsed.as_secs_f64(), is_settled: true })
    }

    /// Returns the mean rate of a search so far, unless a rate was returned before.
    pub(super) fn so_far(&mut self, attempts: u64, elapsed: Duration) -> Option<Rate> {
        let elapsed = elapsed.as_secs_f64();
        if !self.is_unknown || attempts == 0 || elapsed == 0.0 {
            return None;
        }
        self.is_unknown = false;
        Some(Rate { keys_per_second: attempts as f64 / elapsed, is_settled: false })
    }
}
