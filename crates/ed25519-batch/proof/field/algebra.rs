//! Checks that every operation of a back end computes what it claims, for all arguments at once.
//!
//! The code of the back ends runs over words that are polynomials in the limbs
//! ([`model`](crate::simd::model)). A claim holds if the polynomial of the result, minus that of
//! the claim, has only multiples of p as coefficients. Each limb of a result must lie in the range
//! of its type, so that the next operation may take it. No argument is drawn at random.

use num_bigint::BigInt;

use super::bounds::{Probe, p};
use crate::simd::model::{Dyadic, Number, Polynomial, Symbolic, Value, Word, all_splits, forget, range_of};
use ed25519_batch::internals::field::{Fma, Ifma, Portable, fma, ifma, portable};
use ed25519_batch::simd::{Doubles, Madd52, Wide, Words};

/// The number of limbs of an element.
const LIMBS: usize = 5;

/// The place of a type in [`Probe::ranges`].
const TIGHT: usize = 0;
const LOOSE: usize = 1;
const PRODUCT: usize = 2;
const SUM: usize = 3;

/// An element of some type, with the values of its limbs.
type Element<T> = (T, [Value; LIMBS]);

/// Elements whose limbs are variables, and the limbs of results.
trait Symbols: Probe<Simd: Words<Word = Word>> {
    fn given_tight(self) -> Element<Self::Tight>;
    fn given_loose(self) -> Element<Self::Loose>;
    fn given_product(self) -> Element<Self::Product>;
    fn given_sum(self) -> Element<Self::Sum>;
    fn of_tight(self, a: &Self::Tight) -> [Value; LIMBS];
    fn of_loose(self, a: &Self::Loose) -> [Value; LIMBS];
    fn of_product(self, a: &Self::Product) -> [Value; LIMBS];
    fn of_sum(self, a: &Self::Sum) -> [Value; LIMBS];
}

fn integer(value: i64) -> Dyadic {
    Dyadic::new(value, 0)
}

/// Returns a variable for each limb, with the range that a type has.
fn variables<F: Probe>(kind: usize) -> [Value; LIMBS] {
    std::array::from_fn(|at| {
        let (least, most) = F::ranges(at)[kind].clone().into_inner();
        Value::fresh(integer(least), integer(most))
    })
}

/// Returns the limbs `limbs` as doubles, after `offset` is added.
fn numbers(limbs: &[Value; LIMBS], offset: f64) -> [Number; LIMBS] {
    let offset = Value::constant(Dyadic::of_double(offset));
    limbs.each_ref().map(|limb| Number::of(limb.plus(&offset)))
}

fn words(limbs: &[Value; LIMBS], offset: u64) -> [Word; LIMBS] {
    limbs.each_ref().map(|limb| Word::of(limb.plus(&Value::word(offset))))
}

fn limbs_of_numbers(numbers: &[Number; LIMBS], offset: f64) -> [Value; LIMBS] {
    numbers.map(|number| number.value().minus(&Value::constant(Dyadic::of_double(offset))))
}

fn limbs_of_words(words: &[Word; LIMBS], offset: u64) -> [Value; LIMBS] {
    words.map(|word| word.value().minus(&Value::word(offset)).as_word())
}

impl<S: Wide<Word = Word>> Symbols for Portable<S> {
    fn given_tight(self) -> Element<Self::Tight> {
        let limbs = variables::<Self>(TIGHT);
        (portable::Tight51(words(&limbs, 0)), limbs)
    }

    fn given_loose(self) -> Element<Self::Loose> {
        let limbs = variables::<Self>(LOOSE);
        (portable::Loose51(words(&limbs, 0)), limbs)
    }

    fn given_product(self) -> Element<Self::Product> {
        self.given_tight()
    }

    fn given_sum(self) -> Element<Self::Sum> {
        let limbs = variables::<Self>(SUM);
        (portable::Sum51(words(&limbs, 0)), limbs)
    }

    fn of_tight(self, a: &Self::Tight) -> [Value; LIMBS] {
        limbs_of_words(&a.0, 0)
    }

    fn of_loose(self, a: &Self::Loose) -> [Value; LIMBS] {
        limbs_of_words(&a.0, 0)
    }

    fn of_product(self, a: &Self::Product) -> [Value; LIMBS] {
        limbs_of_words(&a.0, 0)
    }

    fn of_sum(self, a: &Self::Sum) -> [Value; LIMBS] {
        limbs_of_words(&a.0, 0)
    }
}

impl<S: Doubles<Word = Word, Double = Number>> Symbols for Fma<S> {
    fn given_tight(self) -> Element<Self::Tight> {
        let limbs = variables::<Self>(TIGHT);
        (fma::Tight(numbers(&limbs, fma::UNIT)), limbs)
    }

    fn given_loose(self) -> Element<Self::Loose> {
        let limbs = variables::<Self>(LOOSE);
        (fma::Loose(numbers(&limbs, 0.0)), limbs)
    }

    fn given_product(self) -> Element<Self::Product> {
        let limbs = variables::<Self>(PRODUCT);
        (fma::Product(numbers(&limbs, 0.0)), limbs)
    }

    fn given_sum(self) -> Element<Self::Sum> {
        let limbs = variables::<Self>(SUM);
        (fma::Sum(words(&limbs, 2 * fma::UNIT.to_bits())), limbs)
    }

    fn of_tight(self, a: &Self::Tight) -> [Value; LIMBS] {
        limbs_of_numbers(&a.0, fma::UNIT)
    }

    fn of_loose(self, a: &Self::Loose) -> [Value; LIMBS] {
        limbs_of_numbers(&a.0, 0.0)
    }

    fn of_product(self, a: &Self::Product) -> [Value; LIMBS] {
        limbs_of_numbers(&a.0, 0.0)
    }

    fn of_sum(self, a: &Self::Sum) -> [Value; LIMBS] {
        limbs_of_words(&a.0, 2 * fma::UNIT.to_bits())
    }
}

/// Returns words whose low 52 bits are limbs, whatever is above them. The top limb is a whole word.
fn dirty<F: Probe>(kind: usize) -> ([Word; LIMBS], [Value; LIMBS]) {
    let mut limbs = variables::<F>(kind);
    limbs[..LIMBS - 1].fill_with(|| Value::fresh(0, u64::MAX));
    let words = words(&limbs, 0);
    (words, low_bits(&words))
}

fn low_bits(words: &[Word; LIMBS]) -> [Value; LIMBS] {
    std::array::from_fn(|at| {
        let value = words[at].value().as_word();
        if at < LIMBS - 1 { value.low(52) } else { value }
    })
}

impl<S: Madd52<Word = Word>> Symbols for Ifma<S> {
    fn given_tight(self) -> Element<Self::Tight> {
        let limbs = variables::<Self>(TIGHT);
        (ifma::Tight(words(&limbs, 0)), limbs)
    }

    fn given_loose(self) -> Element<Self::Loose> {
        let (words, limbs) = dirty::<Self>(LOOSE);
        (ifma::Loose(words), limbs)
    }

    fn given_product(self) -> Element<Self::Product> {
        let (words, limbs) = dirty::<Self>(PRODUCT);
        (ifma::Product(words), limbs)
    }

    fn given_sum(self) -> Element<Self::Sum> {
        let limbs = variables::<Self>(SUM);
        (ifma::Sum(words(&limbs, 0)), limbs)
    }

    fn of_tight(self, a: &Self::Tight) -> [Value; LIMBS] {
        limbs_of_words(&a.0, 0)
    }

    fn of_loose(self, a: &Self::Loose) -> [Value; LIMBS] {
        low_bits(&a.0)
    }

    fn of_product(self, a: &Self::Product) -> [Value; LIMBS] {
        low_bits(&a.0)
    }

    fn of_sum(self, a: &Self::Sum) -> [Value; LIMBS] {
        limbs_of_words(&a.0, 0)
    }
}

/// Returns the number that limbs of `bits` bits make.
fn number(limbs: &[Value], bits: i64) -> Polynomial {
    let parts = limbs.iter().enumerate().map(|(at, limb)| limb.polynomial.shifted(bits * at as i64));
    parts.fold(Polynomial::default(), |sum, part| &sum + &part)
}

/// Asserts that a result is what is claimed, modulo p, and within the range of its type.
fn assert_claim<F: Probe>(name: &str, kind: usize, result: &[Value; LIMBS], claim: &Polynomial) {
    assert_number(name, result, &|at| F::ranges(at)[kind].clone(), F::RADIX.into(), claim);
}

/// Does [`assert_claim`], in code that is compiled once.
fn assert_number(
    name: &str,
    result: &[Value; LIMBS],
    range: &dyn Fn(usize) -> std::ops::RangeInclusive<i64>,
    radix: i64,
    claim: &Polynomial,
) {
    for (at, limb) in result.iter().enumerate() {
        let (least, most) = range(at).into_inner();
        let (low, high) = &limb.range;
        assert!(
            integer(least) <= *low && *high <= integer(most),
            "{name}: limb {at} is from {} to {}, not from {least} to {most}",
            low.floor(),
            high.floor()
        );
    }
    let difference = &number(result, radix) - claim;
    assert!(difference.is_multiple_of(&p()), "{name}: {difference:?}");
}

/// Checks each operation of a back end.
fn check<F: Symbols>(field: F) {
    let of = |limbs: &[Value; LIMBS]| number(limbs, F::RADIX.into());
    let anew = || {
        forget();
        let (tight, loose, product, sum) =
            (field.given_tight(), field.given_loose(), field.given_product(), field.given_sum());
        let claims = [of(&tight.1), of(&loose.1), of(&product.1), of(&sum.1)];
        (tight.0, loose.0, product.0, sum.0, claims)
    };

    let (a, _, _, _, [a_claim, ..]) = anew();
    let (b, limbs) = field.given_tight();
    let b_claim = of(&limbs);
    let difference = field.of_loose(&field.sub(&a, &b));
    assert_claim::<F>("sub", LOOSE, &difference, &(&a_claim - &b_claim));
    let sum = field.of_sum(&field.sum(&a, &b));
    assert_claim::<F>("sum", SUM, &sum, &(&a_claim + &b_claim));

    let (a, _, _, b, [a_claim, _, _, b_claim]) = anew();
    let difference = field.of_product(&field.sub_sum(&a, &b));
    assert_claim::<F>("sub_sum", PRODUCT, &difference, &(&a_claim - &b_claim));

    let (_, a, _, _, [_, claim, ..]) = anew();
    assert_claim::<F>("carry", PRODUCT, &field.of_product(&field.carry(&a)), &claim);

    let (_, _, a, _, [_, _, claim, _]) = anew();
    assert_claim::<F>("from", LOOSE, &field.of_loose(&a.into()), &claim);

    let (_, b, a, _, [_, b_claim, a_claim, _]) = anew();
    let product = field.of_product(&field.mul(&a, &b));
    assert_claim::<F>("mul", PRODUCT, &product, &(&a_claim * &b_claim));

    let (_, _, a, _, [_, _, claim, _]) = anew();
    let square = field.of_product(&field.square(&a));
    assert_claim::<F>("square", PRODUCT, &square, &(&claim * &claim));

    let (c, b, a, _, [c_claim, b_claim, a_claim, _]) = anew();
    let sum = field.of_tight(&field.mul_add(&a, &b, &c));
    assert_claim::<F>("mul_add", TIGHT, &sum, &(&(&a_claim * &b_claim) + &c_claim));

    let (_, _, a, b, [_, _, a_claim, b_claim]) = anew();
    let difference = field.of_tight(&field.square_sub(&a, &b));
    assert_claim::<F>("square_sub", TIGHT, &difference, &(&(&a_claim * &a_claim) - &b_claim));

    forget();
    let given = words_below_2_255();
    let claim = number(&given, 64);
    assert_claim::<F>("tight", TIGHT, &field.of_tight(&field.tight(given.clone().map(Word::of))), &claim);
    assert_claim::<F>("product", PRODUCT, &field.of_product(&field.product(given.map(Word::of))), &claim);
    assert_claim::<F>("one", PRODUCT, &field.of_product(&field.one()), &Value::word(1).polynomial);

    forget();
    let (element, limbs) = field.given_product();
    encoding_is_canonical(&of(&limbs), field.words(&element));
}

/// Returns four words that are a number below 2^255.
fn words_below_2_255() -> [Value; 4] {
    [u64::MAX, u64::MAX, u64::MAX, u64::MAX >> 1].map(|most| Value::fresh(0, most))
}

/// Checks that `words` returns the number below p that is the value v of a product modulo p.
///
/// The code finds a carry c: 1 if v + 19 is 2^255 or more, otherwise 0. It then returns the low 255
/// bits of v + 19 c. The polynomials give two facts, in which n is a multiple of p: with w = v + n,
///
/// ```text
/// w + 19 = 2^255 c + a number below 2^255
/// w + 19 c = 2^255 d + the result,    and the result is below 2^255
/// ```
///
/// So the result is w modulo p, if c = d, and the range of w shows that it is.
fn encoding_is_canonical(value: &Polynomial, words: [Word; 4]) {
    let result = number(&words.map(|word| word.value().as_word()), 64);
    let (modulus, top): (BigInt, Dyadic) = (p(), Dyadic::power(255));
    let below_top = |polynomial: &Polynomial| {
        let (least, most) = range_of(polynomial);
        Dyadic::default() <= least && most < top
    };
    assert!(below_top(&result), "the result of words has 256 bits");

    let (mut found, all) = (0, all_splits());
    for carry in all.iter().map(|split| &split.high.polynomial) {
        // The result is w + 19 c - 2^255 d, and d is the other part of some split.
        for d in all.iter().map(|split| &split.high.polynomial) {
            let added =
                |polynomial: &Polynomial, number: u64| polynomial * &Polynomial::constant(number.into());
            let w = &(&result - &added(carry, 19)) + &d.shifted(255);
            let more = &w - value;
            let Some(more) = more.value().and_then(|more| more.integer()) else { continue };
            let rest = &(&w + &Value::word(19).polynomial) - &carry.shifted(255);
            if &more % &modulus != BigInt::ZERO || !below_top(&rest) {
                continue;
            }
            let (least, most) = range_of(&w);
            let ends = (least.floor(), most.floor());
            assert!(BigInt::ZERO <= ends.0 && ends.1 < 2 * &modulus, "words takes {ends:?}");
            let two_255 = top.floor();
            for c in 0..2 {
                // All w that give this c.
                let (c, next) = (BigInt::from(c), BigInt::from(c + 1));
                let from = (&two_255 * &c - BigInt::from(19)).max(ends.0.clone());
                let to = (&two_255 * next - BigInt::from(20)).min(ends.1.clone());
                for w in [from, to] {
                    let sum = w + &c * BigInt::from(19);
                    assert!(&sum / &two_255 == c, "the carries differ");
                    assert!(sum - &c * &two_255 < modulus, "a result that is not below p");
                }
            }
            found += 1;
        }
    }
    assert!(found > 0, "words does not return the low bits of v + 19 c");
}

#[test]
#[cfg_attr(miri, ignore = "computes with polynomials")]
fn the_portable_back_end_computes_what_it_claims() {
    check(Portable(Symbolic::<true>));
}

#[test]
#[cfg_attr(miri, ignore = "computes with polynomials")]
fn the_52_bit_back_end_computes_what_it_claims() {
    check(Ifma(Symbolic::<true>));
    check(Ifma(Symbolic::<false>));
}

#[test]
#[cfg_attr(miri, ignore = "computes with polynomials")]
fn the_floating_point_back_end_computes_what_it_claims() {
    check(Fma(Symbolic::<true>));
}
