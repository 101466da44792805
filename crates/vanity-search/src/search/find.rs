//! The results of a search: finds, progress, a summary, or an error.

use std::convert::Infallible;
use std::time::Duration;

use thiserror::Error;

use super::stop::End;
use crate::engine::EngineError;
use crate::key::{PublicKey, Seed};
use crate::notice::Notice;
use crate::pattern::PatternId;
use crate::random::RandomnessError;

/// The most finds that are passed to the observer together. If as many wait for it, the workers
/// wait, too.
pub const MAX_FINDS_AT_ONCE: usize = 256;

/// A proved hit.
#[non_exhaustive]
pub struct Find {
    /// The seed.
    pub seed: Seed,
    /// Its public key.
    pub public_key: PublicKey,
    /// The patterns that match and still wanted a key: at least one, in ascending order.
    pub patterns: Vec<PatternId>,
    /// The keys that all workers had tried when this key was found, including this one.
    pub attempts: u64,
    /// The keys that all workers had tried at the end of the batch of this key.
    pub tried: u64,
    /// The time of the search at the end of the batch of this key.
    pub elapsed: Duration,
}

/// A find without its secrets.
#[derive(Clone, Debug)]
pub struct PublicFind {
    /// The public key.
    pub public_key: PublicKey,
    /// [`Find::patterns`].
    pub patterns: Vec<PatternId>,
    /// [`Find::attempts`].
    pub attempts: u64,
    /// [`Find::elapsed`].
    pub elapsed: Duration,
}

impl Find {
    /// Returns the line of `authorized_keys`, with this comment.
    #[must_use]
    pub fn public_line(&self, comment: &str) -> String {
        self.public_key.line(comment)
    }

    /// Returns the find without its secrets.
    #[must_use]
    pub fn public(&self) -> PublicFind {
        let Self { public_key, ref patterns, attempts, elapsed, .. } = *self;
        PublicFind { public_key, patterns: patterns.clone(), attempts, elapsed }
    }
}

/// The progress of a search.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The keys tried in whole batches.
    pub attempts: u64,
    /// The time of the search so far.
    pub elapsed: Duration,
}

impl Progress {
    /// The progress before the first key.
    pub const NONE: Self = Self::of(0, Duration::ZERO);

    /// Returns the progress of a search that has tried this many keys in this time.
    pub const fn of(attempts: u64, elapsed: Duration) -> Self {
        Self { attempts, elapsed }
    }

    /// Returns the keys per second of all threads together since an earlier progress.
    #[must_use]
    pub fn keys_per_second_since(&self, earlier: &Self) -> f64 {
        let time = self.elapsed.saturating_sub(earlier.elapsed).as_secs_f64();
        self.attempts.saturating_sub(earlier.attempts) as f64 / time.max(1e-9)
    }
}

/// The result of a whole search.
#[derive(Clone, PartialEq, Debug)]
pub struct Summary {
    /// The number of keys that the observer kept.
    pub found: u64,
    /// The keys tried: the exact number of seeds that were drawn.
    pub attempts: u64,
    /// The time from the beginning until the last worker ended.
    pub elapsed: Duration,
    /// The reason why the search ended.
    pub end: End,
    /// The number of threads that searched.
    pub threads: usize,
}

impl Summary {
    /// Returns the progress at the end.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress::of(self.attempts, self.elapsed)
    }

    /// Returns the keys per second of all threads together.
    #[must_use]
    pub fn keys_per_second(&self) -> f64 {
        self.progress().keys_per_second_since(&Progress::NONE)
    }
}

/// Receives the results of a search, on the thread that called [`Search::observe`](super::Search::observe).
pub trait Observer {
    /// The error of a find that cannot be kept, for example because the disk is full. It ends the
    /// search.
    type Error;

    /// Takes the beginning of the search: from now on there may be finds.
    fn begin(&mut self) {}

    /// Takes finds: at least one, at most [`MAX_FINDS_AT_ONCE`]. When this returns `Ok`, all of
    /// them count as kept.
    ///
    /// # Errors
    ///
    /// Returns an error if one of them cannot be kept.
    fn found(&mut self, finds: Vec<Find>) -> Result<(), Self::Error>;

    /// Takes the progress of the search, at most ten times a second.
    ///
    /// # Errors
    ///
    /// Returns an error to end the search.
    fn progress(&mut self, _: &Progress) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Continues what the observer does with finds beside the search. Returns how many further finds it can
    /// take now. While there are none, this is called every few milliseconds, and the workers pause. Finds
    /// that are made already are passed to it all the same.
    ///
    /// # Errors
    ///
    /// Returns an error to end the search.
    fn ready(&mut self) -> Result<usize, Self::Error> {
        Ok(usize::MAX)
    }

    /// Takes a notice of the engine for the user.
    fn notice(&mut self, _: &Notice) {}
}

/// The reason why a search failed. `E` is the error of the observer.
#[derive(Debug, Error)]
pub enum SearchError<E = Infallible> {
    /// No engine works here.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The operating system's random generator failed.
    #[error("the operating system's random generator failed: {0}")]
    Randomness(RandomnessError),
    /// The worker threads could not be started.
    #[error("cannot start the worker threads: {0}")]
    Threads(rayon::ThreadPoolBuildError),
    /// The engine of this name claimed a key that does not belong to its seed, or does not match.
    #[error("self-check: the engine '{0}' reported a wrong key, which was discarded")]
    FalseHit(&'static str),
    /// The observer's error.
    #[error("{0}")]
    Observer(E),
}
