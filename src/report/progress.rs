//! The progress of a search: its state at one moment, and the line that shows it, which is rewritten
//! in place and may have a bar.
//!
//! The cursor stays at the beginning of the line. A terminal that becomes narrower breaks the line into
//! several rows, all of them below the cursor: so everything from there on is the line, and is cleared.

use std::collections::VecDeque;
use std::time::Duration;

use super::forecast::{Chance, Forecast};
use super::number::{clock, percent, rough, time};
use super::printing::is_dumb;
use crate::escape::escaped;
use crate::search::Progress;
use crate::sys::is_in_background;
use crate::words::{grouped, listed};
use console::Term;

/// The number of ticks of progress over which the shown rate is the mean.
const RATE_TICKS: usize = 30;

/// The number of columns that stay free, so that the cursor never goes to the next row.
const MARGIN: u16 = 3;

/// The fewest columns of a bar, without what is around it.
const LEAST_BAR: usize = 10;

/// The columns around a bar: a space and two brackets.
const AROUND: usize = 3;

/// The recent progress of a search.
pub(super) struct Recent(VecDeque<Progress>);

impl Recent {
    /// Returns no progress.
    pub(super) fn new() -> Self {
        Self(VecDeque::with_capacity(RATE_TICKS + 1))
    }

    /// Takes the progress of a search.
    pub(super) fn add(&mut self, progress: &Progress) {
        self.0.push_back(*progress);
        if self.0.len() > RATE_TICKS {
            self.0.pop_front();
        }
    }

    /// Returns the mean rate of the recent progress.
    pub(super) fn rate(&self, progress: &Progress) -> f64 {
        let first = self.0.front().filter(|first| first.attempts < progress.attempts);
        progress.keys_per_second_since(first.unwrap_or(&Progress::NONE))
    }
}

/// The state of a search at one moment. Times are seconds since the beginning of the search.
pub(super) struct Status {
    pub(super) elapsed: Duration,
    pub(super) attempts: u64,
    /// The present rate.
    pub(super) keys_per_second: f64,
    pub(super) found: u64,
    pub(super) wanted: u64,
    /// The patterns that each still want a key, in words, and their number.
    pub(super) missing: (String, usize),
    /// Whether no key is tried, because finds must be encrypted first.
    pub(super) is_encrypting: bool,
    /// The chance that the next find would have been made by now.
    pub(super) chance: Option<Chance>,
    /// The times at which this chance reaches 50% and 95% at the present rate. A time that is
    /// over is that of the mean rate.
    pub(super) next: Option<[f64; 2]>,
    /// The chance that the least likely of several missing patterns would have been found by now.
    pub(super) chance_of_last: Option<f64>,
    /// The times at which the chance that all keys are found reaches 50% and 95% at the present
    /// rate. `None` if fewer than two keys are missing.
    pub(super) last: Option<[f64; 2]>,
}

impl Status {
    /// Returns the state after some progress of a search that has this rate.
    pub(super) fn new(forecast: &mut Forecast, keys_per_second: f64, progress: &Progress) -> Self {
        let Progress { attempts, elapsed, .. } = *progress;
        let (now, tried) = (elapsed.as_secs_f64(), attempts as f64);
        let at = |reached: f64| {
            let is_over = reached < tried;
            if is_over { now * reached / tried } else { now + (reached - tried) / keys_per_second }
        };
        let times = |reached: Option<[f64; 2]>| {
            reached.map(|reached| reached.map(at)).filter(|times| times.iter().all(|time| time.is_finite()))
        };
        let (found, wanted) = forecast.found_of();
        let (named, number) = forecast.missing_patterns(NAMED);
        let more = (number > named.len() && !named.is_empty()).then(|| number - named.len());
        let names = named.iter().map(|pattern| escaped(pattern.text()).into_owned());
        let names = names.chain(more.map(|more| format!("{} more", grouped(more as u64))));
        Self {
            missing: (listed(&names.collect::<Vec<_>>(), "and"), number),
            is_encrypting: false,
            elapsed,
            attempts,
            keys_per_second,
            found,
            wanted,
            chance: forecast.chance_of_next(attempts),
            next: times(forecast.attempts_for_next()),
            chance_of_last: forecast.chance_of_last(attempts),
            last: times(forecast.attempts_for_last()),
        }
    }

    /// Returns the rate, the time, the chance and so on, the most important first.
    pub(super) fn parts(&self) -> Vec<Part> {
        let (found, wanted) = (grouped(self.found), grouped(self.wanted));
        if self.is_encrypting {
            return vec![vec![match self.wanted {
                1 => "encrypting the private key".to_owned(),
                _ => format!("encrypting, {found} of {wanted} kept"),
            }]];
        }
        let rate = rough(self.keys_per_second);
        let mut parts = vec![vec![format!("{rate} keys/s"), format!("{rate}/s")]];
        if self.wanted > 1 {
            parts.push(vec![format!("{found} of {wanted} found")]);
        }
        let (missing, number) = &self.missing;
        if self.found > 0 && *number <= NAMED && !missing.is_empty() {
            parts.push(vec![format!("missing {missing}")]);
        }
        parts.push(vec![format!("{} elapsed", clock(self.elapsed))]);
        let is_batch = self.last.is_some();
        parts.extend(self.chance_forms().map(Vec::from));
        let (which, times) = if is_batch { ("all: ", self.last) } else { ("", self.next) };
        let most =
            if !is_batch && self.chance.is_some_and(|chance| !chance.is_exact) { "at most " } else { "" };
        let times: Vec<String> =
            self.ahead(times).map(|(chance, at)| format!("{chance} within {most}{}", time(at))).collect();
        if let Some(first) = times.first() {
            parts.push(vec![format!("{which}{}", times.join(", ")), format!("{which}{first}")]);
        }
        parts
    }

    /// Returns the chance in words, the longest form first. `None` if no key is missing.
    pub(super) fn chance_forms(&self) -> Option<[String; 3]> {
        let hit = if self.wanted > 1 { "the next" } else { "a hit" };
        Some(match chance_text(self.chance?) {
            Some(chance) => [
                format!("{chance} chance of {hit} so far"),
                format!("{chance} chance so far"),
                format!("{chance} chance"),
            ],
            None => ["chance of a hit so far not known", "chance so far not known", "chance not known"]
                .map(|form| form.replace("a hit", hit)),
        })
    }

    /// Returns the chances that are not yet reached, with the times at which they are.
    fn ahead(&self, times: Option<[f64; 2]>) -> impl Iterator<Item = (&'static str, f64)> {
        let now = self.elapsed.as_secs_f64();
        ["50%", "95%"].into_iter().zip(times.into_iter().flatten()).filter(move |(_, time)| *time > now)
    }

    /// Returns lines about what a longer search would give. There are none if its chance was 95% or
    /// more, or is not known.
    pub(super) fn longer(&self) -> Vec<String> {
        let now = self.elapsed.as_secs_f64();
        let is_exact = self.chance.is_none_or(|chance| chance.is_exact);
        let more = |of: &str, times, most: &str| {
            let times = self.ahead(times);
            let times = times.map(|(chance, at)| format!("{chance} within {most}another {}", time(at - now)));
            let times: Vec<String> = times.collect();
            (!times.is_empty()).then(|| format!("{of}{}", times.join(", ")))
        };
        let next = if self.last.is_some() { "the next key: " } else { "a longer search: " };
        let next = more(next, self.next, if is_exact { "" } else { "at most " });
        next.into_iter().chain(more("all keys: ", self.last, "")).collect()
    }
}

/// The most missing patterns that are named.
const NAMED: usize = 3;

/// Formats a chance: as `37%` if it is exact, or else as `at least 37%`. Returns `None` if it is not
/// known.
pub(super) fn chance_text(chance: Chance) -> Option<String> {
    let Chance { at_least, at_most, is_exact, is_known } = chance;
    let (low, high) = (percent(at_least), percent(at_most));
    match () {
        () if !is_known => None,
        // Two bounds can look the same. The upper one is enough where the lower one is not shown.
        () if is_exact || low == high => Some(high),
        () if low.starts_with("below") => Some(format!("at most {high}")),
        () => Some(format!("at least {low}")),
    }
}

/// A progress line on stderr. In the background, it is not shown: the shell's prompt is there.
pub(super) struct ProgressLine {
    term: Term,
    /// Whether the cursor stays behind the line, so that what another process writes does not overwrite it.
    has_writers: bool,
    /// The parts of the line and the chance of its bar, after it was shown.
    shown: Option<(Vec<Part>, Option<f64>)>,
}

impl ProgressLine {
    /// Returns a progress line, or `None` if stderr is not a terminal that can move its cursor.
    /// `has_writers` is whether other processes write there, too.
    pub(super) fn new(has_writers: bool) -> Option<Self> {
        // All that one step writes reaches the terminal at once, so the line does not flicker.
        let term = Term::buffered_stderr();
        (term.is_term() && !is_dumb()).then_some(Self { term, has_writers, shown: None })
    }

    /// Shows as many of the parts as fit, and a bar of `chance` if there is room for it beside them.
    pub(super) fn show(&mut self, parts: Vec<Part>, chance: Option<f64>) {
        self.erase();
        self.shown = Some((parts, chance));
        self.draw();
    }

    /// Removes the line while `write` writes.
    pub(super) fn above<T>(&self, write: impl FnOnce() -> T) -> T {
        self.clear();
        let written = write();
        self.draw();
        written
    }

    /// Removes the line.
    pub(super) fn clear(&self) {
        self.erase();
        let _ = self.term.flush();
    }

    fn erase(&self) {
        if self.shown.is_some() && !is_in_background() {
            // What a person types has moved the cursor.
            let _ = self.term.write_str("\r").and_then(|()| self.term.clear_to_end_of_screen());
        }
    }

    fn draw(&self) {
        if let Some((parts, chance)) = &self.shown
            && !is_in_background()
        {
            // The window can have become narrower since the line was shown.
            let text = with_bar(parts, *chance, self.term.size().1);
            let back = if self.has_writers { "" } else { "\r" };
            let _ = self.term.write_str(&format!("{text}{back}"));
        }
        let _ = self.term.flush();
    }
}

/// A part of the line, in one form or in several, the longest first.
pub(super) type Part = Vec<String>;

/// The text between two parts.
const BETWEEN: &str = ", ";

pub(super) fn whole(parts: &[Part]) -> String {
    parts.iter().map(|part| part[0].as_str()).collect::<Vec<_>>().join(BETWEEN)
}

/// Returns as many of the parts as fit into a terminal with this number of columns, and a bar in
/// the rest of the line if it has room for one.
fn with_bar(parts: &[Part], chance: Option<f64>, columns: u16) -> String {
    let width = usize::from(columns.saturating_sub(MARGIN));
    let text = fitting(parts, width);
    let bar = width.saturating_sub(AROUND + text.len());
    let has_room = bar >= LEAST_BAR && text == whole(parts);
    let Some(chance) = chance.filter(|_| has_room) else { return text };
    let full = ((chance * bar as f64) as usize).min(bar);
    format!("{text} [{}{}]", "#".repeat(full), ".".repeat(bar - full))
}

/// Returns the parts that fit into `width` columns, the first ones first, and then their longest
/// forms that fit.
fn fitting(parts: &[Part], width: usize) -> String {
    let (mut shown, mut len) = (Vec::new(), 0);
    for part in parts {
        let text = part.last().map_or("", String::as_str);
        let more = text.len() + if shown.is_empty() { 0 } else { BETWEEN.len() };
        if len + more <= width {
            shown.push((part, text));
            len += more;
        }
    }
    for (part, text) in &mut shown {
        let room = width - len + text.len();
        if let Some(longer) = part.iter().find(|form| form.len() <= room) {
            len = len - text.len() + longer.len();
            *text = longer;
        }
    }
    shown.iter().map(|(_, text)| *text).collect::<Vec<_>>().join(BETWEEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Vec<Part> {
        let parts = [
            &["533,000 keys/s", "533,000/s"][..],
            &["3.0 s elapsed"],
            &["0.08% chance of a hit so far", "0.08% chance so far", "0.08% chance"],
            &["50% within 41 min, 95% within 3.0 h", "50% within 41 min"],
        ];
        parts.map(|forms| forms.iter().map(|form| (*form).to_owned()).collect()).into()
    }

    #[test]
    fn a_progress_line_never_wraps() {
        let all = "533,000 keys/s, 3.0 s elapsed, 0.08% chance of a hit so far, 50% within 41 min, 95% within 3.0 h";
        for (width, expected) in [
            (96, all),
            (95, "533,000 keys/s, 3.0 s elapsed, 0.08% chance of a hit so far, 50% within 41 min"),
            (73, "533,000 keys/s, 3.0 s elapsed, 0.08% chance so far, 50% within 41 min"),
            (57, "533,000/s, 3.0 s elapsed, 0.08% chance, 50% within 41 min"),
            (56, "533,000 keys/s, 3.0 s elapsed, 0.08% chance so far"),
            (38, "533,000/s, 3.0 s elapsed, 0.08% chance"),
            (29, "533,000 keys/s, 3.0 s elapsed"),
            (14, "533,000 keys/s"),
            (13, "533,000/s"),
            (3, ""),
        ] {
            assert_eq!(fitting(&parts(), width), expected);
        }
        assert_eq!(whole(&parts()), all);
    }

    #[test]
    fn a_chance_is_shown_as_far_as_it_is_known() {
        let chance = |at_least, at_most| Chance {
            at_least,
            at_most,
            is_exact: at_least == at_most,
            is_known: at_most <= 2.0 * at_least,
        };
        for (chance, shown) in [
            (chance(0.37, 0.37), Some("37%")),
            (chance(0.0, 0.0), Some("0%")),
            (chance(0.3, 0.5), Some("at least 30%")),
            (chance(1e-6, 1.5e-6), Some("below 0.01%")),
            (chance(0.9e-4, 1.8e-4), Some("at most 0.02%")),
            (chance(0.01, 0.4), None),
            (chance(1e-9, 1e-6), None),
        ] {
            assert_eq!(chance_text(chance).as_deref(), shown);
        }
    }

    #[test]
    fn a_bar_fills_the_rest_of_a_line_in_which_nothing_is_cut() {
        let whole = whole(&parts());
        let line = |chance, columns| with_bar(&parts(), chance, columns);
        assert_eq!(line(Some(0.5), 130), format!("{whole} [{}{}]", "#".repeat(14), ".".repeat(14)));
        assert!(line(Some(1.0), 200).ends_with("##]") && line(Some(0.0), 200).contains(" [.."));
        assert_eq!(line(Some(1.0), 200).len(), 197);
        assert_eq!(line(Some(0.5), 111), whole);
        for columns in [80, 60, 20, 3, 0] {
            assert!(
                !line(Some(0.5), columns).contains('[')
                    && line(Some(0.5), columns).len() + 3 <= columns.max(3).into()
            );
        }
        assert_eq!(line(None, 200), whole);
    }
}
