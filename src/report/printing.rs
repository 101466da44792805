//! Prints lines to stderr and results to stdout, in colors where a terminal shows them.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write as _};
use std::ops::Range;
use std::time::Duration;

use crate::escape::escaped;
use crate::notice::{Notice, Severity};
use crate::plan::{ColorChoice, OutputOptions};
use crate::sys::Patient;
use crate::words::broken;
use anstyle::{AnsiColor, Style};
use console::Term;

/// How long a last message waits for its reader.
const MOMENT: Duration = Duration::from_millis(100);

/// Prints notices to stderr. `--quiet` hides all but errors.
pub(super) fn notices(notices: &[Notice], output: OutputOptions) {
    let printed = notices.iter().filter(|notice| !output.quiet || notice.severity == Severity::Error);
    printed.for_each(|notice| line(escaped(&notice.to_string())));
}

/// Prints a notice to stderr. `--quiet` hides it unless it is an error.
pub fn notice(notice: &Notice, output: OutputOptions) {
    notices(std::slice::from_ref(notice), output);
}

/// Prints a line to stderr with a single write, so that output of other processes does not split
/// it. On a terminal, it is broken between words.
pub(super) fn line(line: impl Display) {
    text(&format!("{line}\n"));
}

/// Prints lines to stderr as they are.
pub(super) fn raw(text: &str) {
    let _ = Patient(io::stderr().lock()).write_all(text.as_bytes());
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

/// Prints text to stderr, broken between words on a terminal. Ignores a failed write.
pub fn text(text: &str) {
    raw(&broken(text, width(&Term::stderr())));
}

/// Returns the columns of a terminal, or `None` if the stream is none.
pub(super) fn width(stream: &Term) -> Option<usize> {
    stream.size_checked().filter(|_| stream.is_term()).map(|(_, columns)| columns.into())
}

/// Colors text for one stream, or leaves it as it is.
#[derive(Clone, Copy)]
pub struct Paint {
    enabled: bool,
}

impl Paint {
    /// Leaves all text as it is.
    pub const PLAIN: Self = Self { enabled: false };

    /// Returns the paint for `stream`. With `auto`, it colors text on a terminal, unless NO_COLOR
    /// is set or TERM is dumb.
    pub fn new(choice: ColorChoice, stream: &impl IsTerminal) -> Self {
        let enabled = match choice {
            ColorChoice::Always => {
                shows_colors();
                true
            }
            ColorChoice::Never => false,
            ColorChoice::Auto => stream.is_terminal() && !is_unwanted() && shows_colors(),
        };
        Self { enabled }
    }

    /// Whether text gets colors.
    #[must_use]
    pub fn enabled(self) -> bool {
        self.enabled
    }

    /// Returns a heading.
    pub fn bold(self, text: impl Display) -> String {
        self.paint(Style::new().bold(), text)
    }

    /// Returns text about an error.
    pub fn error(self, text: impl Display) -> String {
        self.paint(AnsiColor::Red.on_default().bold(), text)
    }

    /// Returns less important text.
    pub fn faint(self, text: impl Display) -> String {
        self.paint(Style::new().dimmed(), text)
    }

    /// Returns `text` with the bytes in `range` highlighted.
    pub fn highlight(self, text: &str, range: Range<usize>) -> String {
        if range.is_empty() {
            return text.to_owned();
        }
        let matched = self.paint(AnsiColor::Green.on_default().bold(), &text[range.clone()]);
        format!("{}{matched}{}", &text[..range.start], &text[range.end..])
    }

    fn paint(self, style: Style, text: impl Display) -> String {
        if self.enabled { format!("{style}{text}{style:#}") } else { text.to_string() }
    }
}

/// Whether a terminal shows colors. The console of Windows does so after it was told to. One that
/// is older than Windows 10 cannot.
fn shows_colors() -> bool {
    if cfg!(not(windows)) {
        return true;
    }
    let terminals = [Term::stdout(), Term::stderr()];
    terminals.map(|terminal| terminal.features().colors_supported()).contains(&true)
}

/// Whether the environment asks for no colors.
fn is_unwanted() -> bool {
    is_dumb() || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Whether the terminal cannot move its cursor, or nothing says that it can. Windows sets no TERM.
pub(super) fn is_dumb() -> bool {
    let term = std::env::var_os("TERM").unwrap_or_default();
    term == "dumb" || term.is_empty() && cfg!(not(windows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_stands_out_only_in_color() {
        assert_eq!(Paint::PLAIN.highlight("xabcx", 1..4), "xabcx");
        let painted = Paint { enabled: true }.highlight("xabcx", 1..4);
        assert!(painted.starts_with("x\u{1b}[") && painted.ends_with("\u{1b}[0mx"), "{painted:?}");
    }
}
