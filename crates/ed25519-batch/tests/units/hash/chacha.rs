use ed25519_batch::internals::chacha::{blocks, fill};
use ed25519_batch::simd::Halves;
use ed25519_batch::{ChaCha20Lanes, InstructionSet};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};

/// The numbers of half blocks to take: less than a vector of blocks, about one vector, and
/// several.
const HALVES: &[usize] = if cfg!(miri) { &[1, 17] } else { &[1, 2, 31, 32, 33, 500] };

fn check<S: Halves>(simd: S) {
    // RFC 8439, appendix A.1, test vectors 1 and 2: blocks 0 and 1 of the zero key.
    let mut zero = [[0; 32]; 3];
    fill(simd, &[0; 32], &mut zero);
    assert_eq!(zero[0][..8], [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90]);
    assert_eq!(zero[1][24..], [0xc3, 0x87, 0xb6, 0x69, 0xb2, 0xee, 0x65, 0x86]);
    assert_eq!(zero[2][..8], [0x9f, 0x07, 0xe7, 0xbe, 0x55, 0x51, 0x38, 0x7a]);

    let key: [u8; 32] = std::array::from_fn(|at| (7 * at) as u8);
    for &halves in HALVES {
        let (mut stream, mut expected) = (vec![[0; 32]; halves], vec![[0; 32]; halves]);
        fill(simd, &key, &mut stream);
        ChaCha20Rng::from_seed(key).fill_bytes(expected.as_flattened_mut());
        assert_eq!(stream, expected, "{halves}");
    }
    // Across the end of 32 bits of the counter.
    let mut expected = [[0; 32]; 32];
    let mut random = ChaCha20Rng::from_seed(key);
    let first = (1 << 32) - 5;
    random.set_word_pos(u128::from(first) * 16);
    random.fill_bytes(expected.as_flattened_mut());
    let mut stream = [[0; 32]; 32];
    let stream = &mut stream[..4 * S::LANES];
    simd.run(
        #[inline(always)]
        || blocks(simd, &key, first, stream),
    );
    assert_eq!(*stream, expected[..4 * S::LANES]);
}

#[test]
fn every_lane_has_the_stream_of_its_block() {
    crate::simd::on_every_common_set!(check);
}

#[test]
fn eight_lanes_are_those_of_avx_512() {
    for set in InstructionSet::every() {
        let is_avx_512 = format!("{set:?}").starts_with("Avx512");
        assert_eq!(ChaCha20Lanes::of(set).is_some(), is_avx_512);
    }
}
