//! Locks between processes that work in the same directory.

use std::fs::TryLockError;
use std::io;
use std::time::{Duration, Instant};

/// The time between two tries.
const PAUSE: Duration = Duration::from_millis(1);

/// Tries to take a lock for `longest` at most. Returns whether it has the lock. On a file system
/// without locks it has it, because nobody else can.
///
/// # Errors
///
/// Returns the error of the operating system.
pub(super) fn lock_in_time(
    longest: Duration,
    try_lock: impl Fn() -> Result<(), TryLockError>,
) -> io::Result<bool> {
    let began = Instant::now();
    loop {
        match try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if began.elapsed() < longest => std::thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) if is_without_locks(&error) => return Ok(true),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

#[cfg(unix)]
fn is_without_locks(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let missing = [Errno::NOLCK, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP, Errno::INVAL];
    Errno::from_io_error(error).is_some_and(|error| missing.contains(&error))
}

#[cfg(not(unix))]
fn is_without_locks(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::cell::Cell;
    use std::fs::File;

    use super::*;

    const MOMENT: Duration = Duration::from_millis(20);

    #[test]
    fn a_free_lock_is_taken_and_waiting_for_a_lock_ends() {
        let directory = tempfile::TempDir::new().unwrap();
        let open = || File::open(directory.path()).unwrap();
        let (one, other) = (open(), open());
        assert!(lock_in_time(MOMENT, || one.try_lock_shared()).unwrap());
        assert!(lock_in_time(MOMENT, || other.try_lock_shared()).unwrap());
        assert!(!lock_in_time(MOMENT, || one.try_lock()).unwrap());
        drop(other);
        assert!(lock_in_time(MOMENT, || one.try_lock()).unwrap());
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| lock_in_time(Duration::from_secs(60), || open().try_lock()).unwrap());
            drop(one);
            assert!(waits.join().unwrap());
        });
    }

    #[test]
    fn a_lock_is_tried_again_and_a_failure_is_no_lock() {
        use rustix::io::Errno;
        let tries = Cell::new(0);
        let third = || {
            tries.set(tries.get() + 1);
            match tries.get() {
                1 => Err(TryLockError::WouldBlock),
                2 => Err(TryLockError::Error(Errno::INTR.into())),
                _ => Ok(()),
            }
        };
        assert!(lock_in_time(MOMENT, third).unwrap());
        assert_eq!(tries.get(), 3);
        let failing = |errno: Errno| lock_in_time(MOMENT, move || Err(TryLockError::Error(errno.into())));
        assert!(failing(Errno::NOLCK).unwrap());
        assert!(failing(Errno::IO).is_err());
    }
}
