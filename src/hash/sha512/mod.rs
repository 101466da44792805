//! Scalars from seeds: the first half of SHA-512 of 32 bytes, clamped, one seed a lane.
//!
//! FIPS 180-4, section 6.4, and RFC 8032, section 5.1.5. A seed and its padding fill one block, of which 12 of the 16 words
//! are the same for every seed. Everything is unrolled, so the compiler folds what depends on these alone.

use crate::hash::sha2_constants::fractions;
use crate::simd::{Words, unroll};

/// Section 4.2.3.
const ROUND: [u64; 80] = fractions(3);

/// Section 5.3.5.
const INITIAL: [u64; 8] = fractions(2);

/// The scalars of `S::LANES` seeds, as little-endian words: bits 0 to 2 and 255 clear, bit 254 set.
#[inline(always)]
pub fn scalars<'a, S: Words>(simd: S, seed: impl Fn(usize) -> &'a [u8; 32]) -> [S::Word; 4] {
    let [a, b, c, d] = swapped(simd, digest(simd, swapped(simd, simd.transpose_bytes(seed))));
    let low = simd.and(a, simd.splat(!7));
    let high = simd.or(simd.and(d, simd.splat(!(3 << 62))), simd.splat(1 << 62));
    [low, b, c, high]
}

/// From little-endian words to the hash's own, and back.
#[inline(always)]
fn swapped<S: Words>(simd: S, [a, b, c, d]: [S::Word; 4]) -> [S::Word; 4] {
    [simd.swap_bytes(a), simd.swap_bytes(b), simd.swap_bytes(c), simd.swap_bytes(d)]
}

/// The first four words of the digest of a message of four words.
#[inline(always)]
fn digest<S: Words>(simd: S, message: [S::Word; 4]) -> [S::Word; 4] {
    let zero = simd.splat(0);
    let [m0, m1, m2, m3] = message;
    // The message, a bit of 1, zeros, and the message's length in bits.
    let mut schedule = [zero; 16];
    schedule[..4].copy_from_slice(&[m0, m1, m2, m3]);
    schedule[4] = simd.splat(1 << 63);
    schedule[15] = simd.splat(256);

    let mut state = [zero; 8];
    for at in 0..8 {
        state[at] = simd.splat(INITIAL[at]);
    }
    macro_rules! sixteen {
        ($constants:expr, $further:literal) => {
            unroll!(at of 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 => {
                round(simd, &mut state, simd.add(schedule[at], simd.splat($constants[at])));
                if $further {
                    extend(simd, &mut schedule, at);
                }
            });
        };
    }
    let (constants, _) = ROUND.as_chunks::<16>();
    sixteen!(constants[0], true);
    sixteen!(constants[1], true);
    sixteen!(constants[2], true);
    sixteen!(constants[3], true);
    // No words are needed after these.
    sixteen!(constants[4], false);
    for at in 0..4 {
        state[at] = simd.add(state[at], simd.splat(INITIAL[at]));
    }
    [state[0], state[1], state[2], state[3]]
}

/// One round. The state moves on by one place: what was h is a.
#[inline(always)]
fn round<S: Words>(simd: S, state: &mut [S::Word; 8], input: S::Word) {
    let [a, b, c, d, e, f, g, h] = *state;
    let xor3 = |a, b, c| simd.xor(simd.xor(a, b), c);
    let sum_e = xor3(simd.rotr::<14>(e), simd.rotr::<18>(e), simd.rotr::<41>(e));
    let choice = simd.xor(g, simd.and(e, simd.xor(f, g)));
    let first = simd.add(simd.add(h, sum_e), simd.add(choice, input));
    let sum_a = xor3(simd.rotr::<28>(a), simd.rotr::<34>(a), simd.rotr::<39>(a));
    let majority = simd.or(simd.and(a, b), simd.and(c, simd.or(a, b)));
    let second = simd.add(sum_a, majority);
    *state = [simd.add(first, second), a, b, c, simd.add(d, first), e, f, g];
}

/// Replaces word `at` of the schedule by the one sixteen places later.
#[inline(always)]
fn extend<S: Words>(simd: S, schedule: &mut [S::Word; 16], at: usize) {
    let word = |after: usize| schedule[(at + after) % 16];
    let xor3 = |a, b, c| simd.xor(simd.xor(a, b), c);
    let (early, late) = (word(1), word(14));
    let sigma_0 = xor3(simd.rotr::<1>(early), simd.rotr::<8>(early), simd.shr::<7>(early));
    let sigma_1 = xor3(simd.rotr::<19>(late), simd.rotr::<61>(late), simd.shr::<6>(late));
    schedule[at] = simd.add(simd.add(word(0), sigma_0), simd.add(word(9), sigma_1));
}

#[cfg(test)]
mod tests;
