//! Ways of searching: an engine takes seeds and a matcher, and gives hits.
//!
//! An [`Engine`] is the state that all threads share (its tables); an [`EngineWorker`] is the state of one
//! thread (its buffers). A hit is a claim. It becomes a find only when [`crate::search`] has proved
//! it, so an engine may be as clever as it likes.
//!
//! A new engine implements the two traits and gets an entry in `registry`. Every engine must
//! reproduce known vectors before its first use ([`select`]).
//!
//! ```
//! use vanity_search::engine::{self, EngineOptions};
//!
//! let engine = engine::select("portable", EngineOptions::for_attempts(1e6))?;
//! assert_eq!((engine.name(), engine.workers(4)), ("portable", 4));
//! assert!(engine::select("abacus", EngineOptions::for_attempts(1e6)).is_err());
//! # Ok::<(), engine::EngineError>(())
//! ```

mod batch;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(feature = "gpu")]
mod hybrid;
mod reference;
mod registry;
mod self_test;
mod traits;

#[doc(hidden)]
pub use reference::public_key as derive_by_reference;
pub use registry::{BASELINE, EngineError, Listed, available, device_names, exit, list, named, select};
pub use traits::{
    AUTO, Devices, Engine, EngineOptions, EngineWorker, GPU, HYBRID, Hit, LEAST_TABLE_MEMORY, SeedSource,
    Tuning, UsedDevice,
};

#[doc(inline)]
pub use crate::notice::{Notice, Severity};
