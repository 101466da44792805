//! Compares the axioms with ordinary words, for all values of two small words at the places where
//! carries, signs and limbs begin.
//!
//! The axioms do not depend on the width of a word or of a part: they are facts about quotients and
//! remainders by 2^k. So an error in their code shows at small words.

use super::variables::values_of;
use super::*;
use crate::simd::sets::Emulated;
use ed25519_batch::simd::{Doubles as _, Madd52, Scalar, Words as _};

/// The values of a small word.
const SMALL: u64 = 16;

/// Returns a few words that are computed from two, which are not below `start` and differ from it
/// by less than [`SMALL`].
fn results<S: Madd52>(simd: S, a: S::Word, b: S::Word) -> Vec<S::Word> {
    let ones = |bits: u32| simd.splat(u64::MAX >> (64 - bits));
    let odd = simd.and(b, ones(1));
    let mut all = vec![
        simd.add(a, b),
        simd.sub(a, b),
        simd.and(a, ones(1)),
        simd.and(a, ones(3)),
        simd.and(ones(51), a),
        simd.and(a, simd.splat(0b1100)),
        simd.and(a, ones(64)),
        simd.and(a, simd.splat(0)),
        simd.with_top::<3>(a, 5),
        simd.with_top::<51>(b, 0x866),
        simd.xor(simd.and(a, ones(2)), ones(2)),
        simd.xor(simd.and(a, ones(2)), simd.splat(0b100)),
        simd.xor(a, simd.sub(odd, simd.splat(1))),
        simd.and(simd.xor(a, simd.sub(odd, simd.splat(1))), simd.splat(0b110)),
        simd.xor_where_odd(a, b, u64::MAX),
        simd.xor_where_odd(simd.and(a, ones(3)), odd, 7),
        simd.shl::<1>(a),
        simd.shl_by(a, 62),
        simd.shl_by(a, 64),
        simd.shr::<2>(simd.shl::<61>(a)),
        simd.and(simd.shl::<2>(a), ones(4)),
        simd.shr_by(a, 3),
        simd.shr_by(a, 52),
        simd.or(simd.and(a, ones(3)), simd.shl::<3>(b)),
        simd.or(simd.shl::<60>(a), simd.and(b, ones(2))),
        simd.shr::<2>(simd.or(simd.shl::<3>(a), simd.and(b, ones(2)))),
        simd.shr::<1>(simd.or(simd.shl::<3>(a), simd.and(b, ones(2)))),
        simd.and(simd.or(simd.shl::<3>(a), simd.and(b, ones(2))), ones(5)),
        simd.add(simd.and(a, ones(2)), simd.shl::<2>(simd.and(simd.shr::<2>(a), ones(3)))),
        simd.and(simd.and(a, ones(4)), ones(2)),
    ];
    for (a, b) in [(a, b), (a, simd.splat(1 << 12)), (simd.splat(608), b), (a, a)] {
        all.extend([simd.madd52lo(b, a, b), simd.madd52hi(a, a, b), simd.madd52hi(b, simd.shr::<1>(a), b)]);
    }
    // The carry of a word that may be negative or not.
    all.extend([simd.carry(simd.sub(simd.and(a, ones(4)), simd.and(b, ones(4)))), simd.carry(ones(64))]);
    all
}

/// The places where the small words begin: with limbs, with the highest bit, and at 0.
const STARTS: [u64; 6] =
    [0, (1 << 51) - 5, (1 << 52) - 9, (1 << 54) + 3, (1 << 63) - SMALL, u64::MAX - SMALL];

#[test]
fn symbolic_words_compute_like_ordinary_ones() {
    let (symbolic, ordinary) = (Symbolic::<true>, Emulated::<_, true>(Scalar::plain()));
    for (start, other) in STARTS.iter().flat_map(|start| STARTS.map(|other| (*start, other))) {
        forget();
        let [a, b] = [start, other].map(|start| Word::of(Value::fresh(start, start + SMALL - 1)));
        let all: Vec<_> = results(symbolic, a, b).into_iter().map(|word| word.value().polynomial).collect();
        for (a, b) in (0..SMALL).flat_map(|a| (0..SMALL).map(move |b| (start + a, other + b))) {
            let values = values_of(&[a.into(), b.into()]);
            for (at, (result, known)) in all.iter().zip(results(ordinary, a, b)).enumerate() {
                assert_eq!(result.at(&values).as_word(), known, "result {at} of {a:x} and {b:x}");
            }
        }
    }
}

/// Compares the axioms of doubles with those of the processor: products of small integers near the
/// largest limbs, split into two, rounding to a multiple of 2^51, and bit patterns.
#[test]
fn symbolic_doubles_compute_like_those_of_the_processor() {
    const HIGH: f64 = 1.5 * (1u128 << 103) as f64;
    const LOW: f64 = 1.5 * (1u64 << 52) as f64;
    let symbolic = Symbolic::<true>;
    let number = |value: f64| symbolic.double(symbolic.splat(value.to_bits()));
    let starts = [-(1 << 50), -9, 0, 1 << 25, (1 << 50) - 7];
    for (start, other) in starts.iter().flat_map(|start| starts.map(|other| (*start, other))) {
        forget();
        let [a, b] = [start, other].map(|start: i64| {
            Number::of(Value::fresh(Dyadic::new(start, 0), Dyadic::new(start + SMALL.cast_signed() - 1, 0)))
        });
        let zeros = (symbolic.splat(0), symbolic.splat(0));
        let (low, high) = symbolic.accumulate(zeros, a, &b, number(HIGH), number(HIGH + LOW));
        let over = symbolic.minus(symbolic.plus(a, number(HIGH)), number(HIGH));
        let words = [low, high, symbolic.bits(symbolic.plus(a, number(LOW)))];
        let numbers = [
            over,
            symbolic.minus(a, over),
            symbolic.fma(over, number(power_of_two(-51)), b),
            symbolic.double(symbolic.bits(symbolic.plus(a, number(LOW)))),
        ];
        for (x, y) in (0..SMALL).flat_map(|a| (0..SMALL).map(move |b| (a, b))) {
            let [x, y] = [start + x.cast_signed(), other + y.cast_signed()];
            let values = values_of(&[Dyadic::new(x, 0), Dyadic::new(y, 0)]);
            let (x, y) = (x as f64, y as f64);
            let h = x.mul_add(y, HIGH);
            let known = [x.mul_add(y, HIGH + LOW - h), h, x + LOW].map(f64::to_bits);
            for (word, known) in words.iter().zip(known) {
                assert_eq!(word.value().polynomial.at(&values).as_word(), known, "{x} and {y}");
            }
            let over = x + HIGH - HIGH;
            let known = [over, x - over, over.mul_add(power_of_two(-51), y), x + LOW];
            for (number, known) in numbers.iter().zip(known) {
                assert_eq!(number.value().polynomial.at(&values), Dyadic::of_double(known), "{x} and {y}");
            }
        }
    }
}
