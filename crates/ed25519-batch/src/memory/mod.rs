//! Memory of tables and secrets: zeros in huge pages, overwriting, and what the machine has.

mod caches;
mod huge_pages;
mod huge_vec;
mod limit;
mod thread_time;
mod wipe;

pub(crate) use caches::caches;
pub use huge_pages::Zeros;
pub use huge_vec::{HugePages, HugeVec};
pub(crate) use limit::memory_limit;
pub(crate) use thread_time::thread_time;
pub use wipe::{WipeStack, wipe, wipe_vec};
