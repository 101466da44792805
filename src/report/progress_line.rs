//! The progress line, which is rewritten in place.
//!
//! A terminal prints `^C` at the cursor after Ctrl-C. After a line that fills the terminal, this
//! text would wrap, and the program could no longer clear the line. So the line is made for a
//! terminal that is a little narrower than the real one.

use std::io;

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

/// The number of columns that stay free.
const MARGIN: u16 = 3;

/// A progress line on stderr.
pub(super) struct ProgressLine(ProgressBar);

impl ProgressLine {
    /// Returns a progress line, or `None` if stderr is not a terminal that can move its cursor.
    pub(super) fn new() -> Option<Self> {
        let term = Term::stderr();
        if !term.is_term() || super::paint::is_dumb() {
            return None;
        }
        let style = ProgressStyle::with_template("{msg}").ok()?;
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(Narrower(term)), 10);
        Some(Self(ProgressBar::with_draw_target(None, target).with_style(style)))
    }

    /// Shows as many of the parts as fit.
    pub(super) fn show(&self, parts: &[Part]) {
        self.0.set_message(fitting(parts, Narrower(Term::stderr()).width().into()));
    }

    /// Removes the line while `write` writes.
    pub(super) fn above<T>(&self, write: impl FnOnce() -> T) -> T {
        self.0.suspend(write)
    }

    /// Removes the line for good.
    pub(super) fn end(self) {
        self.0.finish_and_clear();
    }
}

/// A part of the line.
pub(super) struct Part {
    text: String,
    /// The text that follows if all parts and these texts fit.
    rest: &'static str,
}

impl Part {
    /// Returns a part with a text that is left out first.
    pub(super) fn new(text: String, rest: &'static str) -> Self {
        Self { text, rest }
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::new(text, "")
    }
}

/// Returns the whole line.
pub(super) fn whole(parts: &[Part]) -> String {
    let parts: Vec<String> = parts.iter().map(|Part { text, rest }| format!("{text}{rest}")).collect();
    parts.join(", ")
}

/// Returns the whole line, or as many of the parts as fit into `width` columns.
fn fitting(parts: &[Part], width: usize) -> String {
    let mut line = whole(parts);
    if line.len() <= width {
        return line;
    }
    line.clear();
    for Part { text, .. } in parts {
        let separator = if line.is_empty() { "" } else { ", " };
        if line.len() + separator.len() + text.len() > width {
            break;
        }
        line = line + separator + text;
    }
    line
}

/// A terminal without its last columns.
#[derive(Debug)]
struct Narrower(Term);

impl TermLike for Narrower {
    fn width(&self) -> u16 {
        self.0.size().1.saturating_sub(MARGIN)
    }

    fn height(&self) -> u16 {
        self.0.size().0
    }

    fn move_cursor_up(&self, lines: usize) -> io::Result<()> {
        self.0.move_cursor_up(lines)
    }

    fn move_cursor_down(&self, lines: usize) -> io::Result<()> {
        self.0.move_cursor_down(lines)
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        self.0.move_cursor_right(columns)
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        self.0.move_cursor_left(columns)
    }

    fn write_line(&self, line: &str) -> io::Result<()> {
        self.0.write_line(line)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.0.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progress_line_never_wraps() {
        let parts = [("58,000 keys/s", ""), ("63 % chance", " by now"), ("10 s", "")];
        let parts = parts.map(|(text, rest)| Part::new(text.to_owned(), rest));
        assert_eq!(fitting(&parts, 80), "58,000 keys/s, 63 % chance by now, 10 s");
        assert_eq!(fitting(&parts, 38), "58,000 keys/s, 63 % chance, 10 s");
        assert_eq!(fitting(&parts, 31), "58,000 keys/s, 63 % chance");
        assert_eq!(fitting(&parts, 20), "58,000 keys/s");
        assert_eq!(fitting(&parts, 5), "");
    }
}
