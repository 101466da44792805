//! Services of the operating system: random bytes, cache sizes, memory limits, huge pages and the
//! time of a thread. This
//! module also protects secrets: it switches core dumps off and overwrites memory.

mod caches;
mod host;
mod huge_pages;
mod process;
mod random;
mod thread_time;
mod wipe;

pub use caches::caches;
pub use host::host_name;
pub use huge_pages::Zeros;
pub use process::{close_files_on_exec, forbid_core_dumps, memory_limit};
pub use random::{RandomnessError, fill_random};
pub use thread_time::thread_time;
pub use wipe::{WipeStack, wipe, wipe_vec};

#[cfg(test)]
#[cfg(unix)]
pub(crate) mod again;
