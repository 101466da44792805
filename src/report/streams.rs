//! Prints lines to stderr and results to stdout.

use std::fmt::Display;
use std::io::{self, Write as _};

use crate::escape::escaped;
use crate::notice::Notice;
use crate::plan::OutputOptions;

/// Prints notices to stderr, unless `--quiet` is given.
pub(super) fn notices(notices: &[Notice], output: OutputOptions) {
    if !output.quiet {
        notices.iter().for_each(|notice| line(escaped(&notice.to_string())));
    }
}

/// Prints a line to stderr with a single write, so that output of other processes does not split
/// it.
pub(super) fn line(line: impl Display) {
    text(&format!("{line}\n"));
}

/// Writes a result to stdout, and flushes it.
pub fn print(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// Prints text to stderr. Ignores a failed write.
pub fn text(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
