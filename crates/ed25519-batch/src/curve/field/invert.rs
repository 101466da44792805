//! Inversion by division steps. All lanes share one inversion (Montgomery's trick), which uses
//! ordinary words.
//!
//! The algorithm is that of Daniel J. Bernstein, Bo-Yin Yang: Fast constant-time gcd computation
//! and modular inversion, TCHES 2019. This version takes variable time, and does 62 division steps
//! at a time on the lowest words. It takes about a quarter of the time of the power p - 2.

use std::ops::Div;

use super::back_end::Field;
use super::element::Element;
use super::portable::Portable;
use crate::simd::{Scalar, Words};

/// The most lanes of a vector.
const MOST_LANES: usize = 8;

/// Returns 1 / a in every lane. If a lane is 0, every lane of the result is 0. The time depends on the
/// product of all lanes.
#[inline(always)]
pub fn invert<F: Field>(field: F, a: &F::Product) -> F::Product {
    let (simd, one_lane) = (field.simd(), Portable(Scalar::plain()));
    let mut words = [[0; MOST_LANES]; 4];
    let vectors = field.words(a);
    for at in 0..4 {
        simd.store(vectors[at], &mut words[at]);
    }
    let lanes = <F::Simd as Words>::LANES;
    let mut elements = [one_lane.one(); MOST_LANES];
    for (lane, element) in elements.iter_mut().enumerate() {
        *element = one_lane.product([words[0][lane], words[1][lane], words[2][lane], words[3][lane]]);
    }
    invert_all(
        &mut elements[..lanes],
        one_lane.one(),
        #[inline(always)]
        |a, b| one_lane.mul(a, &(*b).into()),
        #[inline(always)]
        |product| one_lane.product(inverse(Element(one_lane.words(product))).0),
    );
    let mut inverses = [[0; MOST_LANES]; 4];
    for (lane, element) in elements.iter().enumerate().take(lanes) {
        let words = one_lane.words(element);
        for at in 0..4 {
            inverses[at][lane] = words[at];
        }
    }
    let [a, b, c, d] = &inverses;
    field.product([simd.load(a), simd.load(b), simd.load(c), simd.load(d)])
}

/// Replaces up to `MOST_LANES` elements by their inverses, with one inversion of their product.
#[inline(always)]
pub fn invert_all<T: Copy>(
    elements: &mut [T],
    one: T,
    mul: impl Fn(&T, &T) -> T,
    inverse: impl FnOnce(&T) -> T,
) {
    let mut products_before = [one; MOST_LANES];
    let mut product = one;
    for (element, before) in elements.iter().zip(&mut products_before) {
        *before = product;
        product = mul(&product, element);
    }
    let mut inverse = inverse(&product);
    for (element, before) in elements.iter_mut().zip(&products_before).rev() {
        let inverse_of_this = mul(&inverse, before);
        inverse = mul(&inverse, element);
        *element = inverse_of_this;
    }
}

impl Div for Element {
    type Output = Self;

    #[allow(clippy::suspicious_arithmetic_impl, reason = "a quotient is a product with an inverse")]
    fn div(self, divisor: Self) -> Self {
        self * inverse(divisor)
    }
}

/// The number of division steps on the lowest words between two updates of the whole numbers.
pub const STEPS: u32 = 62;

/// The first delta. Inverses are right with any, after other numbers of steps.
pub const FIRST_DELTA: i64 = 1;

/// The mask of the low 62 bits.
pub const LIMB: i64 = (1 << STEPS) - 1;

/// A number as limbs of 62 bits. The last limb has the sign.
pub type Limbs = [i64; 5];

/// p = 2^255 - 19, where 255 = 4 * 62 + 7.
pub const P: Limbs = [-19, 0, 0, 0, 1 << 7];

/// 1 / p modulo 2^62.
const INVERSE_OF_P: i64 = {
    // Each step doubles the number of correct bits. The start value 5 has 5, since p = 13 = 1 / 5
    // modulo 32.
    let mut inverse = 5i64;
    let mut step = 0;
    while step < 4 {
        inverse = inverse.wrapping_mul(2i64.wrapping_sub(P[0].wrapping_mul(inverse)));
        step += 1;
    }
    inverse & LIMB
};

const _: () = assert!(INVERSE_OF_P.wrapping_mul(P[0]) & LIMB == 1);

/// The linear map of 62 division steps, times 2^62. It takes (f, g) to (u f + v g, q f + r g) /
/// 2^62.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// The factor of f in the new f.
    pub u: i64,
    /// The factor of g in the new f.
    pub v: i64,
    /// The factor of f in the new g.
    pub q: i64,
    /// The factor of g in the new g.
    pub r: i64,
}

/// Returns four words as limbs.
#[inline]
pub fn limbs([a, b, c, d]: [u64; 4]) -> Limbs {
    let low = |word: u64| word.cast_signed() & LIMB;
    [low(a), low(a >> 62 | b << 2), low(b >> 60 | c << 4), low(c >> 58 | d << 6), low(d >> 56)]
}

/// Returns limbs, none of which is negative, as four words.
#[inline]
pub fn words(limbs: Limbs) -> [u64; 4] {
    let [v, w, x, y, z] = limbs.map(i64::cast_unsigned);
    [v | w << 62, w >> 2 | x << 60, x >> 4 | y << 58, y >> 6 | z << 56]
}

/// Returns 1 / a, or 0 if a is 0.
pub fn inverse(Element(a): Element) -> Element {
    let mut g = limbs(a);
    let mut f = P;
    // d a = f and e a = g modulo p at every step. When g becomes 0, f is 1 or -1, so d is plus or
    // minus the inverse. Without a step d is 0.
    let (mut d, mut e) = ([0; 5], [1, 0, 0, 0, 0]);
    let mut delta = FIRST_DELTA;
    while g != [0; 5] {
        let matrix = division_steps(STEPS, &mut delta, f[0], g[0]);
        (f, g) = apply(&matrix, &f, &g, 0, 0);
        (d, e) = apply_modulo_p(&matrix, &d, &e);
    }
    Element(words(between_0_and_p(d, f[4] < 0)))
}

/// Returns a + `times` p. All limbs but the last are from 0 to 2^62 - 1.
#[inline]
pub fn add_multiple_of_p(a: Limbs, times: i64) -> Limbs {
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

/// Returns d, or its negative, from 0 to p - 1 modulo p. d must be between -2p and p.
#[inline]
pub fn between_0_and_p(d: Limbs, is_negative: bool) -> Limbs {
    let mut result = add_multiple_of_p(d, i64::from(d[4] < 0));
    if is_negative {
        result = add_multiple_of_p(result.map(|limb| -limb), 0);
    }
    add_multiple_of_p(result, i64::from(result[4] < 0))
}

/// Does division steps on two numbers whose lowest `steps` bits are those of `f` and `g`. `f` must
/// be odd. The matrix is multiplied by 2^`steps`. Only tests do other than 62 steps.
#[inline(always)]
pub fn division_steps(steps: u32, delta: &mut i64, f: i64, g: i64) -> Matrix {
    let (f, g) = (f.cast_unsigned(), g.cast_unsigned());
    let mut state = Steps { left: steps, delta: *delta, f, g, matrix: Matrix { u: 1, v: 0, q: 0, r: 1 } };
    while state.advance() {}
    *delta = state.delta;
    state.matrix
}

/// The state of division steps that are done together.
#[derive(Clone, Copy)]
pub struct Steps {
    /// The number of steps to do. As many low bits of f and g count.
    pub left: u32,
    /// The number that decides which of f and g is halved next.
    pub delta: i64,
    /// The low bits of f, which is odd.
    pub f: u64,
    /// The low bits of g.
    pub g: u64,
    /// The linear map of the steps that are done, times 2 for each. It has the multiple of f that g
    /// has already.
    pub matrix: Matrix,
}

impl Steps {
    /// Halves g while it is even. Then adds the multiple of f that the next steps add, or returns
    /// false if no step is left.
    #[inline(always)]
    pub fn advance(&mut self) -> bool {
        let Self { mut left, mut delta, mut f, mut g, matrix: Matrix { mut u, mut v, mut q, mut r } } = *self;
        // Since the matrix is scaled, the factors u and v of f double instead.
        let zeros = (g | u64::MAX << left).trailing_zeros();
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        delta += i64::from(zeros);
        left -= zeros;
        let goes_on = left > 0;
        if goes_on {
            if delta > 0 {
                delta = -delta;
                (f, g) = (g, f.wrapping_neg());
                (u, q) = (q, -u);
                (v, r) = (r, -v);
            }
            // Clear as many low bits of g as steps are left until the next exchange, but at most 6.
            // The multiple of f to add is -g / f modulo 2^6. One step of Newton's method gives 1 /
            // f: it starts from f, its own inverse modulo 8.
            let bits = left.min((1 - delta).min(6) as u32);
            let inverse = f.wrapping_mul(f).wrapping_sub(2).wrapping_mul(f);
            let multiple = inverse.wrapping_mul(g) & ((1 << bits) - 1);
            g = g.wrapping_add(f.wrapping_mul(multiple));
            // No sum has more than 62 bits, since the rows of the matrix at most double in a step.
            q += u * multiple.cast_signed();
            r += v * multiple.cast_signed();
        }
        *self = Self { left, delta, f, g, matrix: Matrix { u, v, q, r } };
        goes_on
    }
}

/// Returns (u d + v e, q d + r e) / 2^62 modulo p. The arguments and the results are between -2p
/// and p.
#[inline]
pub fn apply_modulo_p(matrix: &Matrix, d: &Limbs, e: &Limbs) -> (Limbs, Limbs) {
    // First add p to each of d and e that is negative, so both are between -p and p. Neither |u| +
    // |v| nor |q| + |r| is above 2^62, so each sum divided by 2^62 is between -p and p, too. Then
    // subtract a multiple of p, less than 2^62 p, that makes the sum divisible by 2^62.
    let multiple = |x: i64, y: i64| {
        let sign = (x & d[4] >> 63) + (y & e[4] >> 63);
        let low = x.wrapping_mul(d[0]).wrapping_add(y.wrapping_mul(e[0]));
        sign - (INVERSE_OF_P.wrapping_mul(low).wrapping_add(sign) & LIMB)
    };
    apply(matrix, d, e, multiple(matrix.u, matrix.v), multiple(matrix.q, matrix.r))
}

/// Returns (u a + v b + `first_multiple` p, q a + r b + `second_multiple` p) / 2^62. Both sums must
/// be divisible by 2^62.
#[inline]
pub fn apply(
    matrix: &Matrix,
    a: &Limbs,
    b: &Limbs,
    first_multiple: i64,
    second_multiple: i64,
) -> (Limbs, Limbs) {
    let wide = |x: i64, y: i64| i128::from(x) * i128::from(y);
    let (mut first, mut second) = ([0; 5], [0; 5]);
    let (mut first_carry, mut second_carry) = (0, 0);
    for at in 0..5 {
        first_carry += wide(matrix.u, a[at]) + wide(matrix.v, b[at]) + wide(first_multiple, P[at]);
        second_carry += wide(matrix.q, a[at]) + wide(matrix.r, b[at]) + wide(second_multiple, P[at]);
        if at > 0 {
            first[at - 1] = first_carry as i64 & LIMB;
            second[at - 1] = second_carry as i64 & LIMB;
        }
        first_carry >>= STEPS;
        second_carry >>= STEPS;
    }
    first[4] = first_carry as i64;
    second[4] = second_carry as i64;
    (first, second)
}
