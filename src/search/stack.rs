//! What calls leave on the stack.

use crate::simd::wipe;

/// Bytes of the stack below the caller that [`WipeStack`] overwrites: more than a batch, a proof or an encryption takes.
const STACK: usize = 64 << 10;

/// On drop, overwrites what calls that have returned left on the stack: among it, copies of seeds that nobody wrote into the
/// source. It takes some microseconds.
pub(super) struct WipeStack;

impl Drop for WipeStack {
    #[inline(never)]
    fn drop(&mut self) {
        // The barrier in it stands for a read of all of these bytes.
        wipe(&mut [0u8; STACK]);
    }
}
