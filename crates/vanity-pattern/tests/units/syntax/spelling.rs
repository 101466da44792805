use vanity_pattern::wire::Target;
use vanity_pattern::{Kind, MatchOptions, Pattern, nearest};

fn of(text: &str) -> Vec<String> {
    nearest(text, MatchOptions::default())
}

#[test]
fn gaps_become_separators_or_capitals() {
    for text in ["alice-bob", "alice_bob", "alice.bob", "alice bob", "alice - bob", "alice@bob"] {
        assert_eq!(of(text), ["alice+bob", "alice/bob", "aliceBob"], "{text}");
    }
    assert_eq!(of("-ab"), ["+ab", "/ab", "ab"]);
    assert_eq!(of("ab="), ["ab"]);
    assert_eq!(of("don't"), ["dont"]);
}

#[test]
fn letters_lose_their_marks_or_become_two() {
    assert_eq!(of("jürgen"), ["juergen", "jurgen"]);
    assert_eq!(of("ju\u{308}rgen"), ["juergen", "jurgen"]);
    assert_eq!(of("Ürs"), ["Uers", "Urs"]);
    assert_eq!(of("naïve"), ["naive"]);
    assert_eq!(of("straße"), ["strasse"]);
    assert_eq!(of("Łódź"), ["Lodz"]);
    assert_eq!(of("ｂｏｂ"), ["bob"]);
    assert_eq!(of("bär-bö"), ["baer+boe", "baer/boe", "baerBoe", "bar+bo"]);
}

#[test]
fn what_has_no_counterpart_has_no_spelling() {
    for text in ["", "日本", "ab*", "a\x1b[31m", "a\u{200b}b", "^abc", "½", "=", " ", "ssh-ed25519 a"] {
        assert_eq!(of(text), [""; 0], "{text:?}");
    }
    assert_eq!(nearest("a-b", MatchOptions { kind: Kind::Regex, ..MatchOptions::default() }), [""; 0]);
    assert_eq!(of(&format!("{}-b", "a".repeat(43))), [""; 0], "too long");
}

#[test]
fn characters_at_the_ends_can_be_there() {
    let prefix = MatchOptions { kind: Kind::Prefix, ..MatchOptions::default() };
    assert_eq!(nearest("Quinn", prefix), ["AQuinn"]);
    assert_eq!(nearest("4lice", prefix), ["Alice", "A4lice"]);
    assert_eq!(nearest("über", prefix), ["Aueber", "Auber"]);
    let exact = MatchOptions { case_sensitive: true, ..prefix };
    assert_eq!(nearest("bob", exact), ["Bob", "Abob"]);
    let suffix = MatchOptions { kind: Kind::Suffix, target: Target::Fingerprint, ..MatchOptions::default() };
    assert_eq!(nearest("ab", suffix), ["a8", "abA"]);
}

/// Every spelling can be searched for, whatever the text and the options.
#[test]
fn every_spelling_is_a_pattern() {
    let texts = ["ü", "zü-q", "9 lives", "é", "x.y", "Qü", "--", "a", "z", "-", "p'q", "1_1", "ß="];
    for text in texts {
        for kind in [Kind::Anywhere, Kind::Prefix, Kind::Suffix, Kind::Word] {
            for bits in 0..8 {
                let target = if bits & 4 == 4 { Target::Fingerprint } else { Target::Key };
                let options =
                    MatchOptions { kind, case_sensitive: bits & 1 == 1, leet: bits & 2 == 2, target };
                for spelling in nearest(text, options) {
                    assert!(Pattern::new(&spelling, options).is_ok(), "{text}: {spelling} {options:?}");
                }
            }
        }
    }
}
