//! The memory of a search: what it needs at least, and whether limits leave that much. The tables of
//! engines become as large as what is left.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ed25519_batch::memory::{Room, keep_free, room};
use thiserror::Error;

use crate::pattern::{Matcher, Pattern};

/// The bytes that every search needs: the first table, threads that report, files, results.
const BASE: u64 = 6 << 20;

/// The bytes of the whole stack of a worker, whatever `RUST_MIN_STACK` is.
pub(super) const WORKER_STACK: usize = 2 << 20;

/// The bytes of a worker: its stack, and 4 MiB for its batch and its part of the allocator.
const WORKER: u64 = WORKER_STACK as u64 + (4 << 20);

/// The bytes that all threads but the first must leave for a table. With a smaller table, a search is several
/// times slower.
const TABLE: u64 = 3 << 20;

/// The bytes that each pattern needs once it is read: while repetitions are looked for, and then in the
/// matcher. A list of a million words needs 115 bytes each.
const PATTERN: u64 = 128;

/// The bytes that the caller needs beside the search.
static BESIDE: AtomicU64 = AtomicU64::new(0);

/// Returns the bytes that a search needs for a pattern, beside the pattern itself.
#[must_use]
pub fn memory_for(pattern: &Pattern) -> u64 {
    // An expression has a second automaton unless it is united with others.
    PATTERN + 2 * Matcher::bytes_for(pattern) as u64
}

/// Checks that limits of memory leave enough for a search of one thread, with patterns that need
/// `patterns` bytes ([`memory_for`]).
///
/// # Errors
///
/// Returns an error if they do not.
pub fn check_memory(patterns: u64) -> Result<(), TooLittleMemory> {
    let needed = BASE + WORKER + patterns;
    match room() {
        Some(room) if room.left < needed => Err(TooLittleMemory { needed, room }),
        _ => Ok(()),
    }
}

/// Returns the number of threads, at most `threads`, for which limits of memory leave enough, and the
/// limit if that is fewer. The caller needs `beside` bytes more for each of them. All of this is kept free.
///
/// # Errors
///
/// Returns an error if not even one thread fits.
pub fn fitting_threads(
    threads: NonZeroUsize,
    patterns: u64,
    beside: u64,
) -> Result<(NonZeroUsize, Option<Room>), TooLittleMemory> {
    let Some(room) = room() else { return Ok((threads, None)) };
    let each = WORKER + beside;
    let fitting = fitting(room.left.saturating_sub(BASE + patterns), each);
    let Some(fitting) = NonZeroUsize::new(fitting as usize) else {
        return Err(TooLittleMemory { needed: BASE + patterns + each, room });
    };
    let used = fitting.min(threads);
    BESIDE.store(used.get() as u64 * beside, Relaxed);
    keep_free(BASE + used.get() as u64 * each);
    Ok((used, (used < threads).then_some(room)))
}

/// Returns the number of threads that fit into `left` bytes, if each needs `each`.
fn fitting(left: u64, each: u64) -> u64 {
    (left.saturating_sub(TABLE) / each).max((left >= each).into())
}

/// Takes the news that the threads have started: of what was kept free, only the memory of the caller is
/// not in use.
pub(super) fn have_started() {
    keep_free(BESIDE.load(Relaxed));
}

/// Limits of memory leave too little for a search.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "the search needs {} MiB of memory, and {} MiB of the limit of {} MiB are left ({})",
    .needed.div_ceil(1 << 20), .room.left >> 20, .room.limit >> 20, .room.of
)]
pub struct TooLittleMemory {
    /// The bytes that the search needs.
    needed: u64,
    room: Room,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_threads_leave_room_for_a_table() {
        let threads = |left| fitting(left, WORKER);
        assert_eq!([0, WORKER - 1, WORKER, 2 * WORKER + TABLE - 1].map(threads), [0, 0, 1, 1]);
        assert_eq!([2 * WORKER + TABLE, 9 * WORKER].map(threads), [2, 8]);
    }
}
