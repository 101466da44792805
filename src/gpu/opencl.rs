//! The host for OpenCL. Its library is looked for when devices are asked for.

use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, Device as Id};
use opencl3::error_codes::ClError;
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem as _};
use opencl3::platform::get_platforms;
use opencl3::types::{CL_BLOCKING, cl_mem};

use super::device::{
    Arg, Device, GROUP, GpuError, KERNELS, Memory, Program, Queue, Resources, Settings, named,
};
use super::source;

/// An OpenCL device with its context.
struct OpenCl {
    name: String,
    is_processor: bool,
    memory: u64,
    is_nvidia: bool,
    context: Arc<Context>,
}

/// All devices; those of NVIDIA only if they have to be reached in this way.
pub(super) fn devices(without_nvidia: bool) -> Result<Vec<Box<dyn Device>>, GpuError> {
    // PoCL 3.1 crashes where two threads ask it first.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // The library of drivers says -1001 where it finds no driver.
    let platforms = get_platforms()
        .map_err(|error| GpuError::Missing(format!("OpenCL has no driver here ({})", said(&error))))?;
    let mut devices: Vec<Box<dyn Device>> = Vec::new();
    for platform in platforms {
        // A platform without devices answers with an error.
        for id in platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default() {
            let device =
                describe(&Id::new(id)).map_err(|error| GpuError::call("asking a device", said(&error)))?;
            if !(without_nvidia && device.is_nvidia) {
                devices.push(Box::new(device));
            }
        }
    }
    if devices.is_empty() && !without_nvidia {
        return Err(GpuError::Missing("OpenCL has no device here".to_owned()));
    }
    Ok(devices)
}

fn describe(id: &Id) -> Result<OpenCl, ClError> {
    Ok(OpenCl {
        name: format!("{} (OpenCL)", id.name()?.trim()),
        is_processor: id.dev_type()? & CL_DEVICE_TYPE_CPU != 0,
        memory: id.global_mem_size()?,
        // Whose compiler takes PTX.
        is_nvidia: id.extensions()?.contains("cl_nv_device_attribute_query"),
        context: Arc::new(Context::from_device(id)?),
    })
}

fn said(error: &ClError) -> String {
    format!("{error} {}", error.0)
}

impl Device for OpenCl {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_processor(&self) -> bool {
        self.is_processor
    }

    fn memory(&self) -> u64 {
        self.memory
    }

    fn compile(&self, settings: &Settings) -> Result<Box<dyn Program>, GpuError> {
        let text = source::text(settings, self.is_nvidia);
        let options = if self.is_processor { "-cl-std=CL1.2 -D SMALL_CODE" } else { "-cl-std=CL1.2" };
        let program = opencl3::program::Program::create_and_build_from_source(&self.context, &text, options)
            .map_err(GpuError::Compiler)?;
        Ok(Box::new(Compiled { context: Arc::clone(&self.context), program }))
    }
}

struct Compiled {
    context: Arc<Context>,
    program: opencl3::program::Program,
}

impl Program for Compiled {
    fn queue(&self) -> Result<Box<dyn Queue>, GpuError> {
        let device = self.context.default_device();
        // SAFETY: the device is the one that the context was made for.
        let queue = unsafe { CommandQueue::create_with_properties(&self.context, device, 0, 0) }
            .map_err(|error| GpuError::call("making a queue", said(&error)))?;
        let kernel = |name| Kernel::create(&self.program, name);
        let kernels: Result<_, _> = KERNELS.iter().map(|name| Ok((*name, kernel(name)?))).collect();
        let kernels = kernels.map_err(|error: ClError| GpuError::call("making a kernel", said(&error)))?;
        Ok(Box::new(OpenClQueue { context: Arc::clone(&self.context), queue, kernels }))
    }

    fn resources(&self, _: &str) -> Option<Resources> {
        None
    }
}

/// A queue, and kernels whose arguments nobody else sets.
struct OpenClQueue {
    context: Arc<Context>,
    queue: CommandQueue,
    kernels: Vec<(&'static str, Kernel)>,
}

/// What the place of a [`Memory`] is.
type Place = Buffer<u32>;

impl Queue for OpenClQueue {
    fn memory(&mut self, words: usize) -> Result<Memory, GpuError> {
        // SAFETY: without a pointer of ours nothing is copied.
        let buffer: Place =
            unsafe { Buffer::create(&self.context, CL_MEM_READ_WRITE, words, ptr::null_mut()) }
                .map_err(|error| GpuError::call("reserving memory", said(&error)))?;
        Ok(Memory::new(words, buffer))
    }

    fn write(&mut self, to: &Memory, words: &[u32]) -> Result<(), GpuError> {
        assert!(words.len() <= to.words, "memory holds what is written to it");
        let mut buffer = to.place::<Place>()?;
        // SAFETY: the buffer has as many words, and the call returns when all are copied.
        unsafe { self.queue.enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, words, &[]) }
            .map_err(|error| GpuError::call("writing to memory", said(&error)))?;
        Ok(())
    }

    fn read(&mut self, from: &Memory, words: &mut [u32]) -> Result<(), GpuError> {
        assert!(words.len() <= from.words, "memory holds what is read from it");
        let buffer = from.place::<Place>()?;
        // SAFETY: the buffer has as many words, and the call returns when all are copied.
        unsafe { self.queue.enqueue_read_buffer(&buffer, CL_BLOCKING, 0, words, &[]) }
            .map_err(|error| GpuError::call("reading from memory", said(&error)))?;
        Ok(())
    }

    unsafe fn launch(&mut self, kernel: &'static str, items: usize, args: &[Arg]) -> Result<(), GpuError> {
        let kernel = named(&self.kernels, kernel)?;
        let mut execution = ExecuteKernel::new(kernel);
        for arg in args {
            match arg {
                Arg::Memory(memory) => {
                    let buffer: cl_mem = memory.place::<Place>()?.get();
                    // SAFETY: the caller says that the kernel takes memory here; a handle is copied.
                    unsafe { execution.set_arg(&buffer) };
                }
                Arg::Word(word) => {
                    // SAFETY: the caller says that the kernel takes a `uint` here.
                    unsafe { execution.set_arg(word) };
                }
            }
        }
        execution.set_global_work_size(items.next_multiple_of(GROUP)).set_local_work_size(GROUP);
        // SAFETY: the arguments are set, and the caller says that they are right and their memory stays.
        unsafe { execution.enqueue_nd_range(&self.queue) }
            .map_err(|error| GpuError::call("launching a kernel", said(&error)))?;
        Ok(())
    }

    fn wait(&mut self) -> Result<(), GpuError> {
        self.queue.finish().map_err(|error| GpuError::call("waiting for a device", said(&error)))
    }
}
