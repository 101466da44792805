//! The encryption of a private key: a passphrase, and the work that each guess costs.

use std::num::NonZeroU32;
use std::sync::Arc;

use thiserror::Error;
use zeroize::Zeroizing;

use super::format::Format;

/// A secret that opens an encrypted private key: bytes, as typed or read. Clones share the bytes,
/// which the last one wipes on drop. It has no `Debug`.
#[derive(Clone)]
pub struct Passphrase(Arc<Zeroizing<Vec<u8>>>);

impl Passphrase {
    /// The most bytes in a passphrase: the most that OpenSSH and OpenSSL read at their prompts.
    pub const LONGEST: usize = 1023;

    /// Makes a passphrase of `bytes`.
    ///
    /// # Errors
    ///
    /// Returns a [`PassphraseError`] for bytes that no tool can use to open the key.
    pub fn new(bytes: Zeroizing<Vec<u8>>) -> Result<Self, PassphraseError> {
        match bytes.as_slice() {
            [] => Err(PassphraseError::Empty),
            long if long.len() > Self::LONGEST => Err(PassphraseError::Long),
            // Tools cut a passphrase at its first NUL, PuTTYgen also at a carriage return, and nobody can
            // type most of the others.
            bytes if bytes.iter().any(|&byte| byte.is_ascii_control() && byte != b'\t') => {
                Err(PassphraseError::Control)
            }
            _ => Ok(Self(Arc::new(bytes))),
        }
    }

    /// Returns the secret bytes: 1 to [`Self::LONGEST`] of them, and none is a control character, except tabs.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The reason why bytes are not a passphrase.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum PassphraseError {
    /// It has no bytes.
    #[error("the passphrase is empty")]
    Empty,
    /// It has more than [`Passphrase::LONGEST`] bytes.
    #[error("the passphrase is longer than {} bytes", Passphrase::LONGEST)]
    Long,
    /// It holds a control character of ASCII that is not a tab.
    #[error("the passphrase has a control character, such as a carriage return or Ctrl-A")]
    Control,
}

/// The parameters of an encrypted private key.
pub struct Protection {
    /// The passphrase that opens the key.
    pub passphrase: Passphrase,
    /// The cipher of the OpenSSH format. The other formats always use AES-256-CBC.
    pub cipher: Cipher,
    /// The rounds of bcrypt that derive the encryption key of the OpenSSH format. PKCS#8 always
    /// uses [`PBKDF2_ITERATIONS`], and PuTTY's format [`ARGON2_MEMORY`] and [`ARGON2_PASSES`].
    pub rounds: NonZeroU32,
}

/// The rounds of bcrypt that OpenSSH uses since version 9.4.
pub const BCRYPT_ROUNDS: NonZeroU32 = NonZeroU32::new(24).unwrap();

/// The iterations of PBKDF2 with HMAC-SHA-256 in PKCS#8, as the OWASP Password Storage Cheat Sheet
/// recommends.
///
/// With scrypt each guess would cost more, but fewer tools read it: GnuTLS, for example, does not.
pub const PBKDF2_ITERATIONS: u32 = 600_000;

/// The memory of Argon2id in PuTTY's format, in KiB, as PuTTYgen uses.
pub const ARGON2_MEMORY: u32 = 8192;

/// Returns the bytes that encrypting a key in this format takes.
#[must_use]
pub fn encryption_memory(format: Format) -> u64 {
    // bcrypt and PBKDF2 need a few KiB. The rest is what the allocator keeps for a thread.
    let derivation = if format == Format::Ppk { u64::from(ARGON2_MEMORY) << 10 } else { 0 };
    derivation + (1 << 20)
}

/// The passes of Argon2id over that memory in PuTTY's format. PuTTYgen makes as many as it can in a
/// tenth of a second.
pub const ARGON2_PASSES: u32 = 32;

/// The most that a passphrase may cost in files that are opened: rounds of bcrypt, iterations of
/// PBKDF2, KiB of memory, and passes over a KiB. Each takes minutes or fails at worst. In a damaged file
/// they can be any numbers.
pub(super) const MOST_ROUNDS: u32 = 10_000;
pub(super) const MOST_ITERATIONS: u32 = 100 * PBKDF2_ITERATIONS;
pub(super) const MOST_MEMORY: u64 = 1 << 20;
pub(super) const MOST_PASSES: u64 = 100 * (ARGON2_MEMORY * ARGON2_PASSES) as u64;

/// A cipher of the OpenSSH format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Cipher {
    /// aes256-ctr, OpenSSH's default.
    #[default]
    Aes256Ctr,
    /// aes256-gcm@openssh.com, which detects changed bytes.
    Aes256Gcm,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_no_tool_accepts_are_no_passphrase() {
        let passphrase = |bytes: &[u8]| Passphrase::new(Zeroizing::new(bytes.to_vec()));
        for good in [&b"x"[..], b" ", b"\xff\xfe", b"\xc2\x85", b"\ta", &[b'x'; 1023]] {
            assert_eq!(passphrase(good).map(|passphrase| passphrase.bytes().to_vec()), Ok(good.to_vec()));
        }
        for (bad, error) in [
            (&b""[..], PassphraseError::Empty),
            (&[b'x'; 1024], PassphraseError::Long),
            (b"a\0b", PassphraseError::Control),
            (b"\0", PassphraseError::Control),
            (b"a\rb", PassphraseError::Control),
            (b"a\r", PassphraseError::Control),
            (b"a\x1b[A", PassphraseError::Control),
            (b"a\x7f", PassphraseError::Control),
        ] {
            assert_eq!(passphrase(bad).err(), Some(error));
        }
    }
}
