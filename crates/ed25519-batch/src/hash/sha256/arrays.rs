//! SHA-256 of several keys with ordinary words, for processors of which no vectors are known.
//!
//! Each step is a loop over arrays. The compiler makes vectors of it that every processor of its
//! kind has, such as SSE2. So the hashes take less than half the time of one key after the other
//! (entry 26 of RESULTS.txt at feea510).

use super::block::{BLOCK, HEADER, SIGN};
use crate::hash::sha2_constants::{SHA256_INITIAL as INITIAL, SHA256_ROUND as ROUND};

/// The number of keys that are hashed together.
const KEYS: usize = 16;

/// A word of each key.
type Words = [u32; KEYS];

/// Does [`super::of_both_signs`].
pub(super) fn of_both_signs(keys: &[[u8; 32]], [clear, set]: [&mut [[u8; 32]]; 2]) {
    for (part, keys) in keys.chunks(KEYS).enumerate() {
        let digests = digests(keys);
        let places = part * KEYS..part * KEYS + keys.len();
        clear[places.clone()].copy_from_slice(&digests[0][..keys.len()]);
        set[places].copy_from_slice(&digests[1][..keys.len()]);
    }
}

/// Returns the fingerprints of up to [`KEYS`] keys for both signs of x. It stays a call, so that the
/// loops of the rounds are the only code with vectors.
#[inline(never)]
fn digests(keys: &[[u8; 32]]) -> [[[u8; 32]; KEYS]; 2] {
    let mut schedule = [[0; KEYS]; 64];
    for at in 0..BLOCK.len() {
        schedule[at] = [BLOCK[at]; KEYS];
    }
    for (lane, key) in keys.iter().enumerate() {
        let mut bytes = [0; 64];
        bytes[HEADER.len()..HEADER.len() + 32].copy_from_slice(key);
        bytes[HEADER.len() + 31] &= 0x7f;
        for (words, bytes) in schedule.iter_mut().zip(bytes.as_chunks().0) {
            words[lane] |= u32::from_be_bytes(*bytes);
        }
    }
    // The sign is in word 12.
    let mut common = INITIAL.map(|word| [word; KEYS]);
    eight_rounds(&mut common, &schedule, 0);
    let clear = last_rounds(common, &mut schedule);
    for word in &mut schedule[12] {
        *word |= SIGN;
    }
    [clear, last_rounds(common, &mut schedule)]
}

/// Computes the schedule from word 16 on, does the rounds from word 8 on, and returns the digests.
fn last_rounds(mut state: [Words; 8], schedule: &mut [Words; 64]) -> [[u8; 32]; KEYS] {
    for at in 16..64 {
        extend(schedule, at);
    }
    for at in (8..64).step_by(8) {
        eight_rounds(&mut state, schedule, at);
    }
    let mut digests = [[0; 32]; KEYS];
    for (lane, digest) in digests.iter_mut().enumerate() {
        for (at, bytes) in digest.as_chunks_mut().0.iter_mut().enumerate() {
            *bytes = state[at][lane].wrapping_add(INITIAL[at]).to_be_bytes();
        }
    }
    digests
}

/// Does eight rounds from word `at` on. After them every word of the state is in its place again.
#[inline(always)]
fn eight_rounds(state: &mut [Words; 8], schedule: &[Words; 64], at: usize) {
    let [a, b, c, d, e, f, g, h] = state;
    round([a, b, c, d, e, f, g, h], &schedule[at], ROUND[at]);
    round([h, a, b, c, d, e, f, g], &schedule[at + 1], ROUND[at + 1]);
    round([g, h, a, b, c, d, e, f], &schedule[at + 2], ROUND[at + 2]);
    round([f, g, h, a, b, c, d, e], &schedule[at + 3], ROUND[at + 3]);
    round([e, f, g, h, a, b, c, d], &schedule[at + 4], ROUND[at + 4]);
    round([d, e, f, g, h, a, b, c], &schedule[at + 5], ROUND[at + 5]);
    round([c, d, e, f, g, h, a, b], &schedule[at + 6], ROUND[at + 6]);
    round([b, c, d, e, f, g, h, a], &schedule[at + 7], ROUND[at + 7]);
}

/// Does one round (FIPS 180-4, section 6.2.2). It writes the new e over d and the new a over h; the
/// other words only change their names.
#[inline(always)]
fn round([a, b, c, d, e, f, g, h]: [&mut Words; 8], words: &Words, constant: u32) {
    for key in 0..KEYS {
        let (a, b, c) = (a[key], b[key], c[key]);
        let (e, f, g) = (e[key], f[key], g[key]);
        let sum_a = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let sum_e = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = g ^ e & (f ^ g);
        let majority = b ^ (a ^ b) & (b ^ c);
        let input = h[key].wrapping_add(constant.wrapping_add(words[key]));
        let first = input.wrapping_add(choice).wrapping_add(sum_e);
        d[key] = d[key].wrapping_add(first);
        h[key] = first.wrapping_add(majority).wrapping_add(sum_a);
    }
}

/// Computes word `at` of the schedule.
#[inline(always)]
fn extend(schedule: &mut [Words; 64], at: usize) {
    let (earlier, [new, ..]) = schedule.split_at_mut(at) else { unreachable!("a schedule has 64 words") };
    let before = |words: usize| &earlier[at - words];
    let (first, early, middle, late) = (before(16), before(15), before(7), before(2));
    for key in 0..KEYS {
        let (early, late) = (early[key], late[key]);
        let sigma_0 = early.rotate_right(7) ^ early.rotate_right(18) ^ early >> 3;
        let sigma_1 = late.rotate_right(17) ^ late.rotate_right(19) ^ late >> 10;
        new[key] = first[key].wrapping_add(sigma_0).wrapping_add(middle[key]).wrapping_add(sigma_1);
    }
}
