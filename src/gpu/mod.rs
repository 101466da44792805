//! GPUs and other devices with OpenCL or CUDA: their detection, and the kernels that a search runs
//! on them.
//!
//! The kernels (`kernel/`) are one text in the common subset of OpenCL C and CUDA C, which `source`
//! assembles. Two thin hosts compile and launch it: `opencl` for any device with OpenCL, and `cuda`
//! for NVIDIA's driver with its run-time compiler. The hosts load their libraries when devices are
//! listed. Without a library its host has no devices. [`Pipeline`] uses a host: one kernel takes a
//! batch of many thousand keys from the counter of ChaCha20 to the survivors, the keys that may
//! match. While one warp hashes, which takes additions and rotations, others multiply.
//!
//! Only this module, `simd` and `sys::windows` contain `unsafe`, here because the hosts call
//! foreign libraries. A kernel accesses only as many elements as its arguments allow, and
//! [`Pipeline`] never passes more than the memory holds.
//!
//! A key costs 7 products for each window but the first and the last, 3 for the last, and 4 to
//! share an inversion of 265 products. For 12 windows that is 77 + 265 / depth. The affine
//! additions of the CPU engines would take fewer products, but about 5 KB of memory traffic for each
//! key.
//!
//! Both hosts and the PTX stay, because each has what the others lack. OpenCL reaches the devices of
//! all other makers, and NVIDIA's on a machine with only a driver, which has no NVRTC. CUDA works in
//! containers without OpenCL, and reports how much a device runs at the same time. The PTX keeps
//! carries in the carry flag: entry 28 of RESULTS.txt at feea510 has the counts without it.

#![allow(unsafe_code, reason = "foreign calls")]

mod cuda;
mod device;
mod opencl;
mod pipeline;
mod ptx;
mod source;

pub use device::{Arg, Device, GpuError, Memory, Program, Queue, Resources, Settings};
pub use pipeline::{BatchQueue, Pipeline, Survivor, WindowTable, digest_of};

/// The number of wide multiply-adds in a multiplication of elements.
pub const WIDE_PRODUCTS: f64 = 72.0;

/// Returns the text of the kernels for NVIDIA's compilers.
#[must_use]
pub fn cuda_text(settings: &Settings) -> String {
    source::text(settings, true)
}

/// Returns all devices of this machine. NVIDIA's devices use CUDA if its libraries work, and OpenCL
/// otherwise.
///
/// # Errors
///
/// Returns the reasons of the libraries if there is no device, or the error of CUDA if both
/// libraries fail.
pub fn devices() -> Result<Vec<Box<dyn Device>>, GpuError> {
    let cuda = cuda::devices();
    let has_cuda = cuda.is_ok();
    together(cuda, opencl::devices(has_cuda))
}

/// Returns all devices of this machine, NVIDIA's both for CUDA and for OpenCL, for measurements.
///
/// # Errors
///
/// Returns the errors of [`devices`].
pub fn devices_of_each_host() -> Result<Vec<Box<dyn Device>>, GpuError> {
    together(cuda::devices(), opencl::devices(false))
}

fn together(
    cuda: Result<Vec<Box<dyn Device>>, GpuError>,
    opencl: Result<Vec<Box<dyn Device>>, GpuError>,
) -> Result<Vec<Box<dyn Device>>, GpuError> {
    match (cuda, opencl) {
        (Err(GpuError::Missing(cuda)), Err(GpuError::Missing(opencl))) => {
            Err(GpuError::Missing(format!("{cuda}; {opencl}")))
        }
        (Err(error), Err(_)) => Err(error),
        (cuda, opencl) => Ok([cuda, opencl].into_iter().flatten().flatten().collect()),
    }
}

#[cfg(test)]
pub(crate) mod tests;
