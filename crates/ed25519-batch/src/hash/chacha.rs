//! ChaCha20 (RFC 8439) in lanes, one block in each half of a lane.
//!
//! The layout of counter and nonce is D. J. Bernstein's: a 64-bit block counter, and a nonce that
//! is always 0. So the stream is that of RFC 8439 with a nonce of 0. rand_chacha computes the same
//! stream. Eight lanes take half its time; fewer lanes take as long or longer.

use crate::memory::wipe;
use crate::simd::{Halves, InstructionSet, Words, with_set};

/// The constants of RFC 8439, section 2.3: "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// The most blocks that are computed together.
const MOST_BLOCKS: usize = 16;

/// An instruction set with eight lanes, which compute ChaCha20 faster than `rand_chacha`.
#[derive(Clone, Copy)]
pub struct ChaCha20Lanes(InstructionSet);

impl ChaCha20Lanes {
    /// Returns the set if it has eight lanes.
    #[must_use]
    pub fn of(set: InstructionSet) -> Option<Self> {
        (with_set!(set, simd => lanes(simd)) == 8).then_some(Self(set))
    }

    /// Fills `halves`, each of which is half a block, with the stream under `key` from its beginning.
    pub fn fill(self, key: &[u8; 32], halves: &mut [[u8; 32]]) {
        with_set!(self.0, simd => fill(simd.common(), key, halves));
    }
}

const fn lanes<S: Words>(_: S) -> usize {
    S::LANES
}

/// Does [`ChaCha20Lanes::fill`].
pub fn fill<S: Halves>(simd: S, key: &[u8; 32], halves: &mut [[u8; 32]]) {
    for (part, halves) in halves.chunks_mut(4 * S::LANES).enumerate() {
        simd.run(
            #[inline(always)]
            || blocks(simd, key, (part * 2 * S::LANES) as u64, halves),
        );
    }
}

/// Computes 2 `S::LANES` blocks from the block `first`, and writes as many of them as `halves` holds.
#[inline(always)]
pub fn blocks<S: Halves>(simd: S, key: &[u8; 32], first: u64, halves: &mut [[u8; 32]]) {
    // The low half of lane i has block i, and the high half has block i + `S::LANES`.
    let mut low = [0; MOST_BLOCKS];
    let mut high = [0; MOST_BLOCKS];
    for block in 0..2 * S::LANES {
        let (number, place) = (first + block as u64, 2 * (block % S::LANES) + block / S::LANES);
        (low[place], high[place]) = (number as u32, (number >> 32) as u32);
    }
    let zero = simd.splat(0);
    let mut initial = [zero; 16];
    for at in 0..4 {
        initial[at] = simd.splat_u32(CONSTANTS[at]);
    }
    let (key, _) = key.as_chunks();
    for at in 0..8 {
        initial[4 + at] = simd.splat_u32(u32::from_le_bytes(key[at]));
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
