//! Tests of every instruction set against the sha2 package and ssh-keygen.

use rand_core::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};

use super::*;

/// Returns a key in SSH's wire form.
fn blob(key: &[u8; 32]) -> Vec<u8> {
    [&super::block::HEADER[..], key].concat()
}

/// Returns the digests of each key, with the sign clear and with the sign set.
fn digests<S: Halves>(simd: S, keys: &[[u8; 32]]) -> [Vec<[u8; 32]>; 2] {
    let mut digests = [(); 2].map(|()| vec![[0; 32]; keys.len()]);
    of_both_signs(simd, keys, digests.each_mut().map(Vec::as_mut_slice));
    digests
}

fn expected(keys: &[[u8; 32]]) -> [Vec<[u8; 32]>; 2] {
    [0, 0x80].map(|sign| {
        let digest = |key: &[u8; 32]| {
            let mut key = *key;
            key[31] = key[31] & 0x7f | sign;
            Sha256::digest(blob(&key)).into()
        };
        keys.iter().map(digest).collect()
    })
}

fn check<S: Halves>(simd: S) {
    // The key of RFC 8032, section 7.1, test 1, in every place, with other keys in the other
    // places. `ssh-keygen -l` prints SHA256:bbXpuKG6zhzdmnxq256TlqzFBzRl2f6OOg722cYNbU8.
    let key = *b"\xd7\x5a\x98\x01\x82\xb1\x0a\xb7\xd5\x4b\xfe\xd3\xc9\x64\x07\x3a\x0e\xe1\x72\xf3\xda\xa6\x23\x25\xaf\x02\x1a\x68\xf7\x07\x51\x1a";
    let known = *b"\x6d\xb5\xe9\xb8\xa1\xba\xce\x1c\xdd\x9a\x7c\x6a\xdb\x9e\x93\x96\xac\xc5\x07\x34\x65\xd9\xfe\x8e\x3a\x0e\xf6\xd9\xc6\x0d\x6d\x4f";
    for place in 0..2 * S::LANES {
        let mut keys: Vec<[u8; 32]> = (0..2 * S::LANES).map(|other| [other as u8; 32]).collect();
        keys[place] = key;
        assert_eq!(digests(simd, &keys)[0][place], known, "place {place}");
    }

    let mut random = rand_chacha::ChaCha20Rng::from_seed([9; 32]);
    let mut keys = vec![[0; 32]; 10_000];
    random.fill_bytes(keys.as_flattened_mut());
    keys.extend([[0; 32], [0xff; 32]]);
    let expected = expected(&keys);
    assert_eq!(digests(simd, &keys), expected);
    for number in 0..=2 * 2 * S::LANES + 1 {
        let [clear, set] = digests(simd, &keys[..number]);
        assert_eq!(clear, expected[0][..number], "{number} keys");
        assert_eq!(set, expected[1][..number], "{number} keys");
    }
}

#[test]
fn every_half_of_a_lane_hashes() {
    crate::simd::on_every_common_set!(check);
}

#[test]
#[should_panic(expected = "a digest of each key and sign")]
fn a_wrong_number_of_digests_panics() {
    of_both_signs(crate::simd::Scalar::plain(), &[[0; 32]; 2], [&mut [[0; 32]; 2], &mut [[0; 32]]]);
}

/// Returns bits of a digest that a filter may ask for: those of a random mask.
fn masked(random: &mut impl rand_core::Rng, digest: &[u8; 32], ones: u32) -> MaskedBits {
    let first = random.next_u32() as usize % 7;
    let value = u64::from_be_bytes(*digest[4 * first..].first_chunk().unwrap());
    let mut mask = 0_u64;
    while mask.count_ones() < ones {
        mask |= 1 << (random.next_u32() % 64);
    }
    MaskedBits { first, mask, value }
}

fn check_filter<S: Halves>(simd: S) {
    let mut random = rand_chacha::ChaCha20Rng::from_seed([8; 32]);
    let mut keys = vec![[0; 32]; 500];
    random.fill_bytes(keys.as_flattened_mut());
    let digests = digests(simd, &keys);
    let has = |digest: &[u8; 32], bits: &MaskedBits| {
        let words = u64::from_be_bytes(*digest[4 * bits.first..].first_chunk().unwrap());
        (words ^ bits.value) & bits.mask == 0
    };
    let (mut by_chance, mut expected_by_chance) = (0, 0.0);
    for number in 0..60 {
        // The first filter lets nothing pass, and the second everything.
        let bits: Vec<MaskedBits> = (0..number)
            .map(|_| {
                let digest = digests[random.next_u32() as usize % 2][random.next_u32() as usize % 500];
                masked(&mut random, &digest, if number == 1 { 0 } else { 12 + number / 2 })
            })
            .collect();
        let filter = FingerprintFilter::new(bits.iter().copied());
        let passes = |at: usize| digests.iter().any(|digests| filter.passes(&digests[at]));
        let shows = |at: usize| digests.iter().any(|digests| bits.iter().any(|bits| has(&digests[at], bits)));
        for count in [0, 1, 2 * S::LANES - 1, 2 * S::LANES, 2 * S::LANES + 1, 500] {
            let expected: Vec<usize> = (0..count).filter(|at| passes(*at)).collect();
            assert_eq!(filter.candidates_by(simd, &keys[..count]), expected, "{count} keys");
            assert!((0..count).all(|at| passes(at) || !shows(at)), "a digest is rejected");
        }
        if number > 1 {
            by_chance += (0..500).filter(|at| passes(*at) && !shows(*at)).count();
            expected_by_chance += 2.0 * 500.0 * filter.candidate_share();
        }
    }
    assert!((by_chance as f64) < 1.5 * expected_by_chance, "{by_chance} instead of {expected_by_chance}");
}

#[test]
fn a_filter_rejects_no_digest_that_has_the_bits() {
    crate::simd::on_every_common_set!(check_filter);
}

#[test]
#[should_panic(expected = "two words of a digest")]
fn bits_beyond_the_digest_are_refused() {
    let _ = FingerprintFilter::new([MaskedBits { first: 7, mask: 1, value: 1 }]);
}
