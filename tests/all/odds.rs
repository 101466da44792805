//! Compares the odds that the program prints with values that are counted here, independently of
//! it.
//!
//! The first character of a body is one of 16 symbols, each of the other 42 is one of 64, and all
//! 2^256 bodies have the same chance. [`count`] extends the beginnings of bodies by one symbol
//! after the other. It keeps the exact number of beginnings for each set of partial matches that
//! they hold. The program uses other methods: overlaps of literals, and automata of expressions.

use std::collections::HashMap;
use std::fs;

use num_bigint::BigUint;
use tempfile::TempDir;
use vanity_search::pattern::{Kind, MatchOptions, Pattern};
use vanity_search::wire::{ALPHABET, Target};

use crate::naive::Naive;
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

/// Characters in a body.
const BODY_LEN: usize = 43;

/// The symbols that a body must hold, one after the other.
pub struct Shape {
    /// The symbols that match at each place.
    places: Vec<Vec<u8>>,
    /// For each number of matched places, whether any symbol may follow and leave the number as it
    /// is. This is so at `.*`, and at an end of the body that the pattern is not tied to.
    waits: Vec<bool>,
}

impl Shape {
    /// Reads a pattern as `--help` explains it. An expression may use symbols, classes such as
    /// `[a-p]` and `[a4]`, `\+`, `{4}`, `.*` between symbols, and `^` and `$` at its ends.
    pub fn new(options: &[&str], pattern: &str) -> Self {
        let given = |option| options.contains(&option);
        let reads = |typed: u8| {
            let digits = ["a4", "b8", "e3", "g9", "i1", "l1", "o0", "s5", "t7", "z2"];
            let digit = digits.iter().map(|pair| pair.as_bytes());
            let digit = digit.filter(|pair| given("--leet") && pair[0] == typed.to_ascii_lowercase());
            let mut symbols: Vec<u8> = digit.map(|pair| pair[1]).chain([typed]).collect();
            if !given("-s") {
                symbols.extend([typed.to_ascii_lowercase(), typed.to_ascii_uppercase()]);
            }
            symbols
        };
        let symbols = || pattern.bytes().map(reads).collect::<Vec<_>>();
        let delimiter = || b"+/".to_vec();
        let mut gaps = Vec::new();
        let (places, at_start, at_end) = if given("--regex") {
            let (mut places, mut rest) = (Vec::new(), pattern.trim_start_matches('^').trim_end_matches('$'));
            while let Some(first) = rest.bytes().next() {
                if let Some(after) = rest.strip_prefix(".*") {
                    gaps.push(places.len());
                    rest = after;
                } else if let Some((class, after)) =
                    rest.strip_prefix('[').and_then(|rest| rest.split_once(']'))
                {
                    let symbols = match class.split_once('-') {
                        Some((from, to)) => (from.as_bytes()[0]..=to.as_bytes()[0]).collect(),
                        None => class.as_bytes().to_vec(),
                    };
                    places.push(symbols.into_iter().flat_map(reads).collect::<Vec<_>>());
                    rest = after;
                } else if let Some(after) = rest.strip_prefix("\\+") {
                    places.push(reads(b'+'));
                    rest = after;
                } else if let Some((times, after)) =
                    rest.strip_prefix('{').and_then(|rest| rest.split_once('}'))
                {
                    let last = places.last().unwrap().clone();
                    places.extend((1..times.parse().unwrap()).map(|_| last.clone()));
                    rest = after;
                } else {
                    places.push(reads(first));
                    rest = &rest[1..];
                }
            }
            (places, pattern.starts_with('^'), pattern.ends_with('$'))
        } else if given("--word") {
            let places = [vec![delimiter()], symbols(), vec![delimiter()]].concat();
            (places, false, false)
        } else {
            (symbols(), given("--prefix"), given("--suffix"))
        };
        let end = places.len();
        let waits = |seen| seen == 0 && !at_start || seen == end && !at_end || gaps.contains(&seen);
        Self { waits: (0..=end).map(waits).collect(), places }
    }
}

/// Returns the number of bodies that have `shape`. `alphabets` holds the symbols that each
/// character of a body can be.
fn count(shape: &Shape, alphabets: &[&[u8]]) -> BigUint {
    let end = shape.places.len();
    // Bit n of a set stands for a partial match of n places.
    let waits = (0..=end).filter(|seen| shape.waits[*seen]).fold(0, |set, seen| set | 1 << seen);
    let moves = |symbol: &u8| -> u64 {
        (0..end).filter(|seen| shape.places[*seen].contains(symbol)).fold(0, |set, seen| set | 1 << seen)
    };
    let mut beginnings = HashMap::from([(1, BigUint::from(1u8))]);
    for alphabet in alphabets {
        // Symbols that match at the same places lead to the same sets.
        let mut alike = HashMap::<u64, u32>::new();
        alphabet.iter().for_each(|symbol| *alike.entry(moves(symbol)).or_default() += 1);
        let mut longer = HashMap::<u64, BigUint>::new();
        for (set, number) in &beginnings {
            for (moves, symbols) in &alike {
                *longer.entry(set & waits | (set & moves) << 1).or_default() += number * *symbols;
            }
        }
        beginnings = longer;
    }
    beginnings.into_iter().filter(|(set, _)| set >> end & 1 == 1).map(|(_, number)| number).sum()
}

/// Returns the chance that a key has `shape`: an exact fraction, rounded once.
pub fn chance(shape: &Shape) -> f64 {
    let alphabets: Vec<&[u8]> = (0..BODY_LEN).map(|at| &ALPHABET[..if at == 0 { 16 } else { 64 }]).collect();
    share(shape, &alphabets)
}

/// Returns the chance that a fingerprint has `shape`. Its last symbol holds two bits that are zero.
pub fn chance_of_fingerprint(shape: &Shape) -> f64 {
    let last: Vec<u8> = ALPHABET.iter().copied().step_by(4).collect();
    let mut alphabets = vec![&ALPHABET[..]; BODY_LEN - 1];
    alphabets.push(&last);
    share(shape, &alphabets)
}

/// Returns the part of all bodies that have `shape`.
fn share(shape: &Shape, alphabets: &[&[u8]]) -> f64 {
    // `parse` rounds to the nearest value, and the division by a power of two is exact.
    count(shape, alphabets).to_string().parse::<f64>().unwrap() / 2f64.powi(256)
}

#[test]
fn the_exact_odds_are_counted() {
    for (options, pattern, exact) in EXACT {
        assert_eq!(chance(&Shape::new(options, pattern)), exact, "{pattern} {options:?}");
    }
}

#[test]
fn counting_finds_what_trying_all_bodies_finds() {
    const SYMBOLS: &[u8] = b"Aab4+/19";
    const PLACES: usize = 5;
    let alphabets = [SYMBOLS; PLACES];
    let rows: [(&[&str], &str); 13] = [
        (&[], "a"),
        (&[], "aba"),
        (&["-s"], "aaa"),
        (&["--leet"], "ab4"),
        (&["--word"], "a"),
        (&["--word", "-s"], "ab"),
        (&["--prefix"], "ab"),
        (&["--suffix", "--leet"], "ba"),
        (&["--regex"], "[0-9]{3}"),
        (&["--regex"], "a.*b.*9"),
        (&["--regex", "-s"], "^A.*9$"),
        (&["--regex"], "^[a-p]"),
        (&["--regex", "-s"], "[a-p]b$"),
    ];
    for (options, pattern) in rows {
        let kinds = [
            ("--prefix", Kind::Prefix),
            ("--suffix", Kind::Suffix),
            ("--word", Kind::Word),
            ("--regex", Kind::Regex),
        ];
        let kind =
            kinds.iter().find(|(option, _)| options.contains(option)).map_or(Kind::Anywhere, |kind| kind.1);
        let (case_sensitive, leet) = (options.contains(&"-s"), options.contains(&"--leet"));
        let style = MatchOptions { kind, case_sensitive, leet, target: Target::Key };
        let naive = Naive::new(&Pattern::new(pattern, style).unwrap());
        let bodies = SYMBOLS.len().pow(PLACES as u32);
        let body = |number: usize| -> [u8; PLACES] {
            std::array::from_fn(|at| SYMBOLS[number / SYMBOLS.len().pow(at as u32) % SYMBOLS.len()])
        };
        let matching = (0..bodies).filter(|number| naive.is_in(&body(*number))).count();
        assert!(matching > 0);
        assert_eq!(
            count(&Shape::new(options, pattern), &alphabets),
            matching.into(),
            "{pattern} {options:?}"
        );
    }
}

#[test]
fn the_stated_odds_are_exact() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("patterns");
    for style in [None, Some("-s"), Some("--leet")] {
        let is_of =
            |options: &[&str]| ["-s", "--leet"].into_iter().find(|option| options.contains(option)) == style;
        let same: Vec<_> = EXACT.iter().filter(|(options, ..)| is_of(options)).collect();
        let lines = same.iter().map(|(options, pattern, _)| {
            let kind = options.first().and_then(|option| option.strip_prefix("--"));
            format!("{}:{pattern}\n", kind.filter(|kind| *kind != "leet").unwrap_or("anywhere"))
        });
        fs::write(&file, lines.collect::<String>()).unwrap();
        let mut command = program(&["--estimate", "--json", "-t", "1", "--engine", "reference", "-f"]);
        let ran = succeed(command.arg(&file).args(style));
        let estimates = objects(&ran.stdout);
        assert_eq!(estimates.len(), same.len());
        for (estimate, (options, pattern, exact)) in estimates.iter().zip(same) {
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
