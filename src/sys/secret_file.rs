//! Opens files that hold secrets: private keys and passphrases.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use super::foreign_access::ForeignAccess;

/// A file that holds a secret, open for reading.
pub struct SecretFile {
    pub file: File,
    pub metadata: Metadata,
    /// The other users who can access the file, if there are any.
    pub others: Option<ForeignAccess>,
}

impl SecretFile {
    /// Opens a file. Does not wait for a pipe: without a writer, it has nothing to read.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = File::options();
        options.read(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(
            &mut options,
            rustix::fs::OFlags::NONBLOCK.bits() as i32,
        );
        let file = options.open(path)?;
        let (metadata, others) = (file.metadata()?, ForeignAccess::of(&file)?);
        Ok(Self { file, metadata, others })
    }
}
