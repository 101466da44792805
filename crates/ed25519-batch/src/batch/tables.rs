//! The tables of one back end.
//!
//! The workers report after each batch how long it took. In between, one of them builds the next
//! table, one window at a time. So a search needs no other thread, and every key that is tried on
//! the way counts. The module `ladder` decides which table is used.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::ladder::{Ladder, Schedule};
use crate::curve::{Field, Multiples, Table, TableBuilder};
use crate::memory::{Zeros, spare_room};

/// In the first part of a turn a worker reads most entries of a large table.
pub const SCHEDULE: Schedule = Schedule {
    turn: [Duration::from_millis(40), Duration::from_millis(25)],
    rests: Some([Duration::from_secs(4), Duration::from_secs(64)]),
};

/// The longest time between two batches of a search. A search may be stopped and go on later.
const LONGEST_GAP: Duration = Duration::from_millis(100);

/// The tables of one back end, which all its workers share.
pub struct Tables<F> {
    field: F,
    /// Returns whether a table reproduces known vectors.
    is_right: fn(F, &Arc<Table>) -> bool,
    /// Where every table begins.
    multiples: Multiples,
    /// The number of turns before this one.
    turn: AtomicU64,
    state: Mutex<State>,
}

struct State {
    ladder: Ladder,
    /// How long the workers have worked, and when they were seen last.
    worked: Duration,
    seen: Instant,
    /// The best table and at most one other.
    tables: Vec<Arc<Table>>,
    /// The table that is being built, unless a worker fills a window of it.
    builder: Option<TableBuilder>,
    /// Whether a worker fills a window.
    is_filling: bool,
    /// Whether a table did not reproduce the known vectors.
    is_table_wrong: bool,
}

impl<F: Field> Tables<F> {
    /// Builds the first of these tables. `is_right` returns whether a table reproduces known vectors.
    /// A later table that does not is never used.
    pub fn new(field: F, windows: Vec<usize>, is_right: fn(F, &Arc<Table>) -> bool) -> Self {
        let multiples = Multiples::compute();
        let first = Arc::new(Table::from_multiples(field, windows[0], &multiples));
        let state = State {
            ladder: Ladder::new(windows, SCHEDULE),
            worked: Duration::ZERO,
            seen: Instant::now(),
            tables: vec![first],
            builder: None,
            is_filling: false,
            is_table_wrong: false,
        };
        let (turn, state) = (AtomicU64::new(0), Mutex::new(state));
        Self { field, is_right, multiples, turn, state }
    }

    /// Returns whether the best table was compared with its neighbors.
    pub fn is_settled(&self) -> bool {
        self.lock().ladder.is_settled()
    }

    /// Returns the number of windows of the best table so far.
    pub fn best(&self) -> usize {
        self.lock().ladder.best()
    }

    /// Returns whether a table did not reproduce the known vectors since the last call.
    pub fn take_wrong_table(&self) -> bool {
        std::mem::take(&mut self.lock().is_table_wrong)
    }

    /// Returns the table to use now, and the number of this turn.
    pub fn current(&self) -> (u64, Arc<Table>) {
        let state = self.lock();
        let windows = state.ladder.current();
        let table = state.tables.iter().find(|table| table.layout().len() == windows);
        let table = table.unwrap_or_else(|| unreachable!("the tables that take turns exist"));
        (self.turn.load(Relaxed), Arc::clone(table))
    }

    /// Returns the number of the current turn.
    pub fn turn(&self) -> u64 {
        self.turn.load(Relaxed)
    }

    /// Takes the keys and the time of one batch of a turn, and fills a window if one is needed.
    pub fn report(&self, turn: u64, keys: usize, time: Duration) {
        // Workers do not wait for each other: the next report is as good.
        let Ok(mut state) = self.state.try_lock() else { return };
        let now = state.now();
        let before = state.ladder.current();
        // A batch of an earlier turn does not count.
        if turn == self.turn() {
            state.ladder.count(keys, time, now);
        }
        let builder = state.next_builder();
        if state.ladder.current() != before {
            self.turn.fetch_add(1, Relaxed);
        }
        let Some(builder) = builder else { return };
        state.is_filling = true;
        drop(state);
        let filled = builder.fill_next(self.field, &self.multiples).map(Arc::new);
        let is_right = filled.as_ref().is_ok_and(|table| (self.is_right)(self.field, table));
        let mut state = self.lock();
        state.is_filling = false;
        match filled {
            Err(unfinished) => state.builder = Some(unfinished),
            Ok(table) if is_right => state.tables.push(table),
            Ok(_) => {
                state.is_table_wrong = true;
                let now = state.worked;
                state.ladder.give_up(now);
            }
        }
    }

    /// Locks the state. No thread panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a table to fill, or `None` if a limit leaves too little memory or the system has none.
fn new_builder(windows: usize) -> Option<TableBuilder> {
    let needed = Zeros::most_memory(Table::bytes(windows));
    if spare_room().is_some_and(|left| left < needed) { None } else { TableBuilder::try_new(windows) }
}

impl State {
    /// Returns how long the workers have worked.
    fn now(&mut self) -> Duration {
        self.worked += self.seen.elapsed().min(LONGEST_GAP);
        self.seen = Instant::now();
        self.worked
    }

    /// Returns the table with a window to fill, if no other worker fills one. Begins another only when no
    /// worker uses a table that is not needed any more, so that two are in memory at most.
    fn next_builder(&mut self) -> Option<TableBuilder> {
        loop {
            let Self { ladder, tables, .. } = self;
            let exists = |windows| tables.iter().any(|table| table.layout().len() == windows);
            let windows = ladder.missing(self.worked, exists)?;
            if self.is_filling || self.builder.is_some() {
                return self.builder.take();
            }
            let is_in_use = |table: &Arc<Table>| Arc::strong_count(table) > 1;
            tables.retain(|table| ladder.needs(table.layout().len()) || is_in_use(table));
            if tables.len() > 1 {
                return None;
            }
            match new_builder(windows) {
                Some(builder) => return Some(builder),
                None => ladder.give_up(self.worked),
            }
        }
    }
}
