//! The computations of a search on a device: the sequence of kernels and their buffers.

use zeroize::Zeroizing;

use super::device::{Arg, Device, GpuError, Memory, Program, Queue, Resources, Settings};
use super::source;
use ed25519_batch::simd::CacheLine;

/// The number of words of an element, a key, a seed or a scalar.
const WORDS: usize = 8;

/// The number of words of a table entry, which is three elements.
const ENTRY: usize = 3 * WORDS;

/// The number of table entries that share an inversion while the table is made.
const SHARE: u32 = 16;

/// The number of words of a survivor: its place and its key.
pub(super) const SURVIVOR: usize = 1 + WORDS;

/// The number of keys for each survivor that a batch has memory for. If more keys survive, all keys
/// are read.
const SURVIVORS: usize = 64;

/// A device with its compiled kernels and its table.
pub struct Pipeline {
    program: Box<dyn Program>,
    table: Memory,
    depth: u32,
}

impl Pipeline {
    /// The number of bytes of a table entry.
    pub const BYTES_OF_ENTRY: usize = 4 * ENTRY;

    /// Compiles the kernels, and makes the table from `rows`.
    ///
    /// `rows` are points in short Weierstrass form, as `kernel/point.cl` describes them. The first
    /// window has `first` of them. `numbers` are the constants -A/3, c and 2d.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails or has too little memory.
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
        // SAFETY: the memory has `count` rows, `count` entries and three numbers. The queue waits
        // before it is freed.
        unsafe { queue.launch("convert", items as usize, &args) }?;
        queue.wait()?;
        Ok(Self { program, table, depth: settings.depth })
    }

    /// Returns the number of keys of a work item.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns the resources that a kernel needs, if the compiler reports them.
    #[must_use]
    pub fn resources(&self, kernel: &str) -> Option<Resources> {
        self.program.resources(kernel)
    }

    /// Makes a queue of one thread, with buffers for batches of up to `most` keys.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails or has too little memory.
    pub fn line(&self, most: usize) -> Result<BatchQueue<'_>, GpuError> {
        let mut queue = self.program.queue()?;
        let survivor_capacity = most.div_ceil(SURVIVORS);
        Ok(BatchQueue {
            scalars: queue.memory(most * WORDS)?,
            keys: queue.memory(most * WORDS)?,
            survivors: queue.memory(1 + survivor_capacity * SURVIVOR)?,
            place: queue.memory(PLACE)?,
            sums: queue.memory(2 * most.div_ceil(self.depth as usize))?,
            filter: None,
            pipeline: self,
            queue,
            most,
            survivor_capacity,
            total: 0,
        })
    }
}

/// The number of words of a place in a stream: a ChaCha20 key, and the number of a block.
const PLACE: usize = WORDS + 2;

/// One thread's queue and buffers on a device. Batches run one after the other. Drop overwrites the
/// secrets.
pub struct BatchQueue<'a> {
    pipeline: &'a Pipeline,
    queue: Box<dyn Queue>,
    /// The seeds of a batch, then its scalars, then its denominators.
    scalars: Memory,
    keys: Memory,
    survivors: Memory,
    place: Memory,
    sums: Memory,
    filter: Option<Memory>,
    most: usize,
    /// The number of survivors that the buffer holds.
    survivor_capacity: usize,
    /// The number of keys in the current batch.
    total: usize,
}

/// The keys of a batch that may match. Their sign of x is left 0.
pub enum Survivors {
    /// The survivors, each with its place in the batch.
    Some(Vec<(usize, [u8; 32])>),
    /// All keys of the batch, because there is no filter or too many keys survived.
    All(Vec<[u8; 32]>),
}

impl BatchQueue<'_> {
    /// Returns the most keys of a batch.
    #[must_use]
    pub fn most(&self) -> usize {
        self.most
    }

    /// Starts a batch of public keys, from `total` seeds of a ChaCha20 stream. The stream has the
    /// key `key` and begins at block `first`. `total` must be even.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    ///
    /// # Panics
    ///
    /// Panics if `total` is not a multiple of the depth, or more than [`Self::most`].
    pub fn draw(&mut self, key: &[u8; 32], first: u64, total: usize) -> Result<(), GpuError> {
        self.begin(total);
        let mut place = Zeroizing::new([0; PLACE]);
        for (word, bytes) in place.iter_mut().zip(key.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        place[WORDS..].copy_from_slice(&[first as u32, (first >> 32) as u32]);
        self.queue.write(&self.place, &*place)?;
        let args = [Arg::Memory(&self.scalars), Arg::Word(total as u32), Arg::Memory(&self.place)];
        // SAFETY: the memory has `total` scalars and a place.
        unsafe { self.queue.launch("draw", total / 2, &args) }?;
        self.derive()
    }

    /// Starts a batch of public keys, from the given seeds.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    ///
    /// # Panics
    ///
    /// Panics if the number of seeds is not a multiple of the depth, or more than [`Self::most`].
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
        // SAFETY: the memory has `total` seeds.
        unsafe { self.queue.launch("take", total, &args) }?;
        self.derive()
    }

    /// Sets the number of keys of the batch.
    fn begin(&mut self, total: usize) {
        let depth = self.pipeline.depth as usize;
        assert!(total <= self.most && total.is_multiple_of(depth), "{total} of {} keys", self.most);
        self.total = total;
    }

    /// Starts the kernel that computes the keys of the scalars.
    fn derive(&mut self) -> Result<(), GpuError> {
        let (keys, table) = (Arg::Memory(&self.keys), Arg::Memory(&self.pipeline.table));
        let args = [Arg::Memory(&self.scalars), keys, Arg::Word(self.total as u32), table];
        // SAFETY: the memory has `total` scalars and keys. Every digit is within the table, which
        // has the same windows.
        unsafe { self.queue.launch("derive", self.total / self.pipeline.depth as usize, &args) }
    }

    /// Sets the filter of [`Self::survivors`], given by its words.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    pub(crate) fn set_filter(&mut self, words: &[u32]) -> Result<(), GpuError> {
        let memory = self.queue.memory(words.len())?;
        self.queue.write(&memory, words)?;
        self.filter = Some(memory);
        Ok(())
    }

    /// Returns the keys of the batch that pass the filter. Returns all keys if there is no filter,
    /// or if too many pass.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    pub fn survivors(&mut self) -> Result<Survivors, GpuError> {
        let Some(filter) = &self.filter else { return Ok(Survivors::All(self.keys()?)) };
        self.queue.write(&self.survivors, &[0])?;
        let args = [
            Arg::Memory(&self.keys),
            Arg::Word(self.total as u32),
            Arg::Memory(filter),
            Arg::Memory(&self.survivors),
            Arg::Word(self.survivor_capacity as u32),
        ];
        // SAFETY: the memory has `total` keys and `survivor_capacity` survivors. The offsets in a
        // filter are within its words.
        unsafe { self.queue.launch("search", self.total, &args) }?;
        let mut count = [0];
        self.queue.read(&self.survivors, &mut count)?;
        let count = count[0] as usize;
        if count > self.survivor_capacity {
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

    /// Returns all keys of the batch.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    pub fn keys(&mut self) -> Result<Vec<[u8; 32]>, GpuError> {
        let mut words = vec![0; self.total * WORDS];
        self.queue.read(&self.keys, &mut words)?;
        Ok((0..self.total).map(|at| bytes(|word| words[word * self.total + at])).collect())
    }

    /// Returns the sum of [`digest_of`] over all keys of the batch, modulo 2^64.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    pub fn digest(&mut self) -> Result<u64, GpuError> {
        let items = self.total / self.pipeline.depth as usize;
        let args = [Arg::Memory(&self.keys), Arg::Word(self.total as u32), Arg::Memory(&self.sums)];
        // SAFETY: the memory has `total` keys, and a sum for each work item.
        unsafe { self.queue.launch("digest", items, &args) }?;
        let mut sums = vec![0; 2 * items];
        self.queue.read(&self.sums, &mut sums)?;
        let (sums, _) = sums.as_chunks::<2>();
        let sum = |&[low, high]: &[u32; 2]| u64::from(high) << 32 | u64::from(low);
        Ok(sums.iter().map(sum).fold(0, u64::wrapping_add))
    }

    /// Waits until the device is done.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    pub fn wait(&mut self) -> Result<(), GpuError> {
        self.queue.wait()
    }

    /// Overwrites the scalars, the keys and the place in the stream, and waits.
    fn wipe(&mut self) -> Result<(), GpuError> {
        for memory in [&self.scalars, &self.keys, &self.place] {
            let args = [Arg::Memory(memory), Arg::Word(memory.words as u32)];
            // SAFETY: the memory has this number of words, and the queue waits before it is freed.
            unsafe { self.queue.launch("wipe", memory.words, &args) }?;
        }
        self.queue.wait()
    }
}

impl Drop for BatchQueue<'_> {
    fn drop(&mut self) {
        // Ignore an error, because nothing can overwrite the memory of a device that fails.
        let _ = self.wipe();
    }
}

/// Returns the little-endian bytes of eight words.
fn bytes(word: impl Fn(usize) -> u32) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (at, four) in bytes.as_chunks_mut().0.iter_mut().enumerate() {
        *four = word(at).to_le_bytes();
    }
    bytes
}

/// Returns the 64-bit FNV-1a hash of a key, over its eight little-endian words.
#[must_use]
pub fn digest_of(key: &[u8; 32]) -> u64 {
    let [offset, prime] = source::FNV;
    let words = key.as_chunks().0.iter().map(|bytes| u64::from(u32::from_le_bytes(*bytes)));
    words.fold(offset, |mixed, word| (mixed ^ word).wrapping_mul(prime))
}
