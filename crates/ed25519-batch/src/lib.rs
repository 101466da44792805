//! Ed25519 public keys of many seeds at once, in vector registers.
//!
//! A public key of Ed25519 costs one SHA-512 and one fixed-base multiplication on edwards25519 (RFC
//! 8032, section 5.1.5). This library computes thousands of keys together: one key in each lane of
//! a vector, affine additions from large tables, and one inversion for each window of a batch. On
//! one core of an AMD EPYC (Zen 4) it is 9 to 54 times as fast as one key after the other.
//!
//! ```
//! use ed25519_batch::{BackEnd, Deriver, Sizing};
//!
//! let seeds = [[7; 32], [8; 32]];
//! let mut keys = [[0; 32]; 2];
//! let deriver = Deriver::new(BackEnd::fastest(), Sizing::for_keys(1e6))?;
//! deriver.worker().derive(&seeds, &mut keys);
//!
//! let known = ed25519_dalek::SigningKey::from_bytes(&seeds[1]).verifying_key().to_bytes();
//! assert_eq!(keys[1], ed25519_batch::without_sign(known));
//! # Ok::<(), ed25519_batch::Unavailable>(())
//! ```
//!
//! What it does not do:
//!
//! - **It leaves one bit open.** The highest bit of each key, the sign of x, is 0. Who looks for a
//!   certain key derives the few that are left with any other library.
//! - **It is not constant-time.** Table look-ups depend on the scalars. Use it for keys that are
//!   thrown away, and derive the key that is kept again.
//!
//! A [`Deriver`] is what all threads share: its tables. It starts with a small one and finds the
//! fastest while its [`Worker`]s work. [`BackEnd`] chooses the instruction set at run time.
//! An [`InstructionSet`] is the vectors of a back end, for code that looks at the keys.

mod batch;
mod curve;
mod derive;
mod hash;
pub mod memory;
pub mod rfc8032_vectors;
#[doc(hidden)]
pub mod simd;

pub use batch::{Fill, Look};
#[doc(hidden)]
pub use batch::{Ladder, Schedule};
pub use derive::{BackEnd, Deriver, LEAST_TABLE_MEMORY, Sizing, Tuning, Unavailable, Worker, without_sign};
#[doc(hidden)]
pub use hash::sha2_round;
pub use hash::{ChaCha20Lanes, sha2_constants};
pub use simd::InstructionSet;

/// What the benches and tests of this package reach beyond its interface. Nobody else may use it: it
/// changes without notice.
#[doc(hidden)]
pub mod internals {
    pub use crate::batch::{
        AnyDeriver, AnyWorker, FIRST_KEYS, FieldDeriver, any_deriver, ladder, reproduces_known_vectors,
        sizes, tables,
    };
    pub use crate::curve::{
        Batch, Field, Fma, Ifma, Portable, Table, addition, fetch, field, invert, last_addition, table,
    };
    pub use crate::hash::{chacha, sha512};
    pub use crate::memory::caches::{bytes, caches, thread_time};
    pub use crate::memory::huge_pages::{HUGE, map};
    #[cfg(unix)]
    pub use crate::memory::limits::used;
    pub use crate::memory::limits::{SPARE, groups, resources};
}
