//! What is said to an agent.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::connection::{Conversation, PATIENCE, Undo};
use super::error::AgentError;
use super::late::LateRemoval;
use super::message::{Answer, Constraints, Identity, Request};
use crate::key::Seed;
use crate::sys::fill_random;
use crate::wire;

/// The variable of the environment that names the agent.
const SOCKET: &str = "SSH_AUTH_SOCK";

/// The comment on the key that is added and removed before the search.
pub const TRIAL: &str = "a trial of vanity-ed25519";

/// The name of gpg-agent's socket.
const GPG_SOCKET: &str = "S.gpg-agent.ssh";

/// How long the trial key lives if nobody removes it.
const TRIAL_LIFETIME: NonZeroU32 = NonZeroU32::MIN;

/// The agent of this user, and how it holds keys.
pub struct Agent {
    socket: PathBuf,
    constraints: Constraints,
    nature: Nature,
    has_trial: bool,
    /// The way to remove keys from gpg-agent.
    late_removal: Option<Arc<LateRemoval>>,
}

/// What an agent does when it is asked to remove a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Nature {
    /// It removes the key.
    Removing,
    /// It is gpg-agent: it says that it has removed the key, and keeps it. It writes keys to its disk,
    /// and asks the user for a passphrase before that.
    Gpg,
    /// It has kept a key that it was asked to remove, or says that it has removed one that it never
    /// had.
    Doubtful,
}

impl Agent {
    /// Finds the agent and checks that it takes keys.
    ///
    /// An agent that is locked answers most requests as an empty one does. So this adds a random
    /// key, as a find will be added, and removes it. That also shows whether the agent takes keys
    /// at all, and with these constraints. An agent that would keep the random key does not get it:
    /// only a find shows what it does.
    ///
    /// # Errors
    ///
    /// Returns why the agent would not take a key.
    pub fn open(constraints: Constraints) -> Result<Self, AgentError> {
        let socket = socket().ok_or(AgentError::NoSocket)?;
        let mut seed = zeroize::Zeroizing::new([0; 32]);
        fill_random(&mut *seed).map_err(|error| AgentError::Randomness(error.into()))?;
        let mut agent = Conversation::open(&socket, Some(PATIENCE), &|| None)?;
        let (nature, has_trial) = examine(&mut agent, &Seed::new(*seed), constraints, is_of_gpg(&socket))?;
        if nature == Nature::Gpg && constraints.lifetime.is_some() {
            return Err(AgentError::Undying);
        }
        let late_removal = if nature == Nature::Gpg { LateRemoval::of(&socket).map(Arc::new) } else { None };
        Ok(Self { socket, constraints, nature, has_trial, late_removal })
    }

    /// Returns what the agent does with keys that it is asked to remove.
    #[must_use]
    pub fn nature(&self) -> Nature {
        self.nature
    }

    /// Whether the agent still has a key that was added and removed before this search or an earlier
    /// one.
    #[must_use]
    pub fn has_trial(&self) -> bool {
        self.has_trial
    }

    /// Adds keys, each with its comment, over one connection, and checks that the agent lists them.
    /// `until` returns the time at which the last key is added, if the search must end. Returns for
    /// each key why the agent does not have it, as far as is known. After [`AgentError::Silent`],
    /// [`AgentError::Hurried`] and [`AgentError::Prompting`] the agent can still take a key.
    pub fn add(
        &self,
        keys: &[(&Seed, &str)],
        until: &dyn Fn() -> Option<Instant>,
    ) -> Vec<Result<(), AgentError>> {
        let mut added = Vec::with_capacity(keys.len());
        let error = match self.add_each(keys, until, &mut added) {
            Err(AgentError::Hurried) if self.nature == Nature::Gpg => {
                AgentError::Prompting { is_watched: false }
            }
            Err(error) => error,
            Ok(()) => return added,
        };
        added.resize_with(keys.len(), || Err(error.clone()));
        added
    }

    /// Adds keys one after the other, as long as the agent can be asked.
    fn add_each(
        &self,
        keys: &[(&Seed, &str)],
        until: &dyn Fn() -> Option<Instant>,
        added: &mut Vec<Result<(), AgentError>>,
    ) -> Result<(), AgentError> {
        // It answers when the user has typed a passphrase.
        let patience = (self.nature != Nature::Gpg).then_some(PATIENCE);
        let mut agent = Conversation::open(&self.socket, patience, until)?;
        for (seed, comment) in keys {
            if agent.is_over() {
                return Err(AgentError::Hurried);
            }
            let key = seed.public_key();
            let blob = wire::blob(&key.0);
            let undo_later = Some(Undo::Request(Request::remove(&blob)?));
            let undo = match self.late_removal.clone() {
                Some(late) => Undo::HandOver(Box::new(move |stream| late.begin(stream, &key.fingerprint()))),
                None => Undo::Request(Request::remove(&blob)?),
            };
            let add = Request::add(seed, comment, self.constraints)?;
            added.push(match agent.ask_or_undo(add, Some(undo))? {
                Answer::Success => {
                    let listed = identities(&mut agent, undo_later)?;
                    let is_listed = listed.iter().any(|one| one.blob == blob);
                    if is_listed { Ok(()) } else { Err(AgentError::Unlisted) }
                }
                _ => match refusal(&mut agent) {
                    error @ (AgentError::TakesNone | AgentError::Refused) => Err(error),
                    error => return Err(error),
                },
            });
        }
        Ok(())
    }
}

/// Returns the path at which the agent of this user listens.
fn socket() -> Option<PathBuf> {
    let named = std::env::var_os(SOCKET).filter(|path| !path.is_empty()).map(PathBuf::from);
    // The agent of Windows listens there, and sets no variable.
    if cfg!(windows) { named.or_else(|| Some(r"\\.\pipe\openssh-ssh-agent".into())) } else { named }
}

/// Whether the socket is that of gpg-agent. A link to it can have any name.
fn is_of_gpg(socket: &Path) -> bool {
    let target = socket.canonicalize();
    [Some(socket), target.as_deref().ok()].into_iter().flatten().any(|path| path.ends_with(GPG_SOCKET))
}

/// Finds out what the agent does with keys that it is asked to remove, and whether it takes keys with
/// these constraints. An agent that would keep the trial key does not get it. Also returns whether the
/// agent has a trial key in the end.
fn examine(
    agent: &mut Conversation,
    seed: &Seed,
    constraints: Constraints,
    is_gpg: bool,
) -> Result<(Nature, bool), AgentError> {
    let old = trial_keys(agent)?;
    if is_gpg {
        return Ok((Nature::Gpg, !old.is_empty()));
    }
    let blob = wire::blob(&seed.public_key().0);
    if agent.ask(Request::remove(&blob)?)? == Answer::Success {
        // gpg-agent has read the key, at least.
        let is_gpg = matches!(agent.ask(Request::remove(b"no key")?), Ok(Answer::Failure));
        return Ok((if is_gpg { Nature::Gpg } else { Nature::Doubtful }, !old.is_empty()));
    }
    // Another search may have its trial key there, for a moment.
    if has_for_long(agent, &old)? {
        return Ok((Nature::Doubtful, true));
    }
    try_key(agent, seed, constraints)?;
    let has_trial = has_for_long(agent, &[blob.to_vec()])?;
    Ok((if has_trial { Nature::Doubtful } else { Nature::Removing }, has_trial))
}

/// Whether the agent has one of these trial keys, and for longer than [`TRIAL_LIFETIME`].
fn has_for_long(agent: &mut Conversation, keys: &[Vec<u8>]) -> Result<bool, AgentError> {
    let mut has = || Ok::<_, AgentError>(identities(agent, None)?.iter().any(|one| keys.contains(&one.blob)));
    if keys.is_empty() || !has()? {
        return Ok(false);
    }
    std::thread::sleep(Duration::from_millis(1000 * u64::from(TRIAL_LIFETIME.get()) + 200));
    has()
}

/// Returns the blobs of the trial keys that the agent has.
fn trial_keys(agent: &mut Conversation) -> Result<Vec<Vec<u8>>, AgentError> {
    let trials = identities(agent, None)?.into_iter().filter(|one| one.comment == TRIAL.as_bytes());
    Ok(trials.map(|one| one.blob).collect())
}

/// Adds a key with the constraints, and removes it.
fn try_key(agent: &mut Conversation, seed: &Seed, constraints: Constraints) -> Result<(), AgentError> {
    let Constraints { lifetime, confirm } = constraints;
    // If this process is killed before it removes the key, the key is gone after a second.
    let short = Constraints { lifetime: Some(TRIAL_LIFETIME), confirm: false };
    if takes(agent, seed, Constraints { confirm, ..short })? {
        return Ok(());
    }
    if confirm && takes(agent, seed, short)? {
        return Err(AgentError::Unconstrained { lifetime: false, confirm });
    }
    // The agents of Windows and of PuTTY take no lifetime.
    if confirm && takes(agent, seed, Constraints { lifetime: None, confirm })? {
        return match lifetime {
            None => Ok(()),
            Some(_) => Err(AgentError::Unconstrained { lifetime: true, confirm: false }),
        };
    }
    match takes(agent, seed, Constraints::default())? {
        true if constraints.is_empty() => Ok(()),
        true => Err(AgentError::Unconstrained { lifetime: lifetime.is_some(), confirm }),
        false => Err(refusal(agent)),
    }
}

/// Whether the agent takes a key with these constraints. Removes the key.
fn takes(agent: &mut Conversation, seed: &Seed, constraints: Constraints) -> Result<bool, AgentError> {
    let remove = || Request::remove(&wire::blob(&seed.public_key().0));
    let add = Request::add(seed, TRIAL, constraints)?;
    let is_taken = agent.ask_or_undo(add, Some(Undo::Request(remove()?)))? == Answer::Success;
    if is_taken {
        agent.ask(remove()?)?;
    }
    Ok(is_taken)
}

/// Returns why the agent refuses a key.
fn refusal(agent: &mut Conversation) -> AgentError {
    match identities(agent, None) {
        Ok(identities) if identities.is_empty() => AgentError::TakesNone,
        Ok(_) => AgentError::Refused,
        Err(error) => error,
    }
}

/// Returns the keys that the agent has. If nobody waits for them any more, `undo` follows.
fn identities(agent: &mut Conversation, undo: Option<Undo>) -> Result<Vec<Identity>, AgentError> {
    match agent.ask_or_undo(Request::identities()?, undo)? {
        Answer::Identities(identities) => Ok(identities),
        Answer::Failure => Ok(Vec::new()),
        Answer::Success => Err(AgentError::NoAnswer),
    }
}
