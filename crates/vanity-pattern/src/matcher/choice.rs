//! What each filter costs, and which filters a list gets.
//!
//! The costs are in nanoseconds a key. They were measured on one core of a 2.5 GHz Xeon (Cascade Lake).
//! `cargo bench --bench patterns` measures the cost of whole lists against a search without a
//! matcher; RESULTS.txt has its runs. Only the ratios matter, and other processors have about the
//! same ratios.

use super::four_gram_filter::FourGramFilter;
use super::needle::Needle;
use super::pair_bitmap::PairBitmap;
use super::symbol_classes::SymbolClasses;
use crate::odds::Place;
use crate::syntax::Literal;
use crate::wire::Target;
use ed25519_batch::simd::InstructionSet;

/// The exact look-ups at all places of a text, with both signs, for each number of characters that
/// is looked up.
const LOOK_UP_EVERYWHERE: f64 = 400.0;

/// The exact look-ups at one place that a filter reports.
const LOOK_UP_AT_A_PLACE: f64 = 15.0;

/// Folding a text into classes.
const FOLD_TEXT: f64 = 6.0;

/// Testing all four-grams of a folded text.
const LOOK_UP_FOUR_GRAMS: f64 = 20.0;

/// Testing one end of a folded text, if the Bloom filter is in a cache.
const LOOK_UP_END: f64 = 6.0;

/// Testing all windows of a row, and testing a few.
const ALL_WINDOWS: f64 = 8.0;
const FEW_WINDOWS: f64 = 1.5;

/// A mispredicted branch.
const WRONG_GUESS: f64 = 20.0;

/// Copying a candidate of the pairs.
const COPY_FROM_PAIRS: f64 = 10.0;

/// The largest share of random bytes that may be candidates of a pair bitmap before expressions.
/// Above it, the filter costs more than the walks that it saves.
const MOST_CANDIDATES: f64 = 0.5;

/// The most expressions behind a pair bitmap that a device walks one after the other. For more of
/// them, the pair bitmap decides alone.
pub const MOST_WALKS: usize = 8;

/// The most literals that are marked one by one in a pair bitmap. More of them would leave few
/// bytes to reject, and each takes some microseconds.
const MOST_LITERALS: usize = 4096;

/// Chooses the filters of literals whose symbols are folded into `classes`: the pair bitmap, the
/// four-grams, both or none. The exact test makes `look_ups` look-ups at each place, for at most
/// `most` characters.
pub fn of_literals<'a>(
    set: InstructionSet,
    target: Target,
    classes: &SymbolClasses,
    most: usize,
    look_ups: usize,
    literals: impl Iterator<Item = Literal<'a>> + Clone,
) -> (PairBitmap, Option<FourGramFilter>) {
    let everywhere = LOOK_UP_EVERYWHERE * look_ups as f64;
    let four_grams = FourGramFilter::new(set, target, classes, most, literals.clone());
    let (by_four_grams, after_four_grams) =
        four_grams.as_ref().map_or((f64::INFINITY, f64::INFINITY), |four_grams| {
            let places = four_grams.candidate_places();
            (cost_of_four_grams(four_grams), places * LOOK_UP_AT_A_PLACE * look_ups as f64)
        });
    let alone = everywhere.min(by_four_grams + after_four_grams);
    let pairs = pairs_of(target, literals);
    let (cost, share) = (cost_of_pairs(&pairs), pairs.candidate_share());
    let pays = cost + (share * everywhere).min(share * by_four_grams + after_four_grams) < alone;
    let (pairs, share) = if pays { (pairs, share) } else { (PairBitmap::none(), 1.0) };
    let four_grams = four_grams.filter(|_| share * by_four_grams + after_four_grams < share * everywhere);
    (pairs, four_grams)
}

/// Returns the pair bitmap of a number of expressions that have these needles. `None` if it does not
/// pay.
pub fn of_expressions(target: Target, needles: &[Needle], expressions: usize) -> Option<PairBitmap> {
    let pairs = PairBitmap::new(target, needles);
    (expressions > 0 && pairs.candidate_share() < MOST_CANDIDATES).then_some(pairs)
}

/// Returns the pair bitmap of literals. Of more than `MOST_LITERALS` it marks only what they have
/// in common at each end. Such a list with a literal that may be anywhere gets no rows.
pub fn pairs_of<'a>(target: Target, literals: impl Iterator<Item = Literal<'a>> + Clone) -> PairBitmap {
    if literals.clone().nth(MOST_LITERALS).is_none() {
        let needles: Vec<Needle> = literals.map(|literal| Needle::of(&literal)).collect();
        return PairBitmap::new(target, &needles);
    }
    let mut common: [Option<Needle>; 2] = [None, None];
    for literal in literals {
        let end = match literal.place() {
            Place::Anywhere => return PairBitmap::none(),
            Place::Start => 0,
            Place::End => 1,
        };
        match &mut common[end] {
            Some(common) => common.widen(&literal, end == 1),
            None => common[end] = Some(Needle::of(&literal)),
        }
    }
    let common: Vec<Needle> = common.into_iter().flatten().collect();
    PairBitmap::new(target, &common)
}

fn cost_of_pairs(pairs: &PairBitmap) -> f64 {
    let rows: Vec<_> = pairs.rows().collect();
    rows.into_iter().rev().fold(0.0, |later, (share, few)| {
        let test = if few { FEW_WINDOWS } else { ALL_WINDOWS };
        test + COPY_FROM_PAIRS * share + WRONG_GUESS * share.min(1.0 - share) + share * later
    })
}

fn cost_of_four_grams(four_grams: &FourGramFilter) -> f64 {
    let anywhere = if four_grams.has_bitmap() { LOOK_UP_FOUR_GRAMS } else { 0.0 };
    FOLD_TEXT + anywhere + LOOK_UP_END * four_grams.ends() as f64
}
