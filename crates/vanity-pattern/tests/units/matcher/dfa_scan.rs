use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};

use vanity_pattern::internals::Regex;
use vanity_pattern::internals::dfa_scan::{DfaScan, MOST_STATES};
use vanity_pattern::wire::Target;
use vanity_pattern::{Kind, MatchOptions};

fn scans(texts: &[&str]) -> Vec<DfaScan> {
    let options = MatchOptions { kind: Kind::Regex, ..MatchOptions::default() };
    let scan = |text: &&str| DfaScan::new(Target::Key, Regex::new(text, options).unwrap().0.automaton());
    texts.iter().map(scan).collect()
}

#[test]
fn a_union_matches_where_one_of_them_does() {
    let lists: [&[&str]; 4] = [
        &["a[bc].?d", "ab+c", "x.y"],
        &["^[A-M].*z", "9$", "[0-9]{3}", "^i.*[a-f]$", "k.k.k"],
        &["(ab|ba)[0-4]", "(a|b)b.*9.*9", "[^a-p]{6}"],
        &["^.*[x-z]{2}$", "[A-C]+[0-9]"],
    ];
    let mut random = ChaCha20Rng::from_seed([5; 32]);
    for list in lists {
        let scans = scans(list);
        let union = DfaScan::union(&scans.iter().collect::<Vec<_>>()).unwrap();
        let mut matched = 0;
        for _ in 0..20_000 {
            let mut bytes = [0; 32];
            random.fill_bytes(&mut bytes);
            bytes[31] &= 0x7f;
            let expected = scans.iter().any(|scan| scan.is_match(&bytes));
            assert_eq!(union.is_match(&bytes), expected, "{list:?}: {bytes:?}");
            matched += u32::from(expected);
        }
        assert!((1..20_000).contains(&matched), "{list:?}: {matched}");
    }
}

#[test]
fn a_union_has_few_states_or_there_is_none() {
    let many: Vec<String> = (0..400).map(|at| format!("{at:03}.?x[a-c]")).collect();
    let scans = scans(&many.iter().map(String::as_str).collect::<Vec<_>>());
    let scans: Vec<&DfaScan> = scans.iter().collect();
    assert!(DfaScan::union(&scans).is_none());
    let union = DfaScan::union(&scans[..50]).unwrap();
    assert!(union.states() <= 2 + MOST_STATES);
}
