//! Gives finds to the agent, and keeps those that it does not take.
//!
//! Before the search the agent takes and drops a random key, and a directory is tried for the keys
//! that the agent does not take in the end. So a find is lost only if both fail later.

use std::path::PathBuf;

use super::error::{JobError, complaint};
use super::reporter::Added;
use crate::agent::{Agent, AgentError, Constraints};
use crate::plan::Complaint;
use crate::search::{Find, Stop};
use crate::store::{Destination, Kept, NewPair, StoreError};

/// The agent, and where the keys go that it does not take.
pub(super) struct OpenAgent {
    agent: Agent,
    /// The directories for those keys, in the order in which they are tried. There are none if
    /// every key has a file of its own.
    fallback: Vec<Destination>,
}

/// What the agent has done with the finds so far.
#[derive(Default)]
pub(super) struct AgentLog {
    /// The number of keys that the agent did not take.
    pub(super) not_added: u64,
    /// Whether the agent left a request without an answer. It is not asked again, because each
    /// request would stop the search for seconds.
    is_silent: bool,
}

impl OpenAgent {
    /// Checks that the agent takes keys, and that the keys that it does not take have a place.
    pub(super) fn open(constraints: Constraints, destination: &Destination) -> Result<Self, Complaint> {
        let agent = Agent::open(constraints).map_err(|error| complaint(&error, error.hint()))?;
        let fallback = if *destination == Destination::Stream { fallback()? } else { Vec::new() };
        Ok(Self { agent, fallback })
    }

    /// Returns how the agent holds keys.
    pub(super) fn constraints(&self) -> Constraints {
        self.agent.constraints()
    }

    /// Adds a find to the agent.
    pub(super) fn add(&self, find: &Find, comment: &str, log: &mut AgentLog, stop: &Stop) -> Added {
        let added = match log.is_silent {
            true => Err(AgentError::Silent),
            false => self.agent.add(&find.seed, comment, &|| stop.requested().is_some()),
        };
        log.is_silent |= matches!(added, Err(AgentError::Silent));
        log.not_added += u64::from(added.is_err());
        added
    }

    /// Writes a pair that the agent did not take to files in the first directory that takes it.
    pub(super) fn keep(&self, pair: &NewPair) -> Result<Kept, StoreError> {
        let mut failed = None;
        for directory in &self.fallback {
            match directory.keep(pair) {
                Ok(Some(kept)) => return Ok(kept),
                Ok(None) => {}
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        Err(failed.unwrap_or_else(|| StoreError::NoDirectory(PathBuf::new())))
    }
}

/// Returns the directories for keys that the agent does not take: the working directory, and then
/// the user's home. At least one of them takes files.
fn fallback() -> Result<Vec<Destination>, Complaint> {
    let here = Destination::Directory(".".into());
    let home = std::env::home_dir().filter(|home| home.is_dir()).map(Destination::Directory);
    match (here.prepare(), &home) {
        (Err(_), Some(home)) if home.prepare().is_ok() => {}
        (tried, _) => tried.map_err(|error| complaint(&error, error.hint()))?,
    }
    Ok([here].into_iter().chain(home).collect())
}

/// Returns the error at the end of a search of which the agent did not take this number of keys.
pub(super) fn outcome(not_added: u64) -> Result<(), JobError> {
    if not_added == 0 { Ok(()) } else { Err(JobError::NotAdded(not_added)) }
}
