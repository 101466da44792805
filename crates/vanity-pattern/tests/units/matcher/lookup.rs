use ed25519_batch::simd::{Bytes64 as _, Scalar};
use vanity_pattern::internals::Literal;
use vanity_pattern::internals::lookup::{Bloom, Lookup, spread};
use vanity_pattern::internals::symbol_classes::{ClassText, SymbolClasses};
use vanity_pattern::wire::{BODY_LEN, Symbols};
use vanity_pattern::{MatchOptions, PatternId};

/// Makes a text of classes, without a sign.
fn text_of(classes: [u8; BODY_LEN]) -> ClassText {
    let (simd, mut bytes, mut text) = (Scalar::plain(), [0; 64], ClassText::NONE);
    bytes[..BODY_LEN].copy_from_slice(&classes);
    text.set(simd, simd.load_bytes(&bytes));
    text
}

#[test]
fn literals_are_looked_up_by_their_first_characters() {
    let words = ["ab", "cd", "abcd", "abcdef", "xbcdefg"];
    let literals = || words.iter().map(|word| Literal::of(word, MatchOptions::default()));
    let classes = SymbolClasses::new(literals().flat_map(|literal| literal.characters()));
    let index = Lookup::new(&classes, 4, literals().enumerate(), |literal| literal.len() != 4);
    assert_eq!(index.look_ups(), 2, "one for two characters, one for four");
    let mut ids: Vec<PatternId> = index.ids().collect();
    ids.sort_unstable();
    assert_eq!(ids, [0, 1, 2, 3, 4]);
    for (shown, start, expected) in [
        ("ab", 0, vec![0]),
        ("CD", 30, vec![1]),
        ("ab", 41, vec![0]),
        ("abcd", 3, vec![0, 2]),
        ("abcdefg", 7, vec![0, 2, 3]),
        ("abcd", 39, vec![0, 2]),
        ("xbcdefG", 0, vec![4]),
        ("xbcdefG", 36, vec![4]),
        ("xbcdefh", 0, vec![]),
        ("xbcdef", 37, vec![]),
    ] {
        let mut body = [b'+'; BODY_LEN];
        body[start..start + shown.len()].copy_from_slice(shown.as_bytes());
        let values = body.map(|byte| Symbols::of(byte).first().unwrap());
        let text = text_of(values.map(|value| classes.of(value)));
        let mut found = Vec::new();
        index.prefix_hashes().any_at(&text, start, false, |hash| {
            found.extend(index.ids_at(hash, &text, start, false));
            false
        });
        found.sort_unstable();
        let expected: Vec<_> = expected.into_iter().map(|id| (id, words[id].len() != 4)).collect();
        assert_eq!(found, expected, "{shown} at {start}");
    }
}

#[test]
fn every_number_is_found_and_few_others() {
    for count in [1, 5, 1000, 50_000u64] {
        let mut bloom = Bloom::new(count as usize);
        (0..count).for_each(|number| bloom.put(spread(number)));
        assert!((0..count).all(|number| bloom.view().may_have(spread(number))));
        let others =
            (count..count + 1_000_000).filter(|number| bloom.view().may_have(spread(*number))).count();
        let expected = 1e6 * bloom.share_by_chance();
        let least = if count < 1000 { 0.0 } else { 0.5 * expected };
        assert!((least..2.0 * expected).contains(&(others as f64)), "{others} of {count}, not {expected}");
    }
}
