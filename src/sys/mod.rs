//! Services of the operating system: signals, streams, and the name of the host. This module
//! also protects secrets: it switches core dumps off, opens files with secrets, and finds out who else can
//! access them.

mod foreign_access;
mod patient;
mod process;
mod secret_file;
#[cfg(unix)]
pub(crate) mod signals;
mod stdout;
#[cfg(windows)]
pub mod windows;

#[doc(no_inline)]
pub use ed25519_batch::memory::{WipeStack, room};
pub use foreign_access::ForeignAccess;
pub use patient::Patient;
pub use process::{command, forbid_core_dumps, host_name, is_in_background};
pub use secret_file::SecretFile;
#[cfg(unix)]
pub use signals::stop_on_signals;
pub use stdout::{TakesNothing, reader_gone, stdout_takes_nothing, write_stdout};
#[doc(no_inline)]
pub use vanity_search::random::{RandomnessError, draw_hash_keys, fill_random};
#[cfg(windows)]
pub use windows::stop_on_signals;
