//! A worker: one thread that keeps a device busy.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use ed25519_batch::simd::{InstructionSet, Scalar};
use zeroize::Zeroizing;

use super::open_card::OpenCard;
use super::slots::Slot;
use super::{DropReason, Gpu};
use crate::chacha::ChaCha20;
use crate::engine::traits::{EngineWorker, Hit, SeedSource};
use crate::engine::{batch, reference};
use crate::gpu::{BatchQueue, GpuError, Survivor, WindowTable};
use crate::key::Seed;
use crate::pattern::Matcher;
use crate::wire::without_sign;

/// What the host computes with. It tests few keys, and detection would take longer.
const LANES: InstructionSet = InstructionSet::Scalar(Scalar::plain());

pub(super) const MOST_KEYS: usize = 1 << 31;

/// Batches grow until they take half of this time, and shrink when they take more. So screens stay
/// responsive, and Ctrl-C works quickly. The size is not tuned: a launch takes some microseconds,
/// and another batch is in flight, so a longer batch gains less than a measurement can show.
pub(super) const BATCH_TIME: Duration = Duration::from_millis(50);

/// How long a worker waits at a time while its device is not open.
const WAIT: Duration = Duration::from_millis(20);

/// The state of one thread that keeps a device busy.
pub(super) struct GpuWorker<'a> {
    gpu: &'a Gpu,
    slot: Arc<Slot>,
    /// What it has on the device, while that is open.
    device: Option<OnDevice>,
    /// The worker of the CPU that replaces this one while the device is not open.
    spare: Option<Box<dyn EngineWorker + 'a>>,
}

impl<'a> GpuWorker<'a> {
    pub(super) fn new(gpu: &'a Gpu, slot: Arc<Slot>) -> Self {
        slot.workers.fetch_add(1, Relaxed);
        Self { gpu, slot, device: None, spare: None }
    }
}

impl Drop for GpuWorker<'_> {
    fn drop(&mut self) {
        self.slot.workers.fetch_sub(1, Relaxed);
    }
}

impl EngineWorker for GpuWorker<'_> {
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
        let (before, slots) = (hits.len(), &self.gpu.slots);
        if let Some(card) = slots.card(&self.slot) {
            self.spare = None;
            let is_same = |device: &OnDevice| Arc::ptr_eq(&device.card, &card);
            let device = self.device.take().filter(is_same);
            let device = self.device.insert(device.unwrap_or_else(|| OnDevice::new(Arc::clone(&card))));
            let began = Instant::now();
            match device.batch(matcher, seeds, hits) {
                Ok(tried) => {
                    std::thread::sleep(pause_after(began.elapsed(), slots.options.device_load));
                    if slots.is_slow(&card, tried) {
                        slots.drop_card(&self.slot, &card, &DropReason::Slow);
                    }
                    return tried;
                }
                Err(reason) => {
                    hits.truncate(before);
                    slots.drop_card(&self.slot, &card, &reason);
                }
            }
        }
        self.device = None;
        let Some(spare) = &self.gpu.spare else {
            std::thread::sleep(WAIT);
            return 0;
        };
        self.spare.get_or_insert_with(|| spare.worker()).batch(matcher, seeds, hits)
    }
}

/// Returns how long a device pauses after a batch, to work for `load` percent of the time. The end of a
/// search may wait for that, so a batch that took long has no longer pause.
pub(super) fn pause_after(took: Duration, load: u8) -> Duration {
    took.min(BATCH_TIME).mul_f64(100.0 / f64::from(load) - 1.0)
}

/// What a worker has on a device.
pub(super) struct OnDevice {
    card: Arc<OpenCard>,
    /// The buffers, from the first batch on.
    queue: Option<BatchQueue>,
    /// The keys in the next batch.
    pub(super) keys: usize,
    /// Whether so many keys survive that a batch may have one round only.
    pub(super) is_dense: bool,
    /// The number of the matcher whose filter the device has.
    filter: Option<u64>,
}

impl OnDevice {
    pub(super) fn new(card: Arc<OpenCard>) -> Self {
        let keys = card.unit();
        Self { card, queue: None, keys, is_dense: false, filter: None }
    }

    /// Runs a batch. If the memory has no room for it, runs a smaller one.
    pub(super) fn batch(
        &mut self,
        matcher: &Matcher,
        seeds: &mut dyn SeedSource,
        hits: &mut Vec<Hit>,
    ) -> Result<u64, DropReason> {
        loop {
            let began = Instant::now();
            let most = self.queue.as_ref().map_or_else(|| self.card.most.load(Relaxed), BatchQueue::most);
            let queue = self.queue.take().map_or_else(|| self.card.pipeline.queue(most), Ok);
            let ran = queue.map_err(DropReason::Call).and_then(|mut queue| {
                let tried = self.run(&mut queue, matcher, seeds, hits)?;
                Ok((tried, queue))
            });
            match ran {
                Ok((tried, queue)) => {
                    self.adapt(began.elapsed(), most);
                    self.queue = Some(queue);
                    return Ok(tried as u64);
                }
                Err(DropReason::Call(GpuError::NoMemory)) if self.card.shrink(most) => {
                    (self.filter, self.keys) = (None, self.card.unit());
                }
                Err(reason) => return Err(reason),
            }
        }
    }

    /// Runs a batch of seeds from the stream of a key, or of the seeds of a source that gives no key.
    /// Returns the number of keys. Adds no hits if a call fails.
    fn run(
        &mut self,
        queue: &mut BatchQueue,
        matcher: &Matcher,
        seeds: &mut dyn SeedSource,
        hits: &mut Vec<Hit>,
    ) -> Result<usize, DropReason> {
        let table = self.card.table()?;
        if self.filter != Some(matcher.number()) {
            queue.set_filter(&matcher.device_filter().words())?;
            self.filter = Some(matcher.number());
            self.is_dense = false;
        }
        let Some(key) = seeds.key() else {
            self.keys = self.card.unit();
            let mut given = Zeroizing::new(vec![[0; 32]; self.keys]);
            seeds.fill(&mut given);
            queue.take(&table, &given)?;
            let survivors = queue.survivors()?.unwrap_or_else(|| unreachable!("the batch has one round"));
            prove(matcher, survivors, self.keys, |place| Seed::new(given[place]), hits)?;
            return Ok(self.keys);
        };
        let survivors = self.draw(queue, &table, &key)?;
        prove(matcher, survivors, self.keys, |place| seed_at(&key, place), hits)?;
        self.card.tables().count(&table, self.keys);
        Ok(self.keys)
    }

    /// Runs a batch whose seeds are the stream of `key`. If more keys survive than the device has room
    /// for, runs its first round alone, of which it returns all keys.
    fn draw(
        &mut self,
        queue: &mut BatchQueue,
        table: &WindowTable,
        key: &[u8; 32],
    ) -> Result<Vec<Survivor>, GpuError> {
        loop {
            let total = self.keys.min(queue.most());
            queue.draw(table, key, 0, total, self.keys / total)?;
            if let Some(survivors) = queue.survivors()? {
                return Ok(survivors);
            }
            self.is_dense = true;
            self.keys = total;
        }
    }

    /// Adapts the size of the next batch to the time of the last one. A batch that fills the device
    /// consists of whole rounds.
    pub(super) fn adapt(&mut self, took: Duration, round: usize) {
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
    for at in batch::matching(LANES, matcher, &keys, &mut Vec::new()) {
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
