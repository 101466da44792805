//! The unit tests of this package, in one program beside it: so `cargo test` compiles the package once.
//! What is not public they reach through `internals`.

#![allow(clippy::unwrap_used, reason = "tests")]

mod fingerprint;
mod list;
mod matcher;
mod odds;
mod patterns;
mod syntax;
mod variants;
mod wire;

#[path = "../../proof/mod.rs"]
mod filters;
