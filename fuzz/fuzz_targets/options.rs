//! Any options of a pattern, from a few bytes.

use arbitrary::Arbitrary;
use vanity_search::pattern::{self, KINDS};
use vanity_search::wire::Target;

/// A [`pattern::MatchOptions`] without the target, which all patterns of a list share.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct MatchOptions {
    kind: u8,
    case_sensitive: bool,
    leet: bool,
}

impl MatchOptions {
    pub fn about(self, target: Target) -> pattern::MatchOptions {
        let (_, kind) = KINDS[usize::from(self.kind) % KINDS.len()];
        pattern::MatchOptions { kind, case_sensitive: self.case_sensitive, leet: self.leet, target }
    }
}

/// Returns the target that a bit selects.
pub fn target(fingerprint: bool) -> Target {
    if fingerprint { Target::Fingerprint } else { Target::Key }
}
