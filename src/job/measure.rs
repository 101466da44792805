//! Jobs without a search: the list of devices, the rate for an estimate, the engines of a comparison.

use std::sync::Arc;
use std::time::Duration;

use super::error::JobError;
use super::open::usable_threads;
use super::rate::Rate;
use crate::engine::{self, Engine};
use crate::escape::escaped;
use crate::plan::{BenchPlan, EngineChoice, EstimatePlan, PlanError, SearchPlan};
use crate::search::{Measure, Stop};

/// How long an estimate measures this machine's rate.
const ESTIMATE_TIME: Duration = Duration::from_millis(150);

/// Returns the devices that the engine `gpu` can use. Each has a line with its number and its name.
///
/// # Errors
///
/// Returns an error if there is no such device.
pub fn list_devices() -> Result<String, JobError> {
    let line = |(number, name): (usize, String)| format!("{number}: {}\n", escaped(&name));
    Ok((0..).zip(engine::device_names()?).map(line).collect())
}

/// Measures how many keys per second this machine tries for a plan. Adds notices to it.
///
/// # Errors
///
/// Returns an error if the plan cannot be carried out, `stop` is requested, or the search fails.
pub fn estimate(plan: &mut EstimatePlan, stop: &Stop) -> Result<Rate, JobError> {
    let SearchPlan { patterns, quota, engine, threads, notices, .. } = &mut plan.search;
    let threads = usable_threads(*threads, patterns, 0, notices)?;
    let engine = engine.build(quota.expected_attempts(patterns))?;
    let measure = Measure { patterns, threads, stop };
    measure.settle(&*engine)?;
    let keys_per_second = measure.rate(&*engine, ESTIMATE_TIME)?;
    notices.extend(engine.notices());
    Ok(Rate { keys_per_second, is_settled: engine.is_settled(), tuning: engine.tuning() })
}

/// Opens the engines that a plan measures side by side. The last one is the baseline. Limits the threads of
/// the plan to those that can be used, and adds notices to it.
///
/// # Errors
///
/// Returns an error if the plan cannot be carried out.
pub fn bench_engines(plan: &mut BenchPlan) -> Result<Vec<Arc<dyn Engine>>, JobError> {
    plan.threads = usable_threads(plan.threads, &plan.patterns, 0, &mut plan.notices)?;
    Ok(engines(&plan.engine)?)
}

/// Returns the chosen engine and the baseline, or for `auto` every engine of this machine.
fn engines(choice: &EngineChoice) -> Result<Vec<Arc<dyn Engine>>, PlanError> {
    let options = choice.options(f64::INFINITY);
    if matches!(choice, EngineChoice::Named { name, .. } if name == engine::AUTO) {
        return Ok(engine::available(options));
    }
    let mut engines = vec![choice.build(f64::INFINITY)?];
    if engines[0].name() != engine::BASELINE {
        engines.push(engine::select(engine::BASELINE, options)?);
    }
    Ok(engines)
}
