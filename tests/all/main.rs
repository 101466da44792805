//! The tests of the program, and of the library from outside. They are one program, because to
//! build and link one for each file takes minutes.
//!
//! Modules in folders are helpers. `tests/require` is outside this folder, because the library's
//! unit tests use it, too.

#![allow(clippy::unwrap_used, reason = "tests")]
// Many tests need Linux, and leave parts of the helpers unused elsewhere.
#![cfg_attr(not(target_os = "linux"), allow(dead_code, unused_imports))]

mod agent;
mod bad_input;
mod batch;
mod blocked;
mod cli;
mod constant_time;
mod documents;
mod engines;
mod escaped;
mod existing;
mod faults;
mod faulty;
mod files;
mod gpu;
mod holdings;
mod hooks;
mod host_key;
mod hostile;
mod json;
mod keys;
mod memory;
mod model;
mod naive;
mod observed;
mod odds;
mod passphrase;
mod patterns;
mod ppk;
#[cfg_attr(windows, allow(dead_code, reason = "fewer tests run there"))]
mod program;
mod progress;
#[cfg_attr(windows, allow(dead_code, reason = "fewer tests run there"))]
mod putty;
mod readme;
#[cfg(unix)]
mod remains;
#[cfg_attr(windows, allow(dead_code, reason = "fewer tests run there"))]
#[path = "../require/mod.rs"]
mod require;
mod signals;
mod soak;
mod ssh_agent;
mod sshd;
mod suggestions;
mod supply;
mod terminal;
mod tools;
mod unrelated;
mod windows;
