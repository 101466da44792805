//! The program `vanity-ed25519`, which has no interface. The library is [`vanity_search`].
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
//! | 0 | `escape`, `words` | escapes foreign text; words of sentences |

#![allow(missing_docs, rustdoc::private_intra_doc_links, reason = "nobody outside uses it")]

mod agent;
mod cli;
mod escape;
mod job;
mod ledger;
mod plan;
/// The program's beginning, and what its tests use.
#[doc(hidden)]
pub mod program;
mod report;
mod store;
mod sys;
mod words;

use vanity_search::{engine, key, notice, pattern, search, wire};
