//! One key pair: the seed, the public key that follows from it, and the text of the files that hold them.
//!
//! `seed` derives, `encode` writes PKCS#8 version 1 or the OpenSSH form, encrypted on request (`protect`), and
//! `decode` reads them again. No disk and no terminal: [`crate::store`] keeps the files.

mod decode;
mod encode;
mod format;
mod protect;
pub(crate) mod rfc8032_vectors;
mod seed;

pub use decode::{DecodeError, PrivateText, Storage};
pub(crate) use encode::COMPUTES_WRONGLY;
pub use encode::EncodeError;
pub use format::Format;
pub use protect::{BCRYPT_ROUNDS, Cipher, PBKDF2_ITERATIONS, Passphrase, PassphraseError, Protection};
pub use seed::{PublicKey, Seed, scalar_bytes};
