//! Finds the fastest table of a device while it searches.
//!
//! A table with fewer windows takes fewer additions and more memory. Only measuring shows whether
//! a device reads it as quickly. So the best size so far and the next one take turns, and each turn
//! has the rate of some batches of all workers. The next size wins if its median rate is higher.
//! Turns close to each other see the same clock and the same load, and the median leaves out a turn
//! that was disturbed.

use std::time::{Duration, Instant};

/// The turns of each size in a comparison.
const TURNS: usize = 3;

/// The batches at the start of a turn that do not count: those of each worker that began before, and
/// that fill the caches.
const UNCOUNTED: u32 = 4;

/// The least time of a turn after that, about five batches.
const TURN_TIME: Duration = Duration::from_millis(150);

/// The part by which a larger table must be faster.
const GAIN: f64 = 0.01;

/// The choice of a device.
pub(super) struct Tuner {
    /// The numbers of windows, in the order in which they are tried.
    sizes: Vec<usize>,
    best: usize,
    /// The size that is compared with the best one. After the last comparison it is the number of
    /// sizes.
    next: usize,
    /// The rates of the best size and of the next one.
    rates: [Vec<f64>; 2],
    /// The batches of this turn, and when the counted ones began, with their keys.
    batches: u32,
    began: Option<Instant>,
    keys: usize,
}

impl Tuner {
    pub(super) fn new(sizes: Vec<usize>) -> Self {
        let rates = [Vec::new(), Vec::new()];
        Self { sizes, best: 0, next: 1, rates, batches: 0, began: None, keys: 0 }
    }

    pub(super) fn windows(&self, size: usize) -> usize {
        self.sizes[size]
    }

    /// Returns the fastest size so far.
    pub(super) fn best(&self) -> usize {
        self.best
    }

    /// Returns whether a size has or will have a turn before another one is tried.
    pub(super) fn needs(&self, size: usize) -> bool {
        size == self.best || size == self.next
    }

    /// Returns whether all sizes were tried.
    pub(super) fn is_settled(&self) -> bool {
        self.next >= self.sizes.len()
    }

    /// Returns the size whose turn it is.
    pub(super) fn current(&self) -> usize {
        let [best, next] = &self.rates;
        if self.is_settled() || best.len() <= next.len() { self.best } else { self.next }
    }

    /// Leaves out the next size, because it cannot be used.
    pub(super) fn give_up(&mut self) {
        self.end_comparison();
    }

    /// Counts a batch of a size that ended now. Returns whether a turn ended.
    pub(super) fn count(&mut self, size: usize, keys: usize, now: Instant) -> bool {
        if self.is_settled() || size != self.current() {
            return false;
        }
        self.batches += 1;
        let Some(began) = self.began else {
            self.began = (self.batches >= UNCOUNTED).then_some(now);
            return false;
        };
        self.keys += keys;
        let time = now.saturating_duration_since(began);
        if time < TURN_TIME {
            return false;
        }
        let is_next = size == self.next;
        self.rates[usize::from(is_next)].push(self.keys as f64 / time.as_secs_f64());
        self.begin_turn();
        if self.rates[1].len() == TURNS {
            let [best, next] = [0, 1].map(|of| median(&mut self.rates[of]));
            if next > best * (1.0 + GAIN) {
                self.best = self.next;
            }
            self.end_comparison();
        }
        true
    }

    /// Begins the turn of the next size.
    #[cfg(test)]
    pub(super) fn let_next(&mut self) {
        self.rates[0].push(0.0);
    }

    fn end_comparison(&mut self) {
        self.next += 1;
        self.rates = [Vec::new(), Vec::new()];
        self.begin_turn();
    }

    fn begin_turn(&mut self) {
        self.batches = 0;
        self.began = None;
        self.keys = 0;
    }
}

fn median(rates: &mut [f64]) -> f64 {
    rates.sort_unstable_by(f64::total_cmp);
    rates[rates.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches until the tuner is settled. `rate` returns keys per second by the number of windows
    /// and the number of the batch.
    fn settle(sizes: &[usize], rate: impl Fn(usize, u32) -> f64) -> usize {
        let mut tuner = Tuner::new(sizes.to_vec());
        let mut now = Instant::now();
        for batch in 0..10_000 {
            if tuner.is_settled() {
                break;
            }
            let size = tuner.current();
            now += Duration::from_millis(25);
            tuner.count(size, (rate(tuner.windows(size), batch) * 0.025) as usize, now);
        }
        assert!(tuner.is_settled());
        assert_eq!(tuner.current(), tuner.best());
        tuner.windows(tuner.best())
    }

    #[test]
    fn it_finds_the_fastest_size() {
        let sizes = [16, 14, 13, 12, 11];
        for fastest in sizes {
            let rate = |windows: usize, _| 1e9 - 1e8 * windows.abs_diff(fastest) as f64;
            assert_eq!(settle(&sizes, rate), fastest);
        }
        // A size that is slower than both of its neighbors is passed over.
        let rate = |windows, _| if windows == 12 { 1.1e9 } else { 1e9 - windows as f64 };
        assert_eq!(settle(&sizes, rate), 12);
        assert_eq!(settle(&[16], |_, _| 1e9), 16);
    }

    #[test]
    fn a_disturbed_turn_does_not_decide() {
        // Every fifth turn is slower by half, whatever its size.
        let rate = |windows, batch: u32| {
            let disturbed = if (batch / 17).is_multiple_of(5) { 0.5 } else { 1.0 };
            disturbed * (1e9 - 2e7 * windows as f64)
        };
        assert_eq!(settle(&[16, 14, 13, 12, 11], rate), 11);
    }

    #[test]
    fn a_size_that_cannot_be_used_is_left_out() {
        let mut tuner = Tuner::new(vec![16, 12]);
        tuner.give_up();
        assert!(tuner.is_settled());
        assert_eq!((tuner.current(), tuner.best()), (0, 0));
    }
}
