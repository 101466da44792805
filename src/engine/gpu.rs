//! The GPU engine: batches of up to millions of keys on every graphics processor. The few survivors
//! are proved on the host.
//!
//! A worker takes a new key from its seed source for every batch. The device computes the seeds of
//! the batch as the ChaCha20 stream of this key, which has no other use. The device returns each
//! key that passes its filter ([`crate::pattern::DeviceFilter`]) with its place in the batch. The
//! host derives the seed at this place again. If curve25519-dalek does not derive the same key from
//! that seed, or if a call fails, the device is dropped from the search. A notice names it, and the
//! fastest engine of the processor replaces it.
//!
//! A round of a batch fills the device exactly: as many work items as it runs at the same time. A
//! batch is as many rounds as take about 50 ms. Each device has two workers, so it has the next
//! batch while the host proves the survivors of the last one. It also has a tuner of its own, which
//! finds the fastest table for its caches and its memory during the search.

mod tuner;

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use ed25519_batch::memory::wipe;
use ed25519_batch::simd::{InstructionSet, Scalar};
use ed25519_batch::{ChaCha20, rfc8032_vectors};
use thiserror::Error;
use zeroize::Zeroizing;

use self::tuner::Tuner;
use super::interface::{Devices, Engine, GPU, Hit, SeedSource, Sizing, Tuning, Worker};
use super::{batch, reference, self_test};
use crate::gpu::{self, BatchQueue, Device, GpuError, Pipeline, Settings, Survivor, WindowTable};
use crate::key::Seed;
use crate::notice::Notice;
use crate::pattern::{DeviceFilter, Matcher};
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

/// The part of a device's memory that a table may take.
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

/// The part of a device's memory that each worker may take (one sixteenth), and the bytes for each
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

/// Makes the engine that replaces a device that fails.
type MakeSpare = fn(Sizing) -> Box<dyn Engine>;

/// The engine of all devices that are used.
pub(super) struct Gpu {
    cards: Vec<Card>,
    sizing: Sizing,
    /// The engine that replaces a device that was dropped.
    spare: OnceLock<Box<dyn Engine>>,
    make_spare: MakeSpare,
    /// Messages about devices that are not used, until they are reported.
    notes: Mutex<Vec<String>>,
}

/// A device, with its kernels and its tables.
struct Card {
    name: String,
    pipeline: Pipeline,
    /// The most keys in a round.
    most: usize,
    tables: Mutex<Tables>,
    /// The number of workers that use the device.
    workers: AtomicUsize,
    /// The keys in the batch that a worker has adapted last.
    batch_keys: AtomicUsize,
    dropped: AtomicBool,
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
}

/// Builds the engine. It uses all graphics processors, or the devices that `sizing` selects. It
/// uses a processor that OpenCL offers as a device only if it is selected, or if no graphics
/// processor exists.
pub(super) fn build(sizing: Sizing, make_spare: MakeSpare) -> Result<Box<dyn Engine>, String> {
    let devices = gpu::devices().map_err(|error| error.to_string())?;
    let chosen = chosen(&devices, sizing.devices)?;
    Gpu::new(devices, &chosen, sizing, make_spare).map(|gpu| Box::new(gpu) as Box<dyn Engine>)
}

/// Always succeeds: the drivers are asked only when the engine is built.
pub(super) fn detect() -> Result<(), String> {
    Ok(())
}

/// Returns the names of all devices, in the order of their numbers.
pub(super) fn device_names() -> Result<Vec<String>, String> {
    let devices = gpu::devices().map_err(|error| error.to_string())?;
    Ok(devices.iter().map(|device| device.name().to_owned()).collect())
}

/// Returns whether the machine has a graphics processor.
pub(super) fn has_graphics() -> bool {
    gpu::devices().is_ok_and(|devices| devices.iter().any(|device| !device.is_processor()))
}

/// Builds the engine with graphics processors alone, and runs its self-test. `None` if the machine
/// has no graphics processor.
pub(super) fn build_graphics(
    sizing: Sizing,
    make_spare: MakeSpare,
) -> Option<Result<Box<dyn Engine>, String>> {
    let mut devices = gpu::devices().ok()?;
    devices.retain(|device| !device.is_processor());
    if devices.is_empty() {
        return None;
    }
    let chosen: Vec<usize> = (0..devices.len()).collect();
    Some(Gpu::new(devices, &chosen, sizing, make_spare).and_then(|gpu| {
        let why = "it computed a wrong key in its self-test and is not used";
        if self_test::passes(&gpu) { Ok(Box::new(gpu) as Box<dyn Engine>) } else { Err(why.to_owned()) }
    }))
}

/// Returns the numbers of the devices to use.
fn chosen(devices: &[Box<dyn Device>], asked: Devices) -> Result<Vec<usize>, String> {
    let all = 0..devices.len();
    if let Some(missing) = asked.numbers().find(|number| *number >= devices.len()) {
        let names: Vec<String> = (0..)
            .zip(devices)
            .map(|(number, device): (usize, _)| format!("{number}: {}", device.name()))
            .collect();
        return Err(format!("device {missing} does not exist; found {}", names.join(", ")));
    }
    if asked != Devices::ALL {
        return Ok(asked.numbers().collect());
    }
    let graphics: Vec<usize> = all.clone().filter(|&number| !devices[number].is_processor()).collect();
    Ok(if graphics.is_empty() { all.collect() } else { graphics })
}

impl Gpu {
    /// Makes the engine of the chosen devices that pass their check. The others are reported, each
    /// in a notice.
    fn new(
        devices: Vec<Box<dyn Device>>,
        chosen: &[usize],
        sizing: Sizing,
        make_spare: MakeSpare,
    ) -> Result<Self, String> {
        let (mut cards, mut notes) = (Vec::new(), Vec::new());
        for &number in chosen {
            let device = &*devices[number];
            match Card::new(device, sizing) {
                Ok(card) => cards.push(card),
                Err(reason) => notes.push(not_used(device.name(), &reason)),
            }
        }
        if cards.is_empty() {
            return Err(if notes.is_empty() { "no device was found".to_owned() } else { notes.join("; ") });
        }
        Ok(Self { cards, sizing, spare: OnceLock::new(), make_spare, notes: Mutex::new(notes) })
    }

    /// Returns the fastest engine of the processor.
    fn spare(&self) -> &dyn Engine {
        &**self.spare.get_or_init(|| (self.make_spare)(self.sizing))
    }

    /// Returns a worker for the device with the fewest workers.
    fn gpu_worker(&self) -> GpuWorker<'_> {
        let free = |card: &&Card| card.workers.load(Relaxed);
        let card = self.cards.iter().min_by_key(free).unwrap_or_else(|| unreachable!("there is a device"));
        card.workers.fetch_add(1, Relaxed);
        GpuWorker {
            gpu: self,
            card,
            queue: None,
            keys: card.unit(),
            is_dense: false,
            filter: None,
            seeds: Vec::new(),
            spare: None,
        }
    }

    /// Drops a device from the search, and reports that once.
    fn drop_card(&self, card: &Card, reason: &DropReason) {
        if !card.dropped.swap(true, Relaxed) {
            self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(not_used(&card.name, reason));
        }
    }
}

fn not_used(name: &str, reason: &DropReason) -> String {
    format!("the device '{name}' is not used: {reason}")
}

impl Card {
    fn new(device: &dyn Device, sizing: Sizing) -> Result<Self, DropReason> {
        let depth = if device.is_processor() { DEPTH_OF_PROCESSOR } else { DEPTH };
        let pipeline = pipeline(device, depth)?;
        let sizes = sizes(device, sizing);
        let mut each = vec![None; sizes.len()];
        each[0] = Some(Arc::new(pipeline.table(sizes[0])?));
        let share = (device.memory() / SHARE_OF_MEMORY).min(device.largest_memory()) / BYTES_OF_KEY;
        let unit = ITEMS * depth as usize;
        let most = (pipeline.keys_at_once().min(share as usize) / unit).max(1) * unit;
        let card = Self {
            name: device.name().to_owned(),
            pipeline,
            most,
            tables: Mutex::new(Tables { tuner: Tuner::new(sizes), each, is_making: false }),
            workers: AtomicUsize::new(0),
            batch_keys: AtomicUsize::new(unit),
            dropped: AtomicBool::new(false),
        };
        card.check()?;
        Ok(card)
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

    /// Compares all keys of two batches: one whose seeds the device computes, and one of known
    /// seeds.
    fn check(&self) -> Result<(), DropReason> {
        let (_, table) = self.tables().best();
        let mut queue = self.pipeline.queue(CHECKED.next_multiple_of(self.unit()))?;
        let key = [0x5a; 32];
        let first = u64::from(u32::MAX);
        queue.draw(&table, &key, first, queue.most(), 1)?;
        let mut seeds = vec![[0; 32]; queue.most()];
        ChaCha20::from_block(&key, first).fill(LANES, &mut seeds);
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
fn sizes(device: &dyn Device, sizing: Sizing) -> Vec<usize> {
    let share = (device.memory() / SHARE_OF_TABLE).min(device.largest_memory()) as usize;
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

/// Builds the kernels of a device, where `depth` keys share an inversion.
///
/// # Errors
///
/// Returns an error if the device fails, or has too little memory.
pub fn pipeline(device: &dyn Device, depth: u32) -> Result<Pipeline, GpuError> {
    Pipeline::new(device, &settings(depth))
}

/// Returns the numbers that the kernels are compiled with.
#[must_use]
pub fn settings(depth: u32) -> Settings {
    Settings { depth, filter_numbers: DeviceFilter::NUMBERS.to_vec() }
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

    fn workers(&self, _: usize) -> usize {
        WORKERS * self.cards.len()
    }

    fn is_settled(&self) -> bool {
        let is_settled = |card: &Card| card.dropped.load(Relaxed) || card.tables().tuner.is_settled();
        self.cards.iter().all(is_settled)
    }

    /// Returns the settings of the first device that is still used.
    fn tuning(&self) -> Option<Tuning> {
        let card = self.cards.iter().find(|card| !card.dropped.load(Relaxed))?;
        let tables = card.tables();
        let windows = tables.tuner.windows(tables.tuner.best());
        let batch_keys = card.batch_keys.load(Relaxed);
        Some(Tuning::without_prefetch(windows, WindowTable::bytes(windows), batch_keys))
    }

    fn notices(&self) -> Vec<Notice> {
        let notes = std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner));
        notes.into_iter().map(Notice::warning).collect()
    }
}

/// The state of one thread that keeps a device busy.
struct GpuWorker<'a> {
    gpu: &'a Gpu,
    card: &'a Card,
    /// The buffers on the device, from the first batch on.
    queue: Option<BatchQueue<'a>>,
    /// The keys in the next batch.
    keys: usize,
    /// Whether so many keys survive that a batch may have one round only.
    is_dense: bool,
    /// The number of the matcher whose filter the device has.
    filter: Option<u64>,
    /// The seeds of a source that gives no key.
    seeds: Vec<[u8; 32]>,
    /// The worker that replaces this one once the device is dropped.
    spare: Option<Box<dyn Worker + 'a>>,
}

impl Drop for GpuWorker<'_> {
    fn drop(&mut self) {
        self.card.workers.fetch_sub(1, Relaxed);
    }
}

impl Worker for GpuWorker<'_> {
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
        if let Some(spare) = &mut self.spare {
            return spare.batch(matcher, seeds, hits);
        }
        let before = hits.len();
        if !self.card.dropped.load(Relaxed) {
            let began = Instant::now();
            match self.run_on_device(matcher, seeds, hits) {
                Ok(tried) => {
                    self.adapt(began.elapsed());
                    return tried;
                }
                Err(reason) => self.gpu.drop_card(self.card, &reason),
            }
        }
        hits.truncate(before);
        self.queue = None;
        self.spare.insert(self.gpu.spare().worker()).batch(matcher, seeds, hits)
    }
}

impl<'a> GpuWorker<'a> {
    fn run_on_device(
        &mut self,
        matcher: &Matcher,
        seeds: &mut dyn SeedSource,
        hits: &mut Vec<Hit>,
    ) -> Result<u64, DropReason> {
        let card = self.card;
        let (size, table) = card.table()?;
        let mut queue = match self.queue.take() {
            Some(queue) => queue,
            None => card.pipeline.queue(card.most)?,
        };
        if self.filter != Some(matcher.number()) {
            queue.set_filter(&matcher.device_filter().words())?;
            self.filter = Some(matcher.number());
            self.is_dense = false;
        }
        let tried = match seeds.key() {
            Some(key) => {
                self.draw(&mut queue, &table, &key, matcher, hits)?;
                card.tables().count(size, self.keys);
                self.keys
            }
            None => {
                self.seeds.resize(card.unit(), [0; 32]);
                seeds.fill(&mut self.seeds);
                queue.take(&table, &self.seeds)?;
                let survivors = queue.survivors()?;
                let survivors = survivors.map_or_else(|| all(&mut queue, 0), Ok)?;
                prove(matcher, survivors, self.seeds.len(), |place| Seed::new(self.seeds[place]), hits)?;
                wipe(&mut self.seeds);
                card.unit()
            }
        };
        self.queue = Some(queue);
        Ok(tried as u64)
    }

    /// Runs a batch whose seeds are the stream of `key`.
    fn draw(
        &mut self,
        queue: &mut BatchQueue<'a>,
        table: &WindowTable,
        key: &[u8; 32],
        matcher: &Matcher,
        hits: &mut Vec<Hit>,
    ) -> Result<(), DropReason> {
        let total = self.keys.min(self.card.most);
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
    fn adapt(&mut self, took: Duration) {
        let (unit, round) = (self.card.unit(), self.card.most);
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
    ChaCha20::from_block(key, place as u64 / 2).fill(LANES, &mut *block);
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
