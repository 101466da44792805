//! Ed25519 SSH keys whose public key text carries a word of your choice.

pub mod engine;
pub mod key;
pub mod pattern;
pub mod search;
pub mod simd;
pub mod wire;
