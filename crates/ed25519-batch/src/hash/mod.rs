//! SHA-512 and ChaCha20 on vectors.
//!
//! SHA-512 turns seeds into scalars, one in each lane. ChaCha20 generates seeds, one block in each half of a lane.

pub mod chacha;
pub mod sha2_constants;
pub mod sha2_round;
pub mod sha512;

pub use chacha::ChaCha20Lanes;
