//! The search itself: worker threads, and the calling thread that oversees them.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::find::{Find, MAX_FINDS_AT_ONCE, Observer, Progress, SearchError, Summary};
use super::memory::{check_memory, have_started, memory_for};
use super::prepare::{Preparer, WORKER_STACK};
use super::prove;
use super::quota::{Quota, Remaining};
use super::request::{Goal, Search, max_threads};
use super::shared_value::SharedValue;
use super::stop::{End, Stop};
use super::stream::SeedStream;
use crate::engine::Hit;
use crate::notice::Notice;
use crate::pattern::{Matcher, PatternId};
use crate::sys::{RandomnessError, WipeStack, draw_hash_keys};

/// The time between two reports of progress, and the longest time until a request to end is noticed.
const TICK: Duration = Duration::from_millis(100);

/// The threads that stay free for other work, such as commands, where the system lets not all start.
const SPARE: usize = 2;

/// How long threads may take to end before others start in their place.
const ENDING: Duration = Duration::from_secs(1);

/// How long the workers sleep while enough finds wait for the observer, before they look again.
const PAUSE: Duration = Duration::from_millis(5);

/// The time that the observer may take for all finds that wait for it. When the search ends, it takes
/// no longer.
const BACKLOG: Duration = Duration::from_millis(250);

/// The most finds that wait before it is known how long the observer takes for one.
const FIRST_BACKLOG: usize = 16;

/// How long finds may still be prepared after a request to end. The usual encryption takes
/// less. With one tick before it and one sync after it, the search ends within a second.
const GRACE: Duration = Duration::from_millis(400);

/// The finds that each worker proves in a measurement. This is a sample: a search proves only finds
/// that are wanted.
const PROVED_IN_MEASURING: u32 = 100;

impl Search<'_> {
    /// Searches until the quota is filled, the time is over, `stop` is requested, or an error
    /// occurs.
    ///
    /// Finds that were made before the end are passed to the observer first, unless an error ends
    /// the search. With [`prepare`](Self::prepare), a find that is not prepared 400 ms after a
    /// signal or the timeout is given up, and the summary lists it. Its thread continues until the
    /// preparation is finished, and wipes the result. A search tries at least one batch before its
    /// timeout.
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
    /// Panics if a worker, a preparation or the observer panics.
    pub fn run<O: Observer>(&self, stop: &Stop, observer: &mut O) -> Result<Summary, SearchError<O::Error>> {
        let wanted = self.engine.workers(self.threads.min(max_threads()).get());
        let (pool, preparers) = self.start(wanted)?;
        let threads = preparers.len();
        if threads < wanted {
            let more = if self.prepare.is_some() { ", each with one that encrypts" } else { "" };
            observer.notice(&Notice::note(format!(
                "searching with {threads} of {wanted} threads{more}: the system lets no more start"
            )));
        }
        let set = self.engine.instruction_set();
        let streams: Vec<SeedStream> = (0..threads)
            .map(|_| SeedStream::with_set(set))
            .collect::<Result<_, _>>()
            .map_err(SearchError::Randomness)?;
        let remaining = match &self.goal {
            Goal::Keys(quota) => Remaining::new(quota, self.patterns.len()),
            // A measurement counts no find.
            Goal::Measurement => Remaining::new(&Quota::Each(u64::MAX), self.patterns.len()),
        };
        let wanted: Vec<bool> = (0..self.patterns.len()).map(|id| remaining.wants(id)).collect();
        let compiling = Instant::now();
        let matcher = Matcher::with_set(set, self.patterns, (0..wanted.len()).filter(|id| wanted[*id]));
        let shared = Shared {
            search: self,
            matcher: SharedValue::new(matcher),
            renews_matcher: compiling.elapsed() < TICK,
            wanted: wanted.iter().map(|wanted| AtomicBool::new(*wanted)).collect(),
            attempts: AtomicU64::new(0),
            preparing: AtomicUsize::new(0),
            ended: AtomicBool::new(remaining.is_complete()),
            waiting: AtomicUsize::new(0),
            room: AtomicUsize::new(FIRST_BACKLOG.max(threads)),
            is_renewal_due: AtomicBool::new(false),
            give_up_at: OnceLock::new(),
            given_up: Mutex::new(Vec::new()),
            remaining: Mutex::new(remaining),
            clock: WorkClock::start(threads),
        };
        let (finds, inbox) = channel();
        if self.goal != Goal::Measurement {
            stop.take();
        }
        observer.begin();
        let outcome = pool.in_place_scope(|scope| {
            for (stream, preparer) in streams.into_iter().zip(preparers) {
                let finds = finds.clone();
                scope.spawn(|_| {
                    shared.work(stream, preparer, finds);
                    shared.clock.end_worker();
                });
            }
            drop(finds);
            have_started();
            let _guard = EndOnPanic(&shared);
            let outcome = shared.oversee(inbox, stop, observer);
            shared.end(Duration::ZERO);
            self.pass_notices(observer);
            outcome
        });
        let (found, early_end) = outcome?;
        let mut given_up = locked(&shared.given_up).clone();
        given_up.sort_unstable();
        let is_complete = locked(&shared.remaining).is_complete() && given_up.is_empty();
        Ok(Summary {
            // A search that is complete anyway reports that.
            end: early_end.filter(|_| !is_complete).unwrap_or(End::Complete),
            found,
            given_up,
            attempts: shared.attempts.load(Relaxed),
            elapsed: shared.clock.elapsed(),
            threads,
        })
    }

    /// Starts `wanted` workers with their preparers, or as many as the system lets start, with some
    /// threads to spare.
    fn start<E>(&self, wanted: usize) -> Result<(rayon::ThreadPool, Vec<Option<Preparer>>), SearchError<E>> {
        let mut threads = wanted;
        let until = Instant::now() + ENDING;
        loop {
            let started = AtomicUsize::new(0);
            let error = match self.start_all(threads, &started) {
                Ok(all) => return Ok(all),
                Err(error) if threads == 1 && Instant::now() >= until => return Err(error),
                Err(error) => error,
            };
            drop(error);
            let each = if self.prepare.is_some() { 2 } else { 1 };
            threads = (started.into_inner().saturating_sub(SPARE) / each).clamp(1, threads);
            // Those that did start end now, and count until they have.
            std::thread::sleep(TICK);
        }
    }

    fn start_all<E>(
        &self,
        threads: usize,
        started: &AtomicUsize,
    ) -> Result<(rayon::ThreadPool, Vec<Option<Preparer>>), SearchError<E>> {
        let start = |worker: rayon::ThreadBuilder| {
            let thread = std::thread::Builder::new()
                .name(format!("worker {}", worker.index()))
                .stack_size(WORKER_STACK)
                .spawn(|| worker.run());
            started.fetch_add(thread.is_ok().into(), Relaxed);
            thread.map(drop)
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).spawn_handler(start).build();
        let pool = pool.map_err(SearchError::Threads)?;
        let preparer = |_| {
            let preparer = self.prepare.map(|_| Preparer::start()).transpose();
            started.fetch_add(preparer.is_ok().into(), Relaxed);
            preparer
        };
        let preparers: Result<_, _> = (0..threads).map(preparer).collect();
        Ok((pool, preparers.map_err(SearchError::Preparers)?))
    }

    /// Passes the notices of the engine to the observer. After a measurement the caller asks for
    /// them.
    fn pass_notices<O: Observer>(&self, observer: &mut O) {
        if self.goal != Goal::Measurement {
            self.engine.notices().iter().for_each(|notice| observer.notice(notice));
        }
    }
}

/// The state that the workers and the calling thread share.
struct Shared<'a> {
    search: &'a Search<'a>,
    /// The matcher of the patterns that want a key. It may still hold patterns that were completed
    /// a short while ago.
    matcher: SharedValue<Matcher<'a>>,
    /// Whether a new matcher is compiled within a tick, because the calling thread hears signals, too.
    renews_matcher: bool,
    /// For each pattern: whether it still wants a key.
    wanted: Vec<AtomicBool>,
    /// The quota without the finds that were made, prepared or not.
    remaining: Mutex<Remaining>,
    attempts: AtomicU64,
    /// The number of finds that are being prepared.
    preparing: AtomicUsize,
    ended: AtomicBool,
    /// The number of finds that are made, prepared, waiting for the observer, or kept by it just now.
    waiting: AtomicUsize,
    /// How many finds may wait: 0 if the observer has no room.
    room: AtomicUsize,
    /// Whether a worker must replace the matcher.
    is_renewal_due: AtomicBool,
    /// When finds that are not yet prepared are given up.
    give_up_at: OnceLock<Instant>,
    /// The first pattern of each find that was given up.
    given_up: Mutex<Vec<PatternId>>,
    clock: WorkClock,
}

/// The time of a search. While some workers do not search, but wait until a find is prepared, it goes
/// slower, and when none searches it stands still: so attempts in this time are the rate of all workers.
struct WorkClock {
    began: Instant,
    workers: usize,
    left_out: Mutex<LeftOut>,
}

/// The time that a clock leaves out.
struct LeftOut {
    /// All of it, until `since`.
    total: Duration,
    since: Instant,
    /// The number of workers that do not search.
    idle: usize,
}

impl WorkClock {
    fn start(workers: usize) -> Self {
        let began = Instant::now();
        Self {
            began,
            workers,
            left_out: Mutex::new(LeftOut { total: Duration::ZERO, since: began, idle: 0 }),
        }
    }

    fn elapsed(&self) -> Duration {
        let left_out = self.left_out();
        left_out.since.duration_since(self.began).saturating_sub(left_out.total)
    }

    /// Does work of a worker that is no searching.
    fn while_idle<T>(&self, work: impl FnOnce() -> T) -> T {
        self.left_out().idle += 1;
        let done = work();
        self.left_out().idle -= 1;
        done
    }

    /// Counts a worker that has ended.
    fn end_worker(&self) {
        self.left_out().idle += 1;
    }

    /// Returns the time that is left out until now.
    fn left_out(&self) -> MutexGuard<'_, LeftOut> {
        let mut left_out = locked(&self.left_out);
        let now = Instant::now();
        let passed = now.saturating_duration_since(left_out.since);
        let idle = left_out.idle as f64 / self.workers as f64;
        left_out.total += passed.mul_f64(idle);
        left_out.since = now;
        left_out
    }
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

/// Locks a mutex, and ignores poison: no thread panics while it holds the lock.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared<'_> {
    /// Runs one worker: batch after batch until the search ends.
    fn work(&self, mut stream: SeedStream, mut preparer: Option<Preparer>, finds: Sender<Message>) {
        let _guard = EndOnPanic(self);
        let _last = WipeStack;
        let mut worker = self.search.engine.worker();
        let mut matcher = self.matcher.latest();
        let mut hits = Vec::new();
        let mut measured = 0;
        while !self.ended.load(Relaxed) {
            if self.waiting.load(Relaxed) >= self.room.load(Relaxed) {
                std::thread::sleep(PAUSE);
                continue;
            }
            if self.is_renewal_due.swap(false, Relaxed) {
                self.renew_matcher();
            }
            self.matcher.renew(&mut matcher);
            if let Err(error) = stream.refresh() {
                let _ = finds.send(Err(WorkerError::Randomness(error)));
                return;
            }
            let tried = worker.batch(&matcher, &mut stream, &mut hits);
            let before = self.attempts.fetch_add(tried, Relaxed);
            let batch = before..before + tried;
            let elapsed = if hits.is_empty() { Duration::ZERO } else { self.clock.elapsed() };
            // Wipes the stack when all hits are processed.
            let _stack = (!hits.is_empty()).then_some(WipeStack);
            for hit in hits.drain(..) {
                if self.search.goal == Goal::Measurement {
                    measured += 1;
                    if measured > PROVED_IN_MEASURING {
                        continue;
                    }
                }
                // A hit that is not proved by the end is no find. Preparing or keeping it now would
                // delay the end.
                if !self.await_room() {
                    return;
                }
                let message = match self.judge(hit, &matcher, batch.clone(), elapsed) {
                    Ok(None) => {
                        self.waiting.fetch_sub(1, Relaxed);
                        continue;
                    }
                    Ok(Some(find)) => match (preparer.take(), self.search.prepare) {
                        (Some(idle), Some(prepare)) => {
                            let first = find.patterns[0];
                            let preparation = prepare(&find);
                            let until = || self.give_up_at.get().copied();
                            self.preparing.fetch_add(1, Relaxed);
                            let prepared = self.clock.while_idle(|| idle.prepare(find, preparation, until));
                            self.preparing.fetch_sub(1, Relaxed);
                            let Some((idle, find)) = prepared else {
                                locked(&self.given_up).push(first);
                                return;
                            };
                            preparer = Some(idle);
                            Ok(find)
                        }
                        _ => Ok(find),
                    },
                    Err(error) => Err(error),
                };
                if finds.send(message).is_err() {
                    return;
                }
            }
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
            std::thread::sleep(PAUSE);
        }
        false
    }

    /// Turns a hit into a find. Returns `None` if no pattern that it matches still wants a key, and
    /// an error if the hit is false. `batch` numbers the candidates of its batch, which ended at
    /// `elapsed`.
    fn judge(
        &self,
        hit: Hit,
        matcher: &Matcher,
        batch: Range<u64>,
        elapsed: Duration,
    ) -> Result<Option<Find>, WorkerError> {
        let target = matcher.target();
        let claimed: Vec<PatternId> =
            hit.possible().flat_map(|key| matcher.find(&key.bytes(target))).collect();
        let is_wanted = |id: &PatternId| self.wanted[*id].load(Relaxed);
        if claimed.is_empty() {
            return Err(WorkerError::FalseHit);
        }
        if !claimed.iter().any(is_wanted) {
            return Ok(None);
        }
        let (public_key, mut patterns) =
            prove::prove(&hit, matcher, self.search.patterns).ok_or(WorkerError::FalseHit)?;
        // The patterns may match only with the other sign.
        patterns.retain(is_wanted);
        if patterns.is_empty() || self.search.goal == Goal::Measurement {
            return Ok(None);
        }
        if !self.reserve(&mut patterns) {
            return Ok(None);
        }
        Ok(Some(Find {
            seed: hit.seed,
            public_key,
            patterns,
            attempts: batch.start + hit.index + 1,
            tried: batch.end,
            elapsed,
            prepared: None,
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
            self.ended.store(true, Relaxed);
        }
        true
    }

    /// Whether a search that ends now has a rate. A measurement can end without one, and is repeated.
    fn has_rate(&self) -> bool {
        self.search.goal == Goal::Measurement || self.attempts.load(Relaxed) > 0
    }

    /// Ends the search. Finds that are being prepared have the time `grace` left.
    fn end(&self, grace: Duration) {
        self.give_up_at.get_or_init(|| Instant::now() + grace);
        self.ended.store(true, Relaxed);
    }

    /// Does the work of the calling thread. After an error, passes the observer the finds that are made
    /// already, when they are prepared, unless an engine computes wrong keys.
    fn oversee<O: Observer>(
        &self,
        inbox: Receiver<Message>,
        stop: &Stop,
        observer: &mut O,
    ) -> Result<(u64, Option<End>), SearchError<O::Error>> {
        let outcome = self.watch(&inbox, stop, observer);
        if !matches!(outcome, Ok(_) | Err(SearchError::FalseHit(_))) {
            self.ended.store(true, Relaxed);
            loop {
                match inbox.recv_timeout(TICK) {
                    // The first error is the one that is reported.
                    Ok(message) => drop(self.accept(message, &inbox, observer)),
                    Err(RecvTimeoutError::Timeout) if stop.acknowledge().is_some() => self.end(GRACE),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
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
        let deadline = self.search.timeout.and_then(|timeout| self.clock.began.checked_add(timeout));
        let mut next_tick = self.clock.began + TICK;
        let (mut kept, mut early_end) = (0, None);
        let mut room = self.room.load(Relaxed);
        // Each worker prepares one.
        let least = if self.search.prepare.is_some() { self.clock.workers } else { 1 };
        loop {
            let now = Instant::now();
            let is_over = deadline.is_some_and(|deadline| deadline <= now) || stop.is_over();
            match stop.acknowledge() {
                Some(end @ End::Signal(_)) if !matches!(early_end, Some(End::Signal(_))) => {
                    early_end = Some(end);
                    self.end(GRACE);
                }
                _ if early_end.is_none() && is_over && self.has_rate() => {
                    early_end = Some(End::Timeout);
                    self.end(GRACE);
                }
                _ => {}
            }
            if next_tick <= now {
                next_tick = now + TICK;
                let attempts = self.attempts.load(Relaxed);
                let preparing = self.preparing.load(Relaxed);
                let progress = Progress { attempts, elapsed: self.clock.elapsed(), preparing };
                observer.progress(&progress).map_err(SearchError::Observer)?;
                self.search.pass_notices(observer);
            }
            let is_full = !observer.has_room();
            self.room.store(if is_full { 0 } else { room }, Relaxed);
            let ends = deadline.into_iter().chain(stop.time_left().map(|left| now + left));
            let ends = ends.filter(|_| early_end.is_none() && !is_over);
            let mut wake = ends.fold(next_tick, Instant::min);
            if is_full || is_over && early_end.is_none() {
                wake = wake.min(now + PAUSE);
            }
            match inbox.recv_timeout(wake.saturating_duration_since(now)) {
                Ok(message) => {
                    let began = Instant::now();
                    let more = self.accept(message, inbox, observer)?;
                    room = room_for(more, began.elapsed(), room).max(least);
                    kept += more;
                }
                Err(RecvTimeoutError::Timeout) => {}
                // Every worker is gone. If one of them panicked, the pool passes the panic on.
                Err(RecvTimeoutError::Disconnected) => return Ok((kept, early_end)),
            }
        }
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
        if !finds.is_empty() {
            let found = observer.found(&finds);
            self.waiting.fetch_sub(finds.len(), Relaxed);
            found.map_err(SearchError::Observer)?;
            if self.renews_matcher && locked(&self.remaining).take_due() {
                self.is_renewal_due.store(true, Relaxed);
            }
        }
        match error {
            None => Ok(finds.len() as u64),
            Some(WorkerError::FalseHit) => Err(SearchError::FalseHit(self.search.engine.name())),
            Some(WorkerError::Randomness(error)) => Err(SearchError::Randomness(error)),
        }
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
            self.matcher.replace(Matcher::with_set(set, patterns, wanted()));
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
struct EndOnPanic<'a, 'b>(&'a Shared<'b>);

impl Drop for EndOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(Duration::ZERO);
        }
    }
}

#[cfg(test)]
mod tests;
