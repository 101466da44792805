//! Overwrites what was secret.

use zeroize::optimization_barrier;

/// Bytes of the stack below the caller that [`WipeStack`] overwrites: more than a batch, a proof or an encryption takes.
const STACK: usize = 64 << 10;

/// Overwrites a buffer by default values, which are zeros for numbers.
///
/// The compiler cannot leave it out: zeroize's barrier is an empty piece of assembly that may read the buffer.
/// (`Zeroize` itself writes each element by a volatile access, a byte of a seed at a time.)
pub fn wipe<T: Copy + Default>(buffer: &mut [T]) {
    buffer.fill(T::default());
    optimization_barrier(buffer);
}

/// Overwrites all memory of a vector by zeros, also for elements without a default value, and empties it.
pub fn wipe_vec<T: Copy>(buffer: &mut Vec<T>) {
    buffer.clear();
    buffer.spare_capacity_mut().fill_with(std::mem::MaybeUninit::zeroed);
    optimization_barrier(buffer.spare_capacity_mut());
}

/// Overwrites, on drop, what calls that have returned left on the stack. Copies of seeds are among it that the
/// compiler made. It takes some microseconds.
pub struct WipeStack;

impl Drop for WipeStack {
    #[inline(never)]
    fn drop(&mut self) {
        // The barrier in it stands for a read of all of these bytes.
        wipe(&mut [0u8; STACK]);
    }
}
