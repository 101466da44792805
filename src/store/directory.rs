//! Creates directories for key files, and tries them before the search.

use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use super::error::FileError;
use super::name::parent;
use super::new_file::{Access, Directory, sync_together};
use super::temporary::TEMPORARY;

/// Checks that private files with all of these numbers of bytes fit into a directory at the same
/// time. Writes and syncs such files, gives the first one a name, and removes it.
///
/// # Errors
///
/// Returns the error of the operating system at the step that fails.
pub(super) fn try_directory(path: &Path, sizes: &[usize], allow_exposed: bool) -> io::Result<()> {
    let directory = Directory::open(path, allow_exposed)?;
    let [start, end] = TEMPORARY;
    for number in 0.. {
        let written = sizes.iter().map(|size| directory.temp_file(Access::Owner, &vec![0; *size]));
        let mut files = written.collect::<io::Result<Vec<_>>>()?;
        let synced = sync_together(&files.iter().collect::<Vec<_>>());
        synced.into_iter().collect::<io::Result<()>>()?;
        let trial = path.join(format!("{start}trial-{}-{number}{end}", std::process::id()));
        match files.remove(0).name(&trial) {
            Ok(()) => {
                match fs::remove_file(&trial) {
                    // If it is gone, another process has removed it as a leftover.
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => break,
                }
            }
            Err(FileError::Write(_, source)) => return Err(own(source)),
            // The name is taken by a leftover of another process with the same number.
            Err(_) => {}
        }
    }
    directory.sync()
}

/// Returns an error that nobody else has.
fn own(error: Arc<io::Error>) -> io::Error {
    Arc::try_unwrap(error).unwrap_or_else(|error| error.kind().into())
}

/// Creates a directory that only its owner can enter (mode 0700, or its access list), and syncs its
/// parent, which must exist.
///
/// # Errors
///
/// Returns the error of the operating system: [`io::ErrorKind::AlreadyExists`] for an existing
/// name.
pub(super) fn create_directory(path: &Path) -> io::Result<()> {
    let outer = Directory::open(parent(path), false)?;
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
