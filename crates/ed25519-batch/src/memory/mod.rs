//! Memory of tables and secrets: zeros in huge pages, overwriting, and what the machine has.

mod huge_pages;
mod machine;
mod wipe;

pub use huge_pages::Zeros;
pub(crate) use machine::{caches, memory_limit, thread_time};
pub use wipe::{WipeStack, overwrite, wipe, wipe_vec};
