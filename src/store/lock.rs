//! Locks between processes that work in the same directory.

use std::fs::{File, TryLockError};
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

/// Returns the number of the process that has locked a file, where the system tells it.
#[cfg(target_os = "linux")]
pub(super) fn holder(file: &File) -> Option<u32> {
    let inode = std::os::unix::fs::MetadataExt::ino(&file.metadata().ok()?);
    holder_in(&std::fs::read_to_string("/proc/locks").ok()?, inode)
}

/// Returns the process that has locked a file, by the lines of `/proc/locks`. They have 0 for a
/// process of another namespace, such as that of a container.
#[cfg(target_os = "linux")]
fn holder_in(locks: &str, inode: u64) -> Option<u32> {
    // `1: FLOCK  ADVISORY  WRITE 123 08:01:456 0 EOF`. A process that waits has `->` before `FLOCK`.
    locks.lines().find_map(|line| {
        let [_, "FLOCK", _, _, process, place, ..] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            return None;
        };
        let is_here = place.rsplit(':').next()?.parse() == Ok(inode);
        process.parse().ok().filter(|process| is_here && *process > 0)
    })
}

#[cfg(not(target_os = "linux"))]
pub(super) fn holder(_: &File) -> Option<u32> {
    None
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::cell::Cell;

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
        #[cfg(target_os = "linux")]
        assert_eq!(holder(&open()), Some(std::process::id()));
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

    #[test]
    #[cfg(target_os = "linux")]
    fn only_a_process_that_has_the_lock_and_a_number_here_is_its_holder() {
        let locks = "1: FLOCK  ADVISORY  WRITE 7 08:01:455 0 EOF\n\
            2: POSIX  ADVISORY  WRITE 8 08:01:456 0 EOF\n\
            3: FLOCK  ADVISORY  WRITE 0 08:01:457 0 EOF\n\
            4: FLOCK  ADVISORY  WRITE 9 08:01:456 0 EOF\n\
            4: -> FLOCK  ADVISORY  WRITE 10 08:01:456 0 EOF\n";
        let holders = [455, 456, 457, 458].map(|inode| holder_in(locks, inode));
        assert_eq!(holders, [Some(7), Some(9), None, None]);
    }
}
