//! Writes the text of a private key file, in any form.
//!
//! PKCS#8 is version 1, with the seed alone (RFC 8410, section 7). OpenSSL 3.0 and OpenSSH refuse
//! version 2, which appends the public key. The OpenSSH format holds the seed, the public key and
//! the comment (PROTOCOL.key), and so does PuTTY's (`ppk`). Line ends are LF. Buffers that held the
//! secret are wiped.
//!
//! With a passphrase, PKCS#8 becomes an EncryptedPrivateKeyInfo with PBES2 (RFC 5958, RFC 8018).
//! The other formats have encryptions of their own. Each text has its own salt, from the operating
//! system. The encrypted text is opened again before it is returned, so that an error of the
//! machine cannot lose a key. Encrypting and opening together take some tenths of a second.

use pkcs8::der::asn1::OctetStringRef;
use pkcs8::pkcs5::pbes2;
use pkcs8::{
    AlgorithmIdentifierRef, EncryptedPrivateKeyInfoRef, LineEnding, ObjectIdentifier, PrivateKeyInfoRef,
    SecretDocument,
};
use ssh_key::Kdf;
use ssh_key::private::{Ed25519Keypair, PrivateKey};
use thiserror::Error;
use zeroize::Zeroizing;

use super::comment::blanked;
use crate::random::{RandomnessError, fill_random};

use super::format::Format;
use super::ppk::KeyFile;
use super::protect::{ARGON2_MEMORY, ARGON2_PASSES, Cipher, PBKDF2_ITERATIONS, Protection};
use super::seed::Seed;

/// The object identifier id-Ed25519 (RFC 8410, section 3).
pub(super) const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");

/// The bytes before the seed in a CurvePrivateKey: the DER head of an OCTET STRING of 32 bytes.
pub(super) const OCTET_STRING_32: [u8; 2] = [0x04, 32];

/// The PEM label of an unencrypted PKCS#8 key (RFC 7468, section 10).
pub(super) const PRIVATE_KEY: &str = "PRIVATE KEY";

/// The PEM label of an encrypted PKCS#8 key (RFC 7468, section 11).
pub(super) const ENCRYPTED_PRIVATE_KEY: &str = "ENCRYPTED PRIVATE KEY";

/// The hint after a failed self-check.
pub const COMPUTES_WRONGLY: &str =
    "the program or the machine made a calculation error; do not use this key, and report it";

/// The length of a salt in bytes. OpenSSH and OpenSSL use the same.
const SALT_LEN: usize = 16;

impl Seed {
    /// Returns the content of the private key file, encrypted if a `protection` is given. PKCS#8
    /// does not store the comment. Control characters of the comment become spaces, as in
    /// the public line.
    ///
    /// # Errors
    ///
    /// Returns an [`EncodeError`] if the comment is too long for the OpenSSH format. A comment of
    /// ordinary length never is. With a `protection`, also returns an error if the operating system
    /// gives no randomness or too little memory, or if the encrypted text does not open again.
    pub fn private_text(
        &self,
        format: Format,
        comment: &str,
        protection: Option<&Protection>,
    ) -> Result<Zeroizing<String>, EncodeError> {
        let Some(protection) = protection else {
            return match format {
                Format::Pkcs8 => self.pkcs8().map_err(EncodeError::Pkcs8),
                Format::Openssh => self.openssh(comment).map_err(EncodeError::Openssh),
                Format::Ppk => Ok(KeyFile::clear(self, &blanked(comment)).text()),
            };
        };
        self.encrypted(format, comment, protection, Work::of(protection))
    }

    fn encrypted(
        &self,
        format: Format,
        comment: &str,
        protection: &Protection,
        work: Work,
    ) -> Result<Zeroizing<String>, EncodeError> {
        match format {
            Format::Pkcs8 => self.encrypted_pkcs8(protection, work),
            Format::Openssh => self.encrypted_openssh(comment, protection, work),
            Format::Ppk => self.encrypted_ppk(comment, protection, work),
        }
    }

    fn pkcs8(&self) -> pkcs8::Result<Zeroizing<String>> {
        Ok(self.pkcs8_document()?.to_pem(PRIVATE_KEY, LineEnding::LF)?)
    }

    fn encrypted_pkcs8(&self, protection: &Protection, work: Work) -> Result<Zeroizing<String>, EncodeError> {
        let passphrase = protection.passphrase.bytes();
        let (salt, iv): ([u8; SALT_LEN], _) = (random()?, random()?);
        let encrypt = || -> pkcs8::Result<_> {
            let parameters = pbes2::Parameters::generate_pbkdf2_sha256_aes256cbc(work.iterations, &salt, iv)?;
            let plain = self.pkcs8_document()?;
            let encrypted =
                PrivateKeyInfoRef::try_from(plain.as_bytes())?.encrypt_with_params(parameters, passphrase)?;
            let opened = EncryptedPrivateKeyInfoRef::try_from(encrypted.as_bytes())?.decrypt(passphrase).ok();
            let is_right = opened.is_some_and(|opened| opened.as_bytes() == plain.as_bytes());
            Ok((encrypted.to_pem(ENCRYPTED_PRIVATE_KEY, LineEnding::LF)?, is_right))
        };
        match encrypt().map_err(EncodeError::Pkcs8)? {
            (text, true) => Ok(text),
            (_, false) => Err(EncodeError::Unopened),
        }
    }

    fn pkcs8_document(&self) -> pkcs8::Result<SecretDocument> {
        let mut curve_private_key = Zeroizing::new([0; 34]);
        curve_private_key[..2].copy_from_slice(&OCTET_STRING_32);
        curve_private_key[2..].copy_from_slice(self.bytes());

        let algorithm = AlgorithmIdentifierRef { oid: ED25519, parameters: None };
        let info = PrivateKeyInfoRef::new(algorithm, OctetStringRef::new(&*curve_private_key)?);
        SecretDocument::try_from(info)
    }

    fn openssh(&self, comment: &str) -> ssh_key::Result<Zeroizing<String>> {
        self.openssh_key(comment)?.to_openssh(LineEnding::LF)
    }

    fn encrypted_openssh(
        &self,
        comment: &str,
        protection: &Protection,
        work: Work,
    ) -> Result<Zeroizing<String>, EncodeError> {
        let passphrase = protection.passphrase.bytes();
        let cipher = match protection.cipher {
            Cipher::Aes256Ctr => ssh_key::Cipher::Aes256Ctr,
            Cipher::Aes256Gcm => ssh_key::Cipher::Aes256Gcm,
        };
        let kdf = Kdf::Bcrypt { salt: random::<SALT_LEN>()?.to_vec(), rounds: work.rounds };
        let check = u32::from_ne_bytes(random()?);
        let encrypt = || -> ssh_key::Result<_> {
            let plain = self.openssh_key(comment)?;
            let text = plain.encrypt_with(cipher, kdf, check, passphrase)?.to_openssh(LineEnding::LF)?;
            Ok((text, plain))
        };
        let (text, plain) = encrypt().map_err(EncodeError::Openssh)?;
        let open =
            || -> ssh_key::Result<_> { PrivateKey::from_openssh(text.as_bytes())?.decrypt(passphrase) };
        match open() {
            Ok(opened) if opened == plain => Ok(text),
            _ => Err(EncodeError::Unopened),
        }
    }

    fn encrypted_ppk(
        &self,
        comment: &str,
        protection: &Protection,
        work: Work,
    ) -> Result<Zeroizing<String>, EncodeError> {
        let passphrase = protection.passphrase.bytes();
        let comment = blanked(comment);
        let (salt, padding): ([u8; SALT_LEN], _) = (random()?, random()?);
        let encrypted = KeyFile::encrypted(self, &comment, passphrase, &salt, padding, work.passes)
            .map_err(EncodeError::Ppk)?;
        let text = encrypted.text();
        let Some(read) = KeyFile::read(&text) else { return Err(EncodeError::Unopened) };
        let opened = read.open(passphrase).map_err(EncodeError::Ppk)?;
        let is_right = opened.is_some_and(|seed| seed.bytes() == self.bytes()) && read.comment == comment;
        if is_right { Ok(text) } else { Err(EncodeError::Unopened) }
    }

    fn openssh_key(&self, comment: &str) -> ssh_key::Result<PrivateKey> {
        PrivateKey::new(Ed25519Keypair::from_seed(self.bytes()).into(), blanked(comment))
    }
}

/// The work that each guess of the passphrase costs.
struct Work {
    /// The rounds of bcrypt.
    rounds: u32,
    /// The iterations of PBKDF2.
    iterations: u32,
    /// The passes of Argon2.
    passes: u32,
}

impl Work {
    /// The work for a key that protects nothing.
    const LEAST: Self = Self { rounds: 1, iterations: 1, passes: 1 };

    fn of(protection: &Protection) -> Self {
        Self { rounds: protection.rounds.get(), iterations: PBKDF2_ITERATIONS, passes: ARGON2_PASSES }
    }
}

/// Encrypts a key that protects nothing, opens it, and throws it away. Takes a few milliseconds, because it does less
/// work than for a real key, but as much memory. So an error is known before there is a key to lose.
///
/// # Errors
///
/// Returns the error that [`Seed::private_text`] would return.
pub fn try_encryption(format: Format, comment: &str, protection: &Protection) -> Result<(), EncodeError> {
    Seed::new([7; 32]).encrypted(format, comment, protection, Work::LEAST).map(drop)
}

/// Returns `N` bytes from the operating system's generator.
fn random<const N: usize>() -> Result<[u8; N], EncodeError> {
    let mut bytes = [0; N];
    fill_random(&mut bytes).map_err(EncodeError::Randomness)?;
    Ok(bytes)
}

/// The reason why the text of a private key cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The PKCS#8 form cannot be written.
    #[error("cannot write the private key as PKCS#8: {0}")]
    Pkcs8(#[source] pkcs8::Error),
    /// The OpenSSH form cannot be written.
    #[error("cannot write the private key in the OpenSSH format: {0}")]
    Openssh(#[source] ssh_key::Error),
    /// The form of PuTTY cannot be encrypted.
    #[error("cannot encrypt the private key in PuTTY's format: {0}")]
    Ppk(#[source] argon2::Error),
    /// The operating system's random generator failed.
    #[error("the operating system's random generator failed: {0}")]
    Randomness(#[source] RandomnessError),
    /// The passphrase does not open the encrypted text, or the opened text is another key.
    #[error("self-check: the encrypted private key cannot be decrypted")]
    Unopened,
}

impl EncodeError {
    /// Returns what the user can do about the error.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Pkcs8(_) | Self::Randomness(_) => None,
            Self::Openssh(_) => Some("use a shorter comment, or none".to_owned()),
            Self::Ppk(_) => Some(format!(
                "each thread needs {} MiB to encrypt a key: use fewer threads",
                ARGON2_MEMORY / 1024
            )),
            Self::Unopened => Some(COMPUTES_WRONGLY.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::super::protect::Passphrase;
    use super::*;

    #[test]
    fn errors_have_a_message_a_hint_and_a_cause() {
        use std::error::Error as _;
        for (error, text, hint, cause) in [
            (
                EncodeError::Pkcs8(pkcs8::Error::ParametersMalformed),
                "as PKCS#8: PKCS#8 algorithm",
                None,
                true,
            ),
            (
                EncodeError::Openssh(ssh_key::Error::FormatEncoding),
                "in the OpenSSH format: ",
                Some("shorter comment"),
                true,
            ),
            (
                EncodeError::Ppk(argon2::Error::OutOfMemory),
                "in PuTTY's format: ",
                Some("needs 8 MiB to encrypt"),
                true,
            ),
            (
                EncodeError::Randomness(std::io::ErrorKind::Unsupported.into()),
                "random generator failed: ",
                None,
                true,
            ),
            (EncodeError::Unopened, "cannot be decrypted", Some(COMPUTES_WRONGLY), false),
        ] {
            assert!(error.to_string().contains(text), "{error}");
            assert_eq!(error.hint().is_some(), hint.is_some());
            assert!(error.hint().unwrap_or_default().contains(hint.unwrap_or_default()), "{error}");
            assert_eq!(error.source().is_some(), cause, "{error}");
        }
    }

    /// Compares with the first example of RFC 8410, section 10.3.
    #[test]
    fn pkcs8_is_the_version_1_example_of_the_rfc() {
        let seed = Seed::new([
            0xd4, 0xee, 0x72, 0xdb, 0xf9, 0x13, 0x58, 0x4a, 0xd5, 0xb6, 0xd8, 0xf1, 0xf7, 0x69, 0xf8, 0xad,
            0x3a, 0xfe, 0x7c, 0x28, 0xcb, 0xf1, 0xd4, 0xfb, 0xe0, 0x97, 0xa8, 0x8f, 0x44, 0x75, 0x58, 0x42,
        ]);
        let known = "-----BEGIN PRIVATE KEY-----\n\
                     MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
                     -----END PRIVATE KEY-----\n";
        let text = seed.private_text(Format::Pkcs8, "the comment has no place", None).unwrap();
        assert_eq!(*text, known);
    }

    #[test]
    fn openssh_holds_seed_public_key_and_comment() {
        for comment in ["", "me@here", "two words", "größer"] {
            let seed = Seed::new([7; 32]);
            let text = seed.private_text(Format::Openssh, comment, None).unwrap();
            assert!(text.starts_with("-----BEGIN OPENSSH PRIVATE KEY-----\n"));
            assert!(text.ends_with("-----END OPENSSH PRIVATE KEY-----\n"));
            assert!(!text.contains('\r'));

            let read = PrivateKey::from_openssh(text.as_bytes()).unwrap();
            let pair = read.key_data().ed25519().unwrap();
            assert_eq!(pair.private.to_bytes(), *seed.bytes());
            assert_eq!(pair.public.0, seed.public_key().0);
            assert_eq!(read.comment().as_bytes(), comment.as_bytes());
        }
    }

    #[test]
    fn a_comment_stays_on_one_line() {
        let text = Seed::new([7; 32]).private_text(Format::Openssh, "a\r\nb", None).unwrap();
        let read = PrivateKey::from_openssh(text.as_bytes()).unwrap();
        assert_eq!(read.comment().as_bytes(), b"a  b");
    }

    fn protection(passphrase: &[u8], cipher: Cipher) -> Protection {
        let passphrase = Passphrase::new(Zeroizing::new(passphrase.to_vec())).unwrap();
        Protection { passphrase, cipher, rounds: NonZeroU32::new(3).unwrap() }
    }

    #[test]
    fn encrypted_openssh_opens_with_its_passphrase_alone() {
        let seed = Seed::new([7; 32]);
        for (cipher, name) in
            [(Cipher::Aes256Ctr, "aes256-ctr"), (Cipher::Aes256Gcm, "aes256-gcm@openssh.com")]
        {
            for passphrase in [&b"x"[..], b"two words ", "größer ☃".as_bytes(), b"\xff\t", &[b'x'; 1023]]
            {
                let protection = protection(passphrase, cipher);
                let text = seed.private_text(Format::Openssh, "me", Some(&protection)).unwrap();
                let read = PrivateKey::from_openssh(text.as_bytes()).unwrap();
                assert!(read.is_encrypted());
                assert_eq!(read.cipher().as_str(), name);
                assert!(matches!(read.kdf(), Kdf::Bcrypt { salt, rounds: 3 } if salt.len() == SALT_LEN));
                assert_eq!(read.comment().as_bytes(), b"", "the comment is encrypted, too");

                let opened = read.decrypt(passphrase).unwrap();
                assert_eq!(opened.key_data().ed25519().unwrap().private.to_bytes(), *seed.bytes());
                assert_eq!(opened.comment().as_bytes(), b"me");
                assert!(read.decrypt([passphrase, b"x"].concat()).is_err());
            }
        }
    }

    #[test]
    fn encrypted_pkcs8_opens_with_its_passphrase_alone() {
        let seed = Seed::new([7; 32]);
        let protection = protection(b"\xffsecret", Cipher::default());
        let text = seed.private_text(Format::Pkcs8, "", Some(&protection)).unwrap();
        assert!(text.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"));
        assert!(text.ends_with("\n-----END ENCRYPTED PRIVATE KEY-----\n"));
        let (_, document) = SecretDocument::from_pem(&text).unwrap();
        let info = EncryptedPrivateKeyInfoRef::try_from(document.as_bytes()).unwrap();
        assert_eq!(
            info.decrypt(b"\xffsecret").unwrap().as_bytes(),
            seed.pkcs8_document().unwrap().as_bytes()
        );
        assert!(info.decrypt(b"secret").is_err());
    }

    #[test]
    fn a_trial_of_encryption_costs_little_and_a_key_the_whole_work() {
        for format in [Format::Pkcs8, Format::Openssh, Format::Ppk] {
            let protection =
                Protection { rounds: NonZeroU32::MAX, ..protection(b"secret", Cipher::default()) };
            try_encryption(format, "me", &protection).unwrap();
        }
        let least = |format| {
            let protection = protection(b"secret", Cipher::default());
            let text = Seed::new([7; 32]).encrypted(format, "me", &protection, Work::LEAST).unwrap();
            Seed::new([7; 32]).private_text(format, "me", Some(&protection)).unwrap();
            text
        };
        assert!(least(Format::Ppk).contains("\nArgon2-Passes: 1\n"));
        let read = PrivateKey::from_openssh(least(Format::Openssh).as_bytes()).unwrap();
        assert!(matches!(read.kdf(), Kdf::Bcrypt { rounds: 1, .. }));
    }

    #[test]
    fn no_two_texts_share_their_salt() {
        let seed = Seed::new([7; 32]);
        for format in [Format::Pkcs8, Format::Openssh, Format::Ppk] {
            let protection = protection(b"secret", Cipher::default());
            let text = || seed.private_text(format, "", Some(&protection)).unwrap();
            assert_ne!(*text(), *text(), "{format:?}");
        }
    }
}
