//! What an engine is built for.

/// What an engine is built for: the size of its tables, and the devices that it may use.
#[derive(Clone, Copy, Debug)]
pub struct Sizing {
    /// The expected number of keys to try: a short search does not wait for a large table.
    pub expected_attempts: f64,
    /// The most bytes that tables may take, but never less than [`LEAST_TABLE_MEMORY`]. Without it they go by the
    /// processor's caches.
    pub table_memory: Option<usize>,
    /// The graphics processors.
    pub devices: Devices,
}

/// A set of devices, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Devices(u64);

impl Devices {
    /// All that are suitable.
    pub const ALL: Self = Self(0);

    /// Device numbers end below this.
    pub const END: usize = u64::BITS as usize;

    /// Those with these numbers. `None` unless each is below [`Self::END`].
    pub fn of(numbers: impl IntoIterator<Item = usize>) -> Option<Self> {
        let bit = |number: usize| u32::try_from(number).ok().and_then(|number| 1u64.checked_shl(number));
        numbers.into_iter().try_fold(0, |set, number| Some(set | bit(number)?)).map(Self)
    }

    /// The numbers, in ascending order; none of [`Self::ALL`].
    pub fn numbers(self) -> impl Iterator<Item = usize> {
        (0..Self::END).filter(move |number| self.0 >> number & 1 == 1)
    }
}

/// The bytes of the smallest tables.
pub const LEAST_TABLE_MEMORY: usize = 16 << 10;

impl Sizing {
    /// By the caches, for a search of so many keys.
    #[must_use]
    pub const fn for_attempts(expected_attempts: f64) -> Self {
        Self { expected_attempts, table_memory: None, devices: Devices::ALL }
    }
}
