//! Literals that stand at one end: one look-up of their characters there.

use super::bloom::{Bloom, spread};
use super::classes::Classes;
use super::costs::LOOK_UP_END;
use super::folded::{Folded, literal_window};
use super::run::Starts;
use crate::pattern::odds::Place;
use crate::pattern::syntax::Literal;
use crate::wire::{BODY_LEN, SIGN_POSITION, Target};

/// Which end, and of how many characters.
pub(super) type Window = (bool, usize);

/// The literals with the same window.
pub(super) struct AnchoredFilter {
    target: Target,
    window: Window,
    marks: Bloom,
    /// Where the literals begin.
    starts: Starts,
    literals: usize,
}

impl AnchoredFilter {
    /// The window of a literal that stands at one end: its first `most` characters, or at the end its last; `None` of others.
    pub(super) fn window_of(literal: &Literal, most: usize) -> Option<Window> {
        let count = literal.len().min(most);
        match literal.place() {
            Place::Anywhere => None,
            Place::Start => Some((false, count)),
            Place::End => Some((true, count)),
        }
    }

    /// For so many literals.
    pub(super) fn new(target: Target, window: Window, literals: usize) -> Self {
        Self { target, window, marks: Bloom::new(literals), starts: Starts::default(), literals }
    }

    pub(super) fn mark(&mut self, classes: &Classes, literal: &Literal) {
        let (at_end, count) = self.window;
        let (from, start) = if at_end { (literal.len() - count, BODY_LEN - literal.len()) } else { (0, 0) };
        self.marks.put(spread(literal_window(literal, classes, from, count)));
        self.starts = self.starts.or(Starts::only(start));
    }

    /// The share of random bytes that pass, if the literals were random.
    pub(super) fn hits(&self) -> f64 {
        let (_, count) = self.window;
        self.marks.share_by_chance() + self.literals as f64 / 2f64.powi(5 * count as i32 - 1)
    }

    pub(super) fn cost(&self) -> f64 {
        LOOK_UP_END
    }

    /// Adds to `starts` where a literal may begin in each of `texts`; in a key, with either sign.
    #[inline(always)]
    pub(super) fn starts(&self, texts: &[Folded], starts: &mut [Starts]) {
        let (at_end, count) = self.window;
        let first = if at_end { BODY_LEN - count } else { 0 };
        self.starts_with(texts, starts, |text| text.window(first, count, false));
        if self.target == Target::Key && first + count > SIGN_POSITION {
            self.starts_with(texts, starts, |text| text.window(first, count, true));
        }
    }

    #[inline(always)]
    fn starts_with(&self, texts: &[Folded], starts: &mut [Starts], window: impl Fn(&Folded) -> u64) {
        let marks = self.marks.view();
        for text in texts {
            marks.prefetch(spread(window(text)));
        }
        for (starts, text) in starts.iter_mut().zip(texts) {
            let may_have = marks.may_have(spread(window(text)));
            *starts = starts.or(if may_have { self.starts } else { Starts::default() });
        }
    }
}
