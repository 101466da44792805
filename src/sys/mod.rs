//! Services of the operating system: random bytes, cache sizes, memory limits, huge pages and the
//! time of a thread. This module also protects secrets: it switches core dumps off, overwrites
//! memory, and finds out who can access a file.

mod caches;
mod host;
mod huge_pages;
mod huge_vec;
mod others;
mod process;
mod random;
mod thread_time;
#[cfg(windows)]
pub mod windows;
mod wipe;

pub use caches::caches;
pub use host::host_name;
pub use huge_pages::Zeros;
pub use huge_vec::{HugePages, HugeVec};
pub use others::Others;
pub use process::{close_files_on_exec, forbid_core_dumps, memory_limit};
pub use random::{RandomnessError, fill_random};
pub use thread_time::thread_time;
pub use wipe::{WipeStack, wipe, wipe_vec};

#[cfg(test)]
#[cfg(unix)]
pub(crate) mod again;
