//! SHA-512, SHA-256 and ChaCha20 on vectors.
//!
//! SHA-512 turns seeds into scalars, one in each lane. SHA-256 turns public keys into fingerprints,
//! one in each half of a lane. ChaCha20 generates seeds, one block in each half of a lane.

mod chacha;
pub mod sha256;
pub mod sha2_constants;
mod sha2_round;
pub mod sha512;

pub use chacha::ChaCha20Lanes;

use crate::simd::{Halves as _, InstructionSet, with_set};

/// Writes the fingerprints of `keys`, SHA-256 of SSH's wire form, for both signs of x, the highest
/// bit of a key. The first slice of `digests` gets those with the sign 0, and the second slice those
/// with the sign 1.
///
/// # Panics
///
/// Panics if the slices of `digests` do not have the length of `keys`.
pub fn fingerprints(set: InstructionSet, keys: &[[u8; 32]], digests: [&mut [[u8; 32]]; 2]) {
    with_set!(set, simd => sha256::of_both_signs(simd.common(), keys, digests));
}
