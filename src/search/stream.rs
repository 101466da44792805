//! Seeds: a ChaCha20 stream with a key from the operating system.
//!
//! After each batch the generator takes its next key from its own output and erases the old one (D.
//! J. Bernstein, Fast-key-erasure random-number generators, 2017). So the memory of a search
//! reveals nothing about the keys that it found before. This costs less than a microsecond a batch.

use ed25519_batch::ChaCha20;
use ed25519_batch::simd::InstructionSet;
use zeroize::Zeroizing;

use crate::engine::SeedSource;
use crate::sys::{RandomnessError, fill_random};

/// Checks that the operating system gives randomness, so that a search can report its absence at
/// once.
///
/// # Errors
///
/// Returns the error of the operating system.
pub fn check_randomness() -> Result<(), RandomnessError> {
    fill_random(&mut [0; 32])
}

/// The seeds of one worker: the output of ChaCha20. Its first key is 256 bits from the operating
/// system. After each batch, 256 bits of the output become the next key, and are used for nothing
/// else. The key is wiped on drop.
pub struct SeedStream {
    chacha: ChaCha20,
    set: InstructionSet,
}

impl SeedStream {
    /// Starts a stream with a new key from the operating system.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system gives no random bytes.
    pub fn new() -> Result<Self, RandomnessError> {
        Self::with_set(InstructionSet::widest())
    }

    /// Does the same. The stream uses `set`, and no other instruction set.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system gives no random bytes.
    #[doc(hidden)]
    pub fn with_set(set: InstructionSet) -> Result<Self, RandomnessError> {
        let mut key = Zeroizing::new([0; 32]);
        fill_random(&mut *key)?;
        Ok(Self::of(&key, set))
    }

    fn of(key: &[u8; 32], set: InstructionSet) -> Self {
        Self { chacha: ChaCha20::new(key), set }
    }
}

impl SeedSource for SeedStream {
    fn fill(&mut self, seeds: &mut [[u8; 32]]) {
        let mut next = Zeroizing::new([[0; 32]]);
        self.chacha.fill(self.set, seeds);
        self.chacha.fill(self.set, &mut *next);
        self.chacha = ChaCha20::new(&next[0]);
    }

    /// Returns a part of the stream. No seed is taken from that part.
    fn key(&mut self) -> Option<Zeroizing<[u8; 32]>> {
        let mut key = Zeroizing::new([[0; 32]]);
        self.fill(&mut *key);
        Some(Zeroizing::new(key[0]))
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::{Rng as _, SeedableRng as _};

    use super::*;

    /// Compares with RFC 8439, appendix A.1, test vector 1: the key stream of the zero key.
    #[test]
    fn the_stream_is_chacha20() {
        for set in InstructionSet::every() {
            let mut stream = SeedStream::of(&[0; 32], set);
            let mut seeds = [[0; 32]; 2];
            stream.fill(&mut seeds);
            assert_eq!(seeds[0][..8], [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90]);
            assert_eq!(seeds[1][..8], [0xda, 0x41, 0x59, 0x7c, 0x51, 0x57, 0x48, 0x8d]);
        }
    }

    #[test]
    fn the_key_changes_after_every_batch() {
        let each = InstructionSet::every().into_iter().flat_map(|set| [1, 8, 256].map(|count| (set, count)));
        for (set, count) in each {
            let mut stream = SeedStream::of(&[7; 32], set);
            let mut whole = vec![[0; 32]; 64 * 8 + 4 * count];
            ChaCha20Rng::from_seed([7; 32]).fill_bytes(whole.as_flattened_mut());
            let mut seeds = vec![[0; 32]; count];
            stream.fill(&mut seeds);
            assert_eq!(seeds, whole[..count]);
            // Neither the output that follows under that key nor the next key itself is a seed.
            for _ in 0..3 {
                stream.fill(&mut seeds);
                assert!(seeds.iter().all(|seed| !whole.contains(seed)));
            }
        }
    }

    #[test]
    fn no_key_comes_twice_or_is_a_seed() {
        let mut stream = SeedStream::new().unwrap();
        let mut seen = std::collections::HashSet::new();
        for _ in 0..100 {
            let mut seeds = [[0; 32]; 3];
            stream.fill(&mut seeds);
            assert!(seeds.into_iter().chain([*stream.key().unwrap()]).all(|bytes| seen.insert(bytes)));
        }
    }

    #[test]
    fn no_seed_comes_twice_within_a_stream_or_from_another() {
        let mut seen = std::collections::HashSet::new();
        for _ in 0..8 {
            let mut stream = SeedStream::new().unwrap();
            for _ in 0..4 {
                let mut seeds = [[0; 32]; 100];
                stream.fill(&mut seeds);
                assert!(seeds.into_iter().all(|seed| seen.insert(seed)));
            }
        }
    }
}
