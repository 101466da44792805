//! The program `vanity-ed25519`, in modules that its tests use. Their interface can change at any time. The
//! library is [`vanity_search`].
//!
//! Each module uses only modules of lower layers.
//!
//! | layer | module | its duty |
//! | --- | --- | --- |
//! | 4 | `cli` | makes a plan from the command line, and words all complaints about it |
//! | 4 | `report` | the output for people and scripts: text, JSON, the progress line |
//! | 3 | `job` | opens a plan, runs the search, delivers finds |
//! | 2 | `plan` | the request as data |
//! | 2 | `ledger` | the keys of a directory, and their patterns |
//! | 1 | `agent` | gives keys to the running ssh-agent |
//! | 1 | `store` | durable private files (`store/new_file.rs`), their names, locks, groups |
//! | 0 | `sys` | core dumps, signals, access lists, streams |
//! | 0 | `escape`, `words` | escapes foreign text; numbers in sentences |

#[doc(hidden)]
pub mod agent;
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod escape;
#[doc(hidden)]
pub mod job;
#[doc(hidden)]
pub mod ledger;
#[doc(hidden)]
pub mod plan;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod store;
#[doc(hidden)]
pub mod sys;
#[doc(hidden)]
pub mod words;

#[cfg(feature = "gpu")]
#[doc(hidden)]
pub use vanity_search::gpu;
#[doc(hidden)]
pub use vanity_search::{engine, key, notice, pattern, search, wire};
