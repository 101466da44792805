//! Refuses a search whose keys will not be found: a life is too short for it, and a typing error or a
//! wrong idea of the odds is likely.

use std::fmt;
use std::time::Duration;

use super::rate::Rate;
use crate::engine::Engine;
use crate::pattern::{Odds, Pattern};
use crate::plan::OutputOptions;
use crate::search::{Measure, MeasureError, Quota, Remaining};

/// A search is hopeless if its chance is below 50% for longer than ten years.
const LONGEST: f64 = 10.0 * 365.25 * 24.0 * 3600.0;

/// The keys per second that every machine is taken to try. A search that is not hopeless at this rate
/// begins at once.
const LEAST_RATE: f64 = 10_000.0;

/// How long the rate is measured.
const MEASURED: Duration = Duration::from_millis(150);

/// What an engine that has not settled can gain at most, with graphics processors that join it.
const MOST_GAIN: f64 = 10_000.0;

/// Why a search is hopeless.
pub struct Hopeless {
    /// The patterns that will not be found, the least likely first.
    pub patterns: Vec<Pattern>,
    /// The number of all patterns.
    pub of: usize,
    /// How many keys per second this machine tries.
    pub rate: Rate,
    pub output: OutputOptions,
}

impl fmt::Debug for Hopeless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hopeless").field("of", &self.of).field("rate", &self.rate).finish_non_exhaustive()
    }
}

/// Returns why a search is hopeless, if a pattern that must be found will not be found. Measures the
/// rate of `engine` only if a slow machine would not find it.
///
/// # Errors
///
/// Returns an error if the measurement ends early.
pub(super) fn check(
    measure: &Measure,
    engine: &dyn Engine,
    quota: &Quota,
    output: OutputOptions,
) -> Result<Option<Hopeless>, MeasureError> {
    let seconds = |odds: Odds, rate: f64| odds.attempts_for(0.50) / rate;
    let hopeless = |rate: f64| -> Vec<&Pattern> {
        let takes_too_long = |pattern: &&Pattern| seconds(pattern.odds(), rate) > LONGEST;
        if let Quota::Any(_) = quota {
            // The chance of any pattern is at most this sum.
            let sum: f64 = measure.patterns.iter().map(|pattern| pattern.odds().probability()).sum();
            let any = Odds::new(sum.min(1.0));
            let is_hopeless = any.is_some_and(|any| seconds(any, rate) > LONGEST);
            return measure.patterns.iter().filter(|_| is_hopeless).collect();
        }
        let wanted = Remaining::new(quota, measure.patterns.len());
        let patterns = (0..).zip(measure.patterns).filter(|(id, _)| wanted.wants(*id));
        patterns.map(|(_, pattern)| pattern).filter(takes_too_long).collect()
    };
    if hopeless(LEAST_RATE).is_empty() {
        return Ok(None);
    }
    let mut rate = measure.rate(engine, MEASURED)?;
    if !hopeless(rate).is_empty() && hopeless(rate * MOST_GAIN).is_empty() {
        measure.settle(engine)?;
        rate = measure.rate(engine, MEASURED)?;
    }
    let mut patterns: Vec<Pattern> = hopeless(rate).into_iter().cloned().collect();
    if patterns.is_empty() {
        return Ok(None);
    }
    patterns.sort_by(|a, b| a.odds().probability().total_cmp(&b.odds().probability()));
    let rate = Rate { keys_per_second: rate, is_settled: engine.is_settled(), tuning: engine.tuning() };
    let of = measure.patterns.len();
    Ok(Some(Hopeless { patterns, of, rate, output }))
}
