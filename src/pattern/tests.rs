//! The room's own tests: odds against enumeration, the matcher against plain comparison.

use proptest::prelude::*;

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
