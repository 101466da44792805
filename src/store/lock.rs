//! Locks between processes that work in the same directory.
//!
//! The locks are optional: no key is lost without them. So a process does not wait long for a lock,
//! because a suspended process or a stranger may hold it. On a file system without locks, the
//! program works without them.

use std::fs::TryLockError;
use std::time::{Duration, Instant};

/// The longest wait for a lock. It is far longer than this program holds one, unless it waits for an
/// agent.
const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// The time between two tries.
const PAUSE: Duration = Duration::from_millis(1);

/// Tries to take a lock for [`LONGEST_WAIT`] at most. Returns whether it has the lock.
pub(super) fn lock_in_time(try_lock: impl Fn() -> Result<(), TryLockError>) -> bool {
    let began = Instant::now();
    loop {
        match try_lock() {
            Ok(()) => return true,
            Err(TryLockError::WouldBlock) if began.elapsed() < LONGEST_WAIT => std::thread::sleep(PAUSE),
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::cell::Cell;
    use std::fs::File;

    use super::*;

    #[test]
    fn a_free_lock_is_taken_and_waiting_for_a_lock_ends() {
        let directory = tempfile::TempDir::new().unwrap();
        let open = || File::open(directory.path()).unwrap();
        let (one, other) = (open(), open());
        assert!(lock_in_time(|| one.try_lock_shared()) && lock_in_time(|| other.try_lock_shared()));
        assert!(!lock_in_time(|| one.try_lock()));
        drop(other);
        assert!(lock_in_time(|| one.try_lock()));
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| lock_in_time(|| open().try_lock()));
            drop(one);
            assert!(waits.join().unwrap());
        });
    }

    #[test]
    fn a_lock_that_another_process_holds_is_tried_again() {
        let tries = Cell::new(0);
        let third = || {
            tries.set(tries.get() + 1);
            if tries.get() < 3 { Err(TryLockError::WouldBlock) } else { Ok(()) }
        };
        assert!(lock_in_time(third));
        assert_eq!(tries.get(), 3);
    }
}
