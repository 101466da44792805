//! Any way in which a pattern can be read, from a few bytes.

use arbitrary::Arbitrary;
use vanity_ed25519::pattern::{self, KINDS};
use vanity_ed25519::wire::Subject;

/// What [`pattern::Style`] is, but for the subject, which a list has in common.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Style {
    kind: u8,
    case_sensitive: bool,
    leet: bool,
}

impl Style {
    pub fn about(self, subject: Subject) -> pattern::Style {
        let (_, kind) = KINDS[usize::from(self.kind) % KINDS.len()];
        pattern::Style { kind, case_sensitive: self.case_sensitive, leet: self.leet, subject }
    }
}

/// The subjects, by a bit.
pub fn subject(fingerprint: bool) -> Subject {
    if fingerprint { Subject::Fingerprint } else { Subject::Key }
}
