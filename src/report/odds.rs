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
    let rate = *rate;
    streams::notices(notices, *output);
    let paint = Paint::new(output.color, &io::stdout());
    let several = Several::of(patterns, quota, any_of(patterns.iter()));
    for pattern in patterns {
        let line = if output.json {
            json::line(&json::estimate(pattern, several.as_ref(), rate))
        } else {
            odds_line(pattern, rate, paint) + "\n"
        };
        print(line.as_bytes())?;
    }
    let Some(several) = several.filter(|_| !output.json) else { return Ok(()) };
    several_lines(&several, rate.keys_per_second, paint)
        .iter()
        .try_for_each(|line| print(format!("{line}\n").as_bytes()))
}

/// Returns the line about a pattern:
/// `alice: 1 in 860,000; 50 % within 9.2 s, 95 % within 37 s at 62,000 keys/s`. A rate that can still
/// rise is marked as such.
pub(super) fn odds_line(pattern: &Pattern, rate: Rate, paint: Paint) -> String {
    let odds = pattern.odds();
    let within = |chance| time(seconds_for(odds, chance, rate.keys_per_second));
    format!(
        "{}: 1 in {}; 50 % within {}, 95 % within {} at {} keys/s{}",
        paint.bold(escaped(pattern.text())),
        rough(odds.expected_attempts()),
        within(0.50),
        within(0.95),
        rough(rate.keys_per_second),
        if rate.is_settled { "" } else { " so far" }
    )
}

/// Returns the line about any of several patterns, and the line about all of them if there is a
/// bound: `any of 3: 1 in 12,000; 50 % within 9.2 s, 95 % within 37 s`. Bounds are marked as such.
pub(super) fn several_lines(several: &Several, keys_per_second: f64, paint: Paint) -> Vec<String> {
    let Several { patterns, any, attempts_for_all } = several;
    let patterns = grouped(*patterns as u64);
    let one_in = |odds: Odds| format!("1 in {}", rough(odds.expected_attempts()));
    let seconds = |chance| time(seconds_for(any.at_least, chance, keys_per_second));
    let (odds, most) = if any.is_exact() {
        (one_in(any.at_least), "")
    } else {
        (format!("between {} and {}", one_in(any.at_least), one_in(any.at_most)), "at most ")
    };
    let mut lines = vec![format!(
        "{}: {odds}; 50 % within {most}{}, 95 % within {most}{}",
        paint.bold(format_args!("any of {patterns}")),
        seconds(0.50),
        seconds(0.95),
    )];
    lines.extend(attempts_for_all.map(|attempts| {
        let [half, most] = attempts.map(|attempts| time(attempts / keys_per_second));
        let all = paint.bold(format_args!("all of {patterns}"));
        format!("{all}: 50 % within at most {half}, 95 % within at most {most}")
    }));
    lines
}
