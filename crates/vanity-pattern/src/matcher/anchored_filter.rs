//! A filter for literals at one end of the text: one look-up of the characters there.

use super::lookup::{Bloom, spread};
use super::needle::Positions;
use super::symbol_classes::{ClassText, SymbolClasses, UNUSED, literal_window};
use crate::odds::Place;
use crate::syntax::Literal;
use crate::wire::{BODY_LEN, SIGN_POSITION, Target};

/// The most texts that are tested together, so that prefetched memory arrives before it is read.
pub const GROUP: usize = 128;

/// The characters that are looked up: whether they are at the end of the text, and how many.
pub type Window = (bool, usize);

/// A filter for all literals with the same window.
pub struct AnchoredFilter {
    target: Target,
    window: Window,
    bloom: Bloom,
    /// The positions where the literals begin.
    starts: Positions,
    literals: usize,
}

impl AnchoredFilter {
    /// Returns the window of a literal at one end: at most `most` characters, the first ones at the
    /// start and the last ones at the end. `None` for a literal that may be anywhere.
    pub fn window_of(literal: &Literal, most: usize) -> Option<Window> {
        let count = literal.len().min(most);
        match literal.place() {
            Place::Anywhere => None,
            Place::Start => Some((false, count)),
            Place::End => Some((true, count)),
        }
    }

    /// Makes an empty filter with room for `literals`.
    pub fn new(target: Target, window: Window, literals: usize) -> Self {
        Self { target, window, bloom: Bloom::new(literals), starts: Positions::default(), literals }
    }

    /// Returns the window of its literals.
    pub fn window(&self) -> Window {
        self.window
    }

    /// Adds a literal, whose window must be the window of this filter.
    pub fn mark(&mut self, classes: &SymbolClasses, literal: &Literal) {
        let (at_end, count) = self.window;
        let (from, start) = if at_end { (literal.len() - count, BODY_LEN - literal.len()) } else { (0, 0) };
        self.bloom.put(spread(literal_window(literal, classes, from, count)));
        self.starts = self.starts.or(Positions::only(start));
    }

    /// Estimates the share of random bytes that pass, as if the literals were random.
    pub fn candidate_places(&self) -> f64 {
        let (_, count) = self.window;
        self.bloom.share_by_chance() + self.literals as f64 / 2f64.powi(5 * count as i32 - 1)
    }

    /// Adds to `starts` the positions where a literal may begin in each of `texts`. Looks up keys
    /// with either sign. There must not be more than [`GROUP`] texts.
    #[inline(always)]
    pub fn starts(&self, texts: &[ClassText], starts: &mut [Positions]) {
        let (at_end, count) = self.window;
        let first = if at_end { BODY_LEN - count } else { 0 };
        self.starts_with(texts, starts, |text| text.window(first, count, false));
        if self.target == Target::Key && first + count > SIGN_POSITION {
            self.starts_with(texts, starts, |text| text.window(first, count, true));
        }
    }

    /// Looks up the windows without a symbol that no literal holds. It asks for the memory of all
    /// of them before it reads that of the first.
    #[inline(always)]
    fn starts_with(&self, texts: &[ClassText], starts: &mut [Positions], window: impl Fn(&ClassText) -> u64) {
        let bloom = self.bloom.view();
        let (mut hashes, mut places, mut kept) = ([0; GROUP], [0; GROUP], 0);
        for (place, text) in texts.iter().enumerate() {
            let window = window(text);
            (hashes[kept], places[kept]) = (spread(window), place);
            kept += usize::from(window & UNUSED_ANYWHERE == 0);
        }
        for hash in &hashes[..kept] {
            bloom.prefetch(*hash);
        }
        for (place, hash) in places[..kept].iter().zip(&hashes) {
            let found = if bloom.may_have(*hash) { self.starts } else { Positions::default() };
            starts[*place] = starts[*place].or(found);
        }
    }
}

/// The bit of symbols that no literal holds, in every character of a window.
const UNUSED_ANYWHERE: u64 = u64::from_le_bytes([UNUSED; 8]);
