//! Tests of every instruction set against the sha2 package and ssh-keygen.

use ed25519_batch::simd::{InstructionSet, Scalar};
use rand_core::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};

use vanity_pattern::fingerprints;
use vanity_pattern::wire::HEADER;

/// Returns the digests of each key, with the sign clear and with the sign set.
fn digests(set: InstructionSet, keys: &[[u8; 32]]) -> [Vec<[u8; 32]>; 2] {
    let mut digests = [(); 2].map(|()| vec![[0; 32]; keys.len()]);
    fingerprints(set, keys, digests.each_mut().map(Vec::as_mut_slice));
    digests
}

fn expected(keys: &[[u8; 32]]) -> [Vec<[u8; 32]>; 2] {
    [0, 0x80].map(|sign| {
        let digest = |key: &[u8; 32]| {
            let mut key = *key;
            key[31] = key[31] & 0x7f | sign;
            Sha256::digest([&HEADER[..], &key].concat()).into()
        };
        keys.iter().map(digest).collect()
    })
}

/// The most keys that any set hashes side by side.
const MOST_KEYS: usize = 16;

fn check(set: InstructionSet) {
    // The key of RFC 8032, section 7.1, test 1, in every place, with other keys in the other
    // places. `ssh-keygen -l` prints SHA256:bbXpuKG6zhzdmnxq256TlqzFBzRl2f6OOg722cYNbU8.
    let key = *b"\xd7\x5a\x98\x01\x82\xb1\x0a\xb7\xd5\x4b\xfe\xd3\xc9\x64\x07\x3a\x0e\xe1\x72\xf3\xda\xa6\x23\x25\xaf\x02\x1a\x68\xf7\x07\x51\x1a";
    let known = *b"\x6d\xb5\xe9\xb8\xa1\xba\xce\x1c\xdd\x9a\x7c\x6a\xdb\x9e\x93\x96\xac\xc5\x07\x34\x65\xd9\xfe\x8e\x3a\x0e\xf6\xd9\xc6\x0d\x6d\x4f";
    for place in 0..MOST_KEYS {
        let mut keys: Vec<[u8; 32]> = (0..MOST_KEYS as u8).map(|other| [other; 32]).collect();
        keys[place] = key;
        assert_eq!(digests(set, &keys)[0][place], known, "place {place}");
    }

    let mut random = rand_chacha::ChaCha20Rng::from_seed([9; 32]);
    let mut keys = vec![[0; 32]; 10_000];
    random.fill_bytes(keys.as_flattened_mut());
    keys.extend([[0; 32], [0xff; 32]]);
    let expected = expected(&keys);
    assert_eq!(digests(set, &keys), expected);
    for number in 0..=2 * MOST_KEYS + 1 {
        let [clear, set] = digests(set, &keys[..number]);
        assert_eq!(clear, expected[0][..number], "{number} keys");
        assert_eq!(set, expected[1][..number], "{number} keys");
    }
}

#[test]
fn every_half_of_a_lane_hashes() {
    check(InstructionSet::Scalar(Scalar::plain()));
    for set in InstructionSet::every() {
        check(set);
        // The instructions for SHA-256 take the place of vectors of AVX2.
        #[cfg(target_arch = "x86_64")]
        if let InstructionSet::Avx2(simd) = set {
            check(InstructionSet::Avx2(simd.without_sha256()));
        }
    }
}

#[test]
#[should_panic(expected = "a digest of each key and sign")]
fn a_wrong_number_of_digests_panics() {
    fingerprints(InstructionSet::Scalar(Scalar::plain()), &[[0; 32]; 2], [&mut [[0; 32]; 2], &mut [[0; 32]]]);
}
