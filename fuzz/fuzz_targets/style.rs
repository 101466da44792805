//! Any style of a pattern, from a few bytes.

use arbitrary::Arbitrary;
use vanity_ed25519::pattern::{self, KINDS};
use vanity_ed25519::wire::Target;

/// A [`pattern::Style`] without the target, which all patterns of a list share.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Style {
    kind: u8,
    case_sensitive: bool,
    leet: bool,
}

impl Style {
    pub fn about(self, target: Target) -> pattern::Style {
        let (_, kind) = KINDS[usize::from(self.kind) % KINDS.len()];
        pattern::Style { kind, case_sensitive: self.case_sensitive, leet: self.leet, target }
    }
}

/// Returns the target that a bit selects.
pub fn target(fingerprint: bool) -> Target {
    if fingerprint { Target::Fingerprint } else { Target::Key }
}
