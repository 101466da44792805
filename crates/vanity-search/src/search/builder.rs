//! A search, setting by setting.

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use super::find::{Find, Observer, Progress, SearchError, Summary};
use super::quota::Quota;
use super::run::{Goal, Parameters};
use super::stop::Stop;
use crate::engine::{self, Engine, EngineOptions};
use crate::pattern::{MatchOptions, Pattern, PatternError};

/// The most worker threads of a search.
pub const MAX_THREADS: usize = 1024;

/// The most worker threads for each processor. After a signal each of them ends its batch, which
/// must not take them all together a second.
const MAX_FOR_EACH_PROCESSOR: usize = 32;

/// Returns the most worker threads that a search starts on this machine.
#[must_use]
pub fn max_threads() -> NonZeroUsize {
    let most = processors().get().saturating_mul(MAX_FOR_EACH_PROCESSOR).min(MAX_THREADS);
    NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MIN)
}

fn processors() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Finds a key whose text has `word` anywhere, in upper or lower case, with all processors. Four
/// letters take less than a second, and each letter more about 30 times as long.
///
/// # Errors
///
/// Returns an error if no key can have the word, or if the search fails.
pub fn find(word: &str) -> Result<Find, FindError> {
    let patterns = [Pattern::new(word, MatchOptions::default())?];
    let mut found = None;
    Search::new(&patterns).run(|find| found = Some(find))?;
    Ok(found.unwrap_or_else(|| unreachable!("without a limit a search ends with a key")))
}

/// The reason why [`find`] has no key.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FindError {
    /// No key can have the word.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The search failed.
    #[error(transparent)]
    Search(#[from] SearchError),
}

/// A search for keys: settings, and then [`Self::run`].
#[must_use]
pub struct Search<'a> {
    patterns: &'a [Pattern],
    engine: Option<Arc<dyn Engine>>,
    threads: NonZeroUsize,
    quota: Quota,
    timeout: Option<Duration>,
    stop: Stop,
    progress: Box<dyn FnMut(&Progress) + 'a>,
}

impl<'a> Search<'a> {
    /// Returns a search for one key of each pattern, all in the same pass, with the fastest engine and
    /// one thread for each processor.
    pub fn new(patterns: &'a [Pattern]) -> Self {
        Self {
            patterns,
            engine: None,
            threads: processors(),
            quota: Quota::Each(1),
            timeout: None,
            stop: Stop::new(),
            progress: Box::new(|_| ()),
        }
    }

    /// Sets the engine.
    pub fn engine(self, engine: Arc<dyn Engine>) -> Self {
        Self { engine: Some(engine), ..self }
    }

    /// Sets the number of threads that search. At most [`max_threads`] are started.
    pub fn threads(self, threads: NonZeroUsize) -> Self {
        Self { threads, ..self }
    }

    /// Sets how many keys are wanted.
    pub fn quota(self, quota: Quota) -> Self {
        Self { quota, ..self }
    }

    /// Sets the time after which the search ends in any case.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Lets `stop` end the search.
    pub fn stop(self, stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..self }
    }

    /// Has `progress` called at most ten times a second, on the thread that calls [`Self::run`].
    pub fn on_progress(self, progress: impl FnMut(&Progress) + 'a) -> Self {
        Self { progress: Box::new(progress), ..self }
    }

    /// Searches until every wanted key is found, the time is over, or the search is stopped. Passes each
    /// find to `found`, on this thread.
    ///
    /// # Errors
    ///
    /// Returns an error if no engine works here, if the operating system gives no randomness or no
    /// threads, or if a claim of the engine is false.
    pub fn run(mut self, found: impl FnMut(Find)) -> Result<Summary, SearchError> {
        let progress = std::mem::replace(&mut self.progress, Box::new(|_| ()));
        self.observe(&mut Closures { found, progress })
    }

    /// Does the same with an observer, which can fail, and which takes finds that are made together as
    /// one group.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::run`], and those of the observer.
    ///
    /// # Panics
    ///
    /// Panics if a worker or the observer panics.
    #[doc(hidden)]
    pub fn observe<O: Observer>(self, observer: &mut O) -> Result<Summary, SearchError<O::Error>> {
        let Self { patterns, engine, threads, quota, timeout, stop, .. } = self;
        let engine = match engine {
            Some(engine) => engine,
            None => {
                engine::select(engine::AUTO, EngineOptions::for_attempts(quota.expected_attempts(patterns)))?
            }
        };
        let goal = Goal::Keys(quota);
        Parameters { engine: &*engine, patterns, threads, goal, timeout }.run(&stop, observer)
    }
}

/// An observer made of two functions.
struct Closures<F, P> {
    found: F,
    progress: P,
}

impl<F: FnMut(Find), P: FnMut(&Progress)> Observer for Closures<F, P> {
    type Error = Infallible;

    fn found(&mut self, finds: Vec<Find>) -> Result<(), Infallible> {
        finds.into_iter().for_each(&mut self.found);
        Ok(())
    }

    fn progress(&mut self, progress: &Progress) -> Result<(), Infallible> {
        (self.progress)(progress);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{End, Signal};

    #[test]
    fn one_line_finds_a_key() {
        let key = find("ab").unwrap();
        assert!(key.public_line("me").to_lowercase().contains("ab"));
        assert_eq!(key.seed.public_key(), key.public_key);
        assert!(matches!(find("a-b"), Err(FindError::Pattern(_))));
    }

    #[test]
    fn every_setting_has_its_effect() {
        let patterns = ["ab", "cd"].map(|word| Pattern::new(word, MatchOptions::default()).unwrap());
        let engine = engine::select("reference", EngineOptions::for_attempts(1e9)).unwrap();
        let search = || Search::new(&patterns).engine(Arc::clone(&engine)).threads(NonZeroUsize::MIN);
        let mut found = Vec::new();
        let summary = search().quota(Quota::Each(3)).run(|find| found.push(find.patterns)).unwrap();
        assert_eq!((summary.found, summary.end, summary.threads), (found.len() as u64, End::Complete, 1));
        assert!((0..2).all(|id| found.iter().filter(|ids| ids.contains(&id)).count() == 3));

        let many = || search().quota(Quota::Any(u64::MAX));
        let short = many().timeout(Duration::from_millis(50)).run(drop).unwrap();
        assert_eq!(short.end, End::Timeout);
        let stop = Stop::new();
        let stopped = many().stop(&stop).on_progress(|_| stop.request(Signal::TERMINATE)).run(drop).unwrap();
        assert_eq!(stopped.end, End::Signal(Signal::TERMINATE));
    }
}
