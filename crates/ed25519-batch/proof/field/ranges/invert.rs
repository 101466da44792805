//! The whole numbers of an inversion, at the corners of their ranges.
//!
//! Before it is cut, every intermediate number of [`apply`] is a sum of products, shifted right:
//! each is a linear function of the matrix for given limbs, and of each limb for a given matrix.
//! Rounding down keeps the order. So over a box of limbs, all matrices with |u| + |v| of at most
//! 2^62, and an interval of multiples of p, the least and the largest value are at corners. The
//! tests run the function at all of them, with checks of overflow, and compare the result with big
//! integers.

use num_bigint::BigInt;

use ed25519_batch::internals::field::Element;
use ed25519_batch::internals::field::invert::{
    FIRST_DELTA, LIMB, Limbs, Matrix, P, STEPS, add_multiple_of_p, apply, apply_modulo_p, between_0_and_p,
    division_steps, inverse, invert_all, limbs as limbs_of_words, words,
};

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
    let negative = [
        corners(0, [-256, -1]),
        [-2 * &p + 1, -&p - 1, -&p, -&p + 1, (-1).into()].iter().map(limbs).collect(),
    ]
    .concat();
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

/// The factors of `apply_modulo_p` make each sum a multiple of 2^62, and keep it modulo p. Modulo
/// 2^62 the multiple of p is linear in the matrix and in the lowest limbs, for given signs, so 0
/// and 1 are enough.
#[test]
fn the_factors_keep_their_product_modulo_p() {
    let p = number(&P);
    for bits in 0..1 << 8 {
        let [u, v, q, r, d, e, sign_d, sign_e] = std::array::from_fn(|at| i64::from(bits >> at & 1));
        let (d, e) = ([d, 0, 0, 0, -sign_d], [e, 0, 0, 0, -sign_e]);
        let results = apply_modulo_p(&Matrix { u, v, q, r }, &d, &e);
        let sums = [number(&d) * u + number(&e) * v, number(&d) * q + number(&e) * r];
        for (result, sum) in [results.0, results.1].iter().zip(sums) {
            assert_eq!(((number(result) << 62) - sum) % &p, BigInt::ZERO, "{u} {v} {q} {r} {d:?} {e:?}");
        }
    }
}

/// A multiple of p that is added carries all bits, whatever the limbs are.
#[test]
fn multiples_of_p_are_added_exactly() {
    for a in corners(-LIMB, [-256, 127]).into_iter().chain(corners(0, [-1, 0])) {
        for (times, a) in [(0, a), (1, a), (0, a.map(|limb| -limb))] {
            let sum = add_multiple_of_p(a, times);
            assert_eq!(number(&sum), number(&a) + number(&P) * times, "{a:?}");
            assert!(sum[..4].iter().all(|limb| (0..=LIMB).contains(limb)));
        }
    }
}

/// Every bit of four words goes to its place in the limbs, and back. Shifts, masks and `|` treat
/// the bits one by one, so this is all.
#[test]
fn every_bit_has_its_place() {
    for bit in 0..256 {
        let mut given = [0; 4];
        given[bit / 64] = 1 << (bit % 64);
        let mut expected = [0; 5];
        expected[bit / 62] = 1 << (bit % 62);
        assert_eq!(limbs_of_words(given), expected);
        assert_eq!(words(expected), given);
    }
    assert_eq!((limbs_of_words([0; 4]), words([0; 5])), ([0; 5], [0; 4]));
}

/// With any number of elements, each gets its own inverse. An element is a product of powers of
/// eight unknowns here, given by their exponents. Only the product of all is inverted.
#[test]
fn one_inversion_inverts_all_elements() {
    type Powers = [i8; 8];
    for lanes in 1..=8 {
        let unknowns: [Powers; 8] = std::array::from_fn(|lane| std::array::from_fn(|at| (at == lane).into()));
        let product = |a: &Powers, b: &Powers| std::array::from_fn(|at| a[at] + b[at]);
        let mut elements = unknowns;
        let all: Powers = std::array::from_fn(|at| (at < lanes).into());
        invert_all(&mut elements[..lanes], [0; 8], product, |of| {
            assert_eq!(*of, all);
            of.map(|power| -power)
        });
        for (lane, (element, unknown)) in elements.iter().zip(unknowns).enumerate() {
            assert_eq!(*element, unknown.map(|power| if lane < lanes { -power } else { power }));
        }
    }
}

/// The numbers f and g stay between -p and p: their sums are divided by 2^62 without a rest, and
/// the rows of a matrix are at most 2^62. In the box around that no limb overflows, in any round.
#[test]
#[cfg_attr(miri, ignore = "many corners")]
fn the_numbers_do_not_grow() {
    // The limbs of p itself are -19 and 128.
    let corners = [corners(-19, [-128, 128]), corners(0, [-128, 127])].concat();
    let mut top = [0; 2];
    for (a, b) in corners.iter().flat_map(|a| corners.iter().map(move |b| (a, b))) {
        for [u, v] in ROWS {
            for result in check(&Matrix { u, v, q: u, r: v }, a, b, [0; 2]) {
                top = [top[0].min(result[4]), top[1].max(result[4])];
            }
        }
    }
    println!("invert: the top limb of f and g is from {} to {}", top[0], top[1]);
    assert!(-129 <= top[0] && top[1] <= 128);
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

/// Whole inversions. The checks above and those of `division_steps` are about their parts.
#[test]
#[cfg_attr(miri, ignore = "many corners")]
fn chosen_elements_have_inverses() {
    let size = |a: i64, b: i64| i128::from(a).abs() + i128::from(b).abs();
    let (mut largest, mut most_rounds) = (0, 0);
    for element in elements() {
        let inverse = inverse(element);
        assert_eq!(inverse * element, Element::new(1), "{element:x?}");
        assert_eq!(inverse - Element::new(0), inverse, "below p");
        let value = element.0.iter().rev().fold(BigInt::ZERO, |sum, word| (sum << 64) + word);
        let (mut f, mut g, mut delta, mut rounds) = (P, limbs(&value), FIRST_DELTA, 0);
        while g != [0; 5] {
            let matrix = division_steps(STEPS, &mut delta, f[0], g[0]);
            largest = largest.max(size(matrix.u, matrix.v)).max(size(matrix.q, matrix.r));
            (f, g) = check(&matrix, &f, &g, [0; 2]).into();
            rounds += 1;
        }
        most_rounds = most_rounds.max(rounds);
    }
    assert!(largest <= 1 << 62 && most_rounds <= 12);
    assert_eq!(inverse(Element::new(0)), Element::new(0));
    println!("invert: rows of matrices up to 2^{:.2}, {most_rounds} rounds", (largest as f64).log2());
}
