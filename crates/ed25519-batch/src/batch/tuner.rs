//! Tunes a batch engine while it searches.
//!
//! The workers ask before each batch what to work with, and report afterwards how long it took. In
//! between, one of them builds the next table, one window at a time. So tuning needs no thread of
//! its own, and every key that is tried on the way counts. The module `choice` decides.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::choice::Choice;
use super::duel::Timing;
use super::sizes::Sizes;
use crate::curve::{Field, Multiples, Table, TableBuilder};
use crate::memory::{Zeros, spare_room};

/// What workers use from one turn to the next.
#[derive(Clone)]
pub(super) struct Turn {
    /// The number of turns before this one.
    number: u64,
    /// The number of keys in a batch.
    pub(super) keys: usize,
    pub(super) table: Arc<Table>,
}

impl Turn {
    /// Returns a turn with this table.
    pub(super) fn of(keys: usize, table: Arc<Table>) -> Self {
        Self { number: 0, keys, table }
    }
}

/// The tuner of one engine, which all its workers share.
pub(super) struct Tuner<F> {
    field: F,
    /// Returns whether a table reproduces known vectors.
    is_right: fn(F, &Arc<Table>) -> bool,
    /// The number of the current turn.
    number: AtomicU64,
    is_settled: AtomicBool,
    /// The milliseconds since [`Self::created`] when the next batch counts.
    due: AtomicU64,
    created: Instant,
    state: Mutex<State>,
}

struct State {
    choice: Choice,
    /// The tables that exist, in the order of the sizes.
    tables: Vec<Option<Arc<Table>>>,
    /// Where every table begins.
    multiples: Arc<Multiples>,
    /// The table that is being built. It has no builder while a worker fills a window.
    building: Option<(usize, Option<TableBuilder>)>,
    /// How many of the first batches are left.
    starting: u32,
    /// Whether a table did not reproduce the known vectors.
    is_table_wrong: bool,
}

/// The number of keys in each of the first batches: the self-test of the engine, and the first
/// batch of the search. A batch of so few keys takes less than a millisecond.
const FIRST_KEYS: usize = 512;

/// The number of these batches.
const FIRST_BATCHES: u32 = 2;

/// A window to fill.
struct Job {
    place: usize,
    builder: TableBuilder,
    multiples: Arc<Multiples>,
}

impl<F: Field> Tuner<F> {
    /// Builds the first table. `is_right` returns whether a table reproduces known vectors. A later
    /// table that does not is never used.
    pub(super) fn new(field: F, sizes: Sizes, is_right: fn(F, &Arc<Table>) -> bool) -> Self {
        let multiples = Multiples::compute();
        let first = Table::from_multiples(field, sizes.each[sizes.first].windows, &multiples);
        Self::with_table(field, sizes, Arc::new(first), multiples, is_right)
    }

    /// Returns a tuner whose first table exists.
    pub(super) fn with_table(
        field: F,
        sizes: Sizes,
        first: Arc<Table>,
        multiples: Multiples,
        is_right: fn(F, &Arc<Table>) -> bool,
    ) -> Self {
        let is_choice = sizes.each.len() > 1;
        let mut tables = vec![None; sizes.each.len()];
        tables[sizes.first] = Some(first);
        let choice = Choice::new(sizes);
        Self {
            field,
            is_right,
            number: AtomicU64::new(0),
            is_settled: AtomicBool::new(choice.is_settled()),
            due: AtomicU64::new(0),
            created: Instant::now(),
            state: Mutex::new(State {
                choice,
                tables,
                multiples: Arc::new(multiples),
                building: None,
                starting: if is_choice { FIRST_BATCHES } else { 0 },
                is_table_wrong: false,
            }),
        }
    }

    /// Returns whether every size that is worth building was tried.
    pub(super) fn is_settled(&self) -> bool {
        self.is_settled.load(Relaxed)
    }

    /// Returns the fastest table so far, and the number of keys in a batch.
    pub(super) fn best(&self) -> (usize, usize) {
        let state = self.lock();
        let sizes = state.choice.sizes();
        (sizes.each[state.choice.best()].windows, sizes.keys)
    }

    /// Returns whether a table did not reproduce the known vectors since the last call.
    pub(super) fn take_wrong_table(&self) -> bool {
        std::mem::take(&mut self.lock().is_table_wrong)
    }

    /// Returns the current turn.
    pub(super) fn turn(&self) -> Turn {
        let state = self.lock();
        let keys = if state.starting > 0 { FIRST_KEYS } else { state.choice.sizes().keys };
        Turn { number: self.number.load(Relaxed), keys, table: state.current_table() }
    }

    /// Returns the current turn if it is not `turn`.
    pub(super) fn renewed(&self, turn: &Turn) -> Option<Turn> {
        (self.number.load(Relaxed) != turn.number).then(|| self.turn())
    }

    /// Returns whether the time of the next batch counts.
    pub(super) fn is_due(&self) -> bool {
        let due = self.due.load(Relaxed);
        due == 0 || milliseconds(self.created.elapsed()) >= due
    }

    /// Takes the times of one batch of a turn, and does a part of the work that is due.
    pub(super) fn report(&self, turn: &Turn, batch: Timing) {
        let job = {
            let mut state = self.lock();
            // A batch of an earlier turn does not count.
            if turn.number == self.number.load(Relaxed) && state.count(batch, self.created.elapsed()) {
                self.number.fetch_add(1, Relaxed);
            }
            self.next_job(&mut state)
        };
        if let Some(Job { place, builder, multiples }) = job {
            let built = builder.fill_next(self.field, &multiples).map(Arc::new);
            let checked = built.map(|table| (self.is_right)(self.field, &table).then_some(table));
            let mut state = self.lock();
            match checked {
                Err(unfinished) => state.building = Some((place, Some(unfinished))),
                Ok(table) => {
                    state.building = None;
                    if table.is_none() {
                        state.is_table_wrong = true;
                        state.choice.give_up(self.created.elapsed());
                    }
                    state.tables[place] = table;
                    // The new table may be used now.
                    if let Some(job) = self.next_job(&mut state) {
                        state.building = Some((job.place, Some(job.builder)));
                    }
                }
            }
        }
    }

    /// Begins a duel whose tables exist, or returns a window to fill, if no other worker fills one.
    fn next_job(&self, state: &mut State) -> Option<Job> {
        let now = self.created.elapsed();
        state.choice.wake(now);
        let mut job = None;
        while let Some(wanted) = state.choice.wanted() {
            if state.tables[wanted].is_some() {
                state.choice.begin(now);
                self.number.fetch_add(1, Relaxed);
            } else {
                match state.take_builder(wanted) {
                    Ok(builder) => {
                        job = builder.map(|builder| Job {
                            place: wanted,
                            builder,
                            multiples: Arc::clone(&state.multiples),
                        });
                        break;
                    }
                    Err(NoMemory) => state.choice.give_up(now),
                }
            }
        }
        self.is_settled.fetch_or(state.choice.is_settled(), Relaxed);
        self.due.store(state.choice.due().map_or(0, milliseconds), Relaxed);
        job
    }

    /// Locks the state. No thread panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whole milliseconds, at least 1.
fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// The system has no memory for a table.
struct NoMemory;

impl State {
    fn current_table(&self) -> Arc<Table> {
        // The table of the best size is never dropped.
        let table = self.tables[self.choice.current()].as_ref().or(self.tables[self.choice.best()].as_ref());
        Arc::clone(table.unwrap_or_else(|| unreachable!("the best size has a table")))
    }

    /// Counts a batch. Returns whether another turn begins.
    fn count(&mut self, batch: Timing, now: Duration) -> bool {
        if self.starting > 0 {
            self.starting -= 1;
            return self.starting == 0;
        }
        self.choice.count(batch, now)
    }

    /// Returns the builder of a table. `None` if another worker has it. Drops other tables until
    /// there is memory for it, and refuses if a limit leaves too little even so.
    fn take_builder(&mut self, wanted: usize) -> Result<Option<TableBuilder>, NoMemory> {
        if self.starting > 0 {
            return Ok(None);
        }
        if let Some((_, builder)) = &mut self.building {
            return Ok(builder.take());
        }
        let sizes = self.choice.sizes();
        let mut bytes: usize = sizes.each[wanted].bytes;
        bytes += (0..self.tables.len())
            .filter(|at| self.tables[*at].is_some())
            .map(|at| sizes.each[at].bytes)
            .sum::<usize>();
        for at in (0..self.tables.len()).filter(|at| *at != self.choice.best()) {
            if bytes > sizes.most_together && self.tables[at].take().is_some() {
                bytes -= sizes.each[at].bytes;
            }
        }
        if spare_room().is_some_and(|left| left < Zeros::most_memory(sizes.each[wanted].bytes)) {
            return Err(NoMemory);
        }
        let builder = TableBuilder::try_new(sizes.each[wanted].windows).ok_or(NoMemory)?;
        self.building = Some((wanted, None));
        Ok(Some(builder))
    }
}

#[cfg(test)]
mod tests {
    use super::super::sizes::Size;
    use super::*;
    use crate::Sizing;
    use crate::curve::Portable;
    use crate::simd::Scalar;

    fn tuner(is_right: fn(Portable, &Arc<Table>) -> bool) -> Tuner<Portable> {
        let sizing = Sizing { table_memory: Some(4 << 20), ..Sizing::for_keys(1e18) };
        Tuner::new(Portable(Scalar::plain()), Sizes::new(sizing), is_right)
    }

    /// Reports batches until the tuner is settled. Returns the turns.
    fn work(tuner: &Tuner<Portable>) -> Vec<Turn> {
        let mut turns = vec![tuner.turn()];
        while !tuner.is_settled() {
            let turn = &turns[turns.len() - 1];
            // Fewer windows take less time.
            let time = Duration::from_micros((turn.table.layout().len() * turn.keys) as u64);
            tuner.report(turn, Timing { keys: turn.keys, time, yardstick: Duration::from_micros(10) });
            std::thread::sleep(Duration::from_micros(100));
            turns.extend(tuner.renewed(&turns[turns.len() - 1]));
        }
        turns
    }

    fn windows(turn: &Turn) -> usize {
        turn.table.layout().len()
    }

    #[test]
    fn it_starts_small_and_settles_on_the_fastest_table() {
        let tuner = tuner(|_, _| true);
        let first = tuner.turn();
        assert_eq!((windows(&first), first.keys), (28, FIRST_KEYS));
        let turns = work(&tuner);
        assert!(turns.len() > 4 && !tuner.take_wrong_table());
        assert_eq!((windows(&tuner.turn()), tuner.best().0), (21, 21), "the largest within the limit");
        assert!(tuner.due.load(Relaxed) > 0, "it rests");
    }

    #[test]
    fn only_tables_that_leave_no_room_are_dropped() {
        let field = Portable(Scalar::plain());
        let each = [63, 60, 58, 55].map(Size::of);
        let bytes = each.map(|size| size.bytes);
        // The best table is the first, and the third is wanted.
        for (most_together, left) in [
            (bytes.iter().sum(), [true, true, false, true]),
            (bytes.iter().sum::<usize>() - 1, [true, false, false, true]),
            (bytes[0] + bytes[2] + bytes[3] - 1, [true, false, false, false]),
        ] {
            let sizes = Sizes { each: each.to_vec(), first: 0, most_together, keys: 64 };
            let tuner = Tuner::new(field, sizes, |_, _| true);
            let mut state = tuner.lock();
            for at in [1, 3] {
                state.tables[at] = Some(Arc::new(Table::new(field, each[at].windows)));
            }
            let batch = Timing { keys: 64, time: Duration::ZERO, yardstick: Duration::ZERO };
            state.starting = 2;
            assert!(matches!(state.take_builder(2), Ok(None)), "not at the start of a search");
            assert_eq!([0; 2].map(|_| state.count(batch, Duration::ZERO)), [false, true]);
            assert!(matches!(state.take_builder(2), Ok(Some(_))));
            assert!(matches!(state.take_builder(2), Ok(None)), "another worker has it");
            let is_left: Vec<bool> = state.tables.iter().map(Option::is_some).collect();
            assert_eq!(is_left, left);
        }
    }

    #[test]
    fn a_batch_counts_if_its_time_is_due() {
        let tuner = tuner(|_, _| true);
        std::thread::sleep(Duration::from_millis(2));
        for (due, is_due) in [(0, true), (1, true), (u64::MAX, false)] {
            tuner.due.store(due, Relaxed);
            assert_eq!(tuner.is_due(), is_due, "{due}");
        }
        // 0 says that every batch counts.
        assert_eq!([0, 999, 2_500_000].map(|time| milliseconds(Duration::from_micros(time))), [1, 1, 2500]);
    }

    #[test]
    fn a_table_that_computes_wrong_keys_is_never_used() {
        let tuner = tuner(|_, table| table.layout().len() >= 28);
        let turns = work(&tuner);
        assert!(turns.iter().all(|turn| windows(turn) >= 28));
        assert!(tuner.take_wrong_table() && !tuner.take_wrong_table());
    }

    #[test]
    fn a_batch_of_an_earlier_turn_does_not_count() {
        let tuner = tuner(|_, _| true);
        let old = tuner.turn();
        work(&tuner);
        let before = tuner.turn().number;
        for _ in 0..1000 {
            let time = Duration::from_millis(1);
            tuner.report(&old, Timing { keys: old.keys, time, yardstick: time });
        }
        assert_eq!(tuner.turn().number, before);
    }

    #[test]
    fn several_workers_build_one_table() {
        let tuner = tuner(|_, _| true);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| work(&tuner));
            }
        });
        assert_eq!(tuner.best().0, 21);
    }

    #[test]
    fn tables_that_exist_together_fit_into_memory() {
        let tuner = tuner(|_, _| true);
        work(&tuner);
        let state = tuner.lock();
        let sizes = state.choice.sizes();
        let exist = (0..sizes.each.len()).filter(|at| state.tables[*at].is_some());
        assert!(exist.map(|at| sizes.each[at].bytes).sum::<usize>() <= sizes.most_together);
    }
}
