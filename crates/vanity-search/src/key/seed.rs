//! The seed, the public key derived from it, and the forms in which people see the public key.
//!
//! The derivation here is slow and certain (ed25519-dalek, constant-time). The program derives
//! every key once more with it, before it prints or writes anything about that key. An engine that
//! computes wrongly is found here.

use ed25519_dalek::SigningKey;
use sha2::{Digest as _, Sha256, Sha512};
use ssh_key::Fingerprint;
use zeroize::{Zeroize as _, Zeroizing};

use super::comment::blanked;
use crate::wire::{self, Body, Bytes, Target};

/// 32 secret bytes, which a key file stores. Wiped on drop. It has no `Debug` and no `Clone`.
// In a box, so that moving a seed leaves no copy behind.
pub struct Seed(Box<Zeroizing<[u8; 32]>>);

impl Seed {
    /// Makes a seed of these bytes. The caller must wipe its own copy.
    #[must_use]
    pub fn new(mut bytes: [u8; 32]) -> Self {
        let seed = Self(Box::new(Zeroizing::new(bytes)));
        bytes.zeroize();
        seed
    }

    /// Returns the secret bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Derives the public key with ed25519-dalek. Every engine must agree with the result.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        // The signing key wipes itself on drop.
        PublicKey(SigningKey::from_bytes(self.bytes()).verifying_key().to_bytes())
    }
}

/// Returns the first half of SHA-512(seed), **not yet clamped** (RFC 8032, section 5.1.5, step 1).
#[must_use]
pub fn scalar_bytes(seed: &[u8; 32]) -> Zeroizing<[u8; 32]> {
    let mut hash = Sha512::digest(seed);
    let mut scalar = Zeroizing::new([0; 32]);
    scalar.copy_from_slice(&hash[..32]);
    hash.as_mut_slice().zeroize();
    scalar
}

/// A public key: 32 bytes, y with the sign of x on top.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PublicKey(pub [u8; 32]);

impl PublicKey {
    /// Returns the text: 68 base64 characters, in which patterns are searched.
    #[must_use]
    pub fn text(&self) -> wire::Text {
        wire::text(&self.0)
    }

    /// Returns the `authorized_keys` line, without a line end: `ssh-ed25519 AAAA... comment`.
    ///
    /// Control and formatting characters of the comment become spaces. A line break would begin a
    /// second entry of `authorized_keys`, and other control characters change what a terminal
    /// shows.
    #[must_use]
    pub fn line(&self, comment: &str) -> String {
        let text = self.text();
        let text = std::str::from_utf8(&text).unwrap_or_else(|_| unreachable!("base64 is ASCII"));
        let mut line = format!("{} {text}", wire::ALGORITHM);
        if !comment.is_empty() {
            line.push(' ');
            line.push_str(&blanked(comment));
        }
        line
    }

    /// Returns the fingerprint as `ssh-keygen -l` prints it: `SHA256:` and 43 base64 characters.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        Fingerprint::Sha256(self.blob_hash()).to_string()
    }

    /// Returns the bytes whose base64 form is searched: the key itself, or the SHA-256 of its blob.
    #[must_use]
    pub fn bytes(&self, target: Target) -> Bytes {
        match target {
            Target::Key => self.0,
            Target::Fingerprint => self.blob_hash(),
        }
    }

    /// Returns the characters that are searched: the last 43 of the text, or those of
    /// [`Self::fingerprint`].
    #[must_use]
    pub fn body(&self, target: Target) -> Body {
        match target {
            Target::Key => *wire::body(&self.text()),
            Target::Fingerprint => {
                let fingerprint = self.fingerprint();
                *fingerprint.as_bytes().last_chunk().unwrap_or_else(|| unreachable!("43 characters and more"))
            }
        }
    }

    /// Returns the SHA-256 of the blob, which the fingerprint shows.
    pub fn blob_hash(&self) -> [u8; 32] {
        Sha256::digest(wire::blob(&self.0)).into()
    }
}

#[cfg(test)]
mod tests {
    use curve25519_dalek::EdwardsPoint;

    use super::*;
    use ed25519_batch::rfc8032_vectors;

    #[test]
    fn the_rfc_8032_seeds_have_their_public_keys() {
        for (seed, public) in rfc8032_vectors::pairs() {
            assert_eq!(Seed::new(seed).public_key(), PublicKey(public), "seed {seed:02x?}");
        }
    }

    #[test]
    fn the_scalar_bytes_clamped_times_the_base_point_are_the_public_key() {
        for (seed, public) in rfc8032_vectors::pairs() {
            let point = EdwardsPoint::mul_base_clamped(*scalar_bytes(&seed));
            assert_eq!(point.compress().to_bytes(), public, "seed {seed:02x?}");
        }
        let mut seed = [0; 32];
        for round in 0..100 {
            let scalar = scalar_bytes(&seed);
            assert_eq!(*scalar, SigningKey::from_bytes(&seed).to_scalar_bytes(), "round {round}");
            let point = EdwardsPoint::mul_base_clamped(*scalar).compress().to_bytes();
            assert_eq!(Seed::new(seed).public_key(), PublicKey(point), "round {round}");
            seed = point;
        }
    }

    /// Compares with the line and fingerprint that ssh-keygen prints for test 1 of RFC 8032.
    #[test]
    fn a_known_key_has_its_known_line_and_fingerprint() {
        let key = PublicKey(rfc8032_vectors::pairs()[0].1);
        let bare = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea";
        assert_eq!(key.line(""), bare);
        assert_eq!(key.line("me@here"), format!("{bare} me@here"));
        assert_eq!(key.line("a\nssh-rsa b\0"), format!("{bare} a ssh-rsa b "));
        assert_eq!(key.line("a\u{9b}1m\u{202e}b\u{2028}größe"), format!("{bare} a 1m b größe"));
        assert_eq!(key.fingerprint(), "SHA256:bbXpuKG6zhzdmnxq256TlqzFBzRl2f6OOg722cYNbU8");
    }
}
