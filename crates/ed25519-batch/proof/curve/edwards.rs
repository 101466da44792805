//! The constants that take points from short Weierstrass form to edwards25519, by which `formulas`
//! shows that both hold the same points.

use ed25519_batch::internals::field::Element;
use ed25519_batch::internals::table::{A, shift_of_x};

/// Returns the constants -A/3, c and 2d.
///
/// Adding -A/3 to an entry's x gives the Montgomery u. c is a square root of -(A + 2), and the
/// Edwards x is c u / v (RFC 7748, section 4.1). Either root is right, because the sign of x stays
/// open. d = -121665/121666 is that of edwards25519 (RFC 8032, section 5.1).
pub(super) fn elements() -> [Element; 3] {
    let zero = Element::new(0);
    let d = (zero - Element::new(121_665)) / Element::new(121_666);
    [zero - shift_of_x(), root(zero - Element::new(A + 2)), d + d]
}

/// Returns a square root of `square`, which must be a square (RFC 8032, section 5.1.3: p is 5
/// modulo 8).
fn root(square: Element) -> Element {
    // The exponents are (p + 3) / 8 = 2^252 - 2 and (p - 1) / 4 = 2^253 - 5.
    let power = pow(square, [-2i64 as u64, u64::MAX, u64::MAX, (1 << 60) - 1]);
    if power * power == square {
        return power;
    }
    power * pow(Element::new(2), [-5i64 as u64, u64::MAX, u64::MAX, (1 << 61) - 1])
}

/// Returns `base` to the power of `exponent`, four little-endian words.
fn pow(base: Element, exponent: [u64; 4]) -> Element {
    let bits = (0..256).rev().map(|bit| exponent[bit / 64] >> (bit % 64) & 1);
    bits.fold(Element::new(1), |pow, bit| if bit == 1 { pow * pow * base } else { pow * pow })
}

#[test]
fn the_numbers_are_those_of_the_standards() {
    let [shift, c, d2] = elements();
    let zero = Element::new(0);
    assert_eq!(shift * Element::new(3) + Element::new(A), zero);
    assert_eq!(c * c, zero - Element::new(486_664));
    assert_eq!(d2 * Element::new(121_666) + Element::new(2 * 121_665), zero);
}

#[test]
fn squares_have_roots() {
    for number in 1..=20 {
        let square = Element::new(number) * Element::new(number);
        let root = root(square);
        assert_eq!(root * root, square, "{number}");
    }
}
