//! Tunes a batch engine while it searches.
//!
//! The workers ask before each batch what to work with, and report afterwards how long it took. In
//! between, one of them builds the next table, one window at a time. So tuning needs no thread of
//! its own, and every key that is tried on the way counts.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::course::{Course, Setting};
use super::trial::{Next, Side, Trial};
use crate::curve::{Field, Multiples, Table, TableBuilder};

/// What workers use from one turn to the next.
#[derive(Clone)]
pub(super) struct Turn {
    /// The number of turns before this one.
    number: u64,
    pub(super) setting: Setting,
    pub(super) table: Arc<Table>,
}

impl Turn {
    /// Returns a turn of this setting, with the table of its windows.
    pub(super) fn of(setting: Setting, table: Arc<Table>) -> Self {
        Self { number: 0, setting, table }
    }
}

/// The tuner of one engine, which all its workers share.
pub(super) struct Tuner<F> {
    field: F,
    /// Returns whether a table reproduces known vectors.
    is_right: fn(F, &Arc<Table>) -> bool,
    /// The number of the current turn.
    number: AtomicU64,
    /// Whether the table is chosen. What is tried afterwards changes the rate little.
    is_settled: AtomicBool,
    /// The milliseconds since [`Self::created`] when the next batch does something for tuning: 0
    /// while it goes on.
    due: AtomicU64,
    created: Instant,
    state: Mutex<State>,
}

struct State {
    course: Course,
    /// The turn of the best setting so far.
    best: Turn,
    /// Where every table begins.
    multiples: Arc<Multiples>,
    phase: Phase,
    /// The time until tuning begins again after its end.
    pause: Duration,
    /// When the current turn began.
    began: Instant,
    /// Whether a table did not reproduce the known vectors.
    is_table_wrong: bool,
}

/// The number of keys in each of the first batches: the self-test of the engine, and the first
/// batch of the search. A batch of so few keys takes less than a millisecond.
const FIRST_KEYS: usize = 512;

/// The number of these batches.
const FIRST_BATCHES: u32 = 2;

/// How long a search goes on until tuning is repeated. Each pause is four times as long as the one
/// before, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_secs(60);

const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

enum Phase {
    /// This number of the first batches is left.
    Starting(u32),
    /// A table is being built. It has no builder while a worker fills a window.
    Building(Setting, Option<TableBuilder>),
    /// The challenger takes turns with the best setting.
    Trying(Trial, Turn),
    /// No better setting is left.
    Over,
}

/// A window to fill.
struct Job {
    builder: TableBuilder,
    multiples: Arc<Multiples>,
}

impl<F: Field> Tuner<F> {
    /// Builds the first table of a course. `is_right` returns whether a table reproduces known
    /// vectors. A later table that does not is never used.
    pub(super) fn new(field: F, course: Course, is_right: fn(F, &Arc<Table>) -> bool) -> Self {
        let multiples = Multiples::compute();
        let table = Arc::new(Table::from_multiples(field, course.best().windows, &multiples));
        let state = State {
            best: Turn::of(course.best(), table),
            course,
            multiples: Arc::new(multiples),
            pause: FIRST_PAUSE,
            phase: Phase::Starting(FIRST_BATCHES),
            began: Instant::now(),
            is_table_wrong: false,
        };
        Self::with_state(field, state, is_right)
    }

    fn with_state(field: F, state: State, is_right: fn(F, &Arc<Table>) -> bool) -> Self {
        let is_over = matches!(state.phase, Phase::Over);
        Self {
            field,
            is_right,
            number: AtomicU64::new(0),
            is_settled: AtomicBool::new(is_over),
            due: AtomicU64::new(if is_over { u64::MAX } else { 0 }),
            created: Instant::now(),
            state: Mutex::new(state),
        }
    }

    /// Returns a tuner that keeps a setting, and the table of its windows.
    #[cfg(test)]
    pub(super) fn fixed(field: F, setting: Setting, table: Arc<Table>) -> Self {
        let state = State {
            best: Turn::of(setting, table),
            course: Course::fixed(setting),
            multiples: Arc::new(Multiples::compute()),
            pause: Duration::MAX,
            phase: Phase::Over,
            began: Instant::now(),
            is_table_wrong: false,
        };
        Self::with_state(field, state, |_, _| true)
    }

    /// Returns whether the table is chosen.
    pub(super) fn is_settled(&self) -> bool {
        self.is_settled.load(Relaxed)
    }

    /// Returns whether a table did not reproduce the known vectors since the last call.
    pub(super) fn take_wrong_table(&self) -> bool {
        std::mem::take(&mut self.lock().is_table_wrong)
    }

    /// Returns the current turn.
    pub(super) fn turn(&self) -> Turn {
        let state = self.lock();
        let mut turn = match &state.phase {
            Phase::Trying(trial, challenger) if trial.side() == Side::Challenger => challenger.clone(),
            _ => state.best.clone(),
        };
        if let Phase::Starting(_) = state.phase {
            turn.setting.keys = FIRST_KEYS;
        }
        Turn { number: self.number.load(Relaxed), ..turn }
    }

    /// Returns the current turn if it is not `turn`.
    pub(super) fn renewed(&self, turn: &Turn) -> Option<Turn> {
        (self.number.load(Relaxed) != turn.number).then(|| self.turn())
    }

    /// Takes the time of one batch of a turn, and does a part of the work that is due.
    pub(super) fn report(&self, turn: &Turn, time: Duration) {
        let due = self.due.load(Relaxed);
        if due > 0 && self.milliseconds() < due {
            return;
        }
        let job = {
            let mut state = self.lock();
            if let Phase::Over = state.phase {
                state.course.begin_again();
                state.begin_next();
                self.begin_turn(&mut state);
            }
            // A batch of an earlier turn does not count.
            if turn.number == self.number.load(Relaxed) && state.count(turn, time) {
                self.begin_turn(&mut state);
            }
            state.take_job()
        };
        if let Some(Job { builder, multiples }) = job {
            let built = builder.fill_next(self.field, &multiples).map(Arc::new);
            let checked = built.map(|table| (self.is_right)(self.field, &table).then_some(table));
            let mut state = self.lock();
            if state.take_back(checked) {
                self.begin_turn(&mut state);
            }
        }
    }

    /// Lets the workers see that the state has changed.
    fn begin_turn(&self, state: &mut State) {
        state.began = Instant::now();
        self.number.fetch_add(1, Relaxed);
        // While tuning is repeated, the rate stays about the same.
        self.is_settled.fetch_or(state.course.has_table(), Relaxed);
        let due = if let Phase::Over = state.phase {
            let pause = state.pause;
            state.pause = pause.saturating_mul(4).min(LONGEST_PAUSE);
            self.milliseconds() + u64::try_from(pause.as_millis()).unwrap_or(u64::MAX / 2)
        } else {
            0
        };
        self.due.store(due, Relaxed);
    }

    /// Returns the milliseconds since the tuner was created, at least 1.
    fn milliseconds(&self) -> u64 {
        u64::try_from(self.created.elapsed().as_millis()).unwrap_or(u64::MAX / 2).max(1)
    }

    /// Locks the state. No thread panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Begins to build or to try the next setting of the course.
    fn begin_next(&mut self) {
        self.phase = match self.course.next() {
            None => Phase::Over,
            Some(setting) if setting.windows == self.best.setting.windows => {
                self.try_against_best(setting, Arc::clone(&self.best.table))
            }
            Some(setting) => match TableBuilder::try_new(setting.windows) {
                Some(builder) => Phase::Building(setting, Some(builder)),
                // The table of the best setting is there already.
                None => {
                    self.course.end();
                    Phase::Over
                }
            },
        };
    }

    fn try_against_best(&self, setting: Setting, table: Arc<Table>) -> Phase {
        let trial = Trial::new(self.best.table.rows().len(), table.rows().len());
        Phase::Trying(trial, Turn::of(setting, table))
    }

    /// Counts a batch. Returns whether another turn begins.
    fn count(&mut self, turn: &Turn, time: Duration) -> bool {
        let (trial, challenger) = match &mut self.phase {
            Phase::Starting(left) => {
                *left -= 1;
                let is_over = *left == 0;
                if is_over {
                    self.begin_next();
                }
                return is_over;
            }
            Phase::Trying(trial, challenger) => (trial, challenger),
            Phase::Building(..) | Phase::Over => return false,
        };
        let Setting { windows, keys, .. } = turn.setting;
        match trial.count(keys, keys * windows, time, self.began.elapsed()) {
            Next::Continue => return false,
            Next::OtherSide => {}
            Next::Over(is_faster) => {
                self.course.judge(challenger.setting, is_faster);
                if is_faster {
                    self.best = challenger.clone();
                }
                self.begin_next();
            }
        }
        true
    }

    /// Returns the next window to fill, if a table is being built and no other worker has the job.
    fn take_job(&mut self) -> Option<Job> {
        let Phase::Building(_, builder) = &mut self.phase else { return None };
        Some(Job { builder: builder.take()?, multiples: Arc::clone(&self.multiples) })
    }

    /// Takes back a job: the builder, or the whole table if it is right. Returns whether another
    /// turn begins.
    fn take_back(&mut self, job: Result<Option<Arc<Table>>, TableBuilder>) -> bool {
        let Phase::Building(setting, builder) = &mut self.phase else { return false };
        let setting = *setting;
        match job {
            Err(unfinished) => {
                *builder = Some(unfinished);
                return false;
            }
            Ok(Some(table)) => self.phase = self.try_against_best(setting, table),
            Ok(None) => {
                self.is_table_wrong = true;
                self.course.end();
                self.begin_next();
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Portable;
    use crate::engine::sizing::Sizing;
    use crate::simd::Scalar;

    fn tuner(is_right: fn(Portable, &Arc<Table>) -> bool) -> Tuner<Portable> {
        let sizing = Sizing { table_memory: Some(4 << 20), ..Sizing::for_attempts(1e18) };
        Tuner::new(Portable(Scalar::plain()), Course::new(sizing), is_right)
    }

    /// Reports batches until `is_done`. Returns the turns.
    fn work(tuner: &Tuner<Portable>, is_done: impl Fn(&Tuner<Portable>) -> bool) -> Vec<Turn> {
        let mut turns = vec![tuner.turn()];
        while !is_done(tuner) {
            let turn = &turns[turns.len() - 1];
            // Fewer windows take less time.
            tuner.report(turn, Duration::from_micros((turn.setting.windows * turn.setting.keys) as u64));
            std::thread::sleep(Duration::from_micros(100));
            turns.extend(tuner.renewed(&turns[turns.len() - 1]));
        }
        turns
    }

    fn is_over(tuner: &Tuner<Portable>) -> bool {
        tuner.due.load(Relaxed) > 0
    }

    #[test]
    fn it_starts_small_and_settles_on_the_fastest_table() {
        let tuner = tuner(|_, _| true);
        let first = tuner.turn();
        assert_eq!((first.setting.windows, first.setting.keys), (28, FIRST_KEYS));
        assert!(!tuner.is_settled());
        let turns = work(&tuner, is_over);
        assert!(tuner.is_settled() && !tuner.take_wrong_table());
        assert!(turns.iter().all(|turn| turn.table.layout().len() == turn.setting.windows));
        let last = tuner.turn();
        assert_eq!(last.setting.windows, 21, "the largest within the limit");
        assert!(tuner.renewed(&last).is_none());
        tuner.report(&last, Duration::from_secs(1));
        assert!(tuner.renewed(&last).is_none(), "nothing changes any more");
    }

    #[test]
    fn a_table_that_computes_wrong_keys_is_never_used() {
        let tuner = tuner(|_, table| table.layout().len() > 24);
        let turns = work(&tuner, is_over);
        assert!(turns.iter().all(|turn| turn.setting.windows == 28));
        assert!(tuner.is_settled() && tuner.take_wrong_table() && !tuner.take_wrong_table());
    }

    /// A table that looked slow on a busy machine is tried again.
    #[test]
    fn tuning_is_repeated_after_a_pause() {
        let tuner = tuner(|_, _| true);
        let backward =
            |turn: &Turn| Duration::from_micros((turn.setting.keys * 1000 / turn.setting.windows) as u64);
        let mut turn = tuner.turn();
        while !is_over(&tuner) {
            tuner.report(&turn, backward(&turn));
            std::thread::sleep(Duration::from_micros(100));
            turn = tuner.renewed(&turn).unwrap_or(turn);
        }
        let slowest = tuner.turn().setting.windows;
        assert!(slowest > 28, "{slowest} windows");
        tuner.due.store(1, Relaxed);
        tuner.report(&tuner.turn(), Duration::from_millis(1));
        assert!(!is_over(&tuner) && tuner.is_settled());
        work(&tuner, is_over);
        assert_eq!(tuner.turn().setting.windows, 21);
        assert_eq!(tuner.lock().pause, 16 * FIRST_PAUSE);
    }

    #[test]
    fn a_batch_of_an_earlier_turn_does_not_count() {
        let tuner = tuner(|_, _| true);
        let old = tuner.turn();
        work(&tuner, |tuner| tuner.turn().setting.windows == 24);
        let before = tuner.turn().number;
        for _ in 0..10_000 {
            tuner.report(&old, Duration::from_millis(1));
        }
        assert_eq!(tuner.turn().number, before);
    }

    #[test]
    fn several_workers_build_one_table() {
        let tuner = tuner(|_, _| true);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| work(&tuner, is_over));
            }
        });
        assert!(tuner.is_settled());
    }
}
