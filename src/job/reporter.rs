//! What a job says while it runs.

use std::io;

use crate::notice::Notice;
use crate::search::{Find, Progress, Summary};
use crate::store::Kept;

/// Where a private key went.
pub enum Delivered<'a> {
    /// Into files, by now durable.
    Files(Kept),
    /// Into no file: its text goes to stdout with the report.
    Stdout(&'a str),
}

/// Shows what a job does. An error means that a result could not be written to stdout.
pub trait Reporter {
    /// The search is about to begin, on a machine that tried so many keys per second just now.
    ///
    /// # Errors
    ///
    /// A result cannot be written.
    fn odds(&mut self, keys_per_second: f64) -> io::Result<()>;

    /// There is nothing to search for: every key exists already.
    ///
    /// # Errors
    ///
    /// A result cannot be written.
    fn nothing_missing(&mut self) -> io::Result<()>;

    /// A key was found and is where it belongs, with this comment.
    ///
    /// # Errors
    ///
    /// A result cannot be written.
    fn found(&mut self, find: &Find, comment: &str, delivered: Delivered) -> io::Result<()>;

    /// The search goes on.
    fn progress(&mut self, progress: &Progress);

    /// Something happened that people should know.
    fn notice(&mut self, notice: &Notice);

    /// The search is over.
    ///
    /// # Errors
    ///
    /// A result cannot be written.
    fn summary(&mut self, summary: &Summary) -> io::Result<()>;
}
