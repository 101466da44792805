//! Creates directories for key files, and tries them before the search.

use std::path::Path;
use std::{fs, io};

use super::error::FileError;
use super::name::parent;
use super::new_file::{Access, Directory};
use super::temporary::TEMPORARY;

/// Checks that [`write_new`](super::new_file::write_new) can write files into this directory. Takes
/// the same steps with a file of zeros, gives it a name, and removes it.
///
/// # Errors
///
/// Returns the error of the operating system at the step that fails.
pub(super) fn try_directory(path: &Path) -> io::Result<()> {
    // This is longer than a key with an ordinary comment, so a full disk also shows.
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
                    // If it is gone, another process has removed it as a leftover.
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => break,
                }
            }
            Err(FileError::Write(_, source)) => return Err(source),
            // The name is taken by a leftover of another process with the same number.
            Err(_) => {}
        }
    }
    directory.sync()
}

/// Creates a directory that only its owner can enter (mode 0700, or its access list), and syncs its
/// parent, which must exist.
///
/// # Errors
///
/// Returns the error of the operating system: [`io::ErrorKind::AlreadyExists`] for an existing
/// name.
pub(super) fn create_directory(path: &Path) -> io::Result<()> {
    let outer = Directory::open(parent(path))?;
    #[cfg(unix)]
    {
        let mut builder = fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)?;
        // The umask may have taken the owner's own permissions.
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .or_else(|_| fs::metadata(path).map(drop))?;
    }
    #[cfg(windows)]
    crate::sys::windows::create_private_directory(path)?;
    outer.sync()
}
