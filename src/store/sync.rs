//! The sync of a file or a directory.
//!
//! On macOS `fsync` leaves the content in the drive's own cache, where a power cut loses it
//! (fsync(2)). The standard library asks the drive to empty its cache (`F_FULLFSYNC`). Not every
//! file system there can do that: a share of Windows or Samba answers `ENOTSUP`, and others answer
//! `ENOTTY` or `EINVAL`. For these the plain `fsync` is the strongest call that exists, and their
//! server or driver decides what it means. SQLite, libuv and Go do the same (golang/go#64215).

use std::fs::File;
use std::io;

/// Makes the content of a file, or the names in a directory, durable.
pub(super) fn sync(file: &File) -> io::Result<()> {
    let synced = file.sync_all();
    #[cfg(target_vendor = "apple")]
    if synced.as_ref().is_err_and(has_no_full_sync) {
        return Ok(rustix::fs::fsync(file)?);
    }
    synced
}

/// Whether an error says that the file system has no `F_FULLFSYNC`.
#[cfg(unix)]
#[cfg(any(test, target_vendor = "apple"))]
fn has_no_full_sync(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let missing = [Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOTTY, Errno::INVAL];
    Errno::from_io_error(error).is_some_and(|error| missing.contains(&error))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn only_a_missing_full_sync_is_replaced() {
        for missing in [Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOTTY, Errno::INVAL] {
            assert!(has_no_full_sync(&missing.into()), "{missing}");
        }
        for failure in [Errno::IO, Errno::NOSPC, Errno::DQUOT, Errno::BADF, Errno::INTR, Errno::ROFS] {
            assert!(!has_no_full_sync(&failure.into()), "{failure}");
        }
        assert!(!has_no_full_sync(&io::Error::other("no number")));
    }

    #[test]
    fn files_and_directories_are_synced() {
        let directory = tempfile::TempDir::new().unwrap();
        sync(&File::create(directory.path().join("file")).unwrap()).unwrap();
        sync(&File::open(directory.path()).unwrap()).unwrap();
    }
}
