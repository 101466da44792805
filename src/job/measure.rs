//! Jobs without a search: the list of devices, the rate for an estimate, the comparison of engines.

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
use crate::search::{Measure, Measured, Quota, Step, Stop};

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

/// The measured rates of engines.
pub struct Benchmark {
    /// The figures of each engine; the last engine is the baseline.
    pub figures: Vec<Measured>,
    /// The notices that are printed before the figures.
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

/// What a measurement of engines does next.
pub enum BenchStep {
    /// It begins with this number of engines, and takes about this time. The notices come before.
    Begin(Vec<Notice>, usize, Duration),
    /// It measures an engine.
    Measure(Step),
}

/// Measures engines side by side. Passes each step to `tell` before it begins.
///
/// # Errors
///
/// Returns an error if the plan cannot be carried out, `stop` is requested, or a search fails.
pub fn bench(plan: BenchPlan, stop: &Stop, tell: &mut dyn FnMut(BenchStep)) -> Result<Benchmark, JobError> {
    let BenchPlan { patterns, mut notices, engine, threads, time, output } = plan;
    let threads = usable_threads(threads, &patterns, 0, &mut notices)?;
    let engines = engines(engine)?;
    let measure = Measure { patterns: &patterns, threads, stop };
    tell(BenchStep::Begin(notices, engines.len(), measure.expected(&engines, time)));
    let figures = measure.compare(&engines, time, &mut |step| tell(BenchStep::Measure(step)))?;
    let notices = engines.iter().flat_map(|engine| engine.notices()).collect();
    Ok(Benchmark { figures, notices, output })
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
