//! Seeds: a ChaCha20 stream with a key from the operating system.
//!
//! With AVX-512 the seeds of a batch are another ChaCha20 stream, which eight lanes compute. Its key is
//! 256 bits of the output, used for nothing else, as for a batch of a graphics processor.
//!
//! After each batch the generator takes its next key from its own output and erases the old one (D.
//! J. Bernstein, Fast-key-erasure random-number generators, 2017). So the memory of a search
//! reveals nothing about the keys that it found before. This costs less than a microsecond a batch.
//!
//! Each second the next key also takes in 256 fresh bits from the operating system. So two copies of
//! a virtual machine that go on from the same state soon make different seeds, and whoever has once
//! seen the generator's memory soon cannot tell the seeds that follow. A key is the exclusive or of
//! both sources, so it is as good as the better one.

use std::time::{Duration, Instant};

use ed25519_batch::ChaCha20Lanes;
use ed25519_batch::simd::InstructionSet;
use zeroize::Zeroizing;

use crate::chacha::ChaCha20;
use crate::engine::SeedSource;
use crate::random::{RandomnessError, draw_hash_keys, fill_random};

/// The least time, and the least number of seeds, between two refreshments of a stream. They make
/// the call of the system cost nothing that can be measured.
const REFRESHED_EACH: (Duration, u64) = (Duration::from_secs(1), 1 << 20);

/// Checks that the operating system gives randomness, so that a search can report its absence at
/// once.
///
/// # Errors
///
/// Returns the error of the operating system.
pub fn check_randomness() -> Result<(), RandomnessError> {
    fill_random(&mut [0; 32])?;
    draw_hash_keys()
}

/// The seeds of one worker: the output of ChaCha20, or with AVX-512 that of a ChaCha20 for each batch,
/// whose key is a part of the output. The first key is 256 bits from the operating system. After each
/// batch, 256 bits of the output become the next key, and are used for nothing else. The generator is
/// overwritten on drop.
pub struct SeedStream {
    chacha: ChaCha20,
    /// Lanes that make the seeds of each batch, if they are faster.
    lanes: Option<ChaCha20Lanes>,
    refreshed: Instant,
    /// The number of seeds since then.
    seeds: u64,
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
        let lanes = ChaCha20Lanes::of(set);
        Self { chacha: ChaCha20::new(key), lanes, refreshed: Instant::now(), seeds: 0 }
    }

    /// Mixes fresh bytes from the operating system into the key, if it is time. Call this between
    /// batches.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system gives no random bytes. Then the stream must not go
    /// on.
    pub fn refresh(&mut self) -> Result<(), RandomnessError> {
        let (time, seeds) = REFRESHED_EACH;
        if self.seeds < seeds || self.refreshed.elapsed() < time {
            return Ok(());
        }
        let mut fresh = Zeroizing::new([0; 32]);
        fill_random(&mut *fresh)?;
        self.mix(&fresh);
        (self.refreshed, self.seeds) = (Instant::now(), 0);
        Ok(())
    }

    /// Makes the exclusive or of the next output and `fresh` the key.
    fn mix(&mut self, fresh: &[u8; 32]) {
        let mut next = self.next_key();
        next.iter_mut().zip(fresh).for_each(|(byte, fresh)| *byte ^= fresh);
        self.chacha.rekey(&next);
    }

    /// Takes a key from the output.
    fn next_key(&mut self) -> Zeroizing<[u8; 32]> {
        let mut key = Zeroizing::new([0; 32]);
        self.chacha.fill(std::slice::from_mut(&mut key));
        key
    }
}

impl SeedSource for SeedStream {
    fn fill(&mut self, seeds: &mut [[u8; 32]]) {
        match self.lanes {
            Some(lanes) => lanes.fill(&self.next_key(), seeds),
            None => self.chacha.fill(seeds),
        }
        self.mix(&[0; 32]);
        self.seeds += seeds.len() as u64;
    }

    /// Returns a part of the stream. No seed is taken from that part.
    fn key(&mut self) -> Option<Zeroizing<[u8; 32]>> {
        let key = self.next_key();
        self.mix(&[0; 32]);
        // The engine makes many seeds from it.
        self.seeds += REFRESHED_EACH.1;
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::{Rng as _, SeedableRng as _};

    use super::*;

    /// Returns `count` times 32 bytes of ChaCha20.
    fn chacha20(key: [u8; 32], count: usize) -> Vec<[u8; 32]> {
        let mut output = vec![[0; 32]; count];
        ChaCha20Rng::from_seed(key).fill_bytes(output.as_flattened_mut());
        output
    }

    /// Returns the first `count` seeds under a key, and the output of the generator after them. With
    /// eight lanes the seeds have a key of their own.
    fn expected(set: InstructionSet, key: [u8; 32], count: usize) -> (Vec<[u8; 32]>, [u8; 32]) {
        let output = chacha20(key, count + 2);
        match ChaCha20Lanes::of(set) {
            Some(_) => (chacha20(output[0], count), output[1]),
            None => (output[..count].to_vec(), output[count]),
        }
    }

    /// Each batch has the key that follows the seeds before it, and no seed is a key.
    #[test]
    fn the_key_changes_after_every_batch() {
        let each = InstructionSet::every().into_iter().flat_map(|set| [1, 8, 256].map(|count| (set, count)));
        for (set, count) in each {
            let mut stream = SeedStream::of(&[7; 32], set);
            let (mut key, mut seeds) = ([7; 32], vec![[0; 32]; count]);
            for _ in 0..4 {
                stream.fill(&mut seeds);
                let (these, next) = expected(set, key, count);
                assert!(seeds == these && !seeds.contains(&next));
                key = next;
            }
        }
    }

    /// The key after a refreshment is the exclusive or of the output and of the fresh bytes.
    #[test]
    fn fresh_bytes_are_mixed_into_the_key() {
        for set in InstructionSet::every() {
            let mut stream = SeedStream::of(&[7; 32], set);
            stream.mix(&[5; 32]);
            let key = chacha20([7; 32], 1)[0].map(|byte| byte ^ 5);
            let mut seeds = [[0; 32]; 8];
            stream.fill(&mut seeds);
            assert_eq!(seeds[..], expected(set, key, 8).0);
        }
    }

    #[test]
    fn a_stream_is_refreshed_after_a_second_and_many_seeds() {
        let (time, many) = REFRESHED_EACH;
        let long_ago = Instant::now().checked_sub(2 * time).unwrap_or_else(Instant::now);
        for (refreshed, seeds, is_due) in [
            (Instant::now(), many, false),
            (long_ago, many - 1, false),
            (long_ago, many, Instant::now() - long_ago >= time),
        ] {
            let mut stream =
                SeedStream { refreshed, seeds, ..SeedStream::of(&[7; 32], InstructionSet::widest()) };
            stream.refresh().unwrap();
            assert_eq!((stream.seeds == 0, stream.refreshed > refreshed), (is_due, is_due));
        }
        let mut stream = SeedStream::new().unwrap();
        stream.key().unwrap();
        assert!(stream.seeds >= many, "a key is for many seeds");
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
