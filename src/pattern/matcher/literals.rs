//! All literals of a list against batches of bytes.

use std::ops::ControlFlow;

use super::bloom::Bloom;
use super::classes::Classes;
use super::folded::{Folded, literal_window};
use super::literal_filter::{LiteralFilter, windows_of};
use super::lookup::{Lookup, prefix_hash};
use super::run::Starts;
use super::stage::EachPlace;
use super::window_filter::WindowFilter;
use crate::pattern::odds::Place;
use crate::pattern::syntax::{Literal, Pattern, PatternId};
use crate::simd::Scalar;
use crate::wire::{BODY_LEN, Bytes, Symbols, Target, with_sign};

/// The literals of a list, compiled.
pub(super) struct Literals<'a> {
    patterns: &'a [Pattern],
    target: Target,
    classes: Classes,
    filter: LiteralFilter,
    index: Lookup,
    /// Whether there are words, whose runs begin one character before them.
    words: bool,
    /// Where a literal may begin.
    starts: Starts,
}

impl<'a> Literals<'a> {
    /// Compiles those of `patterns` that have these ids, all of them literals about `target`.
    pub(super) fn new(target: Target, patterns: &'a [Pattern], ids: &[PatternId]) -> Self {
        let literal = |id: PatternId| patterns[id].literal();
        let each = || ids.iter().map(|id| literal(*id));
        let classes = Classes::new(distinct_sets(each()));
        let most = most_characters(each(), BY_CHANCE);
        let index = Lookup::new(&classes, most, ids.iter().map(|id| (*id, literal(*id))));
        let filter = LiteralFilter::new(target, &classes, most, index.look_ups(), each());
        let starts = each().fold(Starts::default(), |starts, literal| starts.or(Starts::of(&literal)));
        let words = each().any(|literal| literal.delimiters().is_some());
        Self { patterns, target, classes, filter, index, words, starts }
    }

    /// Calls `each` with the place of every element of `batch` that shows a literal; a key with either sign.
    pub(super) fn survivors(&self, batch: &[Bytes], each: EachPlace) {
        let (either_sign, keys, follow) =
            (self.target == Target::Key, self.index.prefix_hashes(), self.words);
        let allowed = self.starts;
        self.filter.survivors(&self.classes, batch, &mut |places, texts, starts| {
            for ((&place, text), starts) in places.iter().zip(texts).zip(starts) {
                let mut starts = if follow { starts.and_next() } else { *starts }.and(allowed).each();
                let shown = starts.any(|start| {
                    keys.any_at(text, start, either_sign, |key| self.is_shown(&batch[place], start, key))
                });
                if shown {
                    each(place);
                }
            }
        });
    }

    /// Whether a literal of this key begins at `start`; in a key, with either sign.
    #[inline(never)]
    fn is_shown(&self, bytes: &Bytes, start: usize, key: u64) -> bool {
        let shows = |literal: Literal, bytes: &Bytes| literal.stands(bytes, start);
        let with_sign = (self.target == Target::Key).then(|| with_sign(*bytes));
        self.index.ids_of(key).any(|id| {
            let literal = self.patterns[id].literal();
            shows(literal, bytes) || with_sign.as_ref().is_some_and(|bytes| shows(literal, bytes))
        })
    }

    /// What a device tests first, if that pays.
    pub(super) fn rows(&self) -> WindowFilter {
        windows_of(self.target, self.each())
    }

    /// Adds what a device looks up: where literals may begin, a bit for each number of characters that is looked up, the shift and
    /// the words of their marks, and between these the class of every symbol.
    pub(super) fn write(&self, words: &mut Vec<u32>) {
        let most = most_characters(self.each(), BY_CHANCE_ON_A_DEVICE);
        let mut marks = Bloom::new(self.each().count().max(LEAST_ON_A_DEVICE));
        let mut counts = 0;
        for literal in self.each() {
            let count = literal.len().min(most);
            counts |= 1 << count;
            marks.put(prefix_hash(literal_window(&literal, &self.classes, 0, count), count));
        }
        let mut bitmap = Vec::new();
        let shift = marks.write(&mut bitmap);
        words.extend([self.starts.halves(), [counts, shift]].concat());
        words.extend(self.classes.of_values().as_chunks().0.iter().map(|four| u32::from_le_bytes(*four)));
        words.append(&mut bitmap);
    }

    fn each(&self) -> impl Iterator<Item = Literal<'a>> + Clone {
        self.index.ids().map(|id| self.patterns[id].literal())
    }

    /// Calls `each` with every literal that `bytes` show, once for every place.
    pub(super) fn all_shown(
        &self,
        bytes: &Bytes,
        mut each: impl FnMut(PatternId) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let text = Folded::new(Scalar::plain(), self.classes.of_values(), self.target, bytes);
        for start in self.starts.each() {
            let mut flow = ControlFlow::Continue(());
            self.index.prefix_hashes().any_at(&text, start, false, |key| {
                let shown = |id: &PatternId| self.patterns[*id].literal().stands(bytes, start);
                flow = self.index.ids_of(key).filter(shown).try_for_each(&mut each);
                flow.is_break()
            });
            flow?;
        }
        ControlFlow::Continue(())
    }
}

/// How many characters of a literal are looked up at most: 4 to 6, and no more than it takes for so few random texts to be found
/// by chance. With fewer there are fewer look-ups, because longer literals are looked up together.
fn most_characters<'a>(literals: impl Iterator<Item = Literal<'a>>, few: f64) -> usize {
    // Where case is ignored, one of 32 characters fits.
    let mut by_chance = [0.0; MOST_CHARACTERS + 1];
    for literal in literals {
        let places = if literal.place() == Place::Anywhere { BODY_LEN as f64 } else { 1.0 };
        for (count, by_chance) in by_chance.iter_mut().enumerate().take(literal.len() + 1) {
            *by_chance += places / 32f64.powi(count as i32);
        }
    }
    (LEAST_CHARACTERS..MOST_CHARACTERS).find(|count| by_chance[*count] < few).unwrap_or(MOST_CHARACTERS)
}

/// The bounds of [`most_characters`], and how many literals may be found by chance.
const LEAST_CHARACTERS: usize = 4;
const MOST_CHARACTERS: usize = 6;
const BY_CHANCE: f64 = 0.02;

/// The same of a device, whose host looks at all that are found: it tries a hundred times as many keys.
const BY_CHANCE_ON_A_DEVICE: f64 = 1e-4;

/// The numbers that a device's marks have room for at least, 512 bytes: few others are then found.
const LEAST_ON_A_DEVICE: usize = 256;

/// The most characters that are looked up.
pub(super) const MOST_COUNT: usize = MOST_CHARACTERS;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Style;

    #[test]
    fn the_sets_of_every_reading_are_distinct() {
        let readings = (0..4).map(|reading| Style {
            case_sensitive: reading & 1 == 1,
            leet: reading & 2 == 2,
            ..Style::default()
        });
        let readings: Vec<Style> = readings.collect();
        let literals = readings.iter().flat_map(|style| ["aa", "a+"].map(|text| Literal::of(text, *style)));
        let mut sets: Vec<String> =
            distinct_sets(literals).iter().map(|set| set.bytes().map(char::from).collect()).collect();
        sets.sort();
        assert_eq!(sets, ["+", "Aa", "Aa4", "a", "a4"]);
    }
}
