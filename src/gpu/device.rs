//! What a device can be asked for, whatever library reaches it.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Work items in a group.
pub(super) const GROUP: usize = 64;

/// The kernels, by the names that they have in the text.
pub(super) const KERNELS: [&str; 7] = ["draw", "take", "wipe", "derive", "convert", "digest", "search"];

/// What kernels are compiled for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The windows of the scalar: first bit, bits of an index, first entry.
    pub windows: Vec<[u32; 3]>,
    /// Keys of a work item, which share an inversion.
    pub depth: u32,
    /// What `kernel/filter.cl` refers to, by name.
    pub filter_numbers: Vec<(&'static str, u64)>,
}

/// A device.
pub trait Device: Send + Sync {
    /// Its name, and how it is reached.
    fn name(&self) -> &str;
    /// Whether it is a processor, which has engines of its own.
    fn is_processor(&self) -> bool;
    /// The bytes of its memory.
    fn memory(&self) -> u64;
    /// How many wide multiply-adds (32 by 32 bits, and 64) it can do in a second, where that is known.
    fn wide_products_per_second(&self) -> Option<f64> {
        None
    }
    /// Compiles the kernels for it.
    ///
    /// # Errors
    ///
    /// What its compiler says.
    fn compile(&self, settings: &Settings) -> Result<Box<dyn Program>, GpuError>;
}

/// Kernels that were compiled for a device.
pub trait Program: Send + Sync {
    /// A queue of its own for one thread.
    ///
    /// # Errors
    ///
    /// The device refuses.
    fn queue(&self) -> Result<Box<dyn Queue>, GpuError>;
    /// What a kernel needs, where the compiler tells.
    fn resources(&self, kernel: &str) -> Option<Resources>;
}

/// What a work item of a kernel needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resources {
    /// Registers.
    pub registers: u32,
    /// Bytes of memory for what does not fit into them.
    pub local_bytes: u32,
}

/// What one thread has a device do, one after the other.
pub trait Queue: Send {
    /// Memory for so many words, whatever is in it.
    ///
    /// # Errors
    ///
    /// There is not so much.
    fn memory(&mut self, words: usize) -> Result<Memory, GpuError>;
    /// Writes to the beginning of `to`.
    ///
    /// # Errors
    ///
    /// The device fails.
    fn write(&mut self, to: &Memory, words: &[u32]) -> Result<(), GpuError>;
    /// Reads the beginning of `from`, when all before is done.
    ///
    /// # Errors
    ///
    /// The device fails.
    fn read(&mut self, from: &Memory, words: &mut [u32]) -> Result<(), GpuError>;
    /// Has so many work items of a kernel run, rounded up to whole groups.
    ///
    /// # Errors
    ///
    /// The device fails.
    ///
    /// # Safety
    ///
    /// The arguments are those that the kernel takes. Their memory has all the elements that it then reads and writes, and is not let
    /// go before this queue has waited or read.
    unsafe fn launch(&mut self, kernel: &'static str, items: usize, args: &[Arg]) -> Result<(), GpuError>;
    /// Waits until all is done.
    ///
    /// # Errors
    ///
    /// The device fails.
    fn wait(&mut self) -> Result<(), GpuError>;
}

/// Words in a device's memory, which is freed when the last clone is gone.
#[derive(Clone)]
pub struct Memory {
    pub(super) words: usize,
    place: Arc<dyn Any + Send + Sync>,
}

impl Memory {
    /// So many words at a place of a host's.
    pub(super) fn new<P: Any + Send>(words: usize, place: P) -> Self {
        Self { words, place: Arc::new(Mutex::new(place)) }
    }

    /// The place, for the host whose it is.
    pub(super) fn place<P: Any + Send>(&self) -> Result<MutexGuard<'_, P>, GpuError> {
        let place: Option<&Mutex<P>> = self.place.downcast_ref();
        let place = place.ok_or_else(|| GpuError::call("finding memory", "it is another host's"))?;
        Ok(place.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The kernel of this name.
pub(super) fn named<'a, K>(kernels: &'a [(&'static str, K)], name: &str) -> Result<&'a K, GpuError> {
    let kernel = kernels.iter().find(|(known, _)| *known == name);
    kernel.map(|(_, kernel)| kernel).ok_or_else(|| GpuError::call("finding a kernel", name))
}

/// What a kernel is told.
pub enum Arg<'a> {
    /// Where memory begins.
    Memory(&'a Memory),
    /// A number.
    Word(u32),
}

/// Why a device cannot do what it should.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GpuError {
    /// There is no device, or no library that reaches one.
    Missing(String),
    /// The kernels could not be compiled.
    Compiler(String),
    /// A call failed.
    Call {
        /// Which one.
        call: &'static str,
        /// What the library says.
        why: String,
    },
}

impl GpuError {
    /// Of a call that failed.
    pub(crate) fn call(call: &'static str, why: impl fmt::Display) -> Self {
        Self::Call { call, why: why.to_string() }
    }
}

impl fmt::Display for GpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(what) => write!(f, "{what}"),
            Self::Compiler(log) => write!(f, "its kernels could not be compiled: {}", log.trim_end()),
            Self::Call { call, why } => write!(f, "{call} failed: {why}"),
        }
    }
}

impl std::error::Error for GpuError {}
