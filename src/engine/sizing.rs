//! The parameters for which an engine is built.

pub use ed25519_batch::LEAST_TABLE_MEMORY;

/// The parameters for which an engine is built: the size of its tables, and the devices that it may
/// use.
#[derive(Clone, Copy, Debug)]
pub struct Sizing {
    /// The expected number of keys to try. A short search does not wait for a large table.
    pub expected_attempts: f64,
    /// The most bytes that tables may take. Less than [`LEAST_TABLE_MEMORY`] has the effect of
    /// that. `None` sets the usual limit, 128 MiB.
    pub table_memory: Option<usize>,
    /// The devices that the GPU engine uses.
    pub devices: Devices,
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

impl Sizing {
    /// Returns the sizing of a search of this number of keys, with tables sized by the caches, and
    /// all devices.
    #[must_use]
    pub const fn for_attempts(expected_attempts: f64) -> Self {
        Self { expected_attempts, table_memory: None, devices: Devices::ALL, windows: None }
    }
}
