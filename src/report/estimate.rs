//! Figures: the odds of each pattern and of several together, and patterns that take less time and ask
//! for nearly the same.

use std::io;
use std::time::Duration;

use super::forecast::{Forecast, seconds_for};
use super::json;
use super::number::{limit, one_in, rough, table, time};
use super::printing::{self, Paint};
use crate::escape::{escaped, shell_argument};
use crate::job::Rate;
use crate::pattern::{Bounds, Change, KINDS, Odds, Pattern, Variant, fitting, likelier};
use crate::plan::{Arguments, EstimatePlan, SearchPlan};
use crate::sys::write_stdout;
use crate::words::{broken, counted, grouped};
use console::Term;
use serde_json::{Value, json};

/// The time in seconds from which patterns that take less are of use.
const ONE_WAITS: f64 = 1.0;

/// Prints the odds of every pattern on stdout, for `--estimate`, and the times at this rate.
///
/// # Errors
///
/// Returns an error if a write to stdout fails.
pub fn estimate(plan: &EstimatePlan, rate: Rate) -> io::Result<()> {
    let EstimatePlan { search, within } = plan;
    let SearchPlan { patterns, quota, notices, output, .. } = search;
    printing::notices(notices, *output);
    let paint = Paint::new(output.color, &io::stdout());
    let mut forecast = Forecast::new(patterns, quota, 0, true);
    let suggestions = match &patterns[..] {
        [pattern] => Some(Suggestions::new(pattern, rate, *within, output.arguments)),
        _ => None,
    };
    if output.json {
        let object = |pattern| {
            let mut object = json::estimate(pattern, &mut forecast, rate);
            json::add(&mut object, "within_seconds", within.map(|within| within.as_secs_f64()));
            json::add(&mut object, "fits", within.map(|within| fits(pattern.odds(), rate, within)));
            json::add(&mut object, "suggestions", suggestions.as_ref().map(Suggestions::objects));
            json::line(&object)
        };
        return write_stdout(patterns.iter().map(object).collect::<String>().as_bytes());
    }
    let width = printing::width(&Term::stdout());
    let mut lines = if suggestions.is_some() { Vec::new() } else { list(patterns, rate, *within, width) };
    let subject = Subject::next(patterns, &forecast, paint);
    lines.extend(subject.map(|subject| format!("{}; {}", subject.odds(), subject.times(rate))));
    lines.extend(all_line(&mut forecast, rate, paint));
    if let Some(suggestions) = suggestions
        && (within.is_some() || seconds_for(patterns[0].odds(), rate)[0] >= ONE_WAITS)
    {
        lines.extend(suggestions.lines(width, paint));
    }
    write_stdout((broken(&lines.join("\n"), width) + "\n").as_bytes())
}

/// Returns the table of several patterns, the likeliest first. With a time, a line follows that
/// says how many fit.
fn list(patterns: &[Pattern], rate: Rate, within: Option<Duration>, width: Option<usize>) -> Vec<String> {
    let mut sorted: Vec<&Pattern> = patterns.iter().collect();
    sorted.sort_by(|a, b| b.odds().probability().total_cmp(&a.odds().probability()));
    let kind = patterns[0].options().kind;
    let is_mixed = patterns.iter().any(|pattern| pattern.options().kind != kind);
    let row = |pattern: &&Pattern| {
        let [half, most] = seconds_for(pattern.odds(), rate).map(cell);
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

/// What a find can be of: one pattern, or any of several.
pub(super) struct Subject {
    name: String,
    /// The chance that a key is such a find.
    chance: Bounds,
}

impl Subject {
    pub(super) fn pattern(pattern: &Pattern, paint: Paint) -> Self {
        Self { name: paint.bold(escaped(pattern.text())), chance: Bounds::exact(pattern.odds()) }
    }

    /// Returns all patterns of which the next find can be, if their chance is known.
    pub(super) fn any(forecast: &Forecast, paint: Paint) -> Option<Self> {
        let (patterns, chance) = forecast.any().filter(|(patterns, _)| *patterns > 1)?;
        Some(Self { name: paint.bold(format_args!("any of {}", grouped(patterns as u64))), chance })
    }

    /// Returns the only pattern, or all of them.
    fn next(patterns: &[Pattern], forecast: &Forecast, paint: Paint) -> Option<Self> {
        match patterns {
            [pattern] => Some(Self::pattern(pattern, paint)),
            _ => Self::any(forecast, paint),
        }
    }

    /// Returns the odds: `alice: 1 in 860,000`, `any of 3: 1 in 12,000`. Bounds are marked as such.
    pub(super) fn odds(&self) -> String {
        let Self { name, chance } = self;
        if chance.is_exact() {
            return format!("{name}: {}", one_in(chance.at_least));
        }
        format!("{name}: between {} and {}", one_in(chance.at_least), one_in(chance.at_most))
    }

    /// Returns the times: `50% within 9.2 s, 95% within 37 s at 62,000 keys/s`. Bounds are marked as such.
    fn times(&self, rate: Rate) -> String {
        let most = if self.chance.is_exact() { "" } else { "at most " };
        let [half, nearly_all] = seconds_for(self.chance.at_least, rate).map(|seconds| {
            if seconds < SOON {
                format!("in {}", cell(seconds))
            } else {
                format!("within {most}{}", time(seconds))
            }
        });
        format!("50% {half}, 95% {nearly_all} {}", at(rate))
    }

    /// Returns the name and the times.
    pub(super) fn times_line(&self, rate: Rate) -> String {
        format!("{}: {}", self.name, self.times(rate))
    }
}

/// Returns the times until all keys are found, if there are several:
/// `all 10 keys: 50% within 29 s, 95% within 47 s`.
pub(super) fn all_line(forecast: &mut Forecast, rate: Rate, paint: Paint) -> Option<String> {
    let (keys, attempts) = forecast.all()?;
    let (patterns, _) = forecast.any()?;
    let [half, nearly_all] = attempts.map(|attempts| time(attempts / rate.keys_per_second));
    let is_one_each = keys == patterns as u64;
    let all = if is_one_each {
        format!("all of {}", grouped(keys))
    } else {
        format!("all {}", counted(keys, "key"))
    };
    let most = if forecast.is_all_exact() { "" } else { "at most " };
    Some(format!("{}: 50% within {most}{half}, 95% within {most}{nearly_all}", paint.bold(all)))
}

/// Returns `at 62,000 keys/s`.
pub(super) fn at(rate: Rate) -> String {
    format!("at {} keys/s", rough(rate.keys_per_second))
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
        let [half, most] = seconds_for(odds, self.rate).map(cell);
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
            let [half, most] = seconds_for(odds, self.rate);
            json!({
                "changes": variant.changes.iter().map(|change| name(*change)).collect::<Vec<_>>(),
                "characters": variant.kept,
                "pattern": variant.pattern.text(),
                "arguments": (self.arguments)(&variant.pattern),
                "probability": odds.probability(),
                "expected_attempts": odds.expected_attempts(),
                "seconds_50": half,
                "seconds_95": most,
                "times_as_likely": self.times(variant),
            })
        };
        self.variants.iter().map(object).collect()
    }
}

/// Returns whether the chance of a match reaches 50% within this time.
pub(super) fn fits(odds: Odds, rate: Rate, within: Duration) -> bool {
    seconds_for(odds, rate)[0] <= within.as_secs_f64()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::MatchOptions;

    #[test]
    fn a_time_below_a_millisecond_is_told_as_such() {
        let pattern = Pattern::new("ann", MatchOptions::default()).unwrap();
        let subject = Subject::pattern(&pattern, Paint::PLAIN);
        let times_at =
            |keys_per_second| subject.times(Rate { keys_per_second, is_settled: true, tuning: None });
        assert_eq!(times_at(6e6), "50% in under 1 ms, 95% in under 1 ms at 6,000,000 keys/s");
        assert_eq!(times_at(1e6), "50% in under 1 ms, 95% within 2 ms at 1,000,000 keys/s");
        assert_eq!(times_at(1e3), "50% within 541 ms, 95% within 2.3 s at 1,000 keys/s");
    }
}
