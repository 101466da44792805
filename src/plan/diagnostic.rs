//! The reasons to refuse a request. Most are diagnostics: the problem, its place, and hints.

use std::fmt;
use std::ops::Range;

use crate::engine::EngineError;
use crate::escape::{escaped, escaped_char};

/// The hint after an engine has computed a wrong key.
pub(crate) const ANOTHER_ENGINE: &str = "choose another engine, such as --engine reference, and report this";

/// Why a request is refused.
#[derive(Debug)]
pub enum PlanError {
    /// The request is unusable. The list has at least one diagnostic.
    Diagnostics(Vec<Diagnostic>),
    /// An engine computed a wrong key.
    SelfTest(EngineError),
}

impl From<Diagnostic> for PlanError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Diagnostics(vec![diagnostic])
    }
}

impl From<EngineError> for PlanError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::SelfTest(_) => Self::SelfTest(error),
            EngineError::Unknown(_) | EngineError::Unavailable { .. } => {
                Diagnostic::new(error.to_string()).hint(error.hint()).into()
            }
        }
    }
}

/// The most characters of a text that an excerpt shows.
const EXCERPT: usize = 60;

/// One thing that makes a request unusable. Text that it repeats is escaped when it is shown.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    problem: String,
    place: Option<(String, Range<usize>)>,
    hints: Vec<String>,
}

impl Diagnostic {
    /// Returns a diagnostic about a problem, in one line, without a place and without hints.
    pub fn new(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), place: None, hints: Vec::new() }
    }

    /// Adds a hint about what to do.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        self.hints([hint])
    }

    /// Adds hints, each in a line.
    pub fn hints(mut self, hints: impl IntoIterator<Item: Into<String>>) -> Self {
        self.hints.extend(hints.into_iter().map(Into::into));
        self
    }

    /// Adds an excerpt of `text`, with carets under its characters `at`.
    pub fn place(mut self, text: &str, at: Range<usize>) -> Self {
        self.place = (!text.is_empty()).then(|| (text.to_owned(), at));
        self
    }

    /// Removes the hints of a diagnostic if the next diagnostic has the same hints.
    pub fn say_hints_once(diagnostics: &mut [Self]) {
        for at in 1..diagnostics.len() {
            if diagnostics[at - 1].hints == diagnostics[at].hints {
                diagnostics[at - 1].hints.clear();
            }
        }
    }
}

impl std::error::Error for Diagnostic {}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", escaped(&self.problem))?;
        if let Some((text, at)) = &self.place {
            let (excerpt, carets) = excerpt(text, at);
            write!(f, "\n    {excerpt}\n    {carets}")?;
        }
        self.hints.iter().try_for_each(|hint| write!(f, "\nhint: {}", escaped(hint)))
    }
}

/// Returns the part of `text` around the characters `at`, and the line of carets under them.
/// Escapes characters that a terminal would not print.
fn excerpt(text: &str, at: &Range<usize>) -> (String, String) {
    let long = text.chars().nth(EXCERPT).is_some();
    let start = if long { at.start.saturating_sub(EXCERPT / 2) } else { 0 };
    let (mut shown, mut under) = (String::new(), String::new());
    if start > 0 {
        shown.push_str("...");
        under.push_str("   ");
    }
    let mut chars = text.chars().enumerate().skip(start);
    for (number, char) in chars.by_ref().take(EXCERPT) {
        let printed = escaped_char(char);
        let mark = if at.contains(&number) { "^" } else { " " };
        under.push_str(&mark.repeat(printed.chars().count()));
        shown.push_str(&printed);
    }
    if chars.next().is_some() {
        shown.push_str("...");
    }
    if under.trim_end().is_empty() {
        under.push('^');
    }
    (shown, under.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_are_under_the_wrong_characters() {
        assert_eq!(excerpt("a=b", &(1..2)), ("a=b".into(), " ^".into()));
        assert_eq!(excerpt("a[", &(2..3)), ("a[".into(), "  ^".into()));
        assert_eq!(excerpt("a\tb=", &(1..2)), ("a\\tb=".into(), " ^^".into()));
        let (shown, under) = excerpt(&format!("{}={}", "x".repeat(100), "y".repeat(100)), &(100..101));
        assert_eq!(shown, format!("...{}={}...", "x".repeat(30), "y".repeat(29)));
        assert_eq!(under.find('^'), shown.find('='));
    }
}
