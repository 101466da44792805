//! Gives keys to the running ssh-agent.
//!
//! `message` writes and reads the messages (draft-ietf-sshm-ssh-agent), `connection` carries them
//! with a time limit, and [`Agent`] knows which messages to send. A key counts as given only when
//! the agent lists it. `late` removes one that comes too late. The reasons why no package does this are in `docs/design/dependencies.md`.

mod client;
mod connection;
mod error;
mod late;
mod message;

pub use client::{Agent, Nature, TRIAL};
pub use error::AgentError;
pub use message::Constraints;
