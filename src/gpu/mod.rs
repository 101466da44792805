//! Graphics processors: found at run time, and what one of them computes for a search.
//!
//! The kernels (`kernel/`) are one text in the common part of OpenCL C and CUDA C, put together by `source`. Two thin hosts
//! compile and launch it: `opencl` for whatever has OpenCL, `cuda` for NVIDIA's driver with its run-time compiler. Their
//! libraries are loaded when they are asked for devices; where they are missing there are none. [`Pipeline`] is what stands above
//! them: seeds, scalars, public keys, and those that may match, many thousand at a time.
//!
//! With `simd`, this is the room with `unsafe`: its hosts call foreign libraries. A kernel reads and writes below the number of
//! elements that it is told, and [`Pipeline`] never tells it more than there is memory for.
//!
//! A key costs 7 products for each window but the first and the last, 3 for the last, 4 to share an inversion, and its
//! share of that: 101 + 4 + 265 / depth for 16 windows. Affine additions, as the processor's engines have them, would
//! take 90 products and their inversions, but some 5 KB of memory traffic a key instead of 1.7.

#![allow(unsafe_code, reason = "foreign calls")]

mod cuda;
mod device;
mod opencl;
mod pipeline;
mod ptx;
mod source;

pub use device::{Arg, Device, GpuError, Memory, Program, Queue, Resources, Settings};
pub use pipeline::{BatchQueue, Pipeline, Survivors, digest_of};

/// Wide multiply-adds of a multiplication.
pub const WIDE_PRODUCTS: f64 = 72.0;

/// All devices of this machine that can be reached, NVIDIA's by their own driver where that is possible.
///
/// # Errors
///
/// There is none: what each library says.
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
