//! Keeps finds that their destination does not take.

use std::io::{self, IsTerminal as _};

use super::error::diagnostic;
use crate::plan::Diagnostic;
use crate::store::{Demands, Destination, FileError, Kept, NewPair};

/// The directories for such finds, in the order in which they are tried: the working directory, and
/// then the user's home.
pub(super) struct Rescue(Vec<Destination>);

impl Rescue {
    pub(super) fn new() -> Self {
        let here = Destination::Directory(".".into());
        let home = std::env::home_dir().map(Destination::Directory);
        Self([here].into_iter().chain(home).collect())
    }

    /// Checks that at least one of the directories takes files. Returns the errors for files of this
    /// trial that cannot be removed.
    pub(super) fn check(&self, demands: Demands) -> Result<Vec<FileError>, Diagnostic> {
        let mut failed = None;
        let is_there = |one: &&Destination| matches!(one, Destination::Directory(path) if path.is_dir());
        for directory in self.0.iter().filter(is_there) {
            match directory.prepare(demands) {
                Ok(left) => return Ok(left),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(Vec::new()), |error| Err(diagnostic(&error, error.hint())))
    }

    /// Writes pairs to files in the first directory that takes them. Returns for each its files, or why
    /// no directory takes it.
    pub(super) fn keep(&self, pairs: &[NewPair], allow_exposed: bool) -> Vec<Result<Kept, String>> {
        let mut kept: Vec<Result<Kept, String>> = pairs.iter().map(|_| Err(String::new())).collect();
        for directory in &self.0 {
            let numbers: Vec<usize> = (0..pairs.len()).filter(|number| kept[*number].is_err()).collect();
            if numbers.is_empty() {
                break;
            }
            let left: Vec<NewPair> = numbers.iter().map(|number| pairs[*number]).collect();
            for (number, one) in numbers.into_iter().zip(directory.keep(&left, allow_exposed, || ())) {
                kept[number] = one.map_err(|error| match &kept[number] {
                    Err(before) if !before.is_empty() => format!("{before}, and {error}"),
                    _ => error.to_string(),
                });
            }
        }
        kept
    }
}

/// Whether a private key can be shown to a person who watches the search.
pub(super) fn is_watched() -> bool {
    io::stderr().is_terminal()
}
