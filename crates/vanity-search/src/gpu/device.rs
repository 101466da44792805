//! The traits that each host implements: devices and queues.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

/// The number of work items in a group.
pub(super) const GROUP: usize = 64;

/// The groups of the search that an NVIDIA multiprocessor runs at the same time. Its 65,536 registers
/// give each work item 96. With fewer groups, or with more, an H200 is slower.
pub(super) const GROUPS: usize = 10;
pub(super) const REGISTERS: usize = 96;

/// The place of a card on the PCI bus.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Address {
    pub(super) domain: u32,
    pub(super) bus: u32,
    pub(super) device: u32,
    pub(super) function: u32,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:02x}:{:02x}.{:x}", self.domain, self.bus, self.device, self.function)
    }
}

/// A device that runs kernels, as one library reaches it.
pub trait Device: Send + Sync {
    /// Returns the name of the device and of the library that reaches it.
    fn name(&self) -> &str;
    /// Returns the place of the device, if it is known.
    fn address(&self) -> Option<Address> {
        None
    }
    /// Returns true if the device is a CPU. A CPU has engines of its own.
    fn is_cpu(&self) -> bool;
    /// Returns the size of the device's memory, in bytes.
    fn memory(&self) -> u64;
    /// Returns how much of it nobody uses now, if the library reports that.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    fn free_memory(&self) -> Result<Option<u64>, GpuError> {
        Ok(None)
    }
    /// Returns the most bytes that one [`Memory`] can have.
    fn largest_memory(&self) -> u64 {
        self.memory()
    }
    /// Compiles the kernels for the device, and makes a queue for one thread. `depth` keys share an
    /// inversion, an even number.
    ///
    /// # Errors
    ///
    /// Returns the report of the compiler, or the call that failed.
    fn compile(&self, depth: u32) -> Result<Box<dyn Queue>, GpuError>;
}

/// Compiled kernels, with a queue of one thread. The device does the operations of a queue in order. A
/// queue takes only the memory of queues that have the same kernels.
pub trait Queue: Send + Sync {
    /// Makes a queue for another thread.
    ///
    /// # Errors
    ///
    /// Returns an error if the device refuses.
    fn another(&self) -> Result<Box<dyn Queue>, GpuError>;
    /// Returns the number of work items of the kernel `search` that the device runs at the same time, a
    /// whole number of groups.
    fn items_at_once(&self) -> usize;
    /// Reserves memory for `words` words. Their content is undefined.
    ///
    /// # Errors
    ///
    /// Returns an error if the device has too little memory.
    fn memory(&self, words: usize) -> Result<Memory, GpuError>;
    /// Writes `words` to the start of `to`.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    ///
    /// # Panics
    ///
    /// Panics if `to` is smaller than `words`.
    fn write(&self, to: &Memory, words: &[u32]) -> Result<(), GpuError>;
    /// Waits until all earlier operations are done, and reads the start of `from`.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    ///
    /// # Panics
    ///
    /// Panics if `from` is smaller than `words`.
    fn read(&self, from: &Memory, words: &mut [u32]) -> Result<(), GpuError>;
    /// Starts `items` work items of a kernel, rounded up to whole groups.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    ///
    /// # Safety
    ///
    /// The arguments must be those that the kernel takes. Their memory must have all elements that
    /// the kernel then reads and writes. The memory must not be freed before this queue has waited
    /// or read.
    unsafe fn launch(&self, kernel: &str, items: usize, args: &[Arg]) -> Result<(), GpuError>;
    /// Waits until all operations are done.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    fn wait(&self) -> Result<(), GpuError>;
}

/// Words in a device's memory. The memory is freed when the last clone is dropped.
#[derive(Clone)]
pub struct Memory {
    pub(super) words: usize,
    /// Its address or handle, for the library that reserved it.
    pub(super) handle: u64,
    /// What frees it.
    _owner: Arc<dyn Send + Sync>,
}

impl Memory {
    /// Returns memory of `words` words, which `owner` frees when it is dropped.
    pub(super) fn new(words: usize, handle: u64, owner: impl Send + Sync + 'static) -> Self {
        Self { words, handle, _owner: Arc::new(owner) }
    }
}

/// An argument of a kernel.
#[derive(Clone)]
pub enum Arg<'a> {
    /// The start of a memory.
    Memory(&'a Memory),
    Word(u32),
}

/// The error of a device or of its library.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum GpuError {
    /// No device exists, or no library that reaches one.
    #[error("{0}")]
    Missing(String),
    /// The kernels could not be compiled.
    #[error("its kernels could not be compiled: {}", .0.trim_end())]
    Compiler(String),
    /// The device computed a table with wrong entries.
    #[error("it computed wrong multiples of the base point")]
    WrongTable,
    /// The device has too little memory for what was asked of it.
    #[error("it has too little free memory")]
    NoMemory,
    #[error("{call} failed: {why}")]
    Call {
        call: &'static str,
        /// The report of the library.
        why: String,
    },
}

impl GpuError {
    /// Returns the error of a call that failed.
    pub fn call(call: &'static str, why: impl fmt::Display) -> Self {
        Self::Call { call, why: why.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_written_as_lspci_writes_it() {
        let address = |bus| Address { domain: 0, bus, device: 2, function: 1 };
        assert_eq!(address(0xa1).to_string(), "0000:a1:02.1");
        assert!(address(2) < address(16));
    }
}
