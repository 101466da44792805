//! The seam between instruction sets.

use crate::simd::Words;

/// A back end.
pub trait Field: Copy + Send + Sync + 'static {
    /// Its instruction set.
    type Simd: Words;
    /// Carried, and not negative.
    type Tight: Copy + Send;
    /// A difference.
    type Loose: Copy + Send + From<Self::Product>;
    /// A product.
    type Product: Copy + Send;
    /// A sum.
    type Sum: Copy + Send;

    /// Its token.
    fn simd(self) -> Self::Simd;
    /// The element that four little-endian words below 2^255 stand for in every lane.
    fn tight(self, words: [Word<Self>; 4]) -> Self::Tight;
    /// a - b
    fn sub(self, a: &Self::Tight, b: &Self::Tight) -> Self::Loose;
    /// a + b
    fn sum(self, a: &Self::Tight, b: &Self::Tight) -> Self::Sum;
    /// a - b
    fn sub_sum(self, a: &Self::Tight, b: &Self::Sum) -> Self::Product;
    /// a
    fn carry(self, a: &Self::Loose) -> Self::Product;
    /// a b
    fn mul(self, a: &Self::Product, b: &Self::Loose) -> Self::Product;
    /// a^2
    fn square(self, a: &Self::Product) -> Self::Product;
    /// a b + c
    fn mul_add(self, a: &Self::Product, b: &Self::Loose, c: &Self::Tight) -> Self::Tight;
    /// a^2 - b
    fn square_sub(self, a: &Self::Product, b: &Self::Sum) -> Self::Tight;
    /// The four little-endian words of each element, below p: its encoding (RFC 8032, section 5.1.2).
    fn words(self, a: &Self::Product) -> [Word<Self>; 4];

    /// As [`Field::tight`], to be multiplied.
    #[inline(always)]
    fn product(self, words: [Word<Self>; 4]) -> Self::Product {
        self.carry(&self.sub(&self.tight(words), &self.tight([self.simd().splat(0); 4])))
    }

    /// 1 in every lane.
    #[inline(always)]
    fn one(self) -> Self::Product {
        self.product([1, 0, 0, 0].map(|word| self.simd().splat(word)))
    }
}

/// A vector of a back end's instruction set.
pub type Word<F> = <<F as Field>::Simd as Words>::Word;
