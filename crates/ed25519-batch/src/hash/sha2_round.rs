//! The round that SHA-256 and SHA-512 share (FIPS 180-4, sections 6.2.2 and 6.4.2). They differ in
//! the size of a word and in the rotations.

use crate::simd::Words;

/// Returns whether two vectors take turns in the rounds. It pays with the 32 registers of AVX-512.
pub const fn takes_turns<S: Words>() -> bool {
    S::LANES == 8
}

/// Does one round: moves every word of the state to the next place, and drops the last word, h.
/// `sums` are those of a and of e. `add` and `sub` compute with words of the hash.
///
/// The new e and the new a wait for the sums of the old ones and two additions. With short chains
/// it is one addition: d is in the new e from the start, and is subtracted again for the new a. That
/// is one instruction more. The compiler would change the order of the additions, so each is hidden
/// from it. Short chains pay with AVX2 and AVX-512, but on Zen 4 not with AVX-512 in SHA-256, where
/// the two signs take turns (entry 34 of RESULTS.txt at feea510).
#[inline(always)]
pub fn round<S: Words>(
    simd: S,
    state: &mut [S::Word; 8],
    input: S::Word,
    sums: [S::Word; 2],
    short_chains: bool,
    add: impl Fn(S::Word, S::Word) -> S::Word,
    sub: impl Fn(S::Word, S::Word) -> S::Word,
) {
    let [a, b, c, d, e, f, g, h] = *state;
    let [sum_a, sum_e] = sums;
    let choice = simd.xor(g, simd.and(e, simd.xor(f, g)));
    let majority = simd.majority(a, b, c);
    let (next_e, next_a);
    if short_chains {
        let with_d = simd.opaque(add(simd.opaque(add(h, input)), d));
        next_e = simd.opaque(add(simd.opaque(add(with_d, choice)), sum_e));
        let without_d = simd.opaque(sub(next_e, d));
        next_a = simd.opaque(add(simd.opaque(add(without_d, majority)), sum_a));
    } else {
        let first = add(add(h, input), add(choice, sum_e));
        next_e = add(d, first);
        next_a = add(first, add(sum_a, majority));
    }
    *state = [next_a, a, b, c, next_e, e, f, g];
}
