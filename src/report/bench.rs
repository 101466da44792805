//! Prints the figures of engines.

use std::io;

use super::json;
use super::number::rough;
use super::streams::{self, print};
use crate::job::Benchmark;
use crate::search::Measured;

/// Prints the figures of every engine on stdout, for `--bench`.
///
/// # Errors
///
/// Returns an error if a write to stdout fails.
pub fn bench(benchmark: &Benchmark) -> io::Result<()> {
    let Benchmark { figures, notices, output } = benchmark;
    streams::notices(notices, *output);
    if output.json {
        return figures.iter().try_for_each(|one| print(json::line(&json::bench(one)).as_bytes()));
    }
    let mut table = format!(
        "{:<12} {:>7} {:>14} {:>27} {:>8} {:>15}\n",
        "engine", "threads", "keys/s", "from - to", "ratio", "from - to"
    );
    for Measured { engine, threads, rate, ratio } in figures {
        let rates = format!("{} - {}", rough(rate.min), rough(rate.max));
        let ratios = format!("{:.2} - {:.2}", ratio.min, ratio.max);
        let median = rough(rate.median);
        table += &format!(
            "{engine:<12} {threads:>7} {median:>14} {rates:>27} {:>8.2} {ratios:>15}\n",
            ratio.median
        );
    }
    print(table.as_bytes())
}
