//! The form of `RESULTS.txt`: its index, its table of what holds today, the head of each entry, and
//! the files that it names.

#![cfg(unix)]

use std::fs;
use std::path::PathBuf;

use crate::documents::{read, root};
use crate::program::{PROGRAM, command, succeed};
use crate::require;

/// The most columns of a line of prose. A row of a table or a command may be longer.
const COLUMNS: usize = 112;

/// The lines in the head of each entry. A detail that nobody knows is "not recorded", and "none"
/// gives the reason.
const HEAD: [&str; 5] = ["date", "commit", "command", "processor", "compiler"];

/// The directory of rounds as they were printed.
const RECORDED: &str = "benches/recorded/";

/// The text under one heading.
struct Entry<'a> {
    number: &'a str,
    date: &'a str,
    title: &'a str,
    text: &'a str,
}

/// The parts of the file.
struct Results<'a> {
    text: &'a str,
    index: &'a str,
    today: &'a str,
    entries: Vec<Entry<'a>>,
}

impl<'a> Results<'a> {
    fn new(text: &'a str) -> Self {
        let rule = format!("\n{}\n", "=".repeat(COLUMNS));
        let mut parts = text.split(rule.as_str());
        let (index, today) = parts.next().unwrap().split_once("\nWHAT HOLDS TODAY\n").unwrap();
        let (_, index) = index.split_once("\nINDEX\n").unwrap();
        let mut entries = Vec::new();
        while let Some(heading) = parts.next() {
            let (number, date, title) = heading_of(heading).unwrap();
            entries.push(Entry { number, date, title, text: parts.next().unwrap() });
        }
        Self { text, index, today, entries }
    }

    /// Returns all that is wrong with the file. `recorded` holds the paths of all files in
    /// [`RECORDED`].
    fn complaints(&self, recorded: &[String]) -> Vec<String> {
        let mut complaints = self.index_complaints();
        complaints.extend(self.entries.iter().flat_map(Entry::head_complaints));
        complaints.extend(self.today.split("\n\n").flat_map(|table| self.figure_complaints(table)));
        complaints.extend(self.file_complaints(recorded));
        let long = self.text.lines().filter(|line| is_long_prose(line));
        complaints.extend(long.map(|line| format!("long: {line}")));
        complaints
    }

    fn index_complaints(&self) -> Vec<String> {
        let rows = self.index.lines().filter_map(heading_of);
        let listed: Vec<_> = rows.map(|(number, date, title)| format!("[{number}] {date} {title}")).collect();
        let entries = self.entries.iter();
        let headings: Vec<_> = entries
            .clone()
            .map(|entry| format!("[{}] {} {}", entry.number, entry.date, entry.title))
            .collect();
        let mut complaints = Vec::new();
        if listed != headings {
            complaints.push(format!("the index lists {listed:#?}, and the entries are {headings:#?}"));
        }
        for (entry, number) in entries.clone().zip(1..) {
            if entry.number != number.to_string() {
                complaints.push(format!("entry {} follows entry {}", entry.number, number - 1));
            }
        }
        if !entries.is_sorted_by_key(|entry| entry.date) {
            complaints.push("a new entry belongs at the end".to_owned());
        }
        complaints
    }

    /// Complains of figures in a table of today that are in none of the entries that the table
    /// names.
    fn figure_complaints(&self, table: &str) -> Vec<String> {
        let named = bracketed(table);
        let mut complaints = Vec::new();
        let mut known = Vec::new();
        for number in &named {
            match self.entries.iter().find(|entry| entry.number == *number) {
                Some(entry) => known.extend(figures(entry.text)),
                None => complaints.push(format!("entry {number} does not exist")),
            }
        }
        let unbracketed = table.split('[').map(|part| part.split_once(']').map_or(part, |(_, after)| after));
        let unknown = unbracketed.flat_map(figures).filter(|figure| !known.contains(figure));
        let first = table.trim_start().lines().next().unwrap_or_default();
        complaints.extend(unknown.map(|figure| format!("{figure} is in no entry that is named: {first}")));
        complaints
    }

    /// Complains of files that are named and do not exist, and of files that no entry names.
    fn file_complaints(&self, recorded: &[String]) -> Vec<String> {
        let ends = |rest: &&str| {
            rest.find(|symbol: char| !symbol.is_ascii_alphanumeric() && !"-_./".contains(symbol))
                .unwrap_or(rest.len())
        };
        let after = self.text.split(RECORDED).skip(1);
        let named: Vec<_> = after.map(|rest| rest[..ends(&rest)].trim_end_matches('.')).collect();
        let named: Vec<_> = named.iter().map(|name| format!("{RECORDED}{name}")).collect();
        let missing = named.iter().filter(|name| !recorded.contains(name));
        let unnamed = recorded.iter().filter(|name| !named.contains(name));
        let missing = missing.map(|name| format!("the file {name} does not exist"));
        missing.chain(unnamed.map(|name| format!("no entry names {name}"))).collect()
    }
}

impl Entry<'_> {
    fn head_complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        let (head, _) = self.text.trim_start().split_once("\n\n").unwrap_or_default();
        let values = head.lines().filter_map(|line| line.split_once(' '));
        for key in HEAD {
            let value = values.clone().find(|(name, _)| *name == key).map(|(_, value)| value.trim());
            match value {
                None => complaints.push(format!("entry {} has no line '{key}' in its head", self.number)),
                Some("" | "none") => {
                    complaints.push(format!("entry {}: '{key}' needs a reason", self.number))
                }
                Some(value) if key == "date" && !value.starts_with(self.date) => {
                    complaints
                        .push(format!("entry {} is of {}, and its head of {value}", self.number, self.date));
                }
                Some(_) => {}
            }
        }
        complaints
    }
}

/// Returns number, date and title of a line such as "[3] 2026-11-21  Start-up".
fn heading_of(line: &str) -> Option<(&str, &str, &str)> {
    let (number, rest) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    let (date, title) = rest.trim_start().split_once("  ")?;
    Some((number, date, title))
}

/// Returns the texts in square brackets.
fn bracketed(text: &str) -> Vec<&str> {
    text.split('[').skip(1).filter_map(|rest| rest.split_once(']')).map(|(number, _)| number).collect()
}

/// Returns the figures of a text, as they are written: 1,144,000, 0.991 and 64, but not the 512 of
/// avx512f.
fn figures(text: &str) -> Vec<&str> {
    let words = text.split(|symbol: char| !symbol.is_ascii_alphanumeric() && !"._,-".contains(symbol));
    words
        .map(|word| word.trim_start_matches('-'))
        .filter(|word| word.starts_with(|first: char| first.is_ascii_digit()))
        .map(|word| word.trim_end_matches(|last: char| !last.is_ascii_digit()))
        .collect()
}

fn is_long_prose(line: &str) -> bool {
    line.len() > COLUMNS && !line.trim_start().contains("   ") && !line.starts_with("command ")
}

fn results() -> String {
    read("RESULTS.txt")
}

/// Returns the paths of all files in [`RECORDED`], from the root of the repository.
fn recorded() -> Vec<String> {
    let mut directories = vec![root().join(RECORDED)];
    let mut files = Vec::new();
    while let Some(directory) = directories.pop() {
        let paths: Vec<PathBuf> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        let (inner, plain): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.is_dir());
        directories.extend(inner);
        let name = |path: PathBuf| path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        files.extend(plain.into_iter().map(name));
    }
    files
}

#[test]
fn results_have_an_index_heads_and_known_figures() {
    let text = results();
    let complaints = Results::new(&text).complaints(&recorded());
    assert!(complaints.is_empty(), "RESULTS.txt:\n{}", complaints.join("\n"));
}

#[test]
fn a_wrong_form_is_noticed() {
    let text = results();
    let harms = [
        ("  [5]  2026-11-21  Start-up\n", "", "the index lists"),
        ("[4] 2026-11-21  Link-time", "[4] 2026-11-21  Linking-time", "the index lists"),
        ("[14] 2026-11-22  Builds", "[15] 2026-11-22  Builds", "entry 15 follows entry 13"),
        ("[14] 2026-11-22  Builds", "[14] 2026-11-20  Builds", "belongs at the end"),
        ("date       2026-11-21\ncommit     beca2eb", "commit     beca2eb", "entry 9 has no line 'date'"),
        (
            "date       2026-11-21\ncommit     beca2eb",
            "date       2025-11-21\ncommit     beca2eb",
            "entry 9 is of",
        ),
        ("command    vanity-ed25519 -q -d DIR -n 10000 ab\n", "", "entry 9 has no line 'command'"),
        (
            "command    vanity-ed25519 -q -d DIR -n 10000 ab\n",
            "command    none\n",
            "'command' needs a reason",
        ),
        ("avx512f     27.65 28.17", "avx512f     27.66 28.17", "27.66 is in no entry"),
        ("1.006 [3]   1.004 [6]", "1.006 [3]   1.004 [99]", "entry 99 does not exist"),
        ("a second\nthe same command", "a second, 3,700\nthe same command", "3,700 is in no entry"),
        ("benches/recorded/threads.csv", "benches/recorded/thread.csv", "thread.csv does not exist"),
        ("benches/recorded/threads.csv", "a file", "no entry names"),
        ("Whole process, release", "Whole whole whole whole whole process, release", "long: Whole"),
    ];
    for (right, wrong, complaint) in harms {
        assert!(text.contains(right), "{right}");
        let harmed = text.replacen(right, wrong, 1);
        let complaints = Results::new(&harmed).complaints(&recorded());
        assert!(complaints.iter().any(|found| found.contains(complaint)), "{complaint}: {complaints:?}");
    }
}

#[test]
fn recorded_rounds_have_the_medians_of_their_entry() {
    let text = results();
    let entry = &Results::new(&text).entries[0];
    let file = root().join(RECORDED).join("2026-11-21-cascade-lake/published-record.txt");
    let rounds = fs::read_to_string(file).unwrap();
    let mut compared = 0;
    for row in rounds.lines().filter(|line| line.starts_with("  ")) {
        let (name, rates) = row.trim_start().split_at(22);
        let mut rates: Vec<u32> = rates.split_whitespace().map(|rate| rate.parse().unwrap()).collect();
        rates.sort_unstable();
        let [least, .., most] = rates[..] else { panic!("{row}") };
        let shown = format!("{name}{:>14}{least:>10}{most:>10} ", rates[rates.len() / 2]);
        assert!(entry.text.contains(&shown), "{shown}");
        compared += 1;
    }
    assert_eq!(compared, 16);
}

/// The script needs bash 5, and macOS has bash 3.
#[test]
#[cfg(target_os = "linux")]
fn start_up_is_measured_by_a_script() {
    let Some(bash) = require::tool("bash") else { return };
    let mut script = command(bash);
    script.arg(root().join("benches/start-up.sh")).args([PROGRAM, "1", "100"]);
    let table = succeed(&mut script).stdout;
    let (_, rows) = table.split_once('\n').unwrap();
    assert_eq!(rows.lines().count(), 10, "{table}");
    for row in rows.lines() {
        let times: Vec<f64> =
            row.split_whitespace().rev().take(3).map(|time| time.parse().unwrap()).collect();
        assert!(times.iter().all(|time| *time > 0.0), "{row}");
    }
}
