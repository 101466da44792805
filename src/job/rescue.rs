//! The last places for finds that their destination does not take: other directories, and then a
//! terminal.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use super::error::diagnostic;
use crate::plan::Diagnostic;
use crate::store::{Demands, Destination, FileError};

/// A directory for finds that their destination does not take.
pub(super) struct LastPlace {
    pub(super) directory: Destination,
    /// Whether it is in memory, and ends with the system.
    pub(super) is_in_memory: bool,
}

/// Returns these directories in the order in which they are tried: the working directory, the user's
/// home, and where the system has them, the user's runtime directory and the memory that processes share.
pub(super) fn last_places() -> Vec<LastPlace> {
    let place = |path, is_in_memory| LastPlace { directory: Destination::Directory(path), is_in_memory };
    let here = [PathBuf::from(".")].into_iter().chain(std::env::home_dir());
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let shared = cfg!(target_os = "linux").then(|| PathBuf::from("/dev/shm"));
    let in_memory =
        runtime.into_iter().chain(shared).filter(|path| cfg!(unix) && path.is_absolute() && path.is_dir());
    here.map(|path| place(path, false)).chain(in_memory.map(|path| place(path, true))).collect()
}

/// Checks that at least one of the directories on disk takes files. Returns the errors for files of this
/// trial that cannot be removed.
pub(super) fn check(demands: Demands) -> Result<Vec<FileError>, Diagnostic> {
    let mut failed = None;
    let is_there = |place: &LastPlace| {
        !place.is_in_memory && matches!(&place.directory, Destination::Directory(path) if path.is_dir())
    };
    for place in last_places().into_iter().filter(is_there) {
        match place.directory.prepare(demands) {
            Ok(left) => return Ok(left),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    failed.map_or(Ok(Vec::new()), |error| Err(diagnostic(&error, error.hint())))
}

/// A terminal that shows a private key that no file takes.
pub enum Screen {
    Stderr,
    Stdout,
    /// The terminal of this process, to which no stream of ours goes.
    Own(File),
}

impl Screen {
    /// Returns the terminal, if there is one.
    pub(super) fn find() -> Option<Self> {
        if io::stderr().is_terminal() {
            return Some(Self::Stderr);
        }
        if io::stdout().is_terminal() {
            return Some(Self::Stdout);
        }
        let path = if cfg!(windows) { "CONOUT$" } else { "/dev/tty" };
        File::options().write(true).open(path).ok().filter(File::is_terminal).map(Self::Own)
    }
}
