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
    is_over: AtomicBool,
    state: Mutex<State>,
}

struct State {
    course: Course,
    /// The turn of the best setting so far.
    best: Turn,
    /// Where every table begins. No value after the last table.
    multiples: Option<Arc<Multiples>>,
    phase: Phase,
    /// When the current turn began.
    began: Instant,
    /// Whether a table did not reproduce the known vectors.
    is_table_wrong: bool,
}

/// The number of keys in each of the first batches: the self-test of the engine, and the first batch
/// of the search. A batch of so few keys takes less than a millisecond.
const FIRST_KEYS: usize = 512;

/// The number of these batches.
const FIRST_BATCHES: u32 = 2;

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
            multiples: Some(Arc::new(multiples)),
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
            is_over: AtomicBool::new(is_over),
            state: Mutex::new(state),
        }
    }

    /// Returns a tuner that keeps a setting, and the table of its windows.
    #[cfg(test)]
    pub(super) fn fixed(field: F, setting: Setting, table: Arc<Table>) -> Self {
        let state = State {
            best: Turn::of(setting, table),
            course: Course::fixed(setting),
            multiples: None,
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
        if self.is_over.load(Relaxed) {
            return;
        }
        let job = {
            let mut state = self.lock();
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
        self.is_settled.store(state.course.has_table(), Relaxed);
        self.is_over.store(matches!(state.phase, Phase::Over), Relaxed);
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
            None => {
                self.multiples = None;
                Phase::Over
            }
            Some(setting) if setting.windows == self.best.setting.windows => {
                self.try_against_best(setting, Arc::clone(&self.best.table))
            }
            Some(setting) => Phase::Building(setting, Some(TableBuilder::new(setting.windows))),
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
        let multiples = self.multiples.clone()?;
        Some(Job { builder: builder.take()?, multiples })
    }

    /// Takes back a job: the builder, or the whole table if it is right. Returns whether another turn
    /// begins.
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

    #[test]
    fn it_starts_small_and_settles_on_the_fastest_table() {
        let tuner = tuner(|_, _| true);
        let first = tuner.turn();
        assert_eq!((first.setting.windows, first.setting.keys), (28, FIRST_KEYS));
        assert!(!tuner.is_settled());
        let turns = work(&tuner, |tuner| tuner.is_over.load(Relaxed));
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
        let turns = work(&tuner, |tuner| tuner.is_over.load(Relaxed));
        assert!(turns.iter().all(|turn| turn.setting.windows == 28));
        assert!(tuner.is_settled() && tuner.take_wrong_table() && !tuner.take_wrong_table());
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
                scope.spawn(|| work(&tuner, |tuner| tuner.is_over.load(Relaxed)));
            }
        });
        assert!(tuner.is_settled());
    }
}
