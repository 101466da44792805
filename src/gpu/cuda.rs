//! The host for NVIDIA's driver and its run-time compiler (NVRTC). It loads both libraries when
//! devices are listed.

use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute;
use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DriverError, LaunchConfig, PushKernelArg as _,
};
use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts};

use super::device::{
    Arg, Device, GROUP, GpuError, KERNELS, Memory, Program, Queue, Resources, Settings, find_kernel,
};
use super::source;

/// A CUDA device with its primary context.
struct Cuda {
    name: String,
    memory: u64,
    context: Arc<CudaContext>,
}

pub(super) fn devices() -> Result<Vec<Box<dyn Device>>, GpuError> {
    // SAFETY: the libraries are NVIDIA's, or those that the system has under their names.
    let (driver, compiler) =
        unsafe { (cudarc::driver::sys::is_culib_present(), cudarc::nvrtc::sys::is_culib_present()) };
    if !driver {
        return Err(GpuError::Missing("no CUDA driver was found".to_owned()));
    }
    if !compiler {
        return Err(GpuError::Missing("found a CUDA driver, but not its compiler NVRTC".to_owned()));
    }
    let missing = |error: DriverError| GpuError::Missing(format!("the CUDA driver does not work ({error})"));
    let count = CudaContext::device_count().map_err(missing)?;
    if count == 0 {
        return Err(GpuError::Missing("CUDA found no device".to_owned()));
    }
    let describe = |ordinal: i32| -> Result<Box<dyn Device>, DriverError> {
        let context = CudaContext::new(ordinal as usize)?;
        let (name, memory) = (format!("{} (CUDA)", context.name()?), context.total_mem()? as u64);
        Ok(Box::new(Cuda { name, memory, context }))
    };
    (0..count).map(|ordinal| describe(ordinal).map_err(missing)).collect()
}

/// The wide multiply-adds of a multiprocessor in a cycle. This is half of the 64 integer
/// multiply-adds of 32 bits that the CUDA C++ Programming Guide lists for compute capabilities 7 to
/// 9 (section "Arithmetic Instructions").
const WIDE_IN_A_CYCLE: f64 = 32.0;

/// Returns the options of the compiler for a compute capability.
fn options(capability: (i32, i32)) -> CompileOptions {
    let architecture = format!("--gpu-architecture=compute_{}{}", capability.0, capability.1);
    CompileOptions { options: vec![architecture], ..CompileOptions::default() }
}

impl Device for Cuda {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_processor(&self) -> bool {
        false
    }

    fn memory(&self) -> u64 {
        self.memory
    }

    fn wide_products_per_second(&self) -> Option<f64> {
        let attribute = |attribute| self.context.attribute(attribute).ok().map(f64::from);
        let kilohertz = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?;
        let multiprocessors = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        Some(multiprocessors * kilohertz * 1e3 * WIDE_IN_A_CYCLE)
    }

    fn compile(&self, settings: &Settings) -> Result<Box<dyn Program>, GpuError> {
        let failed = |error: DriverError| GpuError::call("loading kernels", error);
        let capability = self.context.compute_capability().map_err(failed)?;
        let text = source::text(settings, true);
        let ptx = compile_ptx_with_opts(text, options(capability)).map_err(|error| match error {
            CompileError::CompileError { log, .. } => GpuError::Compiler(log.to_string_lossy().into_owned()),
            other => GpuError::Compiler(other.to_string()),
        })?;
        let module = self.context.load_module(ptx).map_err(failed)?;
        let kernels: Result<_, _> =
            KERNELS.iter().map(|name| Ok((*name, module.load_function(name)?))).collect();
        let multiprocessors = self
            .context
            .attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
            .map_err(failed)?;
        Ok(Box::new(Compiled {
            context: Arc::clone(&self.context),
            multiprocessors: multiprocessors as usize,
            kernels: kernels.map_err(failed)?,
        }))
    }
}

/// The compiled kernels, with the context of their device.
struct Compiled {
    context: Arc<CudaContext>,
    multiprocessors: usize,
    kernels: Vec<(&'static str, CudaFunction)>,
}

impl Program for Compiled {
    fn items_at_once(&self, kernel: &str) -> usize {
        let groups = find_kernel(&self.kernels, kernel).ok().and_then(|kernel| {
            kernel.occupancy_max_active_blocks_per_multiprocessor(GROUP as u32, 0, None).ok()
        });
        self.multiprocessors * groups.map_or(1, |groups| groups.max(1) as usize) * GROUP
    }

    fn queue(&self) -> Result<Box<dyn Queue>, GpuError> {
        let stream = self.context.new_stream().map_err(|error| GpuError::call("making a queue", error))?;
        Ok(Box::new(CudaQueue { stream, kernels: self.kernels.clone() }))
    }

    fn resources(&self, kernel: &str) -> Option<Resources> {
        let kernel = find_kernel(&self.kernels, kernel).ok()?;
        Some(Resources {
            registers: kernel.num_regs().ok()? as u32,
            local_bytes: kernel.local_size_bytes().ok()? as u32,
        })
    }
}

/// A stream and the kernels.
struct CudaQueue {
    stream: Arc<CudaStream>,
    kernels: Vec<(&'static str, CudaFunction)>,
}

/// The handle of a [`Memory`].
type Handle = CudaSlice<u32>;

impl Queue for CudaQueue {
    fn memory(&mut self, words: usize) -> Result<Memory, GpuError> {
        let slice: Handle =
            self.stream.alloc_zeros(words).map_err(|error| GpuError::call("reserving memory", error))?;
        Ok(Memory::new(words, slice))
    }

    fn write(&mut self, to: &Memory, words: &[u32]) -> Result<(), GpuError> {
        assert!(words.len() <= to.words, "memory holds what is written to it");
        let mut slice = to.handle_mut::<Handle>()?;
        let failed = |error| GpuError::call("writing to memory", error);
        self.stream.memcpy_htod(words, &mut slice.slice_mut(..words.len())).map_err(failed)?;
        self.wait()
    }

    fn read(&mut self, from: &Memory, words: &mut [u32]) -> Result<(), GpuError> {
        assert!(words.len() <= from.words, "memory holds what is read from it");
        let slice = from.handle::<Handle>()?;
        let failed = |error| GpuError::call("reading from memory", error);
        self.stream.memcpy_dtoh(&slice.slice(..words.len()), words).map_err(failed)?;
        self.wait()
    }

    unsafe fn launch(&mut self, kernel: &'static str, items: usize, args: &[Arg]) -> Result<(), GpuError> {
        let kernel = find_kernel(&self.kernels, kernel)?;
        // The builder refers to the handles until the launch.
        let mut handles = Vec::new();
        for arg in args {
            handles.push(match arg {
                Arg::Memory(memory) => Some(memory.handle::<Handle>()?),
                Arg::Word(_) => None,
            });
        }
        let mut launch = self.stream.launch_builder(kernel);
        for (arg, slice) in args.iter().zip(&handles) {
            match (arg, slice) {
                (Arg::Word(word), _) => launch.arg(word),
                (Arg::Memory(_), Some(slice)) => launch.arg(&**slice),
                (Arg::Memory(_), None) => unreachable!("a memory has a handle"),
            };
        }
        let config = LaunchConfig {
            grid_dim: (items.div_ceil(GROUP) as u32, 1, 1),
            block_dim: (GROUP as u32, 1, 1),
            shared_mem_bytes: 0,
        };
        // SAFETY: the caller promises that the arguments are right and that their memory stays.
        unsafe { launch.launch(config) }.map_err(|error| GpuError::call("launching a kernel", error))?;
        Ok(())
    }

    fn wait(&mut self) -> Result<(), GpuError> {
        self.stream.synchronize().map_err(|error| GpuError::call("waiting for a device", error))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{missing, settings};
    use super::*;

    /// Compiles for the oldest GPUs that the current compiler supports, and for later ones up to
    /// those of 2022. The test needs no GPU.
    #[test]
    fn the_text_compiles_with_nvrtc() {
        // SAFETY: the library is NVIDIA's, or the one that the system has under its name.
        if !unsafe { cudarc::nvrtc::sys::is_culib_present() } {
            return missing("nvrtc", "there is no NVRTC here");
        }
        for capability in [(7, 5), (8, 0), (8, 9), (9, 0)] {
            let ptx = compile_ptx_with_opts(source::text(&settings(), true), options(capability));
            let ptx = ptx.unwrap_or_else(|error| panic!("{capability:?}: {error}")).to_src();
            for kernel in KERNELS {
                assert!(ptx.contains(&format!(".entry {kernel}(")), "{kernel}");
            }
        }
    }
}
