//! The progress line, which is rewritten in place, and its bar.
//!
//! A terminal prints `^C` at the cursor after Ctrl-C. After a line that fills the terminal, this
//! text would wrap, and the program could no longer clear the line. So the line is made for a
//! terminal that is a little narrower than the real one.

use std::io;

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

/// The number of columns that stay free.
const MARGIN: u16 = 3;

/// The fewest columns of a terminal whose line has a bar.
const LEAST_WITH_BAR: u16 = 60;

/// The fewest columns of a bar, without what is around it.
const LEAST_BAR: usize = 10;

/// The columns around a bar: a space and two brackets.
const AROUND: usize = 3;

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

    /// Shows as many of the parts as fit, and a bar of `chance` in the rest of the line.
    pub(super) fn show(&self, parts: &[Part], chance: Option<f64>) {
        self.0.set_message(with_bar(parts, chance, Term::stderr().size().1));
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

/// A part of the line, in one form or in several, the longest first.
pub(super) struct Part(Vec<String>);

impl Part {
    /// Returns a part in several forms, the longest first.
    pub(super) fn of(forms: impl IntoIterator<Item = String>) -> Self {
        Self(forms.into_iter().collect())
    }

    fn longest(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }

    fn shortest(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self(vec![text])
    }
}

/// The text between two parts.
const BETWEEN: &str = ", ";

/// Returns the whole line.
pub(super) fn whole(parts: &[Part]) -> String {
    parts.iter().map(Part::longest).collect::<Vec<_>>().join(BETWEEN)
}

/// Returns as many of the parts as fit into a terminal with this number of columns, and a bar in
/// the rest if the terminal is wide enough.
fn with_bar(parts: &[Part], chance: Option<f64>, columns: u16) -> String {
    let width = usize::from(columns.saturating_sub(MARGIN));
    let Some(chance) = chance.filter(|_| columns >= LEAST_WITH_BAR) else {
        return fitting(parts, width);
    };
    let text = fitting(parts, width - LEAST_BAR - AROUND);
    let bar = width - AROUND - text.len();
    let full = ((chance * bar as f64) as usize).min(bar);
    format!("{text} [{}{}]", "#".repeat(full), ".".repeat(bar - full))
}

/// Returns the parts that fit into `width` columns, the first ones first, and then their longest
/// forms that fit.
fn fitting(parts: &[Part], width: usize) -> String {
    let (mut shown, mut len) = (Vec::new(), 0);
    for part in parts {
        let text = part.shortest();
        let more = text.len() + if shown.is_empty() { 0 } else { BETWEEN.len() };
        if len + more <= width {
            shown.push((part, text));
            len += more;
        }
    }
    for (part, text) in &mut shown {
        let room = width - len + text.len();
        if let Some(longer) = part.0.iter().find(|form| form.len() <= room) {
            len = len - text.len() + longer.len();
            *text = longer;
        }
    }
    shown.iter().map(|(_, text)| *text).collect::<Vec<_>>().join(BETWEEN)
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
        let parts = [
            &["58,000 keys/s", "58,000/s"][..],
            &["63% chance by now", "63% chance", "63%"],
            &["50% by 9 s"],
            &["10 s"],
        ];
        let parts = parts.map(|forms| Part::of(forms.iter().map(|form| (*form).to_owned())));
        for (width, expected) in [
            (80, "58,000 keys/s, 63% chance by now, 50% by 9 s, 10 s"),
            (51, "58,000 keys/s, 63% chance, 50% by 9 s, 10 s"),
            (44, "58,000 keys/s, 63%, 50% by 9 s, 10 s"),
            (37, "58,000/s, 63%, 50% by 9 s, 10 s"),
            (32, "58,000 keys/s, 63%, 50% by 9 s"),
            (26, "58,000 keys/s, 63%, 10 s"),
            (24, "58,000/s, 63%, 10 s"),
            (18, "58,000/s, 63%"),
            (13, "58,000 keys/s"),
            (3, ""),
        ] {
            assert_eq!(fitting(&parts, width), expected);
        }
        assert_eq!(whole(&parts), fitting(&parts, 80));
    }

    #[test]
    fn a_bar_fills_the_rest_of_a_wide_line() {
        let parts = [Part::from("58,000 keys/s".to_owned()), Part::from("10 s".to_owned())];
        let line = |chance, columns| with_bar(&parts, chance, columns);
        assert_eq!(
            line(Some(0.5), 60),
            format!("58,000 keys/s, 10 s [{}{}]", "#".repeat(17), ".".repeat(18))
        );
        assert_eq!(line(Some(0.5), 60).len(), 57);
        assert_eq!(line(Some(1.0), 200).len(), 197);
        assert!(line(Some(1.0), 200).ends_with("##]") && line(Some(0.0), 200).contains(" [.."));
        for columns in [59, 20, 3, 0] {
            assert!(!line(Some(0.5), columns).contains('[') && line(Some(0.5), columns).len() <= 57);
        }
        assert_eq!(line(None, 60), "58,000 keys/s, 10 s");
    }
}
