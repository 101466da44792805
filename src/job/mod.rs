//! Carries out a plan: opens what it names, searches, and delivers what is found.
//!
//! [`OpenSearch::open`] does everything that can be refused before the first seed: it tries the destination, counts the
//! keys that exist already, asks for the passphrase and builds the engine. [`OpenSearch::run`] searches. What happens
//! goes up to a [`Reporter`].

mod delivery;
mod error;
mod existing;
mod expected;
mod measure;
mod open;
mod passphrase;
mod prompt;
mod reporter;
mod run;

pub use error::JobError;
pub use measure::{Benchmark, Estimate, bench, estimate, list_devices};
pub use open::OpenSearch;
pub use reporter::{Delivered, Reporter};
