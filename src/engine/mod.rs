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
use crate::wire;

/// A way of searching.
pub trait Engine: Send + Sync {
    /// The name by which it is chosen.
    fn name(&self) -> &'static str;

    /// What one thread needs.
    fn worker(&self) -> Box<dyn Worker + '_>;
}

/// One thread's part of an engine.
pub trait Worker {
    /// Takes seeds, derives their public keys and adds those that match to `hits`. Gives the number of
    /// candidates tried: exactly the number of seeds taken.
    ///
    /// A batch lasts some milliseconds, up to 100, so that a search can be ended, or go on with another matcher,
    /// between two of them.
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64;
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
    /// Whether that has its highest bit, the sign of x. If not, the bit is 0, and the claim is that the key matches with
    /// one sign or the other.
    pub has_sign: bool,
}

impl Hit {
    /// The keys of which one is claimed.
    pub fn possible(&self) -> impl Iterator<Item = PublicKey> {
        let other = (!self.has_sign).then(|| PublicKey(wire::with_sign(self.public_key.0)));
        std::iter::once(self.public_key).chain(other)
    }
}

/// What the size of tables depends on.
#[derive(Clone, Copy, Debug)]
pub struct Sizing {
    /// The expected number of keys to try: a short search does not wait for a large table.
    pub expected_attempts: f64,
    /// The most bytes that tables may take, but never less than [`LEAST_TABLE_MEMORY`]. Without it they go by the
    /// processor's caches.
    pub table_memory: Option<usize>,
}

/// The bytes of the smallest tables.
pub const LEAST_TABLE_MEMORY: usize = 16 << 10;

impl Sizing {
    /// By the caches, for a search of so many keys.
    #[must_use]
    pub const fn for_attempts(expected_attempts: f64) -> Self {
        Self { expected_attempts, table_memory: None }
    }
}

/// Below so many expected attempts the reference engine is done before another one has begun: its rate is 40,000
/// keys a second or more, and tables and self-test take some 40 ms.
const FEW_ATTEMPTS: f64 = 2000.0;

/// The name that stands for the fastest engine which works on this machine.
pub const AUTO: &str = "auto";

/// The name of the oracle and the yardstick of all others.
pub const YARDSTICK: &str = reference::NAME;

/// Every engine, the fastest first; the last is the [`YARDSTICK`].
const ENGINES: [Entry; 5] = [
    Entry { name: "avx512ifma", build: batch::avx512ifma },
    Entry { name: "avx512f", build: batch::avx512f },
    Entry { name: "avx2", build: batch::avx2 },
    Entry { name: "portable", build: batch::portable },
    Entry { name: reference::NAME, build: reference::build },
];

/// An engine that can be chosen.
struct Entry {
    name: &'static str,
    /// Builds it, or says why this machine cannot run it.
    build: fn(Sizing) -> Result<Box<dyn Engine>, String>,
}

/// The names that [`select`] knows besides [`AUTO`].
pub fn names() -> impl Iterator<Item = &'static str> {
    ENGINES.iter().map(|entry| entry.name)
}

/// The engine called `name`, after its self-test, with tables of a suitable size. For
/// [`AUTO`] it is the fastest that is there and passes; a search of few keys does not wait for tables.
///
/// # Errors
///
/// There is no such engine, this machine cannot run it, or it computed a wrong key.
pub fn select(name: &str, sizing: Sizing) -> Result<Box<dyn Engine>, EngineError> {
    if name == AUTO && sizing.expected_attempts < FEW_ATTEMPTS {
        return select(reference::NAME, sizing);
    }
    if name == AUTO {
        let mut first = None;
        for name in names() {
            match select(name, sizing) {
                Ok(engine) => return Ok(engine),
                Err(error) => first = first.or(Some(error)),
            }
        }
        return Err(first.unwrap_or(EngineError::Unknown(name.to_owned())));
    }
    let Some(&Entry { name, build }) = ENGINES.iter().find(|entry| entry.name == name) else {
        return Err(EngineError::Unknown(name.to_owned()));
    };
    let engine = build(sizing).map_err(|why| EngineError::Unavailable { name, why })?;
    self_test::run(&*engine)?;
    Ok(engine)
}

/// All engines that work on this machine, in the order of [`names`], with the tables of a long search within so many
/// bytes.
#[must_use]
pub fn available(table_memory: Option<usize>) -> Vec<Box<dyn Engine>> {
    let sizing = Sizing { expected_attempts: f64::INFINITY, table_memory };
    names().filter_map(|name| select(name, sizing).ok()).collect()
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
        let works = |name: &&str| select(name, Sizing::for_attempts(0.0)).is_ok();
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
