//! Classes of symbols that no literal of a list distinguishes, and texts folded into them: one byte
//! for each character, the number of its class.
//!
//! Where case is ignored, `a` and `A` form a class. The symbols that no literal holds form another
//! one.

use crate::syntax::Literal;
use crate::wire::{BODY_LEN, Bytes, SIGN_POSITION, SIGN_VALUE, SYMBOL_BITS, Symbols, Target};
use ed25519_batch::simd::Bytes64;

/// The number of values that a symbol has.
const VALUES: usize = 1 << SYMBOL_BITS;

/// The bit that is added to the class of symbols that no literal holds: the highest one.
pub const UNUSED: u8 = 0x80;

/// A partition of the 64 symbols.
pub struct SymbolClasses {
    /// The number of classes.
    count: u8,
    /// The class of each symbol, by its value, with [`UNUSED`] added.
    of_values: [u8; VALUES],
    /// The share of the symbols that each class holds.
    shares: Vec<f64>,
}

impl SymbolClasses {
    /// Makes the finest partition in which each of `sets` lies within one class.
    pub fn new(sets: impl IntoIterator<Item = Symbols>) -> Self {
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
    pub fn count(&self) -> u8 {
        self.count
    }

    /// Returns the class of each symbol, by its value, with [`UNUSED`] added.
    #[inline(always)]
    pub fn of_values(&self) -> &[u8; VALUES] {
        &self.of_values
    }

    /// Returns the class of the symbol with this value, with [`UNUSED`] added.
    pub fn of(&self, value: u8) -> u8 {
        self.of_values[usize::from(value)]
    }

    /// Returns whether a class has just these symbols.
    pub fn has(&self, symbols: Symbols) -> bool {
        symbols.first().is_some_and(|first| {
            let class = self.of(first);
            (0..VALUES).all(|value| (self.of_values[value] == class) == symbols.has(value as u8))
        })
    }

    /// Returns whether some symbols occur in no literal. Their class is the last one.
    pub fn has_unused(&self) -> bool {
        self.of_values.iter().any(|class| class & UNUSED != 0)
    }

    /// Returns the share of the 64 symbols that belong to a class.
    pub fn share(&self, class: u8) -> f64 {
        self.shares[usize::from(class & !UNUSED)]
    }
}

/// The number of characters in a vector.
const LANES: usize = 64;

/// The offset of the copy of the last eight characters, which holds the sign: character 36 is byte
/// 44.
const REPEATED: usize = 8;

const _: () = assert!(BODY_LEN == 43 && SIGN_POSITION == 41);

/// The bit that sets the sign in the copy, for keys.
const SIGN: [u8; LANES] = {
    let mut bytes = NO_SIGN;
    bytes[SIGN_POSITION + REPEATED] = SIGN_VALUE;
    bytes
};

/// The same for fingerprints, which have no sign.
const NO_SIGN: [u8; LANES] = [0; LANES];

/// A text, and a copy of its last eight characters. In the copy of a key, the sign is set.
#[derive(Clone, Copy)]
pub struct ClassText([u8; LANES]);

impl ClassText {
    /// A text of zeros.
    pub const NONE: Self = Self([0; LANES]);

    /// Folds the text that shows `bytes`. `table` has the class of each symbol, by its value.
    #[inline(always)]
    pub fn new<S: Bytes64>(simd: S, table: &[u8; LANES], target: Target, bytes: &Bytes) -> Self {
        let mut folded = Self::NONE;
        folded.set(simd, Self::vector(simd, table, target, bytes));
        folded
    }

    /// Folds a text as [`Self::new`] does, and leaves it in a vector.
    #[inline(always)]
    pub fn vector<S: Bytes64>(simd: S, table: &[u8; LANES], target: Target, bytes: &Bytes) -> S::Vector64 {
        let sign = if target == Target::Key { &SIGN } else { &NO_SIGN };
        let values = simd.or_bytes(simd.sextets(bytes, target.lead() as u32), simd.load_bytes(sign));
        simd.look_up(table, values)
    }

    /// Writes a folded text.
    #[inline(always)]
    pub fn set<S: Bytes64>(&mut self, simd: S, vector: S::Vector64) {
        simd.store_bytes(vector, &mut self.0);
    }

    /// Reads the folded text.
    #[inline(always)]
    pub fn get<S: Bytes64>(&self, simd: S) -> S::Vector64 {
        simd.load_bytes(&self.0)
    }

    /// Returns the classes of `count` characters from `start` on, up to 8, as `window` packs
    /// them. `sign` selects the sign of a key.
    #[inline(always)]
    pub fn window(&self, start: usize, count: usize, sign: bool) -> u64 {
        let bytes = &self.0;
        let mut window = bytes[start..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        if sign && (start..start + 8).contains(&SIGN_POSITION) {
            let down = 8 * (SIGN_POSITION - start);
            window &= !(0xff << down);
            window |= u64::from(bytes[SIGN_POSITION + REPEATED]) << down;
        }
        window & u64::MAX >> (64 - 8 * count)
    }
}

/// Returns the classes of `count` characters of a literal from `from` on, up to 8. The result
/// equals [`ClassText::window`] of a text that shows the literal.
pub fn literal_window(literal: &Literal, classes: &SymbolClasses, from: usize, count: usize) -> u64 {
    let class = |byte: &u8| classes.of(literal.accepts(*byte).first().unwrap_or_default());
    window(literal.text()[from..from + count].iter().map(class))
}

/// Packs up to 8 classes into a number, the first one lowest.
fn window(classes: impl DoubleEndedIterator<Item = u8>) -> u64 {
    classes.rev().fold(0, |window, class| window << 8 | u64::from(class))
}
