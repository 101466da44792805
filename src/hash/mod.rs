//! SHA-512, SHA-256 and ChaCha20 on vectors.
//!
//! SHA-512 turns seeds into scalars, one in each lane. SHA-256 turns public keys into fingerprints,
//! one in each half of a lane. ChaCha20 generates the stream of seeds, one block in each half of a
//! lane.

pub mod chacha;
pub mod sha256;
pub mod sha2_constants;
mod sha2_round;
pub mod sha512;
