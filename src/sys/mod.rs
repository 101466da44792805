//! Services of the operating system: random bytes and the name of the host. This module also
//! protects secrets: it switches core dumps off, and finds out who can access a file.

mod foreign_access;
mod host;
mod process;
mod random;
#[cfg(windows)]
pub mod windows;

#[doc(no_inline)]
pub use ed25519_batch::memory::{WipeStack, wipe_vec};
pub use foreign_access::ForeignAccess;
pub use host::host_name;
pub use process::{close_files_on_exec, forbid_core_dumps, process_time};
pub use random::{RandomnessError, fill_random};

#[cfg(test)]
#[cfg(unix)]
pub(crate) mod again;
