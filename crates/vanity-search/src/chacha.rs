//! The stream of ChaCha20, by `rand_chacha`, and overwritten when it is not needed any more.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use zeroize::optimization_barrier;

/// A stream of ChaCha20. It is in one place on the heap, so that no copy of it is left when it moves,
/// and overwritten on drop.
pub struct ChaCha20(Box<ChaCha20Rng>);

impl ChaCha20 {
    /// Returns the stream under `key`.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self(Box::new(ChaCha20Rng::from_seed(*key)))
    }

    /// Returns the stream under `key` from the block `number` on, of 64 bytes each.
    #[cfg(feature = "gpu")]
    pub fn from_block(key: &[u8; 32], number: u64) -> Self {
        let mut stream = Self::new(key);
        stream.0.set_word_pos(u128::from(number) * 16);
        stream
    }

    /// Overwrites the stream with the one under `key`.
    pub fn rekey(&mut self, key: &[u8; 32]) {
        *self.0 = ChaCha20Rng::from_seed(*key);
        // Counts as a read, so the compiler keeps the writes.
        optimization_barrier(&*self.0);
    }

    /// Overwrites `rows` with the next bytes. It takes them as words: `fill_bytes` is compiled in this
    /// package, which is hardly optimized, and would call a function to copy each four bytes.
    pub fn fill(&mut self, rows: &mut [[u8; 32]]) {
        for word in rows.as_flattened_mut().as_chunks_mut().0 {
            *word = self.0.next_u64().to_le_bytes();
        }
    }
}

impl Drop for ChaCha20 {
    fn drop(&mut self) {
        self.rekey(&[0; 32]);
    }
}
