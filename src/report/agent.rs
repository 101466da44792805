//! Lines about keys in the agent.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::agent::{AgentError, Constraints};
use crate::escape::{escaped, shell_word};
use crate::store::Kept;

/// Returns the line about a key that the agent took.
pub(super) fn added(constraints: Constraints) -> String {
    let time = |seconds: NonZeroU32| humantime::format_duration(Duration::from_secs(seconds.get().into()));
    let drops = constraints.lifetime.map(|seconds| format!("drops it after {}", time(seconds)));
    let asks = constraints.confirm.then(|| "asks before each use".to_owned());
    match [drops, asks].into_iter().flatten().collect::<Vec<_>>().join(" and ") {
        empty if empty.is_empty() => "private key in the agent".to_owned(),
        does => format!("private key in the agent, which {does}"),
    }
}

/// Returns the error and the hint about a key that the agent did not take.
pub(super) fn not_added(error: &AgentError, kept: &Kept) -> [String; 2] {
    let file = shell_word(&kept.private_file);
    [
        format!("error: {}; the key is kept in {file}", escaped(&error.to_string())),
        format!("hint: ssh-add {file} adds it later"),
    ]
}
