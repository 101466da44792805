//! SHA-512, SHA-256 and ChaCha20, of one key in each lane of a vector.
//!
//! SHA-512 makes scalars of seeds, SHA-256 makes fingerprints of public keys, and ChaCha20 is the stream
//! that seeds are taken from.

pub mod chacha;
pub mod sha256;
pub mod sha2_constants;
pub mod sha512;
