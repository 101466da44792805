//! Help in choosing a word: the suggestions of `--estimate` and their odds, `--within`, the table
//! of a list, and the suggestions of a search that takes long.

use std::fs;

use crate::odds::{Shape, chance, chance_of_fingerprint};
use crate::program::{
    NEVER, at_once, command, executable, objects, positive, program, run, succeed, text, whole,
};
use crate::require;
use serde_json::Value;
use tempfile::TempDir;

/// Patterns of every kind, with their options.
const PATTERNS: [&[&str]; 17] = [
    &["vanity"],
    &["alicebob"],
    &["aaaaaa"],
    &["+/+/"],
    &["-s", "aliceBob"],
    &["--leet", "illicit"],
    &["--leet", "-s", "test+Test"],
    &["--prefix", "alice"],
    &["--prefix", "-s", "Anna"],
    &["--suffix", "--leet", "leet99"],
    &["--suffix", "-s", "zz/zz"],
    &["--word", "bobby"],
    &["--word", "-s", "Ill"],
    &["--in", "fingerprint", "alice"],
    &["--in", "fingerprint", "--suffix", "-s", "aliceA"],
    &["--in", "fingerprint", "--word", "--leet", "bobbob"],
    &["-s", "--regex", "^Ann.*99$"],
];

/// Counts the chance of the pattern that these words of a command line ask for.
fn counted(words: &[&str]) -> f64 {
    let (pattern, options) = words.split_last().unwrap();
    let shape = Shape::new(options, pattern);
    if options.contains(&"fingerprint") { chance_of_fingerprint(&shape) } else { chance(&shape) }
}

fn is_near(value: f64, expected: f64, most: f64) -> bool {
    (value / expected - 1.0).abs() < most
}

/// Returns the estimate of one pattern.
fn estimate(words: &[&str]) -> Value {
    let ran = succeed(program(&["--json", "--estimate", "-t", "1", "--engine", "reference"]).args(words));
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
    objects(&ran.stdout).remove(0)
}

/// Returns the estimate as people read it.
fn printed(words: &[&str]) -> String {
    succeed(program(&["--estimate", "-t", "1", "--engine", "reference"]).args(words)).stdout
}

fn suggestions(estimate: &Value) -> &[Value] {
    estimate["suggestions"].as_array().unwrap()
}

fn words(suggestion: &Value) -> Vec<&str> {
    suggestion["arguments"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

/// Checks the figures of a suggestion against those that are counted here.
fn check(suggestion: &Value, estimate: &Value) {
    let words = words(suggestion);
    let exact = counted(&words);
    assert_eq!(text(suggestion, "pattern"), *words.last().unwrap());
    let rate = positive(estimate, "keys_per_second");
    let attempts = |missing: f64| (missing.ln() / (-exact).ln_1p()).max(1.0) / rate;
    for (field, expected) in [
        ("probability", exact),
        ("expected_attempts", 1.0 / exact),
        ("times_as_likely", exact / positive(estimate, "probability")),
        ("seconds_50", attempts(0.5)),
        ("seconds_95", attempts(0.05)),
    ] {
        let value = positive(suggestion, field);
        assert!(is_near(value, expected, 1e-9), "{words:?}: {field} is {value}, not {expected}");
    }
}

#[test]
fn every_suggestion_has_exact_odds_and_is_likelier() {
    let mut names = std::collections::BTreeSet::new();
    for (pattern, estimate) in PATTERNS.iter().zip(at_once(PATTERNS, estimate)) {
        assert!(is_near(positive(&estimate, "probability"), counted(pattern), 1e-9), "{pattern:?}");
        let suggestions = suggestions(&estimate);
        assert!((1..=6).contains(&suggestions.len()), "{estimate}");
        for suggestion in suggestions {
            check(suggestion, &estimate);
            assert!(positive(suggestion, "times_as_likely") > 1.2, "{suggestion}");
            let changes = suggestion["changes"].as_array().unwrap();
            assert_eq!(changes.len(), 1, "{suggestion}");
            names.extend(changes.iter().map(|name| name.as_str().unwrap().to_owned()));
        }
        let probability = |suggestion: &Value| positive(suggestion, "probability");
        assert!(suggestions.is_sorted_by(|a, b| probability(a) <= probability(b)), "{estimate}");
    }
    assert_eq!(Vec::from_iter(names), ["any_case", "anywhere", "leet", "shorter", "two_parts"]);
}

/// The program searches for a suggestion with the words that it prints, and prints the same odds.
#[test]
fn the_words_of_a_suggestion_are_a_command_line() {
    for pattern in [&["--prefix", "-s", "Alice"][..], &["--in", "fingerprint", "--word", "--leet", "bob+b"]] {
        let first = estimate(pattern);
        let again = at_once(suggestions(&first), |suggestion| estimate(&words(suggestion)));
        for (suggestion, again) in suggestions(&first).iter().zip(again) {
            assert_eq!(again["probability"], suggestion["probability"], "{suggestion}");
        }
    }
}

/// Returns the rows of a printed table of suggestions: the words of the command line, the factor,
/// and the mean number of keys.
fn rows(printed: &str) -> Vec<(Vec<String>, f64, f64)> {
    let number = |text: &str| text.replace(',', "").parse::<f64>().unwrap();
    let lines = printed.lines().filter(|line| line.contains(" times  "));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        let [times, odds, _, _, words] = cells[..] else { panic!("{line}") };
        let words = words.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect();
        (words, number(times.trim_end_matches(" times")), number(odds.trim_start_matches("1 in ")))
    };
    lines.map(row).collect()
}

#[test]
fn printed_suggestions_have_the_counted_odds() {
    at_once(PATTERNS.into_iter().step_by(4), |pattern| {
        let printed = printed(pattern);
        let rows = rows(&printed);
        assert!(!rows.is_empty(), "{printed}");
        for (words, times, mean) in rows {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let exact = counted(&words);
            // Three digits are printed.
            assert!(is_near(mean, 1.0 / exact, 0.006), "{words:?}: 1 in {mean}, not {}", 1.0 / exact);
            assert!(is_near(times, exact / counted(pattern), 0.006), "{words:?}: {times} times");
        }
    });
}

#[test]
fn what_fits_into_a_time_fits_and_the_beginning_is_the_longest() {
    let patterns =
        [&["abcdefghijklmnop"][..], &["--prefix", "-s", "AliceAndBobAndEve"], &["--word", "bobbobbob"]];
    at_once(patterns, |pattern| {
        let estimate = estimate(&[&["--within", "2s"], pattern].concat());
        assert_eq!((&estimate["within_seconds"], &estimate["fits"]), (&2.0.into(), &false.into()));
        let suggestions = suggestions(&estimate);
        assert!(suggestions.len() > 1 && suggestions.len() <= 6, "{estimate}");
        for suggestion in suggestions {
            check(suggestion, &estimate);
            assert!(positive(suggestion, "seconds_50") <= 2.0, "{suggestion}");
        }
        let [first, others @ ..] = suggestions else { unreachable!() };
        assert_eq!(first["changes"], serde_json::json!(["shorter"]));
        let kept = whole(first, "characters") as usize;
        let typed = pattern.last().unwrap();
        assert_eq!(text(first, "pattern"), &typed[..kept]);
        // One letter more does not fit.
        let longer = [&pattern[..pattern.len() - 1], &[&typed[..=kept]]].concat();
        let rate = positive(&estimate, "keys_per_second");
        assert!(0.5f64.ln() / (-counted(&longer)).ln_1p() / rate > 2.0, "{longer:?}");
        assert!(others.iter().all(|other| whole(other, "characters") as usize > kept), "{estimate}");
    });

    let fits = estimate(&["--within", "1h", "ab"]);
    assert_eq!(fits["fits"], true);
    assert_eq!(suggestions(&fits).len(), 1);
    assert_eq!(suggestions(&fits)[0]["changes"], serde_json::json!([]));
    let printed = at_once(
        [
            &["--within", "1h", "ab"][..],
            &["--within", "1ms", "--regex", "^abc.*abcdefghi"],
            &["--within", "2s", "abcdefghijklmnop"],
        ],
        printed,
    );
    assert!(printed[0].ends_with("\nab has a 50% chance within 1 h\n"), "{printed:?}");
    assert!(printed[1].ends_with("\nnothing similar has a 50% chance within 1 ms\n"), "{printed:?}");
    let heading = "\nWith a 50% chance within 2 s, the longest beginning first (";
    assert!(printed[2].contains(heading) && printed[2].contains(" of 16 characters):\n"), "{printed:?}");
}

#[test]
fn a_list_is_a_table_sorted_by_odds() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("words"), "abcdef\nprefix:ab\nxyz\nregex:^A\n").unwrap();
    let answer = |options: &[&str]| {
        let mut command = program(&["--estimate", "--engine", "reference", "-f", "words"]);
        succeed(command.args(options).current_dir(&directory)).stdout
    };
    let table = answer(&[]);
    let lines: Vec<&str> = table.lines().collect();
    let column = |line: &&str| line.rsplit("  ").next().unwrap().to_owned();
    let expected = ["pattern", "regex:^A", "prefix:ab", "anywhere:xyz", "anywhere:abcdef"];
    assert_eq!(lines[..5].iter().map(column).collect::<Vec<_>>(), expected, "{table}");
    assert!(lines[0].trim_start().starts_with("odds  50% within  95% within  pattern"), "{table}");
    assert!(lines[5].starts_with("any of 4: 1 in ") && lines[5].contains(" keys/s"), "{table}");
    assert!(lines[6].starts_with("all of 4: 50% within at most "), "{table}");
    assert_eq!(lines.len(), 7, "{table}");
    assert!(!table.contains("faster"), "{table}");

    let within = answer(&["--within", "24000h"]);
    let last = "\na 50% chance within 24,000 h: the first 4 of 4 patterns\n";
    assert!(within.contains(last), "{within}");
    assert_eq!(within.lines().count(), 8, "{within}");

    // The objects stay in the order of the list, without suggestions.
    let objects = objects(&answer(&["--json", "--within", "1h"]));
    let patterns: Vec<&str> = objects.iter().map(|object| text(object, "pattern")).collect();
    assert_eq!(patterns, ["abcdef", "ab", "xyz", "^A"]);
    for object in &objects {
        assert!(object.get("suggestions").is_none() && object["fits"].is_boolean(), "{object}");
    }
}

#[test]
fn a_search_that_takes_long_suggests_what_is_faster() {
    let search = |options: &[&str], pattern: &str| {
        let mut command = program(&["-t", "1", "--engine", "reference", "--timeout", "1500ms"]);
        let ran = run(command.args(options).arg(pattern));
        assert!([Some(0), Some(3)].contains(&ran.status), "{ran:?}");
        assert_eq!(ran.stdout.is_empty(), ran.status == Some(3), "{ran:?}");
        ran.stderr
    };
    let ran = at_once([(&[][..], NEVER), (&["-q"], NEVER)], |(options, pattern)| search(options, pattern));
    let [stderr, quiet] = &ran[..] else { unreachable!() };
    assert!(stderr.contains("\nSimilar and faster:\n"), "{stderr}");
    assert!(rows(stderr).len() > 2, "{stderr}");
    assert_eq!(quiet, "");
    assert!(!search(&[], "abc").contains("faster"));
}

/// A search of less than a second is no reason to choose another word. Scripts get the suggestions.
#[test]
fn a_word_that_is_found_at_once_gets_no_suggestions() {
    for (word, is_slow) in [("a", false), ("ab", false), ("vanity9", true)] {
        let shown = printed(&["--leet", word]);
        assert_eq!(shown.contains("Similar and faster:"), is_slow, "{shown}");
        assert_eq!(shown.lines().count() > 1, is_slow, "{shown}");
    }
    assert!(!suggestions(&estimate(&["--leet", "abcd"])).is_empty());
}

/// Returns what a terminal of this width shows of an estimate.
fn in_terminal(script: &std::path::Path, columns: usize, args: &str) -> String {
    let line = format!(
        "stty cols {columns} rows 24 && exec '{}' --estimate -t 1 --engine reference --color never {args}",
        executable()
    );
    let ran = run(command(script).args(["-qec", &line, "/dev/null"]));
    assert_eq!(ran.status, Some(0), "{ran:?}");
    ran.stdout.replace('\r', "")
}

#[test]
fn a_table_fits_into_its_terminal() {
    let Some(script) = require::tool("script") else { return };
    let titles = |columns: usize, args: &str| {
        let shown = in_terminal(&script, columns, args);
        let row = |line: &&str| line.contains("within  ") && !line.contains(" in ");
        let lines: Vec<&str> = shown.lines().skip_while(|line| !row(line)).take(4).collect();
        assert!(lines.len() == 4 && lines.iter().all(|line| line.len() <= columns), "{shown}");
        lines[0].split("  ").map(str::trim).filter(|title| !title.is_empty()).collect::<Vec<_>>().join(", ")
    };
    let all = "easier, odds, 50% within, 95% within, what to search for";
    let expected = [
        (120, "vanity", all),
        (66, "vanity", "easier, odds, 50% within, what to search for"),
        (60, "vanity", "odds, 50% within, what to search for"),
        (120, "ann vanity alice", "odds, 50% within, 95% within, pattern"),
    ];
    at_once(expected, |(columns, args, expected)| assert_eq!(titles(columns, args), expected, "{columns}"));
}

#[test]
fn an_estimate_counts_all_keys() {
    let lines = at_once(
        [
            &["--json", "-n", "10", "alice"][..],
            &["-n", "10", "alice"],
            &["-n", "10", "alice", "bob"],
            &["--any", "-n", "10", "alice", "bob"],
            &["alice"],
        ],
        printed,
    );
    let objects = objects(&lines[0]);
    // The tenth of random events comes before these multiples of their mean distance.
    let mean = positive(&objects[0], "expected_attempts") / positive(&objects[0], "keys_per_second");
    assert!(is_near(positive(&objects[0], "all_seconds_50_max"), 9.6687 * mean, 1e-3), "{objects:?}");
    assert!(is_near(positive(&objects[0], "all_seconds_95_max"), 15.705 * mean, 1e-3), "{objects:?}");
    assert!(objects[0].get("any_probability_min").is_none(), "{objects:?}");
    assert!(lines[1].contains("\nall 10 keys: 50% within "));
    assert!(lines[2].contains("\nall 20 keys: 50% within at most "));
    assert!(lines[3].contains("\nall 10 keys: 50% within "));
    assert!(!lines[4].contains("all "));
}

/// Checks that a search is refused before it begins, and that nothing is left of it.
fn refuse(args: &[&str]) -> String {
    let directory = TempDir::new().unwrap();
    let list = format!("ab\n{NEVER}\ncd\n");
    fs::write(directory.path().join("list"), list).unwrap();
    let ran = run(program(&["-t", "1", "--engine", "reference"]).args(args).current_dir(&directory));
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{args:?}: {ran:?}");
    assert_eq!(crate::program::names(directory.path()), ["list"], "{args:?}");
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(lines[0].starts_with("error: ") && lines[0].contains(" will not be found"), "{ran:?}");
    assert!(lines[0].contains(" years") && lines[0].contains(" keys/s"), "{ran:?}");
    assert!(lines[1].starts_with("hint: ") && lines[1].contains("--estimate --within 1h"), "{ran:?}");
    assert!(lines[2].contains("--timeout 1h") && lines[2].contains("--however-long"), "{ran:?}");
    assert_eq!(lines.len() > 3, lines.iter().any(|line| line.contains("50% chance within 1 h")), "{ran:?}");
    ran.stderr
}

#[test]
fn a_search_that_will_find_nothing_is_refused_with_what_can_be_found() {
    let regex = format!("^A.{{3}}{}$", "a".repeat(39));
    let searches: [&[&str]; 11] = [
        &["supercalifragilistic"],
        &["--prefix", "abcdefghijklmnop", "-o", "id_x"],
        &["--suffix", "-s", "AbcdefghijklmnoA", "-d", "new"],
        &["-s", "Supercalifragil", "--json"],
        &["--word", NEVER, "-n", "3"],
        &["--leet", "abcdefghijklmnopqrst"],
        &["--regex", &regex],
        &["--in", "fingerprint", NEVER],
        &["-f", "list", "-d", "new"],
        &["ab", NEVER, "abcdefghijklmnopqr", "abcdefghijklmnopqrs", "abcdefghijklmnopqrst"],
        &["--any", NEVER, "bcdefghijabcdefghija"],
    ];
    let refused = at_once(searches, refuse);
    assert!(refused[0].starts_with("error: 'supercalifragilistic' will not be found"), "{}", refused[0]);
    let shorter = refused[0].lines().any(|line| "supercal".starts_with(line.rsplit(' ').next().unwrap()));
    assert!(shorter, "{}", refused[0]);
    assert!(refused[9].contains("4 of 5 patterns will not be found"), "{}", refused[9]);
    assert!(refused[9].contains(" and 1 more"), "{}", refused[9]);
    let quiet = refuse(&["-q", NEVER]);
    assert_eq!(quiet.lines().count(), 3, "{quiet}");
}

#[test]
fn a_search_that_will_find_nothing_begins_if_it_is_wanted() {
    // The second one finds the other pattern.
    for (args, status) in [
        (&["--timeout", "100ms", NEVER][..], 3),
        (&["--any", NEVER, "ab"], 0),
        (&["--however-long", "--any", NEVER, "ab"], 0),
        (&["--estimate", NEVER], 0),
    ] {
        let ran = run(program(&["-t", "1", "--engine", "reference"]).args(args));
        assert_eq!(ran.status, Some(status), "{args:?}: {ran:?}");
    }
}
