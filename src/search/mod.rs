//! The search: workers, their seeds, and the proof of every hit.
//!
//! Each worker thread runs an engine's batches on a ChaCha20 stream of its own (`stream`). What an engine
//! claims is proved by the worker itself (`prove`). If the find is still wanted (`tally`), the worker has it prepared, which may
//! take long (`prepare`), and sends it to the calling thread, which hands it to the [`Observer`] and ends the search. Finds that
//! are made while the observer is busy with others wait and are handed over together: what takes long for one, such as a
//! sync of a disk, takes hardly longer for all of them, and a find that comes alone waits for nobody.

mod current;
mod measure;
mod prepare;
mod prove;
mod stop;
mod stream;
mod tally;

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, io};

use zeroize::Zeroizing;

use crate::engine::{Engine, Hit};
use crate::key::{EncodeError, PublicKey, Seed};
use crate::pattern::{Matcher, Pattern, PatternId};
use crate::sys::{RandomnessError, WipeStack};

use current::Current;
pub use measure::{Measure, Measured, ROUNDS, Spread, Unmeasured};
pub use prepare::Preparation;
use prepare::Preparer;
pub use stop::{Signal, Stop};
use stream::SeedStream;
pub use stream::check_randomness;
use tally::Tally;

/// The most worker threads.
pub const MAX_THREADS: usize = 1024;

/// How often the observer hears of the progress, and how soon a signal is noticed.
const TICK: Duration = Duration::from_millis(100);

/// How long after a signal or the timeout finds may still be prepared: the usual encryption takes less, and with a tick before it
/// and a sync after it the search ends within a second.
const GRACE: Duration = Duration::from_millis(400);

/// Finds that each worker proves where nothing is kept: as a sample, because a search proves none that is not wanted.
const PROVED_IN_MEASURING: u32 = 100;

/// The most finds that are handed over together. So many may wait for the observer before the workers do.
pub const TOGETHER: usize = 256;

/// What to search for, and how.
pub struct Search<'a> {
    /// The way of searching.
    pub engine: &'a dyn Engine,
    /// What to look for, all in the same pass.
    pub patterns: &'a [Pattern],
    /// Worker threads; never more than [`MAX_THREADS`] are started.
    pub threads: NonZeroUsize,
    /// When the search is complete.
    pub quota: Quota,
    /// After which time it ends in any case.
    pub timeout: Option<Duration>,
    /// What takes long and is done with each find before it is handed over: encrypting the private key.
    pub prepare: Option<&'a Prepare<'a>>,
}

/// Gives the work that makes a find's text. The work itself is done on a thread of its own, which may outlast the search.
pub type Prepare<'a> = dyn Fn(&Find) -> Preparation + Sync + 'a;

/// How many keys are wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Quota {
    /// So many for each pattern.
    Each(u64),
    /// For each pattern a number of its own, in the order of the patterns; 0 where none is wanted.
    Left(Vec<u64>),
    /// So many in all, whichever patterns they match.
    Any(u64),
    /// None: the first keys that each worker finds are proved, and all are dropped. For measuring, with a timeout.
    Endless,
}

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
    /// The private key's text, if [`Search::prepare`] made one.
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

/// Who is told what a search does, on the thread that called [`Search::run`].
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

    /// What has happened to the engine, and should be known: a line.
    fn note(&mut self, _: &str) {}
}

impl Search<'_> {
    /// Searches until the quota is filled, the time is over, `stop` is requested, or something fails.
    ///
    /// Whatever ends it, a find that was made before is handed to the observer first. With [`prepare`](Self::prepare), one that is
    /// not prepared 400 ms after a signal or the timeout is given up, and the summary says so. Its thread goes on until the
    /// preparation is finished, and wipes it.
    ///
    /// # Errors
    ///
    /// The operating system gives no randomness or no threads, a find cannot be prepared, the observer fails, or an engine's
    /// claim turns out to be false.
    pub fn run<O: Observer>(&self, stop: &Stop, observer: &mut O) -> Result<Summary, SearchError<O::Error>> {
        let threads = self.engine.workers(self.threads.get().min(MAX_THREADS));
        let streams: Vec<SeedStream> = (0..threads)
            .map(|_| SeedStream::new())
            .collect::<Result<_, _>>()
            .map_err(SearchError::Randomness)?;
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|number| format!("worker {number}"))
            .stack_size(WORKER_STACK)
            .build()
            .map_err(SearchError::Threads)?;
        let preparers: Vec<Option<Preparer>> = (0..threads)
            .map(|_| self.prepare.map(|_| Preparer::start()).transpose())
            .collect::<Result<_, _>>()
            .map_err(SearchError::Preparers)?;
        let tally = Tally::new(&self.quota, self.patterns.len());
        let wanted: Vec<bool> = (0..self.patterns.len()).map(|id| tally.wants(id)).collect();
        let shared = Shared {
            search: self,
            matcher: Current::new(Matcher::of(self.patterns, (0..wanted.len()).filter(|id| wanted[*id]))),
            wanted: wanted.iter().map(|wanted| AtomicBool::new(*wanted)).collect(),
            attempts: AtomicU64::new(0),
            ended: AtomicBool::new(tally.is_complete()),
            give_up: OnceLock::new(),
            given_up: Mutex::new(Vec::new()),
            tally: Mutex::new(tally),
            began: Instant::now(),
        };
        let (finds, inbox) = sync_channel(TOGETHER);
        let outcome = pool.in_place_scope(|scope| {
            for (stream, preparer) in streams.into_iter().zip(preparers) {
                let finds = finds.clone();
                scope.spawn(|_| shared.work(stream, preparer, finds));
            }
            drop(finds);
            let _guard = EndOnPanic(&shared);
            let outcome = shared.oversee(inbox, stop, observer);
            shared.end(Duration::ZERO);
            self.pass_notes(observer);
            outcome
        });
        let (found, cut) = outcome?;
        let mut given_up = locked(&shared.given_up).clone();
        given_up.sort_unstable();
        let is_complete = locked(&shared.tally).is_complete() && given_up.is_empty();
        Ok(Summary {
            // What was complete nevertheless is so.
            end: cut.filter(|_| !is_complete).unwrap_or(End::Complete),
            found,
            given_up,
            attempts: shared.attempts.load(Relaxed),
            elapsed: shared.began.elapsed(),
        })
    }

    /// Tells the observer what has happened to the engine. Who measures asks for it himself.
    fn pass_notes<O: Observer>(&self, observer: &mut O) {
        if self.quota != Quota::Endless {
            self.engine.notes().iter().for_each(|note| observer.note(note));
        }
    }
}

/// What the workers and the calling thread share.
struct Shared<'a> {
    search: &'a Search<'a>,
    /// Of the patterns that want a key, or did a short while ago.
    matcher: Current<Matcher<'a>>,
    /// The patterns that still want a key.
    wanted: Vec<AtomicBool>,
    /// What is wanted beyond the finds that are there, prepared or not.
    tally: Mutex<Tally>,
    attempts: AtomicU64,
    ended: AtomicBool,
    /// When finds that are not prepared are given up.
    give_up: OnceLock<Instant>,
    /// The first pattern of each that was.
    given_up: Mutex<Vec<PatternId>>,
    began: Instant,
}

/// What a worker sends: a find, or what is wrong.
type Message = Result<Find, Fault>;

/// What ends a search from within.
enum Fault {
    /// A hit whose key or match was not as claimed.
    FalseHit,
    /// A find that could not be prepared.
    Unprepared(EncodeError),
}

/// Nobody panics who holds it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of a worker's whole stack, whatever the surroundings say (`RUST_MIN_STACK`).
const WORKER_STACK: usize = 2 << 20;

impl Shared<'_> {
    /// One worker: batch after batch until the end.
    fn work(&self, mut stream: SeedStream, mut preparer: Option<Preparer>, finds: SyncSender<Message>) {
        let _guard = EndOnPanic(self);
        let _last = WipeStack;
        let mut worker = self.search.engine.worker();
        let mut matcher = self.matcher.latest();
        let mut hits = Vec::new();
        let mut measured = 0;
        while !self.ended.load(Relaxed) {
            self.matcher.renew(&mut matcher);
            let tried = worker.batch(&matcher, &mut stream, &mut hits);
            let before = self.attempts.fetch_add(tried, Relaxed);
            // Dropped when all hits are done.
            let _stack = (!hits.is_empty()).then_some(WipeStack);
            for hit in hits.drain(..) {
                if self.search.quota == Quota::Endless {
                    measured += 1;
                    if measured > PROVED_IN_MEASURING {
                        continue;
                    }
                }
                // A hit that is not proved by the end is no find, and nobody shall wait for what only now begins.
                if self.search.prepare.is_some() && self.ended.load(Relaxed) {
                    return;
                }
                let message = match self.judge(hit, &matcher, before) {
                    Ok(None) => continue,
                    Ok(Some(find)) => match (preparer.take(), self.search.prepare) {
                        (Some(idle), Some(prepare)) => {
                            let first = find.patterns[0];
                            let preparation = prepare(&find);
                            let until = || self.give_up.get().copied();
                            let Some((idle, find)) = idle.prepare(find, preparation, until) else {
                                locked(&self.given_up).push(first);
                                return;
                            };
                            preparer = Some(idle);
                            find.map_err(Fault::Unprepared)
                        }
                        _ => Ok(find),
                    },
                    Err(fault) => Err(fault),
                };
                if finds.send(message).is_err() {
                    return;
                }
            }
        }
    }

    /// A hit becomes a find, a false hit, or nothing if no pattern that it matches wants a key any more.
    fn judge(&self, hit: Hit, matcher: &Matcher, before: u64) -> Result<Option<Find>, Fault> {
        let subject = matcher.subject();
        let claimed: Vec<PatternId> =
            hit.possible().flat_map(|key| matcher.find(&key.bytes(subject))).collect();
        let is_wanted = |id: &PatternId| self.wanted[*id].load(Relaxed);
        if claimed.is_empty() {
            return Err(Fault::FalseHit);
        }
        if !claimed.iter().any(is_wanted) {
            return Ok(None);
        }
        let (public_key, mut patterns) =
            prove::prove(&hit, matcher, self.search.patterns).ok_or(Fault::FalseHit)?;
        // The sign may not be the one that matches.
        patterns.retain(is_wanted);
        if patterns.is_empty() || self.search.quota == Quota::Endless {
            return Ok(None);
        }
        if !self.reserve(&mut patterns) {
            return Ok(None);
        }
        Ok(Some(Find {
            seed: hit.seed,
            public_key,
            patterns,
            attempts: before + hit.index + 1,
            elapsed: self.began.elapsed(),
            prepared: None,
        }))
    }

    /// Counts a find for those of its patterns that still want one, if there are any; the others are taken out. The last find
    /// that is wanted ends the search.
    fn reserve(&self, patterns: &mut Vec<PatternId>) -> bool {
        let mut tally = locked(&self.tally);
        patterns.retain(|&id| tally.wants(id));
        if patterns.is_empty() {
            return false;
        }
        for id in tally.count(patterns) {
            self.wanted[id].store(false, Relaxed);
        }
        if tally.is_complete() {
            self.ended.store(true, Relaxed);
        }
        true
    }

    /// Ends the search. Finds that are being prepared have so much time left.
    fn end(&self, grace: Duration) {
        self.give_up.get_or_init(|| Instant::now() + grace);
        self.ended.store(true, Relaxed);
    }

    /// The calling thread's part: takes finds, watches the clock and the stop signal, until every worker is gone. Gives how many
    /// finds the observer has kept, and what ended the search before it was complete.
    fn oversee<O: Observer>(
        &self,
        inbox: Receiver<Message>,
        stop: &Stop,
        observer: &mut O,
    ) -> Result<(u64, Option<End>), SearchError<O::Error>> {
        let deadline = self.search.timeout.and_then(|timeout| self.began.checked_add(timeout));
        let mut next_tick = self.began + TICK;
        let (mut kept, mut cut) = (0, None);
        loop {
            let now = Instant::now();
            if cut.is_none() {
                let is_over = deadline.is_some_and(|deadline| deadline <= now);
                cut = stop.requested().map(End::Signal).or(is_over.then_some(End::Timeout));
                if cut.is_some() {
                    self.end(GRACE);
                }
            }
            if next_tick <= now {
                next_tick = now + TICK;
                let attempts = self.attempts.load(Relaxed);
                observer.progress(&Progress { attempts, elapsed: self.began.elapsed() });
                self.search.pass_notes(observer);
            }
            let wake =
                deadline.filter(|_| cut.is_none()).map_or(next_tick, |deadline| deadline.min(next_tick));
            match inbox.recv_timeout(wake.saturating_duration_since(now)) {
                Ok(message) => kept += self.accept(message, &inbox, observer)?,
                Err(RecvTimeoutError::Timeout) => {}
                // Every worker is gone. If one has panicked, the pool passes the panic on.
                Err(RecvTimeoutError::Disconnected) => return Ok((kept, cut)),
            }
        }
    }

    /// Hands a find to the observer, and with it those that wait behind it: how many. Those before a fault are kept.
    fn accept<O: Observer>(
        &self,
        first: Message,
        inbox: &Receiver<Message>,
        observer: &mut O,
    ) -> Result<u64, SearchError<O::Error>> {
        let mut finds = Vec::new();
        let mut fault = None;
        for message in std::iter::once(first).chain(inbox.try_iter().take(TOGETHER - 1)) {
            match message {
                Ok(find) => finds.push(find),
                Err(what) => {
                    fault = Some(what);
                    break;
                }
            }
        }
        if !finds.is_empty() {
            observer.found(&finds).map_err(SearchError::Observer)?;
            self.renew_matcher();
        }
        match fault {
            None => Ok(finds.len() as u64),
            Some(Fault::FalseHit) => Err(SearchError::FalseHit(self.search.engine.name())),
            Some(Fault::Unprepared(error)) => Err(SearchError::Unprepared(error)),
        }
    }

    /// Looks no more for patterns that have left, if there are enough of them.
    fn renew_matcher(&self) {
        let mut tally = locked(&self.tally);
        if tally.is_due() {
            let patterns = self.search.patterns;
            let wanted: Vec<PatternId> = (0..patterns.len()).filter(|&id| tally.wants(id)).collect();
            drop(tally);
            self.matcher.replace(Matcher::of(patterns, wanted));
        }
    }
}

/// Ends the search when its thread panics.
struct EndOnPanic<'a, 'b>(&'a Shared<'b>);

impl Drop for EndOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(Duration::ZERO);
        }
    }
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

#[cfg(test)]
mod tests;
