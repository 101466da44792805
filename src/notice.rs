//! Lines for people, printed beside results, and their severity.

use std::fmt;

use indicatif::HumanCount;

/// The severity of a notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The answer to a request.
    Info,
    /// An explanation of what the program does. Its prefix is `note: `.
    Note,
    /// A report that something is wrong. Its prefix is `warning: `.
    Warning,
}

/// A line for people. The code that prints it escapes foreign text in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notice {
    pub severity: Severity,
    /// The line, without the prefix of its severity.
    pub text: String,
}

impl Notice {
    /// Returns a line that answers a request.
    pub fn info(text: impl Into<String>) -> Self {
        Self { severity: Severity::Info, text: text.into() }
    }

    /// Returns a line that explains what the program does.
    pub fn note(text: impl Into<String>) -> Self {
        Self { severity: Severity::Note, text: text.into() }
    }

    /// Returns a line that warns of something wrong.
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

/// Returns a number and its noun: `1 key`, `2 keys`, `1,000 keys`. `one` is the singular.
#[must_use]
pub fn counted(number: u64, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{} {one}s", grouped(number)) }
}

/// Returns `is` after one thing, and `are` after any other number of things.
#[must_use]
pub fn are(number: u64) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// Returns a whole number with commas between groups of three digits.
#[must_use]
pub fn grouped(number: u64) -> String {
    HumanCount(number).to_string()
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
