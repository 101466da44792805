//! GPUs and other devices with OpenCL or CUDA: their detection, and the kernels that a search runs
//! on them.
//!
//! The kernels (`kernel/`) are one text in the common subset of OpenCL C and CUDA C, which `source`
//! assembles. Two thin hosts compile and launch it: `opencl` for any device with OpenCL, and `cuda`
//! for NVIDIA's driver with its run-time compiler. The hosts load their libraries when devices are
//! listed. Without a library its host has no devices. [`Pipeline`] uses a host. It takes batches of
//! many thousand keys from seeds to scalars, public keys and survivors, the keys that may match.
//!
//! Only this module, `simd` and `sys::windows` contain `unsafe`, here because the hosts call
//! foreign libraries. A
//! kernel accesses only as many elements as its arguments allow, and [`Pipeline`] never passes more
//! than the memory holds.
//!
//! A key costs 7 products for each window but the first and the last, 3 for the last, and 4 to
//! share an inversion of 265 products. For 16 windows that is 101 + 4 + 265 / depth. The affine
//! additions of the CPU engines would take 90 products and their inversions, but about 5 KB of
//! memory traffic for each key instead of 1.7 KB.

#![allow(unsafe_code, reason = "foreign calls")]

mod cuda;
mod device;
mod opencl;
mod pipeline;
mod ptx;
mod source;

pub use device::{Arg, Device, GpuError, Memory, Program, Queue, Resources, Settings};
pub use pipeline::{BatchQueue, Pipeline, Survivors, digest_of};

/// The number of wide multiply-adds in a multiplication of elements.
pub const WIDE_PRODUCTS: f64 = 72.0;

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
    let opencl = opencl::devices(has_cuda);
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
