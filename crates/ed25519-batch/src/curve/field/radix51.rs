//! Conversion between words of 64 bits and limbs of 51 bits, in every lane.

use crate::simd::Words;

/// Makes an array of five limbs from an expression, without a closure. A closure that is not
/// inlined would not be compiled for the instruction set.
macro_rules! five {
    ($at:ident => $limb:expr) => {
        five!($at => $limb; 0 1 2 3 4)
    };
    ($at:ident => $limb:expr; $($number:literal)*) => {
        [$({
            let $at: usize = $number;
            $limb
        }),*]
    };
}
pub(super) use five;

/// The largest carried limb, which is also the mask of a limb's bits.
pub const LIMB: u64 = (1 << 51) - 1;

/// The limbs of p.
pub const P: [u64; 5] = [LIMB - 18, LIMB, LIMB, LIMB, LIMB];

/// Converts four words, a number below 2^255, to five limbs.
#[inline(always)]
pub fn split<S: Words>(simd: S, [a, b, c, d]: [S::Word; 4]) -> [S::Word; 5] {
    let limb = simd.splat(LIMB);
    [
        simd.and(a, limb),
        simd.and(simd.or(simd.shr::<51>(a), simd.shl::<13>(b)), limb),
        simd.and(simd.or(simd.shr::<38>(b), simd.shl::<26>(c)), limb),
        simd.and(simd.or(simd.shr::<25>(c), simd.shl::<39>(d)), limb),
        simd.shr::<12>(d),
    ]
}

/// Returns 19 a, which must be below 2^64.
#[inline(always)]
pub fn times_19<S: Words>(simd: S, a: S::Word) -> S::Word {
    simd.add(simd.add(a, simd.opaque(simd.shl::<1>(a))), simd.opaque(simd.shl::<4>(a)))
}

/// Converts limbs to four words, a number below p. The limbs must be below 2^63, and their value
/// below 2p.
#[inline(always)]
pub fn canonical<S: Words>(simd: S, limbs: [S::Word; 5]) -> [S::Word; 4] {
    // Adding 19 carries into bit 255 if the value is at least p. After the loop `over` is this
    // carry, 0 or 1.
    let mut over = simd.splat(19);
    for limb in limbs {
        over = simd.shr::<51>(simd.add(limb, over));
    }
    let limb = simd.splat(LIMB);
    let mut sums = limbs;
    sums[0] = simd.add(sums[0], times_19(simd, over));
    for at in 1..5 {
        sums[at] = simd.add(sums[at], simd.shr::<51>(sums[at - 1]));
    }
    let [a, b, c, d, e] = five!(at => simd.and(sums[at], limb));
    [
        simd.or(a, simd.shl::<51>(b)),
        simd.or(simd.shr::<13>(b), simd.shl::<38>(c)),
        simd.or(simd.shr::<26>(c), simd.shl::<25>(d)),
        simd.or(simd.shr::<39>(d), simd.shl::<12>(e)),
    ]
}
