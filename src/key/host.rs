//! The lines by which clients know the key of a host.

use sha1::{Digest as _, Sha1};

use super::seed::PublicKey;
use crate::wire;

/// The number of Ed25519 in SSHFP records (RFC 7479), and those of SHA-1 (RFC 4255) and SHA-256
/// (RFC 6594).
const ED25519: u8 = 4;
const SHA_1: u8 = 1;
const SHA_256: u8 = 2;

impl PublicKey {
    /// Returns the line of `known_hosts` for a host, without a line end: `bob ssh-ed25519 AAAA...`.
    #[must_use]
    pub(crate) fn known_hosts_line(&self, host: &str) -> String {
        format!("{host} {}", self.line(""))
    }

    /// Returns the SSHFP records for a host, without line ends, as `ssh-keygen -r` prints them:
    /// with SHA-1, and with SHA-256.
    #[must_use]
    pub(crate) fn sshfp_records(&self, host: &str) -> [String; 2] {
        let record = |hash: u8, digest: &[u8]| {
            let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{host} IN SSHFP {ED25519} {hash} {digits}")
        };
        [record(SHA_1, &Sha1::digest(wire::blob(&self.0))), record(SHA_256, &self.blob_hash())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ed25519_batch::rfc8032_vectors;

    /// Compares with what `ssh-keygen -r` prints for test 1 of RFC 8032.
    #[test]
    fn a_known_key_has_its_known_lines() {
        let key = PublicKey(rfc8032_vectors::pairs()[0].1);
        let text = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea";
        assert_eq!(key.known_hosts_line("bob.example.org"), format!("bob.example.org {text}"));
        assert_eq!(
            key.sshfp_records("bob"),
            [
                "bob IN SSHFP 4 1 e4c18926afa5dbfd10c0e06a60bac698e1fb2793",
                "bob IN SSHFP 4 2 6db5e9b8a1bace1cdd9a7c6adb9e9396acc5073465d9fe8e3a0ef6d9c60d6d4f",
            ]
        );
    }
}
