//! All literals of a list against batches of bytes.

use std::ops::{ControlFlow, RangeInclusive};

use super::choice::{of_literals, pairs_of};
use super::device_filter::DeviceFilter;
use super::four_gram_filter::{EachText, FourGramFilter};
use super::lookup::{Lookup, MOST_COUNT, SPREAD, prefix_hash};
use super::needle::{EachCandidate, Positions};
use super::pair_bitmap::PairBitmap;
use super::symbol_classes::{ClassText, SymbolClasses, literal_window};
use crate::odds::Place;
use crate::syntax::{Literal, PatternId};
use crate::wire::{BODY_LEN, Bytes, Symbols, Target, with_sign};
use ed25519_batch::simd::{InstructionSet, Scalar};

/// The compiled literals of a list.
pub struct Literals<'a> {
    literal: OfId<'a>,
    target: Target,
    classes: SymbolClasses,
    pairs: PairBitmap,
    four_grams: Option<FourGramFilter>,
    index: Lookup,
    /// Whether the list has words, whose needles begin one character earlier, at the delimiter.
    has_words: bool,
    /// The positions where a literal may begin.
    starts: Positions,
}

/// Returns the literal of an id.
pub type OfId<'a> = Box<dyn Fn(PatternId) -> Literal<'a> + Send + Sync + 'a>;

impl<'a> Literals<'a> {
    /// Compiles the literals with these ids. All of them must be about `target`.
    pub fn new(set: InstructionSet, target: Target, ids: &[PatternId], literal: OfId<'a>) -> Self {
        let each = || ids.iter().map(|id| literal(*id));
        let sets = distinct_sets(each());
        let classes = SymbolClasses::new(sets.iter().copied());
        let most = most_characters(each(), COUNTS, BY_CHANCE);
        let starts = each().fold(Positions::default(), |starts, literal| starts.or(Positions::of(&literal)));
        let are_exact = sets.iter().all(|set| classes.has(*set));
        let by_classes = |literal: &Literal| {
            are_exact && literal.delimiters().is_none() && Positions::of(literal) == starts
        };
        let index = Lookup::new(&classes, most, ids.iter().map(|id| (*id, literal(*id))), by_classes);
        let (pairs, four_grams) = of_literals(set, target, &classes, most, index.look_ups(), each());
        let has_words = each().any(|literal| literal.delimiters().is_some());
        Self { literal, target, classes, pairs, four_grams, index, has_words, starts }
    }

    /// Calls `each` with every element of `batch` that shows a literal, by its index. Tests keys
    /// with either sign.
    pub fn candidates(&self, batch: &[Bytes], each: EachCandidate) {
        let (either_sign, hashes, has_words) =
            (self.target == Target::Key, self.index.prefix_hashes(), self.has_words);
        let allowed = self.starts;
        self.texts(batch, &mut |candidates, texts, starts| {
            for ((&candidate, text), starts) in candidates.iter().zip(texts).zip(starts) {
                let mut starts = if has_words { starts.and_next() } else { *starts }.and(allowed).each();
                let shown = starts.any(|start| {
                    hashes.any_at(text, start, either_sign, |hash| {
                        self.is_shown(&batch[candidate], text, start, hash)
                    })
                });
                if shown {
                    each(candidate);
                }
            }
        });
    }

    /// Calls `each` for parts of `batch`, in ascending order, with the candidates of the chosen
    /// filters.
    pub fn texts(&self, batch: &[Bytes], each: EachText) {
        match &self.four_grams {
            None => self.pairs.candidates(batch, &mut |candidate| {
                let bytes = &batch[candidate];
                let text = ClassText::new(Scalar::plain(), self.classes.of_values(), self.target, bytes);
                each(&[candidate], &[text], &[Positions::ALL]);
            }),
            Some(four_grams) if self.pairs.is_none() => four_grams.candidates(batch, each),
            Some(four_grams) => {
                let (candidates, bytes) = self.pairs.copied(batch);
                let mut of_some = Vec::new();
                four_grams.candidates(&bytes, &mut |some, texts, starts| {
                    of_some.clear();
                    of_some.extend(some.iter().map(|at| candidates[*at]));
                    each(&of_some, texts, starts);
                });
            }
        }
    }

    /// Returns whether a literal with this prefix hash begins at `start`. Tests a key with either
    /// sign. Reads the literals themselves only where their first characters do not decide, because
    /// their memory is rarely in a cache.
    #[inline(never)]
    fn is_shown(&self, bytes: &Bytes, text: &ClassText, start: usize, hash: u64) -> bool {
        let is_shown_with = |sign: bool| {
            self.index.ids_at(hash, text, start, sign).any(|(id, is_decided)| {
                let with = if sign { with_sign(*bytes) } else { *bytes };
                is_decided || (self.literal)(id).stands(&with, start)
            })
        };
        is_shown_with(false) || self.target == Target::Key && is_shown_with(true)
    }

    /// Adds the clause for a device: the pair bitmap, if it pays, and the Bloom filter.
    pub fn write(&self, filter: &mut DeviceFilter) {
        // The literals lie in memory in the order of the list.
        let mut ids: Vec<PatternId> = self.index.ids().collect();
        ids.sort_unstable();
        let each = || ids.iter().map(|id| (self.literal)(*id));
        filter.add(Some(&pairs_of(self.target, each())), |words| self.write_bloom(each(), words), |_| {});
    }

    /// Appends the words of the Bloom filter: the positions where literals may begin, the numbers of
    /// characters that are looked up, four bits for each, the shift that leaves the place of a hash, the
    /// mask of the characters in the sieve, the class of every symbol, the filter itself, and its sieve. A
    /// word of the filter holds four bits of each of its hashes. The sieve has a bit for the first
    /// characters of each literal, as many as all have, at most four.
    fn write_bloom<'b>(
        &self,
        each: impl ExactSizeIterator<Item = Literal<'b>> + Clone,
        words: &mut Vec<u32>,
    ) {
        let most = most_characters(each.clone(), COUNTS_ON_A_DEVICE, BY_CHANCE_ON_A_DEVICE);
        let room = (WORDS_ON_A_DEVICE * each.len()).min(MOST_WORDS_ON_A_DEVICE).max(each.len() / 2);
        let (mut bloom, mut sieve) =
            (vec![0; room.next_power_of_two().max(2)], [0; DeviceFilter::SIEVE_WORDS]);
        let shift = 64 - bloom.len().ilog2();
        let mut present = [false; MOST_COUNT + 1];
        let least = each.clone().map(|literal| literal.len()).min().unwrap_or(1).min(IN_SIEVE);
        for literal in each {
            let count = literal.len().min(most);
            present[count] = true;
            let place = place_in_sieve(literal_window(&literal, &self.classes, 0, least) as u32);
            sieve[place / 32] |= 1 << (place % 32);
            let hash = prefix_hash(literal_window(&literal, &self.classes, 0, count), count);
            let bit = |at: u32| 1u32 << (hash >> at & 31);
            bloom[(hash >> shift) as usize] |= bit(16) | bit(21) | bit(26) | bit(31);
        }
        let counts = (1..=MOST_COUNT).filter(|count| present[*count]);
        let counts = counts.fold(0, |counts, count| counts << 4 | count as u32);
        words.extend(self.starts.halves());
        words.extend([counts, shift, u32::MAX >> (8 * (IN_SIEVE - least))]);
        words.extend(self.classes.of_values().as_chunks().0.iter().map(|four| u32::from_le_bytes(*four)));
        words.extend(bloom.into_iter().chain(sieve));
    }

    /// Calls `each` with every literal that `bytes` show, once for every place.
    pub fn all_shown(
        &self,
        bytes: &Bytes,
        mut each: impl FnMut(PatternId) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let text = ClassText::new(Scalar::plain(), self.classes.of_values(), self.target, bytes);
        for start in self.starts.each() {
            let mut flow = ControlFlow::Continue(());
            self.index.prefix_hashes().any_at(&text, start, false, |hash| {
                let shown = |id: &PatternId| (self.literal)(*id).stands(bytes, start);
                let ids = self.index.ids_at(hash, &text, start, false).map(|(id, _)| id);
                flow = ids.filter(shown).try_for_each(&mut each);
                flow.is_break()
            });
            flow?;
        }
        ControlFlow::Continue(())
    }
}

/// Returns how many characters of a literal are looked up at most: the least of `counts` with which
/// fewer than `few` literals are found by chance in a random text, or else the last. A smaller
/// number needs fewer look-ups, because all longer literals share one.
fn most_characters<'a>(
    literals: impl Iterator<Item = Literal<'a>>,
    counts: RangeInclusive<usize>,
    few: f64,
) -> usize {
    // Where case is ignored, one of 32 characters fits.
    let mut by_chance = [0.0; MOST_COUNT + 1];
    for literal in literals {
        let places = if literal.place() == Place::Anywhere { BODY_LEN as f64 } else { 1.0 };
        for (count, by_chance) in by_chance.iter_mut().enumerate().take(literal.len() + 1) {
            *by_chance += places / 32f64.powi(count as i32);
        }
    }
    let last = *counts.end();
    counts.into_iter().find(|count| by_chance[*count] < few).unwrap_or(last)
}

/// The numbers of characters that may be looked up, and the most literals that may be found by
/// chance.
const COUNTS: RangeInclusive<usize> = 4..=6;
const BY_CHANCE: f64 = 0.02;

/// The same for a device. It tries a hundred times as many keys, and its host tests every key that
/// is found.
const COUNTS_ON_A_DEVICE: RangeInclusive<usize> = 4..=MOST_COUNT;
const BY_CHANCE_ON_A_DEVICE: f64 = 1e-4;

/// The words in a device's Bloom filter for each literal. They are so many that only one other number of
/// 130,000 is found.
const WORDS_ON_A_DEVICE: usize = 32;

/// The most words: 16 MiB, for the cache of a device. With a million literals, one other number of
/// 16,000 is found.
const MOST_WORDS_ON_A_DEVICE: usize = 1 << 22;

/// The most characters of a literal in the sieve of a device: one word.
const IN_SIEVE: usize = 4;

/// Returns the place of the classes of some characters in the sieve of a device.
pub fn place_in_sieve(classes: u32) -> usize {
    let bits = (32 * DeviceFilter::SIEVE_WORDS).ilog2();
    (classes.wrapping_mul(SPREAD as u32) >> (32 - bits)) as usize
}

/// Returns every set of symbols that a character of the literals matches, each once.
pub fn distinct_sets<'a>(literals: impl Iterator<Item = Literal<'a>>) -> Vec<Symbols> {
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
