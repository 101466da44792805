//! Checks of digits and tables: which multiple of 4B each stands for, and that no addition meets a
//! case that its formulas exclude.
//!
//! H_i is 2^i (4B), as in `table`. Every number here is a multiple of 4B. The public key is that of
//! the clamped scalar divided by 4, which is 2^252 + 2k.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use curve25519_dalek::{EdwardsPoint, Scalar as Multiple};
use num_bigint::BigInt;

use super::super::edwards::elements;
use crate::simd::model::{Polynomial, Symbolic, Value, Word, forget};
use ed25519_batch::internals::field::{Element, Portable};
use ed25519_batch::internals::table::{A, Table, Window, digits, layout, shift_of_x};
use ed25519_batch::simd::{CacheLine, Scalar};

/// The numbers of windows that tables have.
const WINDOWS: RangeInclusive<usize> = 12..=126;

/// The bits of a scalar: k has those from the first on, and is below the second.
const FREE: [usize; 2] = [3, 254];

/// Returns the four words of a scalar, in variable parts that are cut where windows, their signs
/// and words begin, and the polynomial of its k. All other bits are variable, too.
fn scalar(windows: &[Window]) -> ([Word; 4], Polynomial) {
    let of_window =
        |window: &Window| [window.start, window.start + window.index_bits].map(|bit| bit + FREE[0]);
    let mut cuts: BTreeSet<usize> = windows.iter().flat_map(of_window).collect();
    cuts.extend(FREE.into_iter().chain((0..=4).map(|word| 64 * word)));
    let cuts: Vec<usize> = cuts.into_iter().collect();
    let mut k = Polynomial::default();
    let mut words = [(); 4].map(|()| Value::word(0));
    for pair in cuts.windows(2).rev() {
        let (from, bits) = (pair[0], pair[1] - pair[0]);
        let part = Value::fresh(0, u64::MAX >> (64 - bits));
        let word = &mut words[from / 64];
        *word = part.or(&word.shifted(bits as i64)).unwrap();
        if (FREE[0]..FREE[1]).contains(&from) {
            k = &k + &part.polynomial.shifted((from - FREE[0]) as i64);
        }
    }
    (words.map(Word::of), k)
}

/// Returns the multiple in entry `index` of the first window: H_252 + H_251 - H_w, and twice the
/// index.
fn first_entry(window: &Window, index: &Value) -> Value {
    let [high, low, less] = [252, 251, window.index_bits].map(|bit| Value::word(1).shifted(bit as i64));
    high.plus(&low).minus(&less).plus(&index.shifted(1))
}

/// Returns the multiple in entry `index` of another window: an odd multiple of its first bit.
fn entry(window: &Window, index: &Value) -> Value {
    Value::word(1).plus(&index.shifted(1)).shifted(window.start as i64)
}

/// Checks for every layout and all scalars at once that digits are in the range of their tables,
/// and that the entries with their signs sum to 2^252 + 2k, up to the sign of the whole.
#[test]
fn the_digits_of_every_scalar_sum_to_it() {
    // All layouts take half a minute.
    let step = if std::env::var_os("VANITY_CASES").is_some() { 1 } else { 17 };
    for count in WINDOWS.step_by(step) {
        forget();
        let windows = layout(count);
        let (words, k) = scalar(&windows);
        let mut found = Vec::new();
        digits(&windows, Symbolic::<true>, &words, |at, digit| found.push((at, digit.value().as_word())));
        assert!(found.iter().map(|(at, _)| *at).eq(0..count), "each window has one digit");
        let mut sum = Value::word(0);
        for (at, digit) in found {
            let window = &windows[at];
            let index = digit.high(6);
            assert!(digit.fits(32) && index.fits(window.index_bits as i64), "{count} windows, window {at}");
            let negative = digit.low(1);
            assert_eq!(digit.low(6).polynomial, negative.polynomial, "{count} windows, window {at}");
            if at == 0 {
                assert_eq!(negative.polynomial, Polynomial::default());
                sum = first_entry(window, &index);
                continue;
            }
            let sign = Value::word(1).minus(&negative.shifted(1));
            let point = entry(window, &index).times(&sign);
            // Each addition returns the negative of a sum.
            sum = Value::word(0).minus(&sum.plus(&point));
        }
        let sum = if count % 2 == 0 { Value::word(0).minus(&sum) } else { sum };
        let expected = &Value::word(1).shifted(252).polynomial + &k.shifted(1);
        assert_eq!(sum.polynomial, expected, "{count} windows");
    }
}

/// The order of the base point (RFC 8032, section 5.1).
fn order() -> BigInt {
    (BigInt::from(1) << 252) + BigInt::from(27_742_317_777_372_353_535_851_937_790_883_648_493_u128)
}

/// Asserts that a P and b P are neither equal nor opposite, and that neither is 0, if a and b are
/// any *even* numbers of these ranges: a - b and a + b are even and from 1 to 2 l - 1, or 0 is not
/// in their range. The only multiple of the order l there is l itself, which is odd.
fn assert_apart(a: &RangeInclusive<BigInt>, b: &RangeInclusive<BigInt>, what: &str) {
    let twice: BigInt = order() * 2;
    assert!(order() % 2 == BigInt::from(1));
    let sums = a.start() + b.start()..=a.end() + b.end();
    let differences = a.start() - b.end()..=a.end() - b.start();
    for range in [a, b, &sums, &differences] {
        let is_positive = BigInt::ZERO < *range.start() && *range.end() < twice;
        let is_negative = -&twice < *range.start() && *range.end() < BigInt::ZERO;
        assert!(is_positive || is_negative, "{what}: {range:?}");
    }
}

/// Checks that no scalar and no table leads to a sum of equal or opposite points, or of the
/// identity.
///
/// The sum of the windows before is even: H_252 + H_251 - 1 and a signed sum of the bits below, of
/// which the lowest is odd. An entry is even, because only the first window begins at bit 0.
#[test]
fn no_addition_is_of_equal_or_opposite_points() {
    let power = |bit: usize| BigInt::from(1) << bit;
    for count in WINDOWS {
        let windows = layout(count);
        let constant = power(252) + power(251);
        for (at, window) in windows.iter().enumerate() {
            let Window { start, index_bits, .. } = *window;
            let what = format!("{count} windows, window {at}");
            // A digit and the sum before it.
            if at > 0 {
                assert!(start > 0);
                let before = &constant - power(start)..=&constant + power(start) - 2;
                let largest = power(start + index_bits + 1) - power(start);
                assert_apart(&before, &(power(start)..=largest), &what);
            }
            // The entries of a table, which double their number by adding one multiple to all.
            for bit in 0..index_bits {
                let (first, last) = if at == 0 {
                    let first = &constant - power(index_bits);
                    (first.clone(), first + power(bit + 1) - 2)
                } else {
                    (power(start), power(start + bit + 1) - power(start))
                };
                let added = power(start + bit + 1);
                assert_apart(&(first..=last), &(added.clone()..=added), &what);
            }
        }
        let end = windows[0].index_bits;
        assert_apart(&(power(252)..=power(252)), &(power(251)..=power(251)), "the first constant");
        assert_apart(&(constant.clone()..=constant), &(power(end)..=power(end)), "the second constant");
    }
}

/// Returns base^((p - 1) / 2): 1 for a square, and -1 for another number, except 0.
fn is_square(number: Element) -> Element {
    // (p - 1) / 2 = 2^254 - 10.
    let bits = (0..254).rev().map(|bit| bit >= 4 || [1, 2].contains(&bit));
    bits.fold(Element::new(1), |power, bit| if bit { power * power * number } else { power * power })
}

/// The last denominator is (u + 1) D^2. It is 0 only for a point with u = -1, and A - 2, its v^2,
/// is no square. A point with v = 0 or u = 0 has order 2, so it is no multiple of B.
#[test]
fn no_point_has_an_edwards_y_at_infinity() {
    let minus_one = Element::new(0) - Element::new(1);
    assert_eq!(is_square(Element::new(4)), Element::new(1));
    assert_eq!(is_square(Element::new(A - 2)), minus_one);
    // The law of edwards25519 has no exceptions, because d is no square and -1 is one.
    let [.., d2] = elements();
    assert_eq!(is_square(d2 * Element::new(2)), minus_one);
    assert_eq!(is_square(minus_one), Element::new(1));
}

/// Returns an entry's x as (u, v).
fn coordinates(CacheLine([x0, x1, x2, x3, y0, y1, y2, y3]): &CacheLine) -> [Element; 2] {
    let zero = Element::new(0);
    let [x, y] = [[*x0, *x1, *x2, *x3], [*y0, *y1, *y2, *y3]].map(|words| Element(words) - zero);
    [x - shift_of_x(), y - Element::new(9)]
}

/// Compares every entry of three tables with its multiple of 4B by curve25519-dalek, with the sign
/// of x.
#[test]
fn every_entry_is_its_multiple() {
    let [_, root, _] = elements();
    let mut roots = BTreeSet::new();
    for count in [126, 63, 36] {
        forget();
        let table = Table::new(Portable(Scalar::detect()), count);
        for (at, window) in table.layout().iter().enumerate() {
            for (index, line) in table.window(at).iter().enumerate() {
                let index = Value::word(index as u64);
                let multiple = if at == 0 { first_entry(window, &index) } else { entry(window, &index) };
                let (_, bytes) = (multiple.range.0.floor() * 4u8).to_bytes_le();
                let mut scalar = [0; 32];
                scalar[..bytes.len()].copy_from_slice(&bytes);
                let point = EdwardsPoint::mul_base(&Multiple::from_bytes_mod_order(scalar)).compress();
                let mut y = point.to_bytes();
                let sign = y[31] >> 7;
                y[31] &= 0x7f;
                let words = y.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
                let y = Element(words.collect::<Vec<_>>().try_into().unwrap());
                let [u, v] = coordinates(line);
                let one = Element::new(1);
                assert_eq!(y * (u + one), u - one, "{count} windows, window {at}");
                assert_eq!(v * v, u * (u * u + Element::new(A) * u + one), "{count} windows, window {at}");
                // The sign of x tells which of the two roots c is.
                roots.insert((root * u / v).0[0] as u8 & 1 ^ sign);
            }
        }
    }
    assert_eq!(roots.len(), 1, "an entry is the negative of its multiple");
}
