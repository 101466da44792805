//! The places that are tried for finds, in this order: their destination, other directories, a terminal.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use super::error::diagnostic;
use crate::notice::Notice;
use crate::plan::Diagnostic;
use crate::store::{Demands, Destination};

/// A try to keep finds in files.
pub(super) enum Attempt {
    /// At their destination.
    First,
    /// There once more.
    Second,
    /// In another directory.
    Elsewhere {
        directory: Destination,
        /// Whether it is in memory, and ends with the system.
        is_in_memory: bool,
    },
}

/// Returns the other directories in the order in which they are tried: the working directory, the user's
/// home, and where the system has them, the user's runtime directory and the memory that processes share.
/// What is `exposed` goes to a disk last.
pub(super) fn last_attempts(exposed: bool) -> Vec<Attempt> {
    let mut all: Vec<(PathBuf, bool)> = last_directories().collect();
    all.sort_by_key(|(_, is_in_memory)| exposed && !is_in_memory);
    let attempt =
        |(path, is_in_memory)| Attempt::Elsewhere { directory: Destination::Directory(path), is_in_memory };
    all.into_iter().map(attempt).collect()
}

/// Returns these directories, and whether each is in memory.
fn last_directories() -> impl Iterator<Item = (PathBuf, bool)> {
    let here = [PathBuf::from(".")].into_iter().chain(std::env::home_dir());
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let shared = cfg!(target_os = "linux").then(|| PathBuf::from("/dev/shm"));
    let in_memory =
        runtime.into_iter().chain(shared).filter(|path| cfg!(unix) && path.is_absolute() && path.is_dir());
    here.map(|path| (path, false)).chain(in_memory.map(|path| (path, true)))
}

/// Checks that at least one of the directories on disk takes files. Returns warnings about files of this
/// trial that cannot be removed.
pub(super) fn check(demands: Demands) -> Result<Vec<Notice>, Diagnostic> {
    let mut failed = None;
    for (path, _) in last_directories().filter(|(path, is_in_memory)| !is_in_memory && path.is_dir()) {
        match Destination::Directory(path).prepare(demands) {
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
