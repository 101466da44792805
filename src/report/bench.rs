//! The rates of engines, for `--bench`: what is being measured, and then the figures.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::json;
use super::number::{limit, rough};
use super::printing::{self, Paint};
use super::progress::ProgressLine;
use crate::engine::{BASELINE, Engine};
use crate::job::JobError;
use crate::notice::Notice;
use crate::plan::{BenchPlan, OutputOptions, ProgressForm};
use crate::search::{Measure, Measured, ROUNDS, Step, Stop};
use crate::sys::write_stdout;
use crate::words::counted;

/// Rounds a time to seconds, and one of more than 20 seconds to a multiple of 5.
fn rounded(time: Duration) -> Duration {
    let seconds = time.as_secs_f64();
    let step = if seconds > 20.0 { 5.0 } else { 1.0 };
    Duration::from_secs_f64((seconds / step).round().max(1.0) * step)
}

/// Measures the engines of a plan side by side, and prints the figures of each on stdout. Meanwhile stderr
/// shows what is being measured. A request to `stop` ends this.
///
/// # Errors
///
/// Returns an error if the measurement ends early, or if a write to stdout fails.
pub fn bench(plan: &BenchPlan, engines: &[Arc<dyn Engine>], stop: &Stop) -> Result<(), JobError> {
    let BenchPlan { patterns, notices, threads, time, output, .. } = plan;
    let measure = Measure { patterns, threads: *threads, stop };
    printing::notices(notices, *output);
    let (number, expected) = (engines.len() as u64, limit(rounded(measure.expected(engines, *time))));
    let about = format!("measures {}, about {expected}", counted(number, "engine"));
    printing::notice(&Notice::info(about), *output);
    let is_shown = !output.quiet && output.progress == ProgressForm::Auto;
    let mut line = is_shown.then(|| ProgressLine::new(false)).flatten();
    let measured = measure.compare(engines, *time, &mut |Step { engine, round, done, .. }| {
        let parts = match round {
            None => vec![format!("{engine} finds its fastest table")],
            Some(round) => vec![format!("measuring {engine}"), format!("round {round} of {ROUNDS}")],
        };
        if let Some(line) = &mut line {
            line.show(parts.into_iter().map(|part| vec![part]).collect(), Some(done));
        }
    });
    line.iter().for_each(ProgressLine::clear);
    let figures = measured?;
    engines.iter().for_each(|engine| printing::notices(&engine.notices(), *output));
    print(&figures, *output).map_err(JobError::stdout)
}

fn print(figures: &[Measured], output: OutputOptions) -> io::Result<()> {
    for Measured { engine, .. } in figures.iter().filter(|figure| !figure.is_settled) {
        let text = format!("{engine} had not found its fastest table, so it can be faster than measured");
        printing::notice(&Notice::warning(text), output);
    }
    if output.json {
        return figures.iter().try_for_each(|one| write_stdout(json::line(&json::bench(one)).as_bytes()));
    }
    let paint = Paint::new(output.color, &io::stdout());
    let lines = rates(figures).into_iter().chain(fastest(figures).map(|line| paint.bold(line)));
    write_stdout(lines.map(|line| line + "\n").collect::<String>().as_bytes())
}

/// Returns the table: the rate of each engine, and how many times as fast as the baseline it is.
fn rates(figures: &[Measured]) -> Vec<String> {
    let line = |engine: &str, rate: &str, times: &str, rounds: &str| {
        format!("{engine:<12} {rate:>17} {times:>17}   {rounds}")
    };
    let row = |Measured { engine, rate, ratio, .. }: &Measured| {
        let rounds = format!("{:.2} to {:.2}", ratio.min, ratio.max);
        line(engine, &rough(rate.median), &format!("{:.2}", ratio.median), &rounds)
    };
    let title = line("engine", "keys per second", "times reference", "in five rounds");
    std::iter::once(title).chain(figures.iter().map(row)).collect()
}

/// Returns a sentence about the fastest engine, unless the baseline is the only one.
fn fastest(figures: &[Measured]) -> Option<String> {
    let faster = figures.iter().filter(|figure| figure.engine != BASELINE);
    let Measured { engine, rate, ratio, threads, .. } =
        faster.max_by(|a, b| a.rate.median.total_cmp(&b.rate.median))?;
    let [times, least, most] = [ratio.median, ratio.min, ratio.max].map(|ratio| match ratio {
        small if small < 10.0 => format!("{small:.1}"),
        large => format!("{large:.0}"),
    });
    let (rate, threads) = (rough(rate.median), counted(*threads as u64, "thread"));
    Some(format!(
        "{engine} is {times} times as fast as {BASELINE} ({least} to {most}): {rate} keys/s with {threads}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_round() {
        let shown = [0.3, 4.6, 19.6, 41.2, 3601.0].map(|time| limit(rounded(Duration::from_secs_f64(time))));
        assert_eq!(shown, ["1 s", "5 s", "20 s", "40 s", "1 h"]);
    }
}
