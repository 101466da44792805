//! Finds Ed25519 SSH keys whose public key text contains a word you choose.
//!
//! ```
//! let key = vanity_search::find("ab")?;
//! println!("{}", key.public_line("me"));
//! # assert!(key.public_line("me").to_lowercase().contains("ab"));
//! # Ok::<(), vanity_search::FindError>(())
//! ```
//!
//! An SSH key file stores a 32-byte seed, so every key costs one SHA-512 and one full fixed-base
//! multiplication on edwards25519. This library tries keys in batches, on vector units or GPUs. It
//! derives each find again with ed25519-dalek, and tests its text again, before it hands the find out.
//!
//! A [`Search`](search::Search) has settings, and takes many patterns at once. A
//! [`Pattern`](pattern::Pattern) knows its exact odds, and a key has the text of its files:
//!
//! ```
//! use std::time::Duration;
//!
//! use vanity_search::engine::{self, EngineOptions};
//! use vanity_search::key::Format;
//! use vanity_search::pattern::{Kind, MatchOptions, Pattern};
//! use vanity_search::search::{End, Quota, Search, Stop};
//!
//! let anywhere = MatchOptions::default();
//! let at_the_end = MatchOptions { kind: Kind::Suffix, ..anywhere };
//! let patterns = [Pattern::new("abc", anywhere)?, Pattern::new("42", at_the_end)?];
//! assert_eq!(patterns[1].odds().expected_attempts().round(), 4096.0);
//!
//! let stop = Stop::new(); // `stop.request(..)`, for example on Ctrl-C, ends the search.
//! let mut keys = Vec::new();
//! let summary = Search::new(&patterns)
//!     .quota(Quota::Each(2))
//!     .engine(engine::select("portable", EngineOptions::for_attempts(1e4))?)
//!     .threads(std::num::NonZeroUsize::MIN)
//!     .timeout(Duration::from_secs(600))
//!     .stop(&stop)
//!     .on_progress(|progress| eprintln!("{} keys tried", progress.attempts))
//!     .run(|key| keys.push(key))?;
//! assert_eq!(summary.end, End::Complete);
//!
//! let private_key = keys[0].seed.private_text(Format::Openssh, "me", None)?;
//! assert!(private_key.starts_with("-----BEGIN OPENSSH PRIVATE KEY-----"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Give nobody the seed, and do not print it. It is overwritten when it is dropped.
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
//! | 3 | `gpu` | with the feature of that name: kernels, and the hosts that run them on GPUs |
//! | 2 | [`pattern`] | makes exact odds (`odds`) and a matcher from text; `matcher/mod.rs` draws its stages |
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
pub use search::{FindError, find};
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
