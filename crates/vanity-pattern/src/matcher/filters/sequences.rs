//! The sequences of needles: a decision on the tables, and a comparison of the test with its
//! definition.

use super::super::needle::Needle;
use super::super::sequence_filter::{LEN, SequenceFilter, Tables, tables};
use super::*;
use crate::syntax::Literal;
use ed25519_batch::simd::{InstructionSet, Scalar};

/// Checks that each needle has, for each place where it may begin, a bucket that holds every symbol
/// of each character of a sequence at an even place before the last. Characters beside the needle may
/// be any.
fn holds_every_needle(needles: &[Needle]) {
    let tables = tables(needles);
    for needle in needles {
        for start in needle.starts.clone() {
            let symbols = |place: usize| {
                let at = place.checked_sub(start);
                at.and_then(|at| needle.symbols.get(at)).map_or(u64::MAX, |symbols| symbols.0)
            };
            let holds = |bucket: usize, from: usize| {
                (0..LEN).all(|at| {
                    (0..64).all(|value| {
                        symbols(from + at) >> value & 1 == 0 || tables[at][value] >> bucket & 1 == 1
                    })
                })
            };
            let found = (0..8).any(|bucket| (0..BODY_LEN - 1).step_by(2).any(|from| holds(bucket, from)));
            assert!(found, "{:?} at {start}", needle.symbols);
        }
    }
}

/// Returns whether a text shows a sequence of the tables at a place.
fn shows(tables: &Tables, text: &Values) -> bool {
    let buckets = |position: usize, at: usize| {
        // A sequence may end after the text where it takes any character.
        let of_any = || tables[at].iter().fold(u8::MAX, |common, buckets| common & buckets);
        text.get(position).map_or_else(of_any, |value| tables[at][usize::from(*value)])
    };
    (0..BODY_LEN)
        .step_by(2)
        .any(|start| (0..LEN).fold(u8::MAX, |common, at| common & buckets(start + at, at)) != 0)
}

/// Checks that bytes pass which show a sequence of the tables with either sign: for each place of
/// each of 64 texts, every symbol there.
fn passes_what_it_says(target: Target, needles: &[Needle]) {
    let tables = tables(needles);
    let mut batch = Vec::new();
    for fill in 0..64 {
        for position in 0..BODY_LEN {
            for value in 0..64 {
                let mut text: Values =
                    std::array::from_fn(|at| if target.symbols(at).has(fill) { fill } else { 0 });
                // The sequence of the first needle that has one here.
                for (at, symbols) in needles[usize::from(fill) % needles.len()].symbols.iter().enumerate() {
                    if let Some(shown) = text.get_mut((position + at).saturating_sub(1)) {
                        *shown = symbols.first().unwrap_or(0);
                    }
                }
                text[position] = value;
                batch.extend(bytes_of(target, &text));
            }
        }
    }
    let values = |bytes: &Bytes| -> Values { std::array::from_fn(|at| target.window(bytes, at, 1) as u8) };
    let expected = |bytes: &Bytes| {
        let either = if target == Target::Key { [*bytes, with_sign(*bytes)] } else { [*bytes; 2] };
        either.iter().any(|bytes| shows(&tables, &values(bytes)))
    };
    let batch: Vec<Bytes> = batch.into_iter().map(|bytes| passed(target, bytes)).collect();
    let wanted: Vec<usize> = (0..batch.len()).filter(|&place| expected(&batch[place])).collect();
    for best in [InstructionSet::widest(), InstructionSet::Scalar(Scalar::plain())] {
        let filter = SequenceFilter::of(target, best, tables);
        let mut found = Vec::new();
        filter.candidates(&batch, &mut |place| found.push(place));
        for place in &wanted {
            assert!(found.binary_search(place).is_ok(), "{:?}", values(&batch[*place]));
        }
    }
}

const TEXTS: [&str; 9] = ["kett", "zebra", "A7", "+x/9", "ILoveIt", "Qqqq4", "abcdefghijklm", "0ol", "iz"];

#[test]
fn every_needle_has_a_bucket_and_passes() {
    for target in TARGETS {
        for (kind, reading) in [Kind::Anywhere, Kind::Suffix, Kind::Word]
            .into_iter()
            .flat_map(|kind| (0..4).map(move |of| (kind, of)))
        {
            let needles = TEXTS.map(|text| Needle::of(&Literal::of(text, options(kind, reading, target))));
            for count in [1, 2, 4, needles.len()] {
                holds_every_needle(&needles[..count]);
                holds_every_needle(&needles[count - 1..count]);
            }
        }
        let needles = TEXTS.map(|text| Needle::of(&Literal::of(text, options(Kind::Anywhere, 0, target))));
        for some in [&needles[..1], &needles[1..3], &needles[3..8]] {
            passes_what_it_says(target, some);
        }
    }
}
