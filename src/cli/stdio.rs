//! What stdout is, where the private key may go.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use crate::notice::Notice;
use crate::plan::Diagnostic;
use crate::sys::{TakesNothing, stdout_takes_nothing};

/// Refuses a stdout that takes nothing of what is written to it. `has_keys` is whether private keys go
/// there. Without them it may discard all on purpose, or fail later.
pub(super) fn check(has_keys: bool) -> Result<(), Diagnostic> {
    let problem = match stdout_takes_nothing() {
        Some(TakesNothing::Null) if has_keys => "is closed or the null device",
        Some(TakesNothing::Full) if has_keys => "is a device that is always full",
        Some(TakesNothing::ReadOnly) => "is open for reading only",
        Some(TakesNothing::Discards) => "is a device that keeps nothing",
        Some(TakesNothing::Null | TakesNothing::Full) | None => return Ok(()),
    };
    Err(match has_keys {
        true => Diagnostic::new(format!("stdout {problem}: the private key would be lost"))
            .hint("--output PATH writes it to a file; --estimate and --bench make no key"),
        false => Diagnostic::new(format!("stdout {problem}: the lines about keys would be lost"))
            .hint("write > FILE, which opens a file for writing, or > /dev/null, which wants no lines"),
    })
}

/// Whether `-` stands for stdin or stdout.
pub(super) fn is_stdio(path: &Path) -> bool {
    path == Path::new("-")
}

/// Returns whether a person types what is read from `file`. `-` is stdin.
pub(super) fn is_typed(file: &Path) -> bool {
    #[cfg(unix)]
    let is_device = std::fs::metadata(file)
        .is_ok_and(|found| std::os::unix::fs::FileTypeExt::is_char_device(&found.file_type()));
    #[cfg(not(unix))]
    let is_device = false;
    if is_stdio(file) {
        return io::stdin().is_terminal();
    }
    // To open other files can have an effect.
    is_device && std::fs::File::open(file).is_ok_and(|file| file.is_terminal())
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
