//! Seeds: a ChaCha20 stream with a key from the operating system.
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

use ed25519_batch::ChaCha20;
use ed25519_batch::simd::InstructionSet;
use zeroize::Zeroizing;

use crate::engine::SeedSource;
use crate::sys::{RandomnessError, draw_hash_keys, fill_random};

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

/// The seeds of one worker: the output of ChaCha20. Its first key is 256 bits from the operating
/// system. After each batch, 256 bits of the output become the next key, and are used for nothing
/// else. The key is wiped on drop.
pub struct SeedStream {
    chacha: ChaCha20,
    set: InstructionSet,
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
        Self { chacha: ChaCha20::new(key), set, refreshed: Instant::now(), seeds: 0 }
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
        let mut next = Zeroizing::new([[0; 32]]);
        self.chacha.fill(self.set, &mut *next);
        next[0].iter_mut().zip(fresh).for_each(|(byte, fresh)| *byte ^= fresh);
        self.chacha = ChaCha20::new(&next[0]);
    }
}

impl SeedSource for SeedStream {
    fn fill(&mut self, seeds: &mut [[u8; 32]]) {
        self.chacha.fill(self.set, seeds);
        self.mix(&[0; 32]);
        self.seeds += seeds.len() as u64;
    }

    /// Returns a part of the stream. No seed is taken from that part.
    fn key(&mut self) -> Option<Zeroizing<[u8; 32]>> {
        let mut key = Zeroizing::new([[0; 32]]);
        self.fill(&mut *key);
        // The engine makes many seeds from it.
        self.seeds += REFRESHED_EACH.1;
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

    /// The key after a refreshment depends on the output and on the fresh bytes.
    #[test]
    fn fresh_bytes_are_mixed_into_the_key() {
        for set in InstructionSet::every() {
            let seeds_after = |key: u8, fresh: Option<[u8; 32]>| {
                let mut stream = SeedStream::of(&[key; 32], set);
                let mut seeds = [[0; 32]; 8];
                stream.fill(&mut seeds);
                fresh.iter().for_each(|fresh| stream.mix(fresh));
                stream.fill(&mut seeds);
                seeds
            };
            let cases = [(7, None), (7, Some([0; 32])), (7, Some([1; 32])), (8, Some([1; 32]))];
            let each = cases.map(|(key, fresh)| seeds_after(key, fresh));
            let all: std::collections::HashSet<_> = each.as_flattened().iter().collect();
            assert_eq!(all.len(), 4 * 8);

            let mut stream = SeedStream::of(&[7; 32], set);
            let mut output = [0; 32];
            ChaCha20Rng::from_seed([7; 32]).fill_bytes(&mut output);
            stream.mix(&[5; 32]);
            let mut expected = [[0; 32]; 8];
            let key = output.map(|byte| byte ^ 5);
            ChaCha20Rng::from_seed(key).fill_bytes(expected.as_flattened_mut());
            let mut seeds = [[0; 32]; 8];
            stream.fill(&mut seeds);
            assert_eq!(seeds, expected);
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
