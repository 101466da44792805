//! The whole numbers of an inversion, at the corners of their ranges.
//!
//! Before it is cut, every intermediate number of [`apply`] is a sum of products, shifted right:
//! each is a linear function of the matrix for given limbs, and of each limb for a given matrix.
//! Rounding down keeps the order. So over a box of limbs, all matrices with |u| + |v| of at most
//! 2^62, and an interval of multiples of p, the least and the largest value are at corners. The
//! tests run the function at all of them, with checks of overflow, and compare the result with big
//! integers.

use num_bigint::BigInt;

use crate::curve::field::invert::{
    LIMB, Limbs, Matrix, P, apply, apply_modulo_p, between_0_and_p, division_steps, inverse,
};
use crate::curve::field::{Element, Field, Portable, invert};
use crate::simd::{Scalar, Words};

fn number(limbs: &Limbs) -> BigInt {
    limbs.iter().rev().fold(BigInt::ZERO, |sum, limb| (sum << 62) + limb)
}

fn limbs(number: &BigInt) -> Limbs {
    std::array::from_fn(|at| {
        let limb: BigInt = if at < 4 { (number >> (62 * at)) & BigInt::from(LIMB) } else { number >> 248 };
        i64::try_from(limb).unwrap()
    })
}

/// The corners of the rows (u, v) with |u| + |v| of at most 2^62.
const ROWS: [[i64; 2]; 4] = [[1 << 62, 0], [-1 << 62, 0], [0, 1 << 62], [0, -1 << 62]];

/// Returns the corners of a box: limbs from 0 to 2^62 - 1, the lowest from `least`, and the top one
/// from `top[0]` to `top[1]`.
fn corners(least: i64, top: [i64; 2]) -> Vec<Limbs> {
    let limb = |at: usize, corner: usize| match (at, corner >> at & 1) {
        (0, 0) => least,
        (4, side) => top[side],
        (_, side) => [0, LIMB][side],
    };
    (0..32).map(|corner| std::array::from_fn(|at| limb(at, corner))).collect()
}

/// Checks that a result is the sum of the products, shifted right, with limbs in their range.
fn check(matrix: &Matrix, a: &Limbs, b: &Limbs, [m, n]: [i64; 2]) -> [Limbs; 2] {
    let results = apply(matrix, a, b, m, n);
    let rows = [(matrix.u, matrix.v, m), (matrix.q, matrix.r, n)];
    for ((u, v, m), result) in rows.into_iter().zip([results.0, results.1]) {
        let sum = number(a) * u + number(b) * v + number(&P) * m;
        assert_eq!(number(&result), sum >> 62, "{u} {v} {m} of {a:?} and {b:?}");
        assert!(result[..4].iter().all(|limb| (0..=LIMB).contains(limb)));
    }
    results.into()
}

/// The factors d and e stay between -2p and p, and no limb overflows in the box around that.
#[test]
#[cfg_attr(miri, ignore = "many corners")]
fn the_factors_stay_in_their_range() {
    let p = number(&P);
    let negative =
        [corners(0, [-256, -1]), [-2 * &p + 1, -&p, (-1).into()].iter().map(limbs).collect()].concat();
    let others = [corners(0, [0, 127]), [0.into(), 1.into(), &p - 1].iter().map(limbs).collect()].concat();
    let mut cases = 0;
    for (d, e) in [&negative, &others].into_iter().flat_map(|d| [&negative, &others].map(|e| (d, e))) {
        for (at_d, d) in d.iter().enumerate() {
            for (at_e, e) in e.iter().enumerate() {
                for [u, v] in ROWS {
                    let matrix = Matrix { u, v, q: u, r: v };
                    // What `apply_modulo_p` computes, for the extremes of what it masks.
                    let sign = (u & d[4] >> 63) + (v & e[4] >> 63);
                    let results = check(&matrix, d, e, [sign, sign - LIMB]);
                    let (first, second) = apply_modulo_p(&matrix, d, e);
                    // The corners of limbs are there for overflow. They are a little outside.
                    for result in [results[0], results[1], first, second] {
                        let value = number(&result);
                        let is_inside = -2 * &p < value && value < p;
                        assert!(is_inside || at_d < 32 || at_e < 32, "{u} {v} of {d:?} and {e:?}: {value}");
                    }
                    cases += 1;
                }
            }
        }
    }
    println!("invert: {cases} corners of d, e and the matrix; d and e stay between -2p and p");
    for d in negative[32..].iter().chain(&others[32..]) {
        for is_negative in [false, true] {
            let value = number(&between_0_and_p(*d, is_negative));
            assert!(BigInt::ZERO <= value && value < p);
            let sum = if is_negative { value + number(d) } else { value - number(d) };
            assert_eq!(sum % &p, BigInt::ZERO);
        }
    }
}

/// The numbers f and g do not grow, but for the rounding of a limb. So no number of rounds that an
/// inversion can take (735 steps, 13 rounds, by the paper) comes near to an overflow.
#[test]
#[cfg_attr(miri, ignore = "many corners")]
fn the_numbers_do_not_grow() {
    // The lowest limb of p is -19 in the first round.
    let (mut least, mut top) = (-19, [-128, 128]);
    for _ in 0..13 {
        let corners = corners(least, top);
        for a in &corners {
            for b in &corners {
                for [u, v] in ROWS {
                    for result in check(&Matrix { u, v, q: u, r: v }, a, b, [0; 2]) {
                        top = [top[0].min(result[4]), top[1].max(result[4])];
                    }
                }
            }
        }
        least = 0;
    }
    println!("invert: after 13 rounds the top limb of f and g is from {} to {}", top[0], top[1]);
    assert!(-256 < top[0] && top[1] < 256);
}

/// Small elements, their negatives, powers of two, and numbers with long runs of 1.
fn elements() -> Vec<Element> {
    let zero = Element::new(0);
    let mut elements: Vec<_> =
        (1..=64).flat_map(|number| [Element::new(number), zero - Element::new(number)]).collect();
    for bit in 0..255 {
        let mut words = [0; 4];
        words[bit / 64] = 1 << (bit % 64);
        elements.extend([Element(words), Element(words) - Element::new(1), zero - Element(words)]);
    }
    elements.retain(|element| *element != zero);
    elements
}

/// The rounds of whole inversions: no row of a matrix is larger than the corners above, and there
/// are at most 13. This is no proof for all elements.
#[test]
#[cfg_attr(miri, ignore = "many corners")]
fn chosen_elements_have_inverses() {
    let size = |a: i64, b: i64| i128::from(a).abs() + i128::from(b).abs();
    let (mut largest, mut most_rounds) = (0, 0);
    for element in elements() {
        let inverse = inverse(element).unwrap();
        assert_eq!(inverse * element, Element::new(1), "{element:x?}");
        assert_eq!(inverse - Element::new(0), inverse, "below p");
        let value = element.0.iter().rev().fold(BigInt::ZERO, |sum, word| (sum << 64) + word);
        let (mut f, mut g, mut delta, mut rounds) = (P, limbs(&value), 1, 0);
        while g != [0; 5] {
            let matrix = division_steps(&mut delta, f[0], g[0]);
            largest = largest.max(size(matrix.u, matrix.v)).max(size(matrix.q, matrix.r));
            (f, g) = check(&matrix, &f, &g, [0; 2]).into();
            rounds += 1;
        }
        most_rounds = most_rounds.max(rounds);
    }
    assert!(largest <= 1 << 62 && most_rounds <= 13);
    assert_eq!(inverse(Element::new(0)), None);
    println!("invert: rows of matrices up to 2^{:.2}, {most_rounds} rounds", (largest as f64).log2());
}

/// Every lane has its own inverse, and a lane of 0 leaves none.
fn check_lanes<F: Field>(field: F) {
    let simd = field.simd();
    let lanes = |of: &F::Product| {
        let mut words = [[0; 8]; 4];
        words.iter_mut().zip(field.words(of)).for_each(|(lanes, word)| simd.store(word, lanes));
        (0..<F::Simd as Words>::LANES).map(|lane| Element(words.map(|word| word[lane]))).collect::<Vec<_>>()
    };
    let mut given =
        [Element::new(2), Element::new(3), Element::new(1) - Element::new(7), Element::new(1 << 60)]
            .repeat(2);
    given[5] = Element([5, 6, 7, 8]);
    let load = |given: &[Element]| {
        let words: [[u64; 8]; 4] = std::array::from_fn(|at| std::array::from_fn(|lane| given[lane].0[at]));
        field.product(words.map(|word| simd.load(&word)))
    };
    let product = load(&given);
    for (inverse, element) in lanes(&invert(field, &product).unwrap()).into_iter().zip(&given) {
        assert_eq!(inverse * *element, Element::new(1));
    }
    for (one, element) in lanes(&field.one()).into_iter().zip(lanes(&product)) {
        assert_eq!((one, element * one), (Element::new(1), element));
    }
    for lane in 0..<F::Simd as Words>::LANES {
        let mut given = given.clone();
        given[lane] = Element::new(0);
        assert!(invert(field, &load(&given)).is_none());
    }
}

#[test]
fn every_lane_has_its_inverse() {
    check_lanes(Portable(Scalar::plain()));
    #[cfg(target_arch = "x86_64")]
    {
        use crate::curve::field::{Fma, Ifma};
        use crate::simd::{Avx2, Avx512f, Avx512ifma};
        Avx2::detect().map_or_else(|_| (), |simd| check_lanes(Fma(simd)));
        Avx512f::detect().map_or_else(|_| (), |simd| check_lanes(Fma(simd)));
        Avx512ifma::detect().map_or_else(|_| (), |simd| check_lanes(Ifma(simd)));
    }
    let [two, five] = [2, 5].map(Element::new);
    assert_eq!([five - two, five + two, five * two], [3, 7, 10].map(Element::new));
    assert_eq!((two - five) + five, two);
    assert_eq!(five / two * two, five);
}
