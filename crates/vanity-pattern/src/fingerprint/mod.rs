//! Fingerprints of public keys: SHA-256 of their blobs, one key in each half of a lane.
//!
//! The algorithm is in FIPS 180-4, section 6.2. A blob and its padding fill one block:
//!
//! ```text
//! words 0 to 3    00 00 00 0b "ssh-ed25519" 00
//! words 4 to 12   00 00 20 <32 key bytes> 80
//! words 13 to 15  zeros, and the blob's length in bits
//! ```
//!
//! The sign of x is a bit of word 12. So two keys that differ only in this bit share the rounds
//! before that word, and most of the work for words 16 to 31 of the schedule. The first four rounds
//! are the same for every key, and the compiler evaluates them.
//!
//! Entries 24 and 26 of RESULTS.txt at feea510 have the times. One lane hashes by the package
//! `sha2`. With AVX2, the processor's own instructions for SHA-256 are faster, if it has them.

#[cfg(target_arch = "x86_64")]
mod instructions;

use ed25519_batch::sha2_constants::{SHA256_INITIAL as INITIAL, SHA256_ROUND as ROUND};
use ed25519_batch::sha2_round;
use ed25519_batch::simd::{Halves, InstructionSet, unroll, with_set};
use sha2::{Digest as _, Sha256};

use crate::wire::{BLOB_LEN, HEADER, blob};

/// The block of a key of zeros.
const BLOCK: [u32; 16] = block();

/// The bit of word 12 that is the sign of x, the highest bit of its third byte.
const SIGN: u32 = 1 << 15;

/// Returns the block of a key of zeros.
const fn block() -> [u32; 16] {
    let mut block = [0; 16];
    let mut at = 0;
    while at < HEADER.len() {
        block[at / 4] |= (HEADER[at] as u32) << (24 - at % 4 * 8);
        at += 1;
    }
    block[BLOB_LEN / 4] |= 0x80 << (24 - BLOB_LEN % 4 * 8);
    block[15] = BLOB_LEN as u32 * 8;
    block
}

/// The most keys in a vector.
const MOST_KEYS: usize = 16;

/// Writes the fingerprints of `keys`, SHA-256 of their blobs, for both signs of x, the highest bit of a
/// key. The first slice of `digests` gets those with the sign 0, and the second slice those with the
/// sign 1.
///
/// # Panics
///
/// Panics if the slices of `digests` do not have the length of `keys`.
pub fn fingerprints(set: InstructionSet, keys: &[[u8; 32]], digests: [&mut [[u8; 32]]; 2]) {
    with_set!(set, simd => of_both_signs(simd.common(), keys, digests));
}

/// Does the same with the token of an instruction set.
///
/// # Panics
///
/// Panics as [`fingerprints`] does.
pub fn of_both_signs<S: Halves>(simd: S, keys: &[[u8; 32]], digests: [&mut [[u8; 32]]; 2]) {
    let [clear, set] = digests;
    assert!(clear.len() == keys.len() && set.len() == keys.len(), "a digest of each key and sign");
    let vector = 2 * S::LANES;
    if keys.is_empty() {
        return;
    }
    if const { S::LANES == 1 } {
        for (at, key) in keys.iter().enumerate() {
            for (sign, digest) in [(0, &mut clear[at]), (0x80, &mut set[at])] {
                let mut key = *key;
                key[31] = key[31] & 0x7f | sign;
                *digest = Sha256::digest(blob(&key)).into();
            }
        }
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(sha256) = simd.sha256() {
        instructions::of_both_signs(sha256, keys, [clear, set]);
        return;
    }
    if keys.len() < vector {
        let mut padded = [[0; 32]; MOST_KEYS];
        padded[..keys.len()].copy_from_slice(keys);
        let (mut all_clear, mut all_set) = ([[0; 32]; MOST_KEYS], [[0; 32]; MOST_KEYS]);
        of_both_signs(simd, &padded[..vector], [&mut all_clear[..vector], &mut all_set[..vector]]);
        clear.copy_from_slice(&all_clear[..keys.len()]);
        set.copy_from_slice(&all_set[..keys.len()]);
        return;
    }
    each_vector(simd, keys, [clear, set]);
}

/// Hashes at least 2 `S::LANES` keys. The last vector may begin with keys that are hashed already.
fn each_vector<S: Halves>(simd: S, keys: &[[u8; 32]], [clear, set]: [&mut [[u8; 32]]; 2]) {
    let vector = 2 * S::LANES;
    simd.run(
        #[inline(always)]
        || {
            let (mut first, last) = (0, keys.len() - vector);
            loop {
                let places = first..first + vector;
                let words = hash_vector(simd, &keys[places.clone()]);
                write(simd, &words[0], &mut clear[places.clone()]);
                write(simd, &words[1], &mut set[places]);
                if first == last {
                    break;
                }
                first = last.min(first + vector);
            }
        },
    );
}

/// Returns the words of the digests of 2 `S::LANES` keys, with the sign 0 and with the sign 1, in
/// the halves that [`blocks`] says.
#[inline(always)]
fn hash_vector<S: Halves>(simd: S, keys: &[[u8; 32]]) -> [[S::Word; 8]; 2] {
    let clear = blocks(simd, keys);
    let mut set = clear;
    set[12] = simd.or(clear[12], simd.splat_u32(SIGN));

    let mut common = [simd.splat(0); 8];
    for at in 0..8 {
        common[at] = simd.splat_u32(INITIAL[at]);
    }
    unroll!(at of 0 1 2 3 4 5 6 7 8 9 10 11 => {
        round(simd, &mut common, clear[at], ROUND[at]);
    });
    // Both schedules together, so that the compiler computes their common words only once.
    let schedules = [next_words(simd, clear), next_words(simd, set)];
    let blocks = [clear, set];
    if const { sha2_round::takes_turns::<S>() } {
        last_rounds(simd, common, blocks, schedules)
    } else {
        let mut states = [common; 2];
        for of in 0..2 {
            [states[of]] = last_rounds(simd, common, [blocks[of]], [schedules[of]]);
        }
        states
    }
}

/// Does the rounds from word 12 on. `N` blocks take turns, after the same first rounds. Their
/// schedules begin with word 16. Returns the words of the digests.
#[inline(always)]
fn last_rounds<S: Halves, const N: usize>(
    simd: S,
    state: [S::Word; 8],
    blocks: [[S::Word; 16]; N],
    mut schedules: [[S::Word; 16]; N],
) -> [[S::Word; 8]; N] {
    let mut states = [state; N];
    unroll!(at of 12 13 14 15 => {
        for of in 0..N {
            round(simd, &mut states[of], blocks[of][at], ROUND[at]);
        }
    });
    let (constants, _) = ROUND.as_chunks::<16>();
    for constants in &constants[1..3] {
        unroll!(at of 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 => {
            for of in 0..N {
                round(simd, &mut states[of], schedules[of][at], constants[at]);
                extend(simd, &mut schedules[of], at);
            }
        });
    }
    // The last rounds need no further words.
    unroll!(at of 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 => {
        for of in 0..N {
            round(simd, &mut states[of], schedules[of][at], constants[3][at]);
        }
    });
    for state in &mut states {
        for at in 0..8 {
            state[at] = simd.add_u32(state[at], simd.splat_u32(INITIAL[at]));
        }
    }
    states
}

/// Returns the blocks of 2 `S::LANES` keys, with their signs clear. The low half of lane i holds
/// key i, and its high half holds key `S::LANES` + i.
#[inline(always)]
fn blocks<S: Halves>(simd: S, keys: &[[u8; 32]]) -> [S::Word; 16] {
    let low = simd.transpose_bytes(
        #[inline(always)]
        |lane| &keys[lane],
    );
    let high = simd.transpose_bytes(
        #[inline(always)]
        |lane| &keys[S::LANES + lane],
    );

    let mut block = [simd.splat(0); 16];
    for at in 0..16 {
        block[at] = simd.splat_u32(BLOCK[at]);
    }
    let last_byte = simd.splat_u32(0xff);
    let other_bytes = simd.splat_u32(!0xff);
    for pair in 0..4 {
        let words = pair_halves(simd, [simd.swap_bytes(low[pair]), simd.swap_bytes(high[pair])]);
        for (half, word) in words.iter().enumerate() {
            // The first byte of a key's word is the last byte of a block's word. The other bytes
            // begin the next word.
            let (at, turned) = (4 + 2 * pair + half, simd.rotl_u32::<8>(*word));
            block[at] = simd.or(block[at], simd.and(turned, last_byte));
            block[at + 1] = simd.or(block[at + 1], simd.and(turned, other_bytes));
        }
    }
    block[12] = simd.and(block[12], simd.splat_u32(!SIGN));
    block
}

/// Writes the digests, given by their words.
#[inline(always)]
fn write<S: Halves>(simd: S, words: &[S::Word; 8], digests: &mut [[u8; 32]]) {
    let (mut low, mut high) = ([simd.splat(0); 4], [simd.splat(0); 4]);
    for at in 0..4 {
        // The earlier of two words is the upper half.
        [high[at], low[at]] = pair_halves(simd, [words[2 * at + 1], words[2 * at]]);
        (low[at], high[at]) = (simd.swap_bytes(low[at]), simd.swap_bytes(high[at]));
    }
    simd.store_rows(low, digests);
    simd.store_rows(high, &mut digests[S::LANES..]);
}

/// Returns a vector of high halves and a vector of low halves. In each lane the half of a is the
/// low half, and the half of b is the high half.
#[inline(always)]
fn pair_halves<S: Halves>(simd: S, [a, b]: [S::Word; 2]) -> [S::Word; 2] {
    let low = simd.splat(u64::from(u32::MAX));
    let high = simd.splat(!u64::from(u32::MAX));
    [simd.or(simd.shr::<32>(a), simd.and(b, high)), simd.or(simd.and(a, low), simd.shl::<32>(b))]
}

/// Does one round, with a word of the schedule and the constant of the round.
#[inline(always)]
fn round<S: Halves>(simd: S, state: &mut [S::Word; 8], word: S::Word, constant: u32) {
    let [a, _, _, _, e, ..] = *state;
    let input = simd.add_u32(word, simd.splat_u32(constant));
    let sum_a = xor3(
        simd,
        simd.rotl_u32::<{ 32 - 2 }>(a),
        simd.rotl_u32::<{ 32 - 13 }>(a),
        simd.rotl_u32::<{ 32 - 22 }>(a),
    );
    let sum_e = xor3(
        simd,
        simd.rotl_u32::<{ 32 - 6 }>(e),
        simd.rotl_u32::<{ 32 - 11 }>(e),
        simd.rotl_u32::<{ 32 - 25 }>(e),
    );
    sha2_round::round(
        simd,
        state,
        input,
        [sum_a, sum_e],
        const { S::LANES == 4 },
        #[inline(always)]
        |a, b| simd.add_u32(a, b),
        #[inline(always)]
        |a, b| simd.sub_u32(a, b),
    );
}

/// Replaces word `at` of the schedule by the word sixteen places later.
#[inline(always)]
fn extend<S: Halves>(simd: S, schedule: &mut [S::Word; 16], at: usize) {
    let word = |after: usize| schedule[(at + after) % 16];
    let (early, late) = (word(1), word(14));
    let sigma_0 = xor3(
        simd,
        simd.rotl_u32::<{ 32 - 7 }>(early),
        simd.rotl_u32::<{ 32 - 18 }>(early),
        simd.shr_u32::<3>(early),
    );
    let sigma_1 = xor3(
        simd,
        simd.rotl_u32::<{ 32 - 17 }>(late),
        simd.rotl_u32::<{ 32 - 19 }>(late),
        simd.shr_u32::<10>(late),
    );
    schedule[at] = simd.add_u32(simd.add_u32(word(0), sigma_0), simd.add_u32(word(9), sigma_1));
}

/// Returns the words sixteen places later.
#[inline(always)]
fn next_words<S: Halves>(simd: S, mut schedule: [S::Word; 16]) -> [S::Word; 16] {
    unroll!(at of 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 => {
        extend(simd, &mut schedule, at);
    });
    schedule
}

/// Returns `a ^ b ^ c`.
#[inline(always)]
fn xor3<S: Halves>(simd: S, a: S::Word, b: S::Word, c: S::Word) -> S::Word {
    simd.xor(simd.xor(a, b), c)
}
