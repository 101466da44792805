//! Keys show what was asked for: patterns of each kind, several patterns, files of patterns,
//! counts.

use std::fs;

use crate::program;
use program::{at_once, body, comment, derived, objects, of_type, program, succeed, text, whole};
use serde_json::Value;
use tempfile::TempDir;

/// Searches with `--json -q`. Returns the finds and the summary.
fn search(args: &[&str]) -> (Vec<Value>, Value) {
    let ran = succeed(program(&["--json", "-q"]).args(args));
    let mut objects = objects(&ran.stdout);
    let summary = objects.pop().unwrap();
    let found: Vec<Value> = of_type(&objects, "found").into_iter().cloned().collect();
    assert_eq!(text(&summary, "reason"), "complete");
    assert_eq!(whole(&summary, "found"), found.len() as u64);
    for object in &found {
        let key = derived(text(object, "private_key"));
        assert_eq!(text(object, "public_key"), key.line(comment(text(object, "public_key"))));
    }
    (found, summary)
}

/// Returns a body in lower case, with letters in place of the digits that `--leet` accepts for
/// them.
fn unleet(body: &str) -> String {
    let letter = |c: char| match c {
        '4' => 'a',
        '8' => 'b',
        '3' => 'e',
        '0' => 'o',
        '5' => 's',
        _ => c.to_ascii_lowercase(),
    };
    body.chars().map(letter).collect()
}

#[test]
fn every_kind_of_pattern_is_found_where_it_should_be() {
    type Check = fn(&str) -> bool;
    let cases: [(&[&str], Check); 11] = [
        (&["abc"], |body| body.to_lowercase().contains("abc")),
        (&["--anywhere", "+a"], |body| body.to_lowercase().contains("+a")),
        (&["-s", "aB"], |body| body.contains("aB")),
        (&["--prefix", "ab"], |body| body.to_lowercase().starts_with("ab")),
        (&["--prefix", "-s", "Ab"], |body| body.starts_with("Ab")),
        (&["--suffix", "a9"], |body| body.to_lowercase().ends_with("a9")),
        (&["--suffix", "--case-sensitive", "zZ"], |body| body.ends_with("zZ")),
        (&["--word", "a"], |body| {
            let words: Vec<&str> = body.split(['+', '/']).collect();
            // The first and the last have a delimiter on one side only.
            words[1..words.len() - 1].iter().any(|word| word.eq_ignore_ascii_case("a"))
        }),
        (&["--leet", "base"], |body| unleet(body).contains("base")),
        (&["--regex", "-s", "^A.*9$"], |body| body.starts_with('A') && body.ends_with('9')),
        (&["--regex", "q[0-9]{2}"], |body| {
            let digits = |rest: &str| rest.len() >= 2 && rest[..2].bytes().all(|byte| byte.is_ascii_digit());
            body.match_indices(['q', 'Q']).any(|(at, _)| digits(&body[at + 1..]))
        }),
    ];
    for (args, check) in cases {
        let (found, _) = search(&[args, &["-n", "3"]].concat());
        assert_eq!(found.len(), 3, "{args:?}");
        for object in &found {
            let line = text(object, "public_key");
            assert!(check(body(line)), "{args:?}: {line}");
            // Nothing in a comment that comes from a pattern troubles a program that reads it.
            let is_harmless =
                |character: char| character.is_ascii_alphanumeric() || "+/._@-".contains(character);
            let harmless = |character| if is_harmless(character) { character } else { '_' };
            assert_eq!(comment(line), args[args.len() - 1].chars().map(harmless).collect::<String>());
        }
    }
}

/// Returns how many finds name each pattern.
fn counts(found: &[Value], patterns: &[&str]) -> Vec<usize> {
    let named = |pattern: &str, object: &Value| {
        let all = object["patterns"].as_array().unwrap();
        assert_eq!(all[0], object["pattern"]);
        all.iter().any(|one| one == pattern)
    };
    patterns.iter().map(|pattern| found.iter().filter(|object| named(pattern, object)).count()).collect()
}

#[test]
fn each_pattern_gets_its_count() {
    let patterns = ["ab", "cde", "a/", "a"];
    let (found, _) = search(&["-n", "3", "ab", "cde", "a/", "a"]);
    assert_eq!(counts(&found, &patterns), [3, 3, 3, 3]);
    for object in &found {
        let body = body(text(object, "public_key")).to_lowercase();
        for pattern in object["patterns"].as_array().unwrap() {
            assert!(body.contains(pattern.as_str().unwrap()), "{object}");
        }
    }
}

#[test]
fn any_counts_all_keys_together() {
    let (found, _) = search(&["--any", "-n", "3", "ab", "cd", "abcdefghijabcdefghij"]);
    assert_eq!(found.len(), 3);
    for object in &found {
        let body = body(text(object, "public_key")).to_lowercase();
        assert!(body.contains("ab") || body.contains("cd"), "{object}");
    }
}

#[test]
fn no_key_comes_twice() {
    let (found, _) = search(&["-n", "200", "-t", "4", "ab"]);
    let mut seeds: Vec<[u8; 32]> =
        found.iter().map(|object| program::seed(text(object, "private_key"))).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 200);
}

#[test]
fn a_pattern_file_holds_one_pattern_on_each_line() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("patterns");
    let content = "\u{feff}# names\r\n\r\nab\r\n   \r\n  cd\t\r\n#ef\r\n+a";
    fs::write(&file, content).unwrap();
    let (found, _) = search(&["-n", "2", "-f", file.to_str().unwrap()]);
    assert_eq!(counts(&found, &["ab", "cd", "+a"]), [2, 2, 2]);

    // The patterns of arguments and of both files count.
    let other = directory.path().join("other");
    fs::write(&other, "yz\n").unwrap();
    let (found, _) = search(&["xy", "-f", file.to_str().unwrap(), "-f", other.to_str().unwrap()]);
    assert_eq!(counts(&found, &["xy", "ab", "cd", "+a", "yz"]), [1; 5]);
}

#[test]
fn a_pattern_file_can_mix_kinds() {
    type Check = fn(&str) -> bool;
    let lines: [(&str, &str, Check); 7] = [
        ("prefix:ab", "ab", |body| body.to_lowercase().starts_with("ab")),
        ("  suffix: a9", "a9", |body| body.to_lowercase().ends_with("a9")),
        ("word:b\t", "b", |body| {
            let words: Vec<&str> = body.split(['+', '/']).collect();
            words[1..words.len() - 1].iter().any(|word| word.eq_ignore_ascii_case("b"))
        }),
        ("anywhere:+c", "+c", |body| body.to_lowercase().contains("+c")),
        ("regex:^[b-d].*[7:]$", "^[b-d].*[7:]$", |body| {
            body.starts_with(['B', 'C', 'D']) && body.ends_with('7')
        }),
        // The option sets the kind of these two.
        ("efg", "efg", |body| body.to_lowercase().starts_with("efg")),
        ("Hi", "Hi", |body| body.to_lowercase().starts_with("hi")),
    ];
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("patterns");
    let content: Vec<&str> = lines.iter().map(|(line, ..)| *line).collect();
    fs::write(&file, content.join("\r\n")).unwrap();
    let (found, _) = search(&["-n", "2", "--prefix", "-f", file.to_str().unwrap()]);
    assert_eq!(counts(&found, &lines.map(|(_, pattern, _)| pattern)), [2; 7]);
    for object in &found {
        for named in object["patterns"].as_array().unwrap() {
            let (_, _, check) = lines.iter().find(|(_, pattern, _)| named == pattern).unwrap();
            assert!(check(body(text(object, "public_key"))), "{object}");
        }
    }
}

#[test]
fn a_pattern_that_occurs_again_is_searched_once() {
    let directory = TempDir::new().unwrap();
    let write = |name: &str, lines: &str| fs::write(directory.path().join(name), lines).unwrap();
    write("words", "# words\nab\nprefix:Ab\n+a\n AB\nregex:ab\n+a\nregex:AB\nanywhere:ab\n");
    write("more", "aB\ncd\n");
    let answer = |args: &[&str]| {
        let mut estimate = program(&["--json", "--estimate", "-t", "1", "--engine", "reference"]);
        let ran = succeed(estimate.args(args).current_dir(&directory));
        let patterns: Vec<String> =
            objects(&ran.stdout).iter().map(|object| text(object, "pattern").to_owned()).collect();
        (patterns.join(" "), ran.stderr)
    };
    let one = "note: 1 pattern occurs more than once and is searched for once: ";
    let cases = [
        (&["ab", "cd", "Ab", "aB"][..], "ab cd", format!("{one}'Ab' (argument 3, first in argument 1)\n")),
        (&["--leet", "a4", "aa", "44", "prefix"], "a4 aa 44 prefix", String::new()),
        (
            &["-f", "words"],
            "ab Ab +a ab AB",
            "note: 2 patterns occur more than once and are searched for once, such as 'AB' (words:5, first in \
             line 2)\n"
                .into(),
        ),
        (
            &["-s", "-f", "words"],
            "ab Ab +a AB ab AB",
            "note: 2 patterns occur more than once and are searched for once, such as '+a' (words:7, first in \
             line 4)\n"
                .into(),
        ),
        (&["-f", "more", "cD"], "cD aB", format!("{one}'cd' (more:2, first in argument 1)\n")),
        (
            &["--regex", "-f", "more", "-f", "more"],
            "aB cd",
            "note: 2 patterns occur more than once and are searched for once, such as 'aB' (more:1, first in \
             more:1)\n"
                .into(),
        ),
    ];
    at_once(cases, |(args, patterns, note)| {
        assert_eq!(answer(args), (patterns.into(), note), "{args:?}");
    });
    assert_eq!(answer(&["-q", "ab", "Ab"]), ("ab".into(), String::new()));

    // A search and a measurement print the note, too. The two patterns are one, so `-o` accepts
    // them.
    let note = format!("{one}'AB' (argument 2, first in argument 1)\n");
    let ran = succeed(program(&["ab", "AB", "-o", "id_x"]).current_dir(&directory));
    assert!(ran.stderr.starts_with(&format!("{note}ab: 1 in ")), "{}", ran.stderr);
    let ran = succeed(&mut program(&["ab", "AB", "--bench", "0.1", "-t", "1", "--engine", "reference"]));
    assert_eq!(ran.stderr, format!("{note}measures 1 engine, about 1 s\n"));
}

#[test]
fn a_million_patterns_are_searched() {
    use std::fmt::Write as _;

    let base36 = |number: usize| char::from_digit((number % 36) as u32, 36).unwrap();
    let mut lines = String::new();
    for number in 0..1_000_000 {
        let first = (b'A' + (number % 16) as u8) as char;
        let rest = [16, 16 * 36, 16 * 36 * 36, 16 * 36 * 36 * 36].map(|unit| base36(number / unit));
        writeln!(lines, "{first}{}", rest.iter().collect::<String>()).unwrap();
    }
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("patterns");
    fs::write(&file, &lines).unwrap();
    // This search is without `--json`, which would print a million estimates.
    let mut search = program(&["-q", "--prefix", "--any", "-n", "1", "-f"]);
    let ran = succeed(search.arg(&file).arg("-d").arg(directory.path()));
    let pattern = comment(ran.stdout.trim_end());
    assert!(lines.lines().any(|line| line == pattern), "{pattern}");
    assert!(body(&ran.stdout).to_lowercase().starts_with(&pattern.to_lowercase()));
}

#[test]
fn several_keys_go_to_one_stream() {
    let ran = succeed(&mut program(&["-q", "-n", "3", "ab"]));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 9, "{}", ran.stdout);
    for pem in lines.chunks(3) {
        let line = derived(&(pem.join("\n") + "\n")).line("");
        assert!(body(&line).to_lowercase().contains("ab"), "{line}");
    }
}
