//! Tests on every device of the machine. PoCL makes a device of any CPU.

use std::sync::{Arc, Mutex};

use rand_core::{Rng as _, SeedableRng as _};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use super::pipeline::SURVIVOR;
use super::*;

/// Returns every device. If none exists, prints that the test is skipped, or fails if
/// `VANITY_REQUIRE` contains `opencl`.
pub(crate) fn devices() -> Card {
    cards().map(|cards| cards.into_iter().flatten().collect()).unwrap_or_else(|error| {
        missing("opencl", &error.to_string());
        Vec::new()
    })
}

/// Prints why a test is skipped, or fails the test ([`crate::require::missing`]).
pub(super) fn missing(name: &str, why: &str) {
    eprintln!("{why}");
    crate::require::missing(name);
}

/// The names of the kernels in the text.
pub(super) const KERNELS: [&str; 6] = ["search", "wipe", "multiples", "plant", "grow", "check"];

/// Returns dalek's public key of a seed, without the sign of x.
fn dalek(seed: &[u8; 32]) -> [u8; 32] {
    let mut key = ed25519_dalek::SigningKey::from_bytes(seed).verifying_key().to_bytes();
    key[31] &= 0x7f;
    key
}

/// The variable `VANITY_SEEDS` sets the number of random seeds.
#[test]
fn every_device_derives_dalek_s_keys() {
    let count = std::env::var("VANITY_SEEDS").map_or(20_000, |count| count.parse().unwrap());
    let mut key = [0; 32];
    getrandom::fill(&mut key).unwrap();
    println!("random seeds: ChaCha20 of {key:02x?}");
    for device in devices() {
        for (windows, depth) in [(18, 8), (50, 2)] {
            let pipeline = Pipeline::new(&*device, depth).unwrap();
            let table = pipeline.table(windows).unwrap();
            let mut random = rand_chacha::ChaCha20Rng::from_seed(key);
            let mut seeds = vec![[0; 32]; 4096];
            let mut queue = pipeline.queue(seeds.len()).unwrap();
            for _ in 0..usize::div_ceil(count, seeds.len()) {
                random.fill_bytes(seeds.as_flattened_mut());
                queue.take(&table, &seeds).unwrap();
                let expected: Vec<_> = seeds.par_iter().map(dalek).collect();
                assert!(queue.keys().unwrap() == expected, "{} with {windows} windows", device.name());
            }
        }
        println!("{}: {count} seeds, no difference", device.name());
    }
}

#[test]
fn a_device_draws_the_seeds_of_the_stream() {
    for device in devices() {
        let pipeline = Pipeline::new(&*device, 2).unwrap();
        let table = pipeline.table(25).unwrap();
        let mut queue = pipeline.queue(1024).unwrap();
        for (first, total, rounds) in
            [(0, 1024, 1), (5, 128, 1), (u64::from(u32::MAX) - 3, 128, 1), (7, 256, 3)]
        {
            let key = std::array::from_fn(|at| (5 * at) as u8);
            let mut random = rand_chacha::ChaCha20Rng::from_seed(key);
            random.set_word_pos(u128::from(first) * 16);
            let mut seeds = vec![[0; 32]; total * rounds];
            random.fill_bytes(seeds.as_flattened_mut());
            queue.draw(&table, &key, first, total, rounds).unwrap();
            // The keys of the last round are left.
            let expected: Vec<_> = seeds[total * (rounds - 1)..].iter().map(dalek).collect();
            assert_eq!(queue.keys().unwrap(), expected, "{}", device.name());
            assert_eq!(queue.survivors().unwrap(), Some(Vec::new()), "no key passes no filter");
        }
    }
}

/// Tests the narrowest and the widest windows of PoCL's tests, and windows of two widths.
#[test]
fn a_device_makes_and_checks_tables_of_all_kinds() {
    for device in devices() {
        let pipeline = Pipeline::new(&*device, 2).unwrap();
        for windows in [126, 63, 34, 22] {
            let table = pipeline.table(windows).unwrap();
            let mut queue = pipeline.queue(128).unwrap();
            // Scalars with long runs of 0 and 1 do not exist by choice: their seeds are unknown.
            let seeds: Vec<[u8; 32]> = (0..128).map(|number| [number; 32]).collect();
            queue.take(&table, &seeds).unwrap();
            assert_eq!(queue.keys().unwrap(), seeds.iter().map(dalek).collect::<Vec<_>>(), "{windows}");
        }
    }
}

#[test]
fn every_kernel_is_in_the_text() {
    let text = source::text(128, true);
    for kernel in KERNELS {
        assert_eq!(text.matches(&format!("KERNEL {kernel}(")).count(), 1, "{kernel}");
    }
}

/// The cards are in the order of the bus, those of CUDA have the same device of OpenCL as a second way,
/// and others come last.
#[test]
fn cards_are_in_the_order_of_the_bus_and_have_every_library() {
    struct Named(&'static str, Option<u32>);
    impl Device for Named {
        fn name(&self) -> &str {
            self.0
        }
        fn address(&self) -> Option<Address> {
            self.1.map(|bus| Address { domain: 0, bus, device: 0, function: 0 })
        }
        fn is_cpu(&self) -> bool {
            false
        }
        fn memory(&self) -> u64 {
            1 << 30
        }
        fn compile(&self, _: u32) -> Result<Box<dyn Queue>, GpuError> {
            Err(GpuError::Compiler("on purpose".to_owned()))
        }
    }
    let of = |devices: &[(&'static str, Option<u32>)]| -> Vec<Arc<dyn Device>> {
        devices.iter().map(|&(name, bus)| Arc::new(Named(name, bus)) as Arc<dyn Device>).collect()
    };
    let cuda = of(&[("fast (CUDA)", Some(0x82)), ("slow (CUDA)", Some(1))]);
    let opencl = of(&[
        ("CPU", None),
        ("slow (OpenCL)", Some(1)),
        ("other", Some(0x10)),
        ("fast (OpenCL)", Some(0x82)),
    ]);
    let cards = in_order(cuda, opencl.clone());
    let names = |cards: &[Card]| -> Vec<Vec<String>> {
        cards.iter().map(|card| card.iter().map(|device| device.name().to_owned()).collect()).collect()
    };
    let expected: [&[&str]; 4] =
        [&["slow (CUDA)", "slow (OpenCL)"], &["other"], &["fast (CUDA)", "fast (OpenCL)"], &["CPU"]];
    assert_eq!(names(&cards), expected);
    let alone: [&[&str]; 4] = [&["slow (OpenCL)"], &["other"], &["fast (OpenCL)"], &["CPU"]];
    assert_eq!(names(&in_order(Vec::new(), opencl)), alone);
}

/// A fault that a test injects into a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Injected {
    /// Every launch fails.
    Launch,
    /// The kernels do not compile.
    Compile,
    /// Every reservation of memory fails.
    Memory,
    /// There is no memory for more words than this at once.
    Room(usize),
    /// Every read fails.
    Read,
    /// Every read returns a wrong bit in each word but the first two.
    WrongKeys,
    /// One entry of a table is wrong.
    WrongTable,
    /// The place of the first survivor is the largest number.
    FarPlace,
    /// The second survivor is a copy of the first one.
    SamePlace,
}

/// The fault that is active now, if any.
pub(crate) type Switch = Arc<Mutex<Option<Injected>>>;

/// A device that fails on demand.
pub(crate) struct Faulty {
    device: Arc<dyn Device>,
    name: String,
    address: Option<Address>,
    switch: Switch,
    pub(crate) kept: Arc<Mutex<Kept>>,
}

/// What was overwritten on a device.
#[derive(Default)]
pub(crate) struct Kept {
    /// The buffers that were wiped: for each, its number of words, and whether all of them were 0
    /// afterwards.
    buffers: Vec<(usize, bool)>,
    /// The number of searches with a key of zeros. They overwrite the stack and the memory of the
    /// groups.
    pub(crate) searches: usize,
}

impl Kept {
    /// Returns the number of buffers that were wiped.
    ///
    /// # Panics
    ///
    /// Panics if one of them did not hold only zeros.
    pub(crate) fn wiped(&self) -> usize {
        assert!(self.buffers.iter().all(|(_, is_zero)| *is_zero), "{:?}", self.buffers);
        self.buffers.len()
    }
}

impl Faulty {
    pub(crate) fn new(device: Arc<dyn Device>) -> (Self, Switch) {
        let switch = Switch::default();
        let name = device.name().to_owned();
        (Self { device, name, address: None, switch: Arc::clone(&switch), kept: Arc::default() }, switch)
    }

    /// Gives the device a name and a place.
    pub(crate) fn named(self, name: &str, bus: u32) -> Self {
        let address = Some(Address { domain: 0, bus, device: 0, function: 0 });
        Self { name: name.to_owned(), address, ..self }
    }
}

impl Device for Faulty {
    fn name(&self) -> &str {
        &self.name
    }

    fn address(&self) -> Option<Address> {
        self.address
    }

    fn is_cpu(&self) -> bool {
        self.device.is_cpu()
    }

    fn memory(&self) -> u64 {
        self.device.memory()
    }

    fn compile(&self, depth: u32) -> Result<Box<dyn Queue>, GpuError> {
        if *self.switch.lock().unwrap() == Some(Injected::Compile) {
            return Err(GpuError::Compiler("on purpose".to_owned()));
        }
        let (switch, kept) = (Arc::clone(&self.switch), Arc::clone(&self.kept));
        Ok(Box::new(FaultyQueue { queue: self.device.compile(depth)?, switch, kept }))
    }
}

struct FaultyQueue {
    queue: Box<dyn Queue>,
    switch: Switch,
    kept: Arc<Mutex<Kept>>,
}

impl FaultyQueue {
    fn fail(&self, fault: Injected) -> Result<(), GpuError> {
        let failed = *self.switch.lock().unwrap() == Some(fault);
        if failed { Err(GpuError::call("a test", "on purpose")) } else { Ok(()) }
    }
}

impl Queue for FaultyQueue {
    fn another(&self) -> Result<Box<dyn Queue>, GpuError> {
        let (switch, kept) = (Arc::clone(&self.switch), Arc::clone(&self.kept));
        Ok(Box::new(Self { queue: self.queue.another()?, switch, kept }))
    }

    fn items_at_once(&self) -> usize {
        self.queue.items_at_once()
    }

    fn memory(&self, words: usize) -> Result<Memory, GpuError> {
        self.fail(Injected::Memory)?;
        match *self.switch.lock().unwrap() {
            Some(Injected::Room(most)) if words > most => Err(GpuError::NoMemory),
            _ => self.queue.memory(words),
        }
    }

    fn write(&self, to: &Memory, words: &[u32]) -> Result<(), GpuError> {
        self.queue.write(to, words)
    }

    fn read(&self, from: &Memory, words: &mut [u32]) -> Result<(), GpuError> {
        self.fail(Injected::Read)?;
        self.queue.read(from, words)?;
        if *self.switch.lock().unwrap() == Some(Injected::WrongKeys) && words.len() > 1 {
            words.iter_mut().skip(2).for_each(|word| *word ^= 0x10);
        }
        // Survivors only, not keys: the count before the survivors adds one word.
        if words.len() > 2 * SURVIVOR && words.len() % SURVIVOR == 1 {
            match *self.switch.lock().unwrap() {
                Some(Injected::FarPlace) => words[1] = u32::MAX,
                Some(Injected::SamePlace) => words.copy_within(1..1 + SURVIVOR, 1 + SURVIVOR),
                _ => {}
            }
        }
        Ok(())
    }

    unsafe fn launch(&self, kernel: &str, items: usize, args: &[Arg]) -> Result<(), GpuError> {
        self.fail(Injected::Launch)?;
        let is_table_wrong = *self.switch.lock().unwrap() == Some(Injected::WrongTable);
        if let ("check", [Arg::Memory(table), ..], true) = (kernel, args, is_table_wrong) {
            let mut words = vec![0; table.words];
            self.queue.read(table, &mut words)?;
            words[table.words - 40] ^= 1;
            self.queue.write(table, &words)?;
        }
        // SAFETY: the caller makes the same promise.
        unsafe { self.queue.launch(kernel, items, args) }?;
        if let ("wipe", [Arg::Memory(memory), ..]) = (kernel, args) {
            let mut words = vec![1; memory.words];
            self.queue.read(memory, &mut words)?;
            let is_zero = words.iter().all(|word| *word == 0);
            self.kept.lock().unwrap().buffers.push((memory.words, is_zero));
        }
        if let ("search", [_, _, _, _, Arg::Memory(stream), ..]) = (kernel, args) {
            let mut words = vec![1; stream.words];
            self.queue.read(stream, &mut words)?;
            self.kept.lock().unwrap().searches += usize::from(words.iter().all(|word| *word == 0));
        }
        Ok(())
    }

    fn wait(&self) -> Result<(), GpuError> {
        self.queue.wait()
    }
}
