//! One key pair: the seed, the public key derived from it, and the text of the files that hold
//! them.
//!
//! `seed` derives the public key. `encode` writes PKCS#8 version 1, the OpenSSH format or PuTTY's
//! (`ppk`), encrypted on request (`protect`). `decode` reads all of them again. This module uses no
//! disk and no terminal.
//!
//! ```
//! use vanity_search::key::{Format, PrivateText, Seed};
//!
//! let seed = Seed::new([7; 32]); // A real seed is random.
//! let public_key = seed.public_key();
//! assert!(public_key.line("me").starts_with("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI"));
//!
//! let text = seed.private_text(Format::Openssh, "me", None)?;
//! let read = PrivateText::read(text.as_bytes(), None);
//! assert_eq!(read.ok().and_then(|read| read.public_key), Some(public_key));
//! # Ok::<(), vanity_search::key::EncodeError>(())
//! ```

mod comment;
mod decode;
mod encode;
mod format;
mod host;
mod ppk;
mod protect;
mod seed;

#[doc(hidden)]
pub use comment::{blanked, harmless, has_active, is_active, trouble};
pub use decode::{DecodeError, PrivateText, Storage};
#[doc(hidden)]
pub use encode::COMPUTES_WRONGLY;
pub use encode::{EncodeError, try_encryption};
pub use format::Format;
pub use host::HostName;
pub use protect::{
    ARGON2_MEMORY, ARGON2_PASSES, BCRYPT_ROUNDS, Cipher, PBKDF2_ITERATIONS, Passphrase, PassphraseError,
    Protection, encryption_memory,
};
pub use seed::{PublicKey, Seed, scalar_bytes};
