//! Refuses a search whose private key would be lost.

use std::io;

use crate::plan::Complaint;
#[cfg(windows)]
use crate::sys::windows::takes_nothing;

/// Refuses a stdout that discards what is written to it.
pub(super) fn check() -> Result<(), Complaint> {
    if !takes_nothing(&io::stdout()) {
        return Ok(());
    }
    Err(Complaint::new("stdout is closed or the null device: the private key would be lost")
        .hint("--output PATH writes it to a file; --estimate and --bench make no key"))
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
