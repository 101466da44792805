//! The line that is rewritten in place.
//!
//! A terminal answers Ctrl-C with a `^C` of its own where the cursor stands. Behind a line that fills the
//! terminal, it would wrap, and the line could not be cleared any more. So the line is laid out for a
//! terminal that is a little narrower than the real one.

use std::io;

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

/// Columns that are left free.
const MARGIN: u16 = 3;

/// A live line on stderr, if it is a terminal that can move its cursor.
pub(super) struct ProgressLine(ProgressBar);

impl ProgressLine {
    pub(super) fn new() -> Option<Self> {
        let term = Term::stderr();
        if !term.is_term() || super::paint::is_dumb() {
            return None;
        }
        let style = ProgressStyle::with_template("{msg}").ok()?;
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(Narrower(term)), 10);
        Some(Self(ProgressBar::with_draw_target(None, target).with_style(style)))
    }

    /// Shows as much of the parts as fits.
    pub(super) fn show(&self, parts: &[Part]) {
        self.0.set_message(fitting(parts, Narrower(Term::stderr()).width().into()));
    }

    /// Takes the line away while `write` writes.
    pub(super) fn above<T>(&self, write: impl FnOnce() -> T) -> T {
        self.0.suspend(write)
    }

    /// Takes the line away for good.
    pub(super) fn end(self) {
        self.0.finish_and_clear();
    }
}

/// A part of the line.
pub(super) struct Part {
    text: String,
    /// What follows where all parts have room for it.
    rest: &'static str,
}

impl Part {
    pub(super) fn new(text: String, rest: &'static str) -> Self {
        Self { text, rest }
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::new(text, "")
    }
}

/// The whole line.
pub(super) fn whole(parts: &[Part]) -> String {
    let parts: Vec<String> = parts.iter().map(|Part { text, rest }| format!("{text}{rest}")).collect();
    parts.join(", ")
}

/// The whole line, or as many of the parts as fit into `width` columns.
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
    fn a_live_line_never_wraps() {
        let parts = [("58,000 keys/s", ""), ("63 % chance", " by now"), ("10 s", "")];
        let parts = parts.map(|(text, rest)| Part::new(text.to_owned(), rest));
        assert_eq!(fitting(&parts, 80), "58,000 keys/s, 63 % chance by now, 10 s");
        assert_eq!(fitting(&parts, 38), "58,000 keys/s, 63 % chance, 10 s");
        assert_eq!(fitting(&parts, 31), "58,000 keys/s, 63 % chance");
        assert_eq!(fitting(&parts, 20), "58,000 keys/s");
        assert_eq!(fitting(&parts, 5), "");
    }
}
