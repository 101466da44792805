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
