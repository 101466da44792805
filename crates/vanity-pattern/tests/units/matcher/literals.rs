use vanity_pattern::MatchOptions;
use vanity_pattern::internals::Literal;
use vanity_pattern::internals::literals::distinct_sets;

#[test]
fn the_sets_of_every_reading_are_distinct() {
    let readings = (0..4).map(|reading| MatchOptions {
        case_sensitive: reading & 1 == 1,
        leet: reading & 2 == 2,
        ..MatchOptions::default()
    });
    let readings: Vec<MatchOptions> = readings.collect();
    let literals = readings.iter().flat_map(|options| ["aa", "a+"].map(|text| Literal::of(text, *options)));
    let mut sets: Vec<String> =
        distinct_sets(literals).iter().map(|set| set.bytes().map(char::from).collect()).collect();
    sets.sort();
    assert_eq!(sets, ["+", "Aa", "Aa4", "a", "a4"]);
}
