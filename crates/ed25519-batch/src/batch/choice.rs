//! The choice of the fastest table while a search runs.
//!
//! No cache size that a machine reports, and no figure from another machine, says which table is
//! the fastest. Other programs come and go, and what they do to the caches changes the answer. So a
//! search begins with a small table and compares its own batches with each size (best-arm
//! identification):
//!
//! 1. *Sweep*: every second one of the larger sizes challenges the best one so far, up to the
//!    largest, and then those near the best one. No loss ends the sweep.
//! 2. *Rounds*: the neighbors of the best one challenge it again after 1, 2 and then every 4
//!    seconds. After a win the pauses begin again. If the cost of a key changes, a round begins at
//!    once, and tries the sizes beyond the neighbors, too.
//!
//! So no mistake is final. Challengers that do not win take less than 2 % of the time in the long
//! run. The module `simulation` shows what this achieves.

use std::collections::VecDeque;
use std::time::Duration;

use super::duel::{Duel, Next, Side, Timing, median};
use super::sizes::Sizes;

/// The pause before the first round. Each pause is twice as long as the one before, up to
/// [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_secs(1);

const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// The time that may be spent on challengers that do not win: some time at the beginning, and a
/// share of all time. First that of ordinary rounds, then that of rounds after a change of the
/// machine.
const ALLOWED: [(Duration, f64); 2] =
    [(Duration::from_millis(100), 0.012), (Duration::from_millis(350), 0.005)];

/// How often the cost of a key is watched while nothing is tried, and the number of costs that are
/// compared.
const WATCH: Duration = Duration::from_millis(100);
const WATCHED: usize = 9;

/// The logarithm of a ratio of costs that counts as a change of the machine.
const CHANGE: f64 = 0.05;

/// The fewest pairs with which a challenger wins after the sweep.
const LEAST_PAIRS: usize = 3;

/// The place of a size in the list of sizes.
type Place = usize;

/// What the workers do.
#[derive(Clone, Debug)]
enum Phase {
    /// The table of a challenger is needed.
    Waiting(Place),
    /// A challenger takes turns with the best size.
    Trying(Place, Duel),
    /// Nothing is tried until this time, unless the cost of a key changes.
    Resting(Duration),
}

/// What is known, and what is tried. All times are since the start.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    sizes: Sizes,
    best: Place,
    phase: Phase,
    /// When the current turn began.
    turn_began: Duration,
    /// When the current challenger was chosen.
    chosen_at: Duration,
    /// The challengers of the sweep, the next one last.
    sweep: Vec<Place>,
    /// When each size was tried last.
    tried_at: Vec<Option<Duration>>,
    /// The time that the workers have worked, and when they were seen last. A search may be stopped
    /// and go on later.
    worked: Duration,
    seen_at: Duration,
    /// What they had worked when the sweep was over.
    settled_at: Option<Duration>,
    /// When the current round began.
    round_began: Duration,
    /// The time that was spent on challengers that did not win, as for [`ALLOWED`].
    spent: [Duration; 2],
    /// The same before the current challenger was chosen.
    spent_before: [Duration; 2],
    pause: Duration,
    watch: Watch,
    /// Whether the current round began because the machine has changed.
    has_changed: bool,
}

/// The costs of a key with the best size while nothing is tried.
#[derive(Clone, Debug, Default)]
struct Watch {
    /// The first costs, and the latest ones.
    first: Vec<f64>,
    latest: VecDeque<f64>,
    /// When the latest one was taken.
    taken_at: Duration,
}

impl Watch {
    /// Takes a cost. Returns whether the costs have changed.
    fn take(&mut self, cost: f64, now: Duration) -> bool {
        self.taken_at = now;
        if self.first.len() < WATCHED {
            self.first.push(cost);
            return false;
        }
        self.latest.push_back(cost);
        if self.latest.len() > WATCHED {
            self.latest.pop_front();
        }
        let change = || median(self.latest.iter().copied().collect()) - median(self.first.clone());
        self.latest.len() == WATCHED && change().abs() > CHANGE
    }
}

impl Choice {
    /// Returns the choice at the start of a search. The first table exists.
    pub(super) fn new(sizes: Sizes) -> Self {
        let first = sizes.first;
        let largest = sizes.each.len() - 1;
        let sweep: Vec<Place> =
            (first + 1..=largest).rev().filter(|place| (largest - place).is_multiple_of(2)).collect();
        let mut choice = Self {
            tried_at: vec![None; sizes.each.len()],
            best: first,
            phase: Phase::Resting(Duration::ZERO),
            turn_began: Duration::ZERO,
            chosen_at: Duration::ZERO,
            sweep,
            worked: Duration::ZERO,
            seen_at: Duration::ZERO,
            settled_at: None,
            round_began: Duration::ZERO,
            spent: [Duration::ZERO; 2],
            spent_before: [Duration::ZERO; 2],
            pause: FIRST_PAUSE,
            watch: Watch::default(),
            has_changed: false,
            sizes,
        };
        choice.go_on(Duration::ZERO);
        choice
    }

    pub(super) fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// Returns the fastest size so far.
    pub(super) fn best(&self) -> Place {
        self.best
    }

    /// Returns the size that is used now.
    pub(super) fn current(&self) -> Place {
        match &self.phase {
            Phase::Trying(challenger, duel) if duel.side() == Side::Challenger => *challenger,
            _ => self.best,
        }
    }

    /// Returns the size whose table must be built or found.
    pub(super) fn wanted(&self) -> Option<Place> {
        if let Phase::Waiting(challenger) = self.phase { Some(challenger) } else { None }
    }

    /// Returns whether the sweep is over. What is tried afterwards rarely changes the rate.
    pub(super) fn is_settled(&self) -> bool {
        self.settled_at.is_some()
    }

    /// Returns when the next batch counts. `None` if every batch does.
    pub(super) fn due(&self) -> Option<Duration> {
        self.rests_until().map(|until| until.min(self.watch.taken_at + WATCH))
    }

    /// Returns the time until which nothing is tried.
    pub(super) fn rests_until(&self) -> Option<Duration> {
        if let Phase::Resting(until) = self.phase { Some(until) } else { None }
    }

    /// Begins the next duel if the rest is over.
    pub(super) fn wake(&mut self, now: Duration) {
        if matches!(self.phase, Phase::Resting(until) if until <= now) {
            self.round_began = now;
            self.go_on(now);
        }
    }

    /// Takes the news that the table of [`Self::wanted`] exists.
    pub(super) fn begin(&mut self, now: Duration) {
        if let Phase::Waiting(challenger) = self.phase {
            let [incumbent, entries] = [self.best, challenger].map(|place| self.sizes.each[place].entries());
            let least_pairs = if self.is_settled() { LEAST_PAIRS } else { 1 };
            self.phase = Phase::Trying(challenger, Duel::new(incumbent, entries, least_pairs));
            self.spend(self.chosen_at, now);
            self.turn_began = now;
        }
    }

    /// Takes the news that there can be no table of [`Self::wanted`]: it is never wanted again.
    pub(super) fn give_up(&mut self, now: Duration) {
        if let Phase::Waiting(challenger) = self.phase {
            self.tried_at[challenger] = Some(Duration::MAX);
            self.go_on(now);
        }
    }

    /// Counts a batch of the current size. Returns whether another turn begins.
    pub(super) fn count(&mut self, batch: Timing, now: Duration) -> bool {
        self.worked += now.saturating_sub(self.seen_at).min(2 * WATCH);
        self.seen_at = now;
        let place = self.current();
        if let Phase::Resting(_) = self.phase {
            let has_changed = now >= self.watch.taken_at + WATCH && self.watch.take(batch.cost(), now);
            if has_changed {
                self.watch = Watch::default();
                self.has_changed = true;
                (self.pause, self.phase) = (FIRST_PAUSE, Phase::Resting(now));
                self.wake(now);
            }
            return has_changed;
        }
        let Phase::Trying(challenger, duel) = &mut self.phase else { return false };
        let (challenger, side, began) = (*challenger, duel.side(), self.turn_began);
        let reads = batch.keys * self.sizes.each[place].windows;
        let next = duel.count(batch, reads, now.saturating_sub(began));
        if next == Next::Continue {
            return false;
        }
        self.turn_began = now;
        if side == Side::Challenger {
            self.spend(began, now);
        }
        if let Next::Over(wins) = next {
            self.end_duel(challenger, wins, now);
        }
        true
    }

    /// Counts a time in which the best size was not used.
    fn spend(&mut self, began: Duration, now: Duration) {
        if self.is_settled() {
            self.spent[usize::from(self.has_changed)] += now.saturating_sub(began);
        }
    }

    fn end_duel(&mut self, challenger: Place, wins: bool, now: Duration) {
        self.tried_at[challenger] = Some(now);
        if wins {
            // Its turns were no loss.
            self.spent = self.spent_before;
            self.tried_at[self.best] = Some(now);
            self.best = challenger;
            self.watch = Watch::default();
            if self.is_settled() {
                // What was known of other sizes was known of another best one.
                (self.pause, self.round_began) = (FIRST_PAUSE, now);
            }
        }
        self.go_on(now);
    }

    /// Chooses the next challenger, or a time of rest.
    fn go_on(&mut self, now: Duration) {
        (self.chosen_at, self.spent_before) = (now, self.spent);
        while let Some(challenger) = self.sweep.pop() {
            if self.tried_at[challenger].is_none() {
                self.phase = Phase::Waiting(challenger);
                return;
            }
        }
        if self.settled_at.is_none() {
            // The neighbors challenge the best size once before it counts as found.
            if let Some(challenger) = self.next_in_round(|tried_at| tried_at.is_none()) {
                self.phase = Phase::Waiting(challenger);
                return;
            }
            (self.settled_at, self.round_began) = (Some(self.worked), now);
            self.phase = Phase::Resting(now + self.pause);
            return;
        }
        let (credit, share) = ALLOWED[usize::from(self.has_changed)];
        let since = self.worked - self.settled_at.unwrap_or(self.worked);
        let allowed = credit + since.mul_f64(share);
        let began = self.round_began;
        let next = self.next_in_round(|tried_at| tried_at.is_none_or(|at| at < began));
        self.phase = match next {
            Some(challenger) if self.spent[usize::from(self.has_changed)] < allowed => {
                Phase::Waiting(challenger)
            }
            _ => {
                let rest = Phase::Resting(now + self.pause);
                self.pause = (2 * self.pause).min(LONGEST_PAUSE);
                self.has_changed = false;
                rest
            }
        };
    }

    /// Returns the size near the best one that was not tried for the longest time, if it `may`
    /// challenge.
    fn next_in_round(&self, may: impl Fn(Option<Duration>) -> bool) -> Option<Place> {
        let reach = if self.is_settled() && !self.has_changed { 1 } else { 2 };
        let near = self.best.saturating_sub(reach)..self.sizes.each.len().min(self.best + reach + 1);
        let open = near.filter(|&place| place != self.best && may(self.tried_at[place]));
        // A program that comes slows large tables down, and the cost of a key shows it. The end of such
        // a program may not show.
        open.min_by_key(|&place| (self.best.abs_diff(place), (place > self.best) == self.has_changed))
    }

    /// Returns the share of the time that was spent on challengers that did not win.
    #[cfg(test)]
    pub(super) fn share_spent(&self) -> f64 {
        let since = self.worked - self.settled_at.unwrap_or_default();
        (self.spent[0] + self.spent[1]).as_secs_f64() / since.as_secs_f64()
    }
}
