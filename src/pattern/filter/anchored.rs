//! Literals that stand at one end: one look-up of their characters there.

use crate::pattern::chance::Place;
use crate::pattern::classes::Classes;
use crate::pattern::literal::Literal;
use crate::pattern::marks::{Marks, spread};
use crate::wire::{BODY_LEN, Bytes, SIGN_POSITION, Subject, with_sign};

/// About what a look-up costs in nanoseconds, where the marks are in a cache.
const COST: f64 = 6.0;

/// Which end, and of how many characters.
pub(super) type Window = (bool, usize);

/// The literals with the same window.
pub(super) struct Anchored {
    subject: Subject,
    window: Window,
    marks: Marks,
    /// Where the literals begin.
    starts: u64,
    literals: usize,
}

impl Anchored {
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
    pub(super) fn new(subject: Subject, window: Window, literals: usize) -> Self {
        Self { subject, window, marks: Marks::new(literals), starts: 0, literals }
    }

    pub(super) fn mark(&mut self, classes: &Classes, literal: &Literal) {
        let (at_end, count) = self.window;
        let (from, start) = if at_end { (literal.len() - count, BODY_LEN - literal.len()) } else { (0, 0) };
        self.marks.put(spread(classes.code(literal.window(from, count), count)));
        self.starts |= 1 << start;
    }

    /// The share of random bytes that pass, if the literals were random.
    pub(super) fn hits(&self) -> f64 {
        let (_, count) = self.window;
        self.marks.share_by_chance() + self.literals as f64 / 2f64.powi(5 * count as i32 - 1)
    }

    pub(super) fn cost(&self) -> f64 {
        COST
    }

    /// Adds to `starts` where a literal may begin in each of `some`; in a key, with either sign.
    pub(super) fn starts<const N: usize>(&self, classes: &Classes, some: &[Bytes], starts: &mut [u64; N]) {
        let (at_end, count) = self.window;
        let first = if at_end { BODY_LEN - count } else { 0 };
        let code = |bytes: &Bytes| spread(classes.code(self.subject.window(bytes, first, count), count));
        let mut codes = [0; N];
        for (spread, bytes) in codes.iter_mut().zip(some) {
            *spread = code(bytes);
            self.marks.prefetch(*spread);
        }
        for ((starts, code), _) in starts.iter_mut().zip(codes).zip(some) {
            *starts |= if self.marks.may_have(code) { self.starts } else { 0 };
        }
        if self.subject == Subject::Key && first + count > SIGN_POSITION {
            for (starts, bytes) in starts.iter_mut().zip(some) {
                *starts |= if self.marks.may_have(code(&with_sign(*bytes))) { self.starts } else { 0 };
            }
        }
    }
}
