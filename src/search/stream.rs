//! Seeds: ChaCha20 keyed by the operating system.
//!
//! After each batch the generator takes its next key from its own output and forgets the one before (D. J. Bernstein, Fast-key-erasure
//! random-number generators, 2017). So whoever reads the memory of a search learns nothing of the keys that it found before. It costs
//! less than a microsecond a batch.

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use zeroize::Zeroizing;

use crate::engine::SeedSource;
#[cfg(target_arch = "x86_64")]
use crate::hash::chacha::ChaCha20;
#[cfg(target_arch = "x86_64")]
use crate::simd::Avx512f;
use crate::sys::{RandomnessError, fill_random};

/// Fails if the operating system gives no randomness, which is better known before anything else is done.
///
/// # Errors
///
/// What the operating system answers.
pub fn check_randomness() -> Result<(), RandomnessError> {
    fill_random(&mut [0; 32])
}

/// One worker's seeds: the output of ChaCha20 under 256 bits of its own from the operating system, and after each batch
/// under 256 bits of that output which are nothing else. The key is wiped on drop.
pub(super) struct SeedStream(Box<Generator>);

/// ChaCha20, by whatever is fastest.
enum Generator {
    /// 11 ns a seed, where rand_chacha takes 18 (it has AVX2 at most, and then our own takes as long).
    #[cfg(target_arch = "x86_64")]
    Avx512f(ChaCha20, Avx512f),
    Words(Box<ChaCha20Rng>),
}

impl SeedStream {
    /// Takes a new key from the operating system.
    pub(super) fn new() -> Result<Self, RandomnessError> {
        let mut key = Zeroizing::new([0; 32]);
        fill_random(&mut *key)?;
        Ok(Self::of(&key))
    }

    fn of(key: &[u8; 32]) -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Ok(simd) = Avx512f::detect() {
            return Self(Box::new(Generator::Avx512f(ChaCha20::new(key), simd)));
        }
        Self(Box::new(Generator::Words(Box::new(ChaCha20Rng::from_seed(*key)))))
    }
}

impl SeedSource for SeedStream {
    fn fill(&mut self, seeds: &mut [[u8; 32]]) {
        let mut next = Zeroizing::new([[0; 32]]);
        match &mut *self.0 {
            #[cfg(target_arch = "x86_64")]
            Generator::Avx512f(chacha, simd) => {
                chacha.fill(*simd, seeds);
                chacha.fill(*simd, &mut *next);
                *chacha = ChaCha20::new(&next[0]);
            }
            Generator::Words(chacha) => {
                chacha.fill_bytes(seeds.as_flattened_mut());
                chacha.fill_bytes(next.as_flattened_mut());
                // Its buffer goes with it: that has seeds in it.
                **chacha = ChaCha20Rng::from_seed(next[0]);
            }
        }
    }

    /// A part of the stream, which no seed is then taken from.
    fn key(&mut self) -> Option<Zeroizing<[u8; 32]>> {
        let mut key = Zeroizing::new([[0; 32]]);
        self.fill(&mut *key);
        Some(Zeroizing::new(key[0]))
    }
}

impl Drop for SeedStream {
    fn drop(&mut self) {
        // Our own generator wipes itself. rand_chacha's cannot, but one without a secret can take its place.
        match &mut *self.0 {
            Generator::Words(chacha) => {
                **chacha = ChaCha20Rng::from_seed([0; 32]);
                zeroize::optimization_barrier(&**chacha);
            }
            #[cfg(target_arch = "x86_64")]
            Generator::Avx512f(..) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8439, appendix A.1, test vector 1: the key stream of the zero key.
    #[test]
    fn the_stream_is_chacha20() {
        let mut stream = SeedStream::of(&[0; 32]);
        let mut seeds = [[0; 32]; 2];
        stream.fill(&mut seeds);
        assert_eq!(seeds[0][..8], [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90]);
        assert_eq!(seeds[1][..8], [0xda, 0x41, 0x59, 0x7c, 0x51, 0x57, 0x48, 0x8d]);
    }

    #[test]
    fn the_key_changes_after_every_batch() {
        for count in [1, 8, 256] {
            let mut stream = SeedStream::of(&[7; 32]);
            let mut whole = vec![[0; 32]; 64 * 8 + 4 * count];
            ChaCha20Rng::from_seed([7; 32]).fill_bytes(whole.as_flattened_mut());
            let mut seeds = vec![[0; 32]; count];
            stream.fill(&mut seeds);
            assert_eq!(seeds, whole[..count]);
            // Neither what follows under that key nor the next key itself is a seed.
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
