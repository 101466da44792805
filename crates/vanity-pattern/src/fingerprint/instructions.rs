//! SHA-256 by the processor's own instructions, which hash one message at a time.

use ed25519_batch::simd::{Quad, Sha256, unroll};

use super::{BLOCK, INITIAL, ROUND, SIGN};

/// The vectors abef and cdgh of a state.
type State = [Quad; 2];

/// The number of keys that take turns. One message alone waits for its own results.
const KEYS: usize = 2;

/// Does [`super::of_both_signs`]. The rounds of some keys and both signs take turns.
pub(super) fn of_both_signs(sha256: Sha256, keys: &[[u8; 32]], [clear, set]: [&mut [[u8; 32]]; 2]) {
    sha256.run(
        #[inline(always)]
        || {
            let (constants, _) = ROUND.as_chunks::<4>();
            let [a, b, c, d, e, f, g, h] = INITIAL;
            let initial = [sha256.quad([f, e, b, a]), sha256.quad([h, g, d, c])];
            let sign = sha256.quad([SIGN, 0, 0, 0]);
            let (block, _) = BLOCK.as_chunks::<4>();
            let block = [sha256.quad(block[0]), sha256.quad(block[1]), sha256.quad(block[3])];
            // The first four words are the same for every key.
            let mut first = initial;
            four_rounds(sha256, &mut first, block[0], constants[0]);
            for at in (0..keys.len()).step_by(KEYS) {
                // The last key may be hashed twice.
                let place = |of: usize| (at + of).min(keys.len() - 1);
                let (mut schedules, mut states) = ([[[block[0]; 4]; 2]; KEYS], [[first; 2]; KEYS]);
                for of in 0..KEYS {
                    // A key begins with the last byte of word 4 and ends with the third byte of word 12.
                    let key = &keys[place(of)];
                    let schedule = [
                        block[0],
                        sha256.or(sha256.read_after_three(half(key, 0)), block[1]),
                        sha256.read(half(key, 13)),
                        sha256.and_not(sha256.or(sha256.read_last_three(half(key, 16)), block[2]), sign),
                    ];
                    let mut common = first;
                    four_rounds(sha256, &mut common, schedule[1], constants[1]);
                    four_rounds(sha256, &mut common, schedule[2], constants[2]);
                    (schedules[of], states[of]) = ([schedule; 2], [common; 2]);
                    schedules[of][1][3] = sha256.or(schedule[3], sign);
                }
                for of in 0..KEYS {
                    for sign in 0..2 {
                        four_rounds(sha256, &mut states[of][sign], schedules[of][sign][3], constants[3]);
                    }
                }
                unroll!(four of 4 5 6 7 8 9 10 11 12 13 14 15 => {
                    for of in 0..KEYS {
                        for sign in 0..2 {
                            let schedule = &mut schedules[of][sign];
                            extend(sha256, schedule, four % 4);
                            four_rounds(sha256, &mut states[of][sign], schedule[four % 4], constants[four]);
                        }
                    }
                });
                for of in 0..KEYS {
                    write(sha256, states[of][0], initial, &mut clear[place(of)]);
                    write(sha256, states[of][1], initial, &mut set[place(of)]);
                }
            }
        },
    );
}

/// Returns 16 bytes of a key.
#[inline(always)]
fn half(key: &[u8; 32], from: usize) -> &[u8; 16] {
    key[from..].first_chunk().expect("a key has 32 bytes")
}

/// Does four rounds, with words of the schedule and the constants of the rounds.
#[inline(always)]
fn four_rounds(sha256: Sha256, state: &mut State, words: Quad, constants: [u32; 4]) {
    let input = sha256.add(words, sha256.quad(constants));
    let [abef, cdgh] = *state;
    let middle = sha256.two_rounds(abef, cdgh, input);
    *state = [sha256.two_rounds(middle, abef, sha256.upper_half(input)), middle];
}

/// Replaces four words of the schedule by the words sixteen places later.
#[inline(always)]
fn extend(sha256: Sha256, schedule: &mut [Quad; 4], at: usize) {
    let quad = |after: usize| schedule[(at + after) % 4];
    let sum = sha256.add(sha256.schedule_1(quad(0), quad(1)), sha256.next(quad(2), quad(3)));
    schedule[at] = sha256.schedule_2(sum, quad(3));
}

/// Writes the digest of a state.
#[inline(always)]
fn write(sha256: Sha256, [abef, cdgh]: State, initial: State, digest: &mut [u8; 32]) {
    let quads = sha256.digest(sha256.add(abef, initial[0]), sha256.add(cdgh, initial[1]));
    let (halves, _) = digest.as_chunks_mut();
    sha256.write(quads[0], &mut halves[0]);
    sha256.write(quads[1], &mut halves[1]);
}
