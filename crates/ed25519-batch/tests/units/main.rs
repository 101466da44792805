//! The unit tests of this package, in one program beside it: so `cargo test` compiles the package once.
//! What is not public they reach through `internals`.

#![allow(clippy::unwrap_used, reason = "tests")]

mod batch;
mod curve;
mod derive;
mod hash;
mod memory;
mod simd;

#[path = "../../../../tests/require/missing.rs"]
mod require;
