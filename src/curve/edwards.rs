//! From the table's short Weierstrass form to edwards25519, for devices that add there.

use super::field::Element;
use super::table::{A, shift_of_x};

/// -A/3, which takes an entry's x to the Montgomery u; c = the root of -(A + 2), with which the Edwards x is c u / v (RFC 7748, section
/// 4.1; either root will do where the sign of x stays open); and 2d for the d of edwards25519, -121665/121666 (RFC 8032, section 5.1).
#[must_use]
pub fn numbers_of_edwards() -> [Element; 3] {
    let zero = Element::new(0);
    let d = (zero - Element::new(121_665)) / Element::new(121_666);
    [zero - shift_of_x(), root(zero - Element::new(A + 2)), d + d]
}

/// A square root of a square (RFC 8032, section 5.1.3: p is 5 modulo 8).
fn root(square: Element) -> Element {
    // (p + 3) / 8 = 2^252 - 2, and (p - 1) / 4 = 2^253 - 5.
    let candidate = power(square, [-2i64 as u64, u64::MAX, u64::MAX, (1 << 60) - 1]);
    if candidate * candidate == square {
        return candidate;
    }
    candidate * power(Element::new(2), [-5i64 as u64, u64::MAX, u64::MAX, (1 << 61) - 1])
}

fn power(base: Element, exponent: [u64; 4]) -> Element {
    let bits = (0..256).rev().map(|bit| exponent[bit / 64] >> (bit % 64) & 1);
    bits.fold(Element::new(1), |power, bit| if bit == 1 { power * power * base } else { power * power })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_standards() {
        let [shift, c, d2] = numbers_of_edwards();
        let zero = Element::new(0);
        assert_eq!(shift * Element::new(3) + Element::new(A), zero);
        assert_eq!(c * c, zero - Element::new(486_664));
        assert_eq!(d2 * Element::new(121_666) + Element::new(2 * 121_665), zero);
    }

    #[test]
    fn squares_of_either_kind_have_their_roots() {
        for number in 1..=20 {
            let square = Element::new(number) * Element::new(number);
            let root = root(square);
            assert_eq!(root * root, square, "{number}");
        }
    }
}
