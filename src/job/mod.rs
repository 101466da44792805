//! Carries out a plan: opens its files and its engine, searches, and delivers the finds.
//!
//! [`PreparedSearch::open`] does everything that can fail before the first seed. It tries the
//! destination, counts the keys that exist already, asks for the passphrase and builds the engine.
//! [`PreparedSearch::run`] searches. Both report to a [`Reporter`].

mod agent;
mod delivery;
mod encryption;
mod error;
mod exec_queue;
mod existing;
mod hopeless;
mod last_second;
mod ledger_lines;
mod measure;
mod open;
mod parcel;
mod passphrase;
mod place;
mod prompt;
mod rate;
mod rescue;
mod run;
mod teller;

pub use error::JobError;
pub use hopeless::Hopeless;
pub use measure::{bench_engines, estimate, list_devices};
pub use open::PreparedSearch;
pub use parcel::Parcel;
pub use place::{Place, Places};
pub use rate::Rate;
pub use rescue::Screen;
pub use teller::{Event, Reporter};
