//! Needles of characters that a match shows, and the positions where they may begin.

use std::ops::RangeInclusive;

use crate::odds::Place;
use crate::syntax::Literal;
use crate::wire::{BODY_LEN, Symbols};

/// A callback that takes the index of a candidate in a batch.
pub type EachCandidate<'a> = &'a mut dyn FnMut(usize);

/// Characters to search for: the symbols of each, and the positions where the first may be.
#[derive(Clone)]
pub struct Needle {
    /// The symbols that each character may be.
    pub symbols: Vec<Symbols>,
    /// The positions where the first character may be.
    pub starts: RangeInclusive<usize>,
}

impl Needle {
    /// Returns the characters of a literal, and where they may begin. The needle of a word includes
    /// its delimiters.
    pub fn of(literal: &Literal) -> Self {
        let symbols = literal.characters();
        let last = BODY_LEN - symbols.len();
        let starts = match literal.place() {
            Place::Start => 0..=0,
            Place::End => last..=last,
            Place::Anywhere => 0..=last,
        };
        Self { symbols, starts }
    }

    /// Widens the needle, so that a text that shows either shows the needle: as long as the shorter
    /// one, with the symbols of both. Both must be at the start, or, with `at_end`, at the end.
    pub fn widen(&mut self, literal: &Literal, at_end: bool) {
        let len = literal.len().min(self.symbols.len());
        if at_end {
            self.symbols.drain(..self.symbols.len() - len);
            self.starts = BODY_LEN - len..=BODY_LEN - len;
        } else {
            self.symbols.truncate(len);
        }
        let from = if at_end { literal.len() - len } else { 0 };
        for (at, symbols) in self.symbols.iter_mut().enumerate() {
            *symbols = symbols.or(literal.symbols(from + at));
        }
    }
}

/// A set of positions: bit p stands for position p.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Positions(u64);

impl Positions {
    /// All positions of a body.
    pub const ALL: Self = Self((1 << BODY_LEN) - 1);

    /// Returns the positions where the first character of a literal may be.
    pub fn of(literal: &Literal) -> Self {
        match literal.place() {
            Place::Anywhere => Self::ALL,
            Place::Start => Self::only(0),
            Place::End => Self::only(BODY_LEN - literal.len()),
        }
    }

    /// Returns the positions whose bits are set. Ignores bits from [`BODY_LEN`] on.
    pub fn of_bits(bits: u64) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// Returns the set of `first` alone.
    pub fn only(first: usize) -> Self {
        Self(1 << first)
    }

    /// Returns the positions that are in either set.
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the positions that are in both sets.
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns these positions and the position after each.
    pub fn and_next(self) -> Self {
        Self((self.0 | self.0 << 1) & Self::ALL.0)
    }

    /// Returns the bits, the low half first.
    pub fn halves(self) -> [u32; 2] {
        [self.0 as u32, (self.0 >> 32) as u32]
    }

    /// Returns the positions in ascending order.
    pub fn each(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let next = (left != 0).then(|| left.trailing_zeros() as usize);
            left &= left.wrapping_sub(1);
            next
        })
    }
}
