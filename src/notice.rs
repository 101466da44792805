//! What people are told beside results, and how much it matters.

use std::fmt;

/// How much a notice matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// It answers what was asked.
    Info,
    /// It explains what the program does.
    Note,
    /// Something is not as it should be.
    Warning,
}

/// A line for people. Foreign text in it is escaped when it is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notice {
    /// How much it matters.
    pub severity: Severity,
    /// The line, without its severity.
    pub text: String,
}

impl Notice {
    /// Returns a line that answers what was asked.
    pub fn info(text: impl Into<String>) -> Self {
        Self { severity: Severity::Info, text: text.into() }
    }

    /// Returns a line that explains what the program does.
    pub fn note(text: impl Into<String>) -> Self {
        Self { severity: Severity::Note, text: text.into() }
    }

    /// Returns a line about something that is not as it should be.
    pub fn warning(text: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, text: text.into() }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.severity {
            Severity::Info => "",
            Severity::Note => "note: ",
            Severity::Warning => "warning: ",
        })?;
        f.write_str(&self.text)
    }
}

/// Returns a number of things in words: `1 key`, `2 keys`.
#[must_use]
pub fn counted(number: u64, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{} {one}s", grouped(number)) }
}

/// Returns a whole number with commas between groups of three digits.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_counted() {
        let numbers = [0, 7, 999, 1000, 12_345, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "7", "999", "1,000", "12,345", "1,234,567"]);
        assert_eq!(
            [0, 1, 2, 1000].map(|number| counted(number, "key")),
            ["0 keys", "1 key", "2 keys", "1,000 keys"]
        );
    }
}
