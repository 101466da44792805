//! Ways of searching: seeds and a matcher in, hits out.
//!
//! An [`Engine`] is what all threads share (its tables); a [`Worker`] is what one thread owns (its buffers).
//! A hit is a claim. It becomes a find only when [`crate::search`] has proved it, so an engine may be as
//! clever as it likes.
//!
//! A new engine implements the two traits and is entered in `ENGINES`. Whatever its kind, it has to
//! reproduce known vectors before its first use ([`select`]).

mod batch;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(feature = "gpu")]
mod hybrid;
mod reference;
mod self_test;

use std::fmt;

#[cfg(feature = "gpu")]
pub use gpu::pipeline;
#[doc(hidden)]
pub use reference::public_key as derive_by_reference;

use zeroize::Zeroizing;

use crate::escape::escaped;
use crate::key::{PublicKey, Seed};
use crate::notice::Notice;
use crate::pattern::Matcher;
use crate::wire;

/// A way of searching.
pub trait Engine: Send + Sync {
    /// The name by which it is chosen.
    fn name(&self) -> &'static str;

    /// What one thread needs.
    fn worker(&self) -> Box<dyn Worker + '_>;

    /// How many workers a search has that was asked for so many threads.
    fn workers(&self, threads: usize) -> usize {
        threads
    }

    /// Returns what has happened since it was asked the last time, and should be known to people who wait.
    fn notices(&self) -> Vec<Notice> {
        Vec::new()
    }
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

    /// A fresh key of ChaCha20, whose stream an engine may take for seeds, from its beginning. `None` where seeds have to
    /// be those that [`Self::fill`] gives.
    fn key(&mut self) -> Option<Zeroizing<[u8; 32]>> {
        None
    }
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

/// What an engine is built for: the size of its tables, and the devices that it may use.
#[derive(Clone, Copy, Debug)]
pub struct Sizing {
    /// The expected number of keys to try: a short search does not wait for a large table.
    pub expected_attempts: f64,
    /// The most bytes that tables may take, but never less than [`LEAST_TABLE_MEMORY`]. Without it they go by the
    /// processor's caches.
    pub table_memory: Option<usize>,
    /// The graphics processors.
    pub devices: Devices,
}

/// A set of devices, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Devices(u64);

impl Devices {
    /// All that are suitable.
    pub const ALL: Self = Self(0);

    /// Device numbers end below this.
    pub const END: usize = u64::BITS as usize;

    /// Those with these numbers. `None` unless each is below [`Self::END`].
    pub fn of(numbers: impl IntoIterator<Item = usize>) -> Option<Self> {
        let bit = |number: usize| u32::try_from(number).ok().and_then(|number| 1u64.checked_shl(number));
        numbers.into_iter().try_fold(0, |set, number| Some(set | bit(number)?)).map(Self)
    }

    /// The numbers, in ascending order; none of [`Self::ALL`].
    pub fn numbers(self) -> impl Iterator<Item = usize> {
        (0..Self::END).filter(move |number| self.0 >> number & 1 == 1)
    }
}

/// The bytes of the smallest tables.
pub const LEAST_TABLE_MEMORY: usize = 16 << 10;

impl Sizing {
    /// By the caches, for a search of so many keys.
    #[must_use]
    pub const fn for_attempts(expected_attempts: f64) -> Self {
        Self { expected_attempts, table_memory: None, devices: Devices::ALL }
    }
}

/// Below so many expected attempts the reference engine is done before another one has begun: its rate is 40,000
/// keys a second or more, and tables and self-test take some 40 ms.
const FEW_ATTEMPTS: f64 = 2000.0;

/// The name that stands for the fastest engine which works on this machine.
pub const AUTO: &str = "auto";

/// The name of the engine of graphics processors.
pub const GPU: &str = "gpu";

/// The name of graphics processors and the processor together, which [`AUTO`] may take.
pub const HYBRID: &str = "gpu+cpu";

/// The name of the oracle and the yardstick of all others.
pub const YARDSTICK: &str = reference::NAME;

/// Every engine: that of graphics processors, then those of the processor, the fastest first; the last is the [`YARDSTICK`].
static ENGINES: [Entry; 6] = [
    Entry { name: GPU, detect: gpu::detect, build: gpu::build },
    Entry { name: "avx512ifma", detect: batch::detect_avx512ifma, build: batch::avx512ifma },
    Entry { name: "avx512f", detect: batch::detect_avx512f, build: batch::avx512f },
    Entry { name: "avx2", detect: batch::detect_avx2, build: batch::avx2 },
    Entry { name: "portable", detect: || Ok(()), build: batch::portable },
    Entry { name: reference::NAME, detect: || Ok(()), build: reference::build },
];

/// Where the program was built without graphics processors.
#[cfg(not(feature = "gpu"))]
mod gpu {
    pub(super) fn is_there() -> bool {
        false
    }

    pub(super) fn detect() -> Result<(), String> {
        Err("this program was built without it; build it with `--features gpu`".to_owned())
    }

    pub(super) fn build(_: super::Sizing) -> Result<Box<dyn super::Engine>, String> {
        detect().map(|()| unreachable!("it is not there"))
    }
}

/// An engine that can be chosen.
struct Entry {
    name: &'static str,
    /// Says what this machine lacks for it, as far as that is known at once: devices are only asked when it is built.
    detect: fn() -> Result<(), String>,
    /// Builds it, or says why this machine cannot run it.
    build: fn(Sizing) -> Result<Box<dyn Engine>, String>,
}

/// The names that [`select`] knows besides [`AUTO`].
pub fn names() -> impl Iterator<Item = &'static str> {
    ENGINES.iter().map(|entry| entry.name)
}

/// Checks that [`select`] knows `name` and that this machine has what it needs, as far as that is known at once. Nothing is
/// built.
///
/// # Errors
///
/// There is no such engine, or this machine cannot run it.
pub fn check(name: &str) -> Result<(), EngineError> {
    if name == AUTO { Ok(()) } else { entry(name).map(|_| ()) }
}

/// The engine called `name`, if this machine has what it needs.
fn entry(name: &str) -> Result<&'static Entry, EngineError> {
    let entry = ENGINES.iter().find(|entry| entry.name == name);
    let entry = entry.ok_or_else(|| EngineError::Unknown(name.to_owned()))?;
    (entry.detect)().map_err(|why| EngineError::Unavailable { name: entry.name, why })?;
    Ok(entry)
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
        #[cfg(feature = "gpu")]
        return hybrid::build(sizing);
        #[cfg(not(feature = "gpu"))]
        return of_the_processor(sizing);
    }
    let &Entry { name, build, .. } = entry(name)?;
    let engine = build(sizing).map_err(|why| EngineError::Unavailable { name, why })?;
    self_test::run(&*engine)?;
    Ok(engine)
}

/// The fastest engine of the processor that is there and passes.
fn of_the_processor(sizing: Sizing) -> Result<Box<dyn Engine>, EngineError> {
    let mut first = None;
    for Entry { name, .. } in &ENGINES[1..] {
        match select(name, sizing) {
            Ok(engine) => return Ok(engine),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or_else(|| EngineError::Unknown(AUTO.to_owned())))
}

/// Selects one engine after the other, in the order of [`names`]. The engine of graphics processors is left out where there
/// is none, instead of making a device of the processor.
pub fn every(sizing: Sizing) -> impl Iterator<Item = Result<Box<dyn Engine>, EngineError>> {
    names().filter(|name| *name != GPU || gpu::is_there()).map(move |name| select(name, sizing))
}

/// Returns those of [`every`] that work on this machine.
#[must_use]
pub fn available(sizing: Sizing) -> Vec<Box<dyn Engine>> {
    every(sizing).filter_map(Result::ok).collect()
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
        // Nothing is built for a hint: an engine that fails its self-test later has a refusal of its own.
        let is_there = |name: &&str| if *name == GPU { gpu::is_there() } else { check(name).is_ok() };
        let there = names().filter(is_there).collect::<Vec<_>>().join(", ");
        format!("this machine has: {AUTO}, {there}")
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "there is no engine called '{}'", escaped(name)),
            Self::Unavailable { name, why } => write!(f, "the engine '{name}' cannot run here: {why}"),
            Self::SelfTest(name) => {
                write!(f, "the engine '{name}' computed a wrong key in its self-test and is not used")
            }
        }
    }
}

impl std::error::Error for EngineError {}
