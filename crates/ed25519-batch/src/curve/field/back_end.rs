//! The trait that every back end implements.

use crate::simd::Words;

/// A back end of field arithmetic. The bounds of limbs belong to its types.
pub trait Field: Copy + Send + Sync + 'static {
    /// The instruction set.
    type Simd: Words;
    /// A carried element with limbs that are not negative.
    type Tight: Copy + Send;
    /// A difference of tight elements.
    type Loose: Copy + Send + From<Self::Product>;
    /// A product.
    type Product: Copy + Send;
    /// A sum of tight elements.
    type Sum: Copy + Send;

    /// Returns the token of the instruction set.
    fn simd(self) -> Self::Simd;
    /// Converts four little-endian words, below 2^255 in every lane, to an element.
    fn tight(self, words: [Word<Self>; 4]) -> Self::Tight;
    /// Returns a - b, not carried.
    fn sub(self, a: &Self::Tight, b: &Self::Tight) -> Self::Loose;
    /// Returns a + b, not carried.
    fn sum(self, a: &Self::Tight, b: &Self::Tight) -> Self::Sum;
    /// Returns a - b, carried.
    fn sub_sum(self, a: &Self::Tight, b: &Self::Sum) -> Self::Product;
    /// Carries the limbs of `a`.
    fn carry(self, a: &Self::Loose) -> Self::Product;
    /// Returns a b.
    fn mul(self, a: &Self::Product, b: &Self::Loose) -> Self::Product;
    /// Returns a^2.
    fn square(self, a: &Self::Product) -> Self::Product;
    /// Returns a b + c.
    fn mul_add(self, a: &Self::Product, b: &Self::Loose, c: &Self::Tight) -> Self::Tight;
    /// Returns a^2 - b.
    fn square_sub(self, a: &Self::Product, b: &Self::Sum) -> Self::Tight;
    /// Returns each element as four little-endian words below p, its encoding (RFC 8032, section
    /// 5.1.2).
    fn words(self, a: &Self::Product) -> [Word<Self>; 4];

    /// Converts four little-endian words, below 2^255 in every lane, to a factor.
    #[inline(always)]
    fn product(self, words: [Word<Self>; 4]) -> Self::Product {
        self.carry(&self.sub(&self.tight(words), &self.tight([self.simd().splat(0); 4])))
    }

    /// Returns 1 in every lane.
    #[inline(always)]
    fn one(self) -> Self::Product {
        let (one, zero) = (self.simd().splat(1), self.simd().splat(0));
        self.product([one, zero, zero, zero])
    }
}

/// A vector of a back end's instruction set.
pub type Word<F> = <<F as Field>::Simd as Words>::Word;
