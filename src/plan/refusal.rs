//! Why a request is not carried out.

use super::complaint::Complaint;
use crate::engine::EngineError;

/// Why a request is not carried out.
#[derive(Debug)]
pub enum Refusal {
    /// The command line is not understood.
    Usage(Usage),
    /// The request is unusable. At least one complaint.
    Complaints(Vec<Complaint>),
    /// An engine computed a wrong key.
    SelfTest(EngineError),
}

/// What the parser of the command line says: help, or what it does not understand.
#[derive(Debug)]
pub struct Usage {
    /// Without colours.
    pub plain: String,
    /// With the parser's colours.
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
