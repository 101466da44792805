//! Prints the figures of engines.

use std::io;

use super::json;
use super::number::rough;
use super::streams::{self, print};
use crate::engine::Tuning;
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
    for Measured { engine, threads, rate, ratio, .. } in figures {
        let rates = format!("{} - {}", rough(rate.min), rough(rate.max));
        let ratios = format!("{:.2} - {:.2}", ratio.min, ratio.max);
        let median = rough(rate.median);
        table += &format!(
            "{engine:<12} {threads:>7} {median:>14} {rates:>27} {:>8.2} {ratios:>15}\n",
            ratio.median
        );
    }
    table += "\n";
    table += &settings(figures);
    print(table.as_bytes())
}

/// Returns what each engine has chosen, and with several threads the rate of each beside the rate of
/// one alone.
fn settings(figures: &[Measured]) -> String {
    let several = figures.iter().any(|figure| figure.one_thread.is_some());
    let mut table = format!(
        "{:<12} {:>7} {:>12} {:>12} {:>16}",
        "engine", "windows", "table", "keys a batch", "vectors ahead"
    );
    if several {
        table += &format!(" {:>16} {:>16}", "keys/s a thread", "one thread alone");
    }
    table += "\n";
    for Measured { engine, threads, rate, one_thread, tuning, .. } in figures {
        let line = match tuning {
            Some(Tuning { windows, table_bytes, batch_keys, prefetch_vectors, .. }) => format!(
                "{engine:<12} {windows:>7} {:>8} KiB {batch_keys:>12} {prefetch_vectors:>16}",
                table_bytes >> 10
            ),
            None => format!("{engine:<12} {:>7} {:>12} {:>12} {:>16}", "-", "-", "-", "-"),
        };
        table += &line;
        if several {
            let alone = one_thread.map_or("-".to_owned(), |alone| rough(alone.median));
            table += &format!(" {:>16} {alone:>16}", rough(rate.median / *threads as f64));
        }
        table += "\n";
    }
    table
}
