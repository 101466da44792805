//! The program refuses every kind of bad input: `bad_input.txt` holds commands and every character
//! of the answers.
//!
//! The first lines of that file explain its format. The test runs each command in a directory that
//! [`prepare`] fills, and reports all wrong rows together.
//!
//! `SNAPSHOTS=overwrite` writes the answers into the file. That run fails, too, and shows each row
//! that it has changed, so that you read it before you keep it.

#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// The file that holds the rows, from the root of the package.
const FILE: &str = "tests/all/bad_input.txt";
const TEXT: &str = include_str!("bad_input.txt");

/// The file has at least this many rows, so that none is lost by accident.
const FEWEST_ROWS: usize = 220;

/// Lines that name their kind. The lines around the comment are good, the others are bad.
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

/// Writes the files that the commands name.
fn prepare(directory: &Path) {
    let write = |name: &str, bytes: &[u8]| fs::write(directory.join(name), bytes).unwrap();
    write("empty", b"");
    write("comments", b"# nothing\n\n   \n# but comments\n");
    write("nul", b"abc\nd\0ef\n");
    write("utf16", b"\xff\xfea\0b\0c\0\n\0");
    write("latin1", b"abc\nd\xe9f\n");
    write("bom-crlf", b"\xef\xbb\xbfabc\r\nd=f\r\n");
    write("key.pem", b"-----BEGIN PRIVATE KEY-----\nnobody may see this line\n-----END PRIVATE KEY-----\n");
    write("key.ppk", b"PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\nnobody may see this line\n");
    write("two-bad", b"abc\n# words\nb_d\n   lis te\n");
    write("many-bad", "a-b\n".repeat(1_000_000).as_bytes());
    write("kinds", KINDS.as_bytes());
    write("expressions", b"a:b\n(?i:abc)\n\tsufix:abc\na(b\nprefix:^a\nregex: ^[Q-Z]\n");
    write("long-line", format!("abc\n  prefix:{}\n# {0}\n", "x".repeat(100_000)).as_bytes());
    write("secret", b"correct horse\n");
    write("taken", b"precious\n");
    write("half.pub", b"precious\n");
    write("pair", b"precious\n");
    write("pair.pub", b"precious\n");
    fs::create_dir(directory.join("directory")).unwrap();
    std::os::unix::fs::symlink("nowhere", directory.join("dangling")).unwrap();
}

/// Every path below a directory with its mode and, of what is no directory, its length and the time of
/// its last change. To read a million lines again for each row would take longer than the rows.
type Contents = BTreeMap<PathBuf, String>;

/// Looks at everything below `directory`.
fn contents(directory: &Path) -> Contents {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let look = |path: &PathBuf| {
        let is = fs::symlink_metadata(path).unwrap();
        if is.is_dir() {
            return format!("{:o} {:?}", is.mode(), contents(path));
        }
        format!("{:o} {} {} {}", is.mode(), is.len(), is.ctime(), is.ctime_nsec())
    };
    entries.map(|path| (path.clone(), look(&path))).collect()
}

/// Returns the paths whose contents differ.
fn changed<'a>(before: &'a Contents, after: &'a Contents) -> BTreeSet<&'a PathBuf> {
    before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).collect()
}

/// A command and the answer that the file expects.
struct Row {
    heading: &'static str,
    /// The number of the command's line in the file.
    line: usize,
    command: &'static str,
    answer: Vec<&'static str>,
}

impl Row {
    /// Whether this system has what the row needs: `setsid`, `/proc`, or the processor whose
    /// engines the answer names.
    fn runs_here(&self) -> bool {
        let has_tool = !self.command.starts_with("setsid ") || crate::require::tool("setsid").is_some();
        let needs_x86 = self.command.starts_with("VANITY_WITHOUT=");
        has_tool
            && (cfg!(target_os = "linux") || !self.command.contains("/proc/"))
            && (cfg!(target_arch = "x86_64") || !needs_x86)
    }

    /// Returns the row as the file has it, with this answer.
    fn with_answer(&self, answer: &[&str]) -> String {
        let command = format!("$ {}", self.command);
        [&*command].iter().chain(answer).map(|line| format!("{line}\n")).collect()
    }
}

/// Reads the rows of [`TEXT`].
fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let (mut heading, mut is_in_row) = (None, false);
    for (number, line) in (1..).zip(TEXT.lines()) {
        if line.is_empty() {
            is_in_row = false;
        } else if is_in_row {
            rows.last_mut().unwrap().answer.push(line);
        } else if let Some(command) = line.strip_prefix("$ ") {
            let heading = heading.unwrap_or_else(|| panic!("{FILE}:{number}: this row has no heading"));
            rows.push(Row { heading, line: number, command, answer: Vec::new() });
            is_in_row = true;
        } else if let Some(title) = line.strip_prefix("## ") {
            heading = Some(title);
        } else {
            assert!(line.starts_with('#'), "{FILE}:{number}: this line belongs to no row: {line}");
        }
    }
    rows
}

/// Returns everything that is wrong with a row: with the status, with the streams, and with the
/// files that have changed.
fn faults(row: &Row, output: &Output, answer: &[&str], changed: &BTreeSet<&PathBuf>) -> Vec<String> {
    let mut faults = Vec::new();
    if output.status.code() != Some(2) {
        faults.push(format!("expected: status 2\nshown: {}", output.status));
    }
    if !output.stdout.is_empty() {
        faults.push(format!("expected: nothing on stdout\nshown: {}", output.stdout.escape_ascii()));
    }
    if !changed.is_empty() {
        faults.push(format!("expected: no change of files\nshown: changes of {changed:?}"));
    }
    if answer != row.answer {
        let indented = |lines: &[&str]| lines.iter().map(|line| format!("    {line}\n")).collect::<String>();
        faults.push(format!("expected:\n{}shown:\n{}", indented(&row.answer), indented(answer)));
    }
    faults
}

/// Returns `PATH` with the directory of the program before the others.
fn path_to_program() -> OsString {
    let program = Path::new(env!("CARGO_BIN_EXE_vanity-ed25519"));
    let path = std::env::var_os("PATH").unwrap();
    let directories = [program.parent().unwrap().into()].into_iter().chain(std::env::split_paths(&path));
    std::env::join_paths(directories).unwrap()
}

#[test]
fn bad_input_is_refused_with_its_reason() {
    let directory = tempfile::TempDir::new().unwrap();
    prepare(directory.path());
    let path = path_to_program();
    let refuse = |command: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(directory.path());
        shell.env("PATH", &path).env("LC_ALL", "C").env_remove("RUST_BACKTRACE");
        shell.output().unwrap()
    };

    let rows = rows();
    assert!(rows.len() >= FEWEST_ROWS, "{} rows", rows.len());
    let mut files = contents(directory.path());
    let mut text = TEXT.to_owned();
    let mut wrong = Vec::new();
    for row in &rows {
        if !row.runs_here() {
            continue;
        }
        let output = refuse(row.command);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let answer: Vec<&str> = stderr.lines().collect();
        let files_after = contents(directory.path());
        let faults = faults(row, &output, &answer, &changed(&files, &files_after));
        files = files_after;
        if !faults.is_empty() {
            let place = format!("{FILE}:{}: {}\n$ {}", row.line, row.heading, row.command);
            wrong.push(format!("{place}\n{}", faults.join("\n")));
            text = text.replace(&row.with_answer(&row.answer), &row.with_answer(&answer));
        }
    }
    if std::env::var("SNAPSHOTS").is_ok_and(|how| how == "overwrite") {
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE), text).unwrap();
    }
    assert!(wrong.is_empty(), "{} of {} rows are wrong:\n\n{}", wrong.len(), rows.len(), wrong.join("\n"));
    if crate::program::is_timed() {
        check_times(rows.iter().map(|row| row.command), |command| drop(refuse(command)));
    }
}

/// The one command that may take longer: it reads a million lines, to count the bad ones.
const LONG: &str = "vanity-ed25519 -f many-bad";

/// The most time that any other command may take, with its shell.
const MOST: Duration = Duration::from_millis(50);

/// Checks how long refusals take: the median of 20 runs of each command. The limit holds for a
/// release build.
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
