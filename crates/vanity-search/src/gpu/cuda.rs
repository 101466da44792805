//! The host for NVIDIA's driver and its run-time compiler (NVRTC). It loads both libraries when
//! devices are listed.

use std::ffi::CString;
use std::sync::Arc;

use cudarc::driver::sys::{CUdevice_attribute, CUresult};
use cudarc::driver::{
    CudaContext, CudaModule, CudaStream, DevicePtr as _, DriverError, LaunchConfig, PushKernelArg as _,
    result,
};
use cudarc::nvrtc::sys::{nvrtcGetCUBIN, nvrtcGetCUBINSize};
use cudarc::nvrtc::{Ptx, result as nvrtc, result::NvrtcError};

use super::device::{Address, Arg, Device, GROUP, GpuError, Memory, Queue};
use super::source;

/// A CUDA device. Its primary context exists only while the device is used.
struct Cuda {
    ordinal: usize,
    name: String,
    address: Address,
    memory: u64,
}

pub(super) fn devices() -> Result<Vec<Arc<dyn Device>>, GpuError> {
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
    (0..count).map(|ordinal| describe(ordinal).map_err(missing)).collect()
}

/// Asks for the properties of a device.
fn describe(ordinal: i32) -> Result<Arc<dyn Device>, DriverError> {
    let device = result::device::get(ordinal)?;
    // SAFETY: the driver returned this device.
    let attribute = |attribute| unsafe { result::device::get_attribute(device, attribute) };
    let address = Address {
        domain: attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)? as u32,
        bus: attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)? as u32,
        device: attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)? as u32,
        function: 0,
    };
    // SAFETY: as above.
    let memory = unsafe { result::device::total_mem(device) }? as u64;
    let name = format!("{} (CUDA)", result::device::get_name(device)?);
    Ok(Arc::new(Cuda { ordinal: ordinal as usize, name, address, memory }))
}

/// Names the call that failed.
fn failed(call: &'static str) -> impl Fn(DriverError) -> GpuError {
    move |error| match error.0 {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => GpuError::NoMemory,
        _ => GpuError::call(call, error),
    }
}

/// Compiles a text for one compute capability, to machine code: a driver may be too old for the PTX
/// of a compiler.
fn compile(text: &str, capability: (i32, i32)) -> Result<Vec<u8>, GpuError> {
    let text = CString::new(text).map_err(|error| GpuError::Compiler(error.to_string()))?;
    let other = |error: NvrtcError| GpuError::Compiler(error.to_string());
    let program = nvrtc::create_program(&text, None).map_err(other)?;
    let option = format!("--gpu-architecture=sm_{}{}", capability.0, capability.1);
    // SAFETY: the program exists until its last line here, and `code` has the size that the compiler
    // asks for.
    unsafe {
        let compiled = nvrtc::compile_program(program, &[option]).map_err(|error| {
            let log = nvrtc::get_program_log(program).unwrap_or_default();
            let log: Vec<u8> = log.into_iter().map(|byte| byte as u8).take_while(|byte| *byte != 0).collect();
            match String::from_utf8_lossy(&log).trim() {
                "" => other(error),
                log => GpuError::Compiler(log.to_owned()),
            }
        });
        let code = compiled.and_then(|()| {
            let mut size = 0;
            nvrtcGetCUBINSize(program, &raw mut size).result().map_err(other)?;
            let mut code = vec![0u8; size];
            nvrtcGetCUBIN(program, code.as_mut_ptr().cast()).result().map_err(other)?;
            Ok(code)
        });
        let _ = nvrtc::destroy_program(program);
        code
    }
}

impl Device for Cuda {
    fn name(&self) -> &str {
        &self.name
    }

    fn address(&self) -> Option<Address> {
        Some(self.address)
    }

    fn is_cpu(&self) -> bool {
        false
    }

    fn memory(&self) -> u64 {
        self.memory
    }

    fn free_memory(&self) -> Result<Option<u64>, GpuError> {
        let failed = failed("asking for free memory");
        let context = CudaContext::new(self.ordinal).map_err(&failed)?;
        context.mem_get_info().map(|(free, _)| Some(free as u64)).map_err(failed)
    }

    fn compile(&self, depth: u32) -> Result<Box<dyn Queue>, GpuError> {
        let failed = failed("loading kernels");
        let context = CudaContext::new(self.ordinal).map_err(&failed)?;
        let capability = context.compute_capability().map_err(&failed)?;
        let code = compile(&source::text(depth, true), capability)?;
        let module = context.load_module(Ptx::from_binary(code)).map_err(&failed)?;
        let stream = context.new_stream().map_err(failed)?;
        Ok(Box::new(CudaQueue { context, module, stream }))
    }
}

/// The compiled kernels and a stream.
struct CudaQueue {
    context: Arc<CudaContext>,
    module: Arc<CudaModule>,
    stream: Arc<CudaStream>,
}

impl Queue for CudaQueue {
    fn another(&self) -> Result<Box<dyn Queue>, GpuError> {
        let stream = self.context.new_stream().map_err(failed("making a queue"))?;
        Ok(Box::new(Self { context: Arc::clone(&self.context), module: Arc::clone(&self.module), stream }))
    }

    fn items_at_once(&self) -> usize {
        let search = self.module.load_function("search");
        let groups = search
            .and_then(|search| search.occupancy_max_active_blocks_per_multiprocessor(GROUP as u32, 0, None));
        let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        let multiprocessors = self.context.attribute(attribute).unwrap_or(1);
        multiprocessors as usize * groups.unwrap_or(1).max(1) as usize * GROUP
    }

    fn memory(&self, words: usize) -> Result<Memory, GpuError> {
        let slice = self.stream.alloc_zeros::<u32>(words).map_err(failed("reserving memory"))?;
        let address = slice.device_ptr(&self.stream).0;
        Ok(Memory::new(words, address, slice))
    }

    fn write(&self, to: &Memory, words: &[u32]) -> Result<(), GpuError> {
        assert!(words.len() <= to.words, "memory holds what is written to it");
        let bound = self.context.bind_to_thread();
        let stream = self.stream.cu_stream();
        // SAFETY: the memory has enough words, and is not freed while `to` exists. The copy ends before
        // this function does.
        let written = bound.and_then(|()| unsafe { result::memcpy_htod_async(to.handle, words, stream) });
        written.map_err(failed("writing to memory"))?;
        self.wait()
    }

    fn read(&self, from: &Memory, words: &mut [u32]) -> Result<(), GpuError> {
        assert!(words.len() <= from.words, "memory holds what is read from it");
        let bound = self.context.bind_to_thread();
        let stream = self.stream.cu_stream();
        // SAFETY: as above.
        let read = bound.and_then(|()| unsafe { result::memcpy_dtoh_async(words, from.handle, stream) });
        read.map_err(failed("reading from memory"))?;
        self.wait()
    }

    unsafe fn launch(&self, kernel: &str, items: usize, args: &[Arg]) -> Result<(), GpuError> {
        let failed = failed("launching a kernel");
        let kernel = self.module.load_function(kernel).map_err(&failed)?;
        let mut launch = self.stream.launch_builder(&kernel);
        for arg in args {
            match arg {
                Arg::Memory(memory) => launch.arg(&memory.handle),
                Arg::Word(word) => launch.arg(word),
            };
        }
        let config = LaunchConfig {
            grid_dim: (items.div_ceil(GROUP) as u32, 1, 1),
            block_dim: (GROUP as u32, 1, 1),
            shared_mem_bytes: 0,
        };
        // SAFETY: the caller promises that the arguments are right and that their memory stays.
        unsafe { launch.launch(config) }.map(drop).map_err(failed)
    }

    fn wait(&self) -> Result<(), GpuError> {
        self.stream.synchronize().map_err(failed("waiting for a device"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{KERNELS, missing};
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
            let code = compile(&source::text(128, true), capability);
            let code = code.unwrap_or_else(|error| panic!("{capability:?}: {error}"));
            assert!(code.starts_with(b"\x7fELF"), "machine code");
            for kernel in KERNELS {
                let name = format!(".text.{kernel}\0");
                assert!(code.windows(name.len()).any(|at| at == name.as_bytes()), "{kernel}");
            }
        }
        // A card that the compiler does not know is tried by OpenCL.
        let unknown = compile("", (1, 0)).unwrap_err().to_string();
        assert!(unknown.contains("architecture"), "{unknown}");
    }
}
