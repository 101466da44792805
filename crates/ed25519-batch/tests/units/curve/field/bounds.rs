//! Tests of every back end against big integers, with limbs at the bounds of their types.
//!
//! The variable `VANITY_CASES` sets the number of cases of each operation in each back end.

use std::ops::RangeInclusive;

use num_bigint::{BigInt, BigUint};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};

use crate::simd::sets::Emulated;
use ed25519_batch::internals::field::{Element, Field, Fma, Ifma, Portable, fma, ifma, invert, portable};
use ed25519_batch::simd::{Doubles, Madd52, Scalar, Wide, Words};

/// Returns the number of cases of each operation in each back end. Miri is slow.
pub fn cases() -> usize {
    let default_cases = if cfg!(miri) { 4 } else { 5000 };
    std::env::var("VANITY_CASES").map_or(default_cases, |cases| cases.parse().unwrap())
}

/// The most lanes of any back end.
const LANES: usize = 8;

/// Five limbs in every lane.
pub type Limbs = [[i64; LANES]; 5];

/// Access to the limbs of a back end.
pub trait Probe: Field {
    /// The number of bits between the weights of two limbs.
    const RADIX: u32;
    /// Returns the ranges of limb `at` in a tight element, a loose one, a product and a sum.
    fn ranges(at: usize) -> [RangeInclusive<i64>; 4];
    fn put_tight(self, limbs: &Limbs) -> Self::Tight;
    fn put_loose(self, limbs: &Limbs) -> Self::Loose;
    fn put_product(self, limbs: &Limbs) -> Self::Product;
    fn put_sum(self, limbs: &Limbs) -> Self::Sum;
    fn get_tight(self, a: &Self::Tight) -> Limbs;
    fn get_loose(self, a: &Self::Loose) -> Limbs;
    fn get_product(self, a: &Self::Product) -> Limbs;
    fn get_sum(self, a: &Self::Sum) -> Limbs;
}

/// Makes a vector of each limb, in code that is compiled once for each instruction set.
#[inline(never)]
fn vectors<S: Words>(simd: S, limbs: &Limbs, word: &dyn Fn(usize, i64) -> u64) -> [S::Word; 5] {
    std::array::from_fn(|at| simd.load(&limbs[at].map(|limb| word(at, limb))))
}

/// Takes the limbs out of vectors, in code that is compiled once for each instruction set.
#[inline(never)]
fn lanes<S: Words>(simd: S, vectors: &[S::Word; 5], limb: &dyn Fn(usize, u64) -> i64) -> Limbs {
    std::array::from_fn(|at| {
        let mut words = [0; LANES];
        simd.store(vectors[at], &mut words);
        words.map(|word| limb(at, word))
    })
}

impl<S: Wide> Probe for Portable<S> {
    const RADIX: u32 = 51;

    fn ranges(_: usize) -> [RangeInclusive<i64>; 4] {
        [portable::TIGHT, portable::LOOSE, portable::TIGHT, 2 * portable::TIGHT - 1]
            .map(|bound| 0..=bound.cast_signed() - 1)
    }

    fn put_tight(self, limbs: &Limbs) -> Self::Tight {
        portable::Tight51(vectors(self.0, limbs, &|_, limb| limb.cast_unsigned()))
    }

    fn put_loose(self, limbs: &Limbs) -> Self::Loose {
        portable::Loose51(vectors(self.0, limbs, &|_, limb| limb.cast_unsigned()))
    }

    fn put_product(self, limbs: &Limbs) -> Self::Product {
        self.put_tight(limbs)
    }

    fn put_sum(self, limbs: &Limbs) -> Self::Sum {
        portable::Sum51(self.put_loose(limbs).0)
    }

    fn get_tight(self, a: &Self::Tight) -> Limbs {
        lanes(self.0, &a.0, &|_, word| word.cast_signed())
    }

    fn get_loose(self, a: &Self::Loose) -> Limbs {
        lanes(self.0, &a.0, &|_, word| word.cast_signed())
    }

    fn get_product(self, a: &Self::Product) -> Limbs {
        self.get_tight(a)
    }

    fn get_sum(self, a: &Self::Sum) -> Limbs {
        lanes(self.0, &a.0, &|_, word| word.cast_signed())
    }
}

impl<S: Doubles> Probe for Fma<S> {
    const RADIX: u32 = 51;

    fn ranges(_: usize) -> [RangeInclusive<i64>; 4] {
        let excess = fma::EXCESS.cast_signed();
        let (limb, half) = ((1 << 51) + excess, (1 << 50) + excess);
        [0..=limb, -limb..=limb, -half..=half, 0..=2 * limb]
    }

    fn put_tight(self, limbs: &Limbs) -> Self::Tight {
        let words = vectors(self.0, limbs, &|_, limb| (fma::UNIT + limb as f64).to_bits());
        fma::Tight(words.map(|word| self.0.double(word)))
    }

    fn put_loose(self, limbs: &Limbs) -> Self::Loose {
        let words = vectors(self.0, limbs, &|_, limb| (limb as f64).to_bits());
        fma::Loose(words.map(|word| self.0.double(word)))
    }

    fn put_product(self, limbs: &Limbs) -> Self::Product {
        fma::Product(self.put_loose(limbs).0)
    }

    fn put_sum(self, limbs: &Limbs) -> Self::Sum {
        let two_units = fma::UNIT.to_bits().wrapping_mul(2);
        fma::Sum(vectors(self.0, limbs, &|_, limb| two_units.wrapping_add_signed(limb)))
    }

    fn get_tight(self, a: &Self::Tight) -> Limbs {
        lanes(self.0, &a.0.map(|limb| self.0.bits(limb)), &|_, word| {
            (f64::from_bits(word) - fma::UNIT) as i64
        })
    }

    fn get_loose(self, a: &Self::Loose) -> Limbs {
        lanes(self.0, &a.0.map(|limb| self.0.bits(limb)), &|_, word| {
            let number = f64::from_bits(word);
            assert_eq!(number.fract(), 0.0);
            number as i64
        })
    }

    fn get_product(self, a: &Self::Product) -> Limbs {
        self.get_loose(&(*a).into())
    }

    fn get_sum(self, a: &Self::Sum) -> Limbs {
        let two_units = fma::UNIT.to_bits().wrapping_mul(2);
        lanes(self.0, &a.0, &|_, word| word.wrapping_sub(two_units).cast_signed())
    }
}

/// Returns bits above a limb, for words of which only the low 52 bits count.
fn bits_above(limb: i64) -> u64 {
    limb.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15) << 52
}

impl<S: Madd52> Probe for Ifma<S> {
    const RADIX: u32 = 52;

    fn ranges(at: usize) -> [RangeInclusive<i64>; 4] {
        let (limb, top) = (ifma::LIMB.cast_signed(), ifma::TOP.cast_signed() - 1);
        let loose_top = ifma::LOOSE_TOP.cast_signed() - 1;
        if at == 4 {
            [0..=top, 0..=loose_top, 0..=top, 0..=2 * top]
        } else {
            [0..=limb, 0..=limb, 0..=limb, 0..=2 * limb]
        }
    }

    fn put_tight(self, limbs: &Limbs) -> Self::Tight {
        ifma::Tight(vectors(self.0, limbs, &|_, limb| limb.cast_unsigned()))
    }

    fn put_loose(self, limbs: &Limbs) -> Self::Loose {
        let with_bits_above =
            |at, limb: i64| limb.cast_unsigned() | if at < 4 { bits_above(limb) } else { 0 };
        ifma::Loose(vectors(self.0, limbs, &with_bits_above))
    }

    fn put_product(self, limbs: &Limbs) -> Self::Product {
        ifma::Product(self.put_loose(limbs).0)
    }

    fn put_sum(self, limbs: &Limbs) -> Self::Sum {
        ifma::Sum(vectors(self.0, limbs, &|_, limb| limb.cast_unsigned()))
    }

    fn get_tight(self, a: &Self::Tight) -> Limbs {
        lanes(self.0, &a.0, &|_, word| word.cast_signed())
    }

    fn get_loose(self, a: &Self::Loose) -> Limbs {
        lanes(self.0, &a.0, &|at, word| (if at < 4 { word & ifma::LIMB } else { word }).cast_signed())
    }

    fn get_product(self, a: &Self::Product) -> Limbs {
        self.get_loose(&(*a).into())
    }

    fn get_sum(self, a: &Self::Sum) -> Limbs {
        lanes(self.0, &a.0, &|_, word| word.cast_signed())
    }
}

/// Does [`invert`], in code that is compiled once for each back end.
#[inline(never)]
fn inverse_of<F: Field>(field: F, product: &F::Product) -> F::Product {
    invert(field, product)
}

/// Returns the words of each lane.
#[inline(never)]
fn words_of<F: Field>(field: F, product: &F::Product) -> [[u64; LANES]; 4] {
    let mut words = [[0; LANES]; 4];
    words.iter_mut().zip(field.words(product)).for_each(|(lanes, word)| field.simd().store(word, lanes));
    words
}

/// Returns the elements with these words in each lane.
#[inline(never)]
fn product_of<F: Field>(field: F, words: &[[u64; LANES]; 4]) -> F::Product {
    field.product(words.map(|lanes| field.simd().load(&lanes)))
}

pub fn p() -> BigInt {
    (BigInt::from(1) << 255) - 19
}

/// Returns the value in one lane.
fn value(limbs: &Limbs, radix: u32, lane: usize) -> BigInt {
    limbs.iter().rev().fold(BigInt::default(), |sum, limb| (sum << radix) + limb[lane])
}

/// Returns random limbs, many of them at or near the ends of their ranges.
fn limbs(random: &mut ChaCha20Rng, ranges: fn(usize) -> [RangeInclusive<i64>; 4], kind: usize) -> Limbs {
    std::array::from_fn(|at| {
        let (low, high) = ranges(at)[kind].clone().into_inner();
        std::array::from_fn(|_| {
            let any = random.next_u64();
            match any % 8 {
                0 | 1 => low,
                2..=4 => high,
                5 => high - (any >> 32 & 63).cast_signed(),
                6 => low + (any >> 32 & 63).cast_signed(),
                _ => low + (random.next_u64() % (high - low + 1).cast_unsigned()).cast_signed(),
            }
        })
    })
}

/// What a back end computes with random limbs.
struct Case {
    /// The arguments: two tight elements, a loose one, a product and a sum.
    given: [Limbs; 5],
    /// The name of each operation, the place of its type in [`Probe::ranges`], and its result.
    results: [(&'static str, usize, Limbs); 8],
    /// The inverse of the product.
    inverse: Limbs,
    /// The words of the product.
    words: [[u64; LANES]; 4],
    /// Random words, and what they are after the conversion to an element and back.
    converted: [[[u64; LANES]; 4]; 2],
}

/// Returns two tight elements, a loose one, a product and a sum.
fn five_arguments(random: &mut ChaCha20Rng, ranges: fn(usize) -> [RangeInclusive<i64>; 4]) -> [Limbs; 5] {
    [0, 0, 1, 2, 3].map(|kind| limbs(random, ranges, kind))
}

fn check<F: Probe>(field: F) {
    let mut random = ChaCha20Rng::from_seed([5; 32]);
    for _ in 0..cases().div_ceil(<F::Simd as Words>::LANES) {
        let given @ [a, b, loose, product, sum] = five_arguments(&mut random, F::ranges);
        let (va, vb) = (field.put_tight(&a), field.put_tight(&b));
        let (vl, vp, vs) = (field.put_loose(&loose), field.put_product(&product), field.put_sum(&sum));
        let results = [
            ("sub", 1, field.get_loose(&field.sub(&va, &vb))),
            ("sum", 3, field.get_sum(&field.sum(&va, &vb))),
            ("sub_sum", 2, field.get_product(&field.sub_sum(&va, &vs))),
            ("carry", 2, field.get_product(&field.carry(&vl))),
            ("mul", 2, field.get_product(&field.mul(&vp, &vl))),
            ("square", 2, field.get_product(&field.square(&vp))),
            ("mul_add", 0, field.get_tight(&field.mul_add(&vp, &vl, &va))),
            ("square_sub", 0, field.get_tight(&field.square_sub(&vp, &vs))),
        ];
        let inverse = field.get_product(&inverse_of(field, &vp));
        let words = words_of_elements(&mut random);
        let converted = [words, words_of(field, &product_of(field, &words))];
        let case = Case { given, results, inverse, words: words_of(field, &vp), converted };
        check_case(&case, <F::Simd as Words>::LANES, F::RADIX, F::ranges);
    }
    round_trips(field);
}

/// Compares the results with those of big integers, in code that is compiled once.
fn check_case(case: &Case, lanes: usize, radix: u32, ranges: fn(usize) -> [RangeInclusive<i64>; 4]) {
    let p = p();
    let product_of = |lane| value(&case.given[3], radix, lane) % &p;
    let has_zero = (0..lanes).any(|lane| product_of(lane) == BigInt::ZERO);
    for lane in 0..lanes {
        let of = |limbs: &Limbs| value(limbs, radix, lane);
        let assert_within = |name: &str, kind: usize, limbs: &Limbs| {
            for (at, limb) in limbs.iter().enumerate() {
                assert!(ranges(at)[kind].contains(&limb[lane]), "{name}: limb {at} is {}", limb[lane]);
            }
        };
        let [a, b, loose, product, sum] = case.given.each_ref().map(of);
        let expected = [
            &a - &b,
            &a + &b,
            &a - &sum,
            loose.clone(),
            &product * &loose,
            &product * &product,
            &product * &loose + &a,
            &product * &product - &sum,
        ];
        for ((name, kind, result), expected) in case.results.iter().zip(expected) {
            assert_within(name, *kind, result);
            assert_eq!((of(result) - expected) % &p, BigInt::default(), "{name}");
        }
        let number = |words: &[[u64; LANES]; 4]| BigInt::from(from_words(words.map(|word| word[lane])));
        let canonical = number(&case.words);
        assert!(canonical < p);
        assert_eq!((canonical - &product) % &p, BigInt::default(), "words");
        let [given, converted] = case.converted.each_ref().map(number);
        assert_eq!(given % &p, converted % &p, "product and words");

        assert_within("invert", 2, &case.inverse);
        let inverse = of(&case.inverse);
        let zero = if has_zero { inverse } else { inverse * product - 1 };
        assert_eq!(zero % &p, BigInt::ZERO, "invert");
    }
}

/// Returns words of numbers below 2^255, many of them at one end of their range.
fn words_of_elements(random: &mut ChaCha20Rng) -> [[u64; LANES]; 4] {
    let mut word = |most: u64| match random.next_u32() % 4 {
        0 => 0,
        1 => most,
        2 => most - u64::from(random.next_u32() % 40),
        _ => random.next_u64() & most,
    };
    [u64::MAX, u64::MAX, u64::MAX, u64::MAX >> 1].map(|most| [(); LANES].map(|()| word(most)))
}

fn from_words(words: [u64; 4]) -> BigUint {
    words.iter().rev().fold(BigUint::default(), |sum, word| (sum << 64) + *word)
}

/// The words of p.
const P: [u64; 4] = [u64::MAX - 18, u64::MAX, u64::MAX, u64::MAX >> 1];

/// Returns the words of a different element in every lane.
fn different_elements() -> [[u64; LANES]; 4] {
    let (p, top) = (P, u64::MAX >> 1);
    let elements: [[u64; 4]; LANES] = [
        [1, 0, 0, 0],
        [p[0] - 1, p[1], p[2], p[3]],
        [2, 3, 5, 7],
        [u64::MAX, 0, u64::MAX, 0],
        [0, 0, 0, 1 << 62],
        [0, u64::MAX, 0, top],
        [9, 0, 0, 0],
        [0x0123_4567_89ab_cdef; 4].map(|word: u64| word >> 1),
    ];
    std::array::from_fn(|at| elements.map(|element| element[at]))
}

/// Returns the element in one lane.
fn in_lane(words: &[[u64; LANES]; 4], lane: usize) -> [u64; 4] {
    words.map(|word| word[lane])
}

/// Checks three things: words survive the conversion to elements and back, an element times its
/// inverse is 1, and with a 0 in a lane all inverses are 0.
fn round_trips<F: Field>(field: F) {
    let columns = different_elements();
    let product = product_of(field, &columns);
    let lanes = <F::Simd as Words>::LANES;
    for (word, column) in words_of(field, &product).iter().zip(&columns) {
        assert_eq!(word[..lanes], column[..lanes]);
    }
    let inverse = inverse_of(field, &product);
    let one = words_of(field, &field.mul(&product, &inverse.into()));
    assert!((0..lanes).all(|lane| in_lane(&one, lane) == [1, 0, 0, 0]));

    for zero in [[0; 4], P] {
        for lane in 0..lanes {
            let mut columns = columns;
            columns.iter_mut().zip(zero).for_each(|(column, word)| column[lane] = word);
            let product = product_of(field, &columns);
            assert_eq!(in_lane(&words_of(field, &product), lane), [0; 4]);
            let inverse = words_of(field, &inverse_of(field, &product));
            assert!((0..lanes).all(|lane| in_lane(&inverse, lane) == [0; 4]));
        }
    }
}

#[test]
fn every_back_end_computes_like_big_integers_at_the_bounds() {
    crate::curve::on_every_back_end!(|field| check(field));
    check(Ifma(Emulated::<_, false>(Scalar::plain())));
}

#[test]
fn elements_divide_and_subtract() {
    let (a, b) = (Element::new(1) / Element::new(3), Element::new(7));
    assert_eq!(a + a + a, Element::new(1));
    assert_eq!(a * b / b, a);
    assert_eq!(Element::new(2) - b + b, Element::new(2));
}
