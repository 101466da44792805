//! Texts folded into classes: one byte for each character, the number of its class.

use super::classes::Classes;
use crate::syntax::Literal;
use crate::wire::{BODY_LEN, Bytes, SIGN_POSITION, SIGN_VALUE, Target};
use ed25519_batch::simd::Bytes64;

/// The number of characters in a vector.
const LANES: usize = 64;

/// The offset of the copy of the last eight characters, which holds the sign: character 36 is byte
/// 44.
const REPEATED: usize = 8;

const _: () = assert!(BODY_LEN == 43 && SIGN_POSITION == 41);

/// The bit that sets the sign in the copy, for keys.
const SIGN: [u32; LANES / 4] = sign_at(SIGN_POSITION + REPEATED);

/// The bit that sets the sign in the last word of [`values_in_words`], which begins with character
/// 36.
const SIGN_IN_WORDS: [u32; LANES / 4] = sign_at(56 + SIGN_POSITION - 36);

/// Returns the sign as a bit of byte `at`.
const fn sign_at(at: usize) -> [u32; LANES / 4] {
    let mut fours = [0; LANES / 4];
    fours[at / 4] = (SIGN_VALUE as u32) << (8 * (at % 4));
    fours
}

/// The same for fingerprints, which have no sign.
const NO_SIGN: [u32; LANES / 4] = [0; LANES / 4];

/// A text, and a copy of its last eight characters. In the copy of a key, the sign is set.
#[derive(Clone, Copy)]
pub(super) struct Folded([u8; LANES]);

impl Folded {
    pub(super) const NONE: Self = Self([0; LANES]);

    /// Folds the text that shows `bytes`. `table` has the class of each symbol, by its value.
    #[inline(always)]
    pub(super) fn new<S: Bytes64>(simd: S, table: &[u8; LANES], target: Target, bytes: &Bytes) -> Self {
        let mut folded = Self::NONE;
        folded.set(simd, Self::vector(simd, table, target, bytes));
        folded
    }

    /// Folds a text as [`Self::new`] does, and leaves it in a vector.
    #[inline(always)]
    pub(super) fn vector<S: Bytes64>(
        simd: S,
        table: &[u8; LANES],
        target: Target,
        bytes: &Bytes,
    ) -> S::Vector64 {
        simd.look_up(table, values(simd, target, bytes))
    }

    /// Makes a text of classes, without a sign.
    #[cfg(test)]
    pub(super) fn of_classes(classes: [u8; BODY_LEN]) -> Self {
        let mut folded = Self::NONE;
        folded.0[..BODY_LEN].copy_from_slice(&classes);
        folded
    }

    #[inline(always)]
    pub(super) fn set<S: Bytes64>(&mut self, simd: S, vector: S::Vector64) {
        simd.store_bytes(vector, &mut self.0);
    }

    #[inline(always)]
    pub(super) fn get<S: Bytes64>(&self, simd: S) -> S::Vector64 {
        simd.load_bytes(&self.0)
    }

    /// Returns the classes of `count` characters from `start` on, up to 8, as [`window`] packs
    /// them. `sign` selects the sign of a key.
    #[inline(always)]
    pub(super) fn window(&self, start: usize, count: usize, sign: bool) -> u64 {
        let bytes = &self.0;
        let mut window = bytes[start..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        if sign && (start..start + 8).contains(&SIGN_POSITION) {
            let down = 8 * (SIGN_POSITION - start);
            window &= !(0xff << down);
            window |= u64::from(bytes[SIGN_POSITION + REPEATED]) << down;
        }
        window & u64::MAX >> (64 - 8 * count)
    }
}

/// Returns the values of the characters that show `bytes`, and a copy of the last eight. In the
/// copy of a key, the sign is set.
#[inline(always)]
pub(super) fn values<S: Bytes64>(simd: S, target: Target, bytes: &Bytes) -> S::Vector64 {
    let sign = if target == Target::Key { &SIGN } else { &NO_SIGN };
    simd.or_bytes(simd.sextets(bytes, target.lead() as u32), sign)
}

/// Returns a mask of the bytes of [`values`] that are characters: those of the text, and those of a
/// key's copy with the sign.
pub(super) fn characters(target: Target) -> [u32; LANES / 4] {
    let copied = BODY_LEN + 1..BODY_LEN + REPEATED;
    mask(|at| at < BODY_LEN || target == Target::Key && copied.contains(&at))
}

/// Returns the values of the characters that show `bytes`, in eight words of eight characters that
/// overlap: three characters in a row lie in one word. The last two words are the same, but in the
/// last one of a key the sign is set.
#[inline(always)]
pub(super) fn values_in_words<S: Bytes64>(simd: S, target: Target, bytes: &Bytes) -> S::Vector64 {
    let sign = if target == Target::Key { &SIGN_IN_WORDS } else { &NO_SIGN };
    simd.or_bytes(simd.overlapping_sextets(bytes, target.lead() as u32), sign)
}

/// Returns a mask of the bytes of [`values_in_words`] at which three characters can begin, of which
/// at least the first two belong to the text.
pub(super) fn starts_in_words(target: Target) -> [u32; LANES / 4] {
    let words = if target == Target::Key { 8 } else { 7 };
    mask(|at| at / 8 < words && at % 8 < 6)
}

/// Returns a mask of some bytes.
fn mask(has: impl Fn(usize) -> bool) -> [u32; LANES / 4] {
    std::array::from_fn(|word| {
        (4 * word..4 * word + 4).filter(|at| has(*at)).fold(0, |mask, at| mask | 0xff << (8 * (at % 4)))
    })
}

/// Returns the classes of `count` characters of a literal from `from` on, up to 8. The result
/// equals [`Folded::window`] of a text that shows the literal.
pub(super) fn literal_window(literal: &Literal, classes: &Classes, from: usize, count: usize) -> u64 {
    let class = |byte: &u8| classes.of(literal.accepts(*byte).first().unwrap_or_default());
    window(literal.text()[from..from + count].iter().map(class))
}

/// Packs up to 8 classes into a number, the first one lowest.
fn window(classes: impl DoubleEndedIterator<Item = u8>) -> u64 {
    classes.rev().fold(0, |window, class| window << 8 | u64::from(class))
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng as _, SeedableRng as _};

    use super::*;
    use crate::wire::{Symbols, with_sign, without_sign};
    use ed25519_batch::simd::{InstructionSet, Scalar, with_set};

    #[test]
    fn windows_are_the_classes_of_the_characters() {
        let mut random = rand_chacha::ChaCha8Rng::from_seed([4; 32]);
        for target in [Target::Key, Target::Fingerprint] {
            for _ in 0..100 {
                let classes = Classes::new((0..5).map(|_| Symbols(random.next_u64() & random.next_u64())));
                let mut bytes = Bytes::default();
                random.fill_bytes(&mut bytes);
                let either = if target == Target::Key {
                    bytes = without_sign(bytes);
                    [bytes, with_sign(bytes)]
                } else {
                    [bytes; 2]
                };
                let [plain, signed] = either.map(|bytes| {
                    target.body(&bytes).map(|byte| classes.of(Symbols::of(byte).first().unwrap()))
                });
                let all = [
                    with_set!(InstructionSet::widest(), simd => Folded::new(simd, classes.of_values(), target, &bytes)),
                    Folded::new(Scalar::plain(), classes.of_values(), target, &bytes),
                ];
                for folded in all {
                    for start in 0..BODY_LEN {
                        for count in 1..=(BODY_LEN - start).min(8) {
                            let range = start..start + count;
                            let expected = window(plain[range.clone()].iter().copied());
                            assert_eq!(folded.window(start, count, false), expected);
                            let expected = window(signed[range].iter().copied());
                            assert_eq!(folded.window(start, count, target == Target::Key), expected);
                        }
                    }
                }
            }
        }
    }
}
