//! Suggestions: patterns that take less time and ask for nearly the same.

use std::time::Duration;

use serde_json::{Value, json};

use super::number::{limit, one_in, rough, time};
use super::paint::Paint;
use super::several::seconds_for;
use super::table;
use crate::escape::{escaped, shell_argument};
use crate::job::Rate;
use crate::pattern::{Change, Odds, Pattern, Variant, fitting, likelier};
use crate::plan::Arguments;

/// The suggestions for a pattern.
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
    /// Returns the variants of a pattern that are really likelier. With a time, returns those that
    /// have a chance of 50% within it, the longest beginning first.
    pub(super) fn new(
        pattern: &'a Pattern,
        rate: Rate,
        within: Option<Duration>,
        arguments: Arguments,
    ) -> Self {
        let variants = match within {
            None => likelier(pattern),
            Some(within) => fitting(pattern, |odds| fits(odds, rate, within)),
        };
        Self { pattern, variants, within, rate, arguments }
    }

    /// Returns the suggestions in lines, with a heading. There are none if nothing is likelier.
    pub(super) fn lines(&self, paint: Paint) -> Vec<String> {
        let within = self.within.map_or_else(String::new, limit);
        let heading = match &self.variants[..] {
            [] if self.within.is_none() => return Vec::new(),
            [] => return vec![format!("nothing like it has a chance of 50% within {within}")],
            [itself] if itself.changes.is_empty() => {
                let text = paint.bold(escaped(self.pattern.text()));
                return vec![format!("{text} has a chance of 50% within {within}")];
            }
            _ if self.within.is_none() => "cheaper ways to nearly the same:".to_owned(),
            [first, ..] if first.changes == [Change::Shorter] => {
                let (kept, whole) = (first.kept, self.pattern.text().len());
                format!(
                    "with a chance of 50% within {within}, the longest beginning first ({kept} of {whole} characters):"
                )
            }
            _ => format!("with a chance of 50% within {within}:"),
        };
        let titles = ["likelier", "odds", "50% within", "95% within", "what to search for"];
        let rows: Vec<[String; 5]> = std::iter::once(titles.map(str::to_owned))
            .chain(self.variants.iter().map(|variant| self.row(variant)))
            .collect();
        std::iter::once(paint.bold(heading))
            .chain(table::lines(&rows).map(|line| "  ".to_owned() + &line))
            .collect()
    }

    fn row(&self, variant: &Variant) -> [String; 5] {
        let odds = variant.pattern.odds();
        let [half, most] =
            [0.50, 0.95].map(|chance| time(seconds_for(odds, chance, self.rate.keys_per_second)));
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
