use vanity_pattern::internals::Regex;
use vanity_pattern::internals::needle::Needle;
use vanity_pattern::internals::required_literals::{literal, needles};
use vanity_pattern::wire::Symbols;
use vanity_pattern::{Kind, MatchOptions, Pattern};

/// Returns the needles of an expression: each character, or the number of its symbols, and the
/// first and last place.
fn needles_of(expression: &str) -> Option<Vec<(String, usize, usize)>> {
    let options = MatchOptions { kind: Kind::Regex, case_sensitive: true, ..MatchOptions::default() };
    let (regex, _) = Regex::new(expression, options).unwrap();
    let character = |symbols: &Symbols| match symbols.bytes().collect::<Vec<_>>()[..] {
        [one] => char::from(one).to_string(),
        ref some => format!("<{}>", some.len()),
    };
    let shown = |needle: Needle| {
        (needle.symbols.iter().map(character).collect(), *needle.starts.start(), *needle.starts.end())
    };
    needles(regex.hir()).map(|needles| needles.into_iter().map(shown).collect())
}

#[test]
fn the_rarest_needles_have_their_places() {
    for (expression, text, first, last) in [
        ("abc", "abc", 0, 40),
        ("^Abc", "Abc", 0, 0),
        ("abc$", "abc", 40, 40),
        ("^..[a-d].b", "<4><64>b", 2, 2),
        ("[a-d].b..$", "<4><64>b", 38, 38),
        ("^.?abc", "abc", 0, 1),
        ("abc.{2,3}$", "abc", 37, 38),
        ("^.*abc.{5}", "abc", 0, 35),
        (".{7}abc.*$", "abc", 7, 40),
        ("ab.*cde", "cde", 2, 40),
        ("cde.*ab", "cde", 0, 38),
        ("^A.*kett.*9", "kett", 1, 38),
        ("[0-9]{3}x*b", "<10><10><10>", 0, 39),
        ("ab{2,3}c", "abb", 0, 39),
        ("(?:ab)+", "ab", 0, 41),
        ("^(?:Ab){2}.{3,5}cd[a-z]", "AbAb", 0, 0),
        ("x(?:a|b*)yz", "yz", 1, 41),
        // A needle with fewer places is rarer, and so is one with fewer symbols.
        ("[c-d]ef.*[a-b]gh$", "<2>gh", 40, 40),
        ("^A[c-d]e.*[a-b]gh", "A<2>e", 0, 0),
        ("[c-d]ef.*[a-g]gh", "<2>ef", 0, 37),
    ] {
        assert_eq!(needles_of(expression), Some(vec![(text.into(), first, last)]), "{expression}");
    }
    for (expression, needles) in [
        ("(?:kett|bass)[0-9]", vec![("kett", 0, 39), ("bass", 0, 39)]),
        ("^.{2}(?:abc|def$)", vec![("abc", 2, 40), ("def", 40, 40)]),
        ("(?:.abc|defg).{3}", vec![("abc", 1, 40), ("defg", 0, 39)]),
    ] {
        let needles = needles.into_iter().map(|(text, first, last)| (text.to_string(), first, last));
        assert_eq!(needles_of(expression), Some(needles.collect()), "{expression}");
    }
    for expression in ["a*", "...", "a?b?", "(?:abc|d*)"] {
        assert_eq!(needles_of(expression), None, "{expression}");
    }
}

#[test]
fn the_literal_of_an_expression_is_in_its_text() {
    for (expression, case_sensitive, expected) in [
        ("k3xW9q.?z", false, Some("k3xW9q")),
        ("k3xW9q.?z", true, Some("k3xW9q")),
        ("^A.*Kett[0-9]", false, Some("Kett")),
        ("ab[cC]de", false, Some("de")),
        ("(?:ab){3}", true, Some("ab")),
        ("[a-d][e-h]", false, None),
        ("(?:kett|bass)9", false, None),
        ("a*", false, None),
    ] {
        let options = MatchOptions { kind: Kind::Regex, case_sensitive, ..MatchOptions::default() };
        let pattern = Pattern::new(expression, options).unwrap();
        let (regex, _) = Regex::new(expression, options).unwrap();
        let shown = literal(&pattern, &regex).map(|literal| literal.text());
        assert_eq!(shown, expected.map(str::as_bytes), "{expression}");
    }
}
