//! Reasons to refuse a request.

use super::complaint::Complaint;
use crate::engine::EngineError;

/// Why a request is refused.
#[derive(Debug)]
pub enum Refusal {
    /// The parser refuses the command line.
    Usage(Usage),
    /// The request is unusable. The list has at least one complaint.
    Complaints(Vec<Complaint>),
    /// An engine computed a wrong key.
    SelfTest(EngineError),
}

/// A message of the parser of the command line: the help, the version, or an error.
#[derive(Debug)]
pub struct Usage {
    /// The message without colours.
    pub plain: String,
    /// The message with the parser's colours.
    pub painted: String,
}

impl From<Complaint> for Refusal {
    fn from(complaint: Complaint) -> Self {
        Self::Complaints(vec![complaint])
    }
}

impl From<EngineError> for Refusal {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::SelfTest(_) => Self::SelfTest(error),
            EngineError::Unknown(_) | EngineError::Unavailable { .. } => {
                Complaint::new(error.to_string()).hint(error.hint()).into()
            }
        }
    }
}
