//! Seeds: ChaCha20 keyed by the operating system.

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use zeroize::Zeroizing;

use crate::engine::SeedSource;

/// Fails if the operating system gives no randomness, which is better known before anything else is done.
///
/// # Errors
///
/// What the operating system answers.
pub fn check_randomness() -> Result<(), getrandom::Error> {
    getrandom::fill(&mut [0; 32])
}

/// One worker's seeds: the output of ChaCha20 under 256 bits of its own from the operating system, never
/// twice the same place. The state is wiped on drop.
pub(super) struct SeedStream(Box<ChaCha20Rng>);

impl SeedStream {
    /// Takes a new key from the operating system.
    pub(super) fn new() -> Result<Self, getrandom::Error> {
        let mut key = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *key)?;
        Ok(Self(Box::new(ChaCha20Rng::from_seed(*key))))
    }
}

impl SeedSource for SeedStream {
    fn fill(&mut self, seeds: &mut [[u8; 32]]) {
        self.0.fill_bytes(seeds.as_flattened_mut());
    }
}

impl Drop for SeedStream {
    fn drop(&mut self) {
        // The generator cannot wipe itself, but a generator without a secret can take its place.
        *self.0 = ChaCha20Rng::from_seed([0; 32]);
        std::hint::black_box(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8439, appendix A.1, test vector 1: the key stream of the zero key.
    #[test]
    fn the_stream_is_chacha20() {
        let mut stream = SeedStream(Box::new(ChaCha20Rng::from_seed([0; 32])));
        let mut seeds = [[0; 32]; 2];
        stream.fill(&mut seeds);
        assert_eq!(seeds[0][..8], [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90]);
        assert_eq!(seeds[1][..8], [0xda, 0x41, 0x59, 0x7c, 0x51, 0x57, 0x48, 0x8d]);
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
