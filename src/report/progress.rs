//! The progress of a search: its state at one moment, and the line that shows it, which is rewritten
//! in place and may have a bar.
//!
//! A terminal prints `^C` at the cursor after Ctrl-C. After a line that fills the terminal, this
//! text would wrap, and the program could no longer clear the line. So the line is made for a
//! terminal that is a little narrower than the real one.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use super::forecast::Forecast;
use super::number::{clock, percent, rough, time};
use super::streams::is_dumb;
use crate::notice::grouped;
use crate::search::{Progress, Summary};
use crate::sys::is_in_background;
use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

/// The number of ticks of progress over which the shown rate is the mean.
const RATE_TICKS: usize = 30;

/// The number of columns that stay free.
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
    fn rate(&self, progress: &Progress) -> f64 {
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
    /// The chance that the next find would have been made by now, and whether it is exact. If not,
    /// it is a lower bound.
    pub(super) chance: Option<(f64, bool)>,
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
    /// Returns the state after some progress.
    pub(super) fn new(forecast: &mut Forecast, recent: &Recent, progress: &Progress) -> Self {
        Self::at_rate(forecast, recent.rate(progress), progress)
    }

    /// Returns the state at the end of a search, at its mean rate.
    pub(super) fn at_end(forecast: &mut Forecast, summary: &Summary) -> Self {
        Self::at_rate(forecast, summary.keys_per_second(), &summary.progress())
    }

    fn at_rate(forecast: &mut Forecast, keys_per_second: f64, progress: &Progress) -> Self {
        let Progress { attempts, elapsed } = *progress;
        let (now, tried) = (elapsed.as_secs_f64(), attempts as f64);
        let at = |reached: f64| {
            let is_over = reached < tried;
            if is_over { now * reached / tried } else { now + (reached - tried) / keys_per_second }
        };
        let times = |reached: Option<[f64; 2]>| {
            reached.map(|reached| reached.map(at)).filter(|times| times.iter().all(|time| time.is_finite()))
        };
        let (found, wanted) = forecast.found_of();
        Self {
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

    /// Returns the rate, the chance by now, and so on, the most important first.
    pub(super) fn parts(&self) -> Vec<Part> {
        let rate = rough(self.keys_per_second);
        let mut parts = vec![Part::of([format!("{rate} keys/s"), format!("{rate}/s")])];
        if self.wanted > 1 {
            parts.push(Part::of([format!("{} of {} found", grouped(self.found), grouped(self.wanted))]));
        }
        let is_batch = self.last.is_some();
        if let Some(chance) = self.chance {
            let chance = at_least_percent(chance);
            parts.push(if is_batch {
                Part::of([
                    format!("{chance} chance of the next by now"),
                    format!("{chance} chance of the next"),
                ])
            } else {
                let forms = [" chance of a hit by now", " chance by now", " chance"];
                Part::of(forms.map(|form| format!("{chance}{form}")))
            });
        }
        let (which, times) = if is_batch { ("all: ", self.last) } else { ("", self.next) };
        let times: Vec<String> =
            self.ahead(times).map(|(chance, at)| format!("{chance} by {}", time(at))).collect();
        if let Some(first) = times.first() {
            parts.push(Part::of([format!("{which}{}", times.join(", ")), format!("{which}{first}")]));
        }
        parts.push(Part::of([format!("{} elapsed", clock(self.elapsed))]));
        parts
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
        let more = |of: &str, times| {
            let times: Vec<_> = self.ahead(times).map(|(chance, at)| (chance, time(at - now))).collect();
            match &times[..] {
                [] => None,
                [(chance, time)] => Some(format!("{of}another {time} for a {chance} chance")),
                [(half, time), (most, longer), ..] => {
                    Some(format!("{of}another {time} for a {half} chance, {longer} for {most}"))
                }
            }
        };
        let next = more(if self.last.is_some() { "for the next key: " } else { "" }, self.next);
        next.into_iter().chain(more("for all keys: ", self.last)).collect()
    }
}

/// Formats a chance as `37%` if it is exact, or else as `at least 37%`.
pub(super) fn at_least_percent((chance, is_exact): (f64, bool)) -> String {
    format!("{}{}", if is_exact { "" } else { "at least " }, percent(chance))
}

/// A progress line on stderr.
pub(super) struct ProgressLine(ProgressBar);

impl ProgressLine {
    /// Returns a progress line, or `None` if stderr is not a terminal that can move its cursor.
    pub(super) fn new() -> Option<Self> {
        let term = Term::stderr();
        if !term.is_term() || is_dumb() {
            return None;
        }
        let style = ProgressStyle::with_template("{msg}").ok()?;
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(Narrower(term)), 10);
        Some(Self(ProgressBar::with_draw_target(None, target).with_style(style)))
    }

    /// Shows as many of the parts as fit, and a bar of `chance` if there is room for it beside them.
    pub(super) fn show(&self, parts: &[Part], chance: Option<f64>) {
        self.0.set_message(with_bar(parts, chance, Term::stderr().size().1));
    }

    /// Removes the line while `write` writes.
    pub(super) fn above<T>(&self, write: impl FnOnce() -> T) -> T {
        self.0.suspend(write)
    }

    /// Removes the line for good.
    pub(super) fn end(self) {
        self.0.finish_and_clear();
    }
}

/// A part of the line, in one form or in several, the longest first.
pub(super) struct Part(Vec<String>);

impl Part {
    /// Returns a part in several forms, the longest first.
    pub(super) fn of(forms: impl IntoIterator<Item = String>) -> Self {
        Self(forms.into_iter().collect())
    }

    fn longest(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }

    fn shortest(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }
}

/// The text between two parts.
const BETWEEN: &str = ", ";

pub(super) fn whole(parts: &[Part]) -> String {
    parts.iter().map(Part::longest).collect::<Vec<_>>().join(BETWEEN)
}

/// Returns as many of the parts as fit into a terminal with this number of columns, and a bar in
/// the rest of the line if it has room for one.
fn with_bar(parts: &[Part], chance: Option<f64>, columns: u16) -> String {
    let width = usize::from(columns.saturating_sub(MARGIN));
    let text = fitting(parts, width);
    let bar = width.saturating_sub(AROUND + text.len());
    let Some(chance) = chance.filter(|_| bar >= LEAST_BAR) else { return text };
    let full = ((chance * bar as f64) as usize).min(bar);
    format!("{text} [{}{}]", "#".repeat(full), ".".repeat(bar - full))
}

/// Returns the parts that fit into `width` columns, the first ones first, and then their longest
/// forms that fit.
fn fitting(parts: &[Part], width: usize) -> String {
    let (mut shown, mut len) = (Vec::new(), 0);
    for part in parts {
        let text = part.shortest();
        let more = text.len() + if shown.is_empty() { 0 } else { BETWEEN.len() };
        if len + more <= width {
            shown.push((part, text));
            len += more;
        }
    }
    for (part, text) in &mut shown {
        let room = width - len + text.len();
        if let Some(longer) = part.0.iter().find(|form| form.len() <= room) {
            len = len - text.len() + longer.len();
            *text = longer;
        }
    }
    shown.iter().map(|(_, text)| *text).collect::<Vec<_>>().join(BETWEEN)
}

/// A terminal without its last columns. In the background, nothing is written to it: the shell's prompt is
/// there.
#[derive(Debug)]
struct Narrower(Term);

impl TermLike for Narrower {
    fn width(&self) -> u16 {
        self.0.size().1.saturating_sub(MARGIN)
    }

    fn height(&self) -> u16 {
        self.0.size().0
    }

    fn move_cursor_up(&self, lines: usize) -> io::Result<()> {
        self.0.move_cursor_up(lines)
    }

    fn move_cursor_down(&self, lines: usize) -> io::Result<()> {
        self.0.move_cursor_down(lines)
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        self.0.move_cursor_right(columns)
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        self.0.move_cursor_left(columns)
    }

    fn write_line(&self, line: &str) -> io::Result<()> {
        if is_in_background() { Ok(()) } else { self.0.write_line(line) }
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        if is_in_background() { Ok(()) } else { self.0.write_str(text) }
    }

    fn clear_line(&self) -> io::Result<()> {
        if is_in_background() { Ok(()) } else { self.0.clear_line() }
    }

    fn flush(&self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Vec<Part> {
        let parts = [
            &["533,000 keys/s", "533,000/s"][..],
            &["0.08% chance of a hit by now", "0.08% chance by now", "0.08% chance"],
            &["50% by 41 min, 95% by 3.0 h", "50% by 41 min"],
            &["3.0 s elapsed"],
        ];
        parts.map(|forms| Part::of(forms.iter().map(|form| (*form).to_owned()))).into()
    }

    #[test]
    fn a_progress_line_never_wraps() {
        for (width, expected) in [
            (88, "533,000 keys/s, 0.08% chance of a hit by now, 50% by 41 min, 95% by 3.0 h, 3.0 s elapsed"),
            (77, "533,000 keys/s, 0.08% chance of a hit by now, 50% by 41 min, 3.0 s elapsed"),
            (65, "533,000 keys/s, 0.08% chance by now, 50% by 41 min, 3.0 s elapsed"),
            (57, "533,000/s, 0.08% chance, 50% by 41 min, 3.0 s elapsed"),
            (44, "533,000 keys/s, 0.08% chance, 50% by 41 min"),
            (23, "533,000/s, 0.08% chance"),
            (14, "533,000 keys/s"),
            (13, "533,000/s"),
            (3, ""),
        ] {
            assert_eq!(fitting(&parts(), width), expected);
        }
        assert_eq!(whole(&parts()), fitting(&parts(), 88));
    }

    #[test]
    fn a_bar_fills_the_rest_of_a_line_in_which_nothing_is_cut() {
        let whole = whole(&parts());
        let line = |chance, columns| with_bar(&parts(), chance, columns);
        assert_eq!(line(Some(0.5), 120), format!("{whole} [{}{}]", "#".repeat(13), ".".repeat(13)));
        assert!(line(Some(1.0), 200).ends_with("##]") && line(Some(0.0), 200).contains(" [.."));
        assert_eq!(line(Some(1.0), 200).len(), 197);
        assert_eq!(line(Some(0.5), 103), whole);
        for columns in [80, 60, 20, 3, 0] {
            assert!(
                !line(Some(0.5), columns).contains('[')
                    && line(Some(0.5), columns).len() + 3 <= columns.max(3).into()
            );
        }
        assert_eq!(line(None, 200), whole);
    }
}
