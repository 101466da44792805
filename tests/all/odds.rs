//! The odds that the program states are the exact ones. The exact ones were computed without the
//! program: by rational arithmetic over sets of partial matches, one character of the body after
//! the other, and rounded once.

use crate::program::{objects, positive, program, succeed, text};

/// Each entry has the options, the pattern and the chance per key.
const EXACT: [(&[&str], &str, f64); 24] = [
    (&[], "abc", 0.0012810130196561356),
    (&[], "a", 0.7529053581478476),
    (&[], "+/", 0.009963406730162576),
    (&[], "aaaa", 3.7907985486490055e-05),
    (&[], "alice", 1.192092336843717e-06),
    (&[], "vanity", 3.445893483056128e-08),
    (&[], "0123456789", 2.862293735361732e-17),
    (&["-s"], "abab", 2.324040612457549e-06),
    (&["-s"], "Alice", 3.911554752929897e-08),
    (&["-s"], "Pxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 8.636168555094445e-78),
    (&["--leet"], "alice", 5.934373643474964e-06),
    (&["--leet"], "ill", 0.0041826452642728645),
    (&["--leet"], "1illi1l", 1.9879129533378497e-09),
    (&["--word"], "bob", 1.1324867861278652e-06),
    (&["--word", "-s"], "Bob", 1.4156100845708387e-07),
    (&["--word"], "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 6.077163357286271e-64),
    (&["--prefix"], "abc", 6.103515625e-05),
    (&["--prefix", "-s"], "Pq9", 1.52587890625e-05),
    (&["--suffix"], "zz", 0.0009765625),
    (&["--suffix", "--leet"], "leet", 4.827976226806641e-06),
    (&["--regex", "-s"], "^A.*99$", 1.52587890625e-05),
    (&["--regex"], "[0-9]{4}", 0.01955528505747626),
    (&["--regex"], "alice.*bob", 6.377100704686538e-10),
    (&["--regex"], "^[a-p]", 1.0),
];

#[test]
fn the_stated_odds_are_the_exact_ones() {
    for same in EXACT.chunk_by(|(options, ..), (others, ..)| options == others) {
        let options = same[0].0;
        let patterns = same.iter().map(|(_, pattern, _)| *pattern);
        let mut command = program(options);
        let ran = succeed(command.args(["--estimate", "--json", "-t", "1", "--"]).args(patterns));
        let estimates = objects(&ran.stdout);
        assert_eq!(estimates.len(), same.len());
        for (estimate, (_, pattern, exact)) in estimates.iter().zip(same) {
            let field = |name: &str| positive(estimate, name);
            let close = |value: f64, expected: f64| {
                assert!(
                    (value / expected - 1.0).abs() < 1e-9,
                    "{pattern} {options:?}: {value}, not {expected}"
                );
            };
            assert_eq!((text(estimate, "type"), text(estimate, "pattern")), ("estimate", *pattern));
            close(field("probability"), *exact);
            close(field("expected_attempts"), 1.0 / exact);
            if *exact < 0.01 {
                let rate = field("keys_per_second");
                close(field("seconds_50"), 0.5f64.ln() / (-exact).ln_1p() / rate);
                close(field("seconds_95"), 0.05f64.ln() / (-exact).ln_1p() / rate);
            }
        }
    }
}
