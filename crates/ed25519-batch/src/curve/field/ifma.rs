//! The back end for the 52-bit multiply-add of AVX-512 IFMA and AVX-IFMA: five 52-bit limbs.
//!
//! `madd52lo` and `madd52hi` add the low and the high 52 bits of a product of 52-bit limbs to a
//! word. So a column of a product is a chain of such additions. The instructions ignore the upper
//! 12 bits of their factors. After a carry, therefore, a limb needs no mask before a
//! multiplication, but it needs one before an addition. The upper columns return to the lower ones
//! with a factor of 608, because 2^260 = 608 modulo p. (Shay Gueron, Vlad Krasnov: Accelerating Big
//! Integer Arithmetic Using Intel IFMA Extensions, ARITH 2016.)

use super::back_end::{Field, Word};
use super::radix51::{self, five};
use crate::simd::Madd52;

/// The back end of processors with AVX-512 IFMA or AVX-IFMA.
#[derive(Clone, Copy, Debug)]
pub struct Ifma<S>(pub S);

/// The largest limb, which is also the mask of a limb's bits.
pub const LIMB: u64 = (1 << 52) - 1;

/// The number of bits of the top limb below 2^255 = 2^(208 + 47).
const TOP_BITS: u32 = 47;

/// Half of 2^260 modulo p. The top column is multiplied by it twice, because 608 times that column
/// can exceed 52 bits.
const HALF_FOLD: u64 = 304;

/// The exclusive bound of the top limbs of [`Tight`] and [`Product`]: the part below 2^255, and a
/// carry.
pub const TOP: u64 = (1 << TOP_BITS) + (1 << 4);

/// The exclusive bound of the top limbs of [`Loose`], which have 2p more.
pub const LOOSE_TOP: u64 = TOP + (1 << 48);

// The high part of the product of the two bounds and a carry, times `HALF_FOLD`, fits into 52 bits.
const _: () = assert!((((TOP as u128 * LOOSE_TOP as u128) >> 52) + (1 << 5)) * (HALF_FOLD as u128) < 1 << 52);

/// 2p = 2^256 - 38. The lowest limb is negative.
const TWO_P: [u64; 5] = [0u64.wrapping_sub(38), 0, 0, 0, 1 << 48];

/// 2p, in limbs that are larger than those of [`Tight`]. So no limb of a difference is negative.
const TWO_P_IN_LARGE_LIMBS: [u64; 5] =
    [(1 << 53) - 38, (1 << 53) - 2, (1 << 53) - 2, (1 << 53) - 2, (1 << 48) - 2];

/// 8p = 2^258 - 152, in limbs that are larger than those of [`Sum`].
const EIGHT_P: [u64; 5] = [(1 << 54) - 152, (1 << 54) - 4, (1 << 54) - 4, (1 << 54) - 4, (1 << 50) - 4];

/// Limbs from 0 to [`LIMB`], the top one below [`TOP`].
#[derive(Clone, Copy, Debug)]
pub struct Tight<W>(pub [W; 5]);

/// Limbs in the low 52 bits of words, the top one below [`LOOSE_TOP`].
#[derive(Clone, Copy, Debug)]
pub struct Loose<W>(pub [W; 5]);

/// Limbs in the low 52 bits of words, the top one below [`TOP`].
#[derive(Clone, Copy, Debug)]
pub struct Product<W>(pub [W; 5]);

/// Limbs below 2^53, the top one below 2 [`TOP`].
#[derive(Clone, Copy, Debug)]
pub struct Sum<W>(pub [W; 5]);

impl<W> From<Product<W>> for Loose<W> {
    #[inline(always)]
    fn from(product: Product<W>) -> Self {
        Self(product.0)
    }
}

impl<S: Madd52> Ifma<S> {
    /// Returns the ten columns of a b, with `lower` added to the lower five.
    #[inline(always)]
    fn product_columns(self, a: &[S::Word; 5], b: &[S::Word; 5], lower: &[S::Word; 5]) -> [S::Word; 10] {
        let (simd, zero) = (self.0, self.0.splat(0));
        let mut columns = [lower[0], lower[1], lower[2], lower[3], lower[4], zero, zero, zero, zero, zero];
        for i in 0..5 {
            for j in 0..5 {
                columns[i + j] = simd.madd52lo(columns[i + j], a[i], b[j]);
            }
            for j in 0..5 {
                columns[i + j + 1] = simd.madd52hi(columns[i + j + 1], a[i], b[j]);
            }
        }
        columns
    }

    /// Returns the ten columns of a^2, with `lower` added to the lower five. Each product of
    /// different limbs is computed once and doubled.
    #[inline(always)]
    fn square_columns(self, a: &[S::Word; 5], lower: &[S::Word; 5]) -> [S::Word; 10] {
        let simd = self.0;
        let mut columns = [simd.splat(0); 10];
        for i in 0..5 {
            for j in i + 1..5 {
                columns[i + j] = simd.madd52lo(columns[i + j], a[i], a[j]);
                columns[i + j + 1] = simd.madd52hi(columns[i + j + 1], a[i], a[j]);
            }
        }
        for column in &mut columns {
            *column = simd.add(*column, *column);
        }
        for at in 0..5 {
            columns[at] = simd.add(columns[at], lower[at]);
        }
        for i in 0..5 {
            columns[2 * i] = simd.madd52lo(columns[2 * i], a[i], a[i]);
            columns[2 * i + 1] = simd.madd52hi(columns[2 * i + 1], a[i], a[i]);
        }
        columns
    }

    /// Adds the upper columns to the lower ones, times 608. Each upper column first carries what it has
    /// above 52 bits into the next one, because a product ignores that. A column must be below 2^57: it
    /// has nine parts of 52 bits, and what was added.
    #[inline(always)]
    fn fold(self, columns: &[S::Word; 10]) -> [S::Word; 5] {
        let simd = self.0;
        let (once, half) = (simd.splat(2 * HALF_FOLD), simd.splat(HALF_FOLD));
        let mut columns = *columns;
        for at in 0..4 {
            let upper = columns[at + 5];
            columns[at + 6] = simd.add(columns[at + 6], simd.shr::<52>(upper));
            columns[at] = simd.madd52lo(columns[at], upper, once);
            columns[at + 1] = simd.madd52hi(columns[at + 1], upper, once);
        }
        columns[4] = simd.madd52lo(columns[4], columns[9], half);
        columns[4] = simd.madd52lo(columns[4], columns[9], half);
        five!(at => columns[at])
    }

    /// Carries from limb to limb, after it has reduced the part above 2^255. The limbs of the
    /// result are the low 52 bits of its words. The columns must be below 2^56, so the carry into
    /// the top limb has at most 4 bits.
    #[inline(always)]
    fn carry_up(self, columns: &[S::Word; 5]) -> [S::Word; 5] {
        let simd = self.0;
        let mut limbs = *columns;
        let over = simd.shr::<TOP_BITS>(limbs[4]);
        limbs[4] = simd.and(limbs[4], simd.splat((1 << TOP_BITS) - 1));
        limbs[0] = simd.madd52lo(limbs[0], over, simd.splat(19));
        for at in 0..4 {
            limbs[at + 1] = simd.add(limbs[at + 1], simd.shr::<52>(limbs[at]));
        }
        limbs
    }

    /// Clears the bits of the words above their limbs.
    #[inline(always)]
    fn masked(self, limbs: &[S::Word; 5]) -> [S::Word; 5] {
        let (simd, limb) = (self.0, self.0.splat(LIMB));
        [
            simd.and(limbs[0], limb),
            simd.and(limbs[1], limb),
            simd.and(limbs[2], limb),
            simd.and(limbs[3], limb),
            limbs[4],
        ]
    }

    /// Returns limbs of 0.
    #[inline(always)]
    fn zero(self) -> [S::Word; 5] {
        [self.0.splat(0); 5]
    }
}

impl<S: Madd52> Field for Ifma<S> {
    type Simd = S;
    type Tight = Tight<S::Word>;
    type Loose = Loose<S::Word>;
    type Product = Product<S::Word>;
    type Sum = Sum<S::Word>;

    #[inline(always)]
    fn simd(self) -> S {
        self.0
    }

    #[inline(always)]
    fn tight(self, [a, b, c, d]: [S::Word; 4]) -> Tight<S::Word> {
        let simd = self.0;
        // A product by 2^n moves the lower bits of a word up by n bits, and cuts them at 52 bits.
        let up = |low, word, n: u32| simd.madd52lo(low, word, simd.splat(1 << n));
        Tight([
            simd.and(a, simd.splat(LIMB)),
            up(simd.shr::<52>(a), b, 12),
            up(simd.shr::<40>(b), c, 24),
            up(simd.shr::<28>(c), d, 36),
            simd.shr::<16>(d),
        ])
    }

    #[inline(always)]
    fn sub(self, a: &Self::Tight, b: &Self::Tight) -> Self::Loose {
        let simd = self.0;
        // 2p makes the value positive. So the top limb is positive, too, after the carries.
        let two_p = if S::SIGNED_CARRY { TWO_P } else { TWO_P_IN_LARGE_LIMBS };
        let mut limbs = five!(at => simd.sub(simd.add(a.0[at], simd.splat(two_p[at])), b.0[at]));
        for at in 0..4 {
            limbs[at + 1] = simd.add(limbs[at + 1], simd.carry(limbs[at]));
        }
        Loose(limbs)
    }

    #[inline(always)]
    fn sum(self, a: &Self::Tight, b: &Self::Tight) -> Self::Sum {
        Sum(five!(at => self.0.add(a.0[at], b.0[at])))
    }

    #[inline(always)]
    fn sub_sum(self, a: &Self::Tight, b: &Self::Sum) -> Self::Product {
        let simd = self.0;
        let limbs = five!(at => simd.sub(simd.add(a.0[at], simd.splat(EIGHT_P[at])), b.0[at]));
        Product(self.carry_up(&limbs))
    }

    #[inline(always)]
    fn carry(self, a: &Self::Loose) -> Self::Product {
        Product(self.carry_up(&self.masked(&a.0)))
    }

    #[inline(always)]
    fn mul(self, a: &Self::Product, b: &Self::Loose) -> Self::Product {
        Product(self.carry_up(&self.fold(&self.product_columns(&a.0, &b.0, &self.zero()))))
    }

    #[inline(always)]
    fn square(self, a: &Self::Product) -> Self::Product {
        Product(self.carry_up(&self.fold(&self.square_columns(&a.0, &self.zero()))))
    }

    #[inline(always)]
    fn mul_add(self, a: &Self::Product, b: &Self::Loose, c: &Self::Tight) -> Self::Tight {
        let columns = self.product_columns(&a.0, &b.0, &c.0);
        Tight(self.masked(&self.carry_up(&self.fold(&columns))))
    }

    #[inline(always)]
    fn square_sub(self, a: &Self::Product, b: &Self::Sum) -> Self::Tight {
        let simd = self.0;
        let minus = five!(at => simd.sub(simd.splat(EIGHT_P[at]), b.0[at]));
        let columns = self.square_columns(&a.0, &minus);
        Tight(self.masked(&self.carry_up(&self.fold(&columns))))
    }

    #[inline(always)]
    fn words(self, a: &Self::Product) -> [Word<Self>; 4] {
        let simd = self.0;
        let [a, b, c, d, e] = self.masked(&a.0);
        // The value is below 2^255 + 2^215, which is below 2p.
        let words = [
            simd.or(a, simd.shl::<52>(b)),
            simd.or(simd.shr::<12>(b), simd.shl::<40>(c)),
            simd.or(simd.shr::<24>(c), simd.shl::<28>(d)),
            simd.or(simd.shr::<36>(d), simd.shl::<16>(e)),
        ];
        radix51::canonical(simd, radix51::split(simd, words))
    }
}
