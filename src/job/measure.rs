//! Jobs that search nothing: the list of devices, the rate behind an estimate, and the comparison of engines.

use std::time::Duration;

use super::error::JobError;
use super::expected::expected_attempts;
use crate::engine::{self, Engine};
use crate::escape::escaped;
use crate::notice::Notice;
use crate::pattern::Pattern;
use crate::plan::{BenchPlan, EngineChoice, OutputOptions, Refusal, SearchPlan};
use crate::search::{Measure, Measured, Quota, Stop};

/// How long an estimate measures this machine's rate.
const ESTIMATE_TIME: Duration = Duration::from_millis(300);

/// What an estimate is made of.
pub struct Estimate {
    /// What would be looked for.
    pub patterns: Vec<Pattern>,
    /// How many keys would be wanted.
    pub quota: Quota,
    /// How many keys per second this machine tries.
    pub keys_per_second: f64,
    /// What is printed before it.
    pub notices: Vec<Notice>,
    /// What is shown.
    pub output: OutputOptions,
}

/// What engines were measured to do.
pub struct Benchmark {
    /// Each engine; the last is the yardstick.
    pub figures: Vec<Measured>,
    /// What is printed before them.
    pub notices: Vec<Notice>,
    /// What is shown.
    pub output: OutputOptions,
}

/// Returns the devices that the engine `gpu` can use: a line each, its number and its name.
///
/// # Errors
///
/// There is none.
pub fn list_devices() -> Result<String, JobError> {
    let line = |(number, name): (usize, String)| format!("{number}: {}\n", escaped(&name));
    Ok((0..).zip(engine::device_names()?).map(line).collect())
}

/// Measures how many keys per second this machine tries for a plan.
///
/// # Errors
///
/// The plan cannot be carried out, a signal came, or the search failed.
pub fn estimate(plan: SearchPlan) -> Result<Estimate, JobError> {
    let SearchPlan { patterns, quota, engine, threads, mut notices, output, .. } = plan;
    let engine = engine.select(expected_attempts(&patterns, &quota))?;
    let stop = Stop::on_signals().map_err(JobError::Signals)?;
    let measure = Measure { patterns: &patterns, threads, stop: &stop };
    let keys_per_second = measure.rate(&*engine, ESTIMATE_TIME)?;
    notices.extend(engine.notices());
    Ok(Estimate { patterns, quota, keys_per_second, notices, output })
}

/// Measures engines side by side.
///
/// # Errors
///
/// The plan cannot be carried out, a signal came, or a search failed.
pub fn bench(plan: BenchPlan) -> Result<Benchmark, JobError> {
    let BenchPlan { patterns, mut notices, engine, threads, time, output } = plan;
    let engines = engines(engine)?;
    let stop = Stop::on_signals().map_err(JobError::Signals)?;
    let measure = Measure { patterns: &patterns, threads, stop: &stop };
    let figures = measure.compare(&engines, time)?;
    notices.extend(engines.iter().flat_map(|engine| engine.notices()));
    Ok(Benchmark { figures, notices, output })
}

/// Returns the engine that was asked for and the yardstick; for `auto`, every engine of this machine.
fn engines(choice: EngineChoice) -> Result<Vec<Box<dyn Engine>>, Refusal> {
    let sizing = choice.sizing(f64::INFINITY);
    if matches!(&choice, EngineChoice::Named { name, .. } if name == engine::AUTO) {
        return Ok(engine::available(sizing));
    }
    let mut engines = vec![choice.select(f64::INFINITY)?];
    if engines[0].name() != engine::YARDSTICK {
        engines.push(engine::select(engine::YARDSTICK, sizing)?);
    }
    Ok(engines)
}
