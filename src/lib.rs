//! Ed25519 SSH keys whose public key text carries a word of your choice.
//!
//! An SSH key file stores a 32-byte seed, so every candidate costs one SHA-512 and one full fixed-base
//! multiplication on edwards25519. This library makes candidates, finds those whose text matches a
//! [`Pattern`](pattern::Pattern), and proves each of them before anyone sees it.
//!
//! ```
//! use std::num::NonZeroUsize;
//! use vanity_ed25519::engine;
//! use vanity_ed25519::key::Format;
//! use vanity_ed25519::pattern::{Pattern, Style};
//! use vanity_ed25519::search::{Find, Goal, Observer, Progress, Quota, Search, Stop};
//!
//! /// Keeps the key that is found, the last if there are several.
//! struct Keep(Option<String>);
//!
//! impl Observer for Keep {
//!     type Error = vanity_ed25519::key::EncodeError;
//!
//!     fn found(&mut self, finds: &[Find]) -> Result<(), Self::Error> {
//!         for find in finds {
//!             let private_key = find.seed.private_text(Format::Openssh, "made by a program", None)?;
//!             assert!(private_key.starts_with("-----BEGIN OPENSSH PRIVATE KEY-----"));
//!             self.0 = Some(find.public_key.line("made by a program"));
//!         }
//!         Ok(())
//!     }
//!
//!     fn progress(&mut self, _: &Progress) {}
//! }
//!
//! let patterns = [Pattern::new("ab", Style::default())?];
//! assert_eq!(patterns[0].odds().expected_attempts().round(), 24.0);
//!
//! let sizing = engine::Sizing::for_attempts(patterns[0].odds().expected_attempts());
//! let engine = engine::select(engine::AUTO, sizing)?;
//! let search = Search {
//!     engine: &*engine,
//!     patterns: &patterns,
//!     threads: NonZeroUsize::MIN,
//!     goal: Goal::Keys(Quota::Each(1)),
//!     timeout: None,
//!     prepare: None,
//! };
//! let mut keep = Keep(None);
//! let summary = search.run(&Stop::new(), &mut keep)?;
//!
//! assert_eq!(summary.found, 1);
//! let line = keep.0.expect("a complete search has found its key");
//! assert!(line.to_lowercase().contains("ab"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rooms
//!
//! Each module uses only modules of lower floors.
//!
//! | floor | module | its duty |
//! | --- | --- | --- |
//! | 4 | [`search`] | worker threads, seed streams, exact counting; **proves every hit** (`search/prove.rs`) |
//! | 3 | [`engine`] | ways of searching behind two small traits; a new one is entered in `engine/mod.rs` |
//! | 2 | `gpu` | with the feature of that name: kernels, and the hosts that have graphics processors run them |
//! | 2 | [`chacha`] | the stream that seeds are taken from |
//! | 2 | [`sha512`] | scalars from seeds, one in each lane |
//! | 2 | [`sha256`] | fingerprints of many keys at once |
//! | 2 | [`curve`] | scalars to public keys, many at a time, sharing one inversion |
//! | 2 | [`pattern`] | text becomes exact odds (`pattern/chance.rs`, `pattern/automaton.rs`) and a matcher |
//! | 2 | [`key`] | seed, public key, the certain derivation; files made durable (`key/file.rs`) |
//! | 1 | [`roots`] | fractions of roots of primes, the constants of SHA-2 |
//! | 1 | [`wire`] | the blob, its text, and which key bits make which character |
//! | 1 | `escape` | text from outside, made harmless for terminals, logs, JSON and shells |
//! | 1 | `memory` | huge pages for what is read at random |
//! | 1 | [`simd`] | what the processor can do; but for `gpu`, the only `unsafe` |
//!
//! The command of the same name stands above them: `cli` reads what was typed, `deliver` has finds kept,
//! `report` tells of them. They are in the library to be tested with it, and promise nothing to others.

#[doc(hidden)]
pub mod cli;
pub mod curve;
pub mod engine;
#[doc(hidden)]
pub mod escape;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod hash;
#[doc(hidden)]
pub mod job;
pub mod key;
#[doc(hidden)]
pub mod ledger;
#[doc(hidden)]
pub mod notice;
pub mod pattern;
#[doc(hidden)]
pub mod plan;
#[doc(hidden)]
pub mod report;
pub mod search;
pub mod simd;
#[doc(hidden)]
pub mod store;
#[doc(hidden)]
pub mod sys;
pub mod wire;

// `tests/require` speaks of this library by its name.
#[cfg(test)]
extern crate self as vanity_ed25519;
#[cfg(test)]
#[path = "../tests/require/mod.rs"]
#[allow(dead_code, reason = "these tests need no tool")]
mod require;
