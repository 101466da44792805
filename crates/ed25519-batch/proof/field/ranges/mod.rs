//! The ranges of every operation, by a machine: the back ends run over ranges of words.

mod division_steps;
mod invert;
mod rounds;
mod split;

use num_bigint::BigInt;

use crate::simd::model::interval::Interval;
use crate::simd::model::ranges::{Ranges, Sums};
use crate::simd::model::real::Real;
use crate::simd::model::splits;
use ed25519_batch::internals::field::{Field, Fma, Ifma, Portable, fma, ifma, portable, radix51};
use ed25519_batch::simd::Words;

/// The smallest and the largest limb of one place.
type Span = [i128; 2];

/// The limbs of a type.
type Spans = [Span; 5];

/// The types of a back end, as their places in arrays.
const TYPES: [&str; 4] = ["Tight", "Loose", "Product", "Sum"];
const TIGHT: usize = 0;
const LOOSE: usize = 1;
const PRODUCT: usize = 2;
const SUM: usize = 3;

/// Conversion between limbs and the elements of a back end over ranges.
trait Bounded: Field<Simd: Words<Word = Interval>> {
    const NAME: &str;
    /// The number of bits between the weights of two limbs.
    const RADIX: u32;
    /// What `words` adds to an element, so that it is not negative.
    const ADDED: [u64; 5] = [0; 5];

    /// Returns the ranges that the types claim, in the order of [`TYPES`].
    fn claimed() -> [Spans; 4];
    fn tight_of(self, limbs: &Spans) -> Self::Tight;
    fn loose_of(self, limbs: &Spans) -> Self::Loose;
    fn product_of(self, limbs: &Spans) -> Self::Product;
    fn sum_of(self, limbs: &Spans) -> Self::Sum;
    fn of_tight(a: &Self::Tight) -> Spans;
    fn of_loose(a: &Self::Loose) -> Spans;
    fn of_product(a: &Self::Product) -> Spans;
    fn of_sum(a: &Self::Sum) -> Spans;
}

#[inline(never)]
fn words(limbs: &Spans) -> [Interval; 5] {
    limbs.map(|[low, high]| Interval::new(low, high))
}

#[inline(never)]
fn spans(words: &[Interval; 5]) -> Spans {
    words.map(|word| {
        assert!(!word.is_cut, "a limb that was cut");
        let word = word.unsigned().unwrap_or(word);
        [word.low, word.high]
    })
}

impl Bounded for Portable<Ranges> {
    const NAME: &str = "portable";
    const RADIX: u32 = 51;

    fn claimed() -> [Spans; 4] {
        [portable::TIGHT, portable::LOOSE, portable::TIGHT, 2 * portable::TIGHT - 1]
            .map(|bound| [[0, i128::from(bound) - 1]; 5])
    }

    fn tight_of(self, limbs: &Spans) -> Self::Tight {
        portable::Tight51(words(limbs))
    }

    fn loose_of(self, limbs: &Spans) -> Self::Loose {
        portable::Loose51(words(limbs))
    }

    fn product_of(self, limbs: &Spans) -> Self::Product {
        portable::Tight51(words(limbs))
    }

    fn sum_of(self, limbs: &Spans) -> Self::Sum {
        portable::Sum51(words(limbs))
    }

    fn of_tight(a: &Self::Tight) -> Spans {
        spans(&a.0)
    }

    fn of_loose(a: &Self::Loose) -> Spans {
        spans(&a.0)
    }

    fn of_product(a: &Self::Product) -> Spans {
        spans(&a.0)
    }

    fn of_sum(a: &Self::Sum) -> Spans {
        spans(&a.0)
    }
}

/// Returns the words of limbs that are the low 52 bits of words. Their upper bits were carried
/// before, and may be anything. The top limb has no such bits.
#[inline(never)]
fn low_bits(limbs: &Spans) -> [Interval; 5] {
    std::array::from_fn(|at| {
        if at == 4 {
            return Interval::new(limbs[4][0], limbs[4][1]);
        }
        let word = Interval::any();
        splits::high(word.name, 52);
        word
    })
}

/// Returns the limbs that are the low 52 bits of words, and notes that these are taken.
#[inline(never)]
fn limbs_in(words: &[Interval; 5]) -> Spans {
    for word in &words[..4] {
        splits::low(word.name, 52, word.largest() >> 52 > 0);
    }
    let top = spans(&[words[4]; 5])[4];
    [[0, (1 << 52) - 1], [0, (1 << 52) - 1], [0, (1 << 52) - 1], [0, (1 << 52) - 1], top]
}

impl<const SIGNED_CARRY: bool> Bounded for Ifma<Ranges<SIGNED_CARRY>> {
    const NAME: &str = if SIGNED_CARRY { "ifma, AVX-512" } else { "ifma, AVX2" };
    const RADIX: u32 = 52;

    fn claimed() -> [Spans; 4] {
        let (limb, top) = (i128::from(ifma::LIMB), i128::from(ifma::TOP) - 1);
        let limbs = |limb, top| [[0, limb], [0, limb], [0, limb], [0, limb], [0, top]];
        let loose_top = i128::from(ifma::LOOSE_TOP) - 1;
        [limbs(limb, top), limbs(limb, loose_top), limbs(limb, top), limbs(2 * limb, 2 * top)]
    }

    fn tight_of(self, limbs: &Spans) -> Self::Tight {
        ifma::Tight(words(limbs))
    }

    fn loose_of(self, limbs: &Spans) -> Self::Loose {
        ifma::Loose(low_bits(limbs))
    }

    fn product_of(self, limbs: &Spans) -> Self::Product {
        ifma::Product(low_bits(limbs))
    }

    fn sum_of(self, limbs: &Spans) -> Self::Sum {
        ifma::Sum(words(limbs))
    }

    fn of_tight(a: &Self::Tight) -> Spans {
        spans(&a.0)
    }

    fn of_loose(a: &Self::Loose) -> Spans {
        limbs_in(&a.0)
    }

    fn of_product(a: &Self::Product) -> Spans {
        limbs_in(&a.0)
    }

    fn of_sum(a: &Self::Sum) -> Spans {
        spans(&a.0)
    }
}

/// Returns integers as doubles.
fn integers(limbs: &Spans) -> [Real; 5] {
    limbs.map(|[low, high]| Real::integers(low, high))
}

/// Returns the limbs in doubles, which must be integers, minus `offset`.
fn limbs_of(doubles: &[Real; 5], offset: i128) -> Spans {
    doubles.map(|double| {
        assert!(double.exponent >= 0, "not only integers: {double:?}");
        [double.low, double.high].map(|end| (end << double.exponent) - offset)
    })
}

const UNIT: i128 = 1 << 52;

impl Bounded for Fma<Ranges> {
    const NAME: &str = "fma";
    const RADIX: u32 = 51;
    const ADDED: [u64; 5] = radix51::P;

    fn claimed() -> [Spans; 4] {
        let excess = i128::from(fma::EXCESS);
        let (limb, half) = ((1 << 51) + excess, (1 << 50) + excess);
        [[0, limb], [-limb, limb], [-half, half], [0, 2 * limb]].map(|span| [span; 5])
    }

    fn tight_of(self, limbs: &Spans) -> Self::Tight {
        fma::Tight(integers(&limbs.map(|limb| limb.map(|end| end + UNIT))))
    }

    fn loose_of(self, limbs: &Spans) -> Self::Loose {
        fma::Loose(integers(limbs))
    }

    fn product_of(self, limbs: &Spans) -> Self::Product {
        fma::Product(integers(limbs))
    }

    fn sum_of(self, limbs: &Spans) -> Self::Sum {
        let two_units = 2 * i128::from(fma::UNIT.to_bits());
        fma::Sum(words(&limbs.map(|limb| limb.map(|end| end + two_units))))
    }

    fn of_tight(a: &Self::Tight) -> Spans {
        limbs_of(&a.0, UNIT)
    }

    fn of_loose(a: &Self::Loose) -> Spans {
        limbs_of(&a.0, 0)
    }

    fn of_product(a: &Self::Product) -> Spans {
        limbs_of(&a.0, 0)
    }

    fn of_sum(a: &Self::Sum) -> Spans {
        let two_units = 2 * i128::from(fma::UNIT.to_bits());
        a.0.map(|word| [word.low - two_units, word.high - two_units])
    }
}

/// Four words of a number below 2^255.
fn any_words() -> [Interval; 4] {
    let any = Interval::any();
    [any, any, any, Interval::new(0, (1 << 63) - 1)]
}

/// Runs every operation with elements of these limbs. Returns the name of each, the type of its
/// result, and the limbs. No part of a word or of a product may be lost in it.
fn operations<F: Bounded>(field: F, of: &[Spans; 4]) -> Vec<(&'static str, usize, Spans)> {
    type Operation<'a> = (&'static str, usize, &'a dyn Fn() -> Spans);
    let tight = || field.tight_of(&of[TIGHT]);
    let loose = || field.loose_of(&of[LOOSE]);
    let product = || field.product_of(&of[PRODUCT]);
    let sum = || field.sum_of(&of[SUM]);
    let operations: [Operation; 9] = [
        ("sub", LOOSE, &|| F::of_loose(&field.sub(&tight(), &tight()))),
        ("sum", SUM, &|| F::of_sum(&field.sum(&tight(), &tight()))),
        ("sub_sum", PRODUCT, &|| F::of_product(&field.sub_sum(&tight(), &sum()))),
        ("carry", PRODUCT, &|| F::of_product(&field.carry(&loose()))),
        ("mul", PRODUCT, &|| F::of_product(&field.mul(&product(), &loose()))),
        ("square", PRODUCT, &|| F::of_product(&field.square(&product()))),
        ("mul_add", TIGHT, &|| F::of_tight(&field.mul_add(&product(), &loose(), &tight()))),
        ("square_sub", TIGHT, &|| F::of_tight(&field.square_sub(&product(), &sum()))),
        ("into", LOOSE, &|| F::of_loose(&product().into())),
    ];
    let mut results = Vec::new();
    for (name, of, operation) in operations {
        let (limbs, lost) = splits::lost(operation);
        assert_eq!(lost, [0; 2], "{}: {name} loses low or high parts", F::NAME);
        results.push((name, of, limbs));
    }
    // Here bits move between words of 64 bits and limbs. The algebra checks that none is lost.
    results.push(("tight", TIGHT, F::of_tight(&field.tight(any_words()))));
    results
}

fn hull(limbs: &Spans, others: &Spans) -> Spans {
    std::array::from_fn(|at| [limbs[at][0].min(others[at][0]), limbs[at][1].max(others[at][1])])
}

fn is_within(limbs: &Spans, others: &Spans) -> bool {
    limbs.iter().zip(others).all(|([low, high], [least, most])| least <= low && high <= most)
}

/// Returns the smallest ranges that the operations do not leave, with elements that begin as words.
fn tightest<F: Bounded>(field: F) -> [Spans; 4] {
    let tight = F::of_tight(&field.tight(any_words()));
    let loose = F::of_loose(&field.sub(&field.tight_of(&tight), &field.tight_of(&tight)));
    let product = F::of_product(&field.carry(&field.loose_of(&loose)));
    let sum = F::of_sum(&field.sum(&field.tight_of(&tight), &field.tight_of(&tight)));
    let mut ranges = [tight, loose, product, sum];
    for _ in 0..20 {
        let before = ranges;
        for (_, of, limbs) in operations(field, &before) {
            ranges[of] = hull(&ranges[of], &limbs);
        }
        if ranges == before {
            return ranges;
        }
    }
    panic!("{}: the ranges grow without end", F::NAME);
}

/// Returns a number as a power of two and a rest.
fn named(number: i128) -> String {
    let size = number.unsigned_abs();
    let power =
        size.checked_ilog2().map_or(0, |log| if size - (1 << log) > 1 << log >> 1 { log + 1 } else { log });
    let rest = size.cast_signed() - (1 << power);
    let sign = if number < 0 { "-" } else { "" };
    match rest {
        _ if size < 1 << 20 => number.to_string(),
        0 => format!("{sign}2^{power}"),
        _ if rest.unsigned_abs() < 1 << 24 => format!("{sign}(2^{power} {rest:+})"),
        _ => format!("{sign}2^{:.3}", (size as f64).log2()),
    }
}

/// Returns the margin between a bound and what is reached, in bits. Of a bound that is a power of
/// two and a little more, and of what reaches that, only the excess is compared.
fn margin(reached: i128, bound: i128) -> f64 {
    let base = 1 << bound.ilog2();
    let rest = if bound - base < base >> 20 && reached > base { base } else { 0 };
    ((bound - rest) as f64 / (reached - rest) as f64).log2()
}

/// The largest margin of the excess of tight limbs and of the bound of loose ones. The bounds are
/// powers of two, so a smaller one would not do.
const MARGINS: [(usize, f64); 2] = [(TIGHT, 1.0), (LOOSE, 1.5)];

/// Checks the operations over the whole range of the types, and that no type claims much more than
/// the operations reach. Prints what they reach.
fn check<F: Bounded>(field: F) {
    let claimed = F::claimed();
    splits::headroom();
    let mut reached = [[[0; 2]; 5]; 4];
    for (name, of, limbs) in operations(field, &claimed) {
        let (types, claimed) = (TYPES[of], claimed[of]);
        assert!(
            is_within(&limbs, &claimed),
            "{}: {name} gives {limbs:?}, and {types} has {claimed:?}",
            F::NAME
        );
        reached[of] = hull(&reached[of], &limbs);
    }
    for (of, most) in MARGINS {
        let margins = (0..5).filter_map(|at| {
            let ([_, reached], [_, bound]) = (reached[of][at], claimed[of][at]);
            let is_compared = if of == LOOSE { at == 4 } else { reached + 1 > 1 << (bound + 1).ilog2() };
            let whole = ((bound + 1) as f64 / (reached + 1) as f64).log2();
            is_compared.then(|| if of == LOOSE { whole } else { margin(reached + 1, bound + 1) })
        });
        let least = margins.reduce(f64::min).unwrap();
        assert!(least < most, "{}: {} claims {least} bits more than is reached", F::NAME, TYPES[of]);
    }
    // The conversion to words takes a value from 0 to 2p, and gives words below 2^255.
    let p = (BigInt::from(1) << 255) - 19;
    let value = |end: usize| {
        let weighed = |at: usize| {
            BigInt::from(claimed[PRODUCT][at][end] + i128::from(F::ADDED[at])) << (F::RADIX as usize * at)
        };
        (0..5).map(weighed).sum::<BigInt>()
    };
    assert!(value(0) >= BigInt::ZERO && value(1) < 2 * &p, "{}: words of more than 2p", F::NAME);
    let [.., top] = field.words(&field.product_of(&claimed[PRODUCT]));
    assert!(top.largest() >> 63 == 0);

    println!("{}: what the operations reach, what the type allows, and the margin", F::NAME);
    let tightest = tightest(field);
    for of in 0..4 {
        assert!(is_within(&tightest[of], &claimed[of]));
        for at in 0..5 {
            let ([low, high], [least, most]) = (tightest[of][at], claimed[of][at]);
            let margin = margin(high.max(-low) + 1, most.max(-least) + 1);
            println!(
                "  {:<7} {at}  {:>13} to {:<14} {:>13} to {:<14} {margin:5.2} bits",
                TYPES[of],
                named(low),
                named(high),
                named(least),
                named(most)
            );
        }
    }
    for ((name, limit), reached) in splits::LIMITS.iter().zip(splits::headroom()) {
        if reached > 0.0 {
            println!("  {name}: at most 2^{reached:.2} of 2^{limit}");
        }
    }
}

#[test]
fn no_operation_leaves_its_range() {
    check(Portable(Ranges(Sums::Checked)));
    check(Ifma(Ranges::<true>(Sums::Checked)));
    check(Ifma(Ranges::<false>(Sums::Checked)));
    check(Fma(Ranges(Sums::Modular)));
}
