//! Any way in which a pattern can be read, from a few bytes.

use arbitrary::Arbitrary;
use vanity_ed25519::pattern::{self, KINDS};
use vanity_ed25519::wire::Target;

/// What [`pattern::Style`] is, but for the target, which a list has in common.
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

/// The targets, by a bit.
pub fn target(fingerprint: bool) -> Target {
    if fingerprint { Target::Fingerprint } else { Target::Key }
}
