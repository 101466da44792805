//! The proof that makes a hit a find.

use crate::engine::Hit;
use crate::pattern::{Pattern, PatternId};

/// Derives the key once more from its seed, by ed25519-dalek, and compares its text once more with each of
/// `claimed`, plainly. `None` if the key is another one or there is a pattern that it does not match.
pub(super) fn prove(hit: &Hit, patterns: &[Pattern], claimed: Vec<PatternId>) -> Option<Vec<PatternId>> {
    let public_key = hit.seed.public_key();
    let matches = |&id: &PatternId| {
        let pattern = &patterns[id];
        pattern.find(&public_key.body(pattern.style().subject)).is_some()
    };
    let proved = public_key == hit.public_key && !claimed.is_empty() && claimed.iter().all(matches);
    proved.then_some(claimed)
}
