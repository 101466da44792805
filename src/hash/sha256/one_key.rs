//! SHA-256 of one key with ordinary words, for processors without vectors. Two keys in the halves of
//! 64-bit words need twice as many registers as there are.

use super::block::{BLOCK, INITIAL, ROUND, SIGN};
use crate::simd::unroll;
use crate::wire::HEADER;

/// Returns the fingerprints of a key for both signs of x.
#[inline(always)]
pub(super) fn of_both_signs(key: &[u8; 32]) -> [[u8; 32]; 2] {
    let mut bytes = [0; 64];
    bytes[HEADER.len()..HEADER.len() + 32].copy_from_slice(key);
    let mut clear = BLOCK;
    for (word, bytes) in clear.iter_mut().zip(bytes.as_chunks().0) {
        *word |= u32::from_be_bytes(*bytes);
    }
    clear[12] &= !SIGN;
    let mut set = clear;
    set[12] |= SIGN;

    let mut common = INITIAL;
    unroll!(at of 0 1 2 3 4 5 6 7 8 9 10 11 => {
        round(&mut common, clear[at], ROUND[at]);
    });
    // Both together, so that the compiler computes their common words only once.
    let schedules = [next_words(clear), next_words(set)];
    [last_rounds(common, clear, schedules[0]), last_rounds(common, set, schedules[1])]
}

/// Does the rounds from word 12 on. The schedule begins with word 16.
#[inline(always)]
fn last_rounds(mut state: [u32; 8], block: [u32; 16], mut schedule: [u32; 16]) -> [u8; 32] {
    unroll!(at of 12 13 14 15 => {
        round(&mut state, block[at], ROUND[at]);
    });
    let (constants, _) = ROUND.as_chunks::<16>();
    for constants in &constants[1..3] {
        unroll!(at of 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 => {
            round(&mut state, schedule[at], constants[at]);
            extend(&mut schedule, at);
        });
    }
    unroll!(at of 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 => {
        round(&mut state, schedule[at], constants[3][at]);
    });
    let mut digest = [0; 32];
    for at in 0..8 {
        let word = state[at].wrapping_add(INITIAL[at]);
        digest[4 * at..4 * at + 4].copy_from_slice(&word.to_be_bytes());
    }
    digest
}

/// Does one round (FIPS 180-4, section 6.2.2).
#[inline(always)]
fn round(state: &mut [u32; 8], word: u32, constant: u32) {
    let [a, b, c, d, e, f, g, h] = *state;
    let sum_a = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
    let sum_e = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
    let choice = g ^ e & (f ^ g);
    // `a ^ b` is the `b ^ c` of the next round.
    let majority = b ^ (a ^ b) & (b ^ c);
    let first = h.wrapping_add(constant.wrapping_add(word)).wrapping_add(choice).wrapping_add(sum_e);
    let next_a = first.wrapping_add(majority).wrapping_add(sum_a);
    *state = [next_a, a, b, c, d.wrapping_add(first), e, f, g];
}

/// Replaces word `at` of the schedule by the word sixteen places later.
#[inline(always)]
fn extend(schedule: &mut [u32; 16], at: usize) {
    let word = |after: usize| schedule[(at + after) % 16];
    let (early, late) = (word(1), word(14));
    let sigma_0 = early.rotate_right(7) ^ early.rotate_right(18) ^ early >> 3;
    let sigma_1 = late.rotate_right(17) ^ late.rotate_right(19) ^ late >> 10;
    schedule[at] = word(0).wrapping_add(sigma_0).wrapping_add(word(9)).wrapping_add(sigma_1);
}

/// Returns the words sixteen places later.
#[inline(always)]
fn next_words(mut schedule: [u32; 16]) -> [u32; 16] {
    unroll!(at of 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 => {
        extend(&mut schedule, at);
    });
    schedule
}
