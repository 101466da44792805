//! Directories that take key files: made, and tried before the search.

use std::path::Path;
use std::{fs, io};

use super::error::FileError;
use super::name::parent;
use super::new_file::{Access, Directory};
use super::temporary::TEMPORARY;

/// Whether [`write_new`](super::new_file::write_new) can put files into this directory: takes its steps with a file of zeros, names it, and removes it.
///
/// # Errors
///
/// What the operating system answers to the step that fails.
pub(super) fn try_directory(path: &Path) -> io::Result<()> {
    // Longer than a key with an ordinary comment, so that a full disk is noticed too.
    const CONTENT: [u8; 1024] = [0; 1024];
    let directory = Directory::open(path)?;
    let [start, end] = TEMPORARY;
    for number in 0.. {
        let file = directory.temp_file(Access::Owner, &CONTENT)?;
        file.sync()?;
        let trial = path.join(format!("{start}trial-{}-{number}{end}", std::process::id()));
        match file.name(&trial) {
            Ok(()) => {
                match fs::remove_file(&trial) {
                    // Another process took it for a leftover, which it is.
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => break,
                }
            }
            Err(FileError::Write(_, source)) => return Err(source),
            // A leftover of another process with the same number, which could not be removed.
            Err(_) => {}
        }
    }
    directory.sync()
}

/// Makes a directory that only its owner can enter (mode 0700), durably. Its parent must exist.
///
/// # Errors
///
/// What the operating system answers; an existing name is [`io::ErrorKind::AlreadyExists`].
pub(super) fn create_directory(path: &Path) -> io::Result<()> {
    let outer = Directory::open(parent(path))?;
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    outer.sync()
}
