//! Classes of symbols that no literal of a list distinguishes.
//!
//! Where case is ignored, `a` and `A` form a class. The symbols that no literal holds form another
//! one.

use crate::wire::{SYMBOL_BITS, Symbols};

/// The number of values that a symbol has.
const VALUES: usize = 1 << SYMBOL_BITS;

/// The bit that is added to the class of symbols that no literal holds: the highest one.
pub(super) const UNUSED: u8 = 0x80;

/// A partition of the 64 symbols.
pub(super) struct Classes {
    /// The number of classes.
    count: u8,
    /// The class of each symbol, by its value, with [`UNUSED`] added.
    of_values: [u8; VALUES],
    /// The share of the symbols that each class holds.
    shares: Vec<f64>,
}

impl Classes {
    /// Makes the finest partition in which each of `sets` lies within one class.
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
        let unused = Symbols(!used.0);
        classes.extend(Some(unused).filter(|unused| !unused.is_empty()));

        let of_value = |value: usize| classes.iter().position(|class| class.has(value as u8)).unwrap_or(0);
        let of_values = std::array::from_fn(|value| {
            of_value(value) as u8 | if unused.has(value as u8) { UNUSED } else { 0 }
        });
        let shares = classes.iter().map(|class| f64::from(class.len()) / VALUES as f64).collect();
        Self { count: classes.len() as u8, of_values, shares }
    }

    /// Returns the number of classes, 1 to 64.
    pub(super) fn count(&self) -> u8 {
        self.count
    }

    /// Returns the class of each symbol, by its value, with [`UNUSED`] added.
    #[inline(always)]
    pub(super) fn of_values(&self) -> &[u8; VALUES] {
        &self.of_values
    }

    /// Returns the class of the symbol with this value, with [`UNUSED`] added.
    pub(super) fn of(&self, value: u8) -> u8 {
        self.of_values[usize::from(value)]
    }

    /// Returns whether a class has just these symbols.
    pub(super) fn has(&self, symbols: Symbols) -> bool {
        symbols.first().is_some_and(|first| {
            let class = self.of(first);
            (0..VALUES).all(|value| (self.of_values[value] == class) == symbols.has(value as u8))
        })
    }

    /// Returns whether some symbols occur in no literal. Their class is the last one.
    pub(super) fn has_unused(&self) -> bool {
        self.of_values.iter().any(|class| class & UNUSED != 0)
    }

    /// Returns the share of the 64 symbols that belong to a class.
    pub(super) fn share(&self, class: u8) -> f64 {
        self.shares[usize::from(class & !UNUSED)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(symbols: &[u8]) -> Symbols {
        symbols.iter().fold(Symbols::default(), |set, byte| set.or(Symbols::of(*byte)))
    }

    #[test]
    fn symbols_that_no_literal_distinguishes_have_one_class() {
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
        assert!(classes.has_unused());
        let of_each = Classes::new((0..64).map(|value| Symbols(1 << value)));
        assert!(of_each.count() == 64 && !of_each.has_unused());
    }
}
