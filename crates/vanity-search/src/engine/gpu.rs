//! The GPU engine: batches of up to millions of keys on every GPU. The few survivors
//! are proved on the host.
//!
//! A worker takes a new key from its seed source for every batch. The device computes the seeds of
//! the batch as the ChaCha20 stream of this key, which has no other use. The device returns each
//! key that passes its filter ([`crate::pattern::DeviceFilter`]) with its place in the batch. The
//! host derives the seed at this place again. If curve25519-dalek does not derive the same key from
//! that seed, or if a call fails, the device is dropped from the search. A notice names it, and the
//! fastest engine of the CPU replaces it. A card that one library cannot use is tried by the next.
//!
//! A round of a batch fills the device exactly: as many work items as it runs at the same time. A
//! batch is as many rounds as take about 50 ms. Each device has two workers, so it has the next
//! batch while the host proves the survivors of the last one. It also has a ladder of tables of its
//! own, which finds the fastest one for its caches and its memory during the search.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `cards` | the choice of devices |
//! | `slots` | cards that join a search, are dropped from it, and come back |
//! | `open_card` | a card with its kernels, its tables and its check |
//! | `worker` | batches, and the proof of survivors |

mod cards;
mod open_card;
mod slots;
mod worker;

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};

use thiserror::Error;

pub(super) use self::cards::{device_names, has_gpu, joining};
use self::open_card::OpenCard;
pub(super) use self::slots::Pace;
use self::slots::{Slot, Slots};
use self::worker::GpuWorker;
use super::traits::{Engine, EngineOptions, EngineWorker, GPU, Tuning, UsedDevice};
use crate::gpu::{self, Card, GpuError, WindowTable};
use crate::notice::Notice;

/// The workers of a device. While the host tests the survivors of one worker, the other one uses
/// the device.
const WORKERS: usize = 2;

/// The engine of all devices that are used.
pub(super) struct Gpu {
    slots: Arc<Slots>,
    /// The engine that replaces devices that were dropped, unless the CPU searches beside them.
    spare: Option<Spare>,
}

/// An engine of the CPU that is built when it is needed.
struct Spare {
    make: fn(EngineOptions) -> Arc<dyn Engine>,
    options: EngineOptions,
    engine: OnceLock<Arc<dyn Engine>>,
}

impl Spare {
    fn worker(&self) -> Box<dyn EngineWorker + '_> {
        self.engine.get_or_init(|| (self.make)(self.options)).worker()
    }
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
    #[error("it is slower than half a thread of the CPU")]
    Slow,
}

/// Builds the engine of the chosen devices. `make_spare` makes the engine that replaces a device that
/// fails.
pub(super) fn build(
    options: EngineOptions,
    make_spare: fn(EngineOptions) -> Arc<dyn Engine>,
) -> Result<Arc<dyn Engine>, String> {
    let cards = gpu::cards().map_err(|error| error.to_string())?;
    let cards = cards::chosen(cards, options.devices)?;
    Gpu::new(cards, options, make_spare).map(|gpu| Arc::new(gpu) as Arc<dyn Engine>)
}

/// Always succeeds: the drivers are asked only when the engine is built.
pub(super) fn detect() -> Result<(), String> {
    Ok(())
}

impl Gpu {
    /// Makes the engine of the cards that pass their check. The others are reported, each in a
    /// notice.
    fn new(
        cards: Vec<Card>,
        options: EngineOptions,
        make: fn(EngineOptions) -> Arc<dyn Engine>,
    ) -> Result<Self, String> {
        let slots = Slots::new(options, None);
        cards.into_iter().for_each(|card| slots.join(card));
        if slots.each().is_empty() {
            let why: Vec<String> = slots.take_notices().into_iter().map(|notice| notice.text).collect();
            return Err(if why.is_empty() { "no device was found".to_owned() } else { why.join("; ") });
        }
        Ok(Self { slots, spare: Some(Spare { make, options, engine: OnceLock::new() }) })
    }

    /// Makes the engine of the cards that `list` returns, which join a search of the CPU. Lists and opens
    /// them in the background. A device that is slower than half a thread of the CPU is not kept.
    pub(super) fn joining(
        list: impl FnOnce() -> Result<Vec<Card>, String> + Send + 'static,
        options: EngineOptions,
        pace: Arc<Pace>,
    ) -> Self {
        let slots = Slots::new(options, Some(pace));
        slots.join_later(list);
        Self { slots, spare: None }
    }

    /// Returns the number of devices that have joined.
    pub(super) fn joined(&self) -> usize {
        self.slots.each().len()
    }

    /// Returns the devices that are used now.
    fn open_cards(&self) -> Vec<Arc<OpenCard>> {
        self.slots.each().iter().filter_map(|slot| slot.open_card()).collect()
    }
}

impl Engine for Gpu {
    fn name(&self) -> &'static str {
        GPU
    }

    /// Returns a worker for the device with the fewest workers.
    fn worker(&self) -> Box<dyn EngineWorker + '_> {
        let fewest = self.slots.each().iter().min_by_key(|slot| slot.workers.load(Relaxed)).map(Arc::clone);
        let slot = fewest.unwrap_or_else(|| unreachable!("there is a device"));
        Box::new(GpuWorker::new(self, slot))
    }

    /// With pauses, only one batch is in flight on a device.
    fn workers(&self, _: usize) -> usize {
        let of_each = if self.slots.options.device_load < 100 { 1 } else { WORKERS };
        of_each * self.joined()
    }

    fn is_settled(&self) -> bool {
        let is_settled = |card: &Arc<OpenCard>| card.tables().ladder.is_settled();
        !self.slots.is_opening() && self.open_cards().iter().all(is_settled)
    }

    fn devices(&self) -> Vec<UsedDevice> {
        let used = |slot: &Arc<Slot>| UsedDevice { name: slot.name(), since: slot.joined };
        self.slots.each().iter().map(used).collect()
    }

    /// Returns the settings of the first device that is still used.
    fn tuning(&self) -> Option<Tuning> {
        let card = self.open_cards().into_iter().next()?;
        let windows = card.tables().ladder.best();
        let batch_keys = card.batch_keys.load(Relaxed);
        Some(Tuning::without_prefetch(windows, WindowTable::bytes(windows), batch_keys))
    }

    fn notices(&self) -> Vec<Notice> {
        self.slots.take_notices()
    }
}

#[cfg(test)]
mod tests;
