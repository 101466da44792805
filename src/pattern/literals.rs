//! All literals of a list against batches of bytes.

use std::ops::ControlFlow;

use super::Pattern;
use super::chance::Place;
use super::classes::Classes;
use super::filter::{Filter, Starts};
use super::index::Index;
use super::literal::Literal;
use super::matcher::PatternId;
use crate::wire::{BODY_LEN, Bytes, SIGN_POSITION, Subject, Symbols, with_sign};

/// The literals of a list, compiled.
pub(super) struct Literals<'a> {
    patterns: &'a [Pattern],
    subject: Subject,
    classes: Classes,
    filter: Filter,
    index: Index,
    /// Whether there are words, whose runs begin one character before them.
    words: bool,
    /// Where a literal may begin.
    starts: Starts,
    /// Where one may begin that shows the sign.
    reach_sign: Starts,
}

impl<'a> Literals<'a> {
    /// Compiles those of `patterns` that have these ids, all of them literals about `subject`.
    pub(super) fn new(subject: Subject, patterns: &'a [Pattern], ids: &[PatternId]) -> Self {
        let literal = |id: PatternId| patterns[id].literal();
        let each = || ids.iter().map(|id| literal(*id));
        let classes = Classes::new(distinct_sets(each()));
        let most = most_characters(each());
        let index = Index::new(&classes, most, ids.iter().map(|id| (*id, literal(*id))));
        let filter = Filter::new(subject, &classes, most, index.look_ups(), each());
        let starts = each().fold(Starts::default(), |starts, literal| starts.or(literal.starts()));
        let words = each().any(|literal| literal.delimiters().is_some());
        let longest = each().map(|literal| literal.len()).max().unwrap_or(0);
        // A word's delimiter counts with it.
        let reach_sign = Starts::from(SIGN_POSITION.saturating_sub(longest));
        Self { patterns, subject, classes, filter, index, words, starts, reach_sign }
    }

    /// Calls `each` with the place of every element of `batch` that shows a literal; a key with either sign.
    pub(super) fn survivors(&self, batch: &[Bytes], each: &mut dyn FnMut(usize)) {
        self.filter.survivors(&self.classes, batch, &mut |place, starts| {
            let bytes = &batch[place];
            let starts = if self.words { starts.and_next() } else { starts }.and(self.starts);
            let shown = self.is_shown(bytes, starts)
                || self.subject == Subject::Key
                    && self.is_shown(&with_sign(*bytes), starts.and(self.reach_sign));
            if shown {
                each(place);
            }
        });
    }

    /// Whether a literal begins at one of `starts`.
    fn is_shown(&self, bytes: &Bytes, starts: Starts) -> bool {
        self.shown(bytes, starts, |_| ControlFlow::Break(())).is_break()
    }

    /// Calls `each` with every literal that is shown, once for every place.
    pub(super) fn all_shown(
        &self,
        bytes: &Bytes,
        each: impl FnMut(PatternId) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.shown(bytes, self.starts, each)
    }

    /// The same where one begins at one of `starts`.
    fn shown(
        &self,
        bytes: &Bytes,
        starts: Starts,
        mut each: impl FnMut(PatternId) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for start in starts.each() {
            self.index.each_at(&self.classes, self.subject, bytes, start, |id| {
                if self.patterns[id].literal().stands(bytes, start) {
                    each(id)
                } else {
                    ControlFlow::Continue(())
                }
            })?;
        }
        ControlFlow::Continue(())
    }
}

/// How many characters of a literal are looked up at most: 4 to 6, and no more than it takes for few random texts to be found by
/// chance. With fewer there are fewer look-ups, because longer literals are looked up together.
fn most_characters<'a>(literals: impl Iterator<Item = Literal<'a>>) -> usize {
    // Where case is ignored, one of 32 characters fits.
    let mut by_chance = [0.0; MOST_CHARACTERS + 1];
    for literal in literals {
        let places = if literal.place() == Place::Anywhere { BODY_LEN as f64 } else { 1.0 };
        for (count, by_chance) in by_chance.iter_mut().enumerate().take(literal.len() + 1) {
            *by_chance += places / 32f64.powi(count as i32);
        }
    }
    (LEAST_CHARACTERS..MOST_CHARACTERS).find(|count| by_chance[*count] < BY_CHANCE).unwrap_or(MOST_CHARACTERS)
}

/// The bounds of [`most_characters`], and how many literals may be found by chance.
const LEAST_CHARACTERS: usize = 4;
const MOST_CHARACTERS: usize = 6;
const BY_CHANCE: f64 = 0.02;

/// The sets of symbols that characters of the literals stand for, each once.
fn distinct_sets<'a>(literals: impl Iterator<Item = Literal<'a>>) -> Vec<Symbols> {
    let mut sets = std::collections::HashSet::new();
    let mut seen = [[false; 256]; 4];
    for literal in literals {
        let seen = &mut seen[literal.reading()];
        for &byte in literal.text() {
            if !std::mem::replace(&mut seen[usize::from(byte)], true) {
                sets.insert(literal.accepts(byte));
            }
        }
        sets.extend(literal.delimiters());
    }
    sets.into_iter().collect()
}
