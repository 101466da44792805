//! The reasons why an agent does not take a key.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;

use crate::escape::escaped_path;
use crate::sys::RandomnessError;

/// The hint if there is no agent.
const START: &str = "start one with eval \"$(ssh-agent)\", or leave out --agent";

/// Why an agent does not take a key.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The environment names no agent.
    #[error("there is no agent: SSH_AUTH_SOCK is not set")]
    NoSocket,
    /// No agent listens at this path, because of this error of the operating system.
    #[error("there is no agent at '{}': {}", escaped_path(.0), .1)]
    Unreachable(PathBuf, Arc<io::Error>),
    /// The agent does not answer in time.
    #[error("the agent does not answer (the longest wait is 5 s)")]
    Silent,
    /// The agent has not answered when the search had to end.
    #[error("the agent did not answer before the search had to end")]
    Hurried,
    /// gpg-agent still waits for its user when the search had to end. If `is_watched`, a process removes
    /// the key that gpg-agent takes later.
    #[error("gpg-agent waits for a passphrase: cancel its prompt, {}", match .is_watched {
        true => "because the key is removed if you answer",
        false => "or it takes the key when you answer",
    })]
    Prompting { is_watched: bool },
    /// The connection ended before the answer, because of this error of the operating system.
    #[error("{}", match .0.kind() {
        io::ErrorKind::UnexpectedEof => "the agent closed the connection".to_owned(),
        _ => format!("the connection to the agent broke: {}", .0),
    })]
    Broken(Arc<io::Error>),
    /// The answer is not one of the protocol.
    #[error("the answer is not that of an agent")]
    NoAnswer,
    /// The agent lists no keys and takes none. An agent that is locked does this, and others that
    /// take no keys from outside.
    #[error("the agent takes no key and lists none; it may be locked")]
    TakesNone,
    /// The agent takes no such key.
    #[error("the agent refuses the key")]
    Refused,
    /// The agent takes keys, but not with a lifetime, or not with a confirmation, as they were asked
    /// for.
    #[error("the agent takes no keys with {}", match (.lifetime, .confirm) {
        (true, true) => "a lifetime or a confirmation",
        (false, true) => "a confirmation",
        (_, false) => "a lifetime",
    })]
    Unconstrained { lifetime: bool, confirm: bool },
    /// The agent is gpg-agent, which never drops a key.
    #[error("gpg-agent does not drop a key after a lifetime")]
    Undying,
    /// The agent reported success, but does not list the key.
    #[error("the agent does not list the key that it took")]
    Unlisted,
    /// The operating system's random generator failed.
    #[error("the operating system's random generator failed: {0}")]
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
            Self::Unconstrained { lifetime: true, confirm: true } => {
                Some("leave out --lifetime and --confirm, or use the agent of OpenSSH")
            }
            Self::Unconstrained { confirm: true, .. } => {
                Some("leave out --confirm, or use the agent of OpenSSH")
            }
            Self::Unconstrained { .. } | Self::Undying => {
                Some("leave out --lifetime, or use the agent of OpenSSH")
            }
            Self::Broken(_) | Self::NoAnswer | Self::Refused | Self::Unlisted => {
                Some("SSH_AUTH_SOCK must name an agent that takes keys, such as that of OpenSSH")
            }
            Self::Prompting { .. } | Self::Randomness(_) => None,
        }
    }
}
