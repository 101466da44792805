//! Prints the odds of each pattern, and of several together.

use std::io;

use super::json;
use super::number::{rough, time};
use super::paint::Paint;
use super::several::{Several, seconds_for};
use super::streams::{self, print};
use crate::escape::escaped;
use crate::job::{Estimate, Rate};
use crate::notice::grouped;
use crate::pattern::{Odds, Pattern, any_of};

/// Prints the odds of every pattern on stdout, for `--estimate`.
///
/// # Errors
///
/// Returns an error if a write to stdout fails.
pub fn estimate(estimate: &Estimate) -> io::Result<()> {
    let Estimate { patterns, quota, rate, notices, output } = estimate;
    streams::notices(notices, *output);
    let paint = Paint::new(output.color, &io::stdout());
    let several = Several::of(patterns, quota, any_of(patterns.iter()));
    for pattern in patterns {
        let line = if output.json {
            json::line(&json::estimate(pattern, several.as_ref(), *rate))
        } else {
            format!("{}; {} {}\n", odds_line(pattern, paint), times(pattern.odds(), *rate), at(*rate))
        };
        print(line.as_bytes())?;
    }
    let Some(several) = several.filter(|_| !output.json) else { return Ok(()) };
    print(format!("{}; {}\n", several_line(&several, paint), times_for_any(&several, *rate)).as_bytes())?;
    all_line(&several, *rate, paint).map_or(Ok(()), |line| print((line + "\n").as_bytes()))
}

/// Returns the odds of a pattern: `alice: 1 in 860,000`.
pub(super) fn odds_line(pattern: &Pattern, paint: Paint) -> String {
    format!("{}: {}", paint.bold(escaped(pattern.text())), one_in(pattern.odds()))
}

/// Returns the times of a search for a pattern:
/// `alice: 50 % within 9.2 s, 95 % within 37 s at 62,000 keys/s`.
pub(super) fn times_line(pattern: &Pattern, rate: Rate, paint: Paint) -> String {
    format!("{}: {} {}", paint.bold(escaped(pattern.text())), times(pattern.odds(), rate), at(rate))
}

/// Returns the odds of any of several patterns: `any of 3: 1 in 12,000`. Bounds are marked as such.
pub(super) fn several_line(several: &Several, paint: Paint) -> String {
    let Several { any, .. } = several;
    let odds = if any.is_exact() {
        one_in(any.at_least)
    } else {
        format!("between {} and {}", one_in(any.at_least), one_in(any.at_most))
    };
    format!("{}: {odds}", any_of_them(several, paint))
}

/// Returns the times until any of several patterns is found, and until all are found if there is a
/// bound. Bounds are marked as such.
pub(super) fn several_times(several: &Several, rate: Rate, paint: Paint) -> Vec<String> {
    let any = format!("{}: {} {}", any_of_them(several, paint), times_for_any(several, rate), at(rate));
    std::iter::once(any).chain(all_line(several, rate, paint)).collect()
}

fn any_of_them(several: &Several, paint: Paint) -> String {
    paint.bold(format_args!("any of {}", grouped(several.patterns as u64)))
}

fn all_line(several: &Several, rate: Rate, paint: Paint) -> Option<String> {
    let [half, most] = several.attempts_for_all?.map(|attempts| time(attempts / rate.keys_per_second));
    let all = paint.bold(format_args!("all of {}", grouped(several.patterns as u64)));
    Some(format!("{all}: 50 % within at most {half}, 95 % within at most {most}"))
}

fn one_in(odds: Odds) -> String {
    format!("1 in {}", rough(odds.expected_attempts()))
}

/// Returns `at 62,000 keys/s`.
fn at(rate: Rate) -> String {
    format!("at {} keys/s", rough(rate.keys_per_second))
}

/// Returns `50 % within 9.2 s, 95 % within 37 s`.
fn times(odds: Odds, rate: Rate) -> String {
    times_within(odds, "", rate)
}

fn times_for_any(several: &Several, rate: Rate) -> String {
    let most = if several.any.is_exact() { "" } else { "at most " };
    times_within(several.any.at_least, most, rate)
}

fn times_within(odds: Odds, most: &str, rate: Rate) -> String {
    let [half, nearly_all] = [0.50, 0.95].map(|chance| time(seconds_for(odds, chance, rate.keys_per_second)));
    format!("50 % within {most}{half}, 95 % within {most}{nearly_all}")
}
