//! The sizes of tables that a search may use, and the number of keys in a batch.

use crate::Sizing;
use crate::curve::Table;
use crate::memory::{caches, spare_room};
use crate::simd::CacheLine;

/// The useful numbers of windows: tables from 16 KiB, which the first-level cache holds, to 288
/// MiB.
pub(super) const WINDOWS: [usize; 14] = [126, 84, 63, 50, 42, 36, 28, 24, 21, 18, 16, 15, 14, 13];

/// The number of windows at the start. A table of them, 460 KB, takes less than a millisecond.
const FIRST_WINDOWS: usize = 28;

/// The most memory that a table takes unless more is allowed.
const MOST_MEMORY: usize = 128 << 20;

/// The most memory that all tables together take unless more is allowed for one: tables of 14 and of
/// 16 windows are compared, and those of 14 and 15 windows would take more.
const MOST_TOGETHER: usize = 141 << 20;

/// If the memory of the process is limited, a table takes at most this part of what is spare: a half.
/// The table that it is compared with takes the other.
const SHARE_OF_ROOM: u64 = 2;

/// The cost of making an entry of a table, in additions. The arithmetic costs 1.5. The rest is the
/// system's: it clears each page at the first access, which took up to 0.45 s for 117 MB on a
/// virtual machine.
const COST_OF_ENTRY: f64 = 30.0;

/// The numbers of keys in a batch: the first if the second-level cache has at least
/// [`LARGE_CACHE`], otherwise the second. Other numbers change the rate by 1 or 2 % (RESULTS.txt).
const KEYS: [usize; 2] = [4096, 2048];

/// The smallest second-level cache that holds a batch of 4096 keys, 1.25 MiB: 25 cache lines for
/// each vector of 8 keys, and the digits.
const LARGE_CACHE: usize = 1280 << 10;

/// A size of table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Size {
    pub(super) windows: usize,
    pub(super) bytes: usize,
}

impl Size {
    pub(super) fn of(windows: usize) -> Self {
        Self { windows, bytes: Table::bytes(windows) }
    }

    pub(super) fn entries(self) -> usize {
        self.bytes / size_of::<CacheLine>()
    }
}

/// The sizes that a search chooses from.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    /// At least one size, the smallest table first.
    pub(super) each: Vec<Size>,
    /// The place of the size at the start.
    pub(super) first: usize,
    /// The most bytes of all tables that exist together.
    pub(super) most_together: usize,
    /// The number of keys in a batch.
    pub(super) keys: usize,
}

impl Sizes {
    /// Returns the sizes for a search. They fit into memory, and the additions that they save in
    /// this search cost more than building them.
    pub(super) fn new(sizing: Sizing) -> Self {
        let large = caches().get(1).is_some_and(|&second| second >= LARGE_CACHE);
        let keys = if large { KEYS[0] } else { KEYS[1] };
        if let Some(windows) = sizing.windows {
            return Self::only(windows, keys);
        }
        // The table that is compared with the largest one may take as much again.
        let (most_memory, most_together) = match sizing.table_memory {
            Some(most) => (most, most.saturating_mul(2)),
            None => {
                let allowed = spare_room().map_or(usize::MAX, |left| (left / SHARE_OF_ROOM) as usize);
                (MOST_MEMORY.min(allowed), MOST_TOGETHER.min(allowed.saturating_mul(2)))
            }
        };
        let sizes = WINDOWS.into_iter().map(Size::of);
        let fitting: Vec<Size> = sizes
            .enumerate()
            .filter(|(at, size)| *at == 0 || size.bytes <= most_memory)
            .map(|(_, size)| size)
            .collect();
        let first = fitting.iter().rposition(|size| size.windows >= FIRST_WINDOWS).unwrap_or(0);
        let is_worth_it = |at: &usize| {
            let (size, before) = (fitting[*at], fitting[at.saturating_sub(1)]);
            let saved = (before.windows - size.windows) as f64;
            *at <= first || COST_OF_ENTRY * (size.entries() as f64) < sizing.expected_keys * saved
        };
        let count = (0..fitting.len()).take_while(is_worth_it).count();
        let mut sizes = Self { each: fitting[..count].to_vec(), first, most_together, keys };
        // A size that cannot be compared with the largest one would keep it from being found. Where
        // that is so, 15 windows are at most 2 % faster than the faster one of 14 and 16.
        let largest = sizes.each[count - 1];
        sizes.each.retain(|size| *size == largest || size.bytes + largest.bytes <= most_together);
        sizes
    }

    /// Returns one size.
    pub(super) fn only(windows: usize, keys: usize) -> Self {
        Self { each: vec![Size::of(windows)], first: 0, most_together: usize::MAX, keys }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(expected_keys: f64, table_memory: usize) -> Vec<usize> {
        let sizing = Sizing { table_memory: Some(table_memory), ..Sizing::for_keys(expected_keys) };
        let sizes = Sizes::new(sizing);
        assert!(sizes.each[sizes.first].windows >= FIRST_WINDOWS);
        assert!(sizes.each.iter().is_sorted_by_key(|size| size.bytes));
        sizes.each.iter().map(|size| size.windows).collect()
    }

    #[test]
    fn no_table_exceeds_its_limit() {
        for limit in WINDOWS {
            assert_eq!(windows(1e18, Table::bytes(limit)).last(), Some(&limit));
        }
        assert_eq!(windows(1e18, 0), WINDOWS[..1]);
        let usual = Sizes::new(Sizing::for_keys(1e18));
        assert!(usual.each.iter().all(|size| size.bytes <= MOST_MEMORY));
    }

    #[test]
    fn a_short_search_builds_no_large_table() {
        let most = |expected_keys| *windows(expected_keys, 512 << 20).last().unwrap();
        assert!([1e4, 1e6, 1e8, 1e10].map(most).is_sorted_by(|few, many| few > many));
        assert_eq!((most(1.0), most(f64::INFINITY)), (FIRST_WINDOWS, 13));
    }

    #[test]
    fn every_size_is_compared_with_the_largest() {
        let usual = Sizes::new(Sizing { table_memory: None, ..Sizing::for_keys(1e18) });
        let largest = usual.each[usual.each.len() - 1].bytes;
        assert!(usual.each.iter().rev().skip(1).all(|size| size.bytes + largest <= MOST_TOGETHER));
        assert_eq!(windows(1e18, 60 << 20)[10..], [16, 15]);
        assert_eq!(windows(1e18, 128 << 20)[10..], [16, 15, 14]);
        assert_eq!(windows(1e18, 512 << 20)[10..], [16, 15, 14, 13]);
    }
}
