//! The window filter, by a decision for each needle and place.
//!
//! Bytes pass a row if one of its windows has a marked value. So a row loses nothing if for each
//! needle and each place of it one window is tested whose every possible value is marked, whatever
//! is next to the needle. The values of a window are few enough to look at all of them.

use std::collections::BTreeSet;

use vanity_pattern::internals::Literal;
use vanity_pattern::internals::choice::pairs_of;
use vanity_pattern::internals::needle::Needle;
use vanity_pattern::internals::pair_bitmap::{PairBitmap, ROW_WORDS, WINDOWS};
use vanity_pattern::wire::Symbols;

use super::*;

/// Returns what each character adds to the values of the window of 16 bits at `byte`, if each
/// position shows one of its symbols. A value of the window is a sum, with one part of each
/// character.
fn parts(target: Target, byte: usize, symbols: &[Symbols]) -> Vec<BTreeSet<u16>> {
    let start = 8 * byte + target.lead();
    let parts = |position: usize| {
        let bits_of = |symbol: u8| -> u16 {
            let place =
                |bit: usize| (SYMBOL_BITS * position + bit).checked_sub(start).filter(|place| *place < 16);
            let is_set = |bit: &usize| symbol >> (SYMBOL_BITS - 1 - bit) & 1 == 1;
            (0..SYMBOL_BITS).filter(is_set).filter_map(place).map(|place| 0x8000 >> place).sum()
        };
        (0..64).filter(|symbol| symbols[position].has(*symbol)).map(bits_of).collect()
    };
    (start / SYMBOL_BITS..=(start + 15) / SYMBOL_BITS).map(parts).collect()
}

/// Returns whether all sums with one number of each set are marked in a row.
fn all_marked(row: &[u32], sum: u16, parts: &[BTreeSet<u16>]) -> bool {
    match parts {
        [] => is_marked(row, sum),
        [first, others @ ..] => first.iter().all(|part| all_marked(row, sum + part, others)),
    }
}

/// Returns whether a value of the window at `byte` is marked in a row.
fn is_marked(row: &[u32], value: u16) -> bool {
    let value = usize::from(value.swap_bytes());
    row[1 + WINDOWS + value / 32] >> (value % 32) & 1 == 1
}

/// Checks a filter of `needles`. Returns the number of places that were decided.
fn check(target: Target, filter: &PairBitmap, needles: &[Needle]) -> usize {
    let mut words = Vec::new();
    filter.write(&mut words);
    let mut decided = 0;
    for row in words.chunks(ROW_WORDS) {
        let windows: Vec<usize> = row[1..1 + row[0] as usize].iter().map(|byte| *byte as usize).collect();
        assert!(windows.iter().all(|byte| byte + 1 < KEY_LEN - 1), "a window holds the sign");
        for (needle, start) in
            needles.iter().flat_map(|needle| needle.starts.clone().map(move |start| (needle, start)))
        {
            let mut symbols = target.positions();
            for (symbols, of_needle) in symbols[start..].iter_mut().zip(&needle.symbols) {
                *symbols = symbols.and(*of_needle);
            }
            if symbols.iter().any(|symbols| symbols.is_empty()) {
                continue;
            }
            let touches = |byte: &&usize| {
                let first = 8 * **byte + target.lead();
                first < SYMBOL_BITS * (start + needle.symbols.len()) && SYMBOL_BITS * start < first + 16
            };
            let passes = |byte: &usize| all_marked(row, 0, &parts(target, *byte, &symbols));
            assert!(windows.iter().filter(touches).any(passes), "{:?} at {start}", needle.symbols);
            decided += 1;
        }
    }
    decided
}

/// Checks that a filter tests just the windows and marks that it writes for a device: every value
/// of every window, with two kinds of other bytes.
fn equals_its_words(filter: &PairBitmap) {
    let mut words = Vec::new();
    filter.write(&mut words);
    for (byte, fill) in (0..KEY_LEN - 1).flat_map(|byte| [0u8, 0xa5].map(|fill| (byte, fill))) {
        let of_value = |value: u16| {
            let mut bytes = [fill; KEY_LEN];
            bytes[byte..byte + 2].copy_from_slice(&value.to_be_bytes());
            bytes
        };
        let batch: Vec<Bytes> = (0..=u16::MAX).map(of_value).collect();
        let expected = batch
            .iter()
            .enumerate()
            .filter(|(_, bytes)| words.chunks(ROW_WORDS).all(|row| row_passes(row, bytes)));
        let mut places = Vec::new();
        filter.candidates(&batch, &mut |place| places.push(place));
        assert!(expected.map(|(place, _)| place).eq(places), "byte {byte}");
    }
}

const TEXTS: [&str; 8] = ["kett", "zebra", "A7", "+x/9", "ILoveIt", "Qqqq4", "abcdefghijklm", "0ol1iz"];

const KINDS: [Kind; 4] = [Kind::Anywhere, Kind::Prefix, Kind::Suffix, Kind::Word];

#[test]
fn every_value_of_some_window_is_marked_for_each_run_and_place() {
    let mut decided = 0;
    for target in TARGETS {
        for (number, (kind, reading)) in
            KINDS.iter().flat_map(|kind| (0..4).map(move |reading| (*kind, reading))).enumerate()
        {
            let needles = TEXTS.map(|text| Needle::of(&Literal::of(text, options(kind, reading, target))));
            for needle in &needles {
                let filter = PairBitmap::new(target, std::slice::from_ref(needle));
                decided += check(target, &filter, std::slice::from_ref(needle));
            }
            let filter = PairBitmap::new(target, &needles);
            decided += check(target, &filter, &needles);
            if number % 8 == 1 {
                equals_its_words(&filter);
            }
        }
    }
    assert!(decided > 15_000, "{decided}");
}

/// Needles of expressions may begin in any range.
#[test]
fn runs_in_any_range_of_places_pass() {
    for (target, len) in TARGETS.into_iter().flat_map(|target| (2..=8).map(move |len| (target, len))) {
        for first in 0..=BODY_LEN - len {
            let symbols = vec![Symbols::of(b'k').or(Symbols::of(b'K')); len];
            let needle = Needle { symbols, starts: first..=(first + first % 3).min(BODY_LEN - len) };
            let filter = PairBitmap::new(target, std::slice::from_ref(&needle));
            check(target, &filter, std::slice::from_ref(&needle));
            if len == 5 && first % 14 == 0 {
                equals_its_words(&filter);
            }
        }
    }
}

/// A list that is too long to mark each literal is marked by what its ends have in common.
#[test]
fn what_many_literals_have_in_common_is_marked() {
    for target in TARGETS {
        for kinds in [&[Kind::Prefix][..], &[Kind::Suffix], &[Kind::Prefix, Kind::Suffix]] {
            let symbol = |number: usize| char::from(ALPHABET[number % 64]);
            let words: Vec<String> = (0..5000)
                .map(|number| match number % 3 {
                    0 => format!("Ab{}cd{}Q", symbol(number), symbol(number / 64)),
                    1 => format!("AB{}c{}Q", symbol(number), symbol(number / 64)),
                    _ => format!("Abx{}{}cwQ", symbol(number), symbol(number / 64)),
                })
                .collect();
            let literals = words.iter().enumerate().map(|(number, word)| {
                Literal::of(word, options(kinds[number % kinds.len()], number % 4, target))
            });
            let filter = pairs_of(target, literals.clone());
            let needles: Vec<Needle> = literals.step_by(37).map(|literal| Needle::of(&literal)).collect();
            let decided = check(target, &filter, &needles);
            assert!(decided > 0, "{decided}");
        }
    }
}
