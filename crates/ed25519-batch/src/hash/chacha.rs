//! ChaCha20 (RFC 8439), one block in each half of a lane.
//!
//! The layout of counter and nonce is D. J. Bernstein's: a 64-bit block counter, and a nonce that
//! is always 0. Below block 2^32 the stream is that of RFC 8439 with a nonce of 0. rand_chacha
//! computes the same stream.

use zeroize::Zeroize as _;

use crate::memory::wipe;
use crate::simd::{Halves, InstructionSet, with_set};

/// The constants of RFC 8439, section 2.3: "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// The most blocks that one call of [`ChaCha20::blocks`] computes.
const MOST_BLOCKS: usize = 16;

/// A stream: its key, and the number of the next block. The key is wiped on drop.
pub struct ChaCha20 {
    key: [u32; 8],
    next: u64,
}

impl ChaCha20 {
    /// Returns the stream under `key`, from block 0.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self::from_block(key, 0)
    }

    /// Returns the stream under `key`, from block `next`.
    #[must_use]
    pub fn from_block(key: &[u8; 32], next: u64) -> Self {
        let (words, _) = key.as_chunks();
        Self { key: std::array::from_fn(|at| u32::from_le_bytes(words[at])), next }
    }

    /// Fills `halves`, each of which is half a block, with the next bytes of the stream. The unused
    /// rest of the last blocks is lost.
    pub fn fill(&mut self, set: InstructionSet, halves: &mut [[u8; 32]]) {
        with_set!(set, simd => self.fill_lanes(simd.common(), halves));
    }

    /// Does [`Self::fill`].
    pub fn fill_lanes<S: Halves>(&mut self, simd: S, halves: &mut [[u8; 32]]) {
        let blocks = 2 * S::LANES;
        for halves in halves.chunks_mut(2 * blocks) {
            simd.run(
                #[inline(always)]
                || self.blocks(simd, halves),
            );
            self.next += blocks as u64;
        }
    }

    /// Computes the next 2 `S::LANES` blocks, and writes as many of them as `halves` holds.
    #[inline(always)]
    fn blocks<S: Halves>(&self, simd: S, halves: &mut [[u8; 32]]) {
        // The low half of lane i has block i, and the high half has block i + `S::LANES`.
        let mut low = [0; MOST_BLOCKS];
        let mut high = [0; MOST_BLOCKS];
        for block in 0..2 * S::LANES {
            let (number, place) = (self.next + block as u64, 2 * (block % S::LANES) + block / S::LANES);
            (low[place], high[place]) = (number as u32, (number >> 32) as u32);
        }
        let zero = simd.splat(0);
        let mut initial = [zero; 16];
        for at in 0..4 {
            initial[at] = simd.splat_u32(CONSTANTS[at]);
        }
        for at in 0..8 {
            initial[4 + at] = simd.splat_u32(self.key[at]);
        }
        initial[12] = simd.load_all_u32(&low);
        initial[13] = simd.load_all_u32(&high);

        let mut state = initial;
        for _ in 0..10 {
            quarter_round(simd, &mut state, [0, 4, 8, 12]);
            quarter_round(simd, &mut state, [1, 5, 9, 13]);
            quarter_round(simd, &mut state, [2, 6, 10, 14]);
            quarter_round(simd, &mut state, [3, 7, 11, 15]);
            quarter_round(simd, &mut state, [0, 5, 10, 15]);
            quarter_round(simd, &mut state, [1, 6, 11, 12]);
            quarter_round(simd, &mut state, [2, 7, 8, 13]);
            quarter_round(simd, &mut state, [3, 4, 9, 14]);
        }

        let low_half = simd.splat(u32::MAX.into());
        let high_half = simd.splat(u64::from(u32::MAX) << 32);
        for at in 0..16 {
            state[at] = simd.add_u32(state[at], initial[at]);
        }
        // The same half of some blocks.
        let mut rows = [[0; 32]; MOST_BLOCKS / 2];
        for half in 0..2 {
            for first in [0, S::LANES] {
                let mut words = [zero; 4];
                for at in 0..4 {
                    let (even, odd) = (state[8 * half + 2 * at], state[8 * half + 2 * at + 1]);
                    words[at] = if first == 0 {
                        simd.or(simd.and(even, low_half), simd.shl::<32>(odd))
                    } else {
                        simd.or(simd.shr::<32>(even), simd.and(odd, high_half))
                    };
                }
                simd.store_rows(words, &mut rows);
                for (lane, row) in rows.iter().enumerate().take(S::LANES) {
                    if let Some(bytes) = halves.get_mut(2 * (first + lane) + half) {
                        *bytes = *row;
                    }
                }
            }
        }
        wipe(rows.as_flattened_mut());
    }
}

impl Drop for ChaCha20 {
    fn drop(&mut self) {
        self.key.zeroize();
    }
}

/// Does a quarter round (RFC 8439, section 2.1).
#[inline(always)]
fn quarter_round<S: Halves>(simd: S, state: &mut [S::Word; 16], [a, b, c, d]: [usize; 4]) {
    state[a] = simd.add_u32(state[a], state[b]);
    state[d] = simd.rotl_u32::<16>(simd.xor(state[d], state[a]));
    state[c] = simd.add_u32(state[c], state[d]);
    state[b] = simd.rotl_u32::<12>(simd.xor(state[b], state[c]));
    state[a] = simd.add_u32(state[a], state[b]);
    state[d] = simd.rotl_u32::<8>(simd.xor(state[d], state[a]));
    state[c] = simd.add_u32(state[c], state[d]);
    state[b] = simd.rotl_u32::<7>(simd.xor(state[b], state[c]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Scalar;
    use rand_chacha::ChaCha20Rng;
    use rand_core::{Rng as _, SeedableRng as _};

    fn stream<S: Halves>(simd: S, key: &[u8; 32], next: u64, halves: usize) -> Vec<[u8; 32]> {
        let mut stream = vec![[0; 32]; halves];
        ChaCha20::from_block(key, next).fill_lanes(simd, &mut stream);
        stream
    }

    /// The numbers of half blocks to take: less than a vector of blocks, about one vector, and
    /// several.
    const HALVES: &[usize] = if cfg!(miri) { &[1, 17] } else { &[1, 2, 31, 32, 33, 500] };

    fn check<S: Halves>(simd: S) {
        // RFC 8439, appendix A.1, test vectors 1 and 2: blocks 0 and 1 of the zero key.
        let zero = stream(simd, &[0; 32], 0, 3);
        assert_eq!(zero[0][..8], [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90]);
        assert_eq!(zero[1][24..], [0xc3, 0x87, 0xb6, 0x69, 0xb2, 0xee, 0x65, 0x86]);
        assert_eq!(zero[2][..8], [0x9f, 0x07, 0xe7, 0xbe, 0x55, 0x51, 0x38, 0x7a]);

        let key: [u8; 32] = std::array::from_fn(|at| (7 * at) as u8);
        for next in [0, 1, (1 << 32) - 5, (1 << 58) - 9, u64::MAX - 300] {
            for &halves in HALVES {
                let mut random = ChaCha20Rng::from_seed(key);
                random.set_word_pos(u128::from(next) * 16);
                let mut expected = vec![[0; 32]; halves];
                random.fill_bytes(expected.as_flattened_mut());
                assert_eq!(stream(simd, &key, next, halves), expected, "{halves} from block {next}");
            }
        }
    }

    #[test]
    fn every_lane_has_the_stream_of_its_block() {
        crate::simd::on_every_common_set!(check);
    }

    #[test]
    fn no_part_of_the_stream_repeats() {
        let mut chacha = ChaCha20::new(&[3; 32]);
        let mut seen = std::collections::HashSet::new();
        for halves in [1, 2, 3, 64, 65, if cfg!(miri) { 4 } else { 1000 }] {
            let mut stream = vec![[0; 32]; halves];
            chacha.fill_lanes(Scalar::plain(), &mut stream);
            assert!(stream.into_iter().all(|half| seen.insert(half)));
        }
    }
}
