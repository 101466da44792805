//! Scalars from seeds: the first half of SHA-512 of 32 bytes, clamped, one seed in each lane.
//!
//! The algorithm is in FIPS 180-4, section 6.4, and RFC 8032, section 5.1.5. A seed and its padding
//! fill one block, and 12 of its 16 words are the same for every seed. Every loop is unrolled, so
//! the compiler evaluates what depends only on these words.

use crate::hash::sha2_constants::{SHA512_INITIAL as INITIAL, SHA512_ROUND as ROUND};
use crate::hash::sha2_round;
use crate::simd::{Words, unroll};

#[cfg(target_arch = "aarch64")]
mod instructions;

/// Computes the scalars of each vector of seeds, as little-endian words. Bits 0 to 2 and 255 of a
/// scalar are clear, and bit 254 is set.
///
/// # Panics
///
/// Panics unless there are as many vectors of seeds as of scalars.
// Not inlined, so that no other package compiles it again.
#[inline(never)]
pub fn scalars<S: Words>(simd: S, seeds: &[[u8; 32]], scalars: &mut [[S::Word; 4]]) {
    assert!(seeds.len() == scalars.len() * S::LANES, "seeds fill the vectors");
    #[cfg(target_arch = "aarch64")]
    if let Some(sha512) = simd.sha512() {
        // Around the whole loop: a function with instructions that its caller lacks stays a call.
        sha512.run(
            #[inline(always)]
            || {
                for (seeds, scalars) in seeds.chunks_exact(S::LANES).zip(scalars) {
                    let message = message(simd, seeds);
                    *scalars = clamped(simd, instructions::digest(simd, sha512, message));
                }
            },
        );
        return;
    }
    if const { sha2_round::takes_turns::<S>() } {
        hash::<S, 2>(simd, seeds, scalars)
    } else {
        hash::<S, 1>(simd, seeds, scalars)
    }
}

/// Computes the scalars of `N` vectors of seeds at once. At the end it hashes the last vector again
/// if `N` does not divide their number.
#[inline(always)]
fn hash<S: Words, const N: usize>(simd: S, seeds: &[[u8; 32]], scalars: &mut [[S::Word; 4]]) {
    let vectors = scalars.len();
    simd.run(
        #[inline(always)]
        || {
            for first in (0..vectors).step_by(N) {
                let mut messages = [[simd.splat(0); 4]; N];
                for (at, words) in messages.iter_mut().enumerate() {
                    let vector = (first + at).min(vectors - 1);
                    *words = message(simd, &seeds[vector * S::LANES..]);
                }
                for (at, digest) in digests(simd, messages).iter().enumerate() {
                    scalars[(first + at).min(vectors - 1)] = clamped(simd, *digest);
                }
            }
        },
    );
}

/// Returns the words of the hash for the first vector of seeds.
#[inline(always)]
fn message<S: Words>(simd: S, seeds: &[[u8; 32]]) -> [S::Word; 4] {
    let seeds = &seeds[..S::LANES];
    let words = simd.transpose_bytes(
        #[inline(always)]
        |lane| &seeds[lane],
    );
    swap_bytes_of_each(simd, words)
}

/// Returns the scalars of digests.
#[inline(always)]
pub fn clamped<S: Words>(simd: S, digest: [S::Word; 4]) -> [S::Word; 4] {
    let [a, b, c, d] = swap_bytes_of_each(simd, digest);
    let low = simd.and(a, simd.splat(!7));
    let high = simd.or(simd.and(d, simd.splat(!(3 << 62))), simd.splat(1 << 62));
    [low, b, c, high]
}

/// Converts between little-endian words and the big-endian words of the hash.
#[inline(always)]
fn swap_bytes_of_each<S: Words>(simd: S, [a, b, c, d]: [S::Word; 4]) -> [S::Word; 4] {
    [simd.swap_bytes(a), simd.swap_bytes(b), simd.swap_bytes(c), simd.swap_bytes(d)]
}

/// Returns the first four words of the digests of messages of four words.
#[inline(always)]
fn digests<S: Words, const N: usize>(simd: S, messages: [[S::Word; 4]; N]) -> [[S::Word; 4]; N] {
    let zero = simd.splat(0);
    let mut schedules = [[zero; 16]; N];
    let mut states = [[zero; 8]; N];
    for of in 0..N {
        // The block is the message, a bit of 1, zeros, and the length of the message in bits.
        schedules[of][..4].copy_from_slice(&messages[of]);
        schedules[of][4] = simd.splat(1 << 63);
        schedules[of][15] = simd.splat(256);
        for at in 0..8 {
            states[of][at] = simd.splat(INITIAL[at]);
        }
    }
    macro_rules! sixteen_rounds {
        ($constants:expr, $extends:literal) => {
            unroll!(at of 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 => {
                for of in 0..N {
                    round(simd, &mut states[of], simd.add(schedules[of][at], simd.splat($constants[at])));
                }
                if $extends {
                    for schedule in &mut schedules {
                        extend(simd, schedule, at);
                    }
                }
            });
        };
    }
    let (constants, _) = ROUND.as_chunks::<16>();
    sixteen_rounds!(constants[0], true);
    for constants in &constants[1..4] {
        sixteen_rounds!(constants, true);
    }
    // The last rounds need no further words.
    sixteen_rounds!(constants[4], false);
    let mut digests = messages;
    for of in 0..N {
        for at in 0..4 {
            digests[of][at] = simd.add(states[of][at], simd.splat(INITIAL[at]));
        }
    }
    digests
}

/// Does one round, whose input is the sum of a word and a constant.
#[inline(always)]
fn round<S: Words>(simd: S, state: &mut [S::Word; 8], input: S::Word) {
    let [a, _, _, _, e, ..] = *state;
    let xor3 = |a, b, c| simd.xor(simd.xor(a, b), c);
    let sum_a = xor3(simd.rotr::<28>(a), simd.rotr::<34>(a), simd.rotr::<39>(a));
    let sum_e = xor3(simd.rotr::<14>(e), simd.rotr::<18>(e), simd.rotr::<41>(e));
    sha2_round::round(
        simd,
        state,
        input,
        [sum_a, sum_e],
        const { S::LANES >= 4 },
        #[inline(always)]
        |a, b| simd.add(a, b),
        #[inline(always)]
        |a, b| simd.sub(a, b),
    );
}

/// Replaces word `at` of the schedule by the word sixteen places later.
#[inline(always)]
fn extend<S: Words>(simd: S, schedule: &mut [S::Word; 16], at: usize) {
    let word = |after: usize| schedule[(at + after) % 16];
    let xor3 = |a, b, c| simd.xor(simd.xor(a, b), c);
    let (early, late) = (word(1), word(14));
    let sigma_0 = xor3(simd.rotr::<1>(early), simd.rotr::<8>(early), simd.shr::<7>(early));
    let sigma_1 = xor3(simd.rotr::<19>(late), simd.rotr::<61>(late), simd.shr::<6>(late));
    schedule[at] = simd.add(simd.add(word(0), sigma_0), simd.add(word(9), sigma_1));
}
