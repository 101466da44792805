use std::collections::BTreeSet;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

use ed25519_batch::simd::InstructionSet;
use vanity_pattern::internals::Literal;
use vanity_pattern::internals::four_gram_filter::{FourGramFilter, every_fourth, shift};
use vanity_pattern::internals::needle::Needle;
use vanity_pattern::internals::symbol_classes::SymbolClasses;
use vanity_pattern::wire::{ALPHABET, BODY_LEN, Bytes, Symbols, Target, without_sign};
use vanity_pattern::{Kind, MatchOptions};

#[test]
fn bits_are_spread() {
    for bits in 0..=u16::MAX {
        let expected: u64 = (0..16).map(|bit| u64::from(bits >> bit & 1) << (4 * bit)).sum();
        assert_eq!(every_fourth(bits), expected);
    }
}

/// Tests that a four-gram at an even place is marked wherever a needle may begin. All its
/// characters belong to the needle, or all characters of the needle but one lie in it.
#[test]
fn a_quad_is_marked_for_every_place() {
    for len in 2..=BODY_LEN {
        let needle = Needle { symbols: vec![Symbols::of(b'a'); len], starts: 0..=BODY_LEN - len };
        for start in needle.starts.clone() {
            let shift = shift(&needle, start % 2 == 1).unwrap();
            assert_eq!((start as isize + shift) % 2, 0, "{len} characters at {start}");
            let held = (shift..shift + 4).filter(|at| (0..len as isize).contains(at)).count();
            assert!(held >= (len - 1).min(4), "{len} characters at {start}");
        }
    }
    let whole = Needle { symbols: vec![Symbols::of(b'a'); BODY_LEN], starts: 0..=0 };
    assert_eq!(shift(&whole, true), None);
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
        let options = MatchOptions { kind, case_sensitive, ..MatchOptions::default() };
        let mut words = BTreeSet::new();
        while words.len() < count {
            words.insert(
                (0..len).map(|_| char::from(letters[random.next_u32() as usize % letters.len()])).collect(),
            );
        }
        let literals = || words.iter().map(|word: &String| Literal::of(word, options));
        let classes = SymbolClasses::new(literals().flat_map(|literal| literal.characters()));
        let four_grams =
            FourGramFilter::new(InstructionSet::widest(), Target::Key, &classes, 6, literals()).unwrap();
        let mut reported = 0;
        four_grams.candidates(&batch, &mut |_, _, starts| {
            reported += starts.iter().map(|starts| starts.each().count()).sum::<usize>();
        });
        let share = reported as f64 / (four_grams.candidate_places() * batch.len() as f64);
        assert!((0.5..2.0).contains(&share), "{count} of {len} letters, {kind:?}: {share}");
    }
}
