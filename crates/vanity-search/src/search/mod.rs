//! The search: workers, their seeds, and the proof of every hit.
//!
//! Each worker thread runs the batches of an engine on a ChaCha20 stream of its own (`stream`). The
//! worker proves every hit that the engine claims (`prove`). If the find is still wanted (`quota`),
//! the worker sends it to the calling thread, which passes it to the [`Observer`] and ends the search.
//!
//! Finds that arrive while the observer is busy wait, and are then passed to it together. A step
//! that takes long for one find, for example a sync of a disk, takes hardly longer for all of them.
//! A single find never waits for others.
//!
//! The front page of the library has a whole search. You can also use the count of a quota alone:
//!
//! ```
//! use vanity_search::search::{Quota, Remaining};
//!
//! let mut remaining = Remaining::new(&Quota::Each(2), 3);
//! assert_eq!(remaining.total(), 6);
//! remaining.count(&[0, 1]);
//! assert_eq!(remaining.count(&[0]), [0]); // Pattern 0 has its keys.
//! assert!(!remaining.wants(0) && remaining.wants(1) && !remaining.is_complete());
//! ```

mod builder;
mod find;
mod measure;
mod memory;
mod prove;
mod quota;
mod run;
mod stop;
mod stream;

pub use builder::{FindError, MAX_THREADS, Search, find, max_threads};
pub use find::{Find, MAX_FINDS_AT_ONCE, Observer, Progress, PublicFind, SearchError, Summary};
pub use measure::{Measure, MeasureError, Measured, ROUNDS, Spread, Step};
pub use memory::{TooLittleMemory, check_memory, fitting_threads, memory_for};
pub use quota::{Quota, Remaining};

pub use stop::{End, Signal, Stop};
pub use stream::{SeedStream, check_randomness};
