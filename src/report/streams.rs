//! Prints lines to stderr and results to stdout.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::time::Duration;

use crate::escape::escaped;
use crate::notice::Notice;
use crate::plan::OutputOptions;

/// How long a last message waits for its reader.
const MOMENT: Duration = Duration::from_millis(100);

/// Prints notices to stderr, unless `--quiet` is given.
pub(super) fn notices(notices: &[Notice], output: OutputOptions) {
    if !output.quiet {
        notices.iter().for_each(|notice| line(escaped(&notice.to_string())));
    }
}

/// Prints a notice to stderr, unless `--quiet` is given.
pub fn notice(notice: &Notice, output: OutputOptions) {
    notices(std::slice::from_ref(notice), output);
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

/// Prints text to stderr, but waits for a reader who does not read only for a moment.
pub fn text_if_read(message: String) {
    let (sender, written) = std::sync::mpsc::channel::<()>();
    let write = move || {
        text(&message);
        drop(sender);
    };
    if std::thread::Builder::new().spawn(write).is_ok() {
        let _ = written.recv_timeout(MOMENT);
    }
}

/// Prints text to stderr. Ignores a failed write.
pub fn text(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
