//! A duel: two tables take turns, and the one that needs less time for a key wins.
//!
//! Other programs slow a search down in bursts, which can be longer than a turn and shorter than a
//! duel. Two figures, which fail in different ways, must agree before the challenger wins:
//!
//! - The median of pairs. Each turn of the challenger is compared with the turns of the incumbent
//!   before and after it. A burst that covers whole pairs, or a slow drift, changes nothing.
//! - The fast batches of the whole duel. A burst that covers some turns changes nothing.

use std::time::Duration;

/// Which of the two tables is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Incumbent,
    Challenger,
}

/// The shortest time that counts in a turn.
const TURN: Duration = Duration::from_millis(10);

/// The fewest batches that count in a turn.
const FIGURES: usize = 3;

/// How often the entries of a table are read before the batches of a turn count, as a multiple of
/// their number. By then six of seven entries were read.
const READS: usize = 2;

/// The most reads until the batches of a turn count. More would replace what a cache of 64 MB holds.
const MOST_READS: usize = 1 << 20;

/// The longest time until the batches of a turn count.
const LONGEST_WARM_UP: Duration = Duration::from_millis(150);

/// The place of the batch that counts among the batches of a turn or a duel, from the fastest to
/// the slowest. Slower ones were interrupted, and the yardstick of the fastest ones was.
const FAST: f64 = 0.3;

/// The logarithm of a ratio of costs by which a challenger must be better. A smaller difference
/// gains too little for the risk that it is noise.
const LEAST_GAIN: f64 = 0.01;

/// The most pairs of a duel.
const MOST_PAIRS: usize = 8;

/// What follows from a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// The turn goes on.
    Continue,
    /// The other table takes its turn.
    OtherSide,
    /// The duel is over. `true` if the challenger wins.
    Over(bool),
}

/// The times of a batch, as one worker took them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub(super) keys: usize,
    pub(super) time: Duration,
    /// The time of a fixed piece of the batch that uses no table. It shows how fast the processor
    /// was.
    pub(super) yardstick: Duration,
}

impl Timing {
    /// Returns the logarithm of the time of a key, in yardsticks.
    pub(super) fn cost(self) -> f64 {
        let least = Duration::from_nanos(1);
        let [time, yardstick] = [self.time, self.yardstick].map(|time| time.max(least).as_secs_f64());
        (time / (self.keys as f64 * yardstick)).ln()
    }
}

/// A duel that is not decided yet.
#[derive(Clone, Debug)]
pub(super) struct Duel {
    least_pairs: usize,
    side: Side,
    /// The numbers of entries of both tables.
    entries: [usize; 2],
    /// The costs of the batches that count.
    batches: [Vec<f64>; 2],
    /// The same of each turn.
    turns: [Vec<f64>; 2],
    /// How many entries were read in this turn.
    read: usize,
    /// The number of batches of this turn that count.
    counted: usize,
    /// When the batches of this turn began to count.
    warm_at: Duration,
}

impl Duel {
    /// Returns a duel whose first turn is that of the incumbent. The entries are the numbers of
    /// entries of the tables. The challenger cannot win with fewer than `least_pairs`.
    pub(super) fn new(incumbent: usize, challenger: usize, least_pairs: usize) -> Self {
        Self {
            least_pairs,
            side: Side::Incumbent,
            entries: [incumbent, challenger],
            batches: Default::default(),
            turns: Default::default(),
            read: 0,
            counted: 0,
            warm_at: Duration::ZERO,
        }
    }

    /// Returns the table whose turn it is.
    pub(super) fn side(&self) -> Side {
        self.side
    }

    /// Counts a batch of the table whose turn it is, and its reads of the table. `now` is the time
    /// since the turn began.
    pub(super) fn count(&mut self, batch: Timing, reads: usize, now: Duration) -> Next {
        let side = self.side as usize;
        let is_warm = self.read >= (READS * self.entries[side]).min(MOST_READS) || now >= LONGEST_WARM_UP;
        self.read += reads;
        if !is_warm {
            self.warm_at = now;
            return Next::Continue;
        }
        self.batches[side].push(batch.cost());
        self.counted += 1;
        if self.counted < FIGURES || now < self.warm_at + TURN {
            return Next::Continue;
        }
        let of_turn = self.batches[side].len() - self.counted;
        self.turns[side].push(fast(&self.batches[side][of_turn..]));
        (self.read, self.counted, self.warm_at) = (0, 0, Duration::ZERO);
        self.side = if self.side == Side::Incumbent { Side::Challenger } else { Side::Incumbent };
        match self.verdict() {
            Some(wins) => Next::Over(wins),
            None => Next::OtherSide,
        }
    }

    /// Returns whether the challenger wins, or `None` while that is open. It is decided after a turn
    /// of the incumbent.
    fn verdict(&self) -> Option<bool> {
        let [incumbent, challenger] = &self.turns;
        let pairs = challenger.len();
        if pairs == 0 || incumbent.len() == pairs {
            return None;
        }
        let differences =
            (0..pairs).map(|at| challenger[at] - f64::midpoint(incumbent[at], incumbent[at + 1]));
        let of_pairs = median(differences.collect());
        let of_batches = fast(&self.batches[1]) - fast(&self.batches[0]);
        let (better, worse) = (of_pairs.min(of_batches), of_pairs.max(of_batches));
        // The more pairs, the smaller the difference that they show.
        let (loses, wins) = match pairs {
            1 => (0.08, -0.15),
            2 => (0.02, -0.08),
            3 => (-0.005, -0.05),
            4 | 5 => (-LEAST_GAIN, -0.025),
            _ => (-LEAST_GAIN, -0.015),
        };
        if better > loses {
            Some(false)
        } else if worse < wins && pairs >= self.least_pairs {
            Some(true)
        } else {
            (pairs == MOST_PAIRS).then_some(worse < -LEAST_GAIN)
        }
    }
}

/// Returns the figure at [`FAST`].
fn fast(figures: &[f64]) -> f64 {
    let mut figures = figures.to_vec();
    figures.sort_by(f64::total_cmp);
    figures[((figures.len() - 1) as f64 * FAST).round() as usize]
}

pub(super) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let half = figures.len() / 2;
    if figures.len() % 2 == 1 { figures[half] } else { f64::midpoint(figures[half - 1], figures[half]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: usize = 1000;
    const TIME: Duration = Duration::from_micros(10);

    /// Runs a duel in which a key takes a time of `cost(side, number of the batch)`, in
    /// nanoseconds. Returns the verdict and the number of pairs.
    fn judge(mut duel: Duel, mut cost: impl FnMut(Side, usize) -> f64) -> (bool, usize) {
        let mut now = Duration::ZERO;
        for batch in 0.. {
            let time = Duration::from_nanos((cost(duel.side(), batch) * KEYS as f64) as u64);
            now += time;
            match duel.count(Timing { keys: KEYS, time, yardstick: TIME }, 16 * KEYS, now) {
                Next::Continue => {}
                Next::OtherSide => now = Duration::ZERO,
                Next::Over(wins) => return (wins, duel.turns[1].len()),
            }
        }
        unreachable!("a duel ends")
    }

    fn constant(incumbent: f64, challenger: f64) -> impl FnMut(Side, usize) -> f64 {
        move |side, _| if side == Side::Incumbent { incumbent } else { challenger }
    }

    #[test]
    fn a_large_difference_is_decided_sooner_than_a_small_one() {
        let duel = || Duel::new(1000, 1000, 1);
        assert_eq!(judge(duel(), constant(200.0, 300.0)), (false, 1));
        assert_eq!(judge(duel(), constant(300.0, 200.0)), (true, 1));
        assert_eq!(judge(duel(), constant(300.0, 270.0)), (true, 2));
        assert_eq!(judge(duel(), constant(300.0, 294.0)), (true, 6));
        assert_eq!(judge(duel(), constant(300.0, 299.0)), (false, 3), "that is noise");
        assert_eq!(judge(duel(), constant(300.0, 304.0)), (false, 3));
        assert_eq!(judge(Duel::new(1000, 1000, 3), constant(300.0, 200.0)), (true, 3), "not sooner");
    }

    /// Returns the verdict after this number of pairs, if the turns and the batches of the challenger
    /// have these differences.
    fn verdict(pairs: usize, of_turns: f64, of_batches: f64) -> Option<bool> {
        let turns = [vec![0.0; pairs + 1], vec![of_turns; pairs]];
        Duel { turns, batches: [vec![0.0], vec![of_batches]], ..Duel::new(1000, 1000, 1) }.verdict()
    }

    #[test]
    fn turns_and_batches_must_agree_and_more_pairs_show_smaller_differences() {
        for (pairs, loses, wins) in [
            (1, 0.08, -0.15),
            (2, 0.02, -0.08),
            (3, -0.005, -0.05),
            (4, -0.01, -0.025),
            (5, -0.01, -0.025),
            (6, -0.01, -0.015),
            (7, -0.01, -0.015),
        ] {
            for (bound, beyond) in [(loses, Some(false)), (wins, Some(true))] {
                let step = if beyond == Some(true) { -0.001 } else { 0.001 };
                assert_eq!(verdict(pairs, bound + step, bound + step), beyond, "{pairs}");
                assert_eq!(verdict(pairs, bound + step, bound - step), None, "{pairs}");
                assert_eq!(verdict(pairs, bound - step, bound + step), None, "{pairs}");
            }
        }
        assert_eq!(verdict(MOST_PAIRS, -0.011, -0.011), Some(true));
        assert_eq!(verdict(MOST_PAIRS, -0.011, -0.009), Some(false));
        // A turn of the challenger is compared with the turns before and after it.
        let turns = [vec![0.0, 0.4], vec![0.0]];
        let slower = Duel { turns, batches: [vec![0.0], vec![-0.2]], ..Duel::new(1000, 1000, 1) };
        assert_eq!(slower.verdict(), Some(true));
    }

    #[test]
    fn a_turn_ends_after_its_time_and_counts_its_own_batches() {
        // The batches of a turn, if each takes this time in milliseconds.
        for (time, batches) in [(1, 10), (4, 3), (20, 3)] {
            // No table is read, so every batch counts.
            let mut duel = Duel::new(0, 0, 1);
            let mut figures = Vec::new();
            // In each turn a key takes longer than in the one before.
            for keys in [1000, 995, 990] {
                let time = Duration::from_millis(time);
                let batch = Timing { keys, time, yardstick: TIME };
                let next: Vec<Next> =
                    (1..=batches).map(|number| duel.count(batch, 0, number * time)).collect();
                let (last, before) = next.split_last().unwrap();
                assert!(before.iter().all(|next| *next == Next::Continue) && *last != Next::Continue);
                figures.push(batch.cost());
            }
            assert_eq!(duel.turns, [vec![figures[0], figures[2]], vec![figures[1]]]);
        }
    }

    #[test]
    fn a_fast_batch_counts_and_not_the_fastest() {
        for (figures, place) in [(1, 0), (2, 0), (4, 1), (10, 3)] {
            let figures: Vec<f64> = (0..figures).rev().map(f64::from).collect();
            assert_eq!(fast(&figures), f64::from(place));
        }
        assert_eq!([median(vec![3.0, 1.0, 2.0]), median(vec![4.0, 1.0])], [2.0, 2.5]);
    }

    #[test]
    fn interrupted_batches_do_not_count() {
        let mut alike = constant(300.0, 280.0);
        let interrupted = |side, batch: usize| {
            let factor = if side == Side::Challenger && batch.is_multiple_of(8) { 10.0 } else { 1.0 };
            factor * alike(side, batch)
        };
        assert!(judge(Duel::new(1000, 1000, 1), interrupted).0);
    }

    #[test]
    fn a_machine_that_slows_down_favors_neither() {
        let slower = |factor: f64| {
            move |side, batch: usize| {
                let drift = 1.0 + batch as f64 / 2000.0;
                drift * if side == Side::Incumbent { 300.0 } else { 300.0 * factor }
            }
        };
        assert!(judge(Duel::new(1000, 1000, 1), slower(0.95)).0);
        assert!(!judge(Duel::new(1000, 1000, 1), slower(1.05)).0);
    }

    #[test]
    fn batches_count_when_the_caches_hold_the_table() {
        let entries = 400_000;
        // Until the table was read, a key of the challenger takes longer.
        let cold_until_read = |cold: f64| {
            let (mut read, mut last) = (0, Side::Challenger);
            move |side, _| {
                read = if side == last { read + 16 * KEYS } else { 16 * KEYS };
                last = side;
                match side {
                    Side::Incumbent => 300.0,
                    Side::Challenger if read <= 2 * entries => cold,
                    Side::Challenger => 250.0,
                }
            }
        };
        assert!(!judge(Duel::new(1000, 1000, 1), cold_until_read(1000.0)).0, "without a warm-up it loses");
        assert!(judge(Duel::new(1000, entries, 1), cold_until_read(400.0)).0);
    }
}
