//! Functions that overwrite secrets in memory.

use zeroize::optimization_barrier;

/// The bytes of the stack below the caller that [`WipeStack`] overwrites. A batch, a proof or an
/// encryption uses fewer.
const STACK: usize = 64 << 10;

/// Overwrites a buffer with default values, which are zeros for numbers.
pub fn wipe<T: Copy + Default>(buffer: &mut [T]) {
    overwrite(buffer, T::default());
}

/// Overwrites a buffer with copies of a value.
///
/// The compiler cannot remove the writes, because zeroize's barrier is an empty piece of assembly
/// that can read the buffer. (`Zeroize` itself would be slower: it writes each element, such as one
/// byte of a seed, by a volatile access.)
pub fn overwrite<T: Copy>(buffer: &mut [T], value: T) {
    buffer.fill(value);
    optimization_barrier(buffer);
}

/// Empties a vector and overwrites its whole capacity with zeros. The elements need no default
/// value.
pub fn wipe_vec<T: Copy>(buffer: &mut Vec<T>) {
    buffer.clear();
    buffer.spare_capacity_mut().fill_with(std::mem::MaybeUninit::zeroed);
    optimization_barrier(buffer.spare_capacity_mut());
}

/// A guard that overwrites the unused stack on drop. Calls that have returned can leave copies of
/// seeds there, which the compiler made. A drop takes a few microseconds.
pub struct WipeStack;

impl Drop for WipeStack {
    #[inline(never)]
    fn drop(&mut self) {
        // The barrier in `overwrite` counts as a read of all these bytes, so the compiler keeps the
        // writes.
        wipe(&mut [0u8; STACK]);
    }
}
