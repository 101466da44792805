//! The course of tuning: which settings are tried, in which order, and when no better one is left.
//!
//! No cache size that a machine reports, and no figure from another machine, says which table is
//! the fastest. So a search starts with a small table, and tries one change at a time on its own
//! batches: a larger table, another distance of prefetches, another number of keys. A change that
//! is faster is kept, and the next step in the same direction is tried.

use crate::curve::{BLOCKS_AHEAD, Table};
use crate::engine::sizing::Sizing;
use crate::simd::CacheLine;
use crate::sys::{caches, memory_limit};

/// The settings of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Setting {
    /// The number of windows, which determines the size of the table.
    pub(super) windows: usize,
    /// The distance, in blocks, between the first prefetch of a table entry and its use.
    pub(super) blocks_ahead: usize,
    /// The number of keys in a batch.
    pub(super) keys: usize,
}

/// The useful numbers of windows: tables from 16 KiB, which the first-level cache holds, to 300 MB.
pub(super) const WINDOWS: [usize; 13] = [126, 84, 63, 50, 42, 36, 28, 24, 21, 18, 16, 14, 13];

/// Numbers of windows that are tried after those of [`WINDOWS`]. The tables of 15 and 14 windows
/// together would take 175 MB, so 16 and 14 are compared first.
const BETWEEN: [usize; 2] = [16, 15];

/// The number of windows at the start. A table of them, 460 KB, takes less than a millisecond.
const FIRST_WINDOWS: usize = 28;

/// The distances of prefetches that are tried.
const DISTANCES: [usize; 3] = [1, BLOCKS_AHEAD, 4];

/// The numbers of keys that are tried. A batch takes some milliseconds, and enough keys share an
/// inversion.
const KEYS: [usize; 3] = [1024, 2048, 4096];

/// The numbers of keys at the start: the first if the second-level cache has at least
/// [`LARGE_CACHE`], otherwise the second.
const FIRST_KEYS: [usize; 2] = [4096, 2048];

/// The smallest second-level cache that holds a batch of 4096 keys, 1.25 MiB: 25 cache lines for
/// each vector of 8 keys, and the digits.
const LARGE_CACHE: usize = 1280 << 10;

/// The most memory that a table takes unless more is allowed. While two tables are compared, both
/// are in memory. Fewer windows than 14 gain almost nothing.
const MOST_MEMORY: usize = 128 << 20;

/// If the memory of the process is limited, a table takes at most this part of the limit: one
/// eighth. Threads, buffers and the table that it is compared with need the rest.
const SHARE_OF_LIMIT: usize = 8;

/// The cost of making an entry of a table, in additions. The arithmetic costs 1.5. The rest is the
/// system's: it clears each page at the first access, which took up to 0.45 s for 117 MB on a
/// virtual machine.
const COST_OF_ENTRY: f64 = 30.0;

/// The settings that a change is tried of, in this order.
const KNOBS: [Knob; 4] = [Knob::Windows, Knob::Between, Knob::BlocksAhead, Knob::Keys];

/// The number of knobs that choose the table. They come first.
const TABLE_KNOBS: usize = 2;

#[derive(Clone, Copy, Debug)]
enum Knob {
    Windows,
    Between,
    BlocksAhead,
    Keys,
}

impl Knob {
    /// Returns the values of the setting, and the setting.
    fn of(self, setting: &mut Setting) -> (&'static [usize], &mut usize) {
        match self {
            Self::Windows => (&WINDOWS, &mut setting.windows),
            Self::Between => (&BETWEEN, &mut setting.windows),
            Self::BlocksAhead => (&DISTANCES, &mut setting.blocks_ahead),
            Self::Keys => (&KEYS, &mut setting.keys),
        }
    }
}

/// The fastest setting so far, and what is left to try.
#[derive(Debug)]
pub(super) struct Course {
    best: Setting,
    /// The most bytes of a table.
    most_memory: usize,
    /// The expected number of keys to try. A large table must pay within them.
    expected_attempts: f64,
    /// The knob that is turned, as an index of [`KNOBS`].
    knob: usize,
    /// Whether the knob is turned up.
    up: bool,
    /// Whether the knob was turned with success.
    has_turned: bool,
}

impl Course {
    /// Returns the course of a search with this sizing, at its start.
    pub(super) fn new(sizing: Sizing) -> Self {
        let most_memory = sizing.table_memory.unwrap_or_else(|| {
            let allowed = memory_limit().map_or(usize::MAX, |bytes| bytes as usize / SHARE_OF_LIMIT);
            MOST_MEMORY.min(allowed)
        });
        let large = caches().get(1).is_some_and(|&second| second >= LARGE_CACHE);
        let keys = if large { FIRST_KEYS[0] } else { FIRST_KEYS[1] };
        let fits = |&windows: &usize| windows >= FIRST_WINDOWS && Table::bytes(windows) <= most_memory;
        let windows = WINDOWS.into_iter().rfind(fits).unwrap_or(WINDOWS[0]);
        let best = Setting { windows, blocks_ahead: BLOCKS_AHEAD, keys };
        Self {
            best,
            most_memory,
            expected_attempts: sizing.expected_attempts,
            knob: 0,
            up: true,
            has_turned: false,
        }
    }

    /// Returns a course that is at its end.
    #[cfg(test)]
    pub(super) fn fixed(setting: Setting) -> Self {
        let mut course = Self { best: setting, ..Self::new(Sizing::for_attempts(0.0)) };
        course.end();
        course
    }

    /// Returns the fastest setting so far.
    pub(super) fn best(&self) -> Setting {
        self.best
    }

    /// Returns whether the table is chosen.
    pub(super) fn has_table(&self) -> bool {
        self.knob >= TABLE_KNOBS
    }

    /// Returns the setting to try next, or `None` if no better one is left.
    pub(super) fn next(&mut self) -> Option<Setting> {
        while let Some(&knob) = KNOBS.get(self.knob) {
            let mut next = self.best;
            let (values, value) = knob.of(&mut next);
            let place = values.iter().position(|known| known == value);
            let place = place.and_then(|at| if self.up { at.checked_add(1) } else { at.checked_sub(1) });
            if let Some(&changed) = place.and_then(|place| values.get(place)) {
                *value = changed;
                if self.is_worth_it(next) {
                    return Some(next);
                }
            }
            self.turn_back();
        }
        None
    }

    /// Takes the result of the trial of [`Self::next`]: whether it is faster than the best setting.
    pub(super) fn judge(&mut self, tried: Setting, is_faster: bool) {
        if is_faster {
            (self.best, self.has_turned) = (tried, true);
        } else {
            self.turn_back();
        }
    }

    /// Begins again with the first knob, from the best setting. The load of the machine may have
    /// changed.
    pub(super) fn begin_again(&mut self) {
        (self.knob, self.up, self.has_turned) = (0, true, false);
    }

    /// Ends the course. The best setting stays.
    pub(super) fn end(&mut self) {
        self.knob = KNOBS.len();
    }

    /// Turns the knob the other way if it was not turned with success, or goes on to the next knob.
    fn turn_back(&mut self) {
        if self.up && !self.has_turned {
            self.up = false;
        } else {
            (self.knob, self.up, self.has_turned) = (self.knob + 1, true, false);
        }
    }

    /// Returns whether the table of a setting fits into memory, and whether the additions that it
    /// saves in this search cost more than building it.
    fn is_worth_it(&self, next: Setting) -> bool {
        let bytes = Table::bytes(next.windows);
        let entries = (bytes / size_of::<CacheLine>()) as f64;
        let saved = self.best.windows.saturating_sub(next.windows) as f64;
        bytes <= self.most_memory
            && (next.windows >= self.best.windows || COST_OF_ENTRY * entries < self.expected_attempts * saved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizing(expected_attempts: f64, table_memory: usize) -> Sizing {
        Sizing { table_memory: Some(table_memory), ..Sizing::for_attempts(expected_attempts) }
    }

    /// Runs a course on a machine where a key costs `cost`. Returns the last setting and the number
    /// of trials.
    fn settle(mut course: Course, cost: impl Fn(Setting) -> f64) -> (Setting, usize) {
        for trials in 0.. {
            let Some(tried) = course.next() else { return (course.best(), trials) };
            let is_faster = cost(tried) < cost(course.best());
            course.judge(tried, is_faster);
        }
        unreachable!("a course ends")
    }

    /// The cost of a key where a table of `fast` bytes is as near as registers, and a larger one is
    /// the farther away the larger it is.
    fn cost(fast: usize) -> impl Fn(Setting) -> f64 {
        move |setting| {
            let bytes = Table::bytes(setting.windows);
            let addition = if bytes <= fast { 1.0 } else { 1.0 + 4.0 * bytes as f64 / fast as f64 };
            let prefetch = (setting.blocks_ahead as f64 - 2.0).abs();
            setting.windows as f64 * addition + prefetch + 1e4 / setting.keys as f64
        }
    }

    #[test]
    fn it_finds_the_largest_table_that_is_fast() {
        for fast in [16 << 10, 64 << 10, 460 << 10, 5 << 20, 40 << 20, 1 << 30] {
            let (best, trials) = settle(Course::new(sizing(1e18, 512 << 20)), cost(fast));
            let largest = WINDOWS.into_iter().rfind(|&windows| Table::bytes(windows) <= fast).unwrap();
            assert_eq!(best, Setting { windows: largest, blocks_ahead: 2, keys: 4096 }, "{fast} bytes");
            assert!(trials < 20, "{trials} trials");
        }
    }

    #[test]
    fn it_turns_every_knob_both_ways() {
        let course = || Course::new(sizing(1e18, 512 << 20));
        let cost = |setting: Setting| (setting.blocks_ahead * setting.keys) as f64;
        let (best, _) = settle(course(), cost);
        assert_eq!((best.blocks_ahead, best.keys), (1, 1024));
        let (best, _) = settle(course(), |setting| -cost(setting));
        assert_eq!((best.blocks_ahead, best.keys), (4, 4096));
        let (best, _) = settle(course(), |_| 0.0);
        assert_eq!(best, course().best(), "nothing is faster");
    }

    #[test]
    fn fifteen_windows_are_tried_after_fourteen() {
        let mut course = Course::new(sizing(1e18, 128 << 20));
        let mut tried = Vec::new();
        while let Some(next) = course.next().filter(|_| !course.has_table()) {
            tried.push(next.windows);
            course.judge(next, [24, 21, 18, 16, 15].contains(&next.windows));
        }
        assert_eq!((tried, course.best().windows), (vec![24, 21, 18, 16, 14, 15], 15));
        course.begin_again();
        assert_eq!(course.next().map(|next| next.windows), Some(16));
    }

    #[test]
    fn no_table_exceeds_its_limit() {
        for windows in WINDOWS {
            let limit = Table::bytes(windows);
            let mut course = Course::new(sizing(1e18, limit));
            assert!(Table::bytes(course.best().windows) <= limit, "the first");
            while let Some(tried) = course.next() {
                assert!(Table::bytes(tried.windows) <= limit);
                course.judge(tried, tried.windows <= course.best().windows);
            }
            assert_eq!(course.best().windows, windows);
        }
        let mut usual = Course::new(Sizing::for_attempts(1e18));
        while let Some(tried) = usual.next() {
            usual.judge(tried, true);
        }
        assert!(Table::bytes(usual.best().windows) <= MOST_MEMORY);
    }

    #[test]
    fn a_short_search_builds_no_large_table() {
        let most = |expected_attempts| {
            let mut course = Course::new(sizing(expected_attempts, 512 << 20));
            while let Some(tried) = course.next() {
                course.judge(tried, true);
            }
            course.best().windows
        };
        assert!([1e4, 1e6, 1e8, 1e10].map(most).is_sorted_by(|few, many| few > many));
        assert_eq!((most(1.0), most(f64::INFINITY)), (126, 13), "a smaller table is always worth it");
    }

    #[test]
    fn the_table_is_chosen_before_the_rest() {
        let mut course = Course::new(sizing(1e18, 512 << 20));
        while !course.has_table() {
            let tried = course.next().unwrap();
            course.judge(tried, tried.windows > 20);
        }
        assert_eq!(course.best().windows, 21);
        assert!(course.next().is_some_and(|tried| tried.windows == 21));
        course.end();
        assert_eq!((course.next(), course.best().windows), (None, 21));
    }
}
