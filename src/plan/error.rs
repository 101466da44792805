//! Reasons to refuse a request.

use super::diagnostic::Diagnostic;
use crate::engine::EngineError;

/// Why a request is refused.
#[derive(Debug)]
pub enum PlanError {
    /// The parser refuses the command line.
    Usage(Usage),
    /// The request is unusable. The list has at least one diagnostic.
    Diagnostics(Vec<Diagnostic>),
    /// An engine computed a wrong key.
    SelfTest(EngineError),
}

/// A message of the parser of the command line: the help, the version, or an error.
#[derive(Debug)]
pub struct Usage {
    /// The message without colors.
    pub plain: String,
    /// The message with the parser's colors.
    pub painted: String,
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
