//! Tries a destination before the search, with the steps that the keys will take.
//!
//! The files of a trial are as long as those of a key, and their names as long as the longest name of a
//! key. They are temporary ones: if the process is killed, the next run removes what is left. So the
//! name of a key never names anything but the whole key. A name that a file system may refuse, such as
//! `con` or `q?`, is the exception: only the name itself shows that.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use std::{fs, io};

use super::error::StoreError;
use super::new_file::{Access, Directory, sync_together};
use super::patience::patiently;
use super::temporary::TEMPORARY;
use crate::escape::escaped_path;
use crate::notice::Notice;

/// What a file of a trial holds, for a person who finds one.
const CONTENT: &[u8] = b"A trial of this directory by vanity-ed25519. It holds no key, and can be removed.\n";

/// How many names are tried. A second one is hardly ever needed.
const TRIES: usize = 16;

/// Checks that private files with all of these numbers of bytes fit into a directory at the same
/// time, and that it takes names of `name_len` bytes. Writes and syncs such files, gives one such a name,
/// and removes it. Returns a warning about a file that cannot be removed.
///
/// # Errors
///
/// Returns the error of the operating system at the step that fails.
pub(super) fn try_directory(
    path: &Path,
    sizes: &[usize],
    name_len: usize,
    allow_exposed: bool,
) -> io::Result<Option<Notice>> {
    let directory = Directory::open(path, allow_exposed)?;
    let write = |size: &usize| directory.temp_file(Access::Owner, content(*size).into());
    let mut files = sizes.iter().map(write).collect::<io::Result<Vec<_>>>()?;
    sync_together(&files.iter().collect::<Vec<_>>()).into_iter().collect::<io::Result<()>>()?;
    for _ in 0..TRIES {
        let file = files.pop().map_or_else(|| write(&CONTENT.len()), Ok)?;
        let trial = path.join(unusual_name(name_len));
        match file.name(&trial) {
            Ok(()) => {
                let left = remove(&trial);
                return directory.sync().map(|()| left);
            }
            Err(StoreError::Exists(_)) => {}
            Err(StoreError::Write(_, source) | StoreError::Unsynced(_, source)) => return Err(own(source)),
            Err(error) => return Err(io::Error::other(error)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Checks that a directory takes these names, which must be new. Gives each to a file, and removes it.
/// Returns warnings about files that cannot be removed.
///
/// # Errors
///
/// Returns an error for the first name that is not taken.
pub(super) fn try_names(
    path: &Path,
    names: &[PathBuf],
    allow_exposed: bool,
) -> Result<Vec<Notice>, StoreError> {
    let failed = |source: io::Error| StoreError::Write(path.to_owned(), source.into());
    let directory = Directory::open(path, allow_exposed).map_err(failed)?;
    let mut left = Vec::new();
    for name in names {
        directory.temp_file(Access::Owner, CONTENT.into()).map_err(failed)?.name(name)?;
        left.extend(remove(name));
    }
    Ok(left)
}

/// Removes a file of a trial. Returns a warning if that fails.
pub(super) fn remove(path: &Path) -> Option<Notice> {
    match patiently((), |()| fs::remove_file(path).map_err(|error| (error, ()))) {
        // If it is gone, another process has removed it as a leftover.
        Err((error, ())) if error.kind() != io::ErrorKind::NotFound => {
            let file = escaped_path(path);
            let text = format!("a trial of the directory left '{file}', which cannot be removed: {error}");
            Some(Notice::warning(text))
        }
        _ => None,
    }
}

/// Returns `size` bytes.
fn content(size: usize) -> Vec<u8> {
    let mut content = vec![b'\n'; size];
    let len = size.min(CONTENT.len());
    content[..len].copy_from_slice(&CONTENT[..len]);
    content
}

/// Returns a temporary name of `len` bytes, but of one letter at least, that nobody else has just made.
/// The letters come from the clock: if it is taken, the next one differs.
pub(super) fn unusual_name(len: usize) -> String {
    let [start, end] = TEMPORARY;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut rest = (now.as_nanos() as u64) ^ u64::from(std::process::id()).rotate_left(20);
    let letter = |_| {
        let letter = char::from(b'a' + (rest % 26) as u8);
        rest /= 26;
        letter
    };
    let letters = 0..len.saturating_sub(start.len() + end.len()).max(1);
    start.chars().chain(letters.map(letter)).chain(end.chars()).collect()
}

/// Returns an error that nobody else has.
fn own(error: Arc<io::Error>) -> io::Error {
    Arc::try_unwrap(error).unwrap_or_else(|error| error.kind().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_has_the_length_of_the_real_files_and_leaves_nothing() {
        let directory = tempfile::TempDir::new().unwrap();
        let lens = [21, 24, 67, 255];
        for len in lens {
            assert_eq!(unusual_name(len).len(), len);
            assert!(try_directory(directory.path(), &[1, 1000], len, false).unwrap().is_none());
        }
        assert_ne!(unusual_name(67), unusual_name(67));
        assert!(try_directory(directory.path(), &[1], 256, false).is_err());
        assert_eq!([0, 1, 5000].map(|size| content(size).len()), [0, 1, 5000]);
        let names = ["a", "b"].map(|name| directory.path().join(name));
        assert!(try_names(directory.path(), &names, false).unwrap().is_empty());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        fs::write(&names[1], "mine").unwrap();
        let error = try_names(directory.path(), &names, false).unwrap_err();
        assert!(matches!(&error, StoreError::Exists(path) if *path == names[1]), "{error}");
        assert_eq!(fs::read(&names[1]).unwrap(), b"mine");
    }
}
