//! What Windows has instead of modes of files, signals and terminals: access lists of files, events
//! of the console, and the console itself.
//!
//! The standard library has none of this, and no kept package offers it without `unsafe` code of
//! our own: a file that has its access list from the moment it exists, or a prompt whose buffers
//! are wiped and that Ctrl-C ends (`docs/design/dependencies.md`). So this folder calls the system itself.
//! The functions that it exports are safe.

#![allow(unsafe_code, reason = "foreign calls")]

mod access;
mod console;

pub use self::console::{Console, stop_on_signals, takes_nothing};
pub use access::{access_list, create_private_directory, create_private_file};

pub use windows_sys::Win32::Storage::FileSystem::{
    DELETE, FILE_FLAG_DELETE_ON_CLOSE, FILE_FLAG_OPEN_REPARSE_POINT,
};

pub(super) use access::user_in_lists;
#[cfg(test)]
pub(crate) use access::{create_file_with, current_user};
