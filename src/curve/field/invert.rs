//! Inversion: all lanes share one (Montgomery's trick), which ordinary words do by division steps.
//!
//! Daniel J. Bernstein, Bo-Yin Yang: Fast constant-time gcd computation and modular inversion, TCHES 2019; here in variable
//! time, 62 steps at a time on the lowest words. It takes about a quarter of the time of the power p - 2.

use std::ops::Div;

use super::back_end::Field;
use super::element::Element;
use super::portable::Portable;
use crate::simd::{Scalar, Words};

/// Returns 1 / a in every lane, or `None` if a lane is 0. Variable-time.
#[inline(always)]
pub fn invert<F: Field>(field: F, a: &F::Product) -> Option<F::Product> {
    const MOST_LANES: usize = 8;
    let (simd, one_lane) = (field.simd(), Portable(Scalar::plain()));
    let mut words = [[0; MOST_LANES]; 4];
    for (word, lanes) in field.words(a).into_iter().zip(&mut words) {
        simd.store(word, lanes);
    }
    let lanes = <F::Simd as Words>::LANES;
    let element = |lane: usize| one_lane.product(words.map(|word| word[lane]));
    let mut before = [one_lane.one(); MOST_LANES];
    let mut product = one_lane.one();
    for (lane, before) in before.iter_mut().enumerate().take(lanes) {
        *before = product;
        product = one_lane.mul(&product, &element(lane).into());
    }
    let mut inverse = one_lane.product(inverse(Element(one_lane.words(&product)))?.0);
    let mut inverses = [[0; MOST_LANES]; 4];
    for lane in (0..lanes).rev() {
        let of_this = one_lane.words(&one_lane.mul(&inverse, &before[lane].into()));
        inverses.iter_mut().zip(of_this).for_each(|(lanes, word)| lanes[lane] = word);
        inverse = one_lane.mul(&inverse, &element(lane).into());
    }
    Some(field.product(inverses.map(|lanes| simd.load(&lanes))))
}

const FIELD: Portable = Portable(Scalar::plain());

impl Div for Element {
    type Output = Self;

    /// # Panics
    ///
    /// The divisor is 0.
    #[allow(clippy::suspicious_arithmetic_impl, reason = "a quotient is a product with an inverse")]
    fn div(self, divisor: Self) -> Self {
        let inverse = invert(FIELD, &FIELD.product(divisor.0));
        self * Self(FIELD.words(&inverse.unwrap_or_else(|| panic!("a division by 0"))))
    }
}

/// Steps taken on words before the whole numbers follow.
const STEPS: u32 = 62;

/// The low 62 bits.
const LIMB: i64 = (1 << STEPS) - 1;

/// A number as limbs of 62 bits, the last one with the sign.
type Limbs = [i64; 5];

/// p = 2^255 - 19, where 255 = 4 * 62 + 7.
const P: Limbs = [-19, 0, 0, 0, 1 << 7];

/// 1 / p modulo 2^62.
const INVERSE_OF_P: i64 = {
    // Each step doubles the number of bits that are right; 5 are right at first, since p = 13 = 1 / 5 modulo 32.
    let mut inverse = 5i64;
    let mut step = 0;
    while step < 4 {
        inverse = inverse.wrapping_mul(2i64.wrapping_sub(P[0].wrapping_mul(inverse)));
        step += 1;
    }
    inverse & LIMB
};

const _: () = assert!(INVERSE_OF_P.wrapping_mul(P[0]) & LIMB == 1);

/// What 62 steps do to a pair of numbers, times 2^62.
struct Matrix {
    u: i64,
    v: i64,
    q: i64,
    r: i64,
}

/// 1 / a, or `None` for 0.
fn inverse(Element([a, b, c, d]): Element) -> Option<Element> {
    let low = |word: u64| word.cast_signed() & LIMB;
    let mut g = [low(a), low(a >> 62 | b << 2), low(b >> 60 | c << 4), low(c >> 58 | d << 6), low(d >> 56)];
    if g == [0; 5] {
        return None;
    }
    let mut f = P;
    // With d a = f and e a = g modulo p all the way, d is plus or minus the inverse when g is 0.
    let (mut d, mut e) = ([0; 5], [1, 0, 0, 0, 0]);
    let mut delta = 1;
    while g != [0; 5] {
        let matrix = steps(&mut delta, f[0], g[0]);
        (f, g) = apply(&matrix, &f, &g, 0, 0);
        (d, e) = apply_modulo_p(&matrix, &d, &e);
    }
    // f is 1 or -1, and d between -2p and p.
    let mut result = carried(d, i64::from(d[4] < 0));
    if f[4] < 0 {
        result = carried(result.map(|limb| -limb), 0);
    }
    let [v, w, x, y, z] = carried(result, i64::from(result[4] < 0)).map(i64::cast_unsigned);
    Some(Element([v | w << 62, w >> 2 | x << 60, x >> 4 | y << 58, y >> 6 | z << 56]))
}

/// a + `times` p, its limbs but the last one positive.
fn carried(a: Limbs, times: i64) -> Limbs {
    let mut sum = a;
    let mut carry = 0;
    for (limb, p) in sum.iter_mut().zip(P) {
        let whole = *limb + times * p + carry;
        *limb = whole & LIMB;
        carry = whole >> STEPS;
    }
    sum[4] += carry << STEPS;
    sum
}

/// 62 division steps on the lowest limbs of an odd f and of g.
fn steps(delta: &mut i64, f: i64, g: i64) -> Matrix {
    let (mut f, mut g) = (f.cast_unsigned(), g.cast_unsigned());
    let (mut u, mut v, mut q, mut r) = (1u64, 0u64, 0u64, 1u64);
    let mut left = STEPS;
    loop {
        // While g is even, it is halved, and the other number's factors double instead.
        let zeros = (g | u64::MAX << left).trailing_zeros();
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        *delta += i64::from(zeros);
        left -= zeros;
        if left == 0 {
            let [u, v, q, r] = [u, v, q, r].map(u64::cast_signed);
            return Matrix { u, v, q, r };
        }
        if *delta > 0 {
            *delta = -*delta;
            (f, g) = (g, f.wrapping_neg());
            (u, q) = (q, u.wrapping_neg());
            (v, r) = (r, v.wrapping_neg());
        }
        // As many bits of g at once as there are steps until the next exchange: the multiple of f that clears them is
        // -g / f modulo 2^6, 1 / f by one step of Newton's from f, which is its own inverse modulo 8.
        let bits = left.min((1 - *delta).min(6) as u32);
        let multiple = f.wrapping_mul(f).wrapping_sub(2).wrapping_mul(f).wrapping_mul(g) & ((1 << bits) - 1);
        g = g.wrapping_add(f.wrapping_mul(multiple));
        q = q.wrapping_add(u.wrapping_mul(multiple));
        r = r.wrapping_add(v.wrapping_mul(multiple));
    }
}

/// (u d + v e, q d + r e) / 2^62 modulo p; of numbers between -2p and p again such numbers.
fn apply_modulo_p(matrix: &Matrix, d: &Limbs, e: &Limbs) -> (Limbs, Limbs) {
    // With p added to what is negative, a sum is between -p and p, since neither |u| + |v| nor |q| + |r| is above 2^62. The multiple of
    // p, less than 2^62, that is taken away then makes it divisible.
    let multiple = |x: i64, y: i64| {
        let sign = (x & d[4] >> 63) + (y & e[4] >> 63);
        let low = x.wrapping_mul(d[0]).wrapping_add(y.wrapping_mul(e[0]));
        sign - (INVERSE_OF_P.wrapping_mul(low).wrapping_add(sign) & LIMB)
    };
    apply(matrix, d, e, multiple(matrix.u, matrix.v), multiple(matrix.q, matrix.r))
}

/// (u a + v b + `for_a` p, q a + r b + `for_b` p) / 2^62, without remainders.
fn apply(matrix: &Matrix, a: &Limbs, b: &Limbs, for_a: i64, for_b: i64) -> (Limbs, Limbs) {
    let wide = |x: i64, y: i64| i128::from(x) * i128::from(y);
    let (mut first, mut second) = ([0; 5], [0; 5]);
    let (mut carry_a, mut carry_b) = (0, 0);
    for at in 0..5 {
        carry_a += wide(matrix.u, a[at]) + wide(matrix.v, b[at]) + wide(for_a, P[at]);
        carry_b += wide(matrix.q, a[at]) + wide(matrix.r, b[at]) + wide(for_b, P[at]);
        if at > 0 {
            first[at - 1] = carry_a as i64 & LIMB;
            second[at - 1] = carry_b as i64 & LIMB;
        }
        carry_a >>= STEPS;
        carry_b >>= STEPS;
    }
    first[4] = carry_a as i64;
    second[4] = carry_b as i64;
    (first, second)
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;
    use rand_core::{Rng as _, SeedableRng as _};

    use super::*;

    use crate::curve::field::tests::cases;

    /// How many of either sign. Miri takes its time.
    const SMALL: u64 = if cfg!(miri) { 3 } else { 1000 };

    #[test]
    fn inverses_times_their_elements_are_one() {
        let mut random = rand_chacha::ChaCha20Rng::from_seed([9; 32]);
        let zero = Element::new(0);
        let mut elements: Vec<Element> = (1..SMALL).map(Element::new).collect();
        elements.extend((1..SMALL).map(|number| zero - Element::new(number)));
        for bit in (0..255).step_by(if cfg!(miri) { 127 } else { 1 }) {
            let mut words = [0; 4];
            words[bit / 64] = 1 << (bit % 64);
            elements.extend([Element(words), zero - Element(words)]);
        }
        for _ in 0..cases() {
            let words = [(); 4].map(|()| random.next_u64());
            elements.push(Element([words[0], words[1], words[2], words[3] >> 1]) - zero);
        }
        for element in elements {
            let inverse = inverse(element).unwrap();
            assert_eq!(inverse * element, Element::new(1), "{element:x?}");
            assert_eq!(inverse - zero, inverse, "below p");
        }
        assert_eq!(inverse(zero), None);
    }

    /// At the ends of the ranges, where an inversion hardly ever comes.
    #[test]
    fn the_factors_stay_between_minus_2_p_and_p() {
        let number = |limbs: &Limbs| limbs.iter().rev().fold(BigInt::ZERO, |sum, limb| (sum << STEPS) + limb);
        let p = number(&P);
        let limbs = |number: &BigInt| {
            std::array::from_fn(|at| {
                let low: BigInt =
                    if at < 4 { (number >> (62 * at)) & BigInt::from(LIMB) } else { number >> 248 };
                i64::try_from(low).unwrap()
            })
        };
        let ends = [-2 * &p + 1, -&p - 1, -&p, -&p + 1, (-1).into(), 0.into(), 1.into(), &p - 1];
        let mut random = rand_chacha::ChaCha20Rng::from_seed([10; 32]);
        for _ in 0..cases().div_ceil(ends.len() * ends.len()) {
            // As large as two factors can be.
            let mut factors = || {
                let one = (random.next_u64() >> 1) as i64 - (1 << 62);
                let other = (1 << 62) - one.abs();
                [one, if random.next_u32() & 1 == 0 { other } else { -other }]
            };
            let ([u, v], [q, r]) = (factors(), factors());
            let matrix = Matrix { u, v, q, r };
            let [u, v, q, r] = [u, v, q, r].map(BigInt::from);
            for (d, e) in ends.iter().flat_map(|d| ends.iter().map(move |e| (d, e))) {
                assert_eq!(number(&limbs(d)), *d);
                let (next_d, next_e) = apply_modulo_p(&matrix, &limbs(d), &limbs(e));
                for (next, sum) in [(next_d, &u * d + &v * e), (next_e, &q * d + &r * e)] {
                    let next = number(&next);
                    assert!(-2 * &p < next && next < p, "{next} of {d}, {e}");
                    assert_eq!(((next << STEPS) - sum) % &p, BigInt::ZERO, "of {d}, {e}");
                }
            }
        }
    }
}
