//! Reads private key files and public lines back from their text.
//!
//! The OpenSSH format and PuTTY's show the public key of an encrypted file without the passphrase.
//! Encrypted PKCS#8 must be opened with its passphrase first.

use pkcs8::{EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef, SecretDocument};

use super::encode::{ED25519, ENCRYPTED_PRIVATE_KEY, OCTET_STRING_32, PRIVATE_KEY};
use super::ppk::KeyFile;
use super::protect::Passphrase;
use super::seed::{PublicKey, Seed};

/// How a private key is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Storage {
    /// Not encrypted.
    Clear,
    /// Encrypted. The text shows the public key, or the passphrase opens it.
    Encrypted,
    /// Encrypted as a whole, and no passphrase was given to open it.
    Unopened,
}

/// The public part of the text of a private key file.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PrivateText {
    /// The public key: derived from the seed, or stored next to the encrypted seed. `None` for
    /// [`Storage::Unopened`].
    pub public_key: Option<PublicKey>,
    /// How the seed is stored.
    pub storage: Storage,
    /// The comment, if the text shows it.
    pub comment: Option<String>,
}

/// The reason why a text is not the expected private key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DecodeError {
    /// The text is not a whole Ed25519 private key, or its parts do not belong together.
    NotAKey,
    /// The passphrase does not open the key.
    WrongPassphrase,
}

impl PrivateText {
    /// Reads `content` in any form. Opens encrypted PKCS#8 if a `passphrase` is given.
    ///
    /// # Errors
    ///
    /// Returns [`DecodeError::NotAKey`] for anything but an Ed25519 private key, and
    /// [`DecodeError::WrongPassphrase`] if the passphrase does not open it.
    pub fn read(content: &[u8], passphrase: Option<&Passphrase>) -> Result<Self, DecodeError> {
        let text = std::str::from_utf8(content).map_err(|_| DecodeError::NotAKey)?;
        if let Ok(key) = ssh_key::PrivateKey::from_openssh(text) {
            return Self::of_openssh(&key).ok_or(DecodeError::NotAKey);
        }
        if let Some(file) = KeyFile::read(text) {
            return Self::of_ppk(file).ok_or(DecodeError::NotAKey);
        }
        let (label, document) = SecretDocument::from_pem(text).map_err(|_| DecodeError::NotAKey)?;
        let (document, storage) = match label {
            PRIVATE_KEY => (document, Storage::Clear),
            ENCRYPTED_PRIVATE_KEY => {
                let encrypted = EncryptedPrivateKeyInfoRef::try_from(document.as_bytes())
                    .map_err(|_| DecodeError::NotAKey)?;
                let Some(passphrase) = passphrase else {
                    return Ok(Self { public_key: None, storage: Storage::Unopened, comment: None });
                };
                let opened =
                    encrypted.decrypt(passphrase.bytes()).map_err(|_| DecodeError::WrongPassphrase)?;
                (opened, Storage::Encrypted)
            }
            _ => return Err(DecodeError::NotAKey),
        };
        let public_key = Some(of_pkcs8(document.as_bytes()).ok_or(DecodeError::NotAKey)?);
        Ok(Self { public_key, storage, comment: None })
    }

    fn of_openssh(key: &ssh_key::PrivateKey) -> Option<Self> {
        let shown = PublicKey(key.public_key().key_data().ed25519()?.0);
        if key.is_encrypted() {
            return Some(Self { public_key: Some(shown), storage: Storage::Encrypted, comment: None });
        }
        let derived = Seed::new(key.key_data().ed25519()?.private.to_bytes()).public_key();
        let comment = Some(key.comment().as_str_lossy().to_owned());
        (derived == shown).then_some(Self { public_key: Some(shown), storage: Storage::Clear, comment })
    }

    fn of_ppk(file: KeyFile) -> Option<Self> {
        let storage = if file.is_encrypted() { Storage::Encrypted } else { Storage::Clear };
        let is_right = || file.open(&[]).is_ok_and(|seed| seed.is_some());
        (file.is_encrypted() || is_right()).then_some(Self {
            public_key: Some(file.public_key),
            storage,
            comment: Some(file.comment),
        })
    }
}

/// Returns the public key of a PKCS#8 document. `None` unless it holds an Ed25519 seed.
fn of_pkcs8(document: &[u8]) -> Option<PublicKey> {
    let info = PrivateKeyInfoRef::try_from(document).ok()?;
    let seed = info.private_key.as_bytes().strip_prefix(&OCTET_STRING_32)?;
    (info.algorithm.oid == ED25519).then_some(Seed::new(seed.try_into().ok()?).public_key())
}

impl PublicKey {
    /// Returns the key of a public line, and ignores its comment. `None` unless it is an Ed25519
    /// key.
    #[must_use]
    pub fn of_line(line: &str) -> Option<Self> {
        let key = ssh_key::PublicKey::from_openssh(line).ok()?;
        key.key_data().ed25519().map(|key| Self(key.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Format;

    /// A file in the OpenSSH format shows one public key and holds the seed of another.
    #[test]
    fn a_key_whose_parts_do_not_belong_together_is_none() {
        let [one, other] = [7, 8].map(|byte| Seed::new([byte; 32]));
        let text = one.private_text(Format::Openssh, "", None).unwrap();
        let key = ssh_key::PrivateKey::from_openssh(text.as_bytes()).unwrap();
        assert!(PrivateText::of_openssh(&key).is_some());
        let pair = ssh_key::private::Ed25519Keypair {
            public: ssh_key::public::Ed25519PublicKey(one.public_key().0),
            private: ssh_key::private::Ed25519PrivateKey::from_bytes(other.bytes()),
        };
        let key = ssh_key::PrivateKey::new(pair.into(), "").unwrap();
        assert!(PrivateText::of_openssh(&key).is_none());
    }
}
