//! Reads key files.

use std::io::{self, Read as _};
use std::path::Path;

use zeroize::Zeroizing;

use crate::sys::{ForeignAccess, SecretFile};

/// The size of the largest key file, in bytes. A comment cannot be longer than an argument.
const LARGEST: u64 = 1 << 20;

/// A key file that was read.
pub(super) struct KeyFile {
    pub(super) content: Zeroizing<Vec<u8>>,
    /// The other users who can access the file, if there are any.
    pub(super) others: Option<ForeignAccess>,
}

/// Reads a key file. A directory of keys can contain other things with such a name. So this
/// function does not wait for a pipe, and does not read a device or a file that is too large.
///
/// # Errors
///
/// Returns the error of the operating system, or [`io::ErrorKind::InvalidData`] with the reason why
/// it is not a key file.
pub(super) fn read_key_file(path: &Path) -> io::Result<KeyFile> {
    let SecretFile { file, metadata, others } = SecretFile::open(path, false)?;
    let other = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    let Some(found) = metadata else { return other("it is not a regular file") };
    match () {
        () if found.is_dir() => return other("it is a directory"),
        () if !found.is_file() => return other("it is not a regular file"),
        () if found.len() > LARGEST => return other("it is too large for a key"),
        () => {}
    }
    // The extra byte keeps the read from growing the buffer, which would leave a copy elsewhere.
    let mut content = Zeroizing::new(Vec::with_capacity(found.len() as usize + 1));
    file.take(found.len()).read_to_end(&mut content)?;
    Ok(KeyFile { content, others })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn files_that_hold_no_key_are_not_read() {
        let directory = TempDir::new().unwrap();
        let path = |name| directory.path().join(name);
        fs::write(path("key"), "secret").unwrap();
        fs::write(path("empty"), "").unwrap();
        symlink("key", path("link")).unwrap();
        let read = |name| read_key_file(&path(name)).unwrap().content;
        assert_eq!(**read("key"), *b"secret");
        assert_eq!(**read("link"), *b"secret");
        assert_eq!(**read("empty"), *b"");

        fs::File::create(path("largest")).unwrap().set_len(LARGEST).unwrap();
        assert_eq!(read("largest").len() as u64, LARGEST);

        fs::File::create(path("large")).unwrap().set_len(LARGEST + 1).unwrap();
        symlink("/dev/zero", path("endless")).unwrap();
        assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        for name in ["large", "endless", "pipe", ".", "gone"] {
            assert!(read_key_file(&path(name)).is_err(), "{name}");
        }
    }
}
