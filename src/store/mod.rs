//! Durable private files. A file is complete under its final name, or it does not exist.
//!
//! The head of `new_file` shows what can happen at each step and why nothing is lost. A
//! [`Destination`] keeps pairs of files together. It never overwrites an existing file. A
//! [`StoredPair`] is a pair that was opened again, and an [`AppendLog`] grows by whole lines.

mod append_log;
mod destination;
mod error;
mod group;
mod lock;
mod name;
mod new_file;
mod patience;
mod stored_pair;
mod temporary;
mod trial;

pub use append_log::{AppendLog, HeldLog};
pub use destination::{Demands, Destination};
pub use error::StoreError;
pub use group::{Kept, NewPair, most_together};
pub use name::{file_label, is_name_of, longest_name, parts_of_name};
pub use stored_pair::{OTHER_KEY, StoredPair};

#[cfg(test)]
#[cfg(unix)]
mod tests;
