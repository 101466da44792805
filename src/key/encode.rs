//! The text of a private key file, in either form.
//!
//! PKCS#8 is written as version 1, the seed alone (RFC 8410, section 7): OpenSSL 3.0 and OpenSSH refuse
//! version 2, which appends the public key. OpenSSH's form holds seed, public key and comment
//! (PROTOCOL.key). Line ends are LF, and what held the secret on the way is wiped.

use std::fmt;

use pkcs8::der::asn1::OctetStringRef;
use pkcs8::{AlgorithmIdentifierRef, LineEnding, ObjectIdentifier, PrivateKeyInfoRef, SecretDocument};
use ssh_key::private::{Ed25519Keypair, PrivateKey};
use zeroize::Zeroizing;

use super::{Format, Seed, one_line};

/// id-Ed25519 (RFC 8410, section 3).
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");

/// What stands before the seed in a CurvePrivateKey: an OCTET STRING of 32 bytes, in DER.
const OCTET_STRING_32: [u8; 2] = [0x04, 32];

/// The PEM label of an unencrypted PKCS#8 key (RFC 7468, section 10).
const PRIVATE_KEY: &str = "PRIVATE KEY";

impl Seed {
    /// The content of the private key file. Only OpenSSH's form has a place for the comment; its
    /// control characters become spaces, as in the public line.
    ///
    /// # Errors
    ///
    /// [`EncodeError`], which a comment of ordinary length never causes.
    pub fn private_text(&self, format: Format, comment: &str) -> Result<Zeroizing<String>, EncodeError> {
        match format {
            Format::Pkcs8 => self.pkcs8().map_err(EncodeError::Pkcs8),
            Format::Openssh => self.openssh(comment).map_err(EncodeError::Openssh),
        }
    }

    fn pkcs8(&self) -> pkcs8::Result<Zeroizing<String>> {
        let mut curve_private_key = Zeroizing::new([0; 34]);
        curve_private_key[..2].copy_from_slice(&OCTET_STRING_32);
        curve_private_key[2..].copy_from_slice(self.bytes());

        let algorithm = AlgorithmIdentifierRef { oid: ED25519, parameters: None };
        let info = PrivateKeyInfoRef::new(algorithm, OctetStringRef::new(&*curve_private_key)?);
        Ok(SecretDocument::try_from(info)?.to_pem(PRIVATE_KEY, LineEnding::LF)?)
    }

    fn openssh(&self, comment: &str) -> ssh_key::Result<Zeroizing<String>> {
        let pair = Ed25519Keypair::from_seed(self.bytes());
        PrivateKey::new(pair.into(), one_line(comment))?.to_openssh(LineEnding::LF)
    }
}

/// Why a private key has no text.
#[derive(Debug)]
pub enum EncodeError {
    /// The PKCS#8 form cannot be written.
    Pkcs8(pkcs8::Error),
    /// The OpenSSH form cannot be written.
    Openssh(ssh_key::Error),
}

impl EncodeError {
    /// What can be done about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Pkcs8(_) => None,
            Self::Openssh(_) => Some("use a shorter comment, or none".to_owned()),
        }
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pkcs8(error) => write!(f, "cannot write the private key as PKCS#8: {error}"),
            Self::Openssh(error) => write!(f, "cannot write the private key in OpenSSH's form: {error}"),
        }
    }
}

impl std::error::Error for EncodeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Pkcs8(error) => Some(error),
            Self::Openssh(error) => Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8410, section 10.3, the first example.
    #[test]
    fn pkcs8_is_the_version_1_example_of_the_rfc() {
        let seed = Seed::new([
            0xd4, 0xee, 0x72, 0xdb, 0xf9, 0x13, 0x58, 0x4a, 0xd5, 0xb6, 0xd8, 0xf1, 0xf7, 0x69, 0xf8, 0xad,
            0x3a, 0xfe, 0x7c, 0x28, 0xcb, 0xf1, 0xd4, 0xfb, 0xe0, 0x97, 0xa8, 0x8f, 0x44, 0x75, 0x58, 0x42,
        ]);
        let known = "-----BEGIN PRIVATE KEY-----\n\
                     MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
                     -----END PRIVATE KEY-----\n";
        let text = seed.private_text(Format::Pkcs8, "the comment has no place").unwrap();
        assert_eq!(*text, known);
    }

    #[test]
    fn openssh_holds_seed_public_key_and_comment() {
        for comment in ["", "me@here", "two words", "größer"] {
            let seed = Seed::new([7; 32]);
            let text = seed.private_text(Format::Openssh, comment).unwrap();
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
        let text = Seed::new([7; 32]).private_text(Format::Openssh, "a\r\nb").unwrap();
        let read = PrivateKey::from_openssh(text.as_bytes()).unwrap();
        assert_eq!(read.comment().as_bytes(), b"a  b");
    }
}
