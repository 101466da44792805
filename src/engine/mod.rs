//! Ways of searching: seeds and a matcher in, hits out.
//!
//! An [`Engine`] is what all threads share (its tables); a [`Worker`] is what one thread owns (its buffers).
//! A hit is a claim. It becomes a find only when [`crate::search`] has proved it, so an engine may be as
//! clever as it likes.
//!
//! A new engine implements the two traits and is entered in `ENGINES`. Whatever its kind, it has to
//! reproduce known vectors before its first use ([`select`]).

mod batch;
mod reference;
mod self_test;

use std::fmt;

use crate::key::{PublicKey, Seed};
use crate::pattern::Matcher;

/// A way of searching.
pub trait Engine: Send + Sync {
    /// The name by which it is chosen.
    fn name(&self) -> &'static str;

    /// What one thread needs to search for the patterns of `matcher`.
    fn worker<'a>(&'a self, matcher: &'a Matcher) -> Box<dyn Worker + 'a>;
}

/// One thread's part of an engine.
pub trait Worker {
    /// Takes seeds, derives their public keys and adds those that match to `hits`. Gives the number of
    /// candidates tried: exactly the number of seeds taken.
    ///
    /// A batch lasts some milliseconds, up to 100, so that a search can be ended between two of them.
    fn batch(&mut self, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64;
}

/// Where seeds come from.
pub trait SeedSource {
    /// Overwrites every seed with a fresh one.
    fn fill(&mut self, seeds: &mut [[u8; 32]]);
}

/// An engine's claim that a seed's public key matches.
pub struct Hit {
    /// How many candidates of the same batch were tried before it.
    pub index: u64,
    /// The seed.
    pub seed: Seed,
    /// The public key, as the engine computed it.
    pub public_key: PublicKey,
}

/// Below so many expected attempts the reference engine is done before another one has begun: its rate is 40,000
/// keys a second or more, and tables and self-test take some 40 ms.
const FEW_ATTEMPTS: f64 = 2000.0;

/// The name that stands for the fastest engine which works on this machine.
pub const AUTO: &str = "auto";

/// Every engine, the fastest first; the last is the oracle and the yardstick of all others.
const ENGINES: [Entry; 2] = [
    Entry { name: batch::NAME, build: batch::build },
    Entry { name: reference::NAME, build: reference::build },
];

/// An engine that can be chosen.
struct Entry {
    name: &'static str,
    /// Builds it for so many expected attempts, or says why this machine cannot run it.
    build: fn(f64) -> Result<Box<dyn Engine>, String>,
}

/// The names that [`select`] knows besides [`AUTO`].
pub fn names() -> impl Iterator<Item = &'static str> {
    ENGINES.iter().map(|entry| entry.name)
}

/// The engine called `name`, after its self-test, with tables that suit a search of `expected_attempts` keys. For
/// [`AUTO`] it is the fastest that is there and passes; a search of few keys does not wait for tables.
///
/// # Errors
///
/// There is no such engine, this machine cannot run it, or it computed a wrong key.
pub fn select(name: &str, expected_attempts: f64) -> Result<Box<dyn Engine>, EngineError> {
    if name == AUTO && expected_attempts < FEW_ATTEMPTS {
        return select(reference::NAME, expected_attempts);
    }
    if name == AUTO {
        let mut first = None;
        for name in names() {
            match select(name, expected_attempts) {
                Ok(engine) => return Ok(engine),
                Err(error) => first = first.or(Some(error)),
            }
        }
        return Err(first.unwrap_or(EngineError::Unknown(name.to_owned())));
    }
    let Some(&Entry { name, build }) = ENGINES.iter().find(|entry| entry.name == name) else {
        return Err(EngineError::Unknown(name.to_owned()));
    };
    let engine = build(expected_attempts).map_err(|why| EngineError::Unavailable { name, why })?;
    self_test::run(&*engine)?;
    Ok(engine)
}

/// All engines that work on this machine, in the order of [`names`], with the tables of a long search.
#[must_use]
pub fn available() -> Vec<Box<dyn Engine>> {
    names().filter_map(|name| select(name, f64::INFINITY).ok()).collect()
}

/// Why an engine is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EngineError {
    /// There is no engine of this name.
    Unknown(String),
    /// This machine cannot run the engine.
    Unavailable {
        /// The engine.
        name: &'static str,
        /// The reason.
        why: String,
    },
    /// The engine does not reproduce the known vectors.
    SelfTest(&'static str),
}

impl EngineError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        let works = |name: &&str| select(name, 0.0).is_ok();
        let there = names().filter(works).collect::<Vec<_>>().join(", ");
        format!("this machine has: {AUTO}, {there}")
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "there is no engine called '{}'", name.escape_debug()),
            Self::Unavailable { name, why } => write!(f, "the engine '{name}' cannot run here: {why}"),
            Self::SelfTest(name) => {
                write!(f, "the engine '{name}' computed a wrong key in its self-test and is not used")
            }
        }
    }
}

impl std::error::Error for EngineError {}
