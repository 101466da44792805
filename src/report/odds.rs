//! Prints the odds of each pattern, and of several together.

use std::io;
use std::time::Duration;

use super::json;
use super::number::{limit, one_in, rough, time};
use super::paint::Paint;
use super::several::{Several, seconds_for};
use super::streams::{self, print};
use super::suggestions::{Suggestions, fits};
use super::table;
use crate::escape::escaped;
use crate::job::{Estimate, Rate};
use crate::notice::{counted, grouped};
use crate::pattern::{KINDS, Odds, Pattern, any_of};

/// Prints the odds of every pattern on stdout, for `--estimate`.
///
/// # Errors
///
/// Returns an error if a write to stdout fails.
pub fn estimate(estimate: &Estimate) -> io::Result<()> {
    let Estimate { patterns, quota, rate, within, notices, output } = estimate;
    streams::notices(notices, *output);
    let paint = Paint::new(output.color, &io::stdout());
    let several = Several::of(patterns, quota, any_of(patterns.iter()));
    let suggestions = match &patterns[..] {
        [pattern] => Some(Suggestions::new(pattern, *rate, *within, output.arguments)),
        _ => None,
    };
    if output.json {
        let object = |pattern| {
            let mut object = json::estimate(pattern, several.as_ref(), *rate);
            json::add_suggestions(&mut object, pattern, *rate, *within, suggestions.as_ref());
            json::line(&object)
        };
        return print(patterns.iter().map(object).collect::<String>().as_bytes());
    }
    let mut lines = Vec::new();
    match suggestions {
        Some(suggestions) => {
            let pattern = &patterns[0];
            lines.push(format!(
                "{}; {} {}",
                odds_line(pattern, paint),
                times(pattern.odds(), *rate),
                at(*rate)
            ));
            lines.extend(suggestions.lines(paint));
        }
        None => lines.extend(list(patterns, *rate, *within)),
    }
    if let Some(several) = several {
        let any = times_for_any(&several, *rate);
        lines.push(format!("{}; {any} {}", several_line(&several, paint), at(*rate)));
        lines.extend(all_line(&several, *rate, paint));
    }
    print((lines.join("\n") + "\n").as_bytes())
}

/// Returns the table of several patterns, the likeliest first. With a time, a line follows that
/// says how many fit.
fn list(patterns: &[Pattern], rate: Rate, within: Option<Duration>) -> Vec<String> {
    let mut sorted: Vec<&Pattern> = patterns.iter().collect();
    sorted.sort_by(|a, b| b.odds().probability().total_cmp(&a.odds().probability()));
    let kind = patterns[0].style().kind;
    let is_mixed = patterns.iter().any(|pattern| pattern.style().kind != kind);
    let row = |pattern: &&Pattern| {
        let [half, most] =
            [0.50, 0.95].map(|chance| time(seconds_for(pattern.odds(), chance, rate.keys_per_second)));
        let text = escaped(pattern.text());
        let known = KINDS.iter().find(|(_, kind)| is_mixed && pattern.style().kind == *kind);
        let text = known.map_or_else(|| text.to_string(), |(name, _)| format!("{name}:{text}"));
        [one_in(pattern.odds()), half, most, text]
    };
    let titles = ["odds", "50% within", "95% within", "pattern"].map(str::to_owned);
    let rows: Vec<[String; 4]> = std::iter::once(titles).chain(sorted.iter().map(row)).collect();
    let mut lines: Vec<String> = table::lines(&rows).collect();
    if let Some(within) = within {
        let number = sorted.partition_point(|pattern| fits(pattern.odds(), rate, within)) as u64;
        lines.push(format!(
            "a chance of 50% within {}: the first {} of {}",
            limit(within),
            grouped(number),
            counted(patterns.len() as u64, "pattern")
        ));
    }
    lines
}

/// Returns the odds of a pattern: `alice: 1 in 860,000`.
pub(super) fn odds_line(pattern: &Pattern, paint: Paint) -> String {
    format!("{}: {}", paint.bold(escaped(pattern.text())), one_in(pattern.odds()))
}

/// Returns the times of a search for a pattern:
/// `alice: 50% within 9.2 s, 95% within 37 s at 62,000 keys/s`.
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
    Some(format!("{all}: 50% within at most {half}, 95% within at most {most}"))
}

/// Returns `at 62,000 keys/s`.
fn at(rate: Rate) -> String {
    format!("at {} keys/s", rough(rate.keys_per_second))
}

/// Returns `50% within 9.2 s, 95% within 37 s`.
fn times(odds: Odds, rate: Rate) -> String {
    times_within(odds, "", rate)
}

fn times_for_any(several: &Several, rate: Rate) -> String {
    let most = if several.any.is_exact() { "" } else { "at most " };
    times_within(several.any.at_least, most, rate)
}

fn times_within(odds: Odds, most: &str, rate: Rate) -> String {
    let [half, nearly_all] = [0.50, 0.95].map(|chance| time(seconds_for(odds, chance, rate.keys_per_second)));
    format!("50% within {most}{half}, 95% within {most}{nearly_all}")
}
