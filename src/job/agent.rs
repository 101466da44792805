//! Gives finds to the agent.
//!
//! Before the search the agent takes and drops a random key, and a directory is tried for the keys
//! that the agent does not take in the end. So a find is lost only if both fail later.

use super::error::{JobError, diagnostic};
use super::reporter::Added;
use super::rescue::Rescue;
use crate::agent::{Agent, AgentError, Constraints};
use crate::plan::Diagnostic;
use crate::search::{Find, Stop};
use crate::store::Destination;

/// The agent that gets the finds.
pub(super) struct OpenAgent {
    agent: Agent,
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
    pub(super) fn open(constraints: Constraints, destination: &Destination) -> Result<Self, Diagnostic> {
        let agent = Agent::open(constraints).map_err(|error| diagnostic(&error, error.hint()))?;
        if *destination == Destination::Stream {
            Rescue::new().check()?;
        }
        Ok(Self { agent })
    }

    /// Adds a find to the agent.
    pub(super) fn add(&self, find: &Find, comment: &str, log: &mut AgentLog, stop: &Stop) -> Added {
        let added = match log.is_silent {
            true => Err(AgentError::Silent),
            false => self.agent.add(&find.seed, comment, &|| stop.acknowledge().is_some()),
        };
        log.is_silent |= matches!(added, Err(AgentError::Silent));
        log.not_added += u64::from(added.is_err());
        added
    }
}

/// Returns the error at the end of a search of which the agent did not take this number of keys.
pub(super) fn outcome(not_added: u64) -> Result<(), JobError> {
    if not_added == 0 { Ok(()) } else { Err(JobError::NotAdded(not_added)) }
}
