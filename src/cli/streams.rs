//! What stdout is, where the private key may go.

use std::io::{self, IsTerminal as _};

use crate::notice::Notice;
use crate::plan::Diagnostic;
#[cfg(windows)]
use crate::sys::windows::takes_nothing;

/// Refuses a stdout that discards what is written to it.
pub(super) fn check() -> Result<(), Diagnostic> {
    if !takes_nothing(&io::stdout()) {
        return Ok(());
    }
    Err(Diagnostic::new("stdout is closed or the null device: the private key would be lost")
        .hint("--output PATH writes it to a file; --estimate and --bench make no key"))
}

pub(super) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Returns a warning if stdout is a file that others can read.
#[cfg(unix)]
pub(super) fn warning() -> Option<Notice> {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::MetadataExt as _;
    let stdout = io::stdout().as_fd().try_clone_to_owned().ok()?;
    let found = std::fs::File::from(stdout).metadata().ok()?;
    let is_exposed = found.is_file() && found.mode() & 0o077 != 0;
    is_exposed.then(|| {
        Notice::warning(format!(
            "others can read the file that stdout goes to (mode {:04o}); -o FILE writes one that they cannot read",
            found.mode() & 0o777
        ))
    })
}

/// Returns nothing: the access list of a file of Windows is its directory's.
#[cfg(not(unix))]
pub(super) fn warning() -> Option<Notice> {
    None
}

/// Whether `stream` is the null device.
#[cfg(unix)]
fn takes_nothing(stream: &impl std::os::fd::AsFd) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let device = |file: std::fs::File| file.metadata().map(|metadata| metadata.rdev());
    let stream = stream.as_fd().try_clone_to_owned().and_then(|fd| device(fd.into()));
    // Rust's runtime opens the null device for a stdout that is closed at the start of the program.
    matches!((stream, std::fs::File::open("/dev/null").and_then(device)), (Ok(a), Ok(b)) if a == b)
}
