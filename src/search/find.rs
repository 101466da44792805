//! What a search gives: finds, progress, a summary, or an error.

use std::time::Duration;
use std::{fmt, io};

use zeroize::Zeroizing;

use super::stop::Signal;
use crate::key::{EncodeError, PublicKey, Seed};
use crate::notice::Notice;
use crate::pattern::PatternId;
use crate::sys::RandomnessError;

/// The most finds that are handed over together. So many may wait for the observer before the workers do.
pub const TOGETHER: usize = 256;

/// A proved hit.
pub struct Find {
    /// The seed.
    pub seed: Seed,
    /// Its public key.
    pub public_key: PublicKey,
    /// The patterns it matches that still wanted a key; at least one, in ascending order.
    pub patterns: Vec<PatternId>,
    /// Candidates tried by all workers until then, this one included.
    pub attempts: u64,
    /// Time since the search began.
    pub elapsed: Duration,
    /// The private key's text, if [`Search::prepare`](super::Search::prepare) made one.
    pub prepared: Option<Zeroizing<String>>,
}

/// How far a search is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Candidates tried in whole batches.
    pub attempts: u64,
    /// Time since the search began.
    pub elapsed: Duration,
}

/// What a search came to.
#[derive(Clone, PartialEq, Debug)]
pub struct Summary {
    /// Keys that were handed to the observer, which kept them.
    pub found: u64,
    /// Keys that were found and given up, because they were not prepared in time when the search was ended: of each, the first
    /// pattern that it matches.
    pub given_up: Vec<PatternId>,
    /// Candidates tried: the exact number of seeds that were drawn.
    pub attempts: u64,
    /// Time from the first seed to the end of the last worker.
    pub elapsed: Duration,
    /// Why it ended.
    pub end: End,
}

impl Summary {
    /// Candidates per second, all threads together.
    #[must_use]
    pub fn keys_per_second(&self) -> f64 {
        self.attempts as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// Why a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Everything that was wanted is found.
    Complete,
    /// The timeout.
    Timeout,
    /// A signal.
    Signal(Signal),
}

/// Who is told what a search does, on the thread that called [`Search::run`](super::Search::run).
pub trait Observer {
    /// What can go wrong with a find, such as a full disk. It ends the search.
    type Error;

    /// Finds: at least one, at most [`TOGETHER`]. When this returns, all of them count as kept.
    ///
    /// # Errors
    ///
    /// One of them could not be kept.
    fn found(&mut self, finds: &[Find]) -> Result<(), Self::Error>;

    /// How far the search is, some ten times a second.
    fn progress(&mut self, progress: &Progress);

    /// What has happened to the engine, and should be known.
    fn notice(&mut self, _: &Notice) {}
}

/// Why a search failed. `E` is the observer's error.
#[derive(Debug)]
pub enum SearchError<E> {
    /// The operating system's random generator failed.
    Randomness(RandomnessError),
    /// The worker threads could not be started.
    Threads(rayon::ThreadPoolBuildError),
    /// The threads that prepare finds could not be started.
    Preparers(io::Error),
    /// A find could not be prepared.
    Unprepared(EncodeError),
    /// The engine of this name claimed a key that is not derived from its seed, or does not match.
    FalseHit(&'static str),
    /// The observer's error.
    Observer(E),
}

impl<E: fmt::Display> fmt::Display for SearchError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Randomness(error) => write!(f, "the operating system's random generator failed: {error}"),
            Self::Threads(error) => write!(f, "the worker threads could not be started: {error}"),
            Self::Preparers(error) => {
                write!(f, "the threads that encrypt keys could not be started: {error}")
            }
            Self::Unprepared(error) => error.fmt(f),
            Self::FalseHit(engine) => {
                write!(
                    f,
                    "self-check: the engine '{engine}' claimed a key that is not right; nothing was kept of it"
                )
            }
            Self::Observer(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for SearchError<E> {}
