//! The search: workers, their seeds, and the proof of every hit.
//!
//! Each worker thread runs an engine's batches on a ChaCha20 stream of its own (`stream`). What an engine
//! claims is proved by the worker itself (`prove`). If the find is still wanted (`quota`), the worker has it prepared, which may
//! take long (`prepare`), and sends it to the calling thread, which hands it to the [`Observer`] and ends the search. Finds that
//! are made while the observer is busy with others wait and are handed over together: what takes long for one, such as a
//! sync of a disk, takes hardly longer for all of them, and a find that comes alone waits for nobody.
//!
//! The library's front page has a whole search. What is left of a quota can be counted alone:
//!
//! ```
//! use vanity_ed25519::search::{Quota, Remaining};
//!
//! let mut remaining = Remaining::new(&Quota::Each(2), 3);
//! assert_eq!(remaining.total(), 6);
//! remaining.count(&[0, 1]);
//! assert_eq!(remaining.count(&[0]), [0]); // Pattern 0 has its keys.
//! assert!(!remaining.wants(0) && remaining.wants(1) && !remaining.is_complete());
//! ```

mod find;
mod measure;
mod prepare;
mod prove;
mod quota;
mod request;
mod run;
mod shared_value;
mod stop;
mod stream;

pub use find::{End, Find, Observer, Progress, SearchError, Summary, TOGETHER};
pub use measure::{Measure, Measured, ROUNDS, Spread, Unmeasured};
pub use prepare::Preparation;
pub use quota::{Quota, Remaining};
pub use request::{Goal, MAX_THREADS, Prepare, Search};
pub use stop::{Signal, Stop};
pub use stream::check_randomness;
