//! The GPU engine: batches of up to millions of keys on every graphics processor, whose few survivors are proved here.
//!
//! A worker draws a key from its seeds for every batch; the device takes the batch's seeds from ChaCha20 under it, and nothing else ever
//! does. What passes the device's filter ([`crate::pattern::DeviceFilter`]) comes back with its place, from which its seed is
//! derived once more. A survivor that curve25519-dalek does not derive from it, and a call that fails, cost the device its place in the
//! search: it is reported by name, and the fastest engine of the processor goes on in its stead.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use super::names::GPU;
use super::sizing::{Devices, Sizing};
use super::worker::{Engine, Hit, SeedSource, Worker};
use super::{batch, reference, self_test};
use crate::curve::{Portable, Table, numbers_of_edwards};
use crate::gpu::{self, BatchQueue, Device, GpuError, Pipeline, Settings, Survivors};
use crate::hash::chacha::ChaCha20;
use crate::key::{Seed, rfc8032_vectors};
use crate::notice::Notice;
use crate::pattern::{DeviceFilter, Matcher};
use crate::simd::{CacheLine, Scalar};
use crate::sys::wipe;
use crate::wire::without_sign;

/// The memory for tables unless another is allowed: digits of 16 bits, as large second-level caches hold them. A processor that
/// OpenCL makes a device has smaller caches, digits of 14 bits.
const TABLE_MEMORY: usize = 44 << 20;
const TABLE_MEMORY_OF_PROCESSOR: usize = 15 << 20;

/// The numbers of windows worth having: tables from 475 MB to 24 KB.
const WINDOWS: RangeInclusive<usize> = 13..=126;

/// Keys that share an inversion: more would save less than 4 % of the products.
const DEPTH: u32 = 32;

/// Work items in the smallest batch.
const ITEMS: usize = 64;

/// Keys in the largest batch: a third of a gigabyte for each worker.
const MOST_KEYS: usize = 1 << 22;

/// The share of a device's memory that each worker may take, and the bytes that it takes for each key.
const SHARE_OF_MEMORY: u64 = 16;
const BYTES_OF_KEY: u64 = 66;

/// Batches grow until they take half of this time, and shrink when they take more: screens stay responsive, and so does Ctrl-C.
const BATCH_TIME: Duration = Duration::from_millis(50);

/// Workers of a device: while the host looks at the survivors of one, the other has the device.
const WORKERS: usize = 2;

/// Keys of a device's first batch, which are all compared: one for each of 2^11 seeds.
const CHECKED: usize = 1 << 11;

/// Makes the engine that goes on in the stead of a device that fails.
type MakeSpare = fn(Sizing) -> Box<dyn Engine>;

/// The engine of all devices that are used.
pub(super) struct Gpu {
    cards: Vec<Card>,
    sizing: Sizing,
    /// What goes on in the stead of a device that was dropped.
    spare: OnceLock<Box<dyn Engine>>,
    make_spare: MakeSpare,
    /// Which devices are not used, and why; not yet told.
    notes: Mutex<Vec<String>>,
}

/// A device with its kernels and its table.
struct Card {
    name: String,
    pipeline: Pipeline,
    /// The most keys in a batch.
    most: usize,
    /// Workers that use it.
    workers: AtomicUsize,
    dropped: AtomicBool,
}

/// Why a device is dropped.
#[derive(Debug)]
enum Fault {
    /// A call failed.
    Call(GpuError),
    /// A key was another one than its seed's.
    WrongKey,
    /// A survivor's place lies outside the batch, or came twice.
    WrongPlace,
}

impl From<GpuError> for Fault {
    fn from(error: GpuError) -> Self {
        Self::Call(error)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Call(error) => write!(f, "{error}"),
            Self::WrongKey => write!(f, "it computed a wrong key"),
            Self::WrongPlace => write!(f, "it named a place that is not in the batch, or one twice"),
        }
    }
}

/// Graphics processors; a processor that OpenCL makes a device only where there is nothing else, or if it is named.
pub(super) fn build(sizing: Sizing, make_spare: MakeSpare) -> Result<Box<dyn Engine>, String> {
    let devices = gpu::devices().map_err(|error| error.to_string())?;
    let chosen = chosen(&devices, sizing.devices)?;
    Gpu::new(devices, &chosen, sizing, make_spare).map(|gpu| Box::new(gpu) as Box<dyn Engine>)
}

/// Drivers and devices are only asked when it is built.
pub(super) fn detect() -> Result<(), String> {
    Ok(())
}

/// Returns the names of all devices, in the order of their numbers.
pub(super) fn device_names() -> Result<Vec<String>, String> {
    let devices = gpu::devices().map_err(|error| error.to_string())?;
    Ok(devices.iter().map(|device| device.name().to_owned()).collect())
}

/// Whether there is a graphics processor.
pub(super) fn is_there() -> bool {
    gpu::devices().is_ok_and(|devices| devices.iter().any(|device| !device.is_processor()))
}

/// The same without processors, after its self-test. `None` if there is nothing else.
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

/// The numbers of the devices that are used.
fn chosen(devices: &[Box<dyn Device>], asked: Devices) -> Result<Vec<usize>, String> {
    let all = 0..devices.len();
    if let Some(missing) = asked.numbers().find(|number| *number >= devices.len()) {
        let names: Vec<String> = (0..)
            .zip(devices)
            .map(|(number, device): (usize, _)| format!("{number}: {}", device.name()))
            .collect();
        return Err(format!("there is no device {missing}, but {}", names.join(", ")));
    }
    if asked != Devices::ALL {
        return Ok(asked.numbers().collect());
    }
    let graphics: Vec<usize> = all.clone().filter(|&number| !devices[number].is_processor()).collect();
    Ok(if graphics.is_empty() { all.collect() } else { graphics })
}

impl Gpu {
    /// The devices with these numbers that pass their check. Those that fail are reported.
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
                Err(fault) => notes.push(not_used(device.name(), &fault)),
            }
        }
        if cards.is_empty() {
            return Err(if notes.is_empty() { "there is no device".to_owned() } else { notes.join("; ") });
        }
        Ok(Self { cards, sizing, spare: OnceLock::new(), make_spare, notes: Mutex::new(notes) })
    }

    /// The fastest engine of the processor.
    fn spare(&self) -> &dyn Engine {
        &**self.spare.get_or_init(|| (self.make_spare)(self.sizing))
    }

    /// A worker for the device that has the fewest.
    fn on_card(&self) -> GpuWorker<'_> {
        let free = |card: &&Card| card.workers.load(Relaxed);
        let card = self.cards.iter().min_by_key(free).unwrap_or_else(|| unreachable!("there is a device"));
        card.workers.fetch_add(1, Relaxed);
        GpuWorker {
            gpu: self,
            card,
            line: None,
            keys: card.unit(),
            filter: None,
            seeds: Vec::new(),
            spare: None,
        }
    }

    /// Takes a device out of the search, and says so once.
    fn drop_card(&self, card: &Card, fault: &Fault) {
        if !card.dropped.swap(true, Relaxed) {
            self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(not_used(&card.name, fault));
        }
    }
}

fn not_used(name: &str, fault: &Fault) -> String {
    format!("the device '{name}' is not used: {fault}")
}

impl Card {
    fn new(device: &dyn Device, sizing: Sizing) -> Result<Self, Fault> {
        let usual = if device.is_processor() { TABLE_MEMORY_OF_PROCESSOR } else { TABLE_MEMORY };
        let most = sizing.table_memory.unwrap_or(usual);
        let windows = WINDOWS.into_iter().find(|&windows| table_bytes(windows) <= most);
        let pipeline = pipeline(device, windows.unwrap_or(*WINDOWS.end()), DEPTH)?;
        let share = device.memory() / SHARE_OF_MEMORY / BYTES_OF_KEY;
        let unit = ITEMS * DEPTH as usize;
        let most = (MOST_KEYS.min(share as usize) / unit).max(1) * unit;
        let card = Self {
            name: device.name().to_owned(),
            pipeline,
            most,
            workers: AtomicUsize::new(0),
            dropped: AtomicBool::new(false),
        };
        card.check()?;
        Ok(card)
    }

    /// Keys in the smallest batch.
    fn unit(&self) -> usize {
        ITEMS * self.pipeline.depth() as usize
    }

    /// Compares all keys of a first batch, whose seeds the device draws, and those of known seeds.
    fn check(&self) -> Result<(), Fault> {
        let mut line = self.pipeline.line(CHECKED.next_multiple_of(self.unit()))?;
        let key = [0x5a; 32];
        let first = u64::from(u32::MAX);
        line.draw(&key, first, line.most())?;
        let mut seeds = vec![[0; 32]; line.most()];
        ChaCha20::from_block(&key, first).fill(Scalar::detect(), &mut seeds);
        compare(&mut line, &seeds)?;
        let known = rfc8032_vectors::pairs().map(|(seed, _)| seed);
        let seeds: Vec<_> = known.into_iter().cycle().take(self.unit()).collect();
        line.take(&seeds)?;
        compare(&mut line, &seeds)
    }
}

/// A device with its kernels and the table of so many windows, where `depth` keys share an inversion.
///
/// # Errors
///
/// The device fails, or has too little memory.
pub fn pipeline(device: &dyn Device, windows: usize, depth: u32) -> Result<Pipeline, GpuError> {
    let table = Table::new(Portable(Scalar::detect()), windows);
    let numbers = table.layout().iter().map(|window| [window.start, window.index_bits, window.first]);
    let settings = Settings {
        windows: numbers.map(|numbers| numbers.map(|number| number as u32)).collect(),
        depth,
        filter_numbers: DeviceFilter::NUMBERS.to_vec(),
    };
    let first = table.layout()[1].first as u32;
    Pipeline::new(device, &settings, table.rows(), first, numbers_of_edwards().map(|number| number.0))
}

/// The bytes of the table of so many windows on a device.
fn table_bytes(windows: usize) -> usize {
    Table::bytes(windows) / size_of::<CacheLine>() * Pipeline::BYTES_OF_ENTRY
}

/// Whether the keys of a batch are those of these seeds.
fn compare(line: &mut BatchQueue, seeds: &[[u8; 32]]) -> Result<(), Fault> {
    let keys = line.keys()?;
    let right =
        seeds.iter().zip(&keys).all(|(seed, key)| without_sign(reference::public_key(seed).0) == *key);
    if right { Ok(()) } else { Err(Fault::WrongKey) }
}

impl Engine for Gpu {
    fn name(&self) -> &'static str {
        GPU
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(self.on_card())
    }

    fn workers(&self, _: usize) -> usize {
        WORKERS * self.cards.len()
    }

    fn notices(&self) -> Vec<Notice> {
        let notes = std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner));
        notes.into_iter().map(Notice::warning).collect()
    }
}

/// One thread that keeps a device busy.
struct GpuWorker<'a> {
    gpu: &'a Gpu,
    card: &'a Card,
    /// Its buffers there, from the first batch on.
    line: Option<BatchQueue<'a>>,
    /// Keys in the next batch.
    keys: usize,
    /// The matcher whose filter the device has.
    filter: Option<u64>,
    /// Seeds that were given.
    seeds: Vec<[u8; 32]>,
    /// What works in its stead, once the device is dropped.
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
            match self.on_card(matcher, seeds, hits) {
                Ok(tried) => {
                    self.adapt(began.elapsed());
                    return tried;
                }
                Err(fault) => self.gpu.drop_card(self.card, &fault),
            }
        }
        hits.truncate(before);
        self.line = None;
        self.spare.insert(self.gpu.spare().worker()).batch(matcher, seeds, hits)
    }
}

impl GpuWorker<'_> {
    fn on_card(
        &mut self,
        matcher: &Matcher,
        seeds: &mut dyn SeedSource,
        hits: &mut Vec<Hit>,
    ) -> Result<u64, Fault> {
        let mut line = match self.line.take() {
            Some(line) => line,
            None => self.card.pipeline.line(self.card.most)?,
        };
        if self.filter != Some(matcher.number()) {
            line.set_filter(&matcher.device_filter().words())?;
            self.filter = Some(matcher.number());
        }
        let tried = match seeds.key() {
            Some(key) => {
                line.draw(&key, 0, self.keys)?;
                let survivors = line.survivors()?;
                prove(matcher, survivors, self.keys, |place| seed_at(&key, place), hits)?;
                self.keys
            }
            None => {
                self.seeds.resize(self.card.unit(), [0; 32]);
                seeds.fill(&mut self.seeds);
                line.take(&self.seeds)?;
                let survivors = line.survivors()?;
                prove(matcher, survivors, self.seeds.len(), |place| Seed::new(self.seeds[place]), hits)?;
                wipe(&mut self.seeds);
                self.card.unit()
            }
        };
        self.line = Some(line);
        Ok(tried as u64)
    }

    /// The size of the next batch, after one that took so long.
    fn adapt(&mut self, took: Duration) {
        if took > BATCH_TIME {
            self.keys = (self.keys / 2).max(self.card.unit());
        } else if took < BATCH_TIME / 2 {
            self.keys = (self.keys * 2).min(self.card.most);
        }
        self.keys -= self.keys % self.card.unit();
    }
}

/// The seed at a place of the stream under a batch's key.
fn seed_at(key: &[u8; 32], place: usize) -> Seed {
    let mut block = Zeroizing::new([[0; 32]; 2]);
    ChaCha20::from_block(key, place as u64 / 2).fill(Scalar::plain(), &mut *block);
    Seed::new(block[place % 2])
}

/// Claims those survivors of a batch of `total` keys that match, each derived once more from its seed.
fn prove(
    matcher: &Matcher,
    survivors: Survivors,
    total: usize,
    seed: impl Fn(usize) -> Seed,
    hits: &mut Vec<Hit>,
) -> Result<(), Fault> {
    let (places, keys) = match survivors {
        Survivors::Some(mut some) => {
            some.sort_unstable_by_key(|(place, _)| *place);
            let is_in_batch = some.last().is_none_or(|(place, _)| *place < total);
            if !is_in_batch || some.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                return Err(Fault::WrongPlace);
            }
            some.into_iter().unzip()
        }
        Survivors::All(keys) => ((0..keys.len()).collect::<Vec<_>>(), keys),
    };
    for at in batch::candidates(Scalar::detect(), matcher, &keys, &mut [Vec::new(), Vec::new()]) {
        let seed = seed(places[at]);
        let public_key = reference::public_key(seed.bytes());
        if without_sign(public_key.0) != keys[at] {
            return Err(Fault::WrongKey);
        }
        if matcher.is_match(&public_key.bytes(matcher.target())) {
            hits.push(Hit { index: places[at] as u64, seed, public_key, has_sign: true });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
