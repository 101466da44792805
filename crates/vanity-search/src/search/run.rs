//! The search itself: worker threads, and the calling thread that watches them.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

use super::builder::max_threads;
use super::find::{Find, MAX_FINDS_AT_ONCE, Observer, Progress, SearchError, Summary};
use super::memory::{WORKER_STACK, check_memory, have_started, memory_for};
use super::prove;
use super::quota::{Quota, Remaining};
use super::stop::{End, Signal, Stop};
use super::stream::SeedStream;
use crate::engine::{Engine, EngineWorker, Hit};
use crate::notice::Notice;
use crate::pattern::{Matcher, Pattern, PatternId};
use crate::random::{RandomnessError, draw_hash_keys};
use ed25519_batch::memory::WipeStack;

/// The time between two reports of progress, and the longest time until a request to end is noticed.
const TICK: Duration = Duration::from_millis(100);

/// The threads that stay free for other work, such as commands, where the system lets not all start.
const SPARE: usize = 2;

/// How long threads may take to end before others start in their place.
const ENDING: Duration = Duration::from_secs(1);

/// How long the workers sleep while the observer takes no finds, before they look again.
const PAUSE: Duration = Duration::from_millis(5);

/// The time that the observer may take for all finds that wait for it. When the search ends, it takes
/// no longer.
const BACKLOG: Duration = Duration::from_millis(250);

/// The most finds that wait before it is known how long the observer takes for one.
const FIRST_BACKLOG: usize = 16;

/// The finds that each worker proves in a measurement. This is a sample: a search proves only finds
/// that are wanted.
const PROVED_IN_MEASURING: usize = 100;

/// The parameters of a search.
pub(super) struct Parameters<'a> {
    /// The engine that tries keys.
    pub(super) engine: &'a dyn Engine,
    /// The patterns to search for, all in the same pass.
    pub(super) patterns: &'a [Pattern],
    /// The number of worker threads. At most [`max_threads`] are started.
    pub(super) threads: NonZeroUsize,
    /// The goal: keys, or a measurement.
    pub(super) goal: Goal,
    /// The time after which the search ends in any case, beside the limit of its [`Stop`].
    pub(super) timeout: Option<Duration>,
}

/// The goal of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Goal {
    /// These keys. The search is complete when it has found them.
    Keys(Quota),
    /// A measurement. The first keys that each worker finds are proved, and all are dropped.
    Measurement,
}

impl Parameters<'_> {
    /// Searches until the quota is filled, the time is over, `stop` is requested, or an error
    /// occurs.
    ///
    /// Finds that were made before the end are passed to the observer first, also after an error. A
    /// search tries at least one batch before its timeout.
    ///
    /// Until the search begins, `stop` may end the process at once: nothing is found yet.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system gives no randomness or no threads, if the observer
    /// fails, or if a claim of the engine is false.
    ///
    /// # Panics
    ///
    /// Panics if a worker or the observer panics.
    pub(super) fn run<O: Observer>(
        &self,
        stop: &Stop,
        observer: &mut O,
    ) -> Result<Summary, SearchError<O::Error>> {
        let wanted = self.engine.workers(self.threads.min(max_threads()).get());
        let pool = start(wanted).map_err(SearchError::Threads)?;
        let threads = pool.current_num_threads();
        if threads < wanted {
            observer.notice(&Notice::note(format!(
                "searching with {threads} of {wanted} threads: the system lets no more start"
            )));
        }
        let set = self.engine.instruction_set();
        let streams: Vec<SeedStream> = (0..threads)
            .map(|_| SeedStream::with_set(set))
            .collect::<Result<_, _>>()
            .map_err(SearchError::Randomness)?;
        let room = observer.ready().map_err(SearchError::Observer)?;
        let running = Running::new(self, room.min(FIRST_BACKLOG));
        let (outbox, inbox) = channel();
        if self.goal != Goal::Measurement {
            stop.answer(1);
        }
        observer.begin();
        let (found, early_end) = std::thread::scope(|threads| {
            pool.in_place_scope(|scope| {
                for stream in streams {
                    let outbox = outbox.clone();
                    scope.spawn(|_| running.work(self.engine.worker(), stream, outbox, threads));
                }
                drop(outbox);
                have_started();
                let _guard = EndOnPanic(&running);
                let outcome = running.oversee(&inbox, stop, observer);
                self.pass_notices(observer);
                outcome
            })
        })?;
        let is_complete = locked(&running.remaining).is_complete();
        Ok(Summary {
            // A search that is complete anyway reports that.
            end: early_end.filter(|_| !is_complete).unwrap_or(End::Complete),
            found,
            attempts: running.attempts.load(Relaxed),
            elapsed: *locked(&running.searched),
            threads,
        })
    }

    /// Passes the notices of the engine to the observer. After a measurement the caller asks for
    /// them.
    fn pass_notices<O: Observer>(&self, observer: &mut O) {
        if self.goal != Goal::Measurement {
            self.engine.notices().iter().for_each(|notice| observer.notice(notice));
        }
    }
}

/// Starts `wanted` workers, or as many as the system lets start, with some threads to spare.
fn start(wanted: usize) -> Result<rayon::ThreadPool, rayon::ThreadPoolBuildError> {
    let mut threads = wanted;
    let until = Instant::now() + ENDING;
    loop {
        let started = AtomicUsize::new(0);
        let start = |worker: rayon::ThreadBuilder| {
            let thread = std::thread::Builder::new()
                .name(format!("worker {}", worker.index()))
                .stack_size(WORKER_STACK)
                .spawn(|| worker.run());
            started.fetch_add(thread.is_ok().into(), Relaxed);
            thread.map(drop)
        };
        match rayon::ThreadPoolBuilder::new().num_threads(threads).spawn_handler(start).build() {
            Err(_) if threads > 1 || Instant::now() < until => {}
            pool => return pool,
        }
        threads = started.into_inner().saturating_sub(SPARE).clamp(1, threads);
        // Those that did start end now, and count until they have.
        std::thread::sleep(TICK);
    }
}

/// The state that the workers and the calling thread share.
struct Running<'a> {
    search: &'a Parameters<'a>,
    /// The matcher of the patterns that want a key. It may still hold patterns that were completed
    /// a short while ago.
    matcher: Mutex<Arc<Matcher<'a>>>,
    /// Whether a new matcher is compiled within a tick, because the calling thread hears signals, too.
    renews_matcher: bool,
    /// Whether a worker must replace the matcher.
    is_renewal_due: AtomicBool,
    /// For each pattern: whether it still wants a key.
    wanted: Vec<AtomicBool>,
    /// The quota without the finds that were made.
    remaining: Mutex<Remaining>,
    attempts: AtomicU64,
    /// The number of workers of devices that were started.
    joined: AtomicUsize,
    ended: AtomicBool,
    /// The number of finds that are made, waiting for the observer, or taken by it just now.
    waiting: AtomicUsize,
    /// How many finds may wait.
    room: AtomicUsize,
    began: Instant,
    /// How long the worker searched that ended last.
    searched: Mutex<Duration>,
}

/// A message of a worker: a find, or an error.
type Message = Result<Find, WorkerError>;

/// An error of a worker, which ends the search.
enum WorkerError {
    /// A hit whose key or match was not as claimed.
    FalseHit,
    /// There were no fresh random bytes.
    Randomness(RandomnessError),
}

/// A batch that a worker has tried.
struct Tried<'a, 'b> {
    matcher: &'a Matcher<'b>,
    /// The numbers of its keys among those of all workers.
    numbers: Range<u64>,
    /// The time of the search at its end.
    elapsed: Duration,
}

/// What the calling thread hears of.
enum Event {
    Signal(Signal),
    /// The time is over.
    Deadline,
    /// Some time has passed.
    Tick,
    Find(Message),
    /// Every worker is gone.
    Gone,
}

/// Locks a mutex, and ignores poison: no thread panics while it holds the lock.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Running<'a> {
    /// Returns the state before the first key. At first `room` finds may wait.
    fn new(search: &'a Parameters<'a>, room: usize) -> Self {
        let patterns = search.patterns;
        let remaining = match &search.goal {
            Goal::Keys(quota) => Remaining::new(quota, patterns.len()),
            // A measurement counts no find.
            Goal::Measurement => Remaining::new(&Quota::Each(u64::MAX), patterns.len()),
        };
        let compiling = Instant::now();
        let wanted = (0..patterns.len()).filter(|id| remaining.wants(*id));
        let matcher = Matcher::with_set(search.engine.instruction_set(), patterns, wanted);
        Self {
            search,
            matcher: Mutex::new(Arc::new(matcher)),
            renews_matcher: compiling.elapsed() < TICK,
            is_renewal_due: AtomicBool::new(false),
            wanted: (0..patterns.len()).map(|id| AtomicBool::new(remaining.wants(id))).collect(),
            attempts: AtomicU64::new(0),
            joined: AtomicUsize::new(0),
            ended: AtomicBool::new(remaining.is_complete()),
            waiting: AtomicUsize::new(0),
            room: AtomicUsize::new(room),
            remaining: Mutex::new(remaining),
            began: Instant::now(),
            searched: Mutex::new(Duration::ZERO),
        }
    }

    /// Runs one worker: batch after batch until the search ends.
    fn work<'s>(
        &'s self,
        mut worker: Box<dyn EngineWorker + 's>,
        mut stream: SeedStream,
        outbox: Sender<Message>,
        threads: &'s Scope<'s, '_>,
    ) {
        let _guard = EndOnPanic(self);
        let _last = WipeStack;
        let mut hits = Vec::new();
        let mut left_to_prove =
            if self.search.goal == Goal::Measurement { PROVED_IN_MEASURING } else { usize::MAX };
        while !self.ended.load(Relaxed) {
            if self.waiting.load(Relaxed) >= self.room.load(Relaxed) {
                std::thread::park_timeout(PAUSE);
                continue;
            }
            self.start_joined(&outbox, threads);
            if let Err(error) = stream.refresh() {
                drop(outbox.send(Err(WorkerError::Randomness(error))));
                return;
            }
            let matcher = self.matcher();
            let tried = worker.batch(&matcher, &mut stream, &mut hits);
            let before = self.attempts.fetch_add(tried, Relaxed);
            let batch =
                Tried { matcher: &matcher, numbers: before..before + tried, elapsed: self.began.elapsed() };
            // Wipes the stack when all hits are processed.
            let _stack = (!hits.is_empty()).then_some(WipeStack);
            hits.truncate(left_to_prove);
            left_to_prove -= hits.len();
            for hit in hits.drain(..) {
                // A hit that is not proved by the end is no find. To keep it now would delay the end.
                if !self.await_room() {
                    break;
                }
                match self.judge(hit, &batch) {
                    Ok(Some(find)) => drop(outbox.send(Ok(find))),
                    Ok(None) => drop(self.waiting.fetch_sub(1, Relaxed)),
                    Err(error) => {
                        drop(outbox.send(Err(error)));
                        return;
                    }
                }
            }
        }
        *locked(&self.searched) = self.began.elapsed();
    }

    /// Starts the workers of devices that have joined the engine. Where the system lets no more threads
    /// start, the device is not used.
    fn start_joined<'s>(&'s self, outbox: &Sender<Message>, threads: &'s Scope<'s, '_>) {
        let engine = self.search.engine;
        let one_more = |joined: usize| (joined < engine.joined_workers()).then_some(joined + 1);
        while self.joined.fetch_update(Relaxed, Relaxed, one_more).is_ok() {
            let outbox = outbox.clone();
            let thread =
                std::thread::Builder::new().name("device worker".to_owned()).stack_size(WORKER_STACK);
            let _ =
                thread.spawn_scoped(threads, move || match SeedStream::with_set(engine.instruction_set()) {
                    Ok(stream) => self.work(engine.joined_worker(), stream, outbox, threads),
                    Err(error) => drop(outbox.send(Err(WorkerError::Randomness(error)))),
                });
        }
    }

    /// Returns the matcher, which this replaces if that is due.
    fn matcher(&self) -> Arc<Matcher<'a>> {
        if self.is_renewal_due.swap(false, Relaxed) {
            self.renew_matcher();
        }
        Arc::clone(&locked(&self.matcher))
    }

    /// Replaces the matcher by one without completed patterns. Where the memory has no room for two, the
    /// old one stays.
    fn renew_matcher(&self) {
        // The matcher is made with hash maps.
        let _ = draw_hash_keys();
        let patterns = self.search.patterns;
        let wanted = || (0..patterns.len()).filter(|id| self.wanted[*id].load(Relaxed));
        if check_memory(wanted().map(|id| memory_for(&patterns[id])).sum()).is_ok() {
            let set = self.search.engine.instruction_set();
            let matcher = Arc::new(Matcher::with_set(set, patterns, wanted()));
            *locked(&self.matcher) = matcher;
        }
    }

    /// Waits until another find may wait for the observer, and counts it. Returns false if the search has
    /// ended.
    fn await_room(&self) -> bool {
        let more = |waiting| (waiting < self.room.load(Relaxed)).then_some(waiting + 1);
        while !self.ended.load(Relaxed) {
            if self.waiting.fetch_update(Relaxed, Relaxed, more).is_ok() {
                return true;
            }
            std::thread::park_timeout(PAUSE);
        }
        false
    }

    /// Turns a hit into a find. Returns `None` if no pattern that it matches still wants a key, and
    /// an error if the hit is false.
    fn judge(&self, hit: Hit, batch: &Tried) -> Result<Option<Find>, WorkerError> {
        let target = batch.matcher.target();
        let claimed: Vec<PatternId> =
            hit.possible().flat_map(|key| batch.matcher.find(&key.bytes(target))).collect();
        let is_wanted = |id: &PatternId| self.wanted[*id].load(Relaxed);
        if claimed.is_empty() {
            return Err(WorkerError::FalseHit);
        }
        if !claimed.iter().any(is_wanted) {
            return Ok(None);
        }
        let (public_key, mut patterns) =
            prove::prove(&hit, batch.matcher, self.search.patterns).ok_or(WorkerError::FalseHit)?;
        if self.search.goal == Goal::Measurement || !self.reserve(&mut patterns) {
            return Ok(None);
        }
        Ok(Some(Find {
            seed: hit.seed,
            public_key,
            patterns,
            attempts: batch.numbers.start + hit.index + 1,
            tried: batch.numbers.end,
            elapsed: batch.elapsed,
        }))
    }

    /// Counts a find for the patterns that still want a key, and removes the others from
    /// `patterns`. Returns whether any pattern is left. The last wanted find ends the search.
    fn reserve(&self, patterns: &mut Vec<PatternId>) -> bool {
        let mut remaining = locked(&self.remaining);
        patterns.retain(|&id| remaining.wants(id));
        if patterns.is_empty() {
            return false;
        }
        for id in remaining.count(patterns) {
            self.wanted[id].store(false, Relaxed);
        }
        if remaining.is_complete() {
            self.end();
        }
        true
    }

    /// Ends the search: each worker ends its batch.
    fn end(&self) {
        self.ended.store(true, Relaxed);
    }

    /// Does the work of the calling thread. After an error, passes the observer the finds that are made
    /// already.
    fn oversee<O: Observer>(
        &self,
        inbox: &Receiver<Message>,
        stop: &Stop,
        observer: &mut O,
    ) -> Result<(u64, Option<End>), SearchError<O::Error>> {
        let outcome = self.watch(inbox, stop, observer);
        self.end();
        // The first error is the one that is returned.
        while let Ok(message) = inbox.recv() {
            drop(self.accept(message, inbox, observer));
        }
        outcome
    }

    /// Takes finds, and watches the clock and `stop`, until every worker is gone. Returns the number
    /// of finds that the observer has kept, and what ended the search early.
    fn watch<O: Observer>(
        &self,
        inbox: &Receiver<Message>,
        stop: &Stop,
        observer: &mut O,
    ) -> Result<(u64, Option<End>), SearchError<O::Error>> {
        let (mut kept, mut early_end) = (0, None);
        let mut next_tick = self.began + TICK;
        let mut backlog = FIRST_BACKLOG;
        loop {
            let room = observer.ready().map_err(SearchError::Observer)?.min(backlog);
            self.room.store(room, Relaxed);
            let wake = if room == 0 { next_tick.min(Instant::now() + PAUSE) } else { next_tick };
            match self.next_event(inbox, stop, early_end, wake) {
                Event::Signal(signal) => {
                    early_end = Some(End::Signal(signal));
                    self.end();
                }
                Event::Deadline => {
                    early_end = Some(End::Timeout);
                    self.end();
                }
                Event::Tick if Instant::now() < next_tick => {}
                Event::Tick => {
                    let progress = Progress::of(self.attempts.load(Relaxed), self.began.elapsed());
                    observer.progress(&progress).map_err(SearchError::Observer)?;
                    self.search.pass_notices(observer);
                    next_tick = Instant::now() + TICK;
                }
                Event::Find(message) => {
                    let began = Instant::now();
                    let more = self.accept(message, inbox, observer)?;
                    backlog = room_for(more, began.elapsed(), backlog);
                    kept += more;
                }
                // If a worker panicked, the pool passes the panic on.
                Event::Gone => return Ok((kept, early_end)),
            }
        }
    }

    /// Waits until `wake` at most. A search that has `ended` early is ended only by another signal.
    fn next_event(&self, inbox: &Receiver<Message>, stop: &Stop, ended: Option<End>, wake: Instant) -> Event {
        if let (Some(End::Signal(signal)), None | Some(End::Timeout)) = (stop.requested(), ended) {
            return Event::Signal(signal);
        }
        let own = self.search.timeout.map(|timeout| timeout.saturating_sub(self.began.elapsed()));
        let left = own.into_iter().chain(stop.time_left()).min().filter(|_| ended.is_none());
        let is_over = left.is_some_and(|left| left.is_zero());
        if is_over && self.has_rate() {
            return Event::Deadline;
        }
        let until_wake = wake.saturating_duration_since(Instant::now());
        if until_wake.is_zero() {
            return Event::Tick;
        }
        let most = if is_over { PAUSE } else { left.unwrap_or(until_wake) };
        match inbox.recv_timeout(until_wake.min(most)) {
            Ok(message) => Event::Find(message),
            Err(RecvTimeoutError::Timeout) => Event::Tick,
            Err(RecvTimeoutError::Disconnected) => Event::Gone,
        }
    }

    /// Whether a search that ends now has a rate. A measurement can end without one, and is repeated.
    fn has_rate(&self) -> bool {
        self.search.goal == Goal::Measurement || self.attempts.load(Relaxed) > 0
    }

    /// Passes a find to the observer, together with the finds that wait behind it. Returns their
    /// number. If an error follows, the finds before it are kept.
    fn accept<O: Observer>(
        &self,
        first: Message,
        inbox: &Receiver<Message>,
        observer: &mut O,
    ) -> Result<u64, SearchError<O::Error>> {
        let mut finds = Vec::new();
        let mut error = None;
        for message in std::iter::once(first).chain(inbox.try_iter().take(MAX_FINDS_AT_ONCE - 1)) {
            match message {
                Ok(find) => finds.push(find),
                Err(what) => {
                    error = Some(what);
                    break;
                }
            }
        }
        let count = finds.len();
        if count > 0 {
            let room = observer.found(finds).and_then(|()| observer.ready());
            // Before others may wait in the place of these.
            if let Ok(room) = room {
                self.room.fetch_min(room, Relaxed);
            }
            self.waiting.fetch_sub(count, Relaxed);
            room.map_err(SearchError::Observer)?;
            if self.renews_matcher && locked(&self.remaining).take_due() {
                self.is_renewal_due.store(true, Relaxed);
            }
        }
        match error {
            None => Ok(count as u64),
            Some(WorkerError::FalseHit) => Err(SearchError::FalseHit(self.search.engine.name())),
            Some(WorkerError::Randomness(error)) => Err(SearchError::Randomness(error)),
        }
    }
}

/// Returns how many finds may wait for an observer that has kept this number of them in this time.
fn room_for(kept: u64, took: Duration, before: usize) -> usize {
    let in_time = kept as f64 * BACKLOG.as_secs_f64() / took.as_secs_f64().max(1e-9);
    // It grows step by step, because a disk is not always as fast.
    (in_time as usize).clamp(1, (2 * before).min(2 * MAX_FINDS_AT_ONCE))
}

/// Ends the search if its thread panics.
struct EndOnPanic<'a, 'b>(&'a Running<'b>);

impl Drop for EndOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
}

#[cfg(test)]
mod tests;
