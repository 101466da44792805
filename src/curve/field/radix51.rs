//! Words of 64 bits to limbs of 51 and back, in every lane.

use crate::simd::Words;

/// An expression for each limb, written out: a closure might not be inlined, and would then not be compiled for the
/// instruction set.
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

/// The largest limb.
pub(super) const LIMB: u64 = (1 << 51) - 1;

/// p, limb by limb.
pub(super) const P: [u64; 5] = [LIMB - 18, LIMB, LIMB, LIMB, LIMB];

/// Whether all lanes of a vector pass a test: for assertions, in debug builds.
#[inline(always)]
pub(super) fn all_lanes<S: Words>(simd: S, vector: S::Word, test: impl Fn(u64) -> bool) -> bool {
    let mut lanes = [0; 8];
    simd.store(vector, &mut lanes);
    lanes[..S::LANES].iter().all(|lane| test(*lane))
}

/// Four words below 2^255 to five limbs.
#[inline(always)]
pub(super) fn split<S: Words>(simd: S, [a, b, c, d]: [S::Word; 4]) -> [S::Word; 5] {
    let limb = simd.splat(LIMB);
    [
        simd.and(a, limb),
        simd.and(simd.or(simd.shr::<51>(a), simd.shl::<13>(b)), limb),
        simd.and(simd.or(simd.shr::<38>(b), simd.shl::<26>(c)), limb),
        simd.and(simd.or(simd.shr::<25>(c), simd.shl::<39>(d)), limb),
        simd.shr::<12>(d),
    ]
}

/// 19 a, below 2^64.
#[inline(always)]
pub(super) fn times_19<S: Words>(simd: S, a: S::Word) -> S::Word {
    simd.add(simd.add(a, simd.opaque(simd.shl::<1>(a))), simd.opaque(simd.shl::<4>(a)))
}

/// Limbs below 2^63 of a value below 2p, to four words below p.
#[inline(always)]
pub(super) fn canonical<S: Words>(simd: S, limbs: [S::Word; 5]) -> [S::Word; 4] {
    // 1 if the value is at least p, that is if adding 19 carries out of bit 255.
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
