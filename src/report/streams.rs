//! Prints lines to stderr and results to stdout, in colors where a terminal shows them, and says how
//! a job failed: its message and its exit status.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write as _};
use std::ops::Range;
use std::time::Duration;

use crate::escape::escaped;
use crate::job::{JobError, Untold};
use crate::notice::{Notice, counted};
use crate::plan::{ANOTHER_ENGINE, ColorChoice, Diagnostic, OutputOptions, PlanError};
use crate::search::End;
use anstyle::{AnsiColor, Style};
use console::Term;

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

/// Whether the terminal cannot move its cursor.
pub(super) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// The status of a failure of input or output, of the machine, or of a self-check.
const FAILURE: u8 = 1;

/// The status of a request that cannot be carried out.
const UNUSABLE: u8 = 2;

/// The status of a search that a limit ended.
const LIMIT: u8 = 3;

/// Returns the exit status of a job.
#[must_use]
pub fn status(ended: &Result<End, JobError>) -> u8 {
    match ended {
        Ok(End::Complete) => 0,
        Ok(End::Timeout) | Err(JobError::InUse(..)) => LIMIT,
        Ok(End::Signal(signal)) | Err(JobError::Signal(signal)) => signal.status(),
        Err(JobError::Refused(PlanError::Diagnostics(_)) | JobError::Hopeless(_)) => UNUSABLE,
        Err(_) => FAILURE,
    }
}

/// Returns the message about keys that nobody has read from stdout, with its line endings. It is empty
/// if there are none.
#[must_use]
pub fn unread(untold: &Untold) -> String {
    let Some(hint) = untold.hint() else { return String::new() };
    let keys = |number| counted(number as u64, "key");
    let (what, hint) = match untold.lost {
        0 => (format!("it lacks the lines of {}", keys(untold.files.len() + untold.in_agent)), hint),
        lost => (format!("{} lost", keys(lost)), "--output and --output-dir write keys to files".to_owned()),
    };
    format!("error: nobody read stdout: {what}\nhint: {hint}\n")
}

/// Returns the message about a failed job, with line endings. It is empty after a signal, because
/// the sender knows the reason, and after a panic, which has printed a message itself.
#[must_use]
pub fn failure(error: &JobError, paint: Paint) -> String {
    match error {
        JobError::Refused(refused) => plan_error(refused, paint),
        JobError::Hopeless(hopeless) => super::figures::hopeless(hopeless, paint),
        JobError::Signal(_) | JobError::Panic => String::new(),
        error => {
            let line = Diagnostic::new(error.to_string());
            diagnostic(&if let Some(hint) = error.hint() { line.hint(hint) } else { line }, paint)
        }
    }
}

/// Returns the message about a refused request, with line endings.
#[must_use]
pub fn plan_error(error: &PlanError, paint: Paint) -> String {
    match error {
        PlanError::Diagnostics(diagnostics) => diagnostics.iter().map(|one| diagnostic(one, paint)).collect(),
        PlanError::SelfTest(error) => {
            diagnostic(&Diagnostic::new(error.to_string()).hint(ANOTHER_ENGINE), paint)
        }
    }
}

/// Returns the message about one diagnostic, with line endings.
pub(super) fn diagnostic(diagnostic: &Diagnostic, paint: Paint) -> String {
    let text = diagnostic.to_string();
    match text.strip_prefix("error:") {
        Some(rest) => format!("{}{rest}\n", paint.error("error:")),
        None => text + "\n",
    }
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
