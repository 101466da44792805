use vanity_pattern::internals::in_two_parts;
use vanity_pattern::{Change, Kind, MatchOptions, Pattern, Variant, fitting, likelier};

fn pattern(text: &str, options: MatchOptions) -> Pattern {
    Pattern::new(text, options).unwrap()
}

fn texts(variants: &[Variant]) -> Vec<String> {
    let text = |variant: &Variant| {
        let MatchOptions { kind, case_sensitive, leet, .. } = variant.pattern.options();
        let flags = [(case_sensitive, "s"), (leet, "l")].into_iter().filter(|(on, _)| *on);
        format!(
            "{kind:?} {}{}",
            flags.map(|(_, name)| format!("{name} ")).collect::<String>(),
            variant.pattern.text()
        )
    };
    variants.iter().map(text).collect()
}

#[test]
fn variants_differ_in_one_way_and_the_likeliest_is_first() {
    let variants = likelier(&pattern("vanity", MatchOptions::default()));
    assert_eq!(texts(&variants), ["Anywhere vani", "Anywhere vanit", "Regex van.*ity", "Anywhere l vanity"]);
    let options = MatchOptions { kind: Kind::Prefix, case_sensitive: true, ..MatchOptions::default() };
    let variants = likelier(&pattern("Abc", options));
    let expected = ["Anywhere s Abc", "Prefix Abc", "Prefix s l Abc"];
    assert_eq!(texts(&variants), expected, "three characters are the fewest");
    for variant in variants {
        assert_eq!((variant.changes.len(), variant.kept), (1, 3));
    }
}

#[test]
fn what_changes_nothing_is_no_variant() {
    let exact = MatchOptions { case_sensitive: true, leet: true, ..MatchOptions::default() };
    assert_eq!(texts(&likelier(&pattern("77+", exact))), [""; 0]);
    let regex = MatchOptions { kind: Kind::Regex, ..MatchOptions::default() };
    assert_eq!(texts(&likelier(&pattern("a.*b", regex))), [""; 0]);
    let variants = likelier(&pattern("a.*b", MatchOptions { case_sensitive: true, ..regex }));
    assert_eq!(texts(&variants), ["Regex a.*b"]);
}

#[test]
fn a_word_is_divided_where_a_part_of_it_ends() {
    for (text, kind, leet, expected) in [
        ("alice", Kind::Anywhere, false, "ali.*ce"),
        ("aliceBob", Kind::Anywhere, false, "alice.*Bob"),
        ("al+bob", Kind::Anywhere, false, r"al\+.*bob"),
        ("alice99", Kind::Suffix, false, "alice.*99$"),
        ("abcd", Kind::Prefix, false, "^ab.*cd"),
        ("alice", Kind::Word, true, "[+/][a4][l1][i1].*c[e3][+/]"),
    ] {
        assert_eq!(in_two_parts(text, MatchOptions { kind, leet, ..MatchOptions::default() }), expected);
    }
}

#[test]
fn the_longest_beginning_comes_first_and_the_rest_keep_more() {
    let word = pattern("alicebob", MatchOptions::default());
    let most = pattern("aliceb", MatchOptions::default()).odds();
    let variants = fitting(&word, |odds| odds >= most);
    assert_eq!(variants[0].pattern.text(), "aliceb");
    assert_eq!(variants[0].changes, [Change::Shorter]);
    assert!(variants.len() > 1 && variants[1..].iter().all(|variant| variant.kept > 6));
    assert!(variants.iter().all(|variant| variant.pattern.odds() >= most));
    assert!(variants[1..].is_sorted_by(|a, b| a.pattern.odds() >= b.pattern.odds()));

    let itself = fitting(&word, |_| true);
    assert_eq!((itself.len(), itself[0].changes.len()), (1, 0));
    assert!(fitting(&word, |_| false).is_empty());
}
