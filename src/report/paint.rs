//! Colours, where they are wanted.

use std::fmt::Display;
use std::io::IsTerminal;
use std::ops::Range;

use crate::plan::ColorChoice;
use anstyle::{AnsiColor, Style};

/// Paints for one stream, or does not.
#[derive(Clone, Copy)]
pub struct Paint {
    enabled: bool,
}

impl Paint {
    /// Paints nothing.
    pub const PLAIN: Self = Self { enabled: false };

    /// For `stream`: `auto` paints on a terminal, unless NO_COLOR is set or TERM is dumb.
    pub fn new(choice: ColorChoice, stream: &impl IsTerminal) -> Self {
        let enabled = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => stream.is_terminal() && !is_unwanted(),
        };
        Self { enabled }
    }

    /// Whether it paints.
    #[must_use]
    pub fn enabled(self) -> bool {
        self.enabled
    }

    /// A heading.
    pub fn bold(self, text: impl Display) -> String {
        self.paint(Style::new().bold(), text)
    }

    /// Something that went wrong.
    pub fn error(self, text: impl Display) -> String {
        self.paint(AnsiColor::Red.on_default().bold(), text)
    }

    /// Something less important.
    pub fn faint(self, text: impl Display) -> String {
        self.paint(Style::new().dimmed(), text)
    }

    /// `text` with the bytes in `range` made to stand out.
    pub fn highlight(self, text: &str, range: Range<usize>) -> String {
        let matched = self.paint(AnsiColor::Green.on_default().bold(), &text[range.clone()]);
        format!("{}{matched}{}", &text[..range.start], &text[range.end..])
    }

    fn paint(self, style: Style, text: impl Display) -> String {
        if self.enabled { format!("{style}{text}{style:#}") } else { text.to_string() }
    }
}

/// Whether the surroundings ask for no colours.
pub fn is_unwanted() -> bool {
    is_dumb() || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Whether the terminal cannot move its cursor.
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_stands_out_only_in_colour() {
        assert_eq!(Paint::PLAIN.highlight("xabcx", 1..4), "xabcx");
        let painted = Paint { enabled: true }.highlight("xabcx", 1..4);
        assert!(painted.starts_with("x\u{1b}[") && painted.ends_with("\u{1b}[0mx"), "{painted:?}");
    }
}
