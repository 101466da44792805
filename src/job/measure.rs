//! Jobs without a search: the list of devices, the rate for an estimate, the comparison of engines.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use super::error::JobError;
use super::open::usable_threads;
use super::rate::Rate;
use crate::engine::{self, Engine};
use crate::escape::escaped;
use crate::notice::Notice;
use crate::pattern::Pattern;
use crate::plan::{BenchPlan, EngineChoice, EstimatePlan, OutputOptions, PlanError, SearchPlan};
use crate::search::{Measure, Quota, Stop};

/// How long an estimate measures this machine's rate.
const ESTIMATE_TIME: Duration = Duration::from_millis(150);

pub struct Estimate {
    pub patterns: Vec<Pattern>,
    /// How many keys the search would find.
    pub quota: Quota,
    /// How many keys per second this machine tries.
    pub rate: Rate,
    /// The time that suggestions must fit into, if there is a limit.
    pub within: Option<Duration>,
    /// The notices that are printed before the estimate.
    pub notices: Vec<Notice>,
    pub output: OutputOptions,
}

/// Engines that are ready to be measured side by side.
pub struct Bench {
    patterns: Vec<Pattern>,
    threads: NonZeroUsize,
    /// The engines; the last one is the baseline.
    pub engines: Vec<Arc<dyn Engine>>,
    /// The time for each engine.
    pub time: Duration,
    /// The notices that are printed before the measurement.
    pub notices: Vec<Notice>,
    pub output: OutputOptions,
}

/// Returns the devices that the engine `gpu` can use. Each has a line with its number and its name.
///
/// # Errors
///
/// Returns an error if there is no such device.
pub fn list_devices() -> Result<String, JobError> {
    let line = |(number, name): (usize, String)| format!("{number}: {}\n", escaped(&name));
    Ok((0..).zip(engine::device_names()?).map(line).collect())
}

/// Measures how many keys per second this machine tries for a plan.
///
/// # Errors
///
/// Returns an error if the plan cannot be carried out, `stop` is requested, or the search fails.
pub fn estimate(plan: EstimatePlan, stop: &Stop) -> Result<Estimate, JobError> {
    let EstimatePlan { search, within } = plan;
    let SearchPlan { patterns, quota, engine, threads, mut notices, output, .. } = search;
    let threads = usable_threads(threads, &patterns, 0, &mut notices)?;
    let engine = engine.build(quota.expected_attempts(&patterns))?;
    let measure = Measure { patterns: &patterns, threads, stop };
    measure.settle(&*engine)?;
    let keys_per_second = measure.rate(&*engine, ESTIMATE_TIME)?;
    let rate = Rate { keys_per_second, is_settled: engine.is_settled(), tuning: engine.tuning() };
    notices.extend(engine.notices());
    Ok(Estimate { patterns, quota, rate, within, notices, output })
}

impl Bench {
    /// Opens the engines of a plan.
    ///
    /// # Errors
    ///
    /// Returns an error if the plan cannot be carried out.
    pub fn open(plan: BenchPlan) -> Result<Self, JobError> {
        let BenchPlan { patterns, mut notices, engine, threads, time, output } = plan;
        let threads = usable_threads(threads, &patterns, 0, &mut notices)?;
        Ok(Self { patterns, threads, engines: engines(engine)?, time, notices, output })
    }

    /// Returns the measurement, which `stop` ends.
    #[must_use]
    pub fn measure<'a>(&'a self, stop: &'a Stop) -> Measure<'a> {
        Measure { patterns: &self.patterns, threads: self.threads, stop }
    }
}

/// Returns the chosen engine and the baseline, or for `auto` every engine of this machine.
fn engines(choice: EngineChoice) -> Result<Vec<Arc<dyn Engine>>, PlanError> {
    let options = choice.options(f64::INFINITY);
    if matches!(&choice, EngineChoice::Named { name, .. } if name == engine::AUTO) {
        return Ok(engine::available(options));
    }
    let mut engines = vec![choice.build(f64::INFINITY)?];
    if engines[0].name() != engine::BASELINE {
        engines.push(engine::select(engine::BASELINE, options)?);
    }
    Ok(engines)
}
