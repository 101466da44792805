//! The proof that makes a hit a find.

use crate::engine::Hit;
use crate::key::PublicKey;
use crate::pattern::{Matcher, Pattern, PatternId};

/// Proves a hit: derives the key from the seed once more, with ed25519-dalek, and tests each
/// pattern that the matcher finds in it by plain comparison. Returns the key and the patterns, or
/// `None` if the key is not the claimed one, or if a pattern that the matcher finds does not match.
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
