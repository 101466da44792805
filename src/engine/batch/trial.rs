//! A trial: two settings take turns, and the one that needs less time for a key wins.
//!
//! The settings alternate, so a machine whose speed drifts favours neither. A turn begins with
//! batches that do not count: they fill the caches with the entries of its table. Then it goes on
//! until it has enough figures.

use std::time::Duration;

/// Which of the two settings is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Best,
    Challenger,
}

/// The shortest time that counts in a turn.
const TURN: Duration = Duration::from_millis(15);

/// The fewest batches that count in a turn.
const FIGURES: usize = 3;

/// How often the entries of a table are read before the batches of a turn count, as a multiple of
/// their number. By then six of seven entries were read.
const READS: usize = 2;

/// The longest time until the batches of a turn count.
const LONGEST_WARM_UP: Duration = Duration::from_millis(60);

/// After each pair of turns, the difference that decides the trial. Differences below the last one
/// are noise, and the best setting stays.
const DECISIVE: [f64; 3] = [0.08, 0.03, 0.005];

/// The part of the figures that counts, the fastest ones. Other programs slowed the others down.
const COUNTED: f64 = 0.5;

/// A trial that is not decided yet.
#[derive(Debug)]
pub(super) struct Trial {
    side: Side,
    /// The numbers of entries of both tables.
    entries: [usize; 2],
    /// The nanoseconds for each key, of the batches that count.
    figures: [Vec<f64>; 2],
    /// How many entries were read in this turn.
    read: usize,
    /// The number of figures of this turn.
    counted: usize,
    /// When the batches of this turn began to count.
    warm_at: Duration,
    /// The number of turns that are over.
    turns: usize,
}

/// What follows from a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// The turn goes on.
    Continue,
    /// The other setting takes its turn.
    OtherSide,
    /// The trial is over. `true` if the challenger is faster.
    Over(bool),
}

impl Trial {
    /// Returns a trial whose first turn is that of the challenger. `entries` are the numbers of
    /// entries of the tables.
    pub(super) fn new(best: usize, challenger: usize) -> Self {
        Self {
            side: Side::Challenger,
            entries: [best, challenger],
            figures: [Vec::new(), Vec::new()],
            read: 0,
            counted: 0,
            warm_at: Duration::ZERO,
            turns: 0,
        }
    }

    /// Returns the setting whose turn it is.
    pub(super) fn side(&self) -> Side {
        self.side
    }

    /// Counts a batch of the setting whose turn it is: its keys, its reads of the table, and the
    /// time that one worker took. `now` is the time since the turn began.
    pub(super) fn count(&mut self, keys: usize, reads: usize, time: Duration, now: Duration) -> Next {
        let is_warm = self.read >= READS * self.entries[self.side as usize] || now >= LONGEST_WARM_UP;
        self.read += reads;
        if !is_warm {
            self.warm_at = now;
            return Next::Continue;
        }
        self.figures[self.side as usize].push(time.as_secs_f64() * 1e9 / keys as f64);
        self.counted += 1;
        if self.counted < FIGURES || now < self.warm_at + TURN {
            return Next::Continue;
        }
        self.turns += 1;
        (self.read, self.counted, self.warm_at) = (0, 0, Duration::ZERO);
        self.side = if self.side == Side::Best { Side::Challenger } else { Side::Best };
        if self.turns.is_multiple_of(2)
            && let Some(verdict) = self.verdict()
        {
            return Next::Over(verdict);
        }
        Next::OtherSide
    }

    /// Returns whether the challenger is faster, or `None` if the difference is too small for the
    /// number of turns so far.
    fn verdict(&self) -> Option<bool> {
        let [best, challenger] = &self.figures;
        let ratio = typical(challenger) / typical(best);
        let pairs = self.turns / 2;
        let decisive = DECISIVE[pairs.min(DECISIVE.len()) - 1];
        if (ratio - 1.0).abs() > decisive {
            Some(ratio < 1.0)
        } else {
            (pairs >= DECISIVE.len()).then_some(false)
        }
    }
}

/// Returns the mean of the fastest half of the figures.
fn typical(figures: &[f64]) -> f64 {
    let mut figures = figures.to_vec();
    figures.sort_by(f64::total_cmp);
    let counted = (figures.len() as f64 * COUNTED).ceil() as usize;
    figures[..counted].iter().sum::<f64>() / counted as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: usize = 1000;

    /// Runs a trial in which a key takes a time of `cost(side, number of the batch)`, in
    /// nanoseconds. Returns the verdict and the number of turns.
    fn judge(mut trial: Trial, mut cost: impl FnMut(Side, usize) -> f64) -> (bool, usize) {
        let mut now = Duration::ZERO;
        for batch in 0.. {
            let time = Duration::from_nanos((cost(trial.side(), batch) * KEYS as f64) as u64);
            now += time;
            match trial.count(KEYS, 16 * KEYS, time, now) {
                Next::Continue => {}
                Next::OtherSide => now = Duration::ZERO,
                Next::Over(is_faster) => return (is_faster, trial.turns),
            }
        }
        unreachable!("a trial ends")
    }

    fn constant(best: f64, challenger: f64) -> impl FnMut(Side, usize) -> f64 {
        move |side, _| if side == Side::Best { best } else { challenger }
    }

    #[test]
    fn a_large_difference_is_decided_at_once_and_a_small_one_takes_longer() {
        let trial = || Trial::new(1000, 1000);
        assert_eq!(judge(trial(), constant(300.0, 200.0)), (true, 2));
        assert_eq!(judge(trial(), constant(200.0, 300.0)), (false, 2));
        assert_eq!(judge(trial(), constant(300.0, 286.0)), (true, 4));
        assert_eq!(judge(trial(), constant(300.0, 296.0)), (true, 6));
        assert_eq!(judge(trial(), constant(300.0, 299.0)), (false, 6), "that is noise");
        assert_eq!(judge(trial(), constant(300.0, 304.0)), (false, 6));
    }

    #[test]
    fn interrupted_batches_do_not_count() {
        let mut alike = constant(300.0, 280.0);
        let interrupted = |side, batch: usize| {
            let factor = if side == Side::Challenger && batch.is_multiple_of(8) { 10.0 } else { 1.0 };
            factor * alike(side, batch)
        };
        assert!(judge(Trial::new(1000, 1000), interrupted).0);
    }

    #[test]
    fn a_machine_that_slows_down_favours_neither() {
        let slower = |factor: f64| {
            move |side, batch: usize| {
                let drift = 1.0 + batch as f64 / 2000.0;
                drift * if side == Side::Best { 300.0 } else { 300.0 * factor }
            }
        };
        assert!(judge(Trial::new(1000, 1000), slower(0.95)).0);
        assert!(!judge(Trial::new(1000, 1000), slower(1.05)).0);
    }

    #[test]
    fn batches_count_when_the_caches_hold_the_table() {
        let entries = 1_000_000;
        // Until the table was read, a key of the challenger takes longer.
        let cold_until_read = |cold: f64| {
            let (mut read, mut last) = (0, Side::Challenger);
            move |side, _| {
                read = if side == last { read + 16 * KEYS } else { 16 * KEYS };
                last = side;
                match side {
                    Side::Best => 300.0,
                    Side::Challenger if read <= 2 * entries => cold,
                    Side::Challenger => 250.0,
                }
            }
        };
        assert!(!judge(Trial::new(1000, 1000), cold_until_read(1000.0)).0, "without a warm-up it loses");
        assert!(judge(Trial::new(1000, entries), cold_until_read(400.0)).0);
    }
}
