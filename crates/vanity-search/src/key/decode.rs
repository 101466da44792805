//! Reads private key files and public lines back from their text.
//!
//! The OpenSSH format and PuTTY's show the public key of an encrypted file without the passphrase.
//! Encrypted PKCS#8 must be opened with its passphrase first. With the passphrase, a file in any form
//! is opened, which takes as long as to encrypt it.

use pkcs8::pkcs5::{EncryptionScheme, pbes2};
use pkcs8::{EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef, SecretDocument};
use ssh_key::Kdf;

use super::encode::{ED25519, ENCRYPTED_PRIVATE_KEY, OCTET_STRING_32, PRIVATE_KEY};
use super::ppk::KeyFile;
use super::protect::{MOST_ITERATIONS, MOST_MEMORY, MOST_PASSES, MOST_ROUNDS, Passphrase};
use super::seed::{PublicKey, Seed};
use ed25519_batch::memory::WipeStack;

/// How a private key is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Storage {
    /// Not encrypted.
    Clear,
    /// Encrypted. The passphrase opens it, or none was given and the text shows the public key.
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
pub enum DecodeError {
    /// The text is not a whole Ed25519 private key, or its parts do not belong together.
    NotAKey,
    /// The passphrase does not open the key, or the encrypted part is damaged.
    WrongPassphrase,
    /// To open the key would take too much time or memory.
    TooCostly,
}

impl PrivateText {
    /// Reads `content` in any form. Opens it if it is encrypted and a `passphrase` is given.
    ///
    /// # Errors
    ///
    /// Returns a [`DecodeError`]: [`NotAKey`](DecodeError::NotAKey) for anything but an Ed25519 private
    /// key.
    pub fn read(content: &[u8], passphrase: Option<&Passphrase>) -> Result<Self, DecodeError> {
        let _stack = WipeStack;
        Self::open(content, passphrase)
    }

    /// Does the work of [`read`](Self::read), below the stack that it wipes.
    #[inline(never)]
    fn open(content: &[u8], passphrase: Option<&Passphrase>) -> Result<Self, DecodeError> {
        let text = std::str::from_utf8(content).map_err(|_| DecodeError::NotAKey)?;
        if let Ok(key) = ssh_key::PrivateKey::from_openssh(text) {
            return Self::of_openssh(&key, passphrase);
        }
        if let Some(file) = KeyFile::read(text) {
            return Self::of_ppk(file, passphrase);
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
                check_cost(&encrypted.encryption_algorithm)?;
                let opened =
                    encrypted.decrypt(passphrase.bytes()).map_err(|_| DecodeError::WrongPassphrase)?;
                (opened, Storage::Encrypted)
            }
            _ => return Err(DecodeError::NotAKey),
        };
        let public_key = Some(of_pkcs8(document.as_bytes()).ok_or(DecodeError::NotAKey)?);
        Ok(Self { public_key, storage, comment: None })
    }

    fn of_openssh(key: &ssh_key::PrivateKey, passphrase: Option<&Passphrase>) -> Result<Self, DecodeError> {
        let shown = key.public_key().key_data().ed25519().ok_or(DecodeError::NotAKey)?;
        let shown = PublicKey(shown.0);
        let (opened, storage) = match (key.is_encrypted(), passphrase) {
            (false, _) => (None, Storage::Clear),
            (true, None) => {
                return Ok(Self { public_key: Some(shown), storage: Storage::Encrypted, comment: None });
            }
            (true, Some(_)) if matches!(key.kdf(), Kdf::Bcrypt { rounds, .. } if *rounds > MOST_ROUNDS) => {
                return Err(DecodeError::TooCostly);
            }
            (true, Some(passphrase)) => {
                let opened = key.decrypt(passphrase.bytes()).map_err(|_| DecodeError::WrongPassphrase)?;
                (Some(opened), Storage::Encrypted)
            }
        };
        let opened = opened.as_ref().unwrap_or(key);
        let pair = opened.key_data().ed25519().ok_or(DecodeError::NotAKey)?;
        let derived = Seed::new(pair.private.to_bytes()).public_key();
        if [derived.0, pair.public.0] != [shown.0; 2] {
            return Err(DecodeError::NotAKey);
        }
        let comment = Some(opened.comment().as_str_lossy().to_owned());
        Ok(Self { public_key: Some(shown), storage, comment })
    }

    fn of_ppk(file: KeyFile, passphrase: Option<&Passphrase>) -> Result<Self, DecodeError> {
        let (passphrase, storage, error) = match (file.is_encrypted(), passphrase) {
            (false, _) => (Some(&[][..]), Storage::Clear, DecodeError::NotAKey),
            (true, passphrase) => {
                (passphrase.map(Passphrase::bytes), Storage::Encrypted, DecodeError::WrongPassphrase)
            }
        };
        if let Some(passphrase) = passphrase {
            file.open(passphrase).map_err(|_| DecodeError::TooCostly)?.ok_or(error)?;
        }
        Ok(Self { public_key: Some(file.public_key), storage, comment: Some(file.comment) })
    }
}

/// Checks that a passphrase can be tried in a time and a memory that anybody would choose.
fn check_cost(encryption: &EncryptionScheme) -> Result<(), DecodeError> {
    let EncryptionScheme::Pbes2(parameters) = encryption else { return Ok(()) };
    let is_usual = match &parameters.kdf {
        pbes2::Kdf::Pbkdf2(pbkdf2) => pbkdf2.iteration_count <= MOST_ITERATIONS,
        pbes2::Kdf::Scrypt(scrypt) => {
            let kibs = scrypt.cost_parameter.saturating_mul(u64::from(scrypt.block_size)) / 8;
            // The package panics at other numbers.
            scrypt.cost_parameter.is_power_of_two()
                && kibs <= MOST_MEMORY
                && kibs.saturating_mul(u64::from(scrypt.parallelization)) <= MOST_PASSES
        }
        _ => true,
    };
    if is_usual { Ok(()) } else { Err(DecodeError::TooCostly) }
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
        assert!(PrivateText::of_openssh(&key, None).is_ok());
        let pair = ssh_key::private::Ed25519Keypair {
            public: ssh_key::public::Ed25519PublicKey(one.public_key().0),
            private: ssh_key::private::Ed25519PrivateKey::from_bytes(other.bytes()),
        };
        let key = ssh_key::PrivateKey::new(pair.into(), "").unwrap();
        assert_eq!(PrivateText::of_openssh(&key, None), Err(DecodeError::NotAKey));
    }
}
