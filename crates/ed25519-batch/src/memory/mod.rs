//! Memory of tables and secrets: zeros in huge pages, overwriting, limits, and what the machine has.

pub(crate) mod caches;
pub(crate) mod huge_pages;
pub(crate) mod limits;
mod wipe;

pub(crate) use caches::{caches, thread_time};
pub use huge_pages::Zeros;
pub use limits::{Room, keep_free, room, spare_room};
pub use wipe::{WipeStack, overwrite, wipe, wipe_vec};
