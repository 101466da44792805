//! Finds Ed25519 SSH keys whose public key text contains a word you choose.
//!
//! An SSH key file stores a 32-byte seed, so every candidate costs one SHA-512 and one full
//! fixed-base multiplication on edwards25519. This library makes candidates and finds those whose
//! text matches a [`Pattern`](pattern::Pattern). It proves each find before it hands the find out.
//!
//! ```
//! use std::num::NonZeroUsize;
//! use vanity_search::engine;
//! use vanity_search::key::Format;
//! use vanity_search::pattern::{MatchOptions, Pattern};
//! use vanity_search::search::{Find, Goal, Observer, Quota, Search, Stop};
//!
//! /// An observer that keeps the public line of the last find.
//! struct Keep(Option<String>);
//!
//! impl Observer for Keep {
//!     type Error = vanity_search::key::EncodeError;
//!
//!     fn found(&mut self, finds: &[Find]) -> Result<(), Self::Error> {
//!         for find in finds {
//!             let private_key = find.seed.private_text(Format::Openssh, "made by a program", None)?;
//!             assert!(private_key.starts_with("-----BEGIN OPENSSH PRIVATE KEY-----"));
//!             self.0 = Some(find.public_key.line("made by a program"));
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let patterns = [Pattern::new("ab", MatchOptions::default())?];
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
//! # Words
//!
//! | word | meaning |
//! | --- | --- |
//! | seed | the 32 secret bytes that a key file stores |
//! | scalar | the first half of SHA-512(seed), clamped (RFC 8032, section 5.1.5) |
//! | public key | 32 bytes: y, with the sign of x as the highest bit |
//! | blob | the 51 bytes of a public key in SSH's wire form |
//! | text | the 68 base64 characters of the blob |
//! | body | the last 43 of them, which depend on the key |
//! | line | the line of `authorized_keys`: algorithm, text, comment |
//! | target | what is searched: the body of the text, or the 43 characters of the fingerprint |
//! | pattern | the text or expression to search for; a *matcher* is many patterns, compiled |
//! | odds | the exact chance that a random key matches |
//! | engine | a way of searching; a *back end* is an instruction set that an engine works with |
//! | lane | one key in a vector; a *batch* is the keys that share one inversion |
//! | window, digit | bits of the scalar that one table serves, and their signed value |
//! | limb, radix | a word of a field element, and the number of its bits; *tight* limbs are carried, *loose* limbs are not yet |
//! | hit | an engine's claim; a *find* is a proved hit |
//! | ledger | the file that lists the keys of a directory with their patterns |
//!
//! # Modules
//!
//! Each module uses only modules of lower layers. Two packages below are things of their own:
//! `ed25519-batch` has the vector arithmetic, from seeds to public keys, and `vanity-pattern` has
//! [`pattern`] and [`wire`].
//!
//! | layer | module | its duty |
//! | --- | --- | --- |
//! | 5 | [`search`] | worker threads, seed streams, exact counting; **proves every hit** (`search/prove.rs`) |
//! | 4 | [`engine`] | ways of searching behind two small traits; `engine/registry.rs` lists them |
//! | 3 | [`pattern`] | makes exact odds (`odds`) and a matcher from text; `matcher/mod.rs` draws its stages |
//! | 3 | `gpu` | with the feature of that name: kernels, and the hosts that run them on GPUs |
//! | 2 | [`key`] | seed, public key, the trusted derivation; the text of key files |
//! | 1 | [`wire`] | the blob, its text, and the key bits of each character |
//! | 1 | `random`, `chacha` | random bytes of the operating system, and the stream made of them |

#[doc(hidden)]
pub mod chacha;
pub mod engine;
#[cfg(feature = "gpu")]
#[doc(hidden)]
pub mod gpu;
pub mod key;
#[doc(hidden)]
pub mod notice;
#[doc(hidden)]
pub mod random;
pub mod search;

#[doc(inline)]
pub use vanity_pattern as pattern;
#[doc(inline)]
pub use vanity_pattern::wire;

// `tests/require` uses this library by its name.
#[cfg(test)]
extern crate self as vanity_search;
#[cfg(test)]
#[path = "../../../tests/require/mod.rs"]
#[allow(dead_code, reason = "these tests need no tool")]
mod require;
