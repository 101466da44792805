//! Memory of tables and secrets: zeros in huge pages, overwriting, limits, and what the machine has.

mod huge_pages;
mod limits;
mod machine;
mod wipe;

pub use huge_pages::Zeros;
pub use limits::{Room, keep_free, room, spare_room};
pub(crate) use machine::{caches, thread_time};
pub use wipe::{WipeStack, overwrite, wipe, wipe_vec};
