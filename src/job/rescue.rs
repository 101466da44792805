//! Keeps finds that their destination does not take.

use std::io::{self, IsTerminal as _};

use super::error::diagnostic;
use crate::plan::Diagnostic;
use crate::store::{Destination, Kept, NewPair};

/// The directories for such finds, in the order in which they are tried: the working directory, and
/// then the user's home.
pub(super) struct Rescue(Vec<Destination>);

impl Rescue {
    pub(super) fn new() -> Self {
        let here = Destination::Directory(".".into());
        let home = std::env::home_dir().map(Destination::Directory);
        Self([here].into_iter().chain(home).collect())
    }

    /// Checks that at least one of the directories takes files.
    pub(super) fn check(&self) -> Result<(), Diagnostic> {
        let mut failed = None;
        let is_there = |one: &&Destination| matches!(one, Destination::Directory(path) if path.is_dir());
        for directory in self.0.iter().filter(is_there) {
            match directory.prepare() {
                Ok(()) => return Ok(()),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(()), |error| Err(diagnostic(&error, error.hint())))
    }

    /// Writes a pair to files in the first directory that takes it, or returns why none does.
    pub(super) fn keep(&self, pair: &NewPair) -> Result<Kept, String> {
        let mut failed = Vec::new();
        for directory in &self.0 {
            match directory.keep(pair) {
                Ok(Some(kept)) => return Ok(kept),
                Ok(None) => {}
                Err(error) => failed.push(error.to_string()),
            }
        }
        Err(failed.join(", and "))
    }
}

/// Whether a private key can be shown to a person who watches the search.
pub(super) fn is_watched() -> bool {
    io::stderr().is_terminal()
}
