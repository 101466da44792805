//! Lines for people, printed beside results, and their severity.

use std::fmt;

/// The severity of a notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The answer to a request.
    Info,
    /// An explanation of what the program does. Its prefix is `note: `.
    Note,
    /// A report that something is wrong. Its prefix is `warning: `.
    Warning,
    /// A failure that does not end the program. Its prefix is `error: `, and `--quiet` does not hide it.
    Error,
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

    /// Returns a line about a failure.
    pub fn error(text: impl Into<String>) -> Self {
        Self { severity: Severity::Error, text: text.into() }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.severity {
            Severity::Info => "",
            Severity::Note => "note: ",
            Severity::Warning => "warning: ",
            Severity::Error => "error: ",
        })?;
        f.write_str(&self.text)
    }
}
