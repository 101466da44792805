use vanity_pattern::{Identity, Kind, MatchOptions};

#[test]
fn case_and_leet_count_where_they_are_read() {
    let literal = MatchOptions::default();
    let exact = MatchOptions { case_sensitive: true, ..literal };
    let regex = MatchOptions { kind: Kind::Regex, ..literal };
    let leet = |options| MatchOptions { leet: true, ..options };
    assert_eq!(Identity::new("aB", literal), Identity::new("Ab", literal));
    assert_ne!(Identity::new("aB", exact), Identity::new("Ab", exact));
    assert_ne!(Identity::new(r"\d", regex), Identity::new(r"\D", regex));
    assert_eq!(Identity::new("a", regex), Identity::new("a", leet(regex)));
    assert_ne!(Identity::new("a", literal), Identity::new("a", leet(literal)));
    assert_ne!(
        Identity::new("a", literal),
        Identity::new("a", MatchOptions { kind: Kind::Prefix, ..literal })
    );
}
