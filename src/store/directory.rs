//! Creates directories for key files.

#[cfg(unix)]
use std::fs;
use std::io;
use std::path::Path;

use super::name::parent;
use super::new_file::Directory;

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
