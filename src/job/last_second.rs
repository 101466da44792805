//! The last second: how long each step may take after a request to end, so that the program ends within a
//! second. Workers notice the request within a tenth of it, and end their batches.

use std::time::Duration;

/// How long after a request keys may still be encrypted. The usual encryption takes less.
pub(super) const TO_ENCRYPT: Duration = Duration::from_millis(400);

/// How long after a request finds still go to the agent. The others go to files.
pub(super) const TO_ADD: Duration = Duration::from_millis(500);

/// How long results may still be told after the last key is kept.
pub(super) const TO_TELL: Duration = Duration::from_millis(300);
