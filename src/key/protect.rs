//! What a private key is encrypted with: a passphrase, and how much work it takes to try one.

use std::fmt;
use std::num::NonZeroU32;

use zeroize::Zeroizing;

/// A secret that opens an encrypted private key: bytes, as typed or read. Wiped on drop; not shown.
pub struct Passphrase(Zeroizing<Vec<u8>>);

impl Passphrase {
    /// The longest, in bytes: what OpenSSH and OpenSSL read in answer to their prompts.
    pub const LONGEST: usize = 1023;

    /// The passphrase made of these bytes.
    ///
    /// # Errors
    ///
    /// [`PassphraseError`] for bytes with which no tool could open the key.
    pub fn new(bytes: Zeroizing<Vec<u8>>) -> Result<Self, PassphraseError> {
        match bytes.as_slice() {
            [] => Err(PassphraseError::Empty),
            long if long.len() > Self::LONGEST => Err(PassphraseError::Long),
            // Tools take the bytes before it for the whole.
            bytes if bytes.contains(&0) => Err(PassphraseError::Nul),
            _ => Ok(Self(bytes)),
        }
    }

    /// The secret bytes: 1 to [`Self::LONGEST`], none of them 0.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Why bytes are no passphrase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PassphraseError {
    /// There are none.
    Empty,
    /// There are more than [`Passphrase::LONGEST`].
    Long,
    /// One of them is 0.
    Nul,
}

impl fmt::Display for PassphraseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the passphrase is empty"),
            Self::Long => write!(f, "the passphrase is longer than {} bytes", Passphrase::LONGEST),
            Self::Nul => f.write_str("the passphrase holds a NUL byte"),
        }
    }
}

impl std::error::Error for PassphraseError {}

/// How private keys are encrypted.
pub struct Protection {
    /// What opens them.
    pub passphrase: Passphrase,
    /// What encrypts OpenSSH's form. PKCS#8 has AES-256-CBC.
    pub cipher: Cipher,
    /// Rounds of bcrypt between the passphrase and the key of OpenSSH's form. PKCS#8 has
    /// [`PBKDF2_ITERATIONS`].
    pub rounds: NonZeroU32,
}

/// Rounds of bcrypt as OpenSSH has them since 9.4.
pub const BCRYPT_ROUNDS: NonZeroU32 = NonZeroU32::new(24).unwrap();

/// Iterations of PBKDF2 with HMAC-SHA-256 in PKCS#8: the number that the OWASP Password Storage Cheat Sheet asks for.
///
/// scrypt would make guessing dearer, but fewer tools read it: GnuTLS, for one, does not.
pub const PBKDF2_ITERATIONS: u32 = 600_000;

/// A cipher of OpenSSH's form.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Cipher {
    /// aes256-ctr, OpenSSH's own choice.
    #[default]
    Aes256Ctr,
    /// aes256-gcm@openssh.com, which notices changed bytes.
    Aes256Gcm,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_no_tool_could_repeat_are_no_passphrase() {
        let passphrase = |bytes: &[u8]| Passphrase::new(Zeroizing::new(bytes.to_vec()));
        for good in [&b"x"[..], b" ", b"\xff\xfe", &[b'x'; 1023]] {
            assert_eq!(passphrase(good).map(|passphrase| passphrase.bytes().to_vec()), Ok(good.to_vec()));
        }
        for (bad, error) in [
            (&b""[..], PassphraseError::Empty),
            (&[b'x'; 1024], PassphraseError::Long),
            (b"a\0b", PassphraseError::Nul),
            (b"\0", PassphraseError::Nul),
        ] {
            assert_eq!(passphrase(bad).err(), Some(error));
        }
    }
}
