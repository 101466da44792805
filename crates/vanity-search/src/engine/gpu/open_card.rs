//! A card with its kernels and its tables.

use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ed25519_batch::{Ladder, Schedule, rfc8032_vectors};

use super::DropReason;
use crate::chacha::ChaCha20;
use crate::engine::reference;
use crate::engine::traits::EngineOptions;
use crate::gpu::{BatchQueue, Card, Device, GpuError, Pipeline, WindowTable};
use crate::wire::without_sign;

/// The numbers of windows of the ladder, from a table of 56 MB to one of 24 GB. A large
/// second-level cache holds the first of them.
const TUNED: [usize; 4] = [16, 13, 11, 10];

/// The numbers of windows that can be chosen by the memory that they take.
const WINDOWS: RangeInclusive<usize> = 10..=126;

/// The windows of a CPU that OpenCL offers as a device: 5 MB.
pub(super) const WINDOWS_OF_CPU: usize = 21;

/// The part of a device's free memory that a table may take.
const SHARE_OF_TABLE: u64 = 3;

/// The number of keys that share an inversion. With half as many, a key would cost two products
/// more, of 80. Twice as many save one product, and take twice the memory. Each depth needs kernels of
/// its own, which take seconds to compile, so it is not tuned. A CPU gains less from it, and its
/// batches would take too long.
const DEPTH: u32 = 128;
const DEPTH_OF_CPU: u32 = 16;

/// Some batches of each turn fill the caches, and some more count. Nothing is compared again, because
/// a table can take a third of the memory.
pub(super) const SCHEDULE: Schedule = Schedule { turn: [Duration::from_millis(150); 2], rests: None };

/// The part of a device's free memory that each worker may take (one sixteenth), and the bytes for each
/// key of a round.
const SHARE_OF_MEMORY: u64 = 16;
const BYTES_OF_KEY: u64 = 67;

/// The keys of a device's first batch. The host compares all of them.
const CHECKED: usize = 1 << 11;

/// A card that is open.
pub(super) struct OpenCard {
    /// The name of the device, by the library that reaches it.
    pub(super) name: String,
    pub(super) pipeline: Pipeline,
    /// The most keys in a round. It shrinks if the device has no memory for so many.
    pub(super) most: AtomicUsize,
    tables: Mutex<Tables>,
    /// The keys in the batch that a worker has adapted last.
    pub(super) batch_keys: AtomicUsize,
    /// All keys that it has tried beside the CPU, when that began, and the keys of the CPU before.
    pub(super) keys: AtomicU64,
    pub(super) trial: Mutex<Option<(Instant, u64)>>,
}

pub(super) struct Tables {
    pub(super) ladder: Ladder,
    /// The tables that exist.
    pub(super) each: Vec<WindowTable>,
    /// Whether a worker makes a table.
    is_making: bool,
    /// When the device was opened, and the time from then to the end of the last batch.
    opened: Instant,
    last: Duration,
}

impl OpenCard {
    /// Opens a card by the first library that can use it. Returns why others cannot, or no text.
    pub(super) fn by_any_library(card: &Card, options: EngineOptions) -> (Option<Self>, String) {
        let mut why = Vec::new();
        for device in card {
            // A library that lacks a function panics.
            let open = AssertUnwindSafe(|| Self::new(&**device, options));
            match catch_unwind(open).unwrap_or(Err(DropReason::Panic)) {
                Ok(open) if why.is_empty() => return (Some(open), String::new()),
                Ok(open) => return (Some(open), format!("{}; '{}' is used", why.join("; "), device.name())),
                Err(reason) => why.push(format!("the device '{}' is not used: {reason}", device.name())),
            }
        }
        (None, why.join("; "))
    }

    fn new(device: &dyn Device, options: EngineOptions) -> Result<Self, DropReason> {
        let depth = if device.is_cpu() { DEPTH_OF_CPU } else { DEPTH };
        let pipeline = Pipeline::new(device, depth)?;
        let free = device.free_memory()?.unwrap_or_else(|| device.memory());
        let (sizes, table) = first_table(&pipeline, sizes(device, free, options))?;
        let share = (free / SHARE_OF_MEMORY).min(device.largest_memory()) / BYTES_OF_KEY;
        let unit = pipeline.keys_of_group();
        let most = (pipeline.keys_at_once().min(share as usize) / unit).max(1) * unit;
        let card = Self {
            name: device.name().to_owned(),
            pipeline,
            most: AtomicUsize::new(most),
            tables: Mutex::new(Tables::new(sizes, table)),
            batch_keys: AtomicUsize::new(unit),
            keys: AtomicU64::new(0),
            trial: Mutex::new(None),
        };
        card.check()?;
        Ok(card)
    }

    /// Halves the most keys of a round, which were `most`, unless they were shrunk already. Returns
    /// false if there are no fewer.
    pub(super) fn shrink(&self, most: usize) -> bool {
        let fewer = (most / 2 / self.unit()).max(1) * self.unit();
        let _ = self.most.compare_exchange(most, fewer, Relaxed, Relaxed);
        fewer < most
    }

    /// Returns the number of keys in the smallest batch.
    pub(super) fn unit(&self) -> usize {
        self.pipeline.keys_of_group()
    }

    pub(super) fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the table for the next batch. Makes the one that is missing, if no other worker makes
    /// one.
    pub(super) fn table(&self) -> Result<WindowTable, DropReason> {
        let mut tables = self.tables();
        let missing = tables.missing().filter(|_| !tables.is_making);
        let Some(windows) = missing else { return Ok(tables.current()) };
        tables.is_making = true;
        drop(tables);
        let made = self.pipeline.table(windows);
        let mut tables = self.tables();
        tables.is_making = false;
        match made {
            Ok(table) => tables.each.push(table),
            Err(GpuError::WrongTable) => return Err(GpuError::WrongTable.into()),
            // The device has too little memory.
            Err(_) => {
                let now = tables.opened.elapsed();
                tables.ladder.give_up(now);
            }
        }
        tables.missing();
        Ok(tables.current())
    }

    /// Compares all keys of two batches: one whose seeds the device computes, and one of known
    /// seeds.
    fn check(&self) -> Result<(), DropReason> {
        let table = self.tables().current();
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

/// Checks that the keys of the last batch belong to `seeds`.
fn compare(queue: &mut BatchQueue, seeds: &[[u8; 32]]) -> Result<(), DropReason> {
    let keys = queue.keys()?;
    let right =
        seeds.iter().zip(&keys).all(|(seed, key)| without_sign(reference::public_key(seed).0) == *key);
    if right { Ok(()) } else { Err(DropReason::WrongKey) }
}

impl Tables {
    fn new(sizes: Vec<usize>, first: WindowTable) -> Self {
        let (ladder, opened) = (Ladder::new(sizes, SCHEDULE), Instant::now());
        Self { ladder, each: vec![first], is_making: false, opened, last: Duration::ZERO }
    }

    /// Returns the number of windows of the table that must be made, if there is one.
    fn missing(&mut self) -> Option<usize> {
        let exists = |windows| self.each.iter().any(|table| table.windows() == windows);
        self.ladder.missing(self.opened.elapsed(), exists)
    }

    /// Returns the table to use now.
    fn current(&self) -> WindowTable {
        let windows = self.ladder.current();
        let table = self.each.iter().find(|table| table.windows() == windows);
        table.unwrap_or_else(|| unreachable!("the tables that take turns exist")).clone()
    }

    /// Counts a batch that ended now. Drops the tables that are not needed.
    pub(super) fn count(&mut self, table: &WindowTable, keys: usize) {
        let now = self.opened.elapsed();
        let time = now.saturating_sub(std::mem::replace(&mut self.last, now));
        // A batch that began in an earlier turn does not count.
        if table.windows() == self.ladder.current() {
            self.ladder.count(keys, time, now);
        }
        self.each.retain(|table| self.ladder.needs(table.windows()));
    }
}

/// Returns the numbers of windows that a device may use, the first one to begin with.
fn sizes(device: &dyn Device, free: u64, options: EngineOptions) -> Vec<usize> {
    if let Some(windows) = options.windows {
        return vec![windows];
    }
    let share = (free / SHARE_OF_TABLE).min(device.largest_memory()) as usize;
    let most = options.table_memory.unwrap_or(usize::MAX).min(share);
    let fits = |windows: &usize| WindowTable::bytes(*windows) <= most;
    let usual = if device.is_cpu() { &[WINDOWS_OF_CPU][..] } else { &TUNED };
    let sizes: Vec<usize> = usual.iter().copied().filter(fits).collect();
    if sizes.is_empty() { vec![WINDOWS.into_iter().find(fits).unwrap_or(*WINDOWS.end())] } else { sizes }
}

/// Makes the first table of `sizes`. If the memory has no room for it, makes a smaller one, which is
/// then the only one.
fn first_table(pipeline: &Pipeline, mut sizes: Vec<usize>) -> Result<(Vec<usize>, WindowTable), GpuError> {
    loop {
        match pipeline.table(sizes[0]) {
            Err(GpuError::NoMemory) if sizes[0] < *WINDOWS.end() => {
                sizes = vec![(sizes[0] + sizes[0] / 4).min(*WINDOWS.end())];
            }
            made => return made.map(|table| (sizes, table)),
        }
    }
}
