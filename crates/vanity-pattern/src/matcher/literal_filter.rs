//! A first test of the bytes, which rejects most of them before the exact tests.
//!
//! The promise: rejected bytes show none of the literals, whatever the sign of x, the highest bit
//! of a key, is. For bytes that pass, the filter reports where a literal may begin; exact tests
//! decide.
//!
//! `run_filter` tests windows of two bytes, with a bitmap of 8 KiB, or some characters in a row. It
//! is cheap, works for any sets of symbols, and pays for some hundred literals at most.
//! `quad_filter` tests four characters everywhere, folded into classes. It works for lists of any
//! length, and reports places.
//! [`LiteralFilter::new`] estimates the cost of each, of both and of none from the shares that they
//! let pass, and chooses the cheapest.

use super::classes::Classes;
use super::costs::{LOOK_UP_AT_A_PLACE, LOOK_UP_EVERYWHERE};
use super::folded::Folded;
use super::quad_filter::QuadFilter;
use super::run::{Run, Starts};
use super::run_filter::RunFilter;
use super::stage::EachText;
use super::window_filter::WindowFilter;
use crate::odds::Place;
use crate::syntax::Literal;
use crate::wire::{Bytes, Target};
use ed25519_batch::simd::{InstructionSet, Scalar};

/// Rejects bytes that show no literal.
pub(super) struct LiteralFilter {
    target: Target,
    /// The first filter. It lets everything pass if it does not pay.
    runs: RunFilter,
    quads: Option<QuadFilter>,
}

impl LiteralFilter {
    /// Chooses the cheapest filter for literals whose symbols are folded into `classes`. The exact
    /// test makes `look_ups` look-ups at each place, for at most `most` characters.
    pub(super) fn new<'a>(
        set: InstructionSet,
        target: Target,
        classes: &Classes,
        most: usize,
        look_ups: usize,
        literals: impl Iterator<Item = Literal<'a>> + Clone,
    ) -> Self {
        let everywhere = LOOK_UP_EVERYWHERE * look_ups as f64;
        let quads = QuadFilter::new(set, target, classes, most, literals.clone());
        let after_quads =
            quads.as_ref().map_or(f64::INFINITY, |quads| quads.hits() * LOOK_UP_AT_A_PLACE * look_ups as f64);
        let by_quads = quads.as_ref().map_or(f64::INFINITY, QuadFilter::cost);
        let without_runs = everywhere.min(by_quads + after_quads);
        let windows = windows_of(target, literals.clone());
        let each_run = literals.map(|literal| Run::of(&literal));
        let runs = RunFilter::cheapest(windows, set, target, each_run, without_runs);
        let share = runs.share_passing();
        let with_runs = runs.cost() + (share * everywhere).min(share * by_quads + after_quads);
        let (runs, share) = if with_runs < without_runs { (runs, share) } else { (RunFilter::none(), 1.0) };
        let quads = quads.filter(|_| share * by_quads + after_quads < share * everywhere);
        Self { target, runs, quads }
    }

    /// Calls `each` for parts of `batch`, in ascending order: with some places, the texts there,
    /// and the positions in each text where a literal may begin. Elements that are left out show no
    /// literal. The highest bit of a key must be 0; the filter tests both signs.
    pub(super) fn survivors(&self, classes: &Classes, batch: &[Bytes], each: EachText) {
        match &self.quads {
            None => self.runs.survivors(batch, &mut |place| {
                let text = Folded::new(Scalar::plain(), classes.of_values(), self.target, &batch[place]);
                each(&[place], &[text], &[Starts::ALL]);
            }),
            Some(quads) if self.runs.is_none() => quads.survivors(batch, each),
            Some(quads) => {
                let (places, passed) = self.runs.passing(batch);
                let mut of_some = Vec::new();
                quads.survivors(&passed, &mut |some, texts, starts| {
                    of_some.clear();
                    of_some.extend(some.iter().map(|at| places[*at]));
                    each(&of_some, texts, starts);
                });
            }
        }
    }
}

/// The most literals that are marked one by one. More of them would leave few bytes to reject, and
/// each takes some microseconds.
const MOST_RUNS: usize = 4096;

/// Returns the window filter for literals. Of more than [`MOST_RUNS`] literals it marks only what
/// they have in common at each end. Such a list with a literal that may be anywhere gets no rows.
pub(super) fn windows_of<'a>(
    target: Target,
    literals: impl Iterator<Item = Literal<'a>> + Clone,
) -> WindowFilter {
    if literals.clone().nth(MOST_RUNS).is_none() {
        return WindowFilter::new(target, literals.map(|literal| Run::of(&literal)));
    }
    let mut common: [Option<Run>; 2] = [None, None];
    for literal in literals {
        let end = match literal.place() {
            Place::Anywhere => return WindowFilter::none(),
            Place::Start => 0,
            Place::End => 1,
        };
        match &mut common[end] {
            Some(common) => common.widen(&literal, end == 1),
            None => common[end] = Some(Run::of(&literal)),
        }
    }
    WindowFilter::new(target, common.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand_chacha::ChaCha8Rng;
    use rand_core::{Rng as _, SeedableRng as _};

    use super::super::sequence_filter::SequenceFilter;
    use super::*;
    use crate::wire::{ALPHABET, SYMBOL_BITS, Symbols, with_sign, without_sign};
    use crate::{Kind, Style};
    use ed25519_batch::simd::InstructionSet;

    fn below(random: &mut ChaCha8Rng, end: usize) -> usize {
        random.next_u32() as usize % end
    }

    /// Returns letters, digits and delimiters of few kinds, anywhere or at one end.
    fn random_literal(random: &mut ChaCha8Rng, least: usize, target: Target) -> (String, Style) {
        let len = least + below(random, 7);
        let text = (0..len).map(|_| char::from(b"aBcCX7+"[below(random, 7)])).collect();
        let kind = [Kind::Prefix, Kind::Suffix, Kind::Word, Kind::Anywhere, Kind::Anywhere][below(random, 5)];
        (text, Style { kind, case_sensitive: below(random, 3) == 0, leet: below(random, 3) == 0, target })
    }

    /// Returns random bytes that show `run` from `start` on. `None` if its ends do not fit there.
    fn showing(target: Target, run: &Run, start: usize, random: &mut ChaCha8Rng) -> Option<Bytes> {
        let mut bytes = Bytes::default();
        random.fill_bytes(&mut bytes);
        for (at, symbols) in run.symbols.iter().enumerate() {
            let position = start + at;
            let allowed = symbols.and(target.symbols(position));
            let values: Vec<u8> = (0..64).filter(|value| allowed.has(*value)).collect();
            let value = *values.get(below(random, values.len().max(1)))?;
            for bit in 0..SYMBOL_BITS {
                let Some(place) = (SYMBOL_BITS * position + bit).checked_sub(target.lead()) else {
                    continue;
                };
                if place < 256 {
                    let mask = 0x80 >> (place % 8);
                    let set = value >> (SYMBOL_BITS - 1 - bit) & 1 == 1;
                    bytes[place / 8] = if set { bytes[place / 8] | mask } else { bytes[place / 8] & !mask };
                }
            }
        }
        if target == Target::Key {
            bytes = without_sign(bytes);
        }
        Some(bytes)
    }

    /// Tests the promise for either filter, every place, and lists of all sizes.
    #[test]
    fn bytes_that_show_a_run_pass_with_its_place() {
        let mut random = ChaCha8Rng::from_seed([6; 32]);
        let mut tested = 0;
        for list in 0..200 {
            let target = [Target::Key, Target::Fingerprint][list % 2];
            let least = [2, 3, 5][list % 3];
            let count = [1, 2, 7, 40][list % 4];
            let typed: Vec<_> = (0..count).map(|_| random_literal(&mut random, least, target)).collect();
            let literals = || typed.iter().map(|(text, style)| Literal::of(text, *style));
            let classes = Classes::new(literals().flat_map(|literal| literal.characters()));
            let rows = || WindowFilter::new(target, literals().map(|literal| Run::of(&literal)));
            let quads = || QuadFilter::new(InstructionSet::widest(), target, &classes, 6, literals());
            let anchored = || literals().filter(|literal| literal.place() != Place::Anywhere);
            let mut common =
                literals().filter(|literal| literal.place() == Place::End).map(|literal| Run::of(&literal));
            if let Some(mut run) = common.next() {
                let ends = || anchored().filter(|literal| literal.place() == Place::End);
                ends().for_each(|literal| run.widen(&literal, true));
                for (literal, other) in ends().zip(ends().map(|literal| Run::of(&literal))) {
                    let skipped = literal.len() - run.symbols.len();
                    let start = other.starts.start() + skipped;
                    assert_eq!(run.starts, start..=start);
                    let within = |(own, all): (&Symbols, &Symbols)| own.and(*all) == *own;
                    assert!(other.symbols[skipped..].iter().zip(&run.symbols).all(within));
                }
            }
            let each_run: Vec<Run> = literals().map(|literal| Run::of(&literal)).collect();
            let mut filters = vec![
                LiteralFilter { target, runs: RunFilter::of_windows(rows()), quads: None },
                LiteralFilter { target, runs: RunFilter::none(), quads: quads() },
                LiteralFilter { target, runs: RunFilter::of_windows(rows()), quads: quads() },
                LiteralFilter::new(InstructionSet::widest(), target, &classes, 5, 1, literals()),
            ];
            for sequences in SequenceFilter::of_each_length(target, InstructionSet::widest(), &each_run) {
                let quads = if filters.len() % 2 == 0 { None } else { quads() };
                filters.push(LiteralFilter { target, runs: RunFilter::of_sequences(sequences), quads });
            }
            let run = Run::of(&literals().nth(below(&mut random, count)).unwrap());
            for start in run.starts.clone() {
                let Some(bytes) = showing(target, &run, start, &mut random) else { continue };
                for (number, filter) in filters.iter().enumerate() {
                    let mut reported = None;
                    let batch = [[0; 32], bytes, [0xff; 32].map(|byte| byte >> 1)];
                    filter.survivors(&classes, &batch, &mut |places, _, starts| {
                        for (_, starts) in places.iter().zip(starts).filter(|(place, _)| **place == 1) {
                            reported = Some(starts.each().any(|reported| reported == start));
                        }
                    });
                    assert_eq!(
                        reported,
                        Some(true),
                        "list {list}, filter {number}, start {start} of {:?}",
                        run.starts
                    );
                }
                tested += 1;
            }
        }
        assert!(tested > 1000, "{tested} places");
    }

    /// Tests literals that mark one place in two ways: the shorter one with the quad before it, the
    /// longer one with the quad after it. Also tests literals that the sign turns into each other,
    /// so that both quads are marked.
    #[test]
    fn a_place_that_is_marked_twice_is_reported() {
        let mut random = ChaCha8Rng::from_seed([9; 32]);
        let style = Style { case_sensitive: true, ..Style::default() };
        let mut tested = 0;
        for list in
            [&["abcd", "abcde"][..], &["xAbc", "xgbc", "abAd", "abgd"], &["xAb", "xgb"], &["xA", "xg"]]
        {
            let literals = || list.iter().map(|text| Literal::of(text, style));
            let classes = Classes::new(literals().flat_map(|literal| literal.characters()));
            let filter = LiteralFilter {
                target: Target::Key,
                runs: RunFilter::none(),
                quads: QuadFilter::new(InstructionSet::widest(), Target::Key, &classes, 6, literals()),
            };
            for literal in literals() {
                for start in Run::of(&literal).starts {
                    let Some(bytes) = showing(Target::Key, &Run::of(&literal), start, &mut random) else {
                        continue;
                    };
                    if !literal.stands(&bytes, start) && !literal.stands(&with_sign(bytes), start) {
                        continue;
                    }
                    let mut reported = false;
                    filter.survivors(&classes, &[bytes], &mut |_, _, starts| {
                        reported |=
                            starts.iter().any(|starts| starts.each().any(|reported| reported == start));
                    });
                    assert!(reported, "{list:?} at {start}");
                    tested += 1;
                }
            }
        }
        assert!(tested > 300, "{tested} places");
    }

    #[test]
    fn a_key_passes_with_either_sign() {
        let mut random = ChaCha8Rng::from_seed([8; 32]);
        // Texts whose symbols need the sign, at its place and before the last character.
        for text in ["C9", "/+", "yA"] {
            for kind in [Kind::Suffix, Kind::Anywhere] {
                let style = Style { kind, case_sensitive: true, ..Style::default() };
                let literal = Literal::of(text, style);
                let classes = Classes::new(literal.characters());
                let key = showing(Target::Key, &Run::of(&literal), 41, &mut random).unwrap();
                assert!(literal.stands(&with_sign(key), 41) && !literal.stands(&key, 41), "{text}");
                let runs = [Run::of(&literal)];
                let sequences = SequenceFilter::of_each_length(Target::Key, InstructionSet::widest(), &runs);
                let mut filters = vec![
                    LiteralFilter {
                        target: Target::Key,
                        runs: RunFilter::of_windows(WindowFilter::new(
                            Target::Key,
                            std::iter::once(Run::of(&literal)),
                        )),
                        quads: None,
                    },
                    LiteralFilter {
                        target: Target::Key,
                        runs: RunFilter::none(),
                        quads: QuadFilter::new(
                            InstructionSet::widest(),
                            Target::Key,
                            &classes,
                            4,
                            std::iter::once(literal),
                        ),
                    },
                ];
                assert_eq!(sequences.len(), 3);
                filters.extend(sequences.into_iter().map(|sequences| LiteralFilter {
                    target: Target::Key,
                    runs: RunFilter::of_sequences(sequences),
                    quads: None,
                }));
                for filter in filters {
                    let mut passed = false;
                    filter.survivors(&classes, &[key], &mut |_, _, starts| passed |= !starts.is_empty());
                    assert!(passed, "{text}");
                }
            }
        }
    }

    /// Compares the estimate by which filters are chosen with a count.
    #[test]
    fn as_many_places_pass_as_are_estimated() {
        let mut random = ChaCha8Rng::from_seed([5; 32]);
        let mut batch = vec![Bytes::default(); 100_000];
        random.fill_bytes(batch.as_flattened_mut());
        batch.iter_mut().for_each(|bytes| *bytes = without_sign(*bytes));
        for (kind, case_sensitive, len, count) in [
            (Kind::Anywhere, false, 3, 7),
            (Kind::Anywhere, false, 4, 40),
            (Kind::Anywhere, false, 5, 400),
            (Kind::Anywhere, true, 6, 20_000),
            (Kind::Word, false, 3, 2000),
            (Kind::Prefix, false, 3, 100),
            (Kind::Prefix, false, 5, 20_000),
            (Kind::Suffix, false, 4, 1000),
        ] {
            let letters = if case_sensitive { ALPHABET } else { &ALPHABET[..26] };
            let style = Style { kind, case_sensitive, ..Style::default() };
            let mut words = BTreeSet::new();
            while words.len() < count {
                words.insert(
                    (0..len).map(|_| char::from(letters[below(&mut random, letters.len())])).collect(),
                );
            }
            let literals = || words.iter().map(|word: &String| Literal::of(word, style));
            let classes = Classes::new(literals().flat_map(|literal| literal.characters()));
            let quads =
                QuadFilter::new(InstructionSet::widest(), Target::Key, &classes, 6, literals()).unwrap();
            let mut reported = 0;
            quads.survivors(&batch, &mut |_, _, starts| {
                reported += starts.iter().map(|starts| starts.each().count()).sum::<usize>();
            });
            let share = reported as f64 / (quads.hits() * batch.len() as f64);
            assert!((0.5..2.0).contains(&share), "{count} of {len} letters, {kind:?}: {share}");
        }
    }
}
