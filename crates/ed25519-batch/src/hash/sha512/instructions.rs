//! SHA-512 by the processor's own instructions, which hash one message at a time.

use crate::hash::sha2_constants::{SHA512_INITIAL as INITIAL, SHA512_ROUND as ROUND};
use crate::memory::wipe;
use crate::simd::{Pair, Sha512, Words, unroll};

/// The most lanes of a vector.
const MOST_LANES: usize = 8;

/// Returns the first four words of the digest of a message of four words, in every lane. It hashes
/// two lanes at a time, because one message alone waits for its own results. The caller must be
/// inside [`Sha512::run`].
#[inline(always)]
pub(super) fn digest<S: Words>(simd: S, sha512: Sha512, message: [S::Word; 4]) -> [S::Word; 4] {
    let mut words = [[0; MOST_LANES]; 4];
    for at in 0..4 {
        simd.store(message[at], &mut words[at]);
    }
    for lane in (0..S::LANES).step_by(2) {
        two_digests(sha512, &mut words, lane);
    }
    let digest = [simd.load(&words[0]), simd.load(&words[1]), simd.load(&words[2]), simd.load(&words[3])];
    wipe(words.as_flattened_mut());
    digest
}

/// Replaces two messages, those of `lane` and the next one, by the first words of their digests.
#[inline(always)]
fn two_digests(sha512: Sha512, words: &mut [[u64; MOST_LANES]; 4], lane: usize) {
    let pair = |words: &[u64], at: usize| sha512.pair([words[2 * at], words[2 * at + 1]]);
    // The block is the message, a bit of 1, zeros, and the length of the message in bits.
    let zero = sha512.pair([0; 2]);
    let mut schedules = [[zero; 8]; 2];
    let mut states = [[zero; 4]; 2];
    unroll!(of of 0 1 => {
        let word = |at: usize| words[at][lane + of];
        schedules[of][0] = sha512.pair([word(0), word(1)]);
        schedules[of][1] = sha512.pair([word(2), word(3)]);
        schedules[of][2] = sha512.pair([1 << 63, 0]);
        schedules[of][7] = sha512.pair([0, 256]);
        unroll!(at of 0 1 2 3 => {
            states[of][at] = pair(&INITIAL, at);
        });
    });
    macro_rules! sixteen_rounds {
        ($constants:expr, $extends:literal) => {
            unroll!(at of 0 1 2 3 4 5 6 7 => {
                unroll!(of of 0 1 => {
                    let input = sha512.add(schedules[of][at], pair(&$constants, at));
                    two_rounds(sha512, &mut states[of], input);
                    if $extends {
                        extend(sha512, &mut schedules[of], at);
                    }
                });
            });
        };
    }
    let (constants, _) = ROUND.as_chunks::<16>();
    sixteen_rounds!(constants[0], true);
    sixteen_rounds!(constants[1], true);
    sixteen_rounds!(constants[2], true);
    sixteen_rounds!(constants[3], true);
    // The last rounds need no further words.
    sixteen_rounds!(constants[4], false);
    unroll!(of of 0 1 => {
        unroll!(at of 0 1 => {
            let [first, second] = sha512.words(sha512.add(states[of][at], pair(&INITIAL, at)));
            words[2 * at][lane + of] = first;
            words[2 * at + 1][lane + of] = second;
        });
    });
}

/// Does two rounds. The state is the pairs of a and b, c and d, e and f, g and h.
#[inline(always)]
fn two_rounds(sha512: Sha512, state: &mut [Pair; 4], input: Pair) {
    let [ab, cd, ef, gh] = *state;
    let sum = sha512.add(sha512.middle(input, input), gh);
    let sum = sha512.hash_1(sum, sha512.middle(ef, gh), sha512.middle(cd, ef));
    *state = [sha512.hash_2(sum, cd, ab), ab, sha512.add(cd, sum), ef];
}

/// Replaces pair `at` of the schedule by the pair eight places later.
#[inline(always)]
fn extend(sha512: Sha512, schedule: &mut [Pair; 8], at: usize) {
    let pair = |after: usize| schedule[(at + after) % 8];
    let sum = sha512.schedule_1(pair(0), pair(1));
    schedule[at] = sha512.schedule_2(sum, pair(7), sha512.middle(pair(4), pair(5)));
}
