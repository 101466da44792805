//! What a device computes for a search, kernel after kernel.

use zeroize::Zeroizing;

use super::device::{Arg, Device, GpuError, Memory, Program, Queue, Resources, Settings};
use super::source;
use crate::simd::CacheLine;

/// Words of an element, a key, a seed, a scalar.
const WORDS: usize = 8;

/// Words of an entry of the table: three elements.
const ENTRY: usize = 3 * WORDS;

/// Entries of the table that share an inversion while it is made.
const SHARE: u32 = 16;

/// Words of a survivor: its place and its key.
pub(super) const SURVIVOR: usize = 1 + WORDS;

/// One in so many keys may survive the filter before all of them are read instead.
const SURVIVORS: usize = 64;

/// A device with its kernels and its table.
pub struct Pipeline {
    program: Box<dyn Program>,
    table: Memory,
    depth: u32,
}

impl Pipeline {
    /// The bytes of an entry of the table.
    pub const BYTES_OF_ENTRY: usize = 4 * ENTRY;

    /// Compiles the kernels and makes the table of `rows`: points in short Weierstrass form as `kernel/point.cl` describes them,
    /// `first` of them in the first window. `numbers` are -A/3, c and 2d.
    ///
    /// # Errors
    ///
    /// The device fails, or has too little memory.
    pub(crate) fn new(
        device: &dyn Device,
        settings: &Settings,
        rows: &[CacheLine],
        first: u32,
        numbers: [[u64; 4]; 3],
    ) -> Result<Self, GpuError> {
        let program = device.compile(settings)?;
        let mut queue = program.queue()?;
        let rows: &[u32] = bytemuck::cast_slice(rows);
        let count = rows.len() / (2 * WORDS);
        let given = queue.memory(rows.len())?;
        let table = queue.memory(count * ENTRY)?;
        let constants = queue.memory(3 * WORDS)?;
        queue.write(&given, rows)?;
        queue.write(&constants, bytemuck::cast_slice(numbers.as_flattened()))?;
        let items = (count as u32).div_ceil(SHARE);
        let args = [
            Arg::Memory(&given),
            Arg::Memory(&table),
            Arg::Word(count as u32),
            Arg::Word(first),
            Arg::Memory(&constants),
            Arg::Word(items),
        ];
        // SAFETY: `count` rows and entries, three numbers; the queue waits.
        unsafe { queue.launch("convert", items as usize, &args) }?;
        queue.wait()?;
        Ok(Self { program, table, depth: settings.depth })
    }

    /// Keys of a work item.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// What a kernel needs, where the compiler tells.
    #[must_use]
    pub fn resources(&self, kernel: &str) -> Option<Resources> {
        self.program.resources(kernel)
    }

    /// What one thread needs for batches of up to `most` keys.
    ///
    /// # Errors
    ///
    /// The device fails, or has too little memory.
    pub fn line(&self, most: usize) -> Result<BatchQueue<'_>, GpuError> {
        let mut queue = self.program.queue()?;
        let room = most.div_ceil(SURVIVORS);
        Ok(BatchQueue {
            scalars: queue.memory(most * WORDS)?,
            keys: queue.memory(most * WORDS)?,
            survivors: queue.memory(1 + room * SURVIVOR)?,
            place: queue.memory(PLACE)?,
            sums: queue.memory(2 * most.div_ceil(self.depth as usize))?,
            filter: None,
            pipeline: self,
            queue,
            most,
            room,
            total: 0,
        })
    }
}

/// Words of a place in a stream: a key, and the number of a block.
const PLACE: usize = WORDS + 2;

/// One thread's buffers on a device, for one batch after the other. What was secret is overwritten on drop.
pub struct BatchQueue<'a> {
    pipeline: &'a Pipeline,
    queue: Box<dyn Queue>,
    /// Seeds, then scalars, then denominators.
    scalars: Memory,
    keys: Memory,
    survivors: Memory,
    place: Memory,
    sums: Memory,
    filter: Option<Memory>,
    most: usize,
    room: usize,
    /// Keys of the batch.
    total: usize,
}

/// The keys of a batch that may match, the sign of x left 0.
pub enum Survivors {
    /// These, each with its place in the batch.
    Some(Vec<(usize, [u8; 32])>),
    /// More than there was room for: all keys of the batch.
    All(Vec<[u8; 32]>),
}

impl BatchQueue<'_> {
    /// The most keys of a batch.
    #[must_use]
    pub fn most(&self) -> usize {
        self.most
    }

    /// The public keys of the first `total` seeds of the stream of ChaCha20 under `key` from block `first` on.
    ///
    /// # Errors
    ///
    /// The device fails.
    ///
    /// # Panics
    ///
    /// `total` is not even, no multiple of the depth, or more than there is room for.
    pub fn draw(&mut self, key: &[u8; 32], first: u64, total: usize) -> Result<(), GpuError> {
        self.begin(total);
        let mut place = Zeroizing::new([0; PLACE]);
        for (word, bytes) in place.iter_mut().zip(key.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        place[WORDS..].copy_from_slice(&[first as u32, (first >> 32) as u32]);
        self.queue.write(&self.place, &*place)?;
        let args = [Arg::Memory(&self.scalars), Arg::Word(total as u32), Arg::Memory(&self.place)];
        // SAFETY: there is room for `total` scalars, and a place.
        unsafe { self.queue.launch("draw", total / 2, &args) }?;
        self.derive()
    }

    /// The public keys of these seeds.
    ///
    /// # Errors
    ///
    /// The device fails.
    ///
    /// # Panics
    ///
    /// Their number is no multiple of the depth, or more than there is room for.
    pub fn take(&mut self, seeds: &[[u8; 32]]) -> Result<(), GpuError> {
        let total = seeds.len();
        self.begin(total);
        let mut words = Zeroizing::new(vec![0; total * WORDS]);
        for (at, seed) in seeds.iter().enumerate() {
            for (word, bytes) in seed.as_chunks().0.iter().enumerate() {
                words[word * total + at] = u32::from_le_bytes(*bytes);
            }
        }
        self.queue.write(&self.scalars, &words)?;
        let args = [Arg::Memory(&self.scalars), Arg::Word(total as u32)];
        // SAFETY: there is room for `total` seeds.
        unsafe { self.queue.launch("take", total, &args) }?;
        self.derive()
    }

    fn begin(&mut self, total: usize) {
        let depth = self.pipeline.depth as usize;
        assert!(total <= self.most && total.is_multiple_of(depth), "{total} of {} keys", self.most);
        self.total = total;
    }

    fn derive(&mut self) -> Result<(), GpuError> {
        let (keys, table) = (Arg::Memory(&self.keys), Arg::Memory(&self.pipeline.table));
        let args = [Arg::Memory(&self.scalars), keys, Arg::Word(self.total as u32), table];
        // SAFETY: there is room for `total` scalars and keys, and digits stay within the table that was made for them.
        unsafe { self.queue.launch("derive", self.total / self.pipeline.depth as usize, &args) }
    }

    /// What [`Self::survivors`] lets through from now on: the words of a filter.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub(crate) fn set_filter(&mut self, words: &[u32]) -> Result<(), GpuError> {
        let memory = self.queue.memory(words.len())?;
        self.queue.write(&memory, words)?;
        self.filter = Some(memory);
        Ok(())
    }

    /// The keys of the batch that pass the filter; all of them before there is one.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn survivors(&mut self) -> Result<Survivors, GpuError> {
        let Some(filter) = &self.filter else { return Ok(Survivors::All(self.keys()?)) };
        self.queue.write(&self.survivors, &[0])?;
        let args = [
            Arg::Memory(&self.keys),
            Arg::Word(self.total as u32),
            Arg::Memory(filter),
            Arg::Memory(&self.survivors),
            Arg::Word(self.room as u32),
        ];
        // SAFETY: there are `total` keys and room for `room` survivors; a filter's places lie within its words.
        unsafe { self.queue.launch("search", self.total, &args) }?;
        let mut count = [0];
        self.queue.read(&self.survivors, &mut count)?;
        let count = count[0] as usize;
        if count > self.room {
            return Ok(Survivors::All(self.keys()?));
        }
        let mut words = vec![0; 1 + count * SURVIVOR];
        if count > 0 {
            self.queue.read(&self.survivors, &mut words)?;
        }
        let (survivors, _) = words[1..].as_chunks::<SURVIVOR>();
        let survivor = |words: &[u32; SURVIVOR]| (words[0] as usize, bytes(|word| words[1 + word]));
        Ok(Survivors::Some(survivors.iter().map(survivor).collect()))
    }

    /// All keys of the batch.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn keys(&mut self) -> Result<Vec<[u8; 32]>, GpuError> {
        let mut words = vec![0; self.total * WORDS];
        self.queue.read(&self.keys, &mut words)?;
        Ok((0..self.total).map(|at| bytes(|word| words[word * self.total + at])).collect())
    }

    /// The sum of [`digest_of`] over all keys of the batch, modulo 2^64.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn digest(&mut self) -> Result<u64, GpuError> {
        let items = self.total / self.pipeline.depth as usize;
        let args = [Arg::Memory(&self.keys), Arg::Word(self.total as u32), Arg::Memory(&self.sums)];
        // SAFETY: there are `total` keys, and a sum for each item.
        unsafe { self.queue.launch("digest", items, &args) }?;
        let mut sums = vec![0; 2 * items];
        self.queue.read(&self.sums, &mut sums)?;
        let (sums, _) = sums.as_chunks::<2>();
        let sum = |&[low, high]: &[u32; 2]| u64::from(high) << 32 | u64::from(low);
        Ok(sums.iter().map(sum).fold(0, u64::wrapping_add))
    }

    /// Waits until all is done.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn wait(&mut self) -> Result<(), GpuError> {
        self.queue.wait()
    }

    fn wipe(&mut self) -> Result<(), GpuError> {
        for memory in [&self.scalars, &self.keys, &self.place] {
            let args = [Arg::Memory(memory), Arg::Word(memory.words as u32)];
            // SAFETY: the memory has so many words, and outlives the queue's wait.
            unsafe { self.queue.launch("wipe", memory.words, &args) }?;
        }
        self.queue.wait()
    }
}

impl Drop for BatchQueue<'_> {
    fn drop(&mut self) {
        // What a device that fails has in its memory, nobody can overwrite.
        let _ = self.wipe();
    }
}

/// Little-endian bytes of words.
fn bytes(word: impl Fn(usize) -> u32) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (at, four) in bytes.as_chunks_mut().0.iter_mut().enumerate() {
        *four = word(at).to_le_bytes();
    }
    bytes
}

/// FNV-1a of a key's words, 64 bits.
#[must_use]
pub fn digest_of(key: &[u8; 32]) -> u64 {
    let [offset, prime] = source::FNV;
    let words = key.as_chunks().0.iter().map(|bytes| u64::from(u32::from_le_bytes(*bytes)));
    words.fold(offset, |mixed, word| (mixed ^ word).wrapping_mul(prime))
}
