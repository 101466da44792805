//! Checks of the formulas against the group law, for all points at once.
//!
//! The additions, the last addition and the digits run over polynomials. A formula is right if the
//! difference to the law is 0 after two kinds of replacement: v^2 by u^3 + A u^2 + u, for a point
//! of the Montgomery curve (RFC 7748, section 4.1), and by 1 the product of an inverse and of what
//! it inverts. Coefficients are integers, and count modulo p.

mod multiples;

use std::cell::RefCell;

use num_bigint::BigInt;

use super::edwards::elements;
use crate::simd::model::{Dyadic, Polynomial, Symbolic, Value, Word, forget};
use ed25519_batch::internals::addition::{Addition, Division, Point, SHIFT, negate_y};
use ed25519_batch::internals::field::{Element, Field};
use ed25519_batch::internals::last_addition::{LastAddition, Numbers};
use ed25519_batch::internals::table::{A, shift_of_x};

/// The field of polynomials. Its elements are exact: nothing is carried.
#[derive(Clone, Copy)]
struct Functions;

/// A polynomial, by its number.
#[derive(Clone, Copy)]
struct Function(u32);

thread_local! {
    static FUNCTIONS: RefCell<Vec<Polynomial>> = RefCell::default();
}

impl Function {
    fn of(polynomial: Polynomial) -> Self {
        FUNCTIONS.with_borrow_mut(|functions| {
            functions.push(polynomial);
            Self(functions.len() as u32 - 1)
        })
    }

    fn polynomial(self) -> Polynomial {
        FUNCTIONS.with_borrow(|functions| functions[self.0 as usize].clone())
    }
}

impl Field for Functions {
    type Simd = Symbolic<true>;
    type Tight = Function;
    type Loose = Function;
    type Product = Function;
    type Sum = Function;

    fn simd(self) -> Symbolic<true> {
        Symbolic
    }

    fn tight(self, words: [Word; 4]) -> Function {
        let parts = (0..).zip(words).map(|(at, word)| word.value().as_unsigned().polynomial.shifted(64 * at));
        Function::of(parts.fold(Polynomial::default(), |sum, part| &sum + &part))
    }

    fn sub(self, a: &Function, b: &Function) -> Function {
        Function::of(&a.polynomial() - &b.polynomial())
    }

    fn sum(self, a: &Function, b: &Function) -> Function {
        Function::of(&a.polynomial() + &b.polynomial())
    }

    fn sub_sum(self, a: &Function, b: &Function) -> Function {
        self.sub(a, b)
    }

    fn carry(self, a: &Function) -> Function {
        *a
    }

    fn mul(self, a: &Function, b: &Function) -> Function {
        Function::of(&a.polynomial() * &b.polynomial())
    }

    fn square(self, a: &Function) -> Function {
        self.mul(a, a)
    }

    fn mul_add(self, a: &Function, b: &Function, c: &Function) -> Function {
        self.sum(&self.mul(a, b), c)
    }

    fn square_sub(self, a: &Function, b: &Function) -> Function {
        self.sub(&self.mul(a, a), b)
    }

    fn words(self, _: &Function) -> [Word; 4] {
        panic!("a polynomial has no encoding")
    }
}

fn p() -> BigInt {
    Dyadic::power(255).floor() - 19
}

fn constant(number: i64) -> Polynomial {
    Polynomial::constant(Dyadic::new(number, 0))
}

fn variable() -> Polynomial {
    Value::fresh(Dyadic::default(), Dyadic::new(p(), 0)).polynomial
}

fn product(factors: &[&Polynomial]) -> Polynomial {
    factors.iter().fold(constant(1), |product, factor| &product * factor)
}

/// Asserts that two polynomials are equal modulo p, after the product of variables `from` is
/// replaced by `to` as often as it occurs.
fn assert_equal(left: &Polynomial, right: &Polynomial, replaced: &[(Polynomial, Polynomial)], what: &str) {
    let mut difference = left - right;
    for (from, to) in replaced {
        difference = difference.replaced(from, to);
    }
    assert!(difference.is_multiple_of(&p()), "{what}: {difference:?}");
}

/// A + B of addition `number`, with independent coordinates, by differences: x2 = x1 + d and y2 =
/// y1 + n.
struct Chord {
    x: Polynomial,
    y: Polynomial,
    d: Polynomial,
    n: Polynomial,
}

impl Chord {
    fn new() -> Self {
        Self { x: variable(), y: variable(), d: variable(), n: variable() }
    }

    fn points(&self) -> [Point<Functions>; 2] {
        let point = |x, y| Point { x: Function::of(x), y: Function::of(y) };
        [point(self.x.clone(), self.y.clone()), point(&self.x + &self.d, &self.y + &self.n)]
    }
}

/// Checks that additions that share an inversion give x3 = l^2 - x1 - x2 and l (x3 - x1) + y1,
/// which is the stored -y3 if y1 is the stored y, with the slope l = n / d.
#[test]
fn additions_are_chords_whatever_else_shares_the_inversion() {
    forget();
    let chords: Vec<Chord> = (0..3).map(|_| Chord::new()).collect();
    let mut all = Functions.one();
    let mut opened = Vec::new();
    for chord in &chords {
        let [a, b] = chord.points();
        let mut addition = Addition::to(Functions, a);
        addition.open(Functions, &b, &mut all);
        opened.push(addition);
    }
    let differences: Vec<&Polynomial> = chords.iter().map(|chord| &chord.d).collect();
    assert_equal(&all.polynomial(), &product(&differences), &[], "the product of all differences");
    let one_over_all = variable();
    let is_inverse = [(product(&[&[&one_over_all], &differences[..]].concat()), constant(1))];
    let mut inverse = Function::of(one_over_all);
    for (number, (addition, Chord { x, y, d, n })) in opened.iter_mut().zip(&chords).enumerate().rev() {
        addition.find_slope(Functions, &mut inverse);
        addition.find_x(Functions);
        addition.find_y(Functions);
        let sum = addition.negative_sum();
        let (x3, y3) = (sum.x.polynomial(), sum.y.polynomial());
        let sum_of_x = &(&(x + x) + d) + &x3;
        assert_equal(&product(&[&sum_of_x, d, d]), &(n * n), &is_inverse, "x3");
        assert_equal(&(&(&y3 - y) * d), &(n * &(&x3 - x)), &is_inverse, "y3");
        let before = product(&differences[..number]);
        assert_equal(&(&inverse.polynomial() * &before), &constant(1), &is_inverse, "the inverse before");
    }
}

#[test]
fn quotients_are_right_whatever_else_shares_the_inversion() {
    forget();
    let parts: Vec<[Polynomial; 2]> = (0..3).map(|_| [variable(), variable()]).collect();
    let mut all = Functions.one();
    let mut divisions: Vec<_> = parts
        .iter()
        .map(|parts| {
            let [dividend, divisor] = parts.each_ref().map(|part| Function::of(part.clone()));
            let mut division = Division::place(Functions);
            division.open(Functions, &dividend, divisor, &mut all);
            division
        })
        .collect();
    let divisors: Vec<&Polynomial> = parts.iter().map(|[_, divisor]| divisor).collect();
    let one_over_all = variable();
    let is_inverse = [(product(&[&[&one_over_all], &divisors[..]].concat()), constant(1))];
    let mut inverse = Function::of(one_over_all);
    for (division, [dividend, divisor]) in divisions.iter_mut().zip(&parts).rev() {
        let plus = Functions.one();
        let sum = division.close_and_add(Functions, &mut inverse, &plus).polynomial();
        let quotient = &sum - &plus.polynomial();
        assert_equal(&(&quotient * divisor), dividend, &is_inverse, "a quotient");
    }
    assert_equal(&inverse.polynomial(), &constant(1), &is_inverse, "the last inverse");
}

/// Checks that a chord of the Montgomery curve is the sum of edwards25519 (RFC 8032, section 5.1),
/// with x = c u / v, y = (u - 1) / (u + 1) and c^2 = -(A + 2), and that the last addition gives its
/// y. The law holds for all points, and d (A + 2) = -(A - 2).
#[test]
fn the_sum_of_two_points_is_that_of_edwards25519() {
    let zero = Element::new(0);
    let [minus_third_of_a, c, d2] = elements();
    assert_eq!(minus_third_of_a * Element::new(3), zero - Element::new(A));
    assert_eq!(c * c, zero - Element::new(A + 2));
    assert_eq!(d2 * Element::new(A + 2), zero - Element::new(2 * (A - 2)));

    forget();
    let [u1, v1, u2, v2] = [(); 4].map(|()| variable());
    let a = A.cast_signed();
    let add = |a: &Polynomial, number: i64| a + &constant(number);
    let cubic = |u: &Polynomial| &product(&[u, u, u]) + &(&product(&[u, u, &constant(a)]) + u);
    let on_curve = [(&v1 * &v1, cubic(&u1)), (&v2 * &v2, cubic(&u2))];

    // (A + 2) u^2 (u + 1)^2 / v^2 + (u - 1)^2 - (u + 1)^2 - (A - 2) u^2 (u - 1)^2 / v^2 = 0 is
    // -x^2 + y^2 = 1 + d x^2 y^2.
    let (less, more) = (add(&u1, -1), add(&u1, 1));
    let edwards = &product(&[&constant(a + 2), &u1, &u1, &more, &more])
        - &product(&[&constant(a - 2), &u1, &u1, &less, &less]);
    let squares = &(&more * &more) - &(&less * &less);
    assert_equal(&edwards, &product(&[&squares, &v1, &v1]), &on_curve, "a point of edwards25519");

    // u3 = u / D^2 and v3 = v / D^3.
    let (d, n) = (&u2 - &u1, &v2 - &v1);
    let dd = &d * &d;
    let u = &(&n * &n) - &(&add(&(&u1 + &u2), a) * &dd);
    let v = &(&n * &(&(&u1 * &dd) - &u)) - &product(&[&v1, &dd, &d]);
    // x1 x2 y1 y2 d = cross / whole, where whole = v1 v2 (u1 + 1) (u2 + 1).
    let (less2, more2) = (add(&u2, -1), add(&u2, 1));
    let whole = product(&[&v1, &v2, &more, &more2]);
    let cross = product(&[&constant(a - 2), &u1, &u2, &less, &less2]);
    let y = &product(&[&less, &less2, &v1, &v2]) - &product(&[&constant(a + 2), &u1, &u2, &more, &more2]);
    let x = &product(&[&u1, &less2, &v2, &more]) + &product(&[&u2, &less, &v1, &more2]);
    assert_equal(&(&(&u - &dd) * &(&whole - &cross)), &(&(&u + &dd) * &y), &on_curve, "the y of a sum");
    assert_equal(&product(&[&u, &d, &(&whole + &cross)]), &(&v * &x), &on_curve, "the x of a sum");

    let third_of_a = Functions.tight(shift_of_x().0.map(|word| Word::of(Value::word(word)))).polynomial();
    let point = |u: &Polynomial, v: &Polynomial| Point::<Functions> {
        x: Function::of(u + &third_of_a),
        y: Function::of(v + &constant(SHIFT.cast_signed())),
    };
    let numbers = Numbers::new(Functions);
    let last = LastAddition::new(Functions, &point(&u1, &v1), &point(&u2, &v2), &numbers);
    let [dividend, divisor] = last.fraction(Functions, &numbers).map(Function::polynomial);
    assert_equal(&divisor, &(&u + &dd), &[], "the divisor of the last y");
    // y = 1 - 2 dividend / divisor = (u - 1) / (u + 1).
    let quotient = variable();
    let y = numbers.y(Functions, &Function::of(quotient.clone())).polynomial();
    assert_equal(&y, &(&constant(1) - &(&quotient + &quotient)), &[], "the last y");
    assert_equal(&(&divisor - &(&dividend + &dividend)), &(&u - &dd), &[], "the numerator of the last y");
}

/// Checks that the complement of a stored y is that of -y, for all words and both choices.
#[test]
fn a_stored_y_is_negated_where_the_choice_is_odd() {
    forget();
    let words = [u64::MAX, u64::MAX, u64::MAX, u64::MAX >> 1].map(|most| Word::of(Value::fresh(0, most)));
    let choice = Value::fresh(0, u64::MAX);
    let sign = &constant(1) - &choice.low(1).polynomial.shifted(1);
    let stored = Functions.tight(words).polynomial();
    let negated = Functions.tight(negate_y::<Functions>(Functions, words, Word::of(choice))).polynomial();
    let offset = constant(SHIFT.cast_signed());
    assert_equal(&(&negated - &offset), &(&sign * &(&stored - &offset)), &[], "a negated y");
}
