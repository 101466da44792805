//! The documents.

#![cfg(unix)]

use std::fs;
use std::path::Path;

/// The directory of the package.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Reads a document.
pub fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the names of all documents that people read.
pub fn documents() -> Vec<String> {
    let docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().file_name());
    let docs = docs.map(|name| name.into_string().unwrap()).filter(|name| name.ends_with(".md"));
    let mut names: Vec<String> = docs.map(|name| format!("docs/{name}")).collect();
    names.extend(["README.md", "SECURITY.md", "CONTRIBUTING.md"].map(str::to_owned));
    assert!(names.len() > 10, "{names:?}");
    names
}
