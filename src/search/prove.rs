//! The proof that makes a hit a find.

use crate::engine::Hit;
use crate::key::PublicKey;
use crate::pattern::{Matcher, Pattern, PatternId};

/// Derives the key once more from its seed, by ed25519-dalek, and compares what it shows once more with each pattern that the
/// matcher sees in it, plainly. `None` if the key is another one than was claimed, or does not show what the matcher sees.
pub(super) fn prove(
    hit: &Hit,
    matcher: &Matcher,
    patterns: &[Pattern],
) -> Option<(PublicKey, Vec<PatternId>)> {
    let public_key = hit.seed.public_key();
    let target = matcher.target();
    let seen = matcher.find(&public_key.bytes(target));
    let body = public_key.body(target);
    let proved = hit.possible().any(|claimed| claimed == public_key)
        && seen.iter().all(|id| patterns[*id].find(&body).is_some());
    proved.then_some((public_key, seen))
}
