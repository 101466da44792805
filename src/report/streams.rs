//! Lines on stderr, results on stdout.

use std::fmt::Display;
use std::io::{self, Write as _};

use crate::escape::escaped;
use crate::notice::Notice;
use crate::plan::OutputOptions;

/// Prints notices on stderr, unless `--quiet` is given.
pub(super) fn notices(notices: &[Notice], output: OutputOptions) {
    if !output.quiet {
        notices.iter().for_each(|notice| line(escaped(&notice.to_string())));
    }
}

/// Prints a line on stderr in one piece, so that it stays one beside what other processes write.
pub(super) fn line(line: impl Display) {
    text(&format!("{line}\n"));
}

/// Writes a result to stdout, all of it and at once.
pub fn print(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// Prints text on stderr, if it can be written to.
pub fn text(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
