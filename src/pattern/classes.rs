//! Symbols that no literal of a list tells apart, folded into classes.
//!
//! Where case is ignored, `a` and `A` are a class, and so is what no literal holds. Text folded in this way is compared by
//! number: two characters at a time become the number of their pair of classes by one load from a table of 8 KiB.

use crate::wire::{SYMBOL_BITS, Symbols};

/// The values of a symbol.
const VALUES: usize = 1 << SYMBOL_BITS;

/// A partition of the 64 symbols.
pub(super) struct Classes {
    /// How many there are.
    count: u32,
    /// The number of the pair of classes, `count * first + second`, by the values of two symbols.
    pairs: Box<[u16; VALUES * VALUES]>,
    /// The share of the symbols that each class holds.
    shares: Vec<f64>,
}

impl Classes {
    /// The finest partition in which each of `sets` lies within a class.
    pub(super) fn new(sets: impl IntoIterator<Item = Symbols>) -> Self {
        let mut classes: Vec<Symbols> = Vec::new();
        for set in sets.into_iter().filter(|set| !set.is_empty()) {
            let mut merged = set;
            classes.retain(|class| {
                let apart = class.and(merged).is_empty();
                if !apart {
                    merged = merged.or(*class);
                }
                apart
            });
            classes.push(merged);
        }
        let used = classes.iter().fold(Symbols::default(), |used, class| used.or(*class));
        classes.extend(Some(Symbols(!used.0)).filter(|unused| !unused.is_empty()));

        let count = classes.len();
        let of_value = |value: usize| classes.iter().position(|class| class.has(value as u8)).unwrap_or(0);
        let numbers: Vec<usize> = (0..VALUES).map(of_value).collect();
        let mut pairs = Box::new([0; VALUES * VALUES]);
        for (both, pair) in pairs.iter_mut().enumerate() {
            *pair = (count * numbers[both / VALUES] + numbers[both % VALUES]) as u16;
        }
        let shares = classes.iter().map(|class| f64::from(class.len()) / VALUES as f64).collect();
        Self { count: count as u32, pairs, shares }
    }

    /// How many classes there are, 1 to 64.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// The number of the pair of classes that two symbols have, below [`Self::count`] squared; `both` are their 6-bit values.
    #[inline(always)]
    pub(super) fn pair(&self, both: u32) -> u32 {
        u32::from(self.pairs[both as usize % (VALUES * VALUES)])
    }

    /// The class of the symbol with this value.
    pub(super) fn of(&self, value: u8) -> u32 {
        self.pair(u32::from(value)) % self.count
    }

    /// The share of the symbols that are in a class.
    pub(super) fn share(&self, class: u32) -> f64 {
        self.shares[class as usize]
    }

    /// One number for `count` symbols, up to 10, whose 6-bit values stand in `window`, the first one highest. Windows of the same
    /// count have the same code just where their symbols have the same classes.
    #[inline]
    pub(super) fn code(&self, window: u64, count: usize) -> u64 {
        let even = count.next_multiple_of(2);
        let window = window << (SYMBOL_BITS * (even - count));
        let pairs = u64::from(self.count * self.count);
        (0..even / 2).rev().fold(0, |code, at| {
            code * pairs + u64::from(self.pair((window >> (2 * SYMBOL_BITS * at)) as u32 & 0xfff))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(symbols: &[u8]) -> Symbols {
        symbols.iter().fold(Symbols::default(), |set, byte| set.or(Symbols::of(*byte)))
    }

    #[test]
    fn what_is_not_told_apart_has_one_class() {
        let classes = Classes::new([set(b"aA4"), set(b"x"), set(b"iI1"), set(b"lL1"), set(b"4")]);
        let of = |byte| classes.of(Symbols::of(byte).first().unwrap());
        assert_eq!(classes.count(), 4);
        assert!([b'a', b'A', b'4'].into_iter().all(|byte| of(byte) == of(b'a')));
        assert!([b'i', b'I', b'1', b'l', b'L'].into_iter().all(|byte| of(byte) == of(b'l')));
        assert!([b'X', b'b', b'+', b'9'].into_iter().all(|byte| of(byte) == of(b'Z')));
        let apart = [of(b'a'), of(b'x'), of(b'l'), of(b'Z')];
        assert!((1..4).all(|at| !apart[at..].contains(&apart[at - 1])));
        let shares: f64 = apart.iter().map(|class| classes.share(*class)).sum();
        assert_eq!(shares, 1.0);
        assert_eq!(Classes::new([]).count(), 1);
    }

    #[test]
    fn codes_are_equal_just_where_the_classes_are() {
        let classes = Classes::new([set(b"aA"), set(b"bB"), set(b"+")]);
        let window = |text: &[u8]| {
            text.iter().fold(0, |window, byte| window << 6 | u64::from(Symbols::of(*byte).first().unwrap()))
        };
        let code = |text: &[u8]| classes.code(window(text), text.len());
        assert_eq!(code(b"aB+xQ"), code(b"Ab+99"));
        let others: [&[u8]; 5] = [b"bb+99", b"aa+99", b"abx99", b"ab+9a", b"+b+99"];
        assert!(others.iter().all(|other| code(other) != code(b"ab+99")));
        assert_eq!(code(b"abab"), code(b"ABAB"));
    }
}
