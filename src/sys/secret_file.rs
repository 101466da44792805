//! Opens files that hold secrets: private keys and passphrases.

#[cfg(unix)]
use std::fs;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use super::foreign_access::ForeignAccess;

/// A file that holds a secret, open for reading.
pub struct SecretFile {
    pub file: File,
    /// `None` for a pipe of Windows, which has none.
    pub metadata: Option<Metadata>,
    /// The other users who can access the file, if there are any. It is `None` for a terminal, another
    /// device, or a pipe without a name: only those who have it open can read it.
    pub others: Option<ForeignAccess>,
}

impl SecretFile {
    /// Opens a file. If it is a pipe without a writer, either waits for one, or has nothing to read.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn open(path: &Path, waits: bool) -> io::Result<Self> {
        let mut options = File::options();
        options.read(true);
        #[cfg(unix)]
        if !waits {
            let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
            std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
        }
        #[cfg(not(unix))]
        let _ = waits;
        let mut opened = Self::of(options.open(path)?)?;
        if is_named_pipe(path) {
            opened.others = ForeignAccess::of(&opened.file)?;
        }
        Ok(opened)
    }

    /// Takes a file that is open already.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn of(file: File) -> io::Result<Self> {
        let metadata = match file.metadata() {
            Err(_) if cfg!(windows) => None,
            found => Some(found?),
        };
        let is_file = metadata.as_ref().is_some_and(Metadata::is_file);
        let others = if is_file { ForeignAccess::of(&file)? } else { None };
        Ok(Self { file, metadata, others })
    }
}

/// Whether a path is the name of a pipe, and not a link to an open one, such as `/dev/fd/3`.
#[cfg(unix)]
fn is_named_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_named_pipe(_: &Path) -> bool {
    false
}
