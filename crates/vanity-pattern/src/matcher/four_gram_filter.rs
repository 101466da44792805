//! A filter for long lists of literals: four characters at a time, folded into classes.
//!
//! The characters are read in pairs: 0 and 1, 2 and 3, and so on. Two neighboring pairs are a
//! *four-gram*, so four-grams begin at all even places. Every literal of five characters or more
//! holds a whole four-gram, wherever it begins: from its first character at an even place, from its
//! second at an odd one. Shorter literals fill a four-gram only in part. They are marked with every
//! class that the other characters of the four-gram may have. One bitmap holds the marks of all
//! places. A list of letters, with case ignored (26 classes), uses 112 KiB of it, and the most is
//! 512 KiB.
//!
//! Literals at one end are not marked here but looked up by `anchored_filter`.
//!
//! A text is folded in one vector of bytes, or in two. Weighted sums of neighboring bytes are the
//! numbers of its four-grams. That leaves 23 look-ups for a key with both signs. Four-grams with a
//! symbol that no literal holds are skipped, usually more than half.

use super::anchored_filter::{AnchoredFilter, GROUP};
use super::lookup::MOST_COUNT;
use super::needle::{Needle, Positions};
use super::symbol_classes::{ClassText, SymbolClasses, UNUSED};
use crate::odds::Place;
use crate::syntax::Literal;
use crate::wire::{Bytes, QUADS, Target};
use ed25519_batch::simd::{Bytes64, InstructionSet, Words as _, prefetch, with_set};

/// The pairs of characters of a text. The last pair is half empty.
const PAIRS: usize = 2 * QUADS;

/// The number of four-grams in the bitmap, as a power of two: 512 KiB. Lists with fewer different
/// four-grams use only its beginning.
const MOST_FOUR_GRAMS: u32 = 21;

/// The bitmap, with two bits for each four-gram: whether a literal that shows it may begin there,
/// and whether one may begin beside it. Its type holds the size, so that no look-up needs a bounds
/// check.
type Bitmap = [u32; 1 << (MOST_FOUR_GRAMS - 4)];

/// The most words of the bitmap that are prefetched before a batch: 128 KiB.
const MOST_FETCHED: usize = 1 << 15;

/// The smallest batch for which the prefetch pays.
const LARGE_BATCH: usize = 512;

/// A callback that takes some candidates, the folded text of each, and the positions where a
/// literal may begin in each.
pub type EachText<'a> = &'a mut dyn FnMut(&[usize], &[ClassText], &[Positions]);

/// The marks of all four-grams that show a literal.
pub struct FourGramFilter {
    target: Target,
    /// The instruction set that folds texts.
    set: InstructionSet,
    /// The class of each symbol, by its value. The class of symbols that no literal holds has
    /// [`UNUSED`] added, unless four-grams with such symbols are marked.
    table: [u8; 64],
    /// The number of classes that may be marked, and the number of their pairs. The number of a
    /// pair is `classes` times the first class, plus the second. The number of a four-gram is
    /// `pairs` times the first pair, plus the second, modulo the size of the bitmap.
    classes: u8,
    pairs: u16,
    /// `None` if every literal is at one end.
    bitmap: Option<Box<Bitmap>>,
    /// Whether a literal that shows a four-gram and begins beside it may begin one place before it,
    /// and one place after it.
    beside: [bool; 2],
    /// The mean number of places that pass in random bytes.
    candidate_places: f64,
    /// The filters of literals at one end.
    anchored: Vec<AnchoredFilter>,
}

impl FourGramFilter {
    /// Marks the literals. Returns `None` for a list with a literal of one character, which nearly
    /// every text shows.
    pub fn new<'a>(
        set: InstructionSet,
        target: Target,
        classes: &SymbolClasses,
        most: usize,
        literals: impl Iterator<Item = Literal<'a>> + Clone,
    ) -> Option<Self> {
        let movable = literals.clone().filter(|literal| literal.place() == Place::Anywhere);
        let movable = movable.map(|literal| Needle::of(&literal));
        if movable.clone().any(|needle| needle.symbols.len() == 1) {
            return None;
        }
        let anchored = anchored(target, classes, most, literals);
        let candidate_places = anchored.iter().map(AnchoredFilter::candidate_places).sum();
        let marks_unused = movable.clone().any(|needle| needle.symbols.len() < 5) && classes.has_unused();
        let count = classes.count() - u8::from(classes.has_unused() && !marks_unused);
        let pairs = u16::from(count) * u16::from(count);
        let table = classes.of_values().map(|class| if marks_unused { class & !UNUSED } else { class });
        let mut four_grams = Self {
            target,
            set,
            classes: count,
            pairs,
            bitmap: None,
            table,
            beside: [false; 2],
            candidate_places,
            anchored,
        };
        if movable.clone().next().is_some() {
            four_grams.mark_all(classes, movable);
        }
        Some(four_grams)
    }

    /// Returns the mean number of places that must be looked up in random bytes.
    pub fn candidate_places(&self) -> f64 {
        self.candidate_places
    }

    /// Returns whether some literals may be anywhere.
    pub fn has_bitmap(&self) -> bool {
        self.bitmap.is_some()
    }

    /// Returns the number of filters of literals at one end.
    pub fn ends(&self) -> usize {
        self.anchored.len()
    }

    fn mark_all(&mut self, classes: &SymbolClasses, needles: impl Iterator<Item = Needle>) {
        let fits = u32::from(self.pairs).pow(2) <= 1 << MOST_FOUR_GRAMS;
        let Ok(mut bitmap) = Box::<Bitmap>::try_from(vec![0; 1 << (MOST_FOUR_GRAMS - 4)].into_boxed_slice())
        else {
            unreachable!("it has the size of its type")
        };
        // The shares of the four-grams at which a literal may begin, and beside which one may
        // begin.
        let mut shares = [0.0; 2];
        for needle in needles {
            for odd in [false, true] {
                let Some(shift) = shift(&needle, odd) else { continue };
                match shift {
                    1 => self.beside[0] = true,
                    -1 => self.beside[1] = true,
                    _ => {}
                }
                let kind = usize::from(shift != 0);
                shares[kind] += self.mark(&mut bitmap, classes, &needle, shift, kind);
            }
        }
        if !fits {
            // Where several four-grams share their bits, other four-grams hit the marked bits by
            // chance.
            for (kind, share) in shares.iter_mut().enumerate() {
                let marked = |word: &u32| (word >> kind & LOW_BITS).count_ones();
                let marked = bitmap.iter().map(marked).sum::<u32>();
                *share += f64::from(marked) / 2f64.powi(MOST_FOUR_GRAMS as i32);
            }
        }
        let beside = self.beside.iter().filter(|is| **is).count() as f64;
        self.candidate_places += (shares[0] + shares[1] * beside) * (PAIRS - 1) as f64;
        self.bitmap = Some(bitmap);
    }

    /// Marks the four-gram that begins `shift` characters after the needle, with the bit of a
    /// `kind`. Returns the share of all four-grams that this adds to the kind.
    fn mark(
        &self,
        bitmap: &mut Bitmap,
        classes: &SymbolClasses,
        needle: &Needle,
        shift: isize,
        kind: usize,
    ) -> f64 {
        let mut all = vec![(0u32, 1.0)];
        for at in shift..shift + 4 {
            let symbols = usize::try_from(at).ok().and_then(|at| needle.symbols.get(at));
            let these = match symbols {
                Some(symbols) => symbols.first().map_or(0..0, |first| {
                    let class = classes.of(first) & !UNUSED;
                    class..class + 1
                }),
                // A literal of five characters or more fills its four-gram, so it never comes here.
                None => 0..self.classes,
            };
            all = all
                .into_iter()
                .flat_map(|(four_gram, share)| {
                    these.clone().map(move |class| {
                        (four_gram * u32::from(self.classes) + u32::from(class), share * classes.share(class))
                    })
                })
                .collect();
        }
        let mut added = 0.0;
        for (four_gram, share) in all {
            let (word, bit) = ((four_gram / 16) as usize % bitmap.len(), 2 * (four_gram % 16) + kind as u32);
            if bitmap[word] >> bit & 1 == 0 {
                bitmap[word] |= 1 << bit;
                added += share;
            }
        }
        added
    }

    /// Calls `each` for parts of `batch`, in ascending order. Elements that are left out show no
    /// literal. Tests keys with either sign.
    pub fn candidates(&self, batch: &[Bytes], each: EachText) {
        with_set!(self.set, simd => simd.run(
            #[inline(always)]
            || self.candidates_by(simd, batch, each)
        ));
    }

    #[inline(always)]
    fn candidates_by<S: Bytes64>(&self, simd: S, batch: &[Bytes], each: EachText) {
        if batch.len() >= LARGE_BATCH {
            self.prefetch_bitmap();
        }
        let (mut texts, mut all_starts) = ([ClassText::NONE; GROUP], [Positions::default(); GROUP]);
        let (mut marked, mut places) = ([[0; 2]; GROUP], [0; GROUP]);
        for (number, some) in batch.chunks(GROUP).enumerate() {
            let (texts, starts) = (&mut texts[..some.len()], &mut all_starts[..some.len()]);
            for (bytes, text) in some.iter().zip(&mut *texts) {
                text.set(simd, ClassText::vector(simd, &self.table, self.target, bytes));
            }
            starts.fill(Positions::default());
            if let Some(bitmap) = &self.bitmap {
                // Without branches first, so that the look-ups of one text do not wait for those of
                // another.
                let weights = (self.classes, self.pairs);
                simd.bit_pairs_of_each(
                    bitmap,
                    #[inline(always)]
                    |text| four_grams(simd, weights, texts[text].get(simd)),
                    &mut marked[..texts.len()],
                );
                // Marks come at random: a list of the marked texts spares a branch for each text.
                let mut kept = 0;
                for (at, marked) in marked[..some.len()].iter().enumerate() {
                    places[kept] = at;
                    kept += usize::from(*marked != [0; 2]);
                }
                for &at in &places[..kept] {
                    starts[at] = self.around(marked[at]);
                }
            }
            for anchored in &self.anchored {
                anchored.starts(texts, starts);
            }
            // Drops texts without a place, again without branches.
            let mut kept = 0;
            for at in 0..some.len() {
                (places[kept], starts[kept]) = (at, starts[at]);
                kept += usize::from(starts[kept] != Positions::default());
            }
            for to in 0..kept {
                texts[to] = texts[places[to]];
                places[to] += GROUP * number;
            }
            each(&places[..kept], &texts[..kept], &starts[..kept]);
        }
    }

    /// Prefetches the used part of the bitmap. Deriving the keys has evicted it from the cache.
    fn prefetch_bitmap(&self) {
        let len = (u32::from(self.pairs).pow(2) / 16 + 1) as usize;
        let used = self.bitmap.as_ref().map_or(&[][..], |bitmap| &bitmap[..len.min(bitmap.len())]);
        if used.len() <= MOST_FETCHED {
            used.iter().step_by(16).for_each(prefetch);
        }
    }

    /// Returns the positions where a literal that shows one of these four-grams may begin. For each
    /// kind there are the four-grams that begin with an even pair, and above them those that begin
    /// with an odd pair.
    #[inline(always)]
    fn around(&self, marked: [u32; 2]) -> Positions {
        let (at, beside) = (characters(marked[0]), characters(marked[1]));
        let before = if self.beside[0] { beside } else { 0 };
        let after = if self.beside[1] { beside } else { 0 };
        Positions::of_bits(before >> 1 | at | after << 1)
    }
}

/// Returns the numbers of the four-grams of a folded text, and which of them count: those that
/// begin with the first half of a word, and those that begin with its second half. The weights are
/// the numbers of classes and of their pairs.
#[inline(always)]
fn four_grams<S: Bytes64>(
    simd: S,
    (classes, pairs): (u8, u16),
    text: S::Vector64,
) -> ([S::Vector64; 2], [u16; 2]) {
    let next = simd.next_u16(text);
    let numbers = [
        simd.weigh_u16(simd.weigh_bytes(text, classes), pairs),
        simd.weigh_u16(simd.weigh_bytes(next, classes), pairs),
    ];
    (numbers, [EVEN & !simd.high_bits(text), ODD & !simd.high_bits(next)])
}

/// The words of a folded text that begin a four-gram: 0 to 10, and the words of the copy with the
/// sign. For four-grams that begin with the first half of a word, word 12 repeats word 10. For
/// those that begin with the second half, word 11 repeats word 9.
const EVEN: u16 = 0x17ff;
const ODD: u16 = 0x0bff;

/// The low bit of every pair of bits.
const LOW_BITS: u32 = 0x5555_5555;

/// Returns the positions at which the four-grams begin whose numbers are the bits of `marked`.
#[inline(always)]
fn characters(marked: u32) -> u64 {
    let (even, odd) = (marked as u16, (marked >> 16) as u16);
    let (even, odd) = (even | even >> 2 & 1 << 10, odd | odd >> 2 & 1 << 9);
    every_fourth(even) | every_fourth(odd) << 2
}

/// Moves bit i to bit 4i.
#[inline(always)]
pub fn every_fourth(bits: u16) -> u64 {
    let mut spread = u64::from(bits);
    for (shift, mask) in [
        (24, 0x0000_00ff_0000_00ff),
        (12, 0x000f_000f_000f_000f),
        (6, 0x0303_0303_0303_0303),
        (3, 0x1111_1111_1111_1111),
    ] {
        spread = (spread | spread << shift) & mask;
    }
    spread
}

/// Returns where the four-gram of a needle begins, in characters after the beginning of the needle,
/// for needles that begin at odd or at even places. It is the four-gram that holds most of the
/// needle. `None` if the needle never begins there.
pub fn shift(needle: &Needle, odd: bool) -> Option<isize> {
    let begins_there = needle.starts.clone().any(|start| start % 2 == usize::from(odd));
    let first_odd_shift = if needle.symbols.len() > 4 { 1 } else { -1 };
    begins_there.then_some(if odd { first_odd_shift } else { 0 })
}

/// Returns the filters of the literals at one end, one filter for each window.
fn anchored<'a>(
    target: Target,
    classes: &SymbolClasses,
    most: usize,
    literals: impl Iterator<Item = Literal<'a>> + Clone,
) -> Vec<AnchoredFilter> {
    let mut numbers = [[0; MOST_COUNT + 1]; 2];
    for (at_end, count) in literals.clone().filter_map(|literal| AnchoredFilter::window_of(&literal, most)) {
        numbers[usize::from(at_end)][count] += 1;
    }
    let mut filters = Vec::new();
    for (at_end, numbers) in [false, true].into_iter().zip(numbers) {
        for (count, number) in numbers.into_iter().enumerate().filter(|(_, number)| *number > 0) {
            filters.push(AnchoredFilter::new(target, (at_end, count), number));
        }
    }
    for literal in literals {
        let window = AnchoredFilter::window_of(&literal, most);
        if let Some(filter) = filters.iter_mut().find(|filter| Some(filter.window()) == window) {
            filter.mark(classes, &literal);
        }
    }
    filters
}
