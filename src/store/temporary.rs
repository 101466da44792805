//! Temporary files with names, for file systems without unnamed files. Also removes the temporary
//! files of killed processes.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

/// The beginning and the end of the names of temporary files.
pub(super) const TEMPORARY: [&str; 2] = [".vanity-ed25519-", ".tmp"];

/// Creates a locked temporary file with this mode, less the bits of the umask. On Windows a file
/// that only its owner can read has the access list of its owner alone, and any other inherits the
/// list of its directory.
pub(super) fn temporary(directory: &Path, mode: u32) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(TEMPORARY[0]).suffix(TEMPORARY[1]);
    loop {
        // An error of `tempfile_in` names the temporary file, and lacks the system's words.
        let file = builder.make_in(directory, |path| create(path, mode))?;
        if is_ours(&file)? {
            return Ok(file);
        }
    }
}

/// Creates a file with a new name, for writing alone: some file systems cannot do both.
pub(super) fn create(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(windows)]
    if mode & 0o077 == 0 {
        return crate::sys::windows::create_private_file(path);
    }
    options.open(path)
}

/// Locks a new temporary file. Returns whether it still has its name: before the lock, another
/// process may have removed it as a leftover.
#[cfg(unix)]
fn is_ours(file: &NamedTempFile) -> io::Result<bool> {
    use std::fs::TryLockError;
    use std::os::unix::fs::MetadataExt as _;
    if let Err(TryLockError::WouldBlock) = file.as_file().try_lock() {
        return Ok(false);
    }
    Ok(file.as_file().metadata()?.nlink() > 0)
}

/// Returns true: as long as this process has the file open, no other removes it.
#[cfg(windows)]
fn is_ours(_: &NamedTempFile) -> io::Result<bool> {
    Ok(true)
}

/// Removes the temporary files of killed processes in a directory, which are those with a free
/// lock, on Windows those that no process has open. Files that cannot be opened, locked or removed
/// stay.
///
/// # Errors
///
/// Returns an error if the directory cannot be read.
pub(super) fn remove_leftovers(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let [start, end] = TEMPORARY.map(str::as_bytes);
        let name = name.as_encoded_bytes();
        if name.starts_with(start) && name.ends_with(end) {
            remove_leftover(&entry.path());
        }
    }
    Ok(())
}

#[cfg(unix)]
fn remove_leftover(path: &Path) {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let Ok(file) = File::options().read(true).custom_flags(flags.bits() as i32).open(path) else {
        return;
    };
    if file.metadata().is_ok_and(|found| found.is_file()) && file.try_lock().is_ok() {
        // Another process may have removed it just before.
        let _ = fs::remove_file(path);
    }
}

/// Opens the file for this process alone, which fails if another has it open. The system removes it
/// when it is closed.
#[cfg(windows)]
fn remove_leftover(path: &Path) {
    use std::os::windows::fs::OpenOptionsExt as _;

    use crate::sys::windows::{DELETE, FILE_FLAG_DELETE_ON_CLOSE, FILE_FLAG_OPEN_REPARSE_POINT};
    let mut options = File::options();
    options.access_mode(DELETE).share_mode(0);
    options.custom_flags(FILE_FLAG_DELETE_ON_CLOSE | FILE_FLAG_OPEN_REPARSE_POINT);
    // Of a link it would remove the link, which this program does not make.
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
        drop(options.open(path));
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::super::tests::names;
    use super::*;

    #[test]
    fn leftovers_are_removed_but_nothing_that_is_in_use() {
        let directory = TempDir::new().unwrap();
        let others = [".vanity-ed25519-x", "x.tmp", "key", "vanity-ed25519.tmp"];
        others.iter().for_each(|name| fs::write(directory.path().join(name), "").unwrap());
        symlink("key", directory.path().join(".vanity-ed25519-link.tmp")).unwrap();
        fs::create_dir(directory.path().join(".vanity-ed25519-dir.tmp")).unwrap();
        let leave = || fs::write(directory.path().join(".vanity-ed25519-aB3xyz.tmp"), "secret").unwrap();
        leave();
        let file = temporary(directory.path(), 0o600).unwrap();
        remove_leftovers(directory.path()).unwrap();
        let left = [
            ".vanity-ed25519-dir.tmp",
            ".vanity-ed25519-link.tmp",
            ".vanity-ed25519-x",
            "key",
            "vanity-ed25519.tmp",
            "x.tmp",
        ];
        let mut expected = left.map(str::to_owned).to_vec();
        expected.push(file.path().file_name().unwrap().to_str().unwrap().to_owned());
        expected.sort();
        assert_eq!(names(directory.path()), expected);
        file.persist_noclobber(directory.path().join("new")).unwrap();
        assert!(directory.path().join("new").exists());
    }

    /// One thread makes files, as a process would. Two others remove every leftover that they find.
    #[test]
    fn no_process_takes_what_another_is_writing() {
        let directory = TempDir::new().unwrap();
        let path = directory.path();
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !done.load(std::sync::atomic::Ordering::Relaxed) {
                        remove_leftovers(path).unwrap();
                    }
                });
            }
            for number in 0..500 {
                let file = temporary(path, 0o600).unwrap();
                file.persist_noclobber(path.join(number.to_string())).unwrap();
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        assert_eq!(names(path).len(), 500);
    }
}
