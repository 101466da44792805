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

use std::sync::Arc;

pub use device::{Address, Arg, Device, GpuError, Memory, Queue};
pub use pipeline::{BatchQueue, Pipeline, Survivor, WindowTable};

/// A card, by each library that reaches it: NVIDIA's by CUDA first, and by OpenCL if that fails.
pub type Card = Vec<Arc<dyn Device>>;

/// Returns all cards and other devices of this machine, in the order of their places on the PCI bus.
///
/// # Errors
///
/// Returns the reasons of the libraries if there is no device.
pub fn cards() -> Result<Vec<Card>, GpuError> {
    let cuda = cuda::devices();
    let opencl = opencl::devices(cuda.as_deref().ok());
    match (cuda, opencl) {
        (Err(cuda), Err(opencl)) => Err(GpuError::Missing(format!("{cuda}; {opencl}"))),
        (cuda, opencl) => Ok(in_order(cuda.unwrap_or_default(), opencl.unwrap_or_default())),
    }
}

/// Ends the process without what libraries do at its end, because a thread that opens a device may be
/// inside them. Windows ends the other threads first. Nothing is flushed: another thread may hold stdout
/// for a reader that does not read.
pub fn leave(status: u8) -> ! {
    #[cfg(unix)]
    // SAFETY: the call takes a number.
    unsafe {
        libc::_exit(status.into())
    }
    #[cfg(not(unix))]
    std::process::exit(status.into())
}

/// Unites the devices of the same card, and sorts the cards. Those without a known place are last.
fn in_order(cuda: Vec<Arc<dyn Device>>, opencl: Vec<Arc<dyn Device>>) -> Vec<Card> {
    let of_cuda = cuda.len();
    let mut cards: Vec<Card> = cuda.into_iter().map(|device| vec![device]).collect();
    for device in opencl {
        let is_same = |card: &&mut Card| card.len() == 1 && card[0].address() == device.address();
        match cards[..of_cuda].iter_mut().find(is_same) {
            Some(card) => card.push(device),
            None => cards.push(vec![device]),
        }
    }
    cards.sort_by_key(|card| (card[0].address().is_none(), card[0].address()));
    cards
}

#[cfg(test)]
pub(crate) mod tests;
