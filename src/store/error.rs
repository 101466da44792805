//! Errors of writing key files.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use crate::escape::{escaped_path, shell_word};
use crate::key::{COMPUTES_WRONGLY, PublicKey};
use crate::sys::ForeignAccess;

use super::name::parent;

/// The hint if no files can be created in a directory.
const ANOTHER_DIRECTORY: &str = "choose a directory that you can write to, on a disk with free space";

/// The hint if others can read all files of a file system.
const NO_MODES: &str = "choose a directory of a file system with permissions, mount this one with umask=077, \
     or add --allow-exposed to keep keys that others can read";

/// The hint about names that are too long.
const SHORTER: &str = "choose a shorter name or path; the name of a public line is four characters longer";

/// Returns the hint about a directory that takes no private file.
fn unusable(source: &io::Error) -> String {
    let is_exposed = source.get_ref().is_some_and(|error| error.is::<Exposed>());
    match source.kind() {
        _ if is_exposed => NO_MODES,
        io::ErrorKind::InvalidFilename => SHORTER,
        _ => ANOTHER_DIRECTORY,
    }
    .to_owned()
}

/// The error of a private file that others can read, whatever mode or access list it is given.
#[derive(Debug, Error)]
#[error("{}", match .0 {
    ForeignAccess::Owner(user) => format!("every file there belongs to user {user}"),
    ForeignAccess::Others(how) => format!("others can read every file there ({how})"),
})]
pub(super) struct Exposed(pub(super) ForeignAccess);

/// Why files cannot be kept.
#[derive(Clone, Debug, Error)]
pub enum StoreError {
    /// The name exists already. The existing file was not touched.
    #[error("'{}' already exists", escaped_path(.0))]
    Exists(PathBuf),
    /// The file was not written, because of this error of the operating system.
    #[error("cannot write '{}': {}", escaped_path(.0), .1)]
    Write(PathBuf, #[source] Arc<io::Error>),
    /// New files are complete and have their names, but this directory could not be synced, because of this
    /// error of the operating system.
    #[error("cannot sync the directory '{}': {}", escaped_path(.0), .1)]
    Unsynced(PathBuf, #[source] Arc<io::Error>),
    /// The path is empty, or ends in `/`, `.` or `..`, or in a name that Windows keeps for devices.
    #[error("'{}' does not name a file", escaped_path(.0))]
    NoFileName(PathBuf),
    /// The name of the private file is that of a public file.
    #[error("'{}' is the name of a public key, and the private key would go there", escaped_path(.0))]
    PublicName(PathBuf),
    /// The file system does not take the name, because of this error of the operating system.
    #[error("cannot write '{}': {}", escaped_path(.0), .1)]
    RefusedName(PathBuf, #[source] Arc<io::Error>),
    #[error("'{}' is a directory", escaped_path(.0))]
    IsDirectory(PathBuf),
    #[error("the directory '{}' does not exist", escaped_path(.0))]
    NoDirectory(PathBuf),
    /// The path exists, but is not a directory.
    #[error("'{}' is not a directory", escaped_path(.0))]
    NotADirectory(PathBuf),
    /// Files can be created in the directory, but it cannot be read, and so not synced either.
    #[error(
        "the directory '{}' can be written but not read, so new files there cannot be made durable",
        escaped_path(.0)
    )]
    Unreadable(PathBuf),
    /// No files can be created in the directory, because of this error of the operating system.
    #[error("cannot create files in '{}': {}", escaped_path(.0), .1)]
    Unusable(PathBuf, #[source] Arc<io::Error>),
    /// The private key **is** kept; its public line is not.
    #[error("{source}; the private key is kept in '{}'", escaped_path(.private_file))]
    PublicFile {
        /// Where the private key is.
        private_file: PathBuf,
        /// The public line, without a line end.
        line: String,
        source: Box<StoreError>,
    },
    /// The public key does not belong to the seed. Nothing was written.
    #[error("the seed does not belong to the key {}", .0.line(""))]
    WrongKey(PublicKey),
}

impl StoreError {
    /// Whether the private key is complete under its name nevertheless.
    #[must_use]
    pub fn is_on_disk(&self) -> bool {
        matches!(self, Self::PublicFile { .. } | Self::Unsynced(..))
    }

    /// Returns a hint about what to do.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Exists(_) => {
                "choose another name, or move the existing file away; keys are never overwritten".to_owned()
            }
            Self::Unsynced(..) => {
                "its newest files are complete, but this disk may lose them: copy them to another disk"
                    .to_owned()
            }
            Self::NoFileName(path) if path.file_name().is_some() && !cfg!(windows) => {
                let name = shell_word(&tidy(path));
                format!("leave out what follows the name: -o {name}; or make a directory: -d {name}")
            }
            Self::PublicName(path) if path.file_stem() != path.file_name() => {
                let private = escaped_path(&path.with_extension(""));
                format!(
                    "with -o {private} the private key goes to {private}, and the public line to {private}.pub"
                )
            }
            Self::NoFileName(_) | Self::PublicName(_) => "give the name of a new file".to_owned(),
            Self::RefusedName(..) => {
                "choose another name: this file system does not take this one".to_owned()
            }
            Self::IsDirectory(path) => {
                format!(
                    "give the name of a new file, such as {}; -d writes pairs of files into a directory",
                    escaped_path(&tidy(path).join("id_ed25519"))
                )
            }
            Self::NoDirectory(path) if path.is_symlink() => {
                "it is a broken link: remove it, or choose another directory".to_owned()
            }
            Self::NoDirectory(path) => {
                let is_of_ssh = std::env::home_dir().is_some_and(|home| home.join(".ssh") == *path);
                let mkdir = match parent(path).exists() {
                    _ if is_of_ssh => "mkdir -m 700",
                    true => "mkdir",
                    false => "mkdir -p",
                };
                format!("create it first: {mkdir} {}", shell_word(path))
            }
            Self::NotADirectory(_) => "choose another directory".to_owned(),
            Self::Unreadable(path) => {
                format!("run chmod u+r {}, or choose another directory", shell_word(path))
            }
            Self::Write(_, source) | Self::Unusable(_, source) => unusable(source),
            Self::PublicFile { line, .. } => format!("its public line is: {line}"),
            Self::WrongKey(_) => COMPUTES_WRONGLY.to_owned(),
        })
    }
}

/// Returns a path without `/` or `/.` at its end.
fn tidy(path: &Path) -> PathBuf {
    path.components().collect()
}
