//! What is said to an agent.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Instant;

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
        fill_random(&mut *seed).map_err(|error| AgentError::Randomness(error.into()))?;
        let seed = Seed::new(*seed);
        converse(&socket, &|| None, move |connection, _: &dyn Fn(()) -> bool| {
            try_key(connection, &seed, constraints)
        })
        .1?;
        Ok(Self { socket, constraints })
    }

    /// Adds keys, each with its comment, over one connection, and checks that the agent lists them.
    /// `until` returns the time at which the last key is added, if the search must end. Returns for
    /// each key why the agent does not have it, as far as is known. After [`AgentError::Silent`] and
    /// [`AgentError::Hurried`] the agent can still take a key.
    pub fn add(
        &self,
        keys: &[(&Seed, &str)],
        until: &dyn Fn() -> Option<Instant>,
    ) -> Vec<Result<(), AgentError>> {
        let request = |(seed, comment): &(&Seed, &str)| {
            Ok((Request::add(seed, comment, self.constraints)?, wire::blob(&seed.public_key().0)))
        };
        let requests: Result<Vec<_>, AgentError> = keys.iter().map(request).collect();
        let is_over = until().is_some_and(|until| until <= Instant::now());
        let (mut added, ended) = match requests {
            Err(error) => (Vec::new(), Err(error)),
            Ok(_) if is_over => (Vec::new(), Err(AgentError::Hurried)),
            Ok(requests) => converse(&self.socket, until, move |connection, pass_on| {
                for (request, blob) in &requests {
                    if !pass_on(add(connection, request, blob)?) {
                        break;
                    }
                }
                Ok(())
            }),
        };
        let error = ended.err().unwrap_or(AgentError::Hurried);
        added.resize_with(keys.len(), || Err(error.clone()));
        added
    }
}

/// Adds a key, and returns whether the agent has it then.
///
/// # Errors
///
/// Returns an error if the agent cannot be asked further.
fn add(
    connection: &mut Connection,
    request: &Request,
    blob: &[u8],
) -> Result<Result<(), AgentError>, AgentError> {
    if connection.ask(request)? != Answer::Success {
        return match refusal(connection) {
            error @ (AgentError::TakesNone | AgentError::Refused) => Ok(Err(error)),
            error => Err(error),
        };
    }
    let is_listed = identities(connection)?.iter().any(|one| one == blob);
    Ok(if is_listed { Ok(()) } else { Err(AgentError::Unlisted) })
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
        Ok(blobs) if blobs.is_empty() => AgentError::TakesNone,
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
