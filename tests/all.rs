//! The tests of the program and of the library from outside, in one program: to optimise and link one for each file takes minutes.

#![allow(clippy::unwrap_used, reason = "tests")]

mod bad_input;
mod batch;
mod cli;
mod engines;
mod files;
mod guide;
mod json;
mod keys;
mod naive;
mod observed;
mod odds;
mod passphrase;
mod patterns;
mod program;
mod readme;
mod require;
mod soak;
mod sshd;
mod terminal;
mod tools;
