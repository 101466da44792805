//! The room's own tests: odds against enumeration, the matcher against plain comparison, the prefilter
//! against the matcher.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;

use super::*;

fn style(kind: Kind, case_sensitive: bool, leet: bool) -> Style {
    Style { kind, case_sensitive, leet }
}

fn pattern(text: &str, kind: Kind) -> Pattern {
    Pattern::new(text, style(kind, false, false)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refusal(text: &str, kind: Kind) -> (Reason, Range<usize>) {
    let error =
        Pattern::new(text, style(kind, false, false)).err().unwrap_or_else(|| panic!("{text} is accepted"));
    (error.reason().clone(), error.at())
}

/// The share of all bodies of `len` characters that match, by trying every one of them.
fn enumerated(form: &Form, len: usize) -> f64 {
    let mut matched = 0u32;
    let total = 16 * 64u32.pow(len as u32 - 1);
    for mut number in 0..total {
        let mut body = vec![0; len];
        for symbol in body.iter_mut().rev() {
            *symbol = wire::ALPHABET[number as usize % 64];
            number /= 64;
        }
        matched += u32::from(match form {
            Form::Literal(literal) => literal.find(&body).is_some(),
            Form::Regex(regex) => regex.find(&body).is_some(),
        });
    }
    f64::from(matched) / f64::from(total)
}

fn computed(form: &Form, len: usize) -> f64 {
    match form {
        Form::Literal(literal) => literal.chance(&positions()[..len]).unwrap(),
        Form::Regex(regex) => regex.chance(&positions()[..len]),
    }
}

#[test]
fn odds_equal_enumeration_of_short_bodies() {
    let literals = ["a", "Q", "+", "1", "ab", "aa", "z9", "Pp", "il", "aba", "AAA", "o0o"];
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
    let mut compared = 0;
    for case_sensitive in [false, true] {
        let mut forms = Vec::new();
        for leet in [false, true] {
            for kind in [Kind::Anywhere, Kind::Prefix, Kind::Suffix, Kind::Word] {
                let style = style(kind, case_sensitive, leet);
                forms.extend(
                    literals.iter().filter_map(|text| Literal::new(text, style).ok()).map(Form::Literal),
                );
            }
        }
        forms.extend(
            regexes
                .iter()
                .filter_map(|text| Regex::new(text, case_sensitive).ok())
                .map(|regex| Form::Regex(Box::new(regex))),
        );
        for form in &forms {
            for len in 1..=3 {
                let (exact, dynamic) = (enumerated(form, len), computed(form, len));
                assert!((dynamic - exact).abs() <= 1e-9 * exact, "{dynamic} is not {exact}");
                compared += 1;
            }
        }
    }
    assert!(compared > 500, "{compared} comparisons");
}

/// Closed forms for whole bodies, where inclusion and exclusion stays short.
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
    // A word of 40 letters has one place only: between character 2 and character 43.
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
    assert_eq!(refusal(&"x".repeat(44), Kind::Anywhere), (Reason::TooLong { len: 44, most: 43 }, 43..44));
    assert_eq!(refusal(&"x".repeat(41), Kind::Word).0, Reason::TooLong { len: 41, most: 40 });
    assert_eq!(refusal(&"x".repeat(43), Kind::Suffix).0, Reason::FirstCharacter(Some('x')));

    assert_eq!(refusal("^[Q-Z]", Kind::Regex), (Reason::FirstCharacter(None), 1..6));
    assert_eq!(refusal("abc=", Kind::Regex), (Reason::NeverBase64, 3..4));
    assert_eq!(refusal("a$b", Kind::Regex), (Reason::NeverMatches, 2..3));
    assert_eq!(refusal("^a$", Kind::Regex), (Reason::OtherLength, 2..3));
    assert_eq!(refusal("^.{44}", Kind::Regex), (Reason::TooLong { len: 44, most: 43 }, 0..6));
    assert!(matches!(refusal("a(b", Kind::Regex), (Reason::Syntax(_), Range { start: 1, end: 2 })));
    assert_eq!(refusal("(a.{20}){2}", Kind::Regex).0, Reason::TooComplex);
}

#[test]
fn leet_adds_the_digit_and_keeps_the_letter() {
    let leet = |text, case_sensitive, attempts: f64| {
        let pattern = Pattern::new(text, style(Kind::Prefix, case_sensitive, true)).unwrap();
        let expected = pattern.odds().expected_attempts();
        assert!((expected / attempts - 1.0).abs() < 1e-12, "{text}: {expected} is not {attempts}");
    };
    leet("Abegilostz", false, 16.0 * (64f64 / 3.0).powi(9));
    leet("Aa", true, 16.0 * 32.0);
    // The digit itself stands for itself alone.
    leet("A4", false, 16.0 * 64.0);
}

#[test]
fn the_odds_of_several_patterns_count_no_key_twice() {
    let several = |texts: &[&str]| {
        let patterns: Vec<Pattern> = texts.iter().map(|text| pattern(text, Kind::Regex)).collect();
        any_of(&patterns).map(Odds::probability)
    };
    let close = |left: Option<f64>, right: f64| (left.unwrap() / right - 1.0).abs() < 1e-12;
    assert!(close(several(&["^A", "^B"]), 2.0 / 16.0));
    assert!(close(several(&["^A", "b$"]), 1.0 / 16.0 + 1.0 / 32.0 - 1.0 / 16.0 / 32.0));
    assert!(close(several(&["^[AB]", "^A"]), 2.0 / 16.0));
    assert_eq!(several(&[]), None);
    assert_eq!(several(&["^A"; 33]), None);
}

/// The kinds that are no expressions.
const LITERAL_KINDS: [Kind; 4] = [Kind::Anywhere, Kind::Prefix, Kind::Suffix, Kind::Word];

fn below(random: &mut ChaCha8Rng, end: usize) -> usize {
    random.next_u32() as usize % end
}

fn random_keys(seed: u8, keys: usize) -> Vec<[u8; wire::KEY_LEN]> {
    let mut random = vec![[0; wire::KEY_LEN]; keys];
    ChaCha8Rng::from_seed([seed; 32]).fill_bytes(random.as_flattened_mut());
    random
}

/// The key of a body, decoded after the fixed characters.
fn key_of(body: &Body) -> [u8; wire::KEY_LEN] {
    let blob = STANDARD_NO_PAD.decode([wire::FIXED.as_bytes(), body].concat()).unwrap();
    *blob.last_chunk().unwrap()
}

fn with_both_signs(key: &[u8; wire::KEY_LEN]) -> [[u8; wire::KEY_LEN]; 2] {
    let mut other = *key;
    other[31] ^= 0x80;
    [*key, other]
}

/// A random body that shows `literal` at `at`; `None` if character 0 cannot be what that takes.
fn planted(literal: &Literal, kind: Kind, at: usize, random: &mut ChaCha8Rng) -> Option<Body> {
    let mut key = [0; wire::KEY_LEN];
    random.fill_bytes(&mut key);
    let mut body = *wire::body(&wire::text(&key));
    for offset in 0..literal.len() {
        let symbols = literal.symbols(offset).and(Symbols::at(at + offset));
        let symbols: Vec<u8> = symbols.bytes().collect();
        body[at + offset] = *symbols.get(below(random, symbols.len().max(1)))?;
    }
    if kind == Kind::Word {
        body[at - 1] = b"+/"[below(random, 2)];
        body[at + literal.len()] = b"+/"[below(random, 2)];
    }
    Some(body)
}

/// Every kind and length, with and without case and leet, alone and together with others, at every place.
#[test]
fn a_key_that_shows_a_pattern_passes_with_either_sign() {
    let mut random = ChaCha8Rng::from_seed([1; 32]);
    let mut tested = 0;
    for (len, kind) in (1..=wire::BODY_LEN).flat_map(|len| LITERAL_KINDS.map(|kind| (len, kind))) {
        let mut patterns = Vec::new();
        while patterns.len() < 3 {
            let text: String = (0..len).map(|_| char::from(wire::ALPHABET[below(&mut random, 64)])).collect();
            let style = style(kind, below(&mut random, 2) == 0, below(&mut random, 2) == 0);
            match Pattern::new(&text, style) {
                Ok(pattern) => patterns.push(pattern),
                Err(_) if kind == Kind::Word && len > wire::BODY_LEN - 3 => break,
                Err(_) => {}
            }
        }
        let Some(first) = patterns.first() else { continue };
        let Form::Literal(literal) = &first.form else { unreachable!() };
        let (alone, together) = (Matcher::new(&patterns[..1]).unwrap(), Matcher::new(&patterns).unwrap());
        let places = match kind {
            Kind::Prefix => 0..=0,
            Kind::Suffix => wire::BODY_LEN - len..=wire::BODY_LEN - len,
            // Character 0 is no delimiter, and one stands behind.
            Kind::Word => 2..=wire::BODY_LEN - len - 1,
            _ => 0..=wire::BODY_LEN - len,
        };
        for at in places {
            let Some(body) = planted(literal, kind, at, &mut random) else { continue };
            assert!(first.find(&body).is_some(), "{} at {at} is planted", first.text());
            for key in with_both_signs(&key_of(&body)) {
                assert!(alone.may_match(&key), "{} at {at}, alone", first.text());
                assert!(together.may_match(&key), "{} at {at}, with others", first.text());
                tested += 1;
            }
        }
    }
    assert!(tested > 2000, "{tested} keys");
}

/// Patterns so short that random keys match them.
#[test]
fn no_random_key_that_matches_is_refused() {
    let exact = |text| Pattern::new(text, style(Kind::Anywhere, true, false)).unwrap();
    let leet = |text, kind| Pattern::new(text, style(kind, false, true)).unwrap();
    let lists = [
        vec![pattern("abcd", Kind::Anywhere), pattern("abc", Kind::Prefix), pattern("ba", Kind::Prefix)],
        vec![pattern("ab", Kind::Suffix), pattern("z9k", Kind::Suffix), pattern("x", Kind::Suffix)],
        vec![leet("lo", Kind::Suffix), exact("z/Qw")],
        vec![leet("s", Kind::Word), pattern("abc", Kind::Word)],
        vec![pattern("x", Kind::Word)],
        vec![pattern("ab.d", Kind::Regex), pattern("kettle", Kind::Anywhere)],
    ];
    let keys = random_keys(2, 50_000);
    for list in lists {
        let matcher = Matcher::new(&list).unwrap();
        let mut survivors = Vec::new();
        matcher.survivors(&keys, |index| survivors.push(index));
        let passing: Vec<usize> = (0..keys.len()).filter(|&index| matcher.may_match(&keys[index])).collect();
        assert_eq!(survivors, passing, "one key and many");
        let mut matches = 0;
        for (index, key) in keys.iter().enumerate() {
            let is_match = |key| matcher.is_match(wire::body(&wire::text(key)));
            if with_both_signs(key).iter().any(is_match) {
                assert!(survivors.binary_search(&index).is_ok(), "{}: {key:02x?}", list[0].text());
                matches += 1;
            }
        }
        assert!(matches > 10, "{}: {matches} matches", list[0].text());
    }
}

/// The share of random keys that may match, in percent.
fn percent_passing(patterns: &[Pattern]) -> f64 {
    let keys = random_keys(3, 100_000);
    let mut passing = 0;
    Matcher::new(patterns).unwrap().survivors(&keys, |_| passing += 1);
    f64::from(passing) / keys.len() as f64 * 100.0
}

#[test]
fn few_random_keys_pass() {
    let one = |text, kind| percent_passing(&[pattern(text, kind)]);
    assert!(one("kettle", Kind::Anywhere) < 0.1);
    assert!(one("ket", Kind::Prefix) < 0.1);
    assert!(one("ket", Kind::Suffix) < 1.0);
    assert!(one("word", Kind::Anywhere) < 2.0, "no body begins with w");
    assert!(one("kettl", Kind::Word) < 0.1);
    let ten = [
        "kettle", "basin", "window", "garden", "pepper", "harbour", "meadow", "copper", "lantern", "thimble",
    ];
    assert!(percent_passing(&ten.map(|text| pattern(text, Kind::Anywhere))) < 2.0);
    assert_eq!(percent_passing(&[]), 0.0, "nothing is looked for");
}

#[test]
fn every_key_passes_where_nothing_can_be_told() {
    let all = |patterns: &[Pattern]| percent_passing(patterns) == 100.0;
    let kettle = || pattern("kettle", Kind::Anywhere);
    assert!(all(&[pattern("a", Kind::Anywhere)]));
    assert!(all(&[pattern("a", Kind::Suffix), kettle()]), "the last character is in no window");
    assert!(all(&[kettle(), pattern("^A", Kind::Regex)]));
}

fn any_style() -> impl Strategy<Value = Style> {
    let kinds = [Kind::Anywhere, Kind::Prefix, Kind::Suffix, Kind::Word, Kind::Regex];
    (prop::sample::select(kinds.to_vec()), any::<bool>(), any::<bool>())
        .prop_map(|(kind, case_sensitive, leet)| style(kind, case_sensitive, leet && kind != Kind::Regex))
}

proptest! {
    /// Bodies over few symbols, so that matches are common, overlap, and differ by case and digit.
    #[test]
    fn the_matcher_equals_plain_comparison(
        typed in prop::collection::vec(("[AaIiLl14+]{1,4}", any_style()), 1..12),
        bodies in prop::collection::vec("[AaIiLl14+/]{43}", 1..8),
    ) {
        let patterns: Vec<Pattern> =
            typed.iter().filter_map(|(text, style)| Pattern::new(text, *style).ok()).collect();
        let matcher = Matcher::new(&patterns).unwrap();
        for body in bodies {
            let body: &Body = body.as_bytes().try_into().unwrap();
            let found = matcher.find(body);
            prop_assert_eq!(matcher.is_match(body), !found.is_empty());
            let plain: Vec<PatternId> =
                (0..patterns.len()).filter(|&id| patterns[id].find(body).is_some()).collect();
            prop_assert_eq!(found, plain);
        }
    }

    /// Whatever is typed, the answer is a pattern or a reason; never a panic.
    #[test]
    fn any_text_is_answered(text in ".{0,60}", style in any_style()) {
        if let Err(error) = Pattern::new(&text, style) {
            prop_assert!(error.at().end <= text.chars().count() + 1);
            prop_assert!(!error.to_string().is_empty() && !error.hint().is_empty());
        }
    }
}
