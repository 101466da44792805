//! The interface of engines: their names, the parameters for which one is built, and what a search
//! asks of it.

use std::time::Instant;

pub use ed25519_batch::{LEAST_TABLE_MEMORY, Tuning};
use zeroize::Zeroizing;

use crate::key::{PublicKey, Seed};
use crate::notice::Notice;
use crate::pattern::Matcher;
use crate::wire;
use ed25519_batch::simd::InstructionSet;

/// The name that selects the fastest engine that works on this machine.
pub const AUTO: &str = "auto";

/// The name of the engine of GPUs.
pub const GPU: &str = "gpu";

/// The name of the engine of [`AUTO`] while it uses GPUs and the CPU together.
pub const HYBRID: &str = "gpu+cpu";

/// The parameters for which an engine is built: the size of its tables, and the devices that it may
/// use.
#[derive(Clone, Copy, Debug)]
pub struct EngineOptions {
    /// The expected number of keys to try. A short search does not wait for a large table.
    pub expected_attempts: f64,
    /// The most bytes that tables may take. Less than [`LEAST_TABLE_MEMORY`] has the effect of
    /// that. `None` sets the usual limit, 128 MiB.
    pub table_memory: Option<usize>,
    /// The devices that the GPU engine uses.
    pub devices: Devices,
    /// The part of the time that a device works, in percent, 10 to 100. It pauses after each batch.
    pub device_load: u8,
    /// The number of windows of the only table, 12 to 126, for measurements. `None` lets the engine
    /// find the fastest table.
    #[doc(hidden)]
    pub windows: Option<usize>,
}

/// A set of devices, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Devices(u64);

impl Devices {
    /// All suitable devices.
    pub const ALL: Self = Self(0);

    /// The end of the range of device numbers.
    pub const END: usize = u64::BITS as usize;

    /// Returns the set of these numbers. `None` unless each is below [`Self::END`].
    pub fn of(numbers: impl IntoIterator<Item = usize>) -> Option<Self> {
        let bit = |number: usize| u32::try_from(number).ok().and_then(|number| 1u64.checked_shl(number));
        numbers.into_iter().try_fold(0, |set, number| Some(set | bit(number)?)).map(Self)
    }

    /// Returns the numbers, in ascending order. [`Self::ALL`] has none.
    pub fn numbers(self) -> impl Iterator<Item = usize> {
        (0..Self::END).filter(move |number| self.0 >> number & 1 == 1)
    }
}

impl EngineOptions {
    /// Returns the options of a search of this number of keys, with tables sized by the caches, and all
    /// devices.
    #[must_use]
    pub const fn for_attempts(expected_attempts: f64) -> Self {
        Self { expected_attempts, table_memory: None, devices: Devices::ALL, device_load: 100, windows: None }
    }
}

/// A way of searching.
pub trait Engine: Send + Sync {
    /// Returns the name that selects the engine.
    fn name(&self) -> &'static str;

    /// Returns a new worker for one thread.
    fn worker(&self) -> Box<dyn EngineWorker + '_>;

    /// Returns the number of workers for a search with `threads` threads.
    fn workers(&self, threads: usize) -> usize {
        threads
    }

    /// Returns how many workers of devices a search runs beside those of its threads, by now. More can
    /// join at any time, and none leaves.
    fn joined_workers(&self) -> usize {
        0
    }

    /// Returns a new worker of a device that has joined, for a thread of its own.
    fn joined_worker(&self) -> Box<dyn EngineWorker + '_> {
        self.worker()
    }

    /// Returns the devices that search, or did.
    fn devices(&self) -> Vec<UsedDevice> {
        Vec::new()
    }

    /// Returns the instruction set with which seeds are made and keys are matched. An engine that
    /// stands for an instruction set uses nothing above it.
    #[doc(hidden)]
    fn instruction_set(&self) -> InstructionSet {
        InstructionSet::widest()
    }

    /// Returns whether the engine has found its fastest settings on this machine. Before, its rate
    /// can rise.
    fn is_settled(&self) -> bool {
        true
    }

    /// Returns what the engine has found out to be the fastest on this machine. `None` if it has
    /// nothing to choose.
    fn tuning(&self) -> Option<Tuning> {
        None
    }

    /// Returns the notices for the user since the last call.
    fn notices(&self) -> Vec<Notice> {
        Vec::new()
    }
}

/// A device that an engine uses.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UsedDevice {
    /// The name of the device and of the library that reaches it.
    pub name: String,
    /// When it was ready.
    pub since: Instant,
}

/// One thread's part of an engine.
pub trait EngineWorker {
    /// Takes seeds, derives their public keys, and adds those that match to `hits`. Returns the
    /// number of keys tried, which is exactly the number of seeds taken.
    ///
    /// A batch takes from some milliseconds to 100. Between two batches a search can end, or change
    /// the matcher.
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64;
}

/// A source of seeds.
pub trait SeedSource {
    /// Overwrites every seed with a fresh one.
    fn fill(&mut self, seeds: &mut [[u8; 32]]);

    /// Returns a fresh key of ChaCha20. An engine may use its stream for seeds, from the beginning.
    /// `None` if the engine must use the seeds of [`Self::fill`].
    fn key(&mut self) -> Option<Zeroizing<[u8; 32]>> {
        None
    }
}

/// An engine's claim that a seed's public key matches.
pub struct Hit {
    /// The number of keys of the same batch that were tried before it.
    pub index: u64,
    /// The seed.
    pub seed: Seed,
    /// The public key, as the engine computed it.
    pub public_key: PublicKey,
    /// Whether the highest bit of the public key, the sign of x, is known. If not, the bit is 0,
    /// and the claim is that the key matches with one sign or the other.
    pub has_sign: bool,
}

impl Hit {
    /// Returns the keys that the hit may mean: one, or one with each sign. The claim is that one of
    /// them matches.
    pub fn possible(&self) -> impl Iterator<Item = PublicKey> {
        let other = (!self.has_sign).then(|| PublicKey(wire::with_sign(self.public_key.0)));
        std::iter::once(self.public_key).chain(other)
    }
}
