//! No input can control a terminal. Arguments, files and the environment may hold control and
//! formatting characters, but no output repeats them: neither text nor JSON, neither on a pipe nor
//! on a terminal.

#![cfg(unix)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::sync::LazyLock;

use crate::{program, require, terminal};
use program::{LEDGER, Ran, at_once, command, names, objects, program, run};
use proptest::prelude::*;
use regex_syntax::hir::{Class, HirKind};
use tempfile::TempDir;
use terminal::Typist;
use vanity_ed25519::program::Plan;
use vanity_ed25519::program::{Paint, plan, plan_error};

/// One text of each kind, the worst first. They set the title, clear the screen, set a color that
/// the program never uses, delete, begin a sequence in one character (C1), end a line, or turn the
/// direction of text. The invisible ones are spaces, joiners, a soft hyphen, a byte order mark and
/// a tag.
const NASTY: [&str; 16] = [
    "\x1b]0;owned\x07",
    "\x1b[2J",
    "\x1b[35m",
    "\x7f",
    "\u{9b}35m",
    "\u{85}",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{200d}",
    "\u{ad}",
    "\u{feff}",
    "\u{e0041}",
    "\u{2028}",
    "\nerror: no",
    "\r",
];

/// The characters of Unicode's categories Cc, Cf, Zl and Zp, as `regex-syntax` knows them.
static ACTIVE: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
    let class = regex_syntax::parse(r"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]").unwrap();
    let HirKind::Class(Class::Unicode(class)) = class.kind() else { panic!("{class:?}") };
    class.iter().map(|range| (range.start(), range.end())).collect()
});

fn is_active(char: char) -> bool {
    ACTIVE.iter().any(|(first, last)| (*first..=*last).contains(&char))
}

/// Checks that a text has no character that a terminal obeys, except line ends.
pub fn check_text(text: &str) {
    let active = text.chars().find(|char| is_active(*char) && *char != '\n');
    assert_eq!(active, None, "in {text:?}");
}

/// Checks the status and both streams of a run, which may succeed, refuse its input, or reach its
/// timeout.
fn check(ran: &Ran) {
    assert!(matches!(ran.status, Some(0 | 2 | 3)), "{ran:?}");
    assert!(!ran.stderr.contains("panicked"), "{ran:?}");
    check_text(&ran.stdout);
    check_text(&ran.stderr);
    // An unescaped line end would put this text at the left edge.
    assert!(!ran.stderr.contains("\nerror: no'") && !ran.stderr.contains("\nerror: no\n"), "{ran:?}");
}

/// Returns all of [`NASTY`] as one text.
fn all() -> String {
    NASTY.concat()
}

/// Returns an expression that contains these characters and matches every key.
fn expression(nasty: &str) -> String {
    let literal: String =
        nasty.chars().map(|char| if "[](){}|\\".contains(char) { '.' } else { char }).collect();
    format!("^[A-P]|{literal}x")
}

/// Runs the program with arguments that need not be UTF-8.
fn typed(args: &[&OsStr]) -> Ran {
    run(program(&[]).args(args))
}

/// All texts together go through the program. Each alone goes through the code that reads arguments, and
/// through the program if that refuses nothing.
#[test]
fn no_argument_is_repeated_unescaped() {
    let one_each = NASTY.iter().map(|nasty| ((*nasty).to_owned(), false));
    for (nasty, in_program) in one_each.chain([(all(), true)]) {
        let path = format!("/nowhere{nasty}/x");
        let value = format!("a{nasty}");
        for args in [
            &[&*value][..],
            &[&nasty],
            &["--regex", &format!("({value}")],
            &["--prefix", "--suffix", &value],
            &[&format!("-{nasty}")],
            &[&format!("--{value}")],
            &[&format!("--{value}=b")],
            &[&format!("--estimate={value}"), "ab"],
            &[&format!("--passphrase={value}"), "ab"],
            &["--color", &value, "ab"],
            &["--completions", &value],
            &["--count", &value, "ab"],
            &["--threads", &value, "ab"],
            &["--timeout", &value, "ab"],
            &["--table-memory", &value, "ab"],
            &["--gpu-device", &value, "ab"],
            &["--bench", &value, "ab"],
            &["--in", &value, "ab"],
            &["--format", &value, "ab"],
            &["--cipher", &value, "ab"],
            &["--rounds", &value, "ab"],
            &["--engine", &value, "ab"],
            &["--comment", &value, "ab"],
            &["--patterns", &path],
            &["--passphrase-file", &path, "ab"],
            &["--output", &path, "ab"],
            &["--output-dir", &path, "ab"],
        ] {
            if !in_program {
                let words = ["vanity-ed25519"].iter().chain(args).map(OsString::from);
                if let Err(error) = plan(words, &|_| ()) {
                    let said = plan_error(&error, Paint::PLAIN);
                    assert!(said.starts_with("error: "), "{args:?}: {said}");
                    check_text(&said);
                    continue;
                }
                // The search that was planned is refused.
            }
            let more = [&[][..], &["--json"], &["-q"], &["--color", "never"]];
            for more in &more[..if in_program { more.len() } else { 1 }] {
                let ran = run(program(args).args(*more));
                assert_eq!(ran.status, Some(2), "{args:?}: {ran:?}");
                assert!(ran.stderr.starts_with("error: "), "{args:?}: {ran:?}");
                check(&ran);
            }
        }
    }
}

#[test]
fn bytes_that_are_not_utf8_are_shown_as_numbers() {
    let nasty = OsStr::from_bytes(b"caf\xe9\x1b[2J");
    for option in ["", "-f", "-o", "-d", "--count", "--color", "--engine", "--comment", "--passphrase-file"] {
        let mut value = OsString::from(if ["-o", "-d"].contains(&option) { "/nowhere/x/" } else { "" });
        value.push(nasty);
        let args = [OsStr::new("ab"), OsStr::new(option), &value];
        let ran = typed(if option.is_empty() { &args[2..] } else { &args });
        assert_eq!(ran.status, Some(2), "{option}: {ran:?}");
        check(&ran);
        // The messages of these name the option or the directory alone.
        if !["-o", "-d", "--count", "--engine"].contains(&option) {
            assert!(ran.stderr.contains(r"caf\xe9\u{1b}[2J"), "{option}: {ran:?}");
        }
    }
}

#[test]
fn the_name_of_the_program_is_not_repeated() {
    for arguments in [&["--nix"][..], &["--estimate", "--bench"], &["--help"], &["-V"]] {
        check(&run(program(arguments).arg0(all())));
    }
}

/// Runs searches with keys in every kind of place, an estimate and a measurement, each as text and
/// as JSON.
#[test]
fn patterns_are_escaped_wherever_they_come_from() {
    for nasty in [all(), "\u{202e}\u{feff}".to_owned()] {
        let directory = TempDir::new().unwrap();
        let pattern = expression(&nasty);
        let file = format!("regex:{}\nregex:{}\nab\nab\n", pattern.replace('\n', " "), "^[A-P]|\u{7}x");
        fs::write(directory.path().join("list"), file).unwrap();
        for more in [
            &["--regex", &*pattern][..],
            &["--regex", &pattern, "-o", "one"],
            &["--regex", &pattern, "-o", "two", "--format", "openssh"],
            &["--regex", &pattern, "-d", "keys"],
            &["--regex", &pattern, "-d", "keys"],
            &["-f", "list", "-d", "keys"],
            &["-f", "list", "--estimate", "-t", "1", "--engine", "reference"],
            &["--regex", &pattern, "--bench", "0.1", "-t", "1", "--engine", "reference"],
        ] {
            for how in [&[][..], &["--json"], &["-q"]] {
                let ran = run(program(more).args(how).current_dir(&directory));
                check(&ran);
                if how == ["--json"] && ran.status == Some(0) && !more.contains(&"--bench") {
                    let objects = objects(&ran.stdout);
                    let patterns = objects.iter().filter_map(|object| object["pattern"].as_str());
                    let expected = ["ab", &pattern, &*pattern.replace('\n', " "), "^[A-P]|\u{7}x"];
                    assert!(patterns.clone().all(|text| expected.contains(&text)), "{patterns:?}");
                }
            }
        }
        // A terminal can show the files that were written, too.
        let keys = directory.path().join("keys");
        for name in names(&keys).iter().map(|name| keys.join(name)).chain([directory.path().join("one.pub")])
        {
            check_text(&fs::read_to_string(name).unwrap());
        }
    }
}

#[test]
fn a_refused_list_cannot_control_a_terminal() {
    let directory = TempDir::new().unwrap();
    let name = format!("list{}", all());
    let lines: String = NASTY.iter().map(|nasty| format!("a{nasty}\nregex:({nasty}\n")).collect();
    fs::write(directory.path().join(&name), lines).unwrap();
    fs::write(directory.path().join("binary"), b"ab\n\x1b[2J\xff\n").unwrap();
    for list in [&*name, "binary"] {
        let ran = run(program(&["-f", list]).current_dir(&directory));
        assert_eq!(ran.status, Some(2), "{ran:?}");
        check(&ran);
    }
}

#[test]
fn names_of_directories_and_ledgers_are_escaped() {
    let outer = TempDir::new().unwrap();
    let name = format!("keys{}", all());
    let directory = outer.path().join(&name);
    let search = |how: &[&str]| {
        let ran = run(program(&["ab", "-n", "2", "-d", &name]).args(how).current_dir(&outer));
        check(&ran);
        ran
    };
    let found = objects(&search(&["--json"]).stdout);
    let private = found.iter().find_map(|object| object.get("private_key_file")).unwrap().as_str().unwrap();
    assert_eq!(Path::new(private).parent().unwrap(), Path::new(&name));
    let ledger = directory.join(LEDGER);
    let good = fs::read_to_string(&ledger).unwrap();
    let bad: String = NASTY.iter().map(|nasty| format!("{nasty}\n{}", good.replace("ab", nasty))).collect();
    fs::write(&ledger, bad).unwrap();
    for how in [&[][..], &["--json"], &["-n", "4"]] {
        search(how);
    }
    fs::remove_file(&ledger).unwrap();
    fs::create_dir(&ledger).unwrap();
    assert_eq!(search(&[]).status, Some(2));
    let ran = run(program(&["ab", "-o", &name]).current_dir(&outer));
    assert_eq!(ran.status, Some(2), "a directory stands there");
    check(&ran);
}

#[test]
fn the_environment_is_escaped() {
    let variables = [
        "TERM",
        "NO_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "COLUMNS",
        "LINES",
        "LANG",
        "LC_ALL",
        "HOME",
        "TMPDIR",
        "RUST_BACKTRACE",
        "RUST_LOG",
        "RUST_MIN_STACK",
        "RAYON_NUM_THREADS",
        "VANITY_WITHOUT",
        "OCL_ICD_VENDORS",
        "OPENCL_VENDOR_PATH",
        "CI",
        "PATH",
    ];
    for variable in variables {
        check(&run(program(&["ab"]).env(variable, all())));
    }
    for args in [&["--nix"][..], &["--help"], &["--json", "ab"], &["--engine", "none", "ab"]] {
        check(&run(program(args).envs(variables.map(|variable| (variable, all())))));
    }
}

/// Removes the program's own sequences from what it sent to a terminal: colors, and those that
/// rewrite a line.
fn without_own(sent: &str) -> String {
    let mut parts = sent.split("\x1b[");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(part.len());
        let (numbers, rest) = part.split_at(end);
        let is_own = match rest.chars().next() {
            Some('m') => {
                numbers.split(';').all(|number| ["", "0", "1", "2", "4", "31", "32", "33"].contains(&number))
            }
            Some('A' | 'B' | 'K') => true,
            Some('J') => numbers == "0",
            _ => false,
        };
        assert!(is_own, "ESC [ {part:?} in {sent:?}");
        text += &rest[1..];
    }
    text
}

/// Runs the program in a terminal to its end.
#[cfg(target_os = "linux")]
fn in_terminal(script: &Path, directory: &Path, line: &str) -> (Option<i32>, String) {
    let mut script = command(script);
    script.current_dir(directory).env("P", program::executable());
    script.env("NASTY", all()).env("REGEX", expression(&all()));
    Typist::run(&mut script, line).end()
}

/// Elsewhere `script` has other options.
#[test]
#[cfg(target_os = "linux")]
fn a_terminal_gets_nothing_but_the_programs_own_sequences() {
    let Some(script) = require::tool("script") else { return };
    let directory = TempDir::new().unwrap();
    let never = "abcdefghijabcdefghij";
    let lines = [
        ("exec \"$P\" \"--$NASTY\"".to_owned(), 2),
        ("exec \"$P\" --color \"$NASTY\" ab".to_owned(), 2),
        ("exec \"$P\" \"a$NASTY\"".to_owned(), 2),
        ("exec \"$P\" --engine \"$NASTY\" ab".to_owned(), 2),
        ("exec \"$P\" -o \"$NASTY/x\" ab".to_owned(), 2),
        ("exec \"$P\" --help".to_owned(), 0),
        ("exec \"$P\" --estimate -t 1 --engine reference --regex \"$REGEX\"".to_owned(), 0),
        ("exec \"$P\" --json --regex \"$REGEX\"".to_owned(), 0),
        ("exec \"$P\" --regex \"$REGEX\"".to_owned(), 0),
        ("exec \"$P\" --regex \"$REGEX\" -o \"a$NASTY\"".to_owned(), 0),
        (format!("exec \"$P\" -t 1 --timeout 500ms --regex \"$REGEX\" {never} -d \"d$NASTY\""), 3),
    ];
    at_once(lines, |(line, status)| {
        let (ended, sent) = in_terminal(&script, directory.path(), &line);
        assert_eq!(ended, Some(status), "{line}: {sent:?}");
        check_text(&without_own(&sent).replace('\r', ""));
    });
}

#[test]
fn the_test_recognizes_foreign_sequences() {
    assert_eq!(without_own("\x1b[1m\x1b[31ma\x1b[0m\r\x1b[2K\x1b[1Ab"), "a\rb");
    for other in ["\x1b[2J", "\x1b[35m", "\x1b[m\x1b[1;35m", "\x1b[?25l", "\x1b["] {
        assert!(std::panic::catch_unwind(|| without_own(other)).is_err(), "{other:?}");
    }
    assert!(std::panic::catch_unwind(|| check_text("a\u{202e}")).is_err());
}

/// Makes the words of random command lines: options, parts of options, and characters that a
/// terminal obeys.
fn word() -> impl Strategy<Value = String> {
    let option = prop::sample::select(vec![
        "--count",
        "--threads=",
        "--color",
        "--color=always",
        "--engine",
        "--format=",
        "--in",
        "--prefix",
        "--leet",
        "--regex",
        "--word",
        "--json",
        "--",
        "-",
        "-s",
        "-n",
        "-t2",
        "--gpu-device=",
        "--timeout",
        "--comment",
        "-C",
        "--nonsense",
        "--rounds=",
        "--completions",
        "-f/nowhere/",
    ]);
    let nasty =
        prop::collection::vec(prop::sample::select(NASTY.to_vec()), 0..3).prop_map(|nasty| nasty.concat());
    (
        prop_oneof![option.prop_map(str::to_owned), "[a-zA-Z=+/|^$-]{0,6}", Just(String::new())],
        nasty,
        any::<char>(),
    )
        .prop_map(|(start, nasty, char)| format!("{start}{nasty}{char}"))
}

proptest! {
    #[test]
    fn answers_to_random_command_lines_are_escaped(words in prop::collection::vec(word(), 0..5)) {
        // With these two options the program asks nothing, writes nothing, and makes no tables.
        let fixed = ["vanity-ed25519", "--estimate", "--engine=reference"].map(str::to_owned);
        let line = fixed.into_iter().chain(words).filter(|word| !word.contains('\0')).map(OsString::from);
        match plan(line, &|_| ()) {
            Err(error) => check_text(&plan_error(&error, Paint::PLAIN)),
            Ok(Plan::Print(printed)) => check_text(std::str::from_utf8(&printed).unwrap()),
            Ok(Plan::Help(text, _)) => check_text(&text.plain),
            Ok(_) => {}
        }
    }
}
