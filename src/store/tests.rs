//! Helpers for the tests of several files.

use std::fs;
use std::path::Path;

/// Returns the names in a directory, sorted.
pub(super) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
