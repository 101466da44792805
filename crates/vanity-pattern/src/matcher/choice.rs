//! What each filter costs, and which filters a list gets.
//!
//! The costs are in nanoseconds a key. Those of AVX-512 VBMI are from an EPYC (Zen 5), and that of
//! a walk is an estimate. The others were measured on one core of a 2.5 GHz Xeon (Cascade Lake).
//! `cargo bench --bench patterns` measures the cost of whole lists against a search without a
//! matcher; RESULTS.txt has its runs. Only the ratios matter, and other processors have about the
//! same ratios.

use super::four_gram_filter::FourGramFilter;
use super::needle::Needle;
use super::pair_bitmap::PairBitmap;
use super::prefilter::Prefilter;
use super::sequence_filter::SequenceFilter;
use super::symbol_classes::SymbolClasses;
use crate::odds::Place;
use crate::syntax::Literal;
use crate::wire::Target;
use ed25519_batch::FingerprintFilter;
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

/// Splitting bytes into sextets, and looking up all of them in the tables of sequences, with
/// AVX-512 VBMI.
const LOOK_UP_SEQUENCES: f64 = 2.0;

/// Everything that a candidate of the sequences costs, but for the tests after them.
const COPY_FROM_SEQUENCES: f64 = 60.0;

/// The walk of a text through an automaton.
const WALK: f64 = 100.0;

/// Testing all windows of a row, and testing a few.
const ALL_WINDOWS: f64 = 8.0;
const FEW_WINDOWS: f64 = 1.5;

/// A mispredicted branch.
const WRONG_GUESS: f64 = 20.0;

/// Copying a candidate of the pairs.
const COPY_FROM_PAIRS: f64 = 10.0;

/// The largest share of random bytes that may be candidates of a prefilter before expressions.
/// Above it, the filter costs more than the walks that it saves.
const MOST_CANDIDATES: f64 = 0.5;

/// The most expressions behind a prefilter that a device walks one after the other. For more of
/// them, the prefilter decides alone.
pub(super) const MOST_WALKS: usize = 8;

/// The most literals that are marked one by one in a pair bitmap. More of them would leave few
/// bytes to reject, and each takes some microseconds.
const MOST_LITERALS: usize = 4096;

/// The most comparisons with a digest in the lanes that hash it. Six characters that may be anywhere
/// need 38. With many more, the filters of bytes take less.
pub(super) const MOST_COMPARISONS: usize = 64;

/// The largest share of digests that may pass in lanes. The others are hashed again.
const MOST_DIGESTS: f64 = 0.004;

/// Returns the filter of a list of `literals` alone that is tested in the lanes that hash
/// fingerprints. `None` if it does not pay.
pub(super) fn of_fingerprints<'a>(
    set: InstructionSet,
    literals: impl Iterator<Item = Literal<'a>> + Clone,
) -> Option<FingerprintFilter> {
    if !FingerprintFilter::is_fast(set) || literals.clone().nth(MOST_COMPARISONS).is_some() {
        return None;
    }
    let needles: Vec<Needle> = literals.map(|literal| Needle::of(&literal)).collect();
    let filter = FingerprintFilter::new(needles.iter().flat_map(Needle::bits_of_fingerprint));
    let pays = filter.comparisons() <= MOST_COMPARISONS && filter.candidate_share() < MOST_DIGESTS;
    pays.then_some(filter)
}

/// Chooses the filters of literals whose symbols are folded into `classes`: the prefilter, the
/// four-grams, both or none. The exact test makes `look_ups` look-ups at each place, for at most
/// `most` characters.
pub(super) fn of_literals<'a>(
    set: InstructionSet,
    target: Target,
    classes: &SymbolClasses,
    most: usize,
    look_ups: usize,
    literals: impl Iterator<Item = Literal<'a>> + Clone,
) -> (Prefilter, Option<FourGramFilter>) {
    let everywhere = LOOK_UP_EVERYWHERE * look_ups as f64;
    let four_grams = FourGramFilter::new(set, target, classes, most, literals.clone());
    let (by_four_grams, after_four_grams) =
        four_grams.as_ref().map_or((f64::INFINITY, f64::INFINITY), |four_grams| {
            let places = four_grams.candidate_places();
            (cost_of_four_grams(four_grams), places * LOOK_UP_AT_A_PLACE * look_ups as f64)
        });
    let alone = everywhere.min(by_four_grams + after_four_grams);
    let needles = literals.clone().map(|literal| Needle::of(&literal));
    let (prefilter, cost) = cheapest(pairs_of(target, literals), set, target, needles, alone);
    let share = prefilter.candidate_share();
    let pays = cost + (share * everywhere).min(share * by_four_grams + after_four_grams) < alone;
    let (prefilter, share) = if pays { (prefilter, share) } else { (Prefilter::none(), 1.0) };
    let four_grams = four_grams.filter(|_| share * by_four_grams + after_four_grams < share * everywhere);
    (prefilter, four_grams)
}

/// Chooses the prefilter of a number of expressions that have these needles. `None` if none pays.
pub(super) fn of_expressions(
    set: InstructionSet,
    target: Target,
    needles: impl Iterator<Item = Needle> + Clone,
    expressions: usize,
) -> Option<Prefilter> {
    let pairs = PairBitmap::new(target, needles.clone());
    let (prefilter, _) = cheapest(pairs, set, target, needles, WALK);
    // A device that does not walk relies on the pairs alone.
    let pays = prefilter.candidate_share() < MOST_CANDIDATES
        && (expressions <= MOST_WALKS || prefilter.pairs().candidate_share() < MOST_CANDIDATES);
    (expressions > 0 && pays).then_some(prefilter)
}

/// Returns the prefilter with which the tests of an element take least, if those after it take
/// `after` nanoseconds for a candidate. Returns its cost, too.
fn cheapest(
    pairs: PairBitmap,
    set: InstructionSet,
    target: Target,
    needles: impl Iterator<Item = Needle>,
    after: f64,
) -> (Prefilter, f64) {
    let by_pairs = cost_of_pairs(&pairs);
    let with_pairs = by_pairs + pairs.candidate_share() * after;
    let sequences = SequenceFilter::new(target, set, needles)
        .map(|sequences| (cost_of_sequences(&sequences), sequences))
        .filter(|(cost, sequences)| cost + sequences.candidate_share() * after < with_pairs);
    match sequences {
        Some((cost, sequences)) => (Prefilter::new(pairs, Some(sequences)), cost),
        None => (Prefilter::new(pairs, None), by_pairs),
    }
}

/// Returns the pair bitmap of literals. Of more than [`MOST_LITERALS`] it marks only what they have
/// in common at each end. Such a list with a literal that may be anywhere gets no rows.
pub(super) fn pairs_of<'a>(
    target: Target,
    literals: impl Iterator<Item = Literal<'a>> + Clone,
) -> PairBitmap {
    if literals.clone().nth(MOST_LITERALS).is_none() {
        return PairBitmap::new(target, literals.map(|literal| Needle::of(&literal)));
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
    PairBitmap::new(target, common.into_iter().flatten())
}

fn cost_of_pairs(pairs: &PairBitmap) -> f64 {
    let rows: Vec<_> = pairs.rows().collect();
    rows.into_iter().rev().fold(0.0, |later, (share, few)| {
        let test = if few { FEW_WINDOWS } else { ALL_WINDOWS };
        test + COPY_FROM_PAIRS * share + WRONG_GUESS * share.min(1.0 - share) + share * later
    })
}

fn cost_of_sequences(sequences: &SequenceFilter) -> f64 {
    LOOK_UP_SEQUENCES + COPY_FROM_SEQUENCES * sequences.candidate_share()
}

fn cost_of_four_grams(four_grams: &FourGramFilter) -> f64 {
    let anywhere = if four_grams.has_bitmap() { LOOK_UP_FOUR_GRAMS } else { 0.0 };
    FOLD_TEXT + anywhere + LOOK_UP_END * four_grams.ends() as f64
}
