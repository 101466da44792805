//! The search: workers, their seeds, and the proof of every hit.
//!
//! Each worker thread runs an engine's batches on a ChaCha20 stream of its own (`stream`). What an engine
//! claims is proved by the worker itself (`prove`) and sent to the calling thread, which alone decides
//! whether a find is still wanted (`tally`), hands it to the [`Observer`], and ends the search. Finds that are made
//! while the observer is busy with others wait and are handed over together: what takes long for one, such as a
//! sync of a disk, takes hardly longer for all of them, and a find that comes alone waits for nobody.

mod current;
mod measure;
mod prove;
mod stop;
mod stream;
mod tally;

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use crate::engine::{Engine, Hit};
use crate::key::{PublicKey, RandomnessError, Seed};
use crate::pattern::{Matcher, Pattern, PatternId};
use crate::simd::wipe;

use current::Current;
pub use measure::{Measure, Measured, ROUNDS, Spread, Unmeasured};
pub use stop::{Signal, Stop};
use stream::SeedStream;
pub use stream::check_randomness;
use tally::Tally;

/// The most worker threads.
pub const MAX_THREADS: usize = 1024;

/// How often the observer hears of the progress, and how soon a signal is noticed.
const TICK: Duration = Duration::from_millis(100);

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
    /// What each worker does with its finds before they are handed over.
    pub prepare: Option<&'a Prepare<'a>>,
}

/// What takes long and needs nobody else: encrypting the private key. `None` leaves it to the observer.
pub type Prepare<'a> = dyn Fn(&Find) -> Option<Prepared> + Sync + 'a;

/// What was made of a find beforehand.
pub struct Prepared {
    /// The comment that is in it.
    pub comment: String,
    /// The private key's text.
    pub text: Zeroizing<String>,
}

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
    /// What [`Search::prepare`] made of it.
    pub prepared: Option<Prepared>,
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
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Summary {
    /// Keys that were handed to the observer, which kept them.
    pub found: u64,
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
    /// Whatever ends it, a find that was made before is handed to the observer first. With [`prepare`](Self::prepare),
    /// that is one whose preparation had begun.
    ///
    /// # Errors
    ///
    /// The operating system gives no randomness or no threads, the observer fails, or an engine's claim
    /// turns out to be false.
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
        let mut tally = Tally::new(&self.quota, self.patterns.len());
        let wanted: Vec<bool> = (0..self.patterns.len()).map(|id| tally.wants(id)).collect();
        let shared = Shared {
            search: self,
            matcher: Current::new(Matcher::of(self.patterns, (0..wanted.len()).filter(|id| wanted[*id]))),
            wanted: wanted.iter().map(|wanted| AtomicBool::new(*wanted)).collect(),
            attempts: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            began: Instant::now(),
        };
        let (finds, inbox) = sync_channel(TOGETHER);
        let outcome = pool.in_place_scope(|scope| {
            for stream in streams {
                let finds = finds.clone();
                scope.spawn(|_| shared.work(stream, finds));
            }
            drop(finds);
            let ended = Ended(&shared.ended);
            let outcome = shared.oversee(inbox, stop, &mut tally, observer);
            drop(ended);
            self.pass_notes(observer);
            outcome
        });
        Ok(Summary {
            end: outcome?,
            found: tally.found(),
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

/// Ends the workers when it is dropped, also if the observer panics: the pool waits for them.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// What the workers and the calling thread share.
struct Shared<'a> {
    search: &'a Search<'a>,
    /// Of the patterns that want a key, or did a short while ago.
    matcher: Current<Matcher<'a>>,
    /// The patterns that still want a key.
    wanted: Vec<AtomicBool>,
    attempts: AtomicU64,
    ended: AtomicBool,
    began: Instant,
}

/// What a worker sends: a find, or the claim that was false.
type Message = Result<Find, FalseHit>;

/// A hit whose key or match was not as claimed.
struct FalseHit;

/// Bytes of a worker's whole stack, whatever the surroundings say (`RUST_MIN_STACK`).
const WORKER_STACK: usize = 2 << 20;

/// Bytes of the stack below the caller that [`WipeStack`] overwrites: more than a batch and a proof take.
const STACK: usize = 64 << 10;

/// On drop, overwrites what calls that have returned left on the stack: among it, copies of seeds that nobody wrote into the
/// source. It takes some microseconds.
struct WipeStack;

impl Drop for WipeStack {
    #[inline(never)]
    fn drop(&mut self) {
        wipe(&mut [0u8; STACK]);
    }
}

impl Shared<'_> {
    /// One worker: batch after batch until the end.
    fn work(&self, mut stream: SeedStream, finds: SyncSender<Message>) {
        let _guard = EndOnPanic(&self.ended);
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
                let message = self.judge(hit, &matcher, before);
                let Some(mut message) = message.transpose() else { continue };
                if let (Ok(find), Some(prepare)) = (&mut message, self.search.prepare) {
                    // Whoever waits for the end shall not wait for what only now begins.
                    if self.ended.load(Relaxed) {
                        return;
                    }
                    find.prepared = prepare(find);
                }
                if finds.send(message).is_err() {
                    return;
                }
            }
        }
    }

    /// A hit becomes a find, a false hit, or nothing if no pattern that it matches wants a key any more.
    fn judge(&self, hit: Hit, matcher: &Matcher, before: u64) -> Result<Option<Find>, FalseHit> {
        let subject = matcher.subject();
        let claimed: Vec<PatternId> =
            hit.possible().flat_map(|key| matcher.find(&key.bytes(subject))).collect();
        let is_wanted = |id: &PatternId| self.wanted[*id].load(Relaxed);
        if claimed.is_empty() {
            return Err(FalseHit);
        }
        if !claimed.iter().any(is_wanted) {
            return Ok(None);
        }
        let (public_key, mut patterns) = prove::prove(&hit, matcher, self.search.patterns).ok_or(FalseHit)?;
        // The sign may not be the one that matches.
        patterns.retain(is_wanted);
        if patterns.is_empty() || self.search.quota == Quota::Endless {
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

    /// The calling thread's part: takes finds, watches the clock and the stop signal.
    fn oversee<O: Observer>(
        &self,
        inbox: Receiver<Message>,
        stop: &Stop,
        tally: &mut Tally,
        observer: &mut O,
    ) -> Result<End, SearchError<O::Error>> {
        let deadline = self.search.timeout.and_then(|timeout| self.began.checked_add(timeout));
        let mut next_tick = self.began + TICK;
        let end = loop {
            if tally.is_complete() {
                return Ok(End::Complete);
            }
            if let Some(signal) = stop.requested() {
                break End::Signal(signal);
            }
            let now = Instant::now();
            if deadline.is_some_and(|deadline| deadline <= now) {
                break End::Timeout;
            }
            if next_tick <= now {
                next_tick = now + TICK;
                let attempts = self.attempts.load(Relaxed);
                observer.progress(&Progress { attempts, elapsed: self.began.elapsed() });
                self.search.pass_notes(observer);
            }
            let wake = deadline.map_or(next_tick, |deadline| deadline.min(next_tick));
            match inbox.recv_timeout(wake.saturating_duration_since(now)) {
                Ok(message) => self.accept(message, &inbox, tally, observer)?,
                Err(RecvTimeoutError::Timeout) => {}
                // Every worker is gone: one has panicked, and the pool passes the panic on.
                Err(RecvTimeoutError::Disconnected) => break End::Complete,
            }
        };
        // What the workers have found by now is kept.
        self.ended.store(true, Relaxed);
        while !tally.is_complete() {
            let Ok(message) = inbox.recv() else { return Ok(end) };
            self.accept(message, &inbox, tally, observer)?;
        }
        Ok(End::Complete)
    }

    /// Hands a find to the observer, and with it those that wait behind it. Those before a false hit are kept.
    fn accept<O: Observer>(
        &self,
        first: Message,
        inbox: &Receiver<Message>,
        tally: &mut Tally,
        observer: &mut O,
    ) -> Result<(), SearchError<O::Error>> {
        let mut finds = Vec::new();
        let mut false_hit = false;
        for message in std::iter::once(first).chain(inbox.try_iter().take(TOGETHER - 1)) {
            let Ok(mut find) = message else {
                false_hit = true;
                break;
            };
            find.patterns.retain(|&id| tally.wants(id));
            if !find.patterns.is_empty() {
                self.leave(&tally.count(&find.patterns), tally);
                finds.push(find);
            }
        }
        if !finds.is_empty() {
            observer.found(&finds).map_err(SearchError::Observer)?;
        }
        if false_hit { Err(SearchError::FalseHit(self.search.engine.name())) } else { Ok(()) }
    }

    /// These patterns want no more.
    fn leave(&self, done: &[PatternId], tally: &mut Tally) {
        for &id in done {
            self.wanted[id].store(false, Relaxed);
        }
        if tally.have_left(done.len()) {
            let patterns = self.search.patterns;
            let wanted = (0..patterns.len()).filter(|&id| tally.wants(id));
            self.matcher.replace(Matcher::of(patterns, wanted));
        }
    }
}

/// Ends the search when its thread panics.
struct EndOnPanic<'a>(&'a AtomicBool);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Relaxed);
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
