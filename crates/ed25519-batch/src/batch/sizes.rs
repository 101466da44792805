//! The sizes of tables that a search may use, and the number of keys in a batch.

use crate::Sizing;
use crate::curve::Table;
use crate::memory::{caches, spare_room};
use crate::simd::CacheLine;

/// The useful numbers of windows: tables from 16 KiB, which the first-level cache holds, to 288
/// MiB.
pub const WINDOWS: [usize; 14] = [126, 84, 63, 50, 42, 36, 28, 24, 21, 18, 16, 15, 14, 13];

/// The number of windows at the start. A table of them, 460 KB, takes less than a millisecond.
pub const FIRST_WINDOWS: usize = 28;

/// The most memory that a table takes unless more is allowed.
pub const MOST_MEMORY: usize = 128 << 20;

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

/// Returns the number of keys in a batch.
pub(super) fn batch_keys() -> usize {
    let is_large = caches().get(1).is_some_and(|&second| second >= LARGE_CACHE);
    if is_large { KEYS[0] } else { KEYS[1] }
}

/// Returns the numbers of windows of the tables for a search, the smallest table first. Each fits
/// into memory, and the additions that it saves in this search cost more than building it.
pub fn windows(sizing: Sizing) -> Vec<usize> {
    if let Some(windows) = sizing.windows {
        return vec![windows];
    }
    let most = sizing.table_memory.unwrap_or_else(|| {
        MOST_MEMORY.min(spare_room().map_or(usize::MAX, |left| (left / SHARE_OF_ROOM) as usize))
    });
    let fitting = WINDOWS.iter().filter(|windows| Table::bytes(**windows) <= most).count().max(1);
    let first = WINDOWS[..fitting].iter().rposition(|windows| *windows >= FIRST_WINDOWS).unwrap_or(0);
    let mut rungs = vec![WINDOWS[first]];
    for &windows in &WINDOWS[first + 1..fitting] {
        let saved = (rungs[rungs.len() - 1] - windows) as f64;
        let entries = (Table::bytes(windows) / size_of::<CacheLine>()) as f64;
        if COST_OF_ENTRY * entries >= sizing.expected_keys * saved {
            break;
        }
        rungs.push(windows);
    }
    rungs
}
