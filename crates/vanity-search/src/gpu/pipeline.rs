//! The computations of a search on a device: the sequence of kernels and their buffers.

use zeroize::Zeroizing;

use super::device::{Arg, Device, GROUP, GpuError, Memory, Queue};
use super::source::SHARES;

/// The number of words of an element, a key, a seed or a scalar.
const WORDS: usize = 8;

/// The number of words of a table entry, which is four elements, and of a point.
const ENTRY: usize = 4 * WORDS;
const POINT: usize = 2 * WORDS;

/// The number of table entries that share an inversion while the table is made.
const SHARE: u32 = 32;

/// The number of words of a survivor: its place and its key.
pub(super) const SURVIVOR: usize = 1 + WORDS;

/// The survivors that a batch has memory for: one for each sixteen keys of a round, and at least
/// as many as the keys of a small round.
const KEYS_OF_SURVIVOR: usize = 16;
const LEAST_SURVIVORS: usize = 1024;

/// The number of words of a place in a stream: a ChaCha20 key, and the number of a block.
const PLACE: usize = WORDS + 2;

/// A device with its compiled kernels.
pub struct Pipeline {
    /// The queue from which others are made.
    first: Box<dyn Queue>,
    /// The multiples of the base point from which every table is made.
    points: Memory,
    depth: u32,
}

/// A table of multiples of the base point, in the memory of a device. The memory is freed with the
/// last clone.
#[derive(Clone)]
pub struct WindowTable {
    memory: Memory,
    windows: u32,
}

impl WindowTable {
    /// Returns the number of windows.
    #[must_use]
    pub fn windows(&self) -> usize {
        self.windows as usize
    }

    /// Returns the size, in bytes, of the table of `windows` windows, 10 to 126.
    #[must_use]
    pub fn bytes(windows: usize) -> usize {
        let bits = (0..windows).map(|window| index_bits(windows, window));
        bits.map(|bits| (4 * ENTRY) << bits).sum()
    }
}

/// Returns the number of bits of the index of a window, as kernel/table.cl defines them.
fn index_bits(windows: usize, window: usize) -> usize {
    SHARES / windows - 1 + usize::from(window < SHARES % windows)
}

impl Pipeline {
    /// Compiles the kernels, and makes the points from which tables are made. `depth` keys share an
    /// inversion.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails or has too little memory.
    ///
    /// # Panics
    ///
    /// Panics if `depth` is odd.
    pub fn new(device: &dyn Device, depth: u32) -> Result<Self, GpuError> {
        assert!(depth.is_multiple_of(2) && depth > 0, "a depth of {depth}");
        let first = device.compile(depth)?;
        let points = first.memory((SHARES + 2) * POINT)?;
        // SAFETY: the memory has room for H_0 to H_252 and one more point. The queue waits before it
        // is freed.
        unsafe { first.launch("multiples", 1, &[Arg::Memory(&points)]) }?;
        first.wait()?;
        Ok(Self { first, points, depth })
    }

    /// Makes a table of `windows` windows, and checks all entries.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails, has too little memory, or computes a wrong entry.
    ///
    /// # Panics
    ///
    /// Panics unless `windows` is 10 to 126.
    pub fn table(&self, windows: usize) -> Result<WindowTable, GpuError> {
        assert!((10..=126).contains(&windows), "{windows} windows");
        let words = WindowTable::bytes(windows) / 4;
        let entries = words / ENTRY;
        let queue = self.first.another()?;
        let (memory, wrong) = (queue.memory(words)?, queue.memory(1)?);
        let launch = |kernel, items, more: &[Arg]| {
            let base = [Arg::Memory(&memory), Arg::Word(windows as u32), Arg::Memory(&self.points)];
            // SAFETY: the memory has the entries of all windows, `points` has those that the kernels add,
            // and `wrong` is one word. The queue waits before the memory is freed.
            unsafe { queue.launch(kernel, items, &[&base, more].concat()) }
        };
        launch("plant", windows, &[])?;
        for bit in 0..index_bits(windows, 0) as u32 {
            let of_window = (1u32 << bit).div_ceil(SHARE);
            launch("grow", windows * of_window as usize, &[Arg::Word(bit), Arg::Word(of_window)])?;
        }
        queue.write(&wrong, &[0])?;
        launch("check", entries, &[Arg::Word(entries as u32), Arg::Memory(&wrong)])?;
        let mut count = [0];
        queue.read(&wrong, &mut count)?;
        if count == [0] {
            Ok(WindowTable { memory, windows: windows as u32 })
        } else {
            Err(GpuError::WrongTable)
        }
    }

    /// Returns the number of keys of a group of work items, which runs as a whole.
    #[must_use]
    pub fn keys_of_group(&self) -> usize {
        GROUP * self.depth as usize
    }

    /// Returns the number of keys that the device derives at the same time.
    #[must_use]
    pub fn keys_at_once(&self) -> usize {
        self.first.items_at_once() * self.depth as usize
    }

    /// Makes a queue of one thread, with buffers for rounds of up to `most` keys.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails or has too little memory.
    ///
    /// # Panics
    ///
    /// Panics if `most` is not a multiple of the keys of a group.
    pub fn queue(&self, most: usize) -> Result<BatchQueue, GpuError> {
        assert!(most.is_multiple_of(self.keys_of_group()), "{most} keys");
        let queue = self.first.another()?;
        let survivor_capacity = most.div_ceil(KEYS_OF_SURVIVOR).max(LEAST_SURVIVORS);
        let filter = queue.memory(NO_FILTER.len())?;
        queue.write(&filter, &NO_FILTER)?;
        Ok(BatchQueue {
            over: queue.memory(most * WORDS)?,
            under: queue.memory(most * WORDS)?,
            survivors: queue.memory(1 + survivor_capacity * SURVIVOR)?,
            stream: queue.memory(PLACE)?,
            filter,
            given: None,
            table: None,
            depth: self.depth,
            queue,
            most,
            survivor_capacity,
            total: 0,
            rounds: 1,
        })
    }
}

/// The words of a filter that no key passes: it has no clause.
const NO_FILTER: [u32; 4] = [2, 0, 0, 0];

/// One thread's queue and buffers on a device. Batches run one after the other. Drop overwrites the
/// secrets.
pub struct BatchQueue {
    depth: u32,
    queue: Box<dyn Queue>,
    /// The numerators of a round, then its keys.
    over: Memory,
    /// The denominators of a round.
    under: Memory,
    survivors: Memory,
    stream: Memory,
    filter: Memory,
    /// Given seeds.
    given: Option<Memory>,
    /// The table of the last batch.
    table: Option<WindowTable>,
    most: usize,
    /// The number of survivors that the buffer holds.
    survivor_capacity: usize,
    /// The number of keys in a round of the current batch, and of its rounds.
    total: usize,
    rounds: usize,
}

/// A key of a batch that may match, with its place in the batch. The sign of x is left 0.
pub type Survivor = (usize, [u8; 32]);

impl BatchQueue {
    /// Returns the most keys of a round.
    #[must_use]
    pub fn most(&self) -> usize {
        self.most
    }

    /// Starts a batch of `rounds` rounds of `total` keys. The seeds are those of a ChaCha20 stream.
    /// The stream has the key `key` and begins at block `first`. A block holds two seeds.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    ///
    /// # Panics
    ///
    /// Panics if `total` is not a multiple of the keys of a group, or more than [`Self::most`], or if the
    /// batch has more than 2^31 keys.
    pub fn draw(
        &mut self,
        table: &WindowTable,
        key: &[u8; 32],
        first: u64,
        total: usize,
        rounds: usize,
    ) -> Result<(), GpuError> {
        let mut place = Zeroizing::new([0; PLACE]);
        for (word, bytes) in place.iter_mut().zip(key.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        place[WORDS..].copy_from_slice(&[first as u32, (first >> 32) as u32]);
        self.queue.write(&self.stream, &*place)?;
        self.search(table, total, rounds, None)
    }

    /// Starts a batch of one round of keys, from the given seeds.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    ///
    /// # Panics
    ///
    /// Panics if the number of seeds is not a multiple of the keys of a group, or more than
    /// [`Self::most`].
    pub fn take(&mut self, table: &WindowTable, seeds: &[[u8; 32]]) -> Result<(), GpuError> {
        let total = seeds.len();
        self.check_size(total, 1);
        let mut words = Zeroizing::new(vec![0; total * WORDS]);
        for (place, seed) in seeds.iter().enumerate() {
            let at = self.slot(total, place);
            for (word, bytes) in seed.as_chunks().0.iter().enumerate() {
                words[word * total + at] = u32::from_le_bytes(*bytes);
            }
        }
        let given = match self.given.take().filter(|given| given.words >= words.len()) {
            Some(given) => given,
            None => self.queue.memory(words.len())?,
        };
        self.given = Some(given.clone());
        self.queue.write(&given, &words)?;
        self.search(table, total, 1, Some(&given))
    }

    fn check_size(&self, total: usize, rounds: usize) {
        let of_group = GROUP * self.depth as usize;
        assert!(total <= self.most && total.is_multiple_of(of_group), "{total} of {} keys", self.most);
        assert!(rounds > 0 && total * rounds <= 1 << 31, "{rounds} rounds of {total} keys");
    }

    /// Returns where the device keeps the key of a place, in a round of `total` keys.
    fn slot(&self, total: usize, place: usize) -> usize {
        let items = total / self.depth as usize;
        let block = place / 2;
        block % items + (2 * (block / items) + place % 2) * items
    }

    /// Starts the kernel that derives the keys of a batch and finds the survivors.
    fn search(
        &mut self,
        table: &WindowTable,
        total: usize,
        rounds: usize,
        given: Option<&Memory>,
    ) -> Result<(), GpuError> {
        self.check_size(total, rounds);
        (self.total, self.rounds) = (total, rounds);
        self.table = Some(table.clone());
        self.queue.write(&self.survivors, &[0])?;
        let items = total / self.depth as usize;
        let args = [
            Arg::Memory(&self.over),
            Arg::Memory(&self.under),
            Arg::Word(items as u32),
            Arg::Word(rounds as u32),
            Arg::Memory(&self.stream),
            // The kernel does not read seeds that are not given.
            Arg::Memory(given.unwrap_or(&self.stream)),
            Arg::Word(given.is_some().into()),
            Arg::Memory(&table.memory),
            Arg::Word(table.windows),
            Arg::Memory(&self.filter),
            Arg::Memory(&self.survivors),
            Arg::Word(self.survivor_capacity as u32),
        ];
        // SAFETY: the memory has `total` numerators, denominators and given seeds, a place, and
        // `survivor_capacity` survivors. The table has all entries of its windows, and stays as long
        // as `self.table`. The offsets in a filter are within its words.
        unsafe { self.queue.launch("search", items, &args) }
    }

    /// Sets the filter of the survivors, given by its words.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    pub fn set_filter(&mut self, words: &[u32]) -> Result<(), GpuError> {
        let memory = self.queue.memory(words.len())?;
        self.queue.write(&memory, words)?;
        self.filter = memory;
        Ok(())
    }

    /// Waits for the batch, and returns its keys that pass the filter. If too many pass, returns all keys
    /// of a batch of one round, and `None` after more rounds.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    pub fn survivors(&self) -> Result<Option<Vec<Survivor>>, GpuError> {
        let mut count = [0];
        self.queue.read(&self.survivors, &mut count)?;
        let count = count[0] as usize;
        if count > self.survivor_capacity {
            let all = || Ok(self.keys()?.into_iter().enumerate().collect());
            return (self.rounds == 1).then(all).transpose();
        }
        let mut words = vec![0; 1 + count * SURVIVOR];
        if count > 0 {
            self.queue.read(&self.survivors, &mut words)?;
        }
        let (survivors, _) = words[1..].as_chunks::<SURVIVOR>();
        let survivor = |words: &[u32; SURVIVOR]| (words[0] as usize, bytes(|word| words[1 + word]));
        Ok(Some(survivors.iter().map(survivor).collect()))
    }

    /// Waits for the batch, and returns all keys of its last round.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    pub fn keys(&self) -> Result<Vec<[u8; 32]>, GpuError> {
        let total = self.total;
        let mut words = vec![0; total * WORDS];
        self.queue.read(&self.over, &mut words)?;
        let key = |place| {
            let at = self.slot(total, place);
            bytes(|word| words[word * total + at])
        };
        Ok((0..total).map(key).collect())
    }

    /// Overwrites the seeds, the numerators and denominators, the keys and the place in the stream,
    /// and waits.
    ///
    /// The kernel also keeps seeds on the stack, and scalars and products in the memory of a group. A
    /// last round, with a key of zeros, overwrites those.
    fn wipe(&mut self) -> Result<(), GpuError> {
        self.overwrite(&self.stream.clone())?;
        if let Some(table) = self.table.clone() {
            self.search(&table, self.most, 1, None)?;
        }
        for memory in [Some(self.over.clone()), Some(self.under.clone()), self.given.clone()] {
            memory.map_or(Ok(()), |memory| self.overwrite(&memory))?;
        }
        self.queue.wait()
    }

    fn overwrite(&mut self, memory: &Memory) -> Result<(), GpuError> {
        let args = [Arg::Memory(memory), Arg::Word(memory.words as u32)];
        // SAFETY: the memory has this number of words, and `self` holds it until the queue waited.
        unsafe { self.queue.launch("wipe", memory.words, &args) }
    }
}

impl Drop for BatchQueue {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_the_sizes_that_the_memory_of_devices_allows() {
        assert_eq!(WindowTable::bytes(126), 126 * 128 * 2);
        assert_eq!(WindowTable::bytes(12), (12 * 128) << 20);
        let tables = [16, 13, 11, 10].map(|windows| WindowTable::bytes(windows) >> 20);
        assert_eq!(tables, [56, 576, 5376, 24_576]);
    }
}
