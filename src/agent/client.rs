//! What is said to an agent.

use std::num::NonZeroU32;
use std::path::PathBuf;

use super::connection::{Connection, converse};
use super::error::AgentError;
use super::message::{Answer, Constraints, Request};
use crate::key::Seed;
use crate::sys::fill_random;
use crate::wire;

/// The variable of the environment that names the agent.
const SOCKET: &str = "SSH_AUTH_SOCK";

/// The comment on the key that is added and removed before the search.
const TRIAL: &str = "a trial of vanity-ed25519";

/// The agent of this user, and how it holds keys.
pub struct Agent {
    socket: PathBuf,
    constraints: Constraints,
}

impl Agent {
    /// Finds the agent and checks that it takes keys.
    ///
    /// An agent that is locked answers most requests as an empty one does. So this adds a random
    /// key, as a find will be added, and removes it. That also shows whether the agent takes keys
    /// at all, and with these constraints.
    ///
    /// # Errors
    ///
    /// Returns why the agent would not take a key.
    pub fn open(constraints: Constraints) -> Result<Self, AgentError> {
        let socket = socket().ok_or(AgentError::NoSocket)?;
        let mut seed = zeroize::Zeroizing::new([0; 32]);
        fill_random(&mut *seed).map_err(AgentError::Randomness)?;
        let seed = Seed::new(*seed);
        converse(&socket, &|| false, move |connection| try_key(connection, &seed, constraints))?;
        Ok(Self { socket, constraints })
    }

    /// Adds a key, and checks that the agent lists it. Gives up soon after `must_end` becomes true.
    ///
    /// # Errors
    ///
    /// Returns why the agent does not have the key, as far as is known. After
    /// [`AgentError::Silent`] the agent can still take the key.
    pub fn add(&self, seed: &Seed, comment: &str, must_end: &dyn Fn() -> bool) -> Result<(), AgentError> {
        let public_key = seed.public_key();
        let request = Request::add(seed, comment, self.constraints)?;
        converse(&self.socket, must_end, move |connection| {
            if connection.ask(&request)? != Answer::Success {
                return Err(refusal(connection));
            }
            let is_listed = identities(connection)?.iter().any(|blob| *blob == wire::blob(&public_key.0));
            if is_listed { Ok(()) } else { Err(AgentError::Unlisted) }
        })
    }
}

/// Returns the path at which the agent of this user listens.
fn socket() -> Option<PathBuf> {
    let named = std::env::var_os(SOCKET).filter(|path| !path.is_empty()).map(PathBuf::from);
    // The agent of Windows listens there, and sets no variable.
    if cfg!(windows) { named.or_else(|| Some(r"\\.\pipe\openssh-ssh-agent".into())) } else { named }
}

/// Adds a key with the constraints, and removes it.
fn try_key(connection: &mut Connection, seed: &Seed, constraints: Constraints) -> Result<(), AgentError> {
    // If this process is killed before it removes the key, the key is gone after a second.
    let short = Constraints { lifetime: Some(NonZeroU32::MIN), ..constraints };
    if takes(connection, seed, short)? {
        return Ok(());
    }
    // The agent of Windows takes no constraints.
    let takes_lasting = takes(connection, seed, Constraints::default())?;
    match (takes_lasting, constraints.is_empty()) {
        (true, true) => Ok(()),
        (true, false) if constraints.lifetime.is_none() && takes(connection, seed, constraints)? => Ok(()),
        (true, false) => Err(AgentError::Unconstrained),
        (false, _) => Err(refusal(connection)),
    }
}

/// Whether the agent takes a key with these constraints. Removes the key.
fn takes(connection: &mut Connection, seed: &Seed, constraints: Constraints) -> Result<bool, AgentError> {
    let is_taken = connection.ask(&Request::add(seed, TRIAL, constraints)?)? == Answer::Success;
    if is_taken {
        // An agent that removes no keys still takes finds.
        connection.ask(&Request::remove(&seed.public_key())?)?;
    }
    Ok(is_taken)
}

/// Returns why the agent refuses a key.
fn refusal(connection: &mut Connection) -> AgentError {
    match identities(connection) {
        Ok(blobs) if blobs.is_empty() => AgentError::Locked,
        Ok(_) => AgentError::Refused,
        Err(error) => error,
    }
}

/// Returns the blobs of the keys that the agent has.
fn identities(connection: &mut Connection) -> Result<Vec<Vec<u8>>, AgentError> {
    match connection.ask(&Request::identities()?)? {
        Answer::Identities(blobs) => Ok(blobs),
        Answer::Failure => Ok(Vec::new()),
        Answer::Success => Err(AgentError::NoAnswer),
    }
}
