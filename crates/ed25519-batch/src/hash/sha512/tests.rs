//! Tests of every instruction set against published vectors and the sha2 package.

use rand_core::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha512};

use super::*;
use crate::memory::HugePages;

/// Returns the first halves of the digests, computed in the lanes of `simd`, `N` vectors at once.
fn digests_of<S: Words, const N: usize>(simd: S, messages: &[[u8; 32]]) -> Vec<[u8; 32]> {
    let mut found = Vec::new();
    for messages in messages.chunks(N * S::LANES) {
        let words = simd.run(
            #[inline(always)]
            || {
                let vectors = std::array::from_fn(|vector| {
                    let first = vector * S::LANES;
                    let message = simd.transpose_bytes(|lane| &messages[(first + lane) % messages.len()]);
                    message.map(|word| simd.swap_bytes(word))
                });
                digests::<S, N>(simd, vectors)
            },
        );
        for at in 0..messages.len() {
            let bytes = words[at / S::LANES].map(|word| {
                let mut lanes = [0; 8];
                simd.store(word, &mut lanes);
                lanes[at % S::LANES].to_be_bytes()
            });
            found.push(*bytes.as_flattened().first_chunk().unwrap());
        }
    }
    found
}

/// The number of random messages.
const MESSAGES: usize = if cfg!(miri) { 10 } else { 10_000 };
/// The length of the chain of digests.
const CHAIN: usize = if cfg!(miri) { 5 } else { 1024 };

fn check<S: Words>(simd: S) {
    check_vectors::<S, 1>(simd);
    check_vectors::<S, 2>(simd);

    // An odd number of vectors and a part of one, which is left out.
    for vectors in 0..=5 {
        let mut seeds = vec![[0; 32]; vectors * S::LANES + S::LANES / 2];
        rand_chacha::ChaCha20Rng::from_seed([8; 32]).fill_bytes(seeds.as_flattened_mut());
        let mut found = HugePages::default().vec(vectors);
        scalars(simd, &seeds, &mut found);
        assert_eq!(found.len(), vectors);
        for (words, seeds) in found.iter().zip(seeds.chunks(S::LANES)) {
            let mut lanes = [[0; 8]; 4];
            words.iter().zip(&mut lanes).for_each(|(word, lanes)| simd.store(*word, lanes));
            for (lane, seed) in seeds.iter().enumerate() {
                let bytes = lanes.map(|word| word[lane].to_le_bytes());
                let digest = *Sha512::digest(seed).first_chunk().unwrap();
                assert_eq!(bytes.as_flattened(), curve25519_dalek::scalar::clamp_integer(digest));
            }
        }
    }
}

fn check_vectors<S: Words, const N: usize>(simd: S) {
    // NIST's short message of 256 bits (SHA512ShortMsg.rsp), in every lane, with other messages in
    // the other lanes.
    let message = *b"\x8c\xcb\x08\xd2\xa1\xa2\x82\xaa\x8c\xc9\x99\x02\xec\xaf\x0f\x67\xa9\xf2\x1c\xff\xe2\x80\x05\xcb\x27\xfc\xf1\x29\xe9\x63\xf9\x9d";
    let known = *b"\x45\x51\xde\xf2\xf9\x12\x73\x86\xee\xa8\xd4\xda\xe1\xea\x8d\x8e\x49\xb2\xad\xd0\x50\x9f\x27\xcc\xbc\xe7\xd9\xe9\x50\xac\x7d\xb0";
    let lanes = N * S::LANES;
    for lane in 0..lanes {
        let mut messages: Vec<[u8; 32]> = (0..lanes).map(|other| [other as u8; 32]).collect();
        messages[lane] = message;
        assert_eq!(digests_of::<S, N>(simd, &messages)[lane], known, "lane {lane}");
    }

    let mut random = rand_chacha::ChaCha20Rng::from_seed([7; 32]);
    let mut messages = vec![[0; 32]; MESSAGES];
    random.fill_bytes(messages.as_flattened_mut());
    messages.extend([[0; 32], [0xff; 32]]);
    for (message, digest) in messages.iter().zip(digests_of::<S, N>(simd, &messages)) {
        assert_eq!(digest, Sha512::digest(message)[..32], "{message:02x?}");
    }

    // Each message is the digest of the message before, so one error spreads to the end of the
    // chain.
    let mut chain = vec![[1; 32]; lanes];
    let mut expected = [1; 32];
    for _ in 0..CHAIN {
        chain = digests_of::<S, N>(simd, &chain);
        expected = *Sha512::digest(expected).first_chunk().unwrap();
    }
    assert!(chain.iter().all(|lane| *lane == expected));
}

#[test]
fn every_lane_hashes() {
    crate::simd::on_every_set!(check);
    // Without these instructions the lanes of NEON have hashed twice.
    #[cfg(target_arch = "aarch64")]
    crate::simd::tests::on(crate::simd::Sha512::detect(), |_| ());
}
