//! Tests of every instruction set against published vectors and the sha2 package.

use curve25519_dalek::scalar::clamp_integer;
use rand_core::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha512};

use ed25519_batch::internals::sha512::scalars;
use ed25519_batch::simd::Words;

/// The number of random seeds, a multiple of every number of lanes.
const SEEDS: usize = if cfg!(miri) { 16 } else { 10_000 };
/// The length of the chain of scalars.
const CHAIN: usize = if cfg!(miri) { 5 } else { 1024 };

/// Returns the scalars of seeds that fill vectors.
fn scalars_of<S: Words>(simd: S, seeds: &[[u8; 32]]) -> Vec<[u8; 32]> {
    let mut found = vec![[simd.splat(0); 4]; seeds.len() / S::LANES];
    scalars(simd, seeds, &mut found);
    let of_vector = |words: &[S::Word; 4]| {
        let mut lanes = [[0; 8]; 4];
        words.iter().zip(&mut lanes).for_each(|(word, lanes)| simd.store(*word, lanes));
        (0..S::LANES).map(move |lane| {
            let bytes = lanes.map(|word| word[lane].to_le_bytes());
            *bytes.as_flattened().first_chunk().unwrap()
        })
    };
    found.iter().flat_map(of_vector).collect()
}

fn expected(seed: &[u8; 32]) -> [u8; 32] {
    clamp_integer(*Sha512::digest(seed).first_chunk().unwrap())
}

fn random(count: usize) -> Vec<[u8; 32]> {
    let mut seeds = vec![[0; 32]; count];
    rand_chacha::ChaCha20Rng::from_seed([7; 32]).fill_bytes(seeds.as_flattened_mut());
    seeds
}

fn check<S: Words>(simd: S) {
    // NIST's short message of 256 bits (SHA512ShortMsg.rsp), in every lane, with other seeds in the
    // other lanes.
    let message = *b"\x8c\xcb\x08\xd2\xa1\xa2\x82\xaa\x8c\xc9\x99\x02\xec\xaf\x0f\x67\xa9\xf2\x1c\xff\xe2\x80\x05\xcb\x27\xfc\xf1\x29\xe9\x63\xf9\x9d";
    let known = *b"\x45\x51\xde\xf2\xf9\x12\x73\x86\xee\xa8\xd4\xda\xe1\xea\x8d\x8e\x49\xb2\xad\xd0\x50\x9f\x27\xcc\xbc\xe7\xd9\xe9\x50\xac\x7d\xb0";
    let lanes = 2 * S::LANES;
    for lane in 0..lanes {
        let mut seeds: Vec<[u8; 32]> = (0..lanes).map(|other| [other as u8; 32]).collect();
        seeds[lane] = message;
        assert_eq!(scalars_of(simd, &seeds)[lane], clamp_integer(known), "lane {lane}");
    }

    let mut seeds = random(SEEDS);
    (seeds[0], seeds[1]) = ([0; 32], [0xff; 32]);
    for (seed, scalar) in seeds.iter().zip(scalars_of(simd, &seeds)) {
        assert_eq!(scalar, expected(seed), "{seed:02x?}");
    }

    // An odd number of vectors as well.
    for vectors in 0..=5 {
        let seeds = random(vectors * S::LANES);
        let all: Vec<[u8; 32]> = seeds.iter().map(expected).collect();
        assert_eq!(scalars_of(simd, &seeds), all);
    }

    // Each seed is the scalar of the seed before, so one error spreads to the end of the chain.
    let (mut chain, mut last) = (vec![[1; 32]; lanes], [1; 32]);
    for _ in 0..CHAIN {
        chain = scalars_of(simd, &chain);
        last = expected(&last);
    }
    assert!(chain.iter().all(|lane| *lane == last));
}

#[test]
fn every_lane_hashes() {
    crate::simd::on_every_common_set!(check);
    // Without these instructions the lanes of NEON have hashed twice.
    #[cfg(target_arch = "aarch64")]
    crate::simd::sets::on(ed25519_batch::simd::Sha512::detect(), |_| ());
}
