//! The filters and the index of literals, by all texts that show a literal and differ in what a
//! stage can see: every symbol that each character accepts, every place, every sign, and the
//! neighbors.
//!
//! A stage that folds a text sees classes. So neighbors take one symbol of each class, jointly for
//! all characters that share a four-gram with a short literal. Elsewhere is a symbol of no literal:
//! it is marked nowhere, so a text does not pass because of it.

use ed25519_batch::simd::{InstructionSet, Scalar, with_set};
use vanity_pattern::internals::Literal;
use vanity_pattern::internals::four_gram_filter::FourGramFilter;
use vanity_pattern::internals::literals::Literals;
use vanity_pattern::internals::needle::{Needle, Positions};
use vanity_pattern::internals::symbol_classes::{ClassText, SymbolClasses, UNUSED};
use vanity_pattern::wire::Symbols;

use super::*;

/// Returns the values that a typed character stands for, by the definition of the options.
fn accepted(typed: u8, options: MatchOptions) -> Vec<u8> {
    let as_digit = |seen: u8| {
        let pairs = ["a4", "b8", "e3", "g9", "i1", "l1", "o0", "s5", "t7", "z2"];
        pairs.iter().any(|pair| pair.as_bytes() == [typed.to_ascii_lowercase(), seen])
    };
    let equals = |seen: u8| {
        typed == seen
            || !options.case_sensitive && typed.eq_ignore_ascii_case(&seen)
            || options.leet && as_digit(seen)
    };
    (0..64).filter(|value| equals(ALPHABET[usize::from(*value)])).collect()
}

/// A text that shows a pattern, and the position of the pattern's first character.
type Shown = (Values, usize);

/// Returns the texts that show `pattern`. `fill` is elsewhere, and `others` are beside it.
fn texts(pattern: &Pattern, fill: u8, others: &[u8]) -> Vec<Shown> {
    let (options, target) = (pattern.options(), pattern.options().target);
    let typed: Vec<Vec<u8>> = pattern.text().bytes().map(|byte| accepted(byte, options)).collect();
    let len = typed.len();
    let delimiters = [62, 63];
    let beside: &[u8] = match options.kind {
        Kind::Word => &delimiters,
        _ if len < 5 => others,
        _ => &[fill],
    };
    let last = BODY_LEN - len;
    let starts = match options.kind {
        Kind::Prefix => 0..=0,
        Kind::Suffix => last..=last,
        Kind::Word => 1..=last - 1,
        _ => 0..=last,
    };
    let mut all = Vec::new();
    for start in starts {
        let mut base = [fill; BODY_LEN];
        // The ends of a text hold few symbols, of which A is always one.
        for position in [0, BODY_LEN - 1] {
            if !target.symbols(position).has(fill) {
                base[position] = 0;
            }
        }
        let mut some = vec![base];
        let mut vary = |position: Option<usize>, values: &[u8]| {
            let Some(position) = position.filter(|position| *position < BODY_LEN) else { return };
            let allowed: Vec<u8> =
                values.iter().copied().filter(|value| target.symbols(position).has(*value)).collect();
            let with = |text: Values| allowed.iter().map(move |value| text.with(position, *value));
            some = some.iter().flat_map(|text| with(*text)).collect();
        };
        for (at, values) in typed.iter().enumerate() {
            vary(Some(start + at), values);
        }
        // The four-gram of a short literal begins at it or one character before it.
        let is_word = options.kind == Kind::Word;
        vary(start.checked_sub(1), beside);
        if len < 4 || is_word {
            vary(Some(start + len), beside);
        }
        if len < 3 && !is_word {
            vary(Some(start + len + 1), others);
        }
        let shown = |values: &Values| {
            let body = values.map(|value| ALPHABET[usize::from(value)]);
            pattern.find(&body).is_some() && bytes_of(target, values).is_some()
        };
        all.extend(some.into_iter().filter(shown).map(|values| (values, start)));
    }
    all
}

/// Values with one of them replaced.
trait With {
    fn with(self, position: usize, value: u8) -> Self;
}

impl With for Values {
    fn with(mut self, position: usize, value: u8) -> Self {
        self[position] = value;
        self
    }
}

/// Returns the literal of a pattern.
fn literal(pattern: &Pattern) -> Literal<'_> {
    Literal::of(pattern.text(), pattern.options())
}

/// Checks every stage for a list. Returns the number of texts.
fn check(patterns: &[Pattern], of: impl Iterator<Item = usize>) -> usize {
    let target = patterns[0].options().target;
    let literals = || patterns.iter().map(literal);
    let sets: Vec<Symbols> = literals().flat_map(|literal| literal.characters()).collect();
    let classes = SymbolClasses::new(sets.iter().copied());
    for set in &sets {
        let mut of_set = (0..64).filter(|value| set.has(*value)).map(|value| classes.of(value));
        let first = of_set.next().unwrap();
        assert!(first & UNUSED == 0 && of_set.all(|class| class == first), "a set in two classes");
    }
    // One symbol of each class. That of no literal, if there is one, fills the texts.
    let others: Vec<u8> =
        (0..64).filter(|value| (0..*value).all(|before| classes.of(before) != classes.of(*value))).collect();
    let unused = others.iter().copied().find(|value| classes.of(*value) & UNUSED != 0);
    let few: Vec<u8> = others.iter().copied().take(6).chain(unused).collect();
    let all: Vec<Shown> = of.flat_map(|id| texts(&patterns[id], unused.unwrap_or(0), &few)).collect();
    let keys = all.iter().map(|(values, _)| bytes_of(target, values).unwrap());
    let batch: Vec<Bytes> = keys.map(|bytes| passed(target, bytes)).collect();

    let starts_pass = |name: &str, reported: &[Positions]| {
        for ((values, start), reported) in all.iter().zip(reported) {
            // The needle of a word begins at its delimiter.
            let is_reported = |start: usize| reported.each().any(|reported| reported == start);
            let before = start.checked_sub(1).is_some_and(is_reported);
            let has_words = patterns.iter().any(|pattern| pattern.options().kind == Kind::Word);
            let text = values.map(|value| char::from(ALPHABET[usize::from(value)]));
            assert!(
                is_reported(*start) || has_words && before,
                "{name}: {} at {start}",
                text.iter().collect::<String>()
            );
        }
    };
    let set = InstructionSet::widest();
    let mut reported = vec![Positions::default(); all.len()];
    for most in [4, 6] {
        if let Some(four_grams) = FourGramFilter::new(set, target, &classes, most, literals()) {
            reported.fill(Positions::default());
            four_grams.candidates(&batch, &mut |candidates, _, starts| {
                candidates.iter().zip(starts).for_each(|(at, starts)| reported[*at] = *starts);
            });
            starts_pass("four-grams", &reported);
        }
    }
    let ids: Vec<usize> = (0..patterns.len()).collect();
    reported.fill(Positions::default());
    Literals::new(set, target, &ids, Box::new(|id| literal(&patterns[id]))).texts(
        &batch,
        &mut |candidates, _, starts| {
            candidates.iter().zip(starts).for_each(|(at, starts)| reported[*at] = *starts);
        },
    );
    starts_pass("the chosen filters", &reported);
    let texts: Vec<Values> = all.iter().map(|(values, _)| *values).collect();
    assert_all_found(patterns, &texts, target);
    all.len()
}

fn pattern(text: &str, options: MatchOptions) -> Option<Pattern> {
    Pattern::new(text, options).ok()
}

const KINDS: [Kind; 4] = [Kind::Anywhere, Kind::Prefix, Kind::Suffix, Kind::Word];

#[test]
fn every_text_that_shows_one_literal_passes() {
    let mut tested = 0;
    for (target, kind) in TARGETS.into_iter().flat_map(|target| KINDS.map(|kind| (target, kind))) {
        for (text, reading) in ["iA", "C9", "+x/", "Ag4w", "kEttl", "BassI8", "97+36/Q0xe88"]
            .into_iter()
            .flat_map(|text| (0..4).map(move |reading| (text, reading)))
        {
            let Some(pattern) = pattern(text, options(kind, reading, target)) else { continue };
            tested += check(std::slice::from_ref(&pattern), 0..1);
        }
    }
    assert!(tested > 10_000, "{tested}");
}

#[test]
fn every_text_that_shows_a_literal_of_a_list_passes() {
    for target in TARGETS {
        let mut patterns = Vec::new();
        for (number, text) in
            ["abcd", "abcde", "xAbc", "xgbc", "Ab", "A", "kettA", "BassetA"].iter().enumerate()
        {
            let kinds = [number % 4, (number + 1) % 4].map(|at| KINDS[at]);
            patterns
                .extend(kinds.iter().filter_map(|kind| pattern(text, options(*kind, number % 4, target))));
        }
        // A list with a literal of one character has no filter. One with short ones marks
        // neighbors.
        for least in [1, 2, 4] {
            let some: Vec<Pattern> =
                patterns.iter().filter(|pattern| pattern.text().len() >= least).cloned().collect();
            assert!(check(&some, 0..some.len()) > 300);
        }
    }
}

/// Long lists have no rows of windows, and fill several entries of the index.
#[test]
fn every_text_that_shows_a_literal_of_a_long_list_passes() {
    for (target, reading) in [(Target::Key, 0), (Target::Key, 1), (Target::Fingerprint, 3)] {
        let letters = b"abcdeABCDE0189klmn";
        let word = |number: usize| -> String {
            let len = 4 + number % 5;
            (0..len as u32).map(|at| char::from(letters[number * 7919 / 18_usize.pow(at % 4) % 18])).collect()
        };
        let make = |number: usize| pattern(&word(number), options(KINDS[number / 5 % 4], reading, target));
        let patterns: Vec<Pattern> = (0..3000).filter_map(make).collect();
        assert!(check(&patterns, (0..patterns.len()).step_by(83)) > 1000);
    }
}

/// Checks the fold of every symbol at every place, with both signs and on two instruction sets.
#[test]
fn a_folded_text_has_the_class_of_every_symbol() {
    let classes = SymbolClasses::new((0..32).map(|value| Symbols(1 << value)));
    for target in TARGETS {
        let others = (0..BODY_LEN).flat_map(|position| (0..64).map(move |value| (position, value)));
        for (position, value, fill) in
            others.flat_map(|(position, value)| [(position, value, 0), (position, value, 1)])
        {
            let mut values = [if fill == 0 { 0 } else { 63 }; BODY_LEN];
            for at in [0, BODY_LEN - 1] {
                values[at] = if target.symbols(at).has(values[at]) { values[at] } else { 0 };
            }
            values[position] = value;
            let Some(bytes) = bytes_of(target, &values) else { continue };
            let bytes = passed(target, bytes);
            let signs = if target == Target::Key { [bytes, with_sign(bytes)] } else { [bytes; 2] };
            let all = [
                with_set!(InstructionSet::widest(), simd => ClassText::new(simd, classes.of_values(), target, &bytes)),
                ClassText::new(Scalar::plain(), classes.of_values(), target, &bytes),
            ];
            for (folded, sign) in all.iter().flat_map(|folded| [false, true].map(|sign| (folded, sign))) {
                let body = target.body(&signs[usize::from(sign)]);
                for start in (0..BODY_LEN).filter(|start| start.abs_diff(position) < 9) {
                    let count = (BODY_LEN - start).min(1 + (start + position) % 8);
                    let shown = &body[start..start + count];
                    let class = |byte: &u8| u64::from(classes.of(Symbols::of(*byte).first().unwrap()));
                    let expected = shown.iter().rev().fold(0, |window, byte| window << 8 | class(byte));
                    let sign = sign && target == Target::Key;
                    assert_eq!(folded.window(start, count, sign), expected, "{position} {value}");
                }
            }
        }
    }
}

/// A literal without a check, for texts that no list has.
#[test]
fn the_needle_of_a_literal_is_where_it_stands() {
    for (target, kind) in TARGETS.into_iter().flat_map(|target| KINDS.map(|kind| (target, kind))) {
        for len in 1..=BODY_LEN - 2 {
            let text = "k".repeat(len);
            let needle = Needle::of(&Literal::of(&text, options(kind, 1, target)));
            let around = usize::from(kind == Kind::Word);
            assert_eq!(needle.symbols.len(), len + 2 * around);
            assert!(needle.symbols[around..around + len].iter().all(|symbols| *symbols == Symbols::of(b'k')));
            let last = BODY_LEN - len - 2 * around;
            let places = match kind {
                Kind::Prefix => 0..=0,
                Kind::Suffix => last..=last,
                _ => 0..=last,
            };
            assert_eq!(needle.starts, places);
        }
    }
}
