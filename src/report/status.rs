//! The state of a search at one moment, as the progress line, a line of text, or JSON shows it.

use std::collections::VecDeque;
use std::time::Duration;

use super::forecast::Forecast;
use super::number::{clock, percent, rough, time};
use super::progress_line::Part;
use crate::notice::grouped;
use crate::search::{Progress, Summary};

/// The number of ticks of progress over which the shown rate is the mean.
const RATE_TICKS: usize = 30;

/// The chance whose time is shown alone if there is little room.
const HALF: &str = "50%";

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
        let (keys, time) = first.map_or((progress.attempts, progress.elapsed), |first| {
            (progress.attempts - first.attempts, progress.elapsed - first.elapsed)
        });
        keys as f64 / time.as_secs_f64().max(1e-9)
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
        let Summary { attempts, elapsed, .. } = *summary;
        Self::at_rate(forecast, summary.keys_per_second(), &Progress { attempts, elapsed })
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

    /// Returns the chance by now, the rate, and so on, the most important first.
    pub(super) fn parts(&self) -> Vec<Part> {
        let rate = rough(self.keys_per_second);
        let mut parts = vec![Part::of([format!("{rate} keys/s"), format!("{rate}/s")])];
        let is_batch = self.last.is_some();
        if let Some(chance) = self.chance {
            let chance = at_least_percent(chance);
            let which = if is_batch { " of the next" } else { "" };
            let [long, short] = [" by now", ""].map(|by| format!("{chance} chance{which}{by}"));
            parts.push(Part::of([long, short, chance]));
        }
        if self.wanted > 1 {
            parts.push(format!("{} of {} found", grouped(self.found), grouped(self.wanted)).into());
        }
        if is_batch {
            parts.extend(self.part("next", self.next));
            parts.extend(self.part("last", self.last));
        } else {
            parts
                .extend(self.ahead(self.next).map(|(chance, at)| format!("{chance} by {}", time(at)).into()));
        }
        parts.extend(self.chance_of_last.map(|chance| {
            let chance = percent(chance);
            let most = if chance.starts_with("below") { "" } else { "at most " };
            format!("{most}{chance} of the last").into()
        }));
        parts.push(format!("{} tried", rough(self.attempts as f64)).into());
        parts.push(clock(self.elapsed).into());
        parts
    }

    /// Returns the part about the next key of several or the last one.
    fn part(&self, name: &str, times: Option<[f64; 2]>) -> Option<Part> {
        let ahead: Vec<_> = self.ahead(times).collect();
        let long: Vec<String> =
            ahead.iter().map(|(chance, at)| format!("{chance} by {}", time(*at))).collect();
        let (chance, at) = ahead.first()?;
        let chance = if *chance == HALF { String::new() } else { format!(" {chance}") };
        Some(Part::of([format!("{name}: {}", long.join(", ")), format!("{name}{chance} by {}", time(*at))]))
    }

    /// Returns the chances that are not yet reached, with the times at which they are.
    fn ahead(&self, times: Option<[f64; 2]>) -> impl Iterator<Item = (&'static str, f64)> {
        let now = self.elapsed.as_secs_f64();
        [HALF, "95%"].into_iter().zip(times.into_iter().flatten()).filter(move |(_, time)| *time > now)
    }

    /// Returns what a longer search would have given. `None` if its chance was 95% or more, or is
    /// not known.
    pub(super) fn longer(&self) -> Option<String> {
        let now = self.elapsed.as_secs_f64();
        let more = |times| {
            let mut would = " would have taken";
            let more = self.ahead(times).map(|(chance, at)| {
                format!("{chance}{} {} more", std::mem::take(&mut would), time(at - now))
            });
            Some(more.collect::<Vec<_>>().join(", ")).filter(|more| !more.is_empty())
        };
        match (more(self.next), more(self.last)) {
            (next, None) => next,
            (None, Some(last)) => Some(format!("for all of them, {last}")),
            (Some(next), Some(last)) => Some(format!("for the next one, {next}; for all of them, {last}")),
        }
    }
}

/// Formats a chance as `37%` if it is exact, or else as `at least 37%`.
pub(super) fn at_least_percent((chance, is_exact): (f64, bool)) -> String {
    format!("{}{}", if is_exact { "" } else { "at least " }, percent(chance))
}
