//! Figures: the odds of each pattern and of several together, and patterns that take less time and ask
//! for nearly the same.

use std::io;
use std::time::Duration;

use super::forecast::{Forecast, Several, seconds_for};
use super::json;
use super::number::{limit, one_in, rough, table, time};
use super::printing::{self, Paint, print};
use crate::escape::{escaped, shell_argument};
use crate::job::{Estimate, Rate};
use crate::pattern::{Change, KINDS, Odds, Pattern, Variant, fitting, likelier};
use crate::plan::Arguments;
use crate::words::{counted, grouped};
use console::Term;
use serde_json::{Value, json};

/// The time in seconds from which patterns that take less are of use.
const ONE_WAITS: f64 = 1.0;

/// Prints the odds of every pattern on stdout, for `--estimate`.
///
/// # Errors
///
/// Returns an error if a write to stdout fails.
pub fn estimate(estimate: &Estimate) -> io::Result<()> {
    let Estimate { patterns, quota, rate, within, notices, output } = estimate;
    printing::notices(notices, *output);
    let paint = Paint::new(output.color, &io::stdout());
    let several = Forecast::new(patterns, quota, 0, true).several();
    let suggestions = match &patterns[..] {
        [pattern] => Some(Suggestions::new(pattern, *rate, *within, output.arguments)),
        _ => None,
    };
    if output.json {
        let object = |pattern| {
            let mut object = json::estimate(pattern, several.as_ref(), *rate);
            add_suggestions(&mut object, pattern, *rate, *within, suggestions.as_ref());
            json::line(&object)
        };
        return print(patterns.iter().map(object).collect::<String>().as_bytes());
    }
    let width = printing::width(&Term::stdout());
    let mut lines = Vec::new();
    match suggestions {
        Some(suggestions) => {
            let pattern = &patterns[0];
            let times = times(pattern.odds(), *rate);
            lines.push(format!("{}; {times} {}", odds_line(pattern, paint), at(*rate)));
            lines.extend(several.and_then(|several| all_line(&several, *rate, paint)));
            if within.is_some() || seconds_for(pattern.odds(), 0.50, rate.keys_per_second) >= ONE_WAITS {
                lines.extend(suggestions.lines(width, paint));
            }
        }
        None => {
            lines.extend(list(patterns, *rate, *within, width));
            if let Some(several) = several {
                let any = times_for_any(&several, *rate);
                lines.push(format!("{}; {any} {}", several_line(&several, paint), at(*rate)));
                lines.extend(all_line(&several, *rate, paint));
            }
        }
    }
    print((printing::broken(&lines.join("\n"), width) + "\n").as_bytes())
}

/// Returns the table of several patterns, the likeliest first. With a time, a line follows that
/// says how many fit.
fn list(patterns: &[Pattern], rate: Rate, within: Option<Duration>, width: Option<usize>) -> Vec<String> {
    let mut sorted: Vec<&Pattern> = patterns.iter().collect();
    sorted.sort_by(|a, b| b.odds().probability().total_cmp(&a.odds().probability()));
    let kind = patterns[0].options().kind;
    let is_mixed = patterns.iter().any(|pattern| pattern.options().kind != kind);
    let row = |pattern: &&Pattern| {
        let [half, most] =
            [0.50, 0.95].map(|chance| cell(seconds_for(pattern.odds(), chance, rate.keys_per_second)));
        let text = escaped(pattern.text());
        let known = KINDS.iter().find(|(_, kind)| is_mixed && pattern.options().kind == *kind);
        let text = known.map_or_else(|| text.to_string(), |(name, _)| format!("{name}:{text}"));
        [one_in(pattern.odds()), half, most, text]
    };
    let titles = ["odds", "50% within", "95% within", "pattern"].map(str::to_owned);
    let rows: Vec<[String; 4]> = std::iter::once(titles).chain(sorted.iter().map(row)).collect();
    let mut lines = table(&rows, &[2, 0], width);
    if let Some(within) = within {
        let number = sorted.partition_point(|pattern| fits(pattern.odds(), rate, within)) as u64;
        lines.push(format!(
            "a 50% chance within {}: the first {} of {}",
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

/// Returns the times until any of several patterns is found, and until all keys are found. Bounds are
/// marked as such.
pub(super) fn several_times(several: &Several, rate: Rate, paint: Paint) -> Vec<String> {
    let any = format!("{}: {} {}", any_of_them(several, paint), times_for_any(several, rate), at(rate));
    std::iter::once(any).chain(all_line(several, rate, paint)).collect()
}

fn any_of_them(several: &Several, paint: Paint) -> String {
    paint.bold(format_args!("any of {}", grouped(several.patterns as u64)))
}

/// Returns the times until all keys are found, if there are several:
/// `all 10 keys: 50% within 29 s, 95% within 47 s`.
pub(super) fn all_line(several: &Several, rate: Rate, paint: Paint) -> Option<String> {
    let [half, nearly_all] = several.attempts_for_all?.map(|attempts| time(attempts / rate.keys_per_second));
    let all = if several.keys == several.patterns as u64 {
        format!("all of {}", grouped(several.keys))
    } else {
        format!("all {}", counted(several.keys, "key"))
    };
    let most = if several.is_all_exact { "" } else { "at most " };
    Some(format!("{}: 50% within {most}{half}, 95% within {most}{nearly_all}", paint.bold(all)))
}

/// Returns `at 62,000 keys/s`.
pub(super) fn at(rate: Rate) -> String {
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
    let [half, nearly_all] = [0.50, 0.95].map(|chance| {
        let seconds = seconds_for(odds, chance, rate.keys_per_second);
        if seconds < SOON {
            format!("in {}", cell(seconds))
        } else {
            format!("within {most}{}", time(seconds))
        }
    });
    format!("50% {half}, 95% {nearly_all}")
}

/// The least time in seconds that is told.
const SOON: f64 = 0.001;

/// Returns a time, or that it is shorter than any that is told.
fn cell(seconds: f64) -> String {
    let under = if seconds < SOON { "under " } else { "" };
    format!("{under}{}", time(seconds))
}

/// The space before a row of suggestions.
const INDENT: &str = "  ";

pub(super) struct Suggestions<'a> {
    pattern: &'a Pattern,
    variants: Vec<Variant>,
    /// The time that they fit into, if there is a limit.
    within: Option<Duration>,
    rate: Rate,
    /// How the command line writes a pattern.
    arguments: Arguments,
}

impl<'a> Suggestions<'a> {
    /// Returns the variants of a pattern that are really likelier, the closest to it first. With a
    /// time, returns those that have a chance of 50% within it, the longest beginning first.
    pub(super) fn new(
        pattern: &'a Pattern,
        rate: Rate,
        within: Option<Duration>,
        arguments: Arguments,
    ) -> Self {
        let variants = match within {
            None => likelier(pattern).into_iter().rev().collect(),
            Some(within) => fitting(pattern, |odds| fits(odds, rate, within)),
        };
        Self { pattern, variants, within, rate, arguments }
    }

    /// Returns the suggestions in lines of at most `width` columns, with a heading. There are none if
    /// nothing is likelier.
    pub(super) fn lines(&self, width: Option<usize>, paint: Paint) -> Vec<String> {
        let within = self.within.map_or_else(String::new, limit);
        let heading = match &self.variants[..] {
            [] if self.within.is_none() => return Vec::new(),
            [] => return vec![format!("nothing similar has a 50% chance within {within}")],
            [itself] if itself.changes.is_empty() => {
                let text = paint.bold(escaped(self.pattern.text()));
                return vec![format!("{text} has a 50% chance within {within}")];
            }
            _ if self.within.is_none() => "Similar and faster:".to_owned(),
            [first, ..] if first.changes == [Change::Shorter] => {
                let (kept, whole) = (first.kept, self.pattern.text().len());
                format!(
                    "With a 50% chance within {within}, the longest beginning first ({kept} of {whole} characters):"
                )
            }
            _ => format!("With a 50% chance within {within}:"),
        };
        let titles = ["easier", "odds", "50% within", "95% within", "what to search for"];
        let rows: Vec<[String; 5]> = std::iter::once(titles.map(str::to_owned))
            .chain(self.variants.iter().map(|variant| self.row(variant)))
            .collect();
        let width = width.map(|width| width.saturating_sub(INDENT.len()));
        let rows = table(&rows, &[3, 0, 1], width);
        std::iter::once(paint.bold(heading)).chain(rows.iter().map(|row| format!("{INDENT}{row}"))).collect()
    }

    fn row(&self, variant: &Variant) -> [String; 5] {
        let odds = variant.pattern.odds();
        let [half, most] =
            [0.50, 0.95].map(|chance| cell(seconds_for(odds, chance, self.rate.keys_per_second)));
        let words = (self.arguments)(&variant.pattern);
        let words: Vec<String> = words.iter().map(|word| shell_argument(word)).collect();
        [format!("{} times", rough(self.times(variant))), one_in(odds), half, most, words.join(" ")]
    }

    /// Returns how many times as likely as the pattern a variant is.
    fn times(&self, variant: &Variant) -> f64 {
        variant.pattern.odds().probability() / self.pattern.odds().probability()
    }

    /// Returns the suggestions for scripts.
    pub(super) fn objects(&self) -> Value {
        let object = |variant: &Variant| {
            let odds = variant.pattern.odds();
            json!({
                "changes": variant.changes.iter().map(|change| name(*change)).collect::<Vec<_>>(),
                "characters": variant.kept,
                "pattern": variant.pattern.text(),
                "arguments": (self.arguments)(&variant.pattern),
                "probability": odds.probability(),
                "expected_attempts": odds.expected_attempts(),
                "seconds_50": seconds_for(odds, 0.50, self.rate.keys_per_second),
                "seconds_95": seconds_for(odds, 0.95, self.rate.keys_per_second),
                "times_as_likely": self.times(variant),
            })
        };
        self.variants.iter().map(object).collect()
    }
}

/// Returns whether the chance of a match reaches 50% within this time.
pub(super) fn fits(odds: Odds, rate: Rate, within: Duration) -> bool {
    seconds_for(odds, 0.50, rate.keys_per_second) <= within.as_secs_f64()
}

fn name(change: Change) -> &'static str {
    match change {
        Change::AnyCase => "any_case",
        Change::Leet => "leet",
        Change::Anywhere => "anywhere",
        Change::TwoParts => "two_parts",
        Change::Shorter => "shorter",
    }
}

/// Adds to an estimate whether the pattern fits into a time, and the suggestions.
fn add_suggestions(
    estimate: &mut Value,
    pattern: &Pattern,
    rate: Rate,
    within: Option<Duration>,
    suggestions: Option<&Suggestions>,
) {
    if let Some(within) = within {
        estimate["within_seconds"] = within.as_secs_f64().into();
        estimate["fits"] = fits(pattern.odds(), rate, within).into();
    }
    if let Some(suggestions) = suggestions {
        estimate["suggestions"] = suggestions.objects();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::MatchOptions;

    #[test]
    fn a_time_below_a_millisecond_is_told_as_such() {
        let pattern = Pattern::new("ann", MatchOptions::default()).unwrap();
        let times_at =
            |keys_per_second| times(pattern.odds(), Rate { keys_per_second, is_settled: true, tuning: None });
        assert_eq!(times_at(6e6), "50% in under 1 ms, 95% in under 1 ms");
        assert_eq!(times_at(1e6), "50% in under 1 ms, 95% within 2 ms");
        assert_eq!(times_at(1e3), "50% within 541 ms, 95% within 2.3 s");
    }
}
