//! Bad input, row by row: what was typed, and every character of the answer.
//!
//! `bad_input.txt` holds the rows: a shell command after `$ `, then what it prints to stderr, then a blank line.
//! Each ends with status 2, prints nothing to stdout and changes no file. The commands run in a directory that
//! [`prepare`] fills. `SNAPSHOTS=overwrite` writes the answers into the file, to be read before they are kept.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const ROWS: &str = include_str!("bad_input.txt");

/// Lines that say their kind, all of them bad but the first two and the comments.
const KINDS: &str = "\
prefix:abc
# the colon never occurs in key text
regex: ^A.*9$
sufix:abc
   prefix:a-b
suffix: x=y
word:
prefix:zed
Prefix:abc
regex:a(b
word:a.b
abc # mine
prefix:suffix:abc
";

/// The files that the rows speak of.
fn prepare(directory: &Path) {
    let write = |name: &str, bytes: &[u8]| fs::write(directory.join(name), bytes).unwrap();
    write("empty", b"");
    write("comments", b"# nothing\n\n   \n# but comments\n");
    write("nul", b"abc\nd\0ef\n");
    write("latin1", b"abc\nd\xe9f\n");
    write("bom-crlf", b"\xef\xbb\xbfabc\r\nd=f\r\n");
    write("two-bad", b"abc\n# words\nb_d\n   lis te\n");
    write("many-bad", "a-b\n".repeat(1_000_000).as_bytes());
    write("kinds", KINDS.as_bytes());
    write("expressions", b"a:b\n(?i:abc)\n\tsufix:abc\na(b\nprefix:^a\nregex: ^[Q-Z]\n");
    write("long-line", format!("abc\n  prefix:{}\n# {0}\n", "x".repeat(100_000)).as_bytes());
    write("secret", b"correct horse\n");
    write("taken", b"precious\n");
    write("half.pub", b"precious\n");
    fs::create_dir(directory.join("directory")).unwrap();
    std::os::unix::fs::symlink("nowhere", directory.join("dangling")).unwrap();
}

/// Every name below `directory` with its bytes, or the target of the link.
fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: &PathBuf| match fs::read_link(path) {
        Ok(target) => target.into_os_string().into_encoded_bytes(),
        Err(_) if path.is_dir() => format!("{:?}", contents(path)).into_bytes(),
        Err(_) => fs::read(path).unwrap(),
    };
    entries.map(|path| (path.clone(), read(&path))).collect()
}

#[test]
fn bad_input_is_refused_with_its_reason() {
    let directory = tempfile::TempDir::new().unwrap();
    prepare(directory.path());
    let before = contents(directory.path());
    let program = Path::new(env!("CARGO_BIN_EXE_vanity-ed25519"));
    let path = std::env::join_paths(
        [program.parent().unwrap().into()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let path = path.unwrap();

    let refuse = |command: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(directory.path());
        shell.env("PATH", &path).env("LC_ALL", "C").env_remove("RUST_BACKTRACE");
        shell.output().unwrap()
    };

    let rows: Vec<&str> = ROWS.split("\n\n").map(str::trim_end).filter(|row| !row.is_empty()).collect();
    let mut answers = String::new();
    for row in &rows {
        let command = row.lines().next().unwrap().strip_prefix("$ ").unwrap();
        // A row without its tool is skipped: its answer is believed.
        if command.starts_with("setsid ") && crate::require::tool("setsid").is_none() {
            answers += &format!("{row}\n\n");
            continue;
        }
        let output = refuse(command);
        assert_eq!(output.status.code(), Some(2), "{command}");
        assert!(output.stdout.is_empty(), "{command} wrote to stdout");
        // A blank line of the answer (clap writes some) is left out: it would end the row.
        let stderr = String::from_utf8(output.stderr).unwrap();
        let lines: Vec<&str> = stderr.lines().filter(|line| !line.is_empty()).collect();
        answers += &format!("$ {command}\n{}\n\n", lines.join("\n"));
    }
    let rows_file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/bad_input.txt");
    snapbox::assert_data_eq!(answers, snapbox::Data::read_from(&rows_file, None).raw());
    assert_eq!(contents(directory.path()), before);
    assert!(rows.len() >= 60, "{} rows", rows.len());
    if std::env::var_os("VANITY_TIMED").is_some() {
        let commands = rows.iter().map(|row| row.lines().next().unwrap().strip_prefix("$ ").unwrap());
        check_times(commands, |command| drop(refuse(command)));
    }
}

/// The one row that may take longer: a million lines are read, so that the bad ones can be counted.
const LONG: &str = "vanity-ed25519 -f many-bad";

/// How long any other may take, the shell included.
const MOST: Duration = Duration::from_millis(50);

/// Measures how long refusals take: of each the median of 20 runs. Asked for by `VANITY_TIMED`, on a machine that does nothing
/// else; the figures are the release's.
fn check_times<'a>(commands: impl Iterator<Item = &'a str>, refuse: impl Fn(&str)) {
    let median = |command: &str| {
        let mut times = [(); 20].map(|()| {
            let began = Instant::now();
            refuse(command);
            began.elapsed()
        });
        times.sort_unstable();
        times[times.len() / 2]
    };
    let mut times: Vec<(Duration, &str)> = commands.map(|command| (median(command), command)).collect();
    times.sort_unstable();
    let exception =
        times.extract_if(.., |(_, command)| *command == LONG).next().expect("the exception is a row");
    let &(slowest, command) = times.last().unwrap();
    println!("timed: {} rows, the slowest {:.1} ms: {command}", times.len(), slowest.as_secs_f64() * 1e3);
    println!("timed: a million bad lines {:.1} ms", exception.0.as_secs_f64() * 1e3);
    assert!(slowest < MOST, "{command} takes {slowest:?}");
}
