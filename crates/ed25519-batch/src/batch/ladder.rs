//! The choice of a table while a search runs.
//!
//! A large table needs fewer additions for a key, and a small one lies in a faster cache. No size of
//! a cache that a machine reports says which one is the fastest. The tables are a ladder, with the
//! smallest one at the bottom:
//!
//! 1. *Climb*: each table is used as soon as it is built, up to the largest one. On almost every
//!    machine that one is the fastest, or within 3 % of it.
//! 2. *Compare*: the table in use and a neighbor of it take turns. If the neighbor wins, it is used,
//!    and the next one in the same direction is compared at once.
//! 3. *Rest*, and then compare again: each rest is twice as long as the one before, and after a win
//!    they begin again. So no mistake is final, and other programs come and go.
//!
//! Other programs slow a search down in bursts that are longer than a turn and shorter than a
//! comparison. So each turn of the neighbor is compared with the turns before and after it, and the
//! median of these pairs decides.

use std::time::Duration;

/// The turns of the neighbor in a comparison.
pub const PAIRS: usize = 5;

/// The logarithm of the ratio of costs by which a neighbor must be better. A smaller difference
/// gains too little for the risk that it is noise.
const LEAST_GAIN: f64 = 0.01;

/// How long the parts of a search take.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// The part of each turn that fills the caches, and the part that counts.
    pub turn: [Duration; 2],
    /// The first rest and the longest one. `None` if nothing is compared again.
    pub rests: Option<[Duration; 2]>,
}

/// The tables that may be used, and what is known of them. All times are since any one moment.
#[derive(Clone, Debug)]
pub struct Ladder {
    /// The number of windows of each table, the smallest table first.
    rungs: Vec<usize>,
    /// The rung of the best table so far.
    best: usize,
    /// What happens next.
    pub step: Step,
    schedule: Schedule,
    rest: Duration,
    is_settled: bool,
    /// Whether the last neighbor was the larger one.
    was_larger: bool,
}

/// What a ladder does.
#[derive(Clone, Debug)]
pub enum Step {
    /// The next larger table is needed, and then used.
    Climb,
    /// The table of this rung is needed, and then compared with the best one.
    Need(usize),
    /// The table of this rung takes turns with the best one.
    Compare(usize, Comparison),
    /// Nothing is compared until this time.
    Rest(Duration),
}

impl Ladder {
    /// Returns a ladder of tables with these numbers of windows, the smallest table first. That one
    /// exists.
    #[must_use]
    pub fn new(rungs: Vec<usize>, schedule: Schedule) -> Self {
        let rest = schedule.rests.map_or(Duration::MAX, |[first, _]| first);
        let mut ladder =
            Self { rungs, best: 0, step: Step::Climb, schedule, rest, is_settled: false, was_larger: true };
        ladder.climb();
        ladder
    }

    /// Returns the number of windows of the best table so far.
    #[must_use]
    pub fn best(&self) -> usize {
        self.rungs[self.best]
    }

    /// Returns the number of windows of the table to use now.
    #[must_use]
    pub fn current(&self) -> usize {
        match &self.step {
            Step::Compare(rival, comparison) if comparison.is_turn_of_rival() => self.rungs[*rival],
            _ => self.best(),
        }
    }

    /// Returns whether a table is used, or will be used next.
    #[must_use]
    pub fn needs(&self, windows: usize) -> bool {
        let next = match self.step {
            Step::Climb => Some(self.best + 1),
            Step::Need(rival) | Step::Compare(rival, _) => Some(rival),
            Step::Rest(_) => None,
        };
        windows == self.best() || next.is_some_and(|next| windows == self.rungs[next])
    }

    /// Returns the number of windows of a table that must be built, if there is one. Takes those that
    /// exist into use.
    pub fn missing(&mut self, now: Duration, exists: impl Fn(usize) -> bool) -> Option<usize> {
        loop {
            let windows = self.wanted(now)?;
            if !exists(windows) {
                return Some(windows);
            }
            self.take(now);
        }
    }

    /// Returns the number of windows of a table that must exist before the search goes on.
    fn wanted(&mut self, now: Duration) -> Option<usize> {
        if matches!(self.step, Step::Rest(until) if until <= now) {
            self.was_larger = !self.was_larger;
            let larger = (self.best + 1 < self.rungs.len()).then_some(self.best + 1);
            let smaller = self.best.checked_sub(1);
            let rival = if self.was_larger { larger.or(smaller) } else { smaller.or(larger) };
            self.step = rival.map_or(Step::Rest(Duration::MAX), Step::Need);
        }
        match self.step {
            Step::Climb => Some(self.rungs[self.best + 1]),
            Step::Need(rival) => Some(self.rungs[rival]),
            Step::Compare(..) | Step::Rest(_) => None,
        }
    }

    /// Uses the table of [`Self::wanted`].
    fn take(&mut self, now: Duration) {
        match self.step {
            Step::Climb => {
                self.best += 1;
                self.climb();
            }
            Step::Need(rival) => self.step = Step::Compare(rival, Comparison::new(now)),
            Step::Compare(..) | Step::Rest(_) => {}
        }
    }

    /// Leaves out the table that is missing: it cannot be built, and is never wanted again.
    pub fn give_up(&mut self, now: Duration) {
        match self.step {
            Step::Climb => {
                self.rungs.remove(self.best + 1);
                self.climb();
            }
            Step::Need(rival) => {
                self.rungs.remove(rival);
                self.best -= usize::from(rival < self.best);
                self.rest(now);
            }
            Step::Compare(..) | Step::Rest(_) => {}
        }
    }

    /// Counts a batch of the current table, which ends now: its keys, and the time that they took.
    pub fn count(&mut self, keys: usize, time: Duration, now: Duration) {
        let Step::Compare(rival, comparison) = &mut self.step else { return };
        let rival = *rival;
        match comparison.count(keys, time, now, self.schedule.turn) {
            Some(true) => {
                let beyond = (2 * rival).checked_sub(self.best).filter(|next| *next < self.rungs.len());
                self.best = rival;
                self.rest = self.schedule.rests.map_or(Duration::MAX, |[first, _]| first);
                match beyond {
                    Some(next) => self.step = Step::Need(next),
                    None => self.rest(now),
                }
            }
            Some(false) => self.rest(now),
            None => {}
        }
    }

    /// Returns whether the best table was compared with its neighbors.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// Climbs, or compares the two largest tables.
    fn climb(&mut self) {
        if self.best + 1 < self.rungs.len() {
            self.step = Step::Climb;
        } else if let Some(smaller) = self.best.checked_sub(1) {
            self.step = Step::Need(smaller);
        } else {
            (self.step, self.is_settled) = (Step::Rest(Duration::MAX), true);
        }
    }

    fn rest(&mut self, now: Duration) {
        (self.step, self.is_settled) = (Step::Rest(now.saturating_add(self.rest)), true);
        self.rest = self.schedule.rests.map_or(Duration::MAX, |[_, longest]| longest.min(2 * self.rest));
    }
}

/// Turns of two tables, the first and the last of the best one.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// When the current turn began.
    began: Duration,
    /// The keys of this turn that count, and the time that they took.
    keys: usize,
    time: Duration,
    /// The logarithm of the time of a key in each turn.
    pub costs: Vec<f64>,
}

impl Comparison {
    /// Begins a comparison, and its first turn.
    #[must_use]
    pub fn new(now: Duration) -> Self {
        Self { began: now, keys: 0, time: Duration::ZERO, costs: Vec::new() }
    }

    fn is_turn_of_rival(&self) -> bool {
        self.costs.len() % 2 == 1
    }

    /// Counts a batch. Returns whether the rival wins, or `None` while turns are left.
    fn count(&mut self, keys: usize, time: Duration, now: Duration, turn: [Duration; 2]) -> Option<bool> {
        let [filling, counted] = turn;
        let age = now.saturating_sub(self.began);
        if age < filling {
            return None;
        }
        self.keys += keys;
        self.time += time;
        if age < filling + counted {
            return None;
        }
        self.costs.push((self.time.as_secs_f64() / self.keys as f64).ln());
        *self = Self { costs: std::mem::take(&mut self.costs), ..Self::new(now) };
        self.verdict()
    }

    /// Returns whether the rival wins, or `None` while turns are left.
    #[must_use]
    pub fn verdict(&self) -> Option<bool> {
        if self.costs.len() <= 2 * PAIRS {
            return None;
        }
        let difference = |turns: &[f64]| turns[1] - f64::midpoint(turns[0], turns[2]);
        let mut differences: Vec<f64> = self.costs.windows(3).step_by(2).map(difference).collect();
        differences.sort_by(f64::total_cmp);
        Some(differences[PAIRS / 2] < -LEAST_GAIN)
    }
}
