//! Gives finds to the agent.
//!
//! Before the search the agent takes and drops a random key, if it drops keys, and a directory is
//! tried for the keys that the agent does not take in the end. So a find is lost only if both fail
//! later.

use super::error::diagnostic;
use super::last_second::TO_ADD;
use super::rescue;
use crate::agent::{Agent, AgentError, Constraints, Nature, TRIAL};
use crate::notice::Notice;
use crate::plan::Diagnostic;
use crate::search::Stop;
use crate::store::{Demands, Destination, NewPair};

/// What people must know about gpg-agent.
const IS_GPG: &str = "gpg-agent writes keys to its disk and removes none; \
    it asks for a passphrase for each key, and the search waits for the answer";

/// What people must know about an agent that was not tried.
const IS_DOUBTFUL: &str =
    "the agent may keep keys that it is asked to remove, so only the found key shows whether it takes one";

/// What people must know about a key that no file holds.
const IS_ALONE: &str = "only the agent has the private key; --output also writes it to a file";

/// What people must know about a confirmation. Nobody but the agent sees its environment.
const ASKPASS: &str = "the agent asks by the program that SSH_ASKPASS named when the agent was started; \
    without such a program it refuses every use of the key";

/// What the agent has done with the finds so far.
#[derive(Default)]
pub(super) struct AgentLog {
    /// The number of keys that the agent did not take.
    pub(super) not_added: u64,
    /// The error if the agent left a request without an answer. It is not asked again, because each
    /// request would stop the search for seconds.
    silent: Option<AgentError>,
}

/// Opens the agent. Checks that it takes keys, and that the keys that it does not take have a place. Also
/// returns what people must know about it.
pub(super) fn open(
    constraints: Constraints,
    destination: &Destination,
    demands: Demands,
) -> Result<(Agent, Vec<Notice>), Diagnostic> {
    let agent = Agent::open(constraints).map_err(|error| diagnostic(&error, error.hint()))?;
    let is_alone = *destination == Destination::Stream;
    let left = if is_alone { rescue::check(demands)? } else { Vec::new() };
    let mut notices = notices(&agent, constraints, is_alone);
    notices.extend(left);
    Ok((agent, notices))
}

impl AgentLog {
    /// Adds finds to the agent. Returns for each whether it took it.
    pub(super) fn add(
        &mut self,
        agent: &Agent,
        finds: &[NewPair],
        stop: &Stop,
    ) -> Vec<Result<(), AgentError>> {
        let keys: Vec<_> = finds.iter().map(|find| (find.seed, find.comment)).collect();
        let added = match &self.silent {
            Some(error) => keys.iter().map(|_| Err(error.clone())).collect(),
            None => agent.add(&keys, &|| stop.deadline(TO_ADD)),
        };
        for error in added.iter().filter_map(|one| one.as_ref().err()) {
            self.not_added += 1;
            if matches!(error, AgentError::Silent | AgentError::Hurried | AgentError::Prompting { .. }) {
                self.silent = Some(error.clone());
            }
        }
        added
    }
}

/// Returns what people must know about an agent that gets keys, and gets them alone.
fn notices(agent: &Agent, constraints: Constraints, is_alone: bool) -> Vec<Notice> {
    let about = match agent.nature() {
        Nature::Gpg => Some(Notice::note(IS_GPG)),
        Nature::Doubtful => Some(Notice::note(IS_DOUBTFUL)),
        _ => None,
    };
    let is_gpg = agent.nature() == Nature::Gpg;
    let left = agent.has_trial().then(|| {
        let how = if is_gpg {
            "gpg-connect-agent 'DELETE_KEY --force KEYGRIP' /bye removes a key whose keygrip is in the list of \
             gpg-connect-agent 'KEYINFO --ssh-list --ssh-fpr=sha256' /bye"
        } else {
            "ssh-add -d FILE removes the key whose line of ssh-add -L is in FILE"
        };
        Notice::warning(format!("the agent has kept a key named '{TRIAL}'; {how}"))
    });
    let asks = (constraints.confirm && !is_gpg).then(|| Notice::note(ASKPASS));
    let alone = is_alone.then(|| Notice::note(IS_ALONE));
    [about, left, asks, alone].into_iter().flatten().collect()
}
