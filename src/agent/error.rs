//! The reasons why an agent does not take a key.

use std::path::PathBuf;
use std::sync::Arc;
use std::{fmt, io};

use crate::escape::escaped_path;
use crate::sys::RandomnessError;

/// The hint if there is no agent.
const START: &str = "start one with eval \"$(ssh-agent)\", or leave out --agent";

/// Why an agent does not take a key.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AgentError {
    /// The environment names no agent.
    NoSocket,
    /// No agent listens at this path, because of this error of the operating system.
    Unreachable(PathBuf, Arc<io::Error>),
    /// The agent does not answer in time.
    Silent,
    /// The agent has not answered when the search had to end.
    Hurried,
    /// The connection ended before the answer, because of this error of the operating system.
    Broken(Arc<io::Error>),
    /// The answer is not one of the protocol.
    NoAnswer,
    /// The agent lists no keys and takes none. An agent that is locked does this, and others that
    /// take no keys from outside.
    TakesNone,
    /// The agent takes no such key.
    Refused,
    /// The agent takes keys, but not with a lifetime or a confirmation.
    Unconstrained,
    /// The agent reported success, but does not list the key.
    Unlisted,
    /// The operating system's random generator failed.
    Randomness(Arc<RandomnessError>),
}

impl AgentError {
    /// Returns a hint about what to do.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoSocket | Self::Unreachable(..) => Some(START),
            Self::Silent | Self::Hurried => {
                Some("ssh-add -l shows whether it answers; start another one, or leave out --agent")
            }
            Self::TakesNone => Some(
                "if it is locked, ssh-add -X unlocks it; if not, SSH_AUTH_SOCK must name an agent that takes keys",
            ),
            Self::Unconstrained => Some("leave out --lifetime and --confirm, or use the agent of OpenSSH"),
            Self::Broken(_) | Self::NoAnswer | Self::Refused | Self::Unlisted => {
                Some("SSH_AUTH_SOCK must name an agent that takes keys, such as that of OpenSSH")
            }
            Self::Randomness(_) => None,
        }
    }
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSocket => f.write_str("there is no agent: SSH_AUTH_SOCK is not set"),
            Self::Unreachable(path, error) => {
                write!(f, "there is no agent at '{}': {error}", escaped_path(path))
            }
            Self::Silent => f.write_str("the agent does not answer (the longest wait is 5 s)"),
            Self::Hurried => f.write_str("the agent did not answer before the search had to end"),
            Self::Broken(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                f.write_str("the agent closed the connection")
            }
            Self::Broken(error) => write!(f, "the connection to the agent broke: {error}"),
            Self::NoAnswer => f.write_str("the answer is not that of an agent"),
            Self::TakesNone => f.write_str("the agent takes no key and lists none; it may be locked"),
            Self::Refused => f.write_str("the agent refuses the key"),
            Self::Unconstrained => f.write_str("the agent takes no keys with a lifetime or a confirmation"),
            Self::Unlisted => f.write_str("the agent does not list the key that it took"),
            Self::Randomness(error) => write!(f, "the operating system's random generator failed: {error}"),
        }
    }
}

impl std::error::Error for AgentError {}
