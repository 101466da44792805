//! The speed of engines: whole searches that keep nothing, in interleaved rounds.

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::find::{Find, Observer, SearchError};
use super::run::{Goal, Parameters};
use super::stop::{End, Stop};
use crate::engine::{Engine, Tuning};
use crate::pattern::Pattern;

/// The number of rounds of a comparison. It is odd, so that one of them is the median.
pub const ROUNDS: u32 = 5;

/// The longest time in which an engine finds its fastest settings before one rate is measured.
const LONGEST_TUNING: Duration = Duration::from_secs(4);

/// The same before engines are compared. It takes about two seconds, and longer on a busy machine.
const LONGEST_TUNING_OF_EACH: Duration = Duration::from_secs(10);

/// The time in which an engine usually finds them.
const USUAL_TUNING: Duration = Duration::from_secs(2);

/// The time between two looks at whether an engine has found them.
const TURN: Duration = Duration::from_millis(150);

/// The parameters of a measurement.
pub struct Measure<'a> {
    /// The patterns to search for. Matches are proved as in any measurement, and dropped.
    pub patterns: &'a [Pattern],
    /// The number of worker threads.
    pub threads: NonZeroUsize,
    /// The stop that ends the measurement early.
    pub stop: &'a Stop,
}

/// The figures of one engine over all rounds.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Measured {
    /// The name of the engine.
    pub engine: &'static str,
    /// The number of its worker threads.
    pub threads: usize,
    /// The rate in keys per second.
    pub rate: Spread,
    /// The ratio of its rate to the rate of the last engine, in each round.
    pub ratio: Spread,
    /// The rate of one thread alone, if there are more of them.
    pub one_thread: Option<Spread>,
    /// What the engine has found out to be the fastest.
    pub tuning: Option<Tuning>,
    /// Whether it had found that out before it was measured.
    pub is_settled: bool,
}

/// A part of a comparison that is about to begin.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Step {
    /// The name of the engine.
    pub engine: &'static str,
    /// The number of the round, from 1. `None` while the engine finds its fastest settings.
    pub round: Option<u32>,
    /// The share of the comparison that is over, from 0 to 1.
    pub done: f64,
}

/// A median, and the smallest and the largest figure.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Spread {
    /// The smallest figure.
    pub min: f64,
    /// The median.
    pub median: f64,
    /// The largest figure.
    pub max: f64,
}

/// The reason why there are no figures.
#[derive(Debug)]
pub enum MeasureError {
    /// A signal or the time limit of the [`Stop`] ended the measurement.
    Stopped(End),
    /// A search failed.
    Failed(SearchError<Infallible>),
}

impl Measure<'_> {
    /// Compares engines. Each runs for `time` in total, a part in each of [`ROUNDS`] rounds, one
    /// engine after the other. A machine whose speed drifts then favors none of them. The last
    /// engine is the baseline. With several threads, one of them also runs alone in each round, for
    /// half as long. Passes each step to `tell` before it begins.
    ///
    /// # Errors
    ///
    /// Returns an error if the stop is requested, or if a search fails.
    pub fn compare(
        &self,
        engines: &[Arc<dyn Engine>],
        time: Duration,
        tell: &mut dyn FnMut(Step),
    ) -> Result<Vec<Measured>, MeasureError> {
        for engine in engines {
            tell(Step { engine: engine.name(), round: None, done: 0.0 });
            self.settle_within(&**engine, LONGEST_TUNING_OF_EACH)?;
        }
        let settled: Vec<bool> = engines.iter().map(|engine| engine.is_settled()).collect();
        let mut rates = vec![Vec::new(); engines.len()];
        let mut alone = rates.clone();
        let one_thread = Measure { threads: NonZeroUsize::MIN, ..*self };
        let steps = f64::from(ROUNDS) * engines.len() as f64;
        let mut step = 0.0;
        for round in 1..=ROUNDS {
            for (engine, (rates, alone)) in engines.iter().zip(rates.iter_mut().zip(&mut alone)) {
                tell(Step { engine: engine.name(), round: Some(round), done: step / steps });
                step += 1.0;
                rates.push(self.rate(&**engine, time / ROUNDS)?);
                if self.threads > NonZeroUsize::MIN {
                    alone.push(one_thread.rate(&**engine, time / ROUNDS / 2)?);
                }
            }
        }
        let baseline = rates.last().cloned().unwrap_or_default();
        let figures = engines.iter().zip(settled).zip(rates.into_iter().zip(alone));
        let measured = figures.map(|((engine, is_settled), (rates, alone))| Measured {
            engine: engine.name(),
            threads: engine.workers(self.threads.get()),
            ratio: Spread::of(rates.iter().zip(&baseline).map(|(rate, baseline)| rate / baseline).collect()),
            rate: Spread::of(rates),
            one_thread: (!alone.is_empty()).then(|| Spread::of(alone)),
            tuning: engine.tuning(),
            is_settled,
        });
        Ok(measured.collect())
    }

    /// Returns about how long [`Self::compare`] takes.
    #[must_use]
    pub fn expected(&self, engines: &[Arc<dyn Engine>], time: Duration) -> Duration {
        let each = if self.threads > NonZeroUsize::MIN { time + time / 2 } else { time };
        let tuned = engines.iter().filter(|engine| !engine.is_settled()).count();
        USUAL_TUNING * tuned as u32 + each * engines.len() as u32
    }

    /// Measures the keys per second of one engine over `time`.
    ///
    /// # Errors
    ///
    /// Returns an error if the stop is requested, or if the search fails.
    pub fn rate(&self, engine: &dyn Engine, time: Duration) -> Result<f64, MeasureError> {
        loop {
            let rate = self.rate_once(engine, time)?;
            // On a very busy machine the time can be over before a worker begins.
            if rate > 0.0 {
                return Ok(rate);
            }
        }
    }

    /// Lets an engine find its fastest settings, for some seconds at most.
    ///
    /// # Errors
    ///
    /// Returns an error if the stop is requested, or if the search fails.
    pub fn settle(&self, engine: &dyn Engine) -> Result<(), MeasureError> {
        self.settle_within(engine, LONGEST_TUNING)
    }

    fn settle_within(&self, engine: &dyn Engine, longest: Duration) -> Result<(), MeasureError> {
        let end = Instant::now() + longest;
        while !engine.is_settled() && Instant::now() < end {
            self.rate_once(engine, TURN)?;
        }
        Ok(())
    }

    /// Measures the keys per second of one engine over `time`, once.
    fn rate_once(&self, engine: &dyn Engine, time: Duration) -> Result<f64, MeasureError> {
        let search = Parameters {
            engine,
            patterns: self.patterns,
            threads: self.threads,
            goal: Goal::Measurement,
            timeout: Some(time),
        };
        let summary = search.run(self.stop, &mut Nobody).map_err(MeasureError::Failed)?;
        if let Some(end) = self.stop.requested() {
            return Err(MeasureError::Stopped(end));
        }
        Ok(summary.keys_per_second())
    }
}

impl Spread {
    /// Returns the spread of an odd number of figures.
    fn of(mut figures: Vec<f64>) -> Self {
        figures.sort_by(f64::total_cmp);
        Self { min: figures[0], median: figures[figures.len() / 2], max: figures[figures.len() - 1] }
    }
}

/// An observer that keeps nothing.
struct Nobody;

impl Observer for Nobody {
    type Error = Infallible;

    fn found(&mut self, _: Vec<Find>) -> Result<(), Self::Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;
    use std::sync::atomic::{AtomicBool, AtomicUsize};

    use super::*;
    use crate::engine::{self, EngineWorker, Hit, SeedSource};
    use crate::pattern::{MatchOptions, Matcher};
    use crate::search::Signal;

    fn patterns() -> [Pattern; 1] {
        [Pattern::new("vanity", MatchOptions::default()).unwrap()]
    }

    fn one_thread<'a>(patterns: &'a [Pattern], stop: &'a Stop) -> Measure<'a> {
        Measure { patterns, threads: NonZeroUsize::MIN, stop }
    }

    fn reference() -> Arc<dyn Engine> {
        engine::select("reference", engine::EngineOptions::for_attempts(0.0)).unwrap()
    }

    #[test]
    fn the_baseline_measured_against_itself_is_one() {
        let (patterns, stop) = (patterns(), Stop::new());
        let measure = one_thread(&patterns, &stop);
        let engines = [reference()];
        let mut steps = Vec::new();
        let tell = &mut |step: Step| steps.push((step.round, step.done));
        let measured = measure.compare(&engines, Duration::from_millis(100), tell).unwrap();
        let shares = (1..).zip([0.0, 0.2, 0.4, 0.6, 0.8]).map(|(round, done)| (Some(round), done));
        assert_eq!(steps, [(None, 0.0)].into_iter().chain(shares).collect::<Vec<_>>());
        assert_eq!(measure.expected(&engines, Duration::from_secs(5)), Duration::from_secs(5));
        let two = Measure { threads: NonZeroUsize::MIN.saturating_add(1), ..measure };
        assert_eq!(two.expected(&engines, Duration::from_secs(2)), Duration::from_secs(3));
        assert_eq!(measured[0].engine, "reference");
        assert_eq!(measured[0].ratio, Spread { min: 1.0, median: 1.0, max: 1.0 });
        assert!(measured[0].rate.min > 0.0 && measured[0].rate.min <= measured[0].rate.max);
        assert_eq!(measured[0].one_thread, None, "a single thread is not measured again");

        stop.request(Signal::TERMINATE);
        let stopped = measure.compare(&engines, Duration::from_secs(60), &mut |_| ());
        assert!(matches!(stopped, Err(MeasureError::Stopped(End::Signal(Signal::TERMINATE)))));
    }

    /// An engine whose first worker tries nothing, as on a machine without time for it.
    struct Late(Arc<dyn Engine>, AtomicBool);

    struct Idle;

    impl Engine for Late {
        fn name(&self) -> &'static str {
            "late"
        }

        fn worker(&self) -> Box<dyn EngineWorker + '_> {
            if self.1.swap(false, Relaxed) { Box::new(Idle) } else { self.0.worker() }
        }
    }

    impl EngineWorker for Idle {
        fn batch(&mut self, _: &Matcher, _: &mut dyn SeedSource, _: &mut Vec<Hit>) -> u64 {
            0
        }
    }

    #[test]
    fn no_attempts_give_no_rate() {
        let (patterns, stop) = (patterns(), Stop::new());
        let measure = one_thread(&patterns, &stop);
        let late = Late(reference(), AtomicBool::new(true));
        assert!(measure.rate(&late, Duration::from_millis(50)).unwrap() > 0.0);
        assert!(!late.1.into_inner());
    }

    /// An engine that has settled after three searches.
    struct Slow(Arc<dyn Engine>, AtomicUsize);

    impl Engine for Slow {
        fn name(&self) -> &'static str {
            "slow"
        }

        fn worker(&self) -> Box<dyn EngineWorker + '_> {
            self.1.fetch_add(1, Relaxed);
            self.0.worker()
        }

        fn is_settled(&self) -> bool {
            self.1.load(Relaxed) >= 3
        }
    }

    #[test]
    fn an_engine_settles_before_it_is_measured() {
        let (patterns, stop) = (patterns(), Stop::new());
        let measure = one_thread(&patterns, &stop);
        let slow = Slow(reference(), AtomicUsize::new(0));
        measure.settle(&slow).unwrap();
        assert_eq!(slow.1.load(Relaxed), 3);
        measure.settle(&slow).unwrap();
        assert_eq!(slow.1.into_inner(), 3, "it has settled already");
    }

    #[test]
    fn a_spread_has_its_median() {
        assert_eq!(Spread::of(vec![3.0, 1.0, 2.0]), Spread { min: 1.0, median: 2.0, max: 3.0 });
        let five = Spread::of(vec![3.0, 5.0, 1.0, 4.0, 2.0]);
        assert_eq!(five, Spread { min: 1.0, median: 3.0, max: 5.0 });
    }
}
