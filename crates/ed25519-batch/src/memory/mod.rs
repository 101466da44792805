//! Memory of tables and secrets: zeros in huge pages, overwriting, and what the machine has.

mod huge_pages;
mod huge_vec;
mod machine;
mod wipe;

pub use huge_pages::Zeros;
pub use huge_vec::{HugePages, HugeVec};
pub(crate) use machine::{caches, memory_limit, thread_time};
pub use wipe::{WipeStack, wipe, wipe_vec};
