//! Ending a search from outside: by a signal, or by a time limit.
//!
//! A signal or the limit ends the process at once while nothing can be lost: while lists are read and
//! compiled, tables are built, or figures are printed. Such work need not look at its [`Stop`]. Three verbs
//! change that:
//!
//! - [`Stop::answer`]: keys may be lost, so somebody looks at requests, and ends in good order within a
//!   second. A further signal ends the process at once.
//! - [`Stop::hold_off`]: a key is just being kept, so not even a further signal ends the process.
//! - [`Stop::finish`]: every result is told, so the limit has no effect any more.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Signals that come within this time are one request: `timeout` and other tools send each signal twice.
const SAME: Duration = Duration::from_millis(30);

/// How long after the limit the process may still begin to answer requests, so that short limits end in
/// good order, too.
const LATE: Duration = Duration::from_millis(700);

/// How often the limit is compared with the clock. A machine that sleeps delays other timers.
const POLL: Duration = Duration::from_millis(50);

/// The reason why a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Every key that was wanted is found.
    Complete,
    /// The time limit was reached.
    Timeout,
    /// A signal came.
    Signal(Signal),
}

/// A signal that ends a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signal(i32);

impl Signal {
    /// SIGINT, as Ctrl-C sends it. On Windows Ctrl-C or Ctrl-Break.
    pub const INTERRUPT: Self = Self(2);
    /// SIGTERM.
    pub const TERMINATE: Self = Self(15);
    /// SIGHUP, as a closed terminal sends it. On Windows a closed window.
    pub const HANGUP: Self = Self(1);

    /// Returns the signal of this number.
    #[doc(hidden)]
    #[must_use]
    pub fn of(number: i32) -> Self {
        Self(number)
    }

    /// Returns the number of the signal.
    #[must_use]
    pub fn number(self) -> i32 {
        self.0
    }

    /// Returns the exit status of a program that the signal ended, as shells count it: 130 for SIGINT.
    #[must_use]
    pub fn status(self) -> u8 {
        (128 + self.0) as u8
    }
}

/// Returns the time since a moment in the past. It goes on while the process is stopped or the machine
/// sleeps, and nobody can set it.
fn clock() -> Duration {
    #[cfg(unix)]
    {
        use rustix::time::{ClockId, clock_gettime};
        // Elsewhere than on Linux this clock goes on while the machine sleeps.
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let id = ClockId::Monotonic;
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let id = ClockId::Boottime;
        clock_gettime(id).try_into().unwrap_or_default()
    }
    #[cfg(not(unix))]
    {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        START.get_or_init(std::time::Instant::now).elapsed()
    }
}

/// Takes a signal that has come, and that nobody has heard yet.
type Take = Box<dyn Fn() -> Option<Signal> + Send>;

/// A request to end a search: a signal, or a time limit. Clones share it.
#[derive(Clone, Default)]
pub struct Stop(Arc<State>);

#[derive(Default)]
struct State {
    /// Ends the process at once, because of a signal.
    exit: Option<fn(Signal) -> !>,
    take: Option<Mutex<Take>>,
    /// The number of the signal that came last, or 0.
    signal: AtomicI32,
    /// The number of requests by signals.
    requests: AtomicUsize,
    /// When the first request came, and when the last signal.
    first: OnceLock<Instant>,
    last: Mutex<Option<Instant>>,
    /// The time of [`clock`] at which everything must end.
    limit: OnceLock<Duration>,
    /// How many signals are answered. With 0, a request ends the process at once.
    answered: AtomicUsize,
    /// Whether [`Stop::requested`] has returned a request.
    is_noticed: AtomicBool,
    /// Whether nothing is left to do.
    is_finished: AtomicBool,
}

impl Stop {
    /// Returns a stop that is not yet requested.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a stop that signals request. `exit` ends the process at once, and `take` takes a signal that has
    /// come, and that nobody has heard yet.
    #[doc(hidden)]
    #[must_use]
    pub fn by_signals(exit: fn(Signal) -> !, take: impl Fn() -> Option<Signal> + Send + 'static) -> Self {
        let take: Take = Box::new(take);
        Self(Arc::new(State { exit: Some(exit), take: Some(Mutex::new(take)), ..State::default() }))
    }

    /// Requests the stop once `time` has passed. Calls `end` soon after that, but not while requests are
    /// answered.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system refuses a thread.
    pub fn limit(&self, time: Duration, end: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let Some(limit) = clock().checked_add(time) else { return Ok(()) };
        self.0.limit.get_or_init(|| limit);
        let stop = self.clone();
        let wait = move || {
            while clock() < limit.saturating_add(LATE) || stop.0.answered.load(Relaxed) > 0 {
                // Unlike a sleep, it does not fail if a library changes the clock.
                std::thread::park_timeout(POLL);
            }
            if !stop.0.is_finished.load(Relaxed) {
                end();
            }
        };
        std::thread::Builder::new().name("limit".into()).spawn(wait).map(drop)
    }

    /// Requests the stop by a signal. It ends the process at once if no more signals are answered.
    pub fn request(&self, signal: Signal) {
        let state = &*self.0;
        let now = Instant::now();
        state.signal.store(signal.0, Relaxed);
        state.first.get_or_init(|| now);
        let before = state.last.lock().unwrap_or_else(PoisonError::into_inner).replace(now);
        let is_new = before.is_none_or(|before| now.duration_since(before) >= SAME);
        let requests = state.requests.fetch_add(is_new.into(), Relaxed) + usize::from(is_new);
        let answered = state.answered.load(Relaxed);
        let is_further = is_new && requests > answered && state.is_noticed.load(Relaxed);
        if is_further || answered == 0 {
            self.exit(signal);
        }
    }

    /// Requests the stop by the signals that have come. Another thread that has taken one is waited for.
    #[doc(hidden)]
    pub fn hear(&self) {
        let Some(take) = &self.0.take else { return };
        let take = take.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(signal) = take() {
            self.request(signal);
        }
    }

    /// Makes this number of signals requests, and the limit, too. The caller looks at them. A further signal
    /// ends the process at once. With 0, every signal and the limit do, and a signal that nobody has noticed
    /// ends it now.
    pub fn answer(&self, signals: usize) {
        self.0.answered.store(signals, Relaxed);
        if signals == 0
            && !self.0.is_noticed.load(Relaxed)
            && let Some(End::Signal(signal)) = self.requested()
        {
            self.exit(signal);
        }
    }

    /// Keeps further signals from ending the process at once, until the result is dropped.
    pub fn hold_off(&self) -> HeldOff<'_> {
        HeldOff(self, self.0.answered.swap(usize::MAX, Relaxed))
    }

    /// Lets signals end the process at once, and not the limit: nothing is left to do.
    pub fn finish(&self) {
        self.0.is_finished.store(true, Relaxed);
        self.0.answered.store(0, Relaxed);
    }

    /// Returns why the search must end, if it must: [`End::Signal`] or [`End::Timeout`]. A further
    /// signal may then end the process at once.
    #[must_use]
    pub fn requested(&self) -> Option<End> {
        self.hear();
        let requested = match self.0.signal.load(Relaxed) {
            0 => self.is_over().then_some(End::Timeout),
            number => Some(End::Signal(Signal(number))),
        };
        if requested.is_some() {
            self.0.is_noticed.store(true, Relaxed);
        }
        requested
    }

    /// Returns the time this long after the first request, if one came.
    pub fn deadline(&self, after: Duration) -> Option<Instant> {
        self.requested()?;
        let of_signal = self.0.first.get().map(Instant::elapsed);
        let of_limit = self.0.limit.get().and_then(|limit| clock().checked_sub(*limit));
        let age = of_signal.max(of_limit).unwrap_or_default();
        Some(Instant::now() + after.saturating_sub(age))
    }

    /// Returns the number of requests by signals.
    pub fn requests(&self) -> usize {
        self.0.requests.load(Relaxed)
    }

    /// Whether the limit is reached.
    pub fn is_over(&self) -> bool {
        self.time_left().is_some_and(|left| left.is_zero())
    }

    /// Returns the time until the limit, if there is one.
    pub fn time_left(&self) -> Option<Duration> {
        self.0.limit.get().map(|limit| limit.saturating_sub(clock()))
    }

    /// Ends the process, if signals request this stop.
    fn exit(&self, signal: Signal) {
        if let Some(exit) = self.0.exit {
            exit(signal);
        }
    }
}

/// Keeps signals from ending the process at once.
pub struct HeldOff<'a>(&'a Stop, usize);

impl Drop for HeldOff<'_> {
    fn drop(&mut self) {
        self.0.0.answered.store(self.1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_that_come_together_are_one_request() {
        let stop = Stop::new();
        stop.answer(1);
        for (pause, requests) in [(0, 1), (0, 1), (2, 2), (0, 2), (2, 3)] {
            std::thread::sleep(pause * SAME);
            stop.request(Signal::TERMINATE);
            assert_eq!(stop.requests(), requests);
        }
    }

    #[test]
    fn a_limit_is_a_request_and_a_signal_comes_first() {
        let stop = Stop::new();
        stop.answer(1);
        assert!(stop.time_left().is_none() && stop.requested().is_none());
        stop.limit(Duration::MAX, || ()).unwrap();
        assert!(stop.time_left().is_none());
        stop.limit(2 * POLL, || ()).unwrap();
        assert!(stop.requested().is_none());
        std::thread::sleep(2 * POLL);
        assert_eq!(stop.requested(), Some(End::Timeout));
        stop.request(Signal::HANGUP);
        assert_eq!(stop.requested(), Some(End::Signal(Signal(1))));
    }

    #[test]
    fn what_nobody_answers_is_ended_after_the_limit() {
        let stop = Stop::new();
        let (sender, ended) = std::sync::mpsc::channel();
        stop.limit(Duration::ZERO, move || sender.send(()).unwrap()).unwrap();
        ended.recv().unwrap();
    }
}
