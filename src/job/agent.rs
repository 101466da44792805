//! Gives finds to the agent.
//!
//! Before the search the agent takes and drops a random key, and a directory is tried for the keys
//! that the agent does not take in the end. So a find is lost only if both fail later.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::error::{JobError, diagnostic};
use super::reporter::Added;
use super::rescue::Rescue;
use crate::agent::{Agent, AgentError, Constraints};
use crate::plan::Diagnostic;
use crate::store::{Demands, Destination, NewPair};

/// How long finds still go to the agent when the search must end. The others go to files.
const HASTE: Duration = Duration::from_millis(250);

/// The agent that gets the finds.
pub(super) struct OpenAgent {
    agent: Agent,
}

/// What the agent has done with the finds so far.
#[derive(Default)]
pub(super) struct AgentLog {
    /// The number of keys that the agent did not take.
    pub(super) not_added: u64,
    /// When it was first noticed that the search must end.
    hurried_at: Cell<Option<Instant>>,
    /// The error if the agent left a request without an answer. It is not asked again, because each
    /// request would stop the search for seconds.
    silent: Option<AgentError>,
}

impl OpenAgent {
    /// Checks that the agent takes keys, and that the keys that it does not take have a place.
    pub(super) fn open(
        constraints: Constraints,
        destination: &Destination,
        demands: Demands,
    ) -> Result<Self, Diagnostic> {
        let agent = Agent::open(constraints).map_err(|error| diagnostic(&error, error.hint()))?;
        if *destination == Destination::Stream {
            Rescue::new().check(demands)?;
        }
        Ok(Self { agent })
    }

    /// Adds finds to the agent. Returns for each whether it took it.
    pub(super) fn add(
        &self,
        finds: &[NewPair],
        log: &mut AgentLog,
        must_end: &dyn Fn() -> bool,
    ) -> Vec<Added> {
        let until = || {
            must_end().then(|| {
                log.hurried_at.get().unwrap_or_else(|| {
                    let now = Instant::now();
                    log.hurried_at.set(Some(now));
                    now
                }) + HASTE
            })
        };
        let keys: Vec<_> = finds.iter().map(|find| (find.seed, find.comment)).collect();
        let added = match &log.silent {
            Some(error) => keys.iter().map(|_| Err(error.clone())).collect(),
            None => self.agent.add(&keys, &until),
        };
        for error in added.iter().filter_map(|one| one.as_ref().err()) {
            log.not_added += 1;
            if matches!(error, AgentError::Silent | AgentError::Hurried) {
                log.silent = Some(error.clone());
            }
        }
        added
    }
}

/// Returns the error at the end of a search of which the agent did not take this number of keys.
pub(super) fn outcome(not_added: u64) -> Result<(), JobError> {
    if not_added == 0 { Ok(()) } else { Err(JobError::NotAdded(not_added)) }
}
