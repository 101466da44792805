//! The traits that each host implements: devices, programs and queues.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use thiserror::Error;

/// The number of work items in a group.
pub(super) const GROUP: usize = 64;

/// The groups of the search that an NVIDIA multiprocessor runs at the same time. Its 65,536 registers
/// give each work item 96. With fewer groups, or with more, an H200 is slower.
pub(super) const GROUPS: usize = 10;
pub(super) const REGISTERS: usize = 96;

/// The names of the kernels in the text.
pub(super) const KERNELS: [&str; 6] = ["search", "wipe", "multiples", "plant", "grow", "check"];

/// The numbers that the kernels are compiled with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The number of keys of a work item, which share an inversion. It must be even.
    pub depth: u32,
    /// The constants that `kernel/filter.cl` uses, with their names.
    pub filter_numbers: Vec<(&'static str, u64)>,
}

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
    fn is_processor(&self) -> bool;
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
    /// Compiles the kernels for the device.
    ///
    /// # Errors
    ///
    /// Returns the report of the compiler, or the call that failed.
    fn compile(&self, settings: &Settings) -> Result<Box<dyn Program>, GpuError>;
}

/// The kernels, compiled for a device.
pub trait Program: Send + Sync {
    /// Makes a queue for one thread.
    ///
    /// # Errors
    ///
    /// Returns an error if the device refuses.
    fn queue(&self) -> Result<Box<dyn Queue>, GpuError>;
    /// Returns the number of work items of a kernel that the device runs at the same time, a whole
    /// number of groups.
    fn items_at_once(&self, kernel: &str) -> usize;
}

/// A queue of one thread. The device does its operations in order.
pub trait Queue: Send {
    /// Reserves memory for `words` words. Their content is undefined.
    ///
    /// # Errors
    ///
    /// Returns an error if the device has too little memory.
    fn memory(&mut self, words: usize) -> Result<Memory, GpuError>;
    /// Writes `words` to the start of `to`.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    ///
    /// # Panics
    ///
    /// Panics if `to` is smaller than `words`.
    fn write(&mut self, to: &Memory, words: &[u32]) -> Result<(), GpuError>;
    /// Waits until all earlier operations are done, and reads the start of `from`.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    ///
    /// # Panics
    ///
    /// Panics if `from` is smaller than `words`.
    fn read(&mut self, from: &Memory, words: &mut [u32]) -> Result<(), GpuError>;
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
    unsafe fn launch(&mut self, kernel: &'static str, items: usize, args: &[Arg]) -> Result<(), GpuError>;
    /// Waits until all operations are done.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails.
    fn wait(&mut self) -> Result<(), GpuError>;
}

/// Words in a device's memory. The memory is freed when the last clone is dropped.
#[derive(Clone)]
pub struct Memory {
    pub(super) words: usize,
    handle: Arc<dyn Any + Send + Sync>,
}

impl Memory {
    /// Returns memory of `words` words. `handle` is the host's handle of it.
    pub(super) fn new<H: Any + Send + Sync>(words: usize, handle: H) -> Self {
        Self { words, handle: Arc::new(RwLock::new(handle)) }
    }

    /// Returns the handle, for the host that made it. A launch can hold the same handle several
    /// times, because a memory can be several of its arguments.
    ///
    /// # Errors
    ///
    /// Returns an error if another host made the handle.
    pub(super) fn handle<H: Any + Send + Sync>(&self) -> Result<RwLockReadGuard<'_, H>, GpuError> {
        Ok(self.lock()?.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the handle, to write to the memory.
    ///
    /// # Errors
    ///
    /// Returns an error if another host made the handle.
    pub(super) fn handle_mut<H: Any + Send + Sync>(&self) -> Result<RwLockWriteGuard<'_, H>, GpuError> {
        Ok(self.lock()?.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn lock<H: Any + Send + Sync>(&self) -> Result<&RwLock<H>, GpuError> {
        self.handle.downcast_ref().ok_or_else(|| GpuError::call("finding memory", "it is another host's"))
    }
}

pub(super) fn find_kernel<'a, K>(kernels: &'a [(&'static str, K)], name: &str) -> Result<&'a K, GpuError> {
    let kernel = kernels.iter().find(|(known, _)| *known == name);
    kernel.map(|(_, kernel)| kernel).ok_or_else(|| GpuError::call("finding a kernel", name))
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
    fn a_memory_can_be_two_arguments_of_a_launch() {
        let memory = Memory::new(1, 7u32);
        let (first, second) = (memory.handle::<u32>().unwrap(), memory.handle::<u32>().unwrap());
        assert_eq!((*first, *second), (7, 7));
        drop((first, second));
        *memory.handle_mut::<u32>().unwrap() = 8;
        assert_eq!(*memory.clone().handle::<u32>().unwrap(), 8);
        assert!(memory.handle::<u64>().is_err(), "another host's");
    }

    #[test]
    fn an_address_is_written_as_lspci_writes_it() {
        let address = |bus| Address { domain: 0, bus, device: 2, function: 1 };
        assert_eq!(address(0xa1).to_string(), "0000:a1:02.1");
        assert!(address(2) < address(16));
    }
}
