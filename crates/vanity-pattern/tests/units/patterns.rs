//! Tests of the whole package: compares odds with enumeration, the matcher with plain comparison, and
//! its filters with the matcher.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;

use std::ops::Range;

use ed25519_batch::simd::InstructionSet;
use vanity_pattern::internals::{Automaton, Regex};
use vanity_pattern::wire::{self, Body, Target};
use vanity_pattern::*;

fn options(kind: Kind, case_sensitive: bool, leet: bool) -> MatchOptions {
    MatchOptions { kind, case_sensitive, leet, target: Target::Key }
}

fn pattern(text: &str, kind: Kind) -> Pattern {
    Pattern::new(text, options(kind, false, false)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refusal(text: &str, kind: Kind) -> (Reason, Range<usize>) {
    let error =
        Pattern::new(text, options(kind, false, false)).err().unwrap_or_else(|| panic!("{text} is accepted"));
    (error.reason().clone(), error.at())
}

/// Returns the share of all bodies of `len` characters that match. Tries every body.
fn enumerated(regex: &Regex, len: usize) -> f64 {
    let mut matched = 0u32;
    let total = 16 * 64u32.pow(len as u32 - 1);
    for mut number in 0..total {
        let mut body = vec![0; len];
        for symbol in body.iter_mut().rev() {
            *symbol = wire::ALPHABET[number as usize % 64];
            number /= 64;
        }
        matched += u32::from(regex.find(&body).is_some());
    }
    f64::from(matched) / f64::from(total)
}

/// The tests of odds do the same for literals.
#[test]
fn odds_of_expressions_equal_enumeration_of_short_bodies() {
    let regexes = [
        "a",
        "^a",
        "a$",
        "^[A-C]",
        "a.b",
        "^.a",
        "(ab|ba)",
        "a*b",
        "[^a]{3}$",
        "a|^b|c$",
        r"\d\d",
        "(?i:a)B",
        "^(a|b)?c",
        r"\bx",
        "[0-9]+[a-f]$",
        "x{2}|y{2}",
    ];
    for case_sensitive in [false, true] {
        for text in regexes {
            let Ok((regex, _)) = Regex::new(text, options(Kind::Regex, case_sensitive, false)) else {
                continue;
            };
            for len in 1..=3 {
                let (exact, dynamic) =
                    (enumerated(&regex, len), regex.chance(&Target::Key.positions()[..len]));
                assert!((dynamic - exact).abs() <= 1e-9 * exact, "{text}: {dynamic} is not {exact}");
            }
        }
    }
}

/// Compares whole bodies with closed forms, where inclusion and exclusion is short.
#[test]
fn odds_of_whole_bodies() {
    let close = |pattern: Pattern, exact: f64| {
        let probability = pattern.odds().probability();
        assert!(
            (probability / exact - 1.0).abs() < 1e-12,
            "{}: {probability} is not {exact}",
            pattern.text()
        );
    };
    close(pattern("a", Kind::Prefix), 1.0 / 16.0);
    close(pattern("abcdef", Kind::Prefix), 1.0 / 16.0 / 32f64.powi(5));
    close(pattern("abcdef", Kind::Suffix), 32f64.powi(-6));
    close(pattern("a", Kind::Anywhere), 1.0 - 15.0 / 16.0 * (31f64 / 32.0).powi(42));
    close(pattern("+", Kind::Anywhere), 1.0 - (63f64 / 64.0).powi(42));
    close(pattern("^[A-P]", Kind::Regex), 1.0);
    close(pattern(".{43}", Kind::Regex), 1.0);
    let whole = "A".repeat(43);
    close(pattern(&whole, Kind::Anywhere), 1.0 / 16.0 / 32f64.powi(42));
    // A word of 40 letters has only one place: between character 2 and character 43.
    let longest = "x".repeat(40);
    close(pattern(&longest, Kind::Word), 32f64.powi(-40) / 32f64.powi(2));
}

#[test]
fn impossible_patterns_are_refused_with_reason_and_place() {
    assert_eq!(refusal("", Kind::Anywhere), (Reason::Empty, 0..0));
    assert_eq!(refusal("ab=", Kind::Suffix), (Reason::NotBase64('='), 2..3));
    assert_eq!(refusal("aé", Kind::Anywhere), (Reason::NotBase64('é'), 1..2));
    assert_eq!(refusal("Q", Kind::Prefix), (Reason::FirstCharacter(Some('Q')), 0..1));
    assert_eq!(refusal("+", Kind::Prefix), (Reason::FirstCharacter(Some('+')), 0..1));
    assert_eq!(refusal("ssh-ed25519 AAAA", Kind::Anywhere).0, Reason::Header);
    assert_eq!(refusal(wire::FIXED, Kind::Prefix).0, Reason::Header);
    assert_eq!(refusal("AAAAC3b", Kind::Prefix).0, Reason::Header);
    assert!(Pattern::new("AAAAC3b", MatchOptions::default()).is_ok(), "it may stand elsewhere");
    assert_eq!(refusal(&"x".repeat(44), Kind::Anywhere), (Reason::TooLong { len: 44, most: 43 }, 43..44));
    assert_eq!(refusal(&"x".repeat(41), Kind::Word).0, Reason::TooLong { len: 41, most: 40 });
    assert_eq!(refusal(&"x".repeat(43), Kind::Suffix).0, Reason::FirstCharacter(Some('x')));

    assert_eq!(refusal("^[Q-Z]", Kind::Regex), (Reason::FirstCharacter(None), 1..6));
    assert_eq!(refusal("abc=", Kind::Regex), (Reason::NeverBase64(Some('=')), 3..4));
    assert_eq!(refusal(r"\x2d", Kind::Regex), (Reason::NeverBase64(Some('-')), 0..4));
    assert_eq!(refusal("ab[-_]", Kind::Regex), (Reason::NeverBase64(None), 2..6));
    assert_eq!(refusal("^ssh-ed25519 AAAAC3x", Kind::Regex), (Reason::Header, 1..19));
    assert_eq!(refusal("^AAAAC3x", Kind::Regex), (Reason::Header, 1..7));
    assert!(Pattern::new("AAAAC3x", options(Kind::Regex, false, false)).is_ok(), "it may stand elsewhere");
    assert_eq!(refusal("a$b", Kind::Regex), (Reason::NeverMatches, 2..3));
    assert_eq!(refusal("^a$", Kind::Regex), (Reason::OtherLength, 2..3));
    assert_eq!(refusal("^.{44}", Kind::Regex), (Reason::TooLong { len: 44, most: 43 }, 0..6));
    assert!(matches!(
        refusal("a(b", Kind::Regex),
        (Reason::Syntax { is_literal: false, .. }, Range { start: 1, end: 2 })
    ));
    assert!(matches!(refusal("(?i", Kind::Regex), (Reason::Syntax { .. }, Range { start: 3, end: 4 })));
    assert!(matches!(refusal("+a", Kind::Regex).0, Reason::Syntax { is_literal: true, .. }));
    assert_eq!(refusal("(a.{20}){2}", Kind::Regex).0, Reason::TooComplex);
}

#[test]
fn the_target_is_known_and_named() {
    for (target, words) in [(Target::Key, "key text"), (Target::Fingerprint, "a fingerprint")] {
        let options = MatchOptions { target, ..MatchOptions::default() };
        assert_eq!(Matcher::new(&[Pattern::new("ab", options).unwrap()]).target(), target);
        let error = Pattern::new("a=", options).err().unwrap();
        assert_eq!(error.to_string(), format!("character 2, '=', never occurs in {words}"));
        assert_eq!((error.target(), error.remedy()), (target, Remedy::LeaveOutPadding));
    }
}

#[test]
fn leet_adds_the_digit_and_keeps_the_letter() {
    let leet = |text, case_sensitive, attempts: f64| {
        let pattern = Pattern::new(text, options(Kind::Prefix, case_sensitive, true)).unwrap();
        let expected = pattern.odds().expected_attempts();
        assert!((expected / attempts - 1.0).abs() < 1e-12, "{text}: {expected} is not {attempts}");
    };
    leet("Abegilostz", false, 16.0 * (64f64 / 3.0).powi(9));
    leet("Aa", true, 16.0 * 32.0);
    // A digit matches only itself.
    leet("A4", false, 16.0 * 64.0);
}

#[test]
fn the_odds_of_several_patterns_count_no_key_twice() {
    let several = |texts: &[&str]| {
        let patterns: Vec<Pattern> = texts.iter().map(|text| pattern(text, Kind::Regex)).collect();
        any_of(patterns.iter()).filter(Bounds::is_exact).map(|bounds| bounds.at_most.probability())
    };
    let close = |left: Option<f64>, right: f64| (left.unwrap() / right - 1.0).abs() < 1e-12;
    assert!(close(several(&["^A", "^B"]), 2.0 / 16.0));
    assert!(close(several(&["^A", "b$"]), 1.0 / 16.0 + 1.0 / 32.0 - 1.0 / 16.0 / 32.0));
    assert!(close(several(&["^[AB]", "^A"]), 2.0 / 16.0));
    assert_eq!(several(&[]), None);
    assert_eq!(several(&["^A"; 33]), None);
    // Any number of literals.
    let words: Vec<Pattern> =
        ["cat", "car", "category"].iter().map(|text| pattern(text, Kind::Prefix)).collect();
    let all = any_of(words.iter()).unwrap();
    assert!(all.is_exact() && (all.at_least.probability() * 16.0 * 32.0 * 32.0 - 2.0).abs() < 1e-12);
    // A list with too many patterns has bounds: the likeliest pattern, and the sum.
    let mut many: Vec<Pattern> = (0..40).map(|_| pattern("^A", Kind::Regex)).collect();
    many.extend(words);
    let bounds = any_of(many.iter()).unwrap();
    assert_eq!(bounds.at_least.probability(), 1.0 / 16.0);
    assert_eq!(bounds.at_most.probability(), 1.0);
}

#[test]
fn the_likeliest_words_are_the_lower_bound_of_a_list_with_too_many_characters() {
    let words = |letters: &'static [u8], len, count| {
        let word = move |number: usize| -> String {
            (0..len as u32)
                .map(|at| letters[number / letters.len().pow(at % 8) % letters.len()])
                .map(char::from)
                .collect()
        };
        (0..count).map(move |number| pattern(&word(number), Kind::Anywhere))
    };
    let short: Vec<Pattern> = words(b"abcdefghijklm", 5, 1000).collect();
    let of_short = any_of(short.iter()).filter(Bounds::is_exact).unwrap().at_most.probability();
    // Long words before and after the short ones: they add a negligible chance, but too many
    // characters.
    let mut all: Vec<Pattern> = words(b"nopq", 34, 12_500).collect();
    all.extend(short);
    all.extend(words(b"rstu", 34, 12_500));
    let bounds = any_of(all.iter()).unwrap();
    assert!(!bounds.is_exact());
    assert!((bounds.at_least.probability() / of_short - 1.0).abs() < 1e-12, "{bounds:?}, {of_short}");
    let sum: f64 = all.iter().map(|pattern| pattern.odds().probability()).sum();
    assert!((bounds.at_most.probability() / sum - 1.0).abs() < 1e-12, "{bounds:?}, {sum}");
    assert!(of_short < sum);
}

#[test]
fn a_pattern_keeps_what_was_typed() {
    let options =
        MatchOptions { kind: Kind::Anywhere, case_sensitive: true, leet: true, target: Target::Fingerprint };
    let literal = Pattern::new("Alice", options).unwrap();
    assert_eq!((literal.text(), literal.options(), Matcher::bytes_for(&literal)), ("Alice", options, 0));
    let regex = |text| pattern(text, Kind::Regex);
    assert_eq!(regex("a.b").text(), "a.b");
    assert!(
        (400..100_000).contains(&Matcher::bytes_for(&regex("^a.{20}b"))),
        "{}",
        Matcher::bytes_for(&regex("^a.{20}b"))
    );
    assert!(Matcher::bytes_for(&regex("^a.{20}b")) > Matcher::bytes_for(&regex("^a.b")));
    // No body has another line, so nothing takes memory to tell them apart.
    assert_eq!(Matcher::bytes_for(&regex("^a.b")), Matcher::bytes_for(&regex("(?s)^a.b")));
    assert!(Matcher::bytes_for(&regex("^a.b")) < Matcher::bytes_for(&regex("(?-s)^a.b")));
    let automaton = Automaton::of(&regex_syntax::parse("^a.{20}b").unwrap()).unwrap();
    // Each state has some twenty successors of four bytes.
    let states = automaton.states() as usize;
    assert!((40 * states..160 * states).contains(&automaton.bytes()), "{} of {states}", automaton.bytes());
}

fn below(random: &mut ChaCha8Rng, end: usize) -> usize {
    random.next_u32() as usize % end
}

fn random_keys(seed: u8, keys: usize) -> Vec<[u8; wire::KEY_LEN]> {
    let mut random = vec![[0; wire::KEY_LEN]; keys];
    ChaCha8Rng::from_seed([seed; 32]).fill_bytes(random.as_flattened_mut());
    random
}

/// Decodes the key that shows a body, after the fixed characters.
fn key_of(body: &Body) -> [u8; wire::KEY_LEN] {
    let blob = STANDARD_NO_PAD.decode([wire::FIXED.as_bytes(), body].concat()).unwrap();
    *blob.last_chunk().unwrap()
}

fn without_sign(mut key: [u8; wire::KEY_LEN]) -> [u8; wire::KEY_LEN] {
    key[31] &= 0x7f;
    key
}

/// Returns the bytes of a batch as an engine passes them.
fn batch(target: Target, seed: u8, count: usize) -> Vec<[u8; wire::KEY_LEN]> {
    let bytes = random_keys(seed, count);
    if target == Target::Key { bytes.into_iter().map(without_sign).collect() } else { bytes }
}

/// The filters pass the keys that show a pattern with either sign, and no others: lists of every
/// kind and size, with every instruction set in turn. The patterns are so short that random keys
/// match them. `tests/all/naive.rs` compares with a naive search.
#[test]
fn the_filters_pass_what_the_matcher_finds() {
    let mut random = ChaCha8Rng::from_seed([7; 32]);
    let mut passed = 0;
    for list in 0..30 {
        let target = [Target::Key, Target::Fingerprint][list % 2];
        // One pattern, a few for the rows, many for the quads; of one kind, or of all.
        let kind = [None, Some(Kind::Anywhere), Some(Kind::Prefix), Some(Kind::Regex)][list % 4];
        let many = if kind == Some(Kind::Regex) { 100 } else { 500 };
        let size = [1, 5, 60, many][list / 2 % 4];
        let longest = if size == many { 6 } else { 4 };
        let patterns = random_patterns(&mut random, size, kind, longest, target);
        // Every engine matches with its own instruction set.
        let sets = InstructionSet::every();
        let matcher = Matcher::with_set(sets[(list / 8 + list) % sets.len()], &patterns, 0..patterns.len());
        let batch = batch(target, list as u8, 4000);
        let shows = |bytes: &[u8; wire::KEY_LEN]| {
            matcher.is_match(bytes) || target == Target::Key && matcher.is_match(&wire::with_sign(*bytes))
        };
        let expected: Vec<usize> = (0..batch.len()).filter(|&place| shows(&batch[place])).collect();
        assert!(matcher.candidates(&batch) == expected, "list {list}: {} matches", expected.len());
        passed += expected.len();
    }
    assert!(passed > 4000, "{passed} keys passed");
}

/// Returns random patterns that some key can match.
fn random_patterns(
    random: &mut ChaCha8Rng,
    count: usize,
    kind: Option<Kind>,
    longest: usize,
    target: Target,
) -> Vec<Pattern> {
    let kinds = [Kind::Anywhere, Kind::Prefix, Kind::Suffix, Kind::Word, Kind::Regex];
    let mut patterns = Vec::new();
    while patterns.len() < count {
        let kind = kind.unwrap_or(kinds[below(random, kinds.len())]);
        let len = 2 + below(random, longest - 1);
        let symbol = |random: &mut ChaCha8Rng| char::from(wire::ALPHABET[below(random, 64)]);
        let mut text: String = (0..len).map(|_| symbol(random)).collect();
        if kind == Kind::Regex {
            text = match below(random, 9) {
                0 => format!("^[A-P]{text}"),
                1 => format!("{}.{{{}}}{}", symbol(random), below(random, 4), symbol(random)),
                2 => format!("{text}.*[0-9]{{2}}"),
                3 => format!("({}|{text})x", symbol(random)),
                4 => format!("[a-m]+{}[A-Q048]$", symbol(random)),
                5 => format!("^.{{{}}}{text}", below(random, 30)),
                6 => format!("{text}?{}{{2,3}}", symbol(random)),
                7 => format!("({text}|^A{}|{}[AQg0w]$)", symbol(random), symbol(random)),
                _ => format!("{}(b|c{})*{}", symbol(random), symbol(random), symbol(random)),
            };
            text = text.replace('+', "[+]").replace("[a-m][+]", "[a-m]+");
        }
        let leet = kind != Kind::Regex && below(random, 3) == 0;
        let options = MatchOptions { kind, case_sensitive: below(random, 2) == 0, leet, target };
        patterns.extend(Pattern::new(&text, options));
    }
    patterns
}

#[test]
fn a_matcher_of_some_patterns_keeps_their_ids() {
    let patterns: Vec<Pattern> =
        ["ab", "cd", "ef", "a"].iter().map(|text| pattern(text, Kind::Prefix)).collect();
    let mut body = *wire::body(&wire::text(&[0; wire::KEY_LEN]));
    body[..2].copy_from_slice(b"Ab");
    let key = key_of(&body);
    assert_eq!(Matcher::new(&patterns).find(&key), [0, 3]);
    assert_eq!(Matcher::of(&patterns, [1, 3]).find(&key), [3]);
    assert!(Matcher::of(&patterns, [1, 2]).find(&key).is_empty());
    assert_ne!(Matcher::new(&patterns).number(), Matcher::new(&patterns).number());
    assert!(Matcher::new(&[]).candidates(&[key]).is_empty());
}

fn any_options() -> impl Strategy<Value = MatchOptions> {
    let kinds = [Kind::Anywhere, Kind::Prefix, Kind::Suffix, Kind::Word, Kind::Regex];
    (prop::sample::select(kinds.to_vec()), any::<bool>(), any::<bool>())
        .prop_map(|(kind, case_sensitive, leet)| options(kind, case_sensitive, leet && kind != Kind::Regex))
}

proptest! {
    /// Tests bodies of few symbols, so that matches are common, overlap, and differ by case and
    /// digit.
    #[test]
    fn the_matcher_equals_plain_comparison(
        typed in prop::collection::vec(("[AaIiLl14+]{1,4}", any_options()), 1..12),
        bodies in prop::collection::vec("[AaIiLl14+/]{43}", 1..8),
    ) {
        let patterns: Vec<Pattern> =
            typed.iter().filter_map(|(text, options)| Pattern::new(text, *options).ok()).collect();
        let matcher = Matcher::new(&patterns);
        for body in bodies {
            // The key has only four bits of character 0.
            let key = key_of(body.as_bytes().try_into().unwrap());
            let body = &Target::Key.body(&key);
            let found = matcher.find(&key);
            prop_assert_eq!(matcher.is_match(&key), !found.is_empty());
            let plain: Vec<PatternId> =
                (0..patterns.len()).filter(|&id| patterns[id].find(body).is_some()).collect();
            prop_assert_eq!(found, plain);
        }
    }

    /// Tests that any typed text gives a pattern or a reason, and never a panic.
    #[test]
    fn any_text_gives_a_pattern_or_an_error(text in ".{0,60}", options in any_options()) {
        if let Err(error) = Pattern::new(&text, options) {
            prop_assert!(error.at().end <= text.chars().count() + 1);
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
