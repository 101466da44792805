//! The GPU engine: batches of up to millions of keys on every GPU. The few survivors
//! are proved on the host.
//!
//! A worker takes a new key from its seed source for every batch. The device computes the seeds of
//! the batch as the ChaCha20 stream of this key, which has no other use. The device returns each
//! key that passes its filter ([`crate::pattern::DeviceFilter`]) with its place in the batch. The
//! host derives the seed at this place again. If curve25519-dalek does not derive the same key from
//! that seed, or if a call fails, the device is dropped from the search. A notice names it, and the
//! fastest engine of the processor replaces it. After a minute the device is opened again, in a
//! thread of its own, and then more rarely. A card that one library cannot use is tried by the next.
//!
//! A round of a batch fills the device exactly: as many work items as it runs at the same time. A
//! batch is as many rounds as take about 50 ms. Each device has two workers, so it has the next
//! batch while the host proves the survivors of the last one. It also has a tuner of its own, which
//! finds the fastest table for its caches and its memory during the search.

mod tuner;

use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use ed25519_batch::memory::wipe;
use ed25519_batch::rfc8032_vectors;
use ed25519_batch::simd::{InstructionSet, Scalar};
use thiserror::Error;
use zeroize::Zeroizing;

use self::tuner::Tuner;
use super::traits::{Devices, Engine, GPU, Hit, SeedSource, Sizing, Tuning, UsedDevice, Worker};
use super::{batch, reference};
use crate::chacha::ChaCha20;
use crate::gpu::{self, BatchQueue, Device, GpuError, Pipeline, Survivor, WindowTable};
use crate::key::Seed;
use crate::notice::Notice;
use crate::pattern::Matcher;
use crate::wire::without_sign;

/// What the host computes with. It tests few keys, and detection would take longer.
const LANES: InstructionSet = InstructionSet::Scalar(Scalar::plain());

/// The numbers of windows that a tuner tries, from a table of 56 MB to one of 24 GB. A large
/// second-level cache holds the first of them.
const TUNED: [usize; 4] = [16, 13, 11, 10];

/// The numbers of windows that can be chosen by the memory that they take.
const WINDOWS: RangeInclusive<usize> = 10..=126;

/// The windows of a processor that OpenCL offers as a device: 5 MB.
const WINDOWS_OF_PROCESSOR: usize = 21;

/// The part of a device's free memory that a table may take.
const SHARE_OF_TABLE: u64 = 3;

/// The number of keys that share an inversion. With half as many, a key would cost two products
/// more, of 80. Twice as many save one product, and take twice the memory. Each depth needs kernels of
/// its own, which take seconds to compile, so it is not tuned. A processor gains less from it, and
/// its batches would take too long.
const DEPTH: u32 = 128;
const DEPTH_OF_PROCESSOR: u32 = 16;

/// The work items in the smallest batch.
const ITEMS: usize = 64;

const MOST_KEYS: usize = 1 << 31;

/// The part of a device's free memory that each worker may take (one sixteenth), and the bytes for each
/// key of a round.
const SHARE_OF_MEMORY: u64 = 16;
const BYTES_OF_KEY: u64 = 67;

/// Batches grow until they take half of this time, and shrink when they take more. So screens stay
/// responsive, and Ctrl-C works quickly. The size is not tuned: a launch takes some microseconds,
/// and another batch is in flight, so a longer batch gains less than a measurement can show.
const BATCH_TIME: Duration = Duration::from_millis(50);

/// The workers of a device. While the host tests the survivors of one worker, the other one uses
/// the device.
const WORKERS: usize = 2;

/// The keys of a device's first batch. The host compares all of them.
const CHECKED: usize = 1 << 11;

/// The time until a dropped device is opened again, for the first time and at most.
const FIRST_PAUSE: Duration = Duration::from_secs(60);
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// The time in which the batches of a device grow to their size, and the time after that in which it is
/// compared with the processor.
const WARM_UP: Duration = Duration::from_secs(1);
const TRIAL: Duration = Duration::from_secs(2);

/// How long a worker waits at a time while its device is not open.
const WAIT: Duration = Duration::from_millis(20);

/// Makes the engine that replaces a device that fails.
type MakeSpare = fn(Sizing) -> Arc<dyn Engine>;

/// The engine of all devices that are used.
pub(super) struct Gpu {
    shared: Arc<Shared>,
    /// Makes the engine that replaces a device that was dropped, unless the processor searches
    /// beside the devices.
    make_spare: Option<MakeSpare>,
    spare: OnceLock<Arc<dyn Engine>>,
}

/// What the engine shares with the threads that open devices.
struct Shared {
    /// The cards that are used, or were, in the order in which they joined.
    slots: RwLock<Vec<Arc<Slot>>>,
    /// The number of threads that list or open cards.
    opening: AtomicUsize,
    sizing: Sizing,
    /// What the processor does beside the devices.
    pace: Arc<Pace>,
    /// Messages about devices, until they are reported.
    notices: Mutex<Vec<Notice>>,
}

/// The work of a processor that searches beside devices.
#[derive(Default)]
pub(super) struct Pace {
    /// The number of its workers.
    pub(super) workers: AtomicUsize,
    /// The keys that they have tried.
    pub(super) keys: AtomicU64,
}

/// A card that is used, or was.
struct Slot {
    card: gpu::Card,
    joined: Instant,
    state: Mutex<State>,
    /// The number of workers that use it.
    workers: AtomicUsize,
}

enum State {
    Open(Arc<OpenCard>),
    /// It was dropped, and is opened again at a time.
    Closed {
        at: Instant,
        pause: Duration,
    },
    /// A thread opens it.
    Opening,
    /// It is too slow.
    Unused,
}

/// The comparison of a device with the threads of the processor: when it began, the keys of the device
/// since then, and those of the processor before.
struct Trial {
    began: Instant,
    keys: u64,
    of_processor: u64,
    is_over: bool,
}

/// A device, with its kernels and its tables.
struct OpenCard {
    name: String,
    pipeline: Pipeline,
    /// The most keys in a round. It shrinks if the device has no memory for so many.
    most: AtomicUsize,
    tables: Mutex<Tables>,
    /// The keys in the batch that a worker has adapted last.
    batch_keys: AtomicUsize,
    opened: Instant,
    /// How long the device was closed before.
    pause: Duration,
    trial: Mutex<Trial>,
}

struct Tables {
    tuner: Tuner,
    /// The table of each size that exists.
    each: Vec<Option<Arc<WindowTable>>>,
    /// Whether a worker makes a table.
    is_making: bool,
}

/// The reason why a device is dropped.
#[derive(Debug, Error)]
enum DropReason {
    #[error(transparent)]
    Call(#[from] GpuError),
    /// A key does not belong to its seed.
    #[error("it computed a wrong key")]
    WrongKey,
    /// The place of a survivor is outside the batch, or two survivors have the same place.
    #[error("it reported a position outside the batch, or the same position twice")]
    WrongPlace,
    /// The library has no such function, or failed in another way that it does not report.
    #[error("its library does not work")]
    Panic,
}

/// Builds the engine. It uses all GPUs, or the devices that `sizing` selects. It
/// uses a processor that OpenCL offers as a device only if it is selected, or if no graphics
/// processor exists.
pub(super) fn build(sizing: Sizing, make_spare: MakeSpare) -> Result<Arc<dyn Engine>, String> {
    let cards = gpu::cards().map_err(|error| error.to_string())?;
    let cards = chosen(cards, sizing.devices)?;
    Gpu::new(cards, sizing, make_spare).map(|gpu| Arc::new(gpu) as Arc<dyn Engine>)
}

/// Returns the cards that join a search of the processor: the GPUs, or the devices that
/// are selected. None, if no library finds a device.
pub(super) fn joining(devices: Devices) -> Result<Vec<gpu::Card>, String> {
    let mut cards = chosen(gpu::cards().unwrap_or_default(), devices)?;
    cards.retain(|card| devices != Devices::ALL || !card[0].is_processor());
    Ok(cards)
}

/// Always succeeds: the drivers are asked only when the engine is built.
pub(super) fn detect() -> Result<(), String> {
    Ok(())
}

/// Returns the names of all devices, in the order of their numbers, each with its place and its
/// memory.
pub(super) fn device_names() -> Result<Vec<String>, String> {
    let cards = gpu::cards().map_err(|error| error.to_string())?;
    Ok(cards.iter().map(|card| described(&*card[0])).collect())
}

/// Returns the name of a device, its place if that is known, and its memory.
fn described(device: &dyn Device) -> String {
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    let place = device.address().map(|address| format!(", {address}")).unwrap_or_default();
    let all = gib(device.memory());
    let memory = match device.free_memory() {
        Ok(Some(free)) => format!("{:.1} of {all:.1} GiB free", gib(free)),
        Ok(None) => format!("{all:.1} GiB"),
        Err(error) => error.to_string(),
    };
    format!("{}{place}, {memory}", device.name())
}

/// Returns whether the machine has a GPU.
pub(super) fn has_graphics() -> bool {
    gpu::cards().is_ok_and(|cards| cards.iter().any(|card| !card[0].is_processor()))
}

/// Returns the cards to use.
fn chosen(cards: Vec<gpu::Card>, asked: Devices) -> Result<Vec<gpu::Card>, String> {
    if let Some(missing) = asked.numbers().find(|number| *number >= cards.len()) {
        let name = |(number, card): (usize, &gpu::Card)| format!("{number}: {}", card[0].name());
        let names: Vec<String> = cards.iter().enumerate().map(name).collect();
        return Err(format!("device {missing} does not exist; found {}", names.join(", ")));
    }
    let is_graphics = |card: &gpu::Card| !card[0].is_processor();
    let has_graphics = cards.iter().any(is_graphics);
    let is_chosen = |(number, card): &(usize, gpu::Card)| match asked {
        Devices::ALL => is_graphics(card) || !has_graphics,
        asked => asked.numbers().any(|chosen| chosen == *number),
    };
    Ok(cards.into_iter().enumerate().filter(is_chosen).map(|(_, card)| card).collect())
}

impl Gpu {
    /// Makes the engine of the cards that pass their check. The others are reported, each in a
    /// notice.
    fn new(cards: Vec<gpu::Card>, sizing: Sizing, make_spare: MakeSpare) -> Result<Self, String> {
        let shared = Arc::new(Shared::new(sizing, Arc::default()));
        cards.into_iter().for_each(|card| drop(shared.join(card)));
        let gpu = Self { shared, make_spare: Some(make_spare), spare: OnceLock::new() };
        if gpu.joined() > 0 {
            return Ok(gpu);
        }
        let notices: Vec<String> = gpu.notices().into_iter().map(|notice| notice.text).collect();
        Err(if notices.is_empty() { "no device was found".to_owned() } else { notices.join("; ") })
    }

    /// Makes the engine of the cards that `list` returns. Lists and opens them in the background, so
    /// that each joins when it has passed its check. A device that is slower than half a thread of the
    /// processor is not kept.
    pub(super) fn joining(
        list: impl FnOnce() -> Result<Vec<gpu::Card>, String> + Send + 'static,
        sizing: Sizing,
        pace: Arc<Pace>,
    ) -> Self {
        let shared = Arc::new(Shared::new(sizing, pace));
        let all = Arc::clone(&shared);
        shared.in_background(move || match list() {
            Ok(cards) => {
                for card in cards {
                    let one = Arc::clone(&all);
                    all.in_background(move || {
                        if let Some(name) = one.join(card) {
                            one.tell(Notice::note(format!("the device '{name}' searches, too")));
                        }
                    });
                }
            }
            Err(why) => all.tell(Notice::warning(why)),
        });
        Self { shared, make_spare: None, spare: OnceLock::new() }
    }

    /// Returns the number of devices that have joined.
    pub(super) fn joined(&self) -> usize {
        self.shared.slots().len()
    }

    /// Returns a worker for the device with the fewest workers.
    fn gpu_worker(&self) -> GpuWorker<'_> {
        let fewest = self.shared.slots().iter().min_by_key(|slot| slot.workers.load(Relaxed)).map(Arc::clone);
        let slot = fewest.unwrap_or_else(|| unreachable!("there is a device"));
        slot.workers.fetch_add(1, Relaxed);
        GpuWorker { gpu: self, slot, device: None, spare: None }
    }

    /// Returns a worker of the processor for a device that is not open, if the processor does not
    /// search anyway.
    fn spare(&self) -> Option<Box<dyn Worker + '_>> {
        let make = self.make_spare?;
        Some(self.spare.get_or_init(|| make(self.shared.sizing)).worker())
    }

    /// Returns the devices that are used now.
    fn open_cards(&self) -> Vec<Arc<OpenCard>> {
        self.shared.slots().iter().filter_map(|slot| slot.open_card()).collect()
    }
}

impl Slot {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_card(&self) -> Option<Arc<OpenCard>> {
        match &*self.state() {
            State::Open(card) => Some(Arc::clone(card)),
            _ => None,
        }
    }

    /// Returns the name of the device, by the library that reaches it now.
    fn name(&self) -> String {
        self.open_card().map_or_else(|| self.card[0].name().to_owned(), |card| card.name.clone())
    }
}

impl Shared {
    fn new(sizing: Sizing, pace: Arc<Pace>) -> Self {
        let (slots, notices) = (RwLock::default(), Mutex::default());
        Self { slots, opening: AtomicUsize::new(0), sizing, pace, notices }
    }

    fn slots(&self) -> RwLockReadGuard<'_, Vec<Arc<Slot>>> {
        self.slots.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a card for the first time, and returns the name of the device. If no library can use it,
    /// reports why.
    fn join(&self, card: gpu::Card) -> Option<String> {
        let (opened, why) = OpenCard::by_any_library(&card, self.sizing, FIRST_PAUSE / 2);
        why.into_iter().for_each(|why| self.tell(Notice::warning(why)));
        let opened = Arc::new(opened?);
        let name = opened.name.clone();
        let (state, workers) = (Mutex::new(State::Open(opened)), AtomicUsize::new(0));
        let slot = Arc::new(Slot { card, joined: Instant::now(), state, workers });
        self.slots.write().unwrap_or_else(PoisonError::into_inner).push(slot);
        Some(name)
    }

    /// Returns the device of a slot, if it is open. Begins to open it again when that is due.
    fn card(self: &Arc<Self>, slot: &Arc<Slot>) -> Option<Arc<OpenCard>> {
        let mut state = slot.state();
        match *state {
            State::Open(ref card) => return Some(Arc::clone(card)),
            State::Closed { at, pause } if at <= Instant::now() => {
                *state = State::Opening;
                let (shared, slot) = (Arc::clone(self), Arc::clone(slot));
                self.in_background(move || shared.reopen(&slot, pause));
            }
            State::Closed { .. } | State::Opening | State::Unused => {}
        }
        None
    }

    /// Opens a device again, or sets a later time for that.
    fn reopen(&self, slot: &Slot, pause: Duration) {
        let (opened, _) = OpenCard::by_any_library(&slot.card, self.sizing, pause);
        let state = match opened {
            Some(card) => {
                self.tell(Notice::note(format!("the device '{}' is used again", card.name)));
                State::Open(Arc::new(card))
            }
            None => State::closed((2 * pause).min(LONGEST_PAUSE)),
        };
        *slot.state() = state;
    }

    /// Drops a device from the search, and reports that once.
    fn close(&self, slot: &Slot, card: &Arc<OpenCard>, then: State, why: &str) {
        let mut state = slot.state();
        if matches!(&*state, State::Open(open) if Arc::ptr_eq(open, card)) {
            *state = then;
            self.tell(Notice::warning(format!("the device '{}' is not used: {why}", card.name)));
        }
    }

    /// Counts the keys of a batch of a device. Returns whether it turns out to be slower than half a
    /// thread of the processor.
    fn is_slow(&self, card: &OpenCard, tried: u64) -> bool {
        let (threads, keys) = (self.pace.workers.load(Relaxed) as u64, self.pace.keys.load(Relaxed));
        let mut trial = card.trial.lock().unwrap_or_else(PoisonError::into_inner);
        if trial.is_over || trial.began.elapsed() < WARM_UP {
            trial.of_processor = keys;
            return false;
        }
        trial.keys += tried;
        trial.is_over = trial.began.elapsed() >= WARM_UP + TRIAL;
        let at_full_load = trial.keys * 100 / u64::from(self.sizing.device_load);
        trial.is_over && 2 * at_full_load * threads < keys - trial.of_processor
    }

    fn tell(&self, notice: Notice) {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
    }

    /// Runs `work` in a thread that nothing waits for.
    fn in_background(self: &Arc<Self>, work: impl FnOnce() + Send + 'static) {
        let shared = Arc::clone(self);
        shared.opening.fetch_add(1, Relaxed);
        IN_BACKGROUND.fetch_add(1, Relaxed);
        let started = std::thread::Builder::new().name("device".to_owned()).spawn(move || {
            // Nobody would see the panic of a library.
            let _ = catch_unwind(AssertUnwindSafe(work));
            shared.opening.fetch_sub(1, Relaxed);
            IN_BACKGROUND.fetch_sub(1, Relaxed);
        });
        if started.is_err() {
            self.opening.fetch_sub(1, Relaxed);
            IN_BACKGROUND.fetch_sub(1, Relaxed);
        }
    }
}

/// The number of threads that open devices.
static IN_BACKGROUND: AtomicUsize = AtomicUsize::new(0);

/// Ends the process. It does not wait for threads that open devices.
pub(super) fn exit(status: u8) -> ! {
    if IN_BACKGROUND.load(Relaxed) > 0 { gpu::leave(status) } else { std::process::exit(status.into()) }
}

impl State {
    fn closed(pause: Duration) -> Self {
        Self::Closed { at: Instant::now() + pause, pause }
    }
}

impl OpenCard {
    /// Opens a card by the first library that can use it. Returns why others cannot.
    fn by_any_library(card: &gpu::Card, sizing: Sizing, pause: Duration) -> (Option<Self>, Option<String>) {
        let mut why: Option<String> = None;
        for device in card {
            // A library that lacks a function panics.
            let open = AssertUnwindSafe(|| Self::new(&**device, sizing, pause));
            match catch_unwind(open).unwrap_or(Err(DropReason::Panic)) {
                Ok(open) => {
                    return (Some(open), why.map(|why| format!("{why}; '{}' is used", device.name())));
                }
                Err(reason) => {
                    let this = format!("the device '{}' is not used: {reason}", device.name());
                    why = Some(why.map_or(this.clone(), |others| format!("{others}; {this}")));
                }
            }
        }
        (None, why)
    }

    fn new(device: &dyn Device, sizing: Sizing, pause: Duration) -> Result<Self, DropReason> {
        let depth = if device.is_processor() { DEPTH_OF_PROCESSOR } else { DEPTH };
        let pipeline = Pipeline::new(device, depth)?;
        let free = device.free_memory()?.unwrap_or_else(|| device.memory());
        let (sizes, table) = first_table(&pipeline, sizes(device, free, sizing))?;
        let mut each = vec![None; sizes.len()];
        each[0] = Some(Arc::new(table));
        let share = (free / SHARE_OF_MEMORY).min(device.largest_memory()) / BYTES_OF_KEY;
        let unit = ITEMS * depth as usize;
        let most = (pipeline.keys_at_once().min(share as usize) / unit).max(1) * unit;
        let card = Self {
            name: device.name().to_owned(),
            pipeline,
            most: AtomicUsize::new(most),
            tables: Mutex::new(Tables { tuner: Tuner::new(sizes), each, is_making: false }),
            batch_keys: AtomicUsize::new(unit),
            opened: Instant::now(),
            pause,
            trial: Mutex::new(Trial { began: Instant::now(), keys: 0, of_processor: 0, is_over: false }),
        };
        card.check()?;
        Ok(card)
    }

    /// Returns how long the device is closed if it is dropped now. A device that is soon dropped again
    /// is opened more rarely.
    fn next_pause(&self) -> Duration {
        let is_soon = self.opened.elapsed() < LONGEST_PAUSE;
        if is_soon { (2 * self.pause).min(LONGEST_PAUSE) } else { FIRST_PAUSE }
    }

    /// Halves the most keys of a round, which were `most`, unless they were shrunk already. Returns
    /// false if there are no fewer.
    fn shrink(&self, most: usize) -> bool {
        let fewer = (most / 2 / self.unit()).max(1) * self.unit();
        let _ = self.most.compare_exchange(most, fewer, Relaxed, Relaxed);
        fewer < most
    }

    /// Returns the number of keys in the smallest batch.
    fn unit(&self) -> usize {
        ITEMS * self.pipeline.depth() as usize
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the table for the next batch, and its place among the sizes. Makes the table that the
    /// tuner wants to try, if no other worker makes one.
    fn table(&self) -> Result<(usize, Arc<WindowTable>), DropReason> {
        let wanted = {
            let mut tables = self.tables();
            if let Some(found) = tables.current() {
                return Ok(found);
            }
            if tables.is_making {
                return Ok(tables.best());
            }
            tables.is_making = true;
            tables.tuner.current()
        };
        let made = self.pipeline.table(self.tables().tuner.windows(wanted));
        let mut tables = self.tables();
        tables.is_making = false;
        match made {
            Ok(table) => tables.each[wanted] = Some(Arc::new(table)),
            Err(GpuError::WrongTable) => return Err(DropReason::Call(GpuError::WrongTable)),
            // The device has too little memory.
            Err(_) => tables.tuner.give_up(),
        }
        Ok(tables.current().unwrap_or_else(|| tables.best()))
    }

    /// Makes a queue with buffers for as many keys as the memory has room for.
    fn queue(&self) -> Result<BatchQueue, GpuError> {
        loop {
            let most = self.most.load(Relaxed);
            match self.pipeline.queue(most) {
                Err(GpuError::NoMemory) if self.shrink(most) => {}
                made => return made,
            }
        }
    }

    /// Compares all keys of two batches: one whose seeds the device computes, and one of known
    /// seeds.
    fn check(&self) -> Result<(), DropReason> {
        let (_, table) = self.tables().best();
        let mut queue = self.pipeline.queue(CHECKED.next_multiple_of(self.unit()))?;
        let key = [0x5a; 32];
        let first = u64::from(u32::MAX);
        queue.draw(&table, &key, first, queue.most(), 1)?;
        let mut seeds = vec![[0; 32]; queue.most()];
        ChaCha20::from_block(&key, first).fill(&mut seeds);
        compare(&mut queue, &seeds)?;
        let known = rfc8032_vectors::pairs().map(|(seed, _)| seed);
        let seeds: Vec<_> = known.into_iter().cycle().take(self.unit()).collect();
        queue.take(&table, &seeds)?;
        compare(&mut queue, &seeds)
    }
}

impl Tables {
    /// Returns the table that the tuner wants, if it exists.
    fn current(&self) -> Option<(usize, Arc<WindowTable>)> {
        let current = self.tuner.current();
        self.each[current].as_ref().map(|table| (current, Arc::clone(table)))
    }

    /// Returns the fastest table so far.
    fn best(&self) -> (usize, Arc<WindowTable>) {
        let best = self.tuner.best();
        let table = self.each[best].as_ref().unwrap_or_else(|| unreachable!("the best size has a table"));
        (best, Arc::clone(table))
    }

    /// Counts a batch. Drops the tables that will not be used again.
    fn count(&mut self, size: usize, keys: usize) {
        if self.tuner.count(size, keys, Instant::now()) {
            for (size, table) in self.each.iter_mut().enumerate() {
                if !self.tuner.needs(size) {
                    *table = None;
                }
            }
        }
    }
}

/// Returns the numbers of windows that a device may use, the first one to begin with.
fn sizes(device: &dyn Device, free: u64, sizing: Sizing) -> Vec<usize> {
    let share = (free / SHARE_OF_TABLE).min(device.largest_memory()) as usize;
    let most = sizing.table_memory.unwrap_or(usize::MAX).min(share);
    if let Some(windows) = sizing.windows {
        return vec![windows];
    }
    let usual = if device.is_processor() { &[WINDOWS_OF_PROCESSOR][..] } else { &TUNED };
    let fits = |windows: &usize| WindowTable::bytes(*windows) <= most;
    let sizes: Vec<usize> = usual.iter().copied().filter(fits).collect();
    if sizes.is_empty() {
        return vec![WINDOWS.into_iter().find(fits).unwrap_or(*WINDOWS.end())];
    }
    sizes
}

/// Makes the first table of `sizes`. If the memory has no room for it, makes a smaller one, which is
/// then the only one.
fn first_table(pipeline: &Pipeline, sizes: Vec<usize>) -> Result<(Vec<usize>, WindowTable), GpuError> {
    let mut windows = sizes[0];
    loop {
        match pipeline.table(windows) {
            Ok(table) if windows == sizes[0] => return Ok((sizes, table)),
            Ok(table) => return Ok((vec![windows], table)),
            Err(GpuError::NoMemory) if windows < *WINDOWS.end() => {
                windows = (windows + windows / 4).min(*WINDOWS.end());
            }
            Err(error) => return Err(error),
        }
    }
}

/// Checks that the keys of the last batch belong to `seeds`.
fn compare(queue: &mut BatchQueue, seeds: &[[u8; 32]]) -> Result<(), DropReason> {
    let keys = queue.keys()?;
    let right =
        seeds.iter().zip(&keys).all(|(seed, key)| without_sign(reference::public_key(seed).0) == *key);
    if right { Ok(()) } else { Err(DropReason::WrongKey) }
}

impl Engine for Gpu {
    fn name(&self) -> &'static str {
        GPU
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(self.gpu_worker())
    }

    /// With pauses, only one batch is in flight on a device.
    fn workers(&self, _: usize) -> usize {
        let of_each = if self.shared.sizing.device_load < 100 { 1 } else { WORKERS };
        of_each * self.joined()
    }

    fn is_settled(&self) -> bool {
        let is_settled = |card: &Arc<OpenCard>| card.tables().tuner.is_settled();
        self.shared.opening.load(Relaxed) == 0 && self.open_cards().iter().all(is_settled)
    }

    fn devices(&self) -> Vec<UsedDevice> {
        let used = |slot: &Arc<Slot>| UsedDevice { name: slot.name(), since: slot.joined };
        self.shared.slots().iter().map(used).collect()
    }

    /// Returns the settings of the first device that is still used.
    fn tuning(&self) -> Option<Tuning> {
        let card = self.open_cards().into_iter().next()?;
        let tables = card.tables();
        let windows = tables.tuner.windows(tables.tuner.best());
        let batch_keys = card.batch_keys.load(Relaxed);
        Some(Tuning::without_prefetch(windows, WindowTable::bytes(windows), batch_keys))
    }

    fn notices(&self) -> Vec<Notice> {
        std::mem::take(&mut *self.shared.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The state of one thread that keeps a device busy.
struct GpuWorker<'a> {
    gpu: &'a Gpu,
    slot: Arc<Slot>,
    /// What it has on the device, while that is open.
    device: Option<OnDevice>,
    /// The worker that replaces this one while the device is not open.
    spare: Option<Box<dyn Worker + 'a>>,
}

impl Drop for GpuWorker<'_> {
    fn drop(&mut self) {
        self.slot.workers.fetch_sub(1, Relaxed);
    }
}

impl Worker for GpuWorker<'_> {
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
        let (before, shared) = (hits.len(), &self.gpu.shared);
        if let Some(card) = shared.card(&self.slot) {
            self.spare = None;
            let is_same = |device: &OnDevice| Arc::ptr_eq(&device.card, &card);
            let device = self.device.take().filter(is_same);
            let device = self.device.insert(device.unwrap_or_else(|| OnDevice::new(Arc::clone(&card))));
            let began = Instant::now();
            match device.batch(matcher, seeds, hits) {
                Ok(tried) => {
                    std::thread::sleep(pause_after(began.elapsed(), shared.sizing.device_load));
                    if shared.is_slow(&card, tried) {
                        let why = "it is slower than half a thread of the processor";
                        shared.close(&self.slot, &card, State::Unused, why);
                    }
                    return tried;
                }
                Err(reason) => {
                    hits.truncate(before);
                    let why = format!("{reason}; it is tried again later");
                    shared.close(&self.slot, &card, State::closed(card.next_pause()), &why);
                }
            }
        }
        self.device = None;
        self.spare = self.spare.take().or_else(|| self.gpu.spare());
        match &mut self.spare {
            Some(spare) => spare.batch(matcher, seeds, hits),
            None => {
                std::thread::sleep(WAIT);
                0
            }
        }
    }
}

/// Returns how long a device pauses after a batch, to work for `load` percent of the time. The end of a
/// search may wait for that, so a batch that took long has no longer pause.
fn pause_after(took: Duration, load: u8) -> Duration {
    took.min(BATCH_TIME).mul_f64(100.0 / f64::from(load) - 1.0)
}

/// What a worker has on a device.
struct OnDevice {
    card: Arc<OpenCard>,
    /// The buffers, from the first batch on.
    queue: Option<BatchQueue>,
    /// The keys in the next batch.
    keys: usize,
    /// Whether so many keys survive that a batch may have one round only.
    is_dense: bool,
    /// The number of the matcher whose filter the device has.
    filter: Option<u64>,
    /// The seeds of a source that gives no key.
    seeds: Vec<[u8; 32]>,
}

impl OnDevice {
    fn new(card: Arc<OpenCard>) -> Self {
        let keys = card.unit();
        Self { card, queue: None, keys, is_dense: false, filter: None, seeds: Vec::new() }
    }

    /// Runs a batch. If the memory has no room for it, runs a smaller one.
    fn batch(
        &mut self,
        matcher: &Matcher,
        seeds: &mut dyn SeedSource,
        hits: &mut Vec<Hit>,
    ) -> Result<u64, DropReason> {
        let before = hits.len();
        loop {
            let began = Instant::now();
            let mut queue = match self.queue.take() {
                Some(queue) => queue,
                None => self.card.queue()?,
            };
            match self.run(&mut queue, matcher, seeds, hits) {
                Ok(tried) => {
                    self.adapt(began.elapsed(), queue.most());
                    self.queue = Some(queue);
                    return Ok(tried);
                }
                Err(DropReason::Call(GpuError::NoMemory)) if self.card.shrink(queue.most()) => {
                    hits.truncate(before);
                    (self.filter, self.keys) = (None, self.card.unit());
                }
                Err(reason) => return Err(reason),
            }
        }
    }

    fn run(
        &mut self,
        queue: &mut BatchQueue,
        matcher: &Matcher,
        seeds: &mut dyn SeedSource,
        hits: &mut Vec<Hit>,
    ) -> Result<u64, DropReason> {
        let (size, table) = self.card.table()?;
        if self.filter != Some(matcher.number()) {
            queue.set_filter(&matcher.device_filter().words())?;
            self.filter = Some(matcher.number());
            self.is_dense = false;
        }
        let tried = match seeds.key() {
            Some(key) => {
                self.draw(queue, &table, &key, matcher, hits)?;
                self.card.tables().count(size, self.keys);
                self.keys
            }
            None => {
                self.seeds.resize(self.card.unit(), [0; 32]);
                seeds.fill(&mut self.seeds);
                queue.take(&table, &self.seeds)?;
                let survivors = queue.survivors()?;
                let survivors = survivors.map_or_else(|| all(queue, 0), Ok)?;
                prove(matcher, survivors, self.seeds.len(), |place| Seed::new(self.seeds[place]), hits)?;
                wipe(&mut self.seeds);
                self.card.unit()
            }
        };
        Ok(tried as u64)
    }

    /// Runs a batch whose seeds are the stream of `key`.
    fn draw(
        &mut self,
        queue: &mut BatchQueue,
        table: &WindowTable,
        key: &[u8; 32],
        matcher: &Matcher,
        hits: &mut Vec<Hit>,
    ) -> Result<(), DropReason> {
        let total = self.keys.min(queue.most());
        let rounds = self.keys / total;
        queue.draw(table, key, 0, total, rounds)?;
        let seed = |place| seed_at(key, place);
        if let Some(survivors) = queue.survivors()? {
            return prove(matcher, survivors, self.keys, seed, hits);
        }
        // The host tests all keys, round by round.
        self.is_dense = true;
        for round in 0..rounds {
            let first = round * total;
            if rounds > 1 {
                queue.draw(table, key, first as u64 / 2, total, 1)?;
            }
            prove(matcher, all(queue, first)?, self.keys, seed, hits)?;
        }
        Ok(())
    }

    /// Adapts the size of the next batch to the time of the last one. A batch that fills the device
    /// consists of whole rounds.
    fn adapt(&mut self, took: Duration, round: usize) {
        let unit = self.card.unit();
        if took > BATCH_TIME {
            self.keys /= 2;
        } else if took < BATCH_TIME / 2 {
            self.keys *= 2;
        }
        let most = if self.is_dense { round } else { MOST_KEYS };
        let of = if self.keys < round { unit } else { round };
        self.keys = (self.keys.min(most) / of).max(1) * of;
        self.card.batch_keys.store(self.keys, Relaxed);
    }
}

/// Returns all keys of the last round of a batch, which begins at place `first`.
fn all(queue: &mut BatchQueue, first: usize) -> Result<Vec<Survivor>, GpuError> {
    Ok((first..).zip(queue.keys()?).collect())
}

/// Returns the seed at a place of the stream under the key of a batch.
fn seed_at(key: &[u8; 32], place: usize) -> Seed {
    let mut block = Zeroizing::new([[0; 32]; 2]);
    ChaCha20::from_block(key, place as u64 / 2).fill(&mut *block);
    Seed::new(block[place % 2])
}

/// Derives each survivor of a batch of `total` keys from its seed, and adds those that match to
/// `hits`.
fn prove(
    matcher: &Matcher,
    mut survivors: Vec<Survivor>,
    total: usize,
    seed: impl Fn(usize) -> Seed,
    hits: &mut Vec<Hit>,
) -> Result<(), DropReason> {
    survivors.sort_unstable_by_key(|(place, _)| *place);
    let is_in_batch = survivors.last().is_none_or(|(place, _)| *place < total);
    if !is_in_batch || survivors.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(DropReason::WrongPlace);
    }
    let (places, keys): (Vec<usize>, Vec<[u8; 32]>) = survivors.into_iter().unzip();
    for at in batch::candidates(LANES, matcher, &keys, &mut Vec::new()) {
        let seed = seed(places[at]);
        let public_key = reference::public_key(seed.bytes());
        if without_sign(public_key.0) != keys[at] {
            return Err(DropReason::WrongKey);
        }
        if matcher.is_match(&public_key.bytes(matcher.target())) {
            hits.push(Hit { index: places[at] as u64, seed, public_key, has_sign: true });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
