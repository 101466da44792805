//! The progress of a search: the line in terminals of several widths, `--progress json`, and the
//! last words of a search that is ended.

#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use crate::program::{
    self, ENDLESS, NEVER, at_once, command, executable, objects, positive, program, run, text, whole,
};
use crate::terminal::Typist;
use crate::{odds, require};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// Runs a search in a terminal of this width until it has shown `until`. Returns every state of the
/// progress line, without the spaces at its end.
fn lines(script: &Path, columns: usize, search: &str, until: &str) -> Vec<String> {
    let line = format!("stty cols {columns} rows 24 && exec '{}' {search}", executable());
    let mut typist = Typist::run(&mut command(script), &line);
    typist.answer(until, "\x03");
    let (status, sent) = typist.end();
    assert_eq!(status, Some(130), "{sent:?}");
    // The terminal shows what is typed at the cursor.
    let parts = sent.split(['\r', '\n']).map(|part| part.rsplit("\x1b[0J").next().unwrap());
    let parts = parts.map(|part| part.replace("^C", "").trim_end().to_owned());
    let parts = parts.filter(|part| part.starts_with(|first: char| first.is_ascii_digit()));
    parts
        .filter(|part| part.contains("/s, ") && (part.contains(" elapsed") || part.contains(" found")))
        .collect()
}

#[test]
fn the_line_never_wraps_and_has_a_bar_where_there_is_room() {
    let Some(script) = require::tool("script") else { return };
    let batch = format!("--color never -t 1 --engine reference --however-long -n 3 {NEVER} {NEVER}k");
    let one = format!("--color never -t 1 --engine reference --however-long {NEVER}");
    for search in [&one, &batch] {
        at_once([1, 20, 40, 60, 80, 120, 160, 200], |columns| {
            // A narrow line shows the rate alone, or nothing.
            let until = if columns < 40 { ": 1 in " } else { "/s, " };
            let lines = lines(&script, columns, search, until);
            assert!(columns < 40 || !lines.is_empty(), "{columns}");
            for line in lines {
                assert!(line.is_ascii() && line.len() + 3 <= columns, "{columns}: {line:?}");
                let bar = line.split_once(" [").map(|(_, bar)| bar.trim_end_matches(']'));
                assert_eq!(bar.is_some(), columns >= 160, "{columns}: {line:?}");
                if let Some(bar) = bar {
                    assert!(bar.len() >= 10 && bar.bytes().all(|byte| b"#.".contains(&byte)), "{line:?}");
                    assert_eq!(line.len() + 3, columns, "the bar fills the line: {line:?}");
                }
                let parts: &[&str] = match (*search == batch, columns) {
                    (true, 200..) => &[" chance of the next so far, all: 50% within ", ", 95% within "],
                    (true, 80..) => &["/s, 0 of 6 found, ", " elapsed, ", "% chance"],
                    (false, 120..) => {
                        &[" keys/s, ", " elapsed, ", " chance of a hit so far, 50% within ", ", 95% within "]
                    }
                    (false, 80..) => &[" elapsed, ", "% chance", ", 50% within "],
                    (false, 60..) => &["/s, ", " elapsed, ", "% chance"],
                    _ => &[],
                };
                assert!(parts.iter().all(|part| line.contains(part)), "{columns}: {line:?}");
            }
        });
    }
}

#[test]
fn the_bar_shows_the_chance() {
    let Some(script) = require::tool("script") else { return };
    let directory = TempDir::new().unwrap();
    let search = format!(
        "--color never -t 1 --engine reference -n {ENDLESS} abcd -d '{}'",
        directory.path().display()
    );
    let lines = lines(&script, 200, &search, "#");
    let mut seen = 0;
    for line in lines {
        let (chance, _) = line.split_once("% chance").unwrap();
        let chance: f64 = chance.rsplit(' ').next().unwrap().parse().unwrap();
        let (_, bar) = line.split_once(" [").unwrap();
        let share = bar.matches('#').count() as f64 / (bar.len() - 1) as f64;
        assert!((share - chance / 100.0).abs() < 0.05, "{line}");
        seen += usize::from(share > 0.0);
    }
    assert!(seen > 0);
}

/// Runs a search that a signal ends after this number of objects on its stderr. Returns them.
fn progress(args: &[&str], number: usize) -> Vec<Value> {
    let mut search =
        program(&["-q", "-t", "1", "--engine", "reference", "--however-long", "--progress", "json"]);
    let mut child = program::start(search.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut lines = String::new();
    (0..number).for_each(|_| assert!(stderr.read_line(&mut lines).unwrap() > 0, "{lines}"));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143), "{lines}");
    objects(&lines)
}

/// Checks a time against the number of keys at which it should be.
fn check_time(object: &Value, field: &str, reached: f64) {
    let rate = positive(object, "keys_per_second");
    let expected = positive(object, "seconds") + (reached - positive(object, "attempts")) / rate;
    let value = positive(object, field);
    assert!((value / expected - 1.0).abs() < 1e-3, "{field}: {value}, not {expected}: {object}");
}

#[test]
fn progress_for_scripts_comes_every_second_with_exact_chances() {
    let chance = odds::chance(&odds::Shape::new(&[], NEVER));
    at_once([(1, &[NEVER][..]), (3, &["-n", "3", NEVER])], |(wanted, args)| {
        let objects = progress(args, 2);
        let mut before = 0.0;
        for object in &objects {
            assert_eq!(text(object, "type"), "progress");
            assert_eq!((whole(object, "found"), whole(object, "wanted")), (0, wanted));
            let seconds = positive(object, "seconds");
            assert!(before == 0.0 || seconds >= before + 1.0, "{objects:?}");
            before = seconds;
            let expected = -(positive(object, "attempts") * (-chance).ln_1p()).exp_m1();
            assert!((positive(object, "chance") / expected - 1.0).abs() < 1e-9, "{object}");
            assert_eq!(object["chance_exact"], true);
            check_time(object, "next_seconds_50", 0.5f64.ln() / (-chance).ln_1p());
            check_time(object, "next_seconds_95", 0.05f64.ln() / (-chance).ln_1p());
            assert!(object.get("last_chance_max").is_none());
            if wanted == 3 {
                // The third of random events comes before these multiples of their mean distance.
                check_time(object, "last_seconds_50", 2.674_06 / chance);
                check_time(object, "last_seconds_95", 6.295_79 / chance);
            } else {
                assert!(object.get("last_seconds_50").is_none(), "{object}");
            }
        }
    });
}

#[test]
fn progress_for_scripts_is_the_only_object_on_stderr() {
    let ran = run(&mut program(&[
        "-t",
        "1",
        "--progress",
        "json",
        "--timeout",
        "1500ms",
        NEVER,
        "bcdefghijabcdefghija",
    ]));
    assert_eq!(ran.status, Some(3), "{ran:?}");
    let (lines, others): (Vec<&str>, Vec<&str>) = ran.stderr.lines().partition(|line| line.starts_with('{'));
    let objects = objects(&lines.join("\n"));
    assert!((1..=2).contains(&objects.len()), "{ran:?}");
    for object in &objects {
        assert!(object["last_chance_max"].is_number() && object["last_seconds_50"].is_number(), "{object}");
    }
    assert!(others.len() > 3 && !ran.stderr.contains(" elapsed"), "{ran:?}");
}

/// Returns the seconds of a printed time, such as `2.5e9 years`.
fn seconds(printed: &str) -> f64 {
    let (number, unit) = printed.split_once(' ').unwrap();
    let unit = match unit {
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        "days" => 86_400.0,
        "years" => 365.25 * 86_400.0,
        _ => panic!("{printed}"),
    };
    number.replace(',', "").parse::<f64>().unwrap() * unit
}

#[test]
fn a_search_that_is_ended_says_what_a_longer_one_would_have_given() {
    let pattern = "abcdefgh";
    let chance = odds::chance(&odds::Shape::new(&[], pattern));
    let ended = |options: &[&str]| {
        let mut search = program(&["--json", "-t", "1", "--engine", "reference", "--timeout", "500ms"]);
        let ran = run(search.args(options));
        assert_eq!(ran.status, Some(3), "{ran:?}");
        let summary = objects(&ran.stdout).pop().unwrap();
        let lines = ran.stderr.lines().filter(|line| line.contains(" within another "));
        let lines: Vec<String> = lines.map(str::to_owned).collect();
        let more = move |multiple: f64| {
            (multiple / chance - positive(&summary, "attempts")) / positive(&summary, "keys_per_second")
        };
        (lines, more)
    };
    let is_near = |printed: &str, expected: f64| {
        assert!((seconds(printed) / expected - 1.0).abs() < 0.06, "{printed}, not {expected}");
    };

    // Returns the two times of a line.
    let times = |line: &str, of: &str| {
        let times = line.strip_prefix(of).and_then(|rest| rest.strip_prefix("50% within another "));
        let (half, most) = times.and_then(|times| times.split_once(", 95% within another ")).unwrap();
        (half.to_owned(), most.to_owned())
    };
    let mut ended = at_once([&[pattern][..], &["-n", "3", pattern]], ended);
    let (lines, more) = ended.remove(0);
    let [line] = &lines[..] else { panic!("{lines:?}") };
    let (half, most) = times(line, "a longer search: ");
    is_near(&half, more(std::f64::consts::LN_2));
    is_near(&most, more(2.995_73));

    let (lines, more) = ended.remove(0);
    let [next, all] = &lines[..] else { panic!("{lines:?}") };
    is_near(&times(next, "the next key: ").1, more(2.995_73));
    is_near(&times(all, "all keys: ").0, more(2.674_06));
}

#[test]
fn what_is_missing_is_named_and_encryption_is_shown() {
    let Some(script) = require::tool("script") else { return };
    let directory = TempDir::new().unwrap();
    let run = |line: &str, until: &str| {
        let line = format!("stty cols 100 rows 24 && cd '{}' && {line}", directory.path().display());
        let mut typist = Typist::run(command(&script).env("P", executable()), &line);
        typist.answer(until, "\x03");
        typist.end()
    };
    let search = "exec $P --color never -t 1 --engine reference";
    let (status, shown) =
        run(&format!("{search} -d keys ab cd ef abcdefghi bcdefghij"), "any of 2: 50% within ");
    assert_eq!(status, Some(130), "{shown}");
    assert!(shown.contains("3 of 5 found, missing abcdefghi and bcdefghij, "), "{shown}");
    let (_, end) = shown.split_once("interrupted: 3 of 5 keys found").unwrap_or_else(|| panic!("{shown}"));
    assert!(end.contains("\r\nmissing: abcdefghi and bcdefghij\r\n"), "{end}");
    // The times are those of the keys that are missing when the rate is known.
    assert!(!shown.contains("any of 5: 50%"), "{shown}");
    // The steps are for all keys.
    let keys = program::privates(&directory.path().join("keys")).len();
    assert!(end.contains(&format!("next steps, for each NAME of the {keys} keys:")), "{end}");
    assert!(end.contains("ssh-copy-id -f -i keys/NAME.pub USER@HOST"), "{end}");
    let (_, shown) = run(
        &format!("{search} -d more ab cd abcdefghi bcdefghij cdefghija defghijab efghijabc"),
        "2 of 7 found",
    );
    assert!(shown.contains("missing: abcdefghi, bcdefghij, cdefghija and 2 more\r\n"), "{shown}");

    let secret = "echo secret > secret && chmod 600 secret";
    let encrypted = "--passphrase-file secret --rounds 20 -d encrypted -n 20 ab";
    let (_, shown) = run(&format!("{secret} && {search} {encrypted}"), "encrypting, 3 of 20 kept");
    assert!(shown.contains("encrypting, 0 of 20 kept"), "{shown}");
    // A search that waits has no rate.
    let (_, encrypting) = shown.split_once("encrypting").unwrap();
    let (encrypting, _) = encrypting.split_once("interrupted").unwrap();
    assert!(!encrypting.contains("keys/s"), "{shown}");
    let (_, shown) =
        run(&format!("{search} --passphrase-file secret --rounds 50 -o id_x ab"), "encrypting the");
    assert!(shown.contains("encrypting the private key"), "{shown}");
}

/// The odds of more than 32 expressions together have wide bounds.
#[test]
fn a_chance_that_is_not_known_is_not_told() {
    let directory = TempDir::new().unwrap();
    let lines: String = (0..40).map(|number| format!("regex:abcdefg.?z{number}\n")).collect();
    std::fs::write(directory.path().join("list"), lines).unwrap();
    let mut search = program(&["-t", "1", "--engine", "reference", "--timeout", "500ms", "-f", "list"]);
    let ran = run(search.current_dir(&directory));
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("0 of 40 keys found; chance of the next so far not known\n"), "{ran:?}");
    assert!(!ran.stderr.contains("at least below"), "{ran:?}");
}

#[test]
fn no_progress_is_shown_if_it_is_off() {
    let Some(script) = require::tool("script") else { return };
    let search = "--color never -t 1 --engine reference --timeout 500ms --progress";
    for (form, is_shown) in [("off", false), ("auto", true)] {
        let line = format!("exec '{}' {search} {form} {NEVER}", executable());
        let (status, shown) = Typist::run(&mut command(&script), &line).end();
        assert_eq!(status, Some(3), "{shown}");
        assert_eq!(shown.contains(" elapsed"), is_shown, "{shown:?}");
        assert_eq!(shown.contains('\x1b'), is_shown, "{shown:?}");
        // The other lines are printed all the same.
        assert!(shown.contains(": 1 in ") && shown.contains(" keys tried in "), "{shown}");
    }
}
