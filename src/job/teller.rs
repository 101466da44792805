//! Tells a reporter what happens, on a thread of its own.
//!
//! A reader that does not read, or a terminal that is stopped, holds up that thread alone.
//! Meanwhile finds are stored, and signals and the timeout are noticed. Results wait in a queue, and
//! while it is full no further keys are searched. Of the progress, only the latest is told.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use super::last_second::TO_TELL;
use super::parcel::Parcel;
use super::place::Places;
use super::rate::Rate;
use super::rescue::Screen;
use crate::notice::Notice;
use crate::pattern::PatternId;
use crate::search::{MAX_FINDS_AT_ONCE, Progress, Stop, Summary};

/// How often a request to stop is looked for while results are told.
const POLL: Duration = Duration::from_millis(50);

/// What happens in a job.
pub enum Event {
    /// The search is about to begin.
    Begin,
    /// How fast this machine is, and with it how long the search takes. The first one comes before the
    /// first find. If the engine had not settled then, another one follows.
    Rate(Rate),
    /// Every key exists already.
    NothingMissing,
    /// A find, and where its private key went. One that is in memory alone goes to stdout, as part of
    /// the report.
    Found(Box<Parcel>),
    Progress {
        progress: Progress,
        /// Whether the search waits until keys are encrypted.
        is_encrypting: bool,
    },
    /// A line for people.
    Notice(Notice),
    /// A private key that nothing else takes is shown on a terminal.
    Show(Zeroizing<String>, Screen),
    /// The search is over.
    Summary {
        summary: Summary,
        /// The first pattern of each key that was given up.
        given_up: Vec<PatternId>,
    },
}

impl Event {
    /// Whether this is a result, which is written to stdout.
    pub(super) fn is_result(&self) -> bool {
        matches!(self, Self::Rate(_) | Self::NothingMissing | Self::Found(_) | Self::Summary { .. })
    }

    /// Returns the find whose private key is in memory alone, and is to be written to stdout.
    pub(super) fn key(&self) -> Option<&Parcel> {
        match self {
            Self::Found(parcel) if parcel.is_in_memory() => Some(parcel),
            _ => None,
        }
    }
}

/// A receiver of the events of a job.
pub trait Reporter {
    /// Reports an event. A long report is cut short if it must not go on.
    ///
    /// # Errors
    ///
    /// Returns an error if a result cannot be written to stdout.
    fn tell(&mut self, event: &Event, may_go_on: &dyn Fn() -> bool) -> io::Result<()>;
}

/// The queue between a job and its reporter.
#[derive(Default)]
pub(super) struct Teller {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    /// What is not yet told, the oldest first. The first one may just be told.
    events: VecDeque<Arc<Event>>,
    /// The latest progress. It is told when nothing else waits.
    progress: Option<Event>,
    /// The finds that stdout has not taken, because a write to it has failed.
    unwritten: Vec<Arc<Event>>,
    /// Where the keys of all other finds are that are never told for that reason.
    untold: Places,
    /// The finds that were told with their keys, since they were last taken.
    written: Vec<Arc<Event>>,
    /// Whether the search is over early, so that long results are cut short.
    is_hurried: bool,
    is_closed: bool,
    /// Whether the reporter is gone.
    is_over: bool,
    /// The text of the error of a write to stdout. Nothing is written there afterwards.
    failure: Option<String>,
    /// This error, until it is taken.
    error: Option<io::Error>,
}

impl Teller {
    pub(super) fn notice(&self, notice: Notice) {
        self.tell(Event::Notice(notice));
    }

    pub(super) fn failure(&self, text: String) {
        self.notice(Notice::error(text));
    }

    pub(super) fn tell(&self, event: Event) {
        let mut queue = self.locked();
        match event {
            Event::Progress { .. } => queue.progress = Some(event),
            event => queue.events.push_back(Arc::new(event)),
        }
        self.changed.notify_all();
    }

    /// Whether further finds can wait.
    pub(super) fn has_room(&self) -> bool {
        let queue = self.locked();
        queue.events.len() < MAX_FINDS_AT_ONCE || queue.is_over || queue.failure.is_some()
    }

    /// Takes the finds whose keys were written to stdout since the last call.
    pub(super) fn take_written(&self) -> Vec<Arc<Event>> {
        std::mem::take(&mut self.locked().written)
    }

    /// Returns the error of stdout once, after a write to it has failed, if it is `wanted`. Further finds may
    /// be passed.
    pub(super) fn take_error(&self, wanted: impl FnOnce(&io::Error) -> bool) -> Option<io::Error> {
        self.locked().error.take_if(|error| wanted(error))
    }

    /// Returns why stdout has not taken keys.
    pub(super) fn why_unwritten(&self) -> String {
        match &self.locked().failure {
            Some(failure) => format!("cannot write to stdout: {failure}"),
            None => "nobody read stdout".to_owned(),
        }
    }

    /// Takes the finds that were to be written to stdout and are in memory alone.
    pub(super) fn take_unwritten(&self) -> Vec<Arc<Event>> {
        let mut queue = self.locked();
        let mut unwritten = std::mem::take(&mut queue.unwritten);
        let (keys, others): (Vec<_>, _) = queue.events.drain(..).partition(|event| event.key().is_some());
        queue.events = others.into();
        unwritten.extend(keys);
        unwritten
    }

    /// Returns where the keys of the finds are that were not told.
    pub(super) fn untold(&self) -> Places {
        let queue = self.locked();
        let mut keys = queue.untold.clone();
        for event in queue.unwritten.iter().chain(&queue.events) {
            if let Event::Found(parcel) = &**event {
                keys.add(&parcel.place);
            }
        }
        keys
    }

    /// Cuts long results short.
    pub(super) fn hurry(&self) {
        self.locked().is_hurried = true;
    }

    /// Waits until everything is told. A request to stop shortens the waiting. While a key is in memory
    /// alone, a second one does not end the process. Returns false if the reader did not read in time.
    pub(super) fn wait(&self, stop: &Stop) -> bool {
        let mut until = None;
        let mut queue = self.locked();
        let has_keys = !queue.unwritten.is_empty() || queue.events.iter().any(|event| event.key().is_some());
        let _signals = has_keys.then(|| stop.hold_off());
        while !queue.is_told() {
            if stop.requested().is_some()
                && *until.get_or_insert_with(|| Instant::now() + TO_TELL) <= Instant::now()
            {
                return false;
            }
            queue = self.changed.wait_timeout(queue, POLL).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Tells `reporter` everything, until the queue is closed.
    pub(super) fn listen(&self, reporter: &mut impl Reporter) {
        let _over = Over(self);
        let mut queue = self.locked();
        loop {
            if queue.events.is_empty() {
                let progress = queue.progress.take().map(Arc::new);
                queue.events.extend(progress);
            }
            let Some(event) = queue.events.front().cloned() else {
                if queue.is_closed {
                    return;
                }
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            // After a failed write there are no results.
            let mut is_told = !(queue.failure.is_some() && event.is_result());
            drop(queue);
            let may_go_on = || !self.locked().is_hurried;
            let told = if is_told { reporter.tell(&event, &may_go_on) } else { Ok(()) };
            queue = self.locked();
            if let Err(error) = told {
                is_told = false;
                queue.failure = Some(error.to_string());
                queue.error = Some(error);
            }
            queue.take(&event, is_told);
            self.changed.notify_all();
        }
    }

    /// Locks the queue. No thread panics while it holds the lock.
    fn locked(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// Takes out the first event, which was told, or is never told. In the second case, a key that is in memory
    /// alone waits for another place.
    fn take(&mut self, event: &Arc<Event>, is_told: bool) {
        // The key may have got another place meanwhile.
        if !self.events.front().is_some_and(|first| Arc::ptr_eq(first, event)) {
            return;
        }
        match (self.events.pop_front(), &**event) {
            (first, Event::Found(_)) if event.key().is_some() => {
                if is_told { &mut self.written } else { &mut self.unwritten }.extend(first);
            }
            (_, Event::Found(parcel)) if !is_told => self.untold.add(&parcel.place),
            _ => {}
        }
    }

    fn is_told(&self) -> bool {
        self.is_over || self.events.is_empty() && self.progress.is_none()
    }
}

/// Lets nobody wait for a reporter that is gone.
struct Over<'a>(&'a Teller);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.locked().is_over = true;
        self.0.changed.notify_all();
    }
}

/// Closes the queue, so that [`Teller::listen`] ends when everything is told.
pub(super) struct Close<'a>(pub(super) &'a Teller);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        self.0.locked().is_closed = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use super::*;

    const PROGRESS: Event = Event::Progress { progress: Progress::NONE, is_encrypting: false };

    /// A reporter whose reader may be slow or gone.
    struct Report<'a> {
        /// Whether the telling of something has begun.
        has_begun: &'a AtomicBool,
        /// Returns once the reader has read.
        reads: &'a (dyn Fn() + Sync),
        /// The number of results.
        results: usize,
    }

    impl Reporter for Report<'_> {
        fn tell(&mut self, event: &Event, _: &dyn Fn() -> bool) -> io::Result<()> {
            if event.is_result() {
                self.results += 1;
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.has_begun.store(true, Relaxed);
            (self.reads)();
            Ok(())
        }
    }

    /// Runs `test` beside a thread that tells. Returns the number of results.
    fn with_reader(reads: &(dyn Fn() + Sync), test: impl FnOnce(&Teller, &dyn Fn())) -> usize {
        let (teller, has_begun) = (Teller::default(), AtomicBool::new(false));
        let mut report = Report { has_begun: &has_begun, reads, results: 0 };
        std::thread::scope(|scope| {
            let _close = Close(&teller);
            scope.spawn(|| teller.listen(&mut report));
            test(&teller, &|| {
                while !has_begun.load(Relaxed) {
                    std::thread::yield_now();
                }
            });
        });
        report.results
    }

    #[test]
    fn what_is_being_told_is_not_told_yet() {
        let tell: [&dyn Fn(&Teller); 2] =
            [&|teller| teller.notice(Notice::info("text")), &|teller| teller.tell(PROGRESS)];
        for tell in tell {
            let has_read = AtomicBool::new(false);
            let reads = || {
                while !has_read.load(Relaxed) {
                    std::thread::yield_now();
                }
            };
            with_reader(&reads, |teller, await_beginning| {
                tell(teller);
                await_beginning();
                let stop = Stop::new();
                stop.request(crate::search::Signal::INTERRUPT);
                let told = teller.wait(&stop);
                has_read.store(true, Relaxed);
                assert!(!told);
                assert!(teller.wait(&Stop::new()));
            });
        }
    }

    #[test]
    fn after_a_signal_a_reader_has_a_moment() {
        let stop = Stop::new();
        let reads = || {
            while stop.requested().is_none() {
                std::thread::yield_now();
            }
            std::thread::sleep(TO_TELL / 8);
        };
        with_reader(&reads, |teller, await_beginning| {
            teller.notice(Notice::info("text"));
            await_beginning();
            stop.request(crate::search::Signal::INTERRUPT);
            assert!(teller.wait(&stop));
        });
    }

    #[test]
    fn after_a_failed_write_there_are_no_results() {
        let results = with_reader(&|| {}, |teller, _| {
            teller.tell(Event::NothingMissing);
            teller.tell(Event::NothingMissing);
            assert!(teller.wait(&Stop::new()));
            assert!(teller.take_error(|_| true).is_some() && teller.take_error(|_| true).is_none());
        });
        assert_eq!(results, 1);
    }

    #[test]
    fn nobody_waits_for_a_reporter_that_is_gone() {
        let (teller, has_begun) = (Teller::default(), AtomicBool::new(false));
        let mut report = Report { has_begun: &has_begun, reads: &|| panic!("expected"), results: 0 };
        teller.notice(Notice::info("text"));
        std::thread::scope(|scope| scope.spawn(|| teller.listen(&mut report)).join().unwrap_err());
        teller.notice(Notice::info("more"));
        assert!(teller.wait(&Stop::new()));
    }
}
