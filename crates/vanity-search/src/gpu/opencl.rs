//! The host for OpenCL. It loads the library when devices are listed.

use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, Device as Id};
use opencl3::error_codes::{
    CL_INVALID_BUFFER_SIZE, CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES, ClError,
};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem as _};
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_mem};

use super::device::{Address, Arg, Device, GROUP, GROUPS, GpuError, Memory, Queue, REGISTERS};
use super::source;

/// An OpenCL device.
struct OpenCl {
    id: Id,
    name: String,
    address: Option<Address>,
    is_cpu: bool,
    memory: u64,
    largest_memory: u64,
    units: usize,
    is_nvidia: bool,
}

/// Returns all devices. If CUDA has devices, those of NVIDIA are left out that are not among them.
pub(super) fn devices(of_cuda: Option<&[Arc<dyn Device>]>) -> Result<Vec<Arc<dyn Device>>, GpuError> {
    // PoCL 3.1 crashes if two threads make its first call at the same time.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // The OpenCL loader returns -1001 if it finds no driver.
    let platforms = get_platforms()
        .map_err(|error| GpuError::Missing(format!("no OpenCL driver was found ({})", error_text(&error))))?;
    let mut devices: Vec<Arc<dyn Device>> = Vec::new();
    for platform in platforms {
        // A platform without devices returns an error.
        for id in platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default() {
            // A device that cannot even be described is as good as none.
            let Ok(device) = describe(Id::new(id)) else { continue };
            let is_known = |cuda: &[Arc<dyn Device>]| cuda.iter().any(|of| of.address() == device.address);
            if !device.is_nvidia || of_cuda.is_none_or(is_known) {
                devices.push(Arc::new(device));
            }
        }
    }
    if devices.is_empty() && of_cuda.is_none() {
        return Err(GpuError::Missing("OpenCL found no device".to_owned()));
    }
    Ok(devices)
}

/// Asks for the properties of a device.
fn describe(id: Id) -> Result<OpenCl, ClError> {
    let extensions = id.extensions()?;
    Ok(OpenCl {
        name: format!("{} (OpenCL)", id.name()?.trim()),
        address: address(&id, &extensions),
        is_cpu: id.dev_type()? & CL_DEVICE_TYPE_CPU != 0,
        memory: id.global_mem_size()?,
        largest_memory: id.max_mem_alloc_size()?,
        units: id.max_compute_units()? as usize,
        // NVIDIA's compiler accepts PTX.
        is_nvidia: extensions.contains(OF_NVIDIA),
        id,
    })
}

/// The extensions by which a device reports its place.
const OF_NVIDIA: &str = "cl_nv_device_attribute_query";
const OF_AMD: &str = "cl_amd_device_attribute_query";
const OF_ALL: &str = "cl_khr_pci_bus_info";

/// Returns the place of a device, if it reports one.
fn address(id: &Id, extensions: &str) -> Option<Address> {
    if extensions.contains(OF_ALL) {
        let place = id.pcibusinfokhr_intel().ok()?;
        let (domain, bus) = (place.pci_domain, place.pci_bus);
        return Some(Address { domain, bus, device: place.pci_device, function: place.pci_function });
    }
    if extensions.contains(OF_NVIDIA) {
        let (bus, slot) = (id.pci_bus_id_nv().ok()?, id.pci_slot_id_nv().ok()?);
        return Some(Address { domain: bus >> 8, bus: bus & 0xff, device: slot >> 3, function: slot & 7 });
    }
    let place = extensions.contains(OF_AMD).then(|| id.topology_amd().ok()).flatten()?;
    let [bus, device, function] = [place.bus, place.device, place.function].map(u32::from);
    Some(Address { domain: 0, bus, device, function })
}

/// Returns the name and the number of an error.
fn error_text(error: &ClError) -> String {
    format!("{error} {}", error.0)
}

/// Names the call that failed. NVIDIA's driver reserves memory when it is first used, so any call
/// can find too little of it.
fn checked<T>(call: &'static str, result: Result<T, ClError>) -> Result<T, GpuError> {
    result.map_err(|error| match error.0 {
        CL_MEM_OBJECT_ALLOCATION_FAILURE | CL_OUT_OF_RESOURCES | CL_INVALID_BUFFER_SIZE => GpuError::NoMemory,
        _ => GpuError::call(call, error_text(&error)),
    })
}

impl Device for OpenCl {
    fn name(&self) -> &str {
        &self.name
    }

    fn address(&self) -> Option<Address> {
        self.address
    }

    fn is_cpu(&self) -> bool {
        self.is_cpu
    }

    fn memory(&self) -> u64 {
        self.memory
    }

    /// Only AMD's devices report it, in KiB.
    fn free_memory(&self) -> Result<Option<u64>, GpuError> {
        let free = self.id.global_free_memory_amd().ok().filter(|_| !self.is_nvidia);
        Ok(free.map(|kib| (kib as u64) << 10))
    }

    fn largest_memory(&self) -> u64 {
        self.largest_memory
    }

    fn compile(&self, depth: u32) -> Result<Box<dyn Queue>, GpuError> {
        let text = source::text(depth, self.is_nvidia);
        let mut options = "-cl-std=CL1.2".to_owned();
        if self.is_cpu {
            options += " -D SMALL_CODE";
        } else if self.is_nvidia {
            options += &format!(" -cl-nv-maxrregcount={REGISTERS}");
        }
        let context = checked("making a context", Context::from_device(&self.id))?;
        let program =
            Program::create_and_build_from_source(&context, &text, &options).map_err(GpuError::Compiler)?;
        // OpenCL does not report the groups that a compute unit runs at the same time. All GPUs are
        // assumed to be like NVIDIA's.
        let items = if self.is_cpu { GROUP } else { self.units * GROUPS * GROUP };
        OpenClQueue::of(Arc::new(Compiled { program, context, items }))
    }
}

/// The compiled kernels, with the context of their device.
struct Compiled {
    program: Program,
    context: Context,
    items: usize,
}

struct OpenClQueue {
    of: Arc<Compiled>,
    queue: CommandQueue,
}

impl OpenClQueue {
    fn of(of: Arc<Compiled>) -> Result<Box<dyn Queue>, GpuError> {
        let device = of.context.default_device();
        // SAFETY: the context was made for this device.
        let queue = unsafe { CommandQueue::create_with_properties(&of.context, device, 0, 0) };
        Ok(Box::new(Self { queue: checked("making a queue", queue)?, of }))
    }
}

/// Borrows a memory as this library's.
fn buffer(memory: &Memory) -> ManuallyDrop<Buffer<u32>> {
    ManuallyDrop::new(Buffer::new(memory.handle as usize as cl_mem))
}

impl Queue for OpenClQueue {
    fn another(&self) -> Result<Box<dyn Queue>, GpuError> {
        Self::of(Arc::clone(&self.of))
    }

    fn items_at_once(&self) -> usize {
        self.of.items
    }

    fn memory(&self, words: usize) -> Result<Memory, GpuError> {
        // SAFETY: the host pointer is null, so nothing is copied.
        let buffer = unsafe { Buffer::create(&self.of.context, CL_MEM_READ_WRITE, words, ptr::null_mut()) };
        let buffer: Buffer<u32> = checked("reserving memory", buffer)?;
        Ok(Memory::new(words, buffer.get() as usize as u64, buffer))
    }

    fn write(&self, to: &Memory, words: &[u32]) -> Result<(), GpuError> {
        assert!(words.len() <= to.words, "memory holds what is written to it");
        // SAFETY: the buffer has enough words, and the call returns when all are copied.
        let written = unsafe { self.queue.enqueue_write_buffer(&mut buffer(to), CL_BLOCKING, 0, words, &[]) };
        checked("writing to memory", written).map(drop)
    }

    fn read(&self, from: &Memory, words: &mut [u32]) -> Result<(), GpuError> {
        assert!(words.len() <= from.words, "memory holds what is read from it");
        // SAFETY: the buffer has enough words, and the call returns when all are copied.
        let read = unsafe { self.queue.enqueue_read_buffer(&buffer(from), CL_BLOCKING, 0, words, &[]) };
        checked("reading from memory", read).map(drop)
    }

    unsafe fn launch(&self, kernel: &str, items: usize, args: &[Arg]) -> Result<(), GpuError> {
        // The arguments of a kernel are its state, so each launch has a kernel of its own.
        let kernel = checked("making a kernel", Kernel::create(&self.of.program, kernel))?;
        let mut execution = ExecuteKernel::new(&kernel);
        for arg in args {
            // SAFETY: the caller promises that the kernel takes memory or a `uint` here. The call copies
            // the handle or the number.
            unsafe {
                match arg {
                    Arg::Memory(memory) => execution.set_arg(&(memory.handle as usize as cl_mem)),
                    Arg::Word(word) => execution.set_arg(word),
                }
            };
        }
        execution.set_global_work_size(items.next_multiple_of(GROUP)).set_local_work_size(GROUP);
        // SAFETY: the arguments are set. The caller promises that they are right and that their
        // memory stays.
        let launched = unsafe { execution.enqueue_nd_range(&self.queue) };
        checked("launching a kernel", launched).map(drop)
    }

    fn wait(&self) -> Result<(), GpuError> {
        checked("waiting for a device", self.queue.finish())
    }
}
