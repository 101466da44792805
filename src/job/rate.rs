//! The rate of this machine, measured during a search.

use std::time::Duration;

use crate::engine::{Engine, Tuning};
use crate::search::Progress;

/// The time over which the rate of an engine is measured once it has settled.
const SHORTEST: Duration = Duration::from_millis(150);

/// How many keys this machine tries per second.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    pub keys_per_second: f64,
    /// Whether the engine has found its fastest settings. If not, the rate can rise.
    pub is_settled: bool,
    /// These settings, if the engine chooses any.
    pub tuning: Option<Tuning>,
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
        if elapsed < SHORTEST || progress.attempts == since.attempts {
            return None;
        }
        (self.is_wanted, self.is_unknown) = (false, false);
        let keys_per_second = progress.keys_per_second_since(since);
        Some(Rate { keys_per_second, is_settled: true, tuning: engine.tuning() })
    }

    /// Measures again from the next progress on.
    pub(super) fn begin_again(&mut self) {
        self.since = None;
    }

    /// Returns the mean rate of a search so far, unless a rate was returned before.
    pub(super) fn so_far(&mut self, progress: &Progress) -> Option<Rate> {
        if !self.is_unknown || progress.attempts == 0 || progress.elapsed.is_zero() {
            return None;
        }
        self.is_unknown = false;
        let keys_per_second = progress.keys_per_second_since(&Progress::NONE);
        Some(Rate { keys_per_second, is_settled: false, tuning: None })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use super::*;
    use crate::engine::EngineWorker;

    struct Tuned(AtomicBool);

    impl Engine for Tuned {
        fn name(&self) -> &'static str {
            "tuned"
        }

        fn worker(&self) -> Box<dyn EngineWorker + '_> {
            unreachable!("nothing is searched")
        }

        fn is_settled(&self) -> bool {
            self.0.load(Relaxed)
        }
    }

    fn progress(attempts: u64, milliseconds: u64) -> Progress {
        Progress::of(attempts, Duration::from_millis(milliseconds))
    }

    #[test]
    fn the_rate_is_that_of_the_time_after_the_engine_has_settled() {
        let engine = Tuned(AtomicBool::new(false));
        let mut meter = RateMeter::new(true);
        assert!(meter.progress(&engine, &progress(1000, 100)).is_none());
        engine.0.store(true, Relaxed);
        assert!(meter.progress(&engine, &progress(2000, 200)).is_none());
        assert!(meter.progress(&engine, &progress(3000, 300)).is_none(), "too short");
        let rate = meter.progress(&engine, &progress(10_000, 400)).unwrap();
        assert!(rate.is_settled && (rate.keys_per_second - 40_000.0).abs() < 1e-6);
        assert!(meter.progress(&engine, &progress(20_000, 500)).is_none());
        assert!(meter.so_far(&progress(20_000, 1000)).is_none());
    }

    #[test]
    fn before_that_the_mean_so_far_is_returned_once() {
        let engine = Tuned(AtomicBool::new(true));
        let mut meter = RateMeter::new(true);
        assert!(meter.so_far(&progress(0, 1000)).is_none());
        assert!(meter.so_far(&progress(10, 0)).is_none());
        let rate = meter.so_far(&progress(500, 500)).unwrap();
        assert!(!rate.is_settled && (rate.keys_per_second - 1000.0).abs() < 1e-6);
        assert!(meter.so_far(&progress(900, 1000)).is_none());
        assert!(meter.progress(&engine, &progress(0, 0)).is_none());
        assert!(meter.progress(&engine, &progress(0, 200)).is_none(), "no batch has ended");
        assert!(meter.progress(&engine, &progress(10, 400)).is_some_and(|rate| rate.is_settled));
    }

    #[test]
    fn a_quiet_search_has_no_rate() {
        let engine = Tuned(AtomicBool::new(true));
        let mut meter = RateMeter::new(false);
        assert!(meter.so_far(&progress(500, 1000)).is_none());
        assert!(meter.progress(&engine, &progress(0, 0)).is_none());
        assert!(meter.progress(&engine, &progress(1000, 1000)).is_none());
    }
}
