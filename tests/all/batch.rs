//! Tests of batches: the names of files, the ledger, reruns, and what survives kills, signals, full
//! disks and closed streams.
//!
//! `VANITY_KEYS` sets the number of keys in a batch (300 by default), `VANITY_KILLS` the number of
//! kills (10 by default).

#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{program, require};
use program::{
    ENDLESS, LEDGER, NEVER, NO_SHARED_MEMORY, Ran, check_pair, command, comment, endless, executable, names,
    objects, of_type, privates, program, public_path, run, succeed, text, whole,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |number| number.parse().unwrap())
}

/// Returns the whole lines of the ledger, by the file that they name. Checks that no file is named
/// twice.
fn ledger(directory: &Path) -> BTreeMap<String, Value> {
    let text = fs::read_to_string(directory.join(LEDGER)).unwrap_or_default();
    let entries: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let by_file: BTreeMap<String, Value> =
        entries.iter().map(|entry| (self::text(entry, "file").to_owned(), entry.clone())).collect();
    assert_eq!(by_file.len(), entries.len(), "a file is named twice in:\n{text}");
    by_file
}

/// Checks that every key in the directory is whole and in the ledger, and that the directory holds
/// nothing else. Returns the number of keys.
fn check_batch(directory: &Path) -> usize {
    let ledger = ledger(directory);
    let privates = privates(directory);
    assert_eq!(privates, ledger.keys().cloned().collect::<Vec<_>>());
    let mut expected: Vec<String> =
        privates.iter().flat_map(|name| [name.clone(), format!("{name}.pub")]).collect();
    expected.push(LEDGER.into());
    expected.sort();
    assert_eq!(names(directory), expected);
    for (name, entry) in &ledger {
        assert_eq!(check_pair(&directory.join(name)), text(entry, "public_key"));
    }
    ledger.len()
}

/// Runs a batch that must succeed. Returns the run, and the number of keys that it found.
fn rerun(directory: &Path, args: &[&str]) -> (Ran, u64) {
    let ran = succeed(program(args).args(["--json", "-d"]).arg(directory));
    let objects = objects(&ran.stdout);
    let summary = objects.last().unwrap();
    assert_eq!((text(summary, "type"), text(summary, "reason")), ("summary", "complete"));
    let found = whole(summary, "found");
    assert_eq!(of_type(&objects, "found").len() as u64, found);
    (ran, found)
}

#[test]
fn names_are_safe_and_different_for_any_patterns() {
    let directory = TempDir::new().unwrap();
    let keys = directory.path().join("keys");
    let alternatives: Vec<String> = (0..60).map(|number| format!("a{number:02}")).collect();
    let long = format!("regex:^.*({}|ab)", alternatives.join("|"));
    assert!(long.len() > 200);
    let patterns = [
        "+",
        "/",
        "//",
        "AB",
        "ab",
        "Ab",
        "aB",
        "regex:-?a",
        "regex:(\\.\\./)?b",
        "regex:^[^/]*c$|d",
        "regex:.",
        &long,
    ];
    fs::write(directory.path().join("patterns"), patterns.join("\n")).unwrap();
    let ran = succeed(
        program(&["--json", "-s", "-n", "3", "-f", "patterns", "-d", "keys"]).current_dir(&directory),
    );
    let found = of_type(&objects(&ran.stdout), "found").len();
    assert_eq!(check_batch(&keys), found);
    assert_eq!(names(directory.path()), ["keys", "patterns"]);
    let privates = privates(&keys);
    for name in &privates {
        let safe = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!(!name.starts_with('-') && name.len() <= 60 && name.chars().all(safe), "{name}");
    }
    // The names differ even where upper and lower case are the same.
    let folded: BTreeSet<String> = privates.iter().map(|name| name.to_lowercase()).collect();
    assert_eq!(folded.len(), privates.len());
    for (pattern, kind) in [("AB", "anywhere"), ("^[^/]*c$|d", "regex")] {
        let is_it = |value: &Value| value["pattern"] == pattern && value["kind"] == kind;
        let made_for = |entry: &&Value| {
            is_it(entry) || entry["also"].as_array().is_some_and(|also| also.iter().any(is_it))
        };
        assert_eq!(ledger(&keys).values().filter(made_for).count(), 3, "{pattern}");
    }
}

#[test]
fn the_ledger_agrees_with_the_files_and_ssh_keygen() {
    let Some(ssh_keygen) = require::tool("ssh-keygen") else { return };
    let keys = number("VANITY_KEYS", 300);
    let directory = TempDir::new().unwrap();
    let (ran, found) = rerun(directory.path(), &["-n", &keys.to_string(), "ab"]);
    assert_eq!((found, check_batch(directory.path())), (keys as u64, keys));

    let ledger = ledger(directory.path());
    let lines: String = ledger.values().map(|entry| text(entry, "public_key").to_owned() + "\n").collect();
    let all = directory.path().join("all");
    fs::write(&all, lines).unwrap();
    let shown = succeed(command(ssh_keygen).arg("-lf").arg(&all)).stdout;
    assert_eq!(shown.lines().count(), keys);
    for (shown, entry) in shown.lines().zip(ledger.values()) {
        assert_eq!(shown.split(' ').nth(1), Some(text(entry, "fingerprint")), "{entry}");
        assert_eq!(
            (text(entry, "pattern"), text(entry, "kind"), text(entry, "in")),
            ("ab", "anywhere", "key")
        );
        assert_eq!((&entry["case_sensitive"], &entry["leet"]), (&false.into(), &false.into()));
        assert!(whole(entry, "attempts") > 0);
        let time = text(entry, "time");
        assert!(time.len() == 20 && time.starts_with("20") && time.ends_with('Z'), "{entry}");
    }
    // The JSON output and the ledger agree.
    for object in of_type(&objects(&ran.stdout), "found") {
        let entry =
            &ledger[Path::new(text(object, "private_key_file")).file_name().unwrap().to_str().unwrap()];
        for field in ["pattern", "public_key", "fingerprint", "attempts"] {
            assert_eq!(object[field], entry[field], "{object}");
        }
    }
    assert!(!fs::read_to_string(directory.path().join(LEDGER)).unwrap().contains("PRIVATE"));
}

#[test]
fn a_rerun_makes_only_what_is_missing() {
    let outer = TempDir::new().unwrap();
    let keys = outer.path().join("keys");
    let file = outer.path().join("patterns");
    fs::write(&file, "ab\nprefix:c\nregex:^[D-F]\n").unwrap();
    let typed = |count| ["-f", file.to_str().unwrap(), "-n", count];
    rerun(&keys, &typed("3"));
    let first = check_batch(&keys);
    let before = fs::read(keys.join(LEDGER)).unwrap();

    let (ran, found) = rerun(&keys, &typed("3"));
    assert_eq!(found, 0);
    for message in [
        "'ab' already has 3 of 3 keys\n",
        "'^[D-F]' already has 3 of 3 keys\n",
        "nothing to do: all keys exist\n",
    ] {
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
    // Case is ignored, so this asks for the same.
    assert_eq!(rerun(&keys, &["-n", "3", "AB"]).1, 0);
    assert_eq!(fs::read(keys.join(LEDGER)).unwrap(), before);

    // One key is removed, and the public file of another.
    let of_ab: Vec<String> = privates(&keys).into_iter().filter(|name| name.starts_with("ab-")).collect();
    fs::remove_file(keys.join(&of_ab[0])).unwrap();
    fs::remove_file(public_path(&keys.join(&of_ab[0]))).unwrap();
    let public = public_path(&keys.join(&of_ab[1]));
    let line = fs::read(&public).unwrap();
    fs::remove_file(&public).unwrap();
    let (ran, found) = rerun(&keys, &typed("3"));
    assert!(ran.stderr.contains("'ab' already has 2 of 3 keys\n"), "{}", ran.stderr);
    assert!((1..=3).contains(&found), "the one that is gone may have been for others, too");
    assert_eq!(fs::read(&public).unwrap(), line);

    // This run asks for more keys of each pattern.
    assert!(rerun(&keys, &typed("5")).1 >= 2);
    assert_eq!(rerun(&keys, &typed("5")).1, 0);
    assert!(privates(&keys).len() >= first + 2);

    // The same word with another kind, with `-s` or `--leet`, or in fingerprints is another
    // pattern.
    for other in [&["--prefix", "ab"][..], &["-s", "ab"], &["--leet", "ab"], &["--in", "fingerprint", "ab"]] {
        assert_eq!(rerun(&keys, other).1, 1, "{other:?}");
        assert_eq!(rerun(&keys, other).1, 0, "{other:?}");
    }
}

#[test]
fn any_counts_keys_that_exist_already() {
    let directory = TempDir::new().unwrap();
    for (count, found) in [("5", 5), ("8", 3), ("8", 0), ("3", 0)] {
        let (ran, rest) = rerun(directory.path(), &["--any", "-n", count, "ab", "+a"]);
        assert_eq!(rest, found, "{}", ran.stderr);
    }
    assert_eq!(check_batch(directory.path()), 8);

    let more = ["--any", "-n", "1000", "--timeout", "1s", "ab", "+a", "-d"];
    let ran = run(program(&more).arg(directory.path()));
    assert!(ran.stderr.contains("the directory already has 8 of 1,000 keys\n"), "{}", ran.stderr);
}

#[test]
fn the_count_includes_keys_of_earlier_runs() {
    let directory = TempDir::new().unwrap();
    succeed(program(&["-n", "3", "ab", "-d"]).arg(directory.path()));
    let ran = run(program(&["-n", "3", "--timeout", "1s", "ab", NEVER, "-d"]).arg(directory.path()));
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("time limit reached: 3 of 6 keys found"), "{}", ran.stderr);
}

#[test]
fn a_ledger_that_was_cut_off_or_is_gone_is_completed() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join(LEDGER);
    for format in ["openssh", "pkcs8", "ppk"] {
        rerun(directory.path(), &["-n", "4", "ab", "--format", format]);
    }
    let text = fs::read_to_string(&path).unwrap();
    let before = ledger(directory.path());
    let torn = &text[..text.len() - 20];
    let name =
        self::text(before.values().find(|entry| text.ends_with(&format!("{entry}\n"))).unwrap(), "file");
    for end in [torn, "", "\n\n", "no ledger\n[1\n", "{\"pattern\":"] {
        fs::write(&path, end).unwrap();
        // The public file of the last key has no name yet.
        fs::remove_file(public_path(&directory.path().join(name))).unwrap();
        let (ran, found) = rerun(directory.path(), &["-n", "4", "ab", "-C", "other"]);
        assert_eq!(found, 0, "{end:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("missing from '"), "{}", ran.stderr);
        assert!(ran.stderr.contains("now in it\n"), "{}", ran.stderr);
        let after = ledger(directory.path());
        assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
        let entered = &after[name];
        assert_eq!(check_pair(&directory.path().join(name)), self::text(entered, "public_key"));
        assert!(entered.get("attempts").is_none(), "{entered}");
        assert_eq!(entered["fingerprint"], before[name]["fingerprint"]);
        // The program ends a line that was cut off, and keeps it.
        assert!(fs::read_to_string(&path).unwrap().starts_with(end));
        assert_eq!(rerun(directory.path(), &["-n", "4", "ab"]).1, 0);
    }
    // Without the ledger, a file counts only if its name begins with a pattern of the run.
    fs::remove_file(&path).unwrap();
    assert_eq!(rerun(directory.path(), &["-n", "4", "ba"]).1, 4);
    assert_eq!(ledger(directory.path()).len(), 4);
    assert_eq!(rerun(directory.path(), &["-n", "4", "ab"]).1, 0);
}

#[test]
fn a_ledger_that_cannot_be_used_is_refused_before_the_search() {
    let directory = TempDir::new().unwrap();
    fs::create_dir(directory.path().join(LEDGER)).unwrap();
    let ran = run(program(&["abcdefghijabcdefghij", "-d"]).arg(directory.path()));
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.starts_with("error: cannot use the ledger '"), "{}", ran.stderr);
    assert!(ran.stderr.contains("\nhint: move it away"), "{}", ran.stderr);
    assert_eq!(names(directory.path()), [LEDGER]);
}

#[test]
fn two_processes_can_fill_one_directory() {
    let directory = TempDir::new().unwrap();
    let start = || {
        let mut command = program(&["-q", "--json", "-n", "60", "ab", "-d"]);
        program::start(command.arg(directory.path()).stdout(Stdio::piped()).stderr(Stdio::piped()))
    };
    let found: u64 = [start(), start()]
        .into_iter()
        .map(|child| {
            let ran = child.end();
            assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
            whole(objects(&ran.stdout).last().unwrap(), "found")
        })
        .sum();
    assert_eq!(check_batch(directory.path()) as u64, found);
    assert!((60..=120).contains(&found), "{found}");
}

/// Returns the objects that a process wrote to a file before it was killed, without a last line
/// that is not whole.
fn reported_objects(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.split_inclusive('\n').filter(|line| line.ends_with('\n')).flat_map(objects).collect()
}

#[test]
fn kills_at_any_moment_lose_nothing_and_repeat_nothing() {
    let (keys, kills) = (number("VANITY_KEYS", 300), number("VANITY_KILLS", 10));
    let mut killed = 0;
    while killed < kills {
        killed += kill_a_batch(keys, kills - killed);
    }
    eprintln!("{killed} of {killed} kills lost nothing");
}

/// Kills a batch `kills` times, or until it is complete. After each kill, every key that was
/// reported or is in the ledger is whole, and so is every file with a final name. At the end the
/// directory holds exactly `keys` keys, among them every key that it ever held. Returns how often
/// the batch was killed.
fn kill_a_batch(keys: usize, kills: usize) -> usize {
    let outer = TempDir::new().unwrap();
    let directory = outer.path().join("keys");
    let stdout = outer.path().join("stdout");
    let count = keys.to_string();
    let args = ["--json", "-q", "-n", &count, "ab", "-d"];
    let mut lines = BTreeMap::new();
    let mut random = [0; 8];
    let mut killed = 0;
    while killed < kills {
        getrandom::fill(&mut random).unwrap();
        let stdout_file = File::create(&stdout).unwrap();
        let mut child = program::start(program(&args).arg(&directory).stdout(stdout_file));
        // The moment is random: after the first keys in every other run, and after the start in the
        // rest.
        if killed % 2 == 0 {
            while fs::metadata(&stdout).unwrap().len() < 1000 && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        std::thread::sleep(Duration::from_micros(u64::from_le_bytes(random) % 60_000));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        if status.signal().is_none() {
            assert_eq!(status.code(), Some(0));
            break;
        }
        killed += 1;
        if !directory.exists() {
            continue;
        }
        let ledger = ledger(&directory);
        for object in of_type(&reported_objects(&stdout), "found") {
            let file = Path::new(text(object, "private_key_file")).file_name().unwrap().to_str().unwrap();
            assert_eq!(text(&ledger[file], "public_key"), text(object, "public_key"));
        }
        for name in names(&directory).iter().filter(|name| *name != LEDGER) {
            // The private file gets its name first, so it exists if any file of the key does.
            let private = directory.join(name.strip_suffix(".pub").unwrap_or(name));
            assert!(private.exists(), "{name}");
            if public_path(&private).exists() && !lines.contains_key(&private) {
                lines.insert(private.clone(), check_pair(&private));
            }
        }
        for file in ledger.keys() {
            assert!(lines.contains_key(&directory.join(file)), "{file} is in the ledger alone");
        }
        assert!(lines.keys().all(|private| private.exists()));
    }
    let there = privates(&directory);
    rerun(&directory, &["-n", &count, "ab"]);
    assert_eq!(check_batch(&directory), keys);
    assert!(there.iter().all(|name| directory.join(name).exists()));
    for (private, line) in &lines {
        assert_eq!(fs::read_to_string(public_path(private)).unwrap(), format!("{line}\n"));
    }
    eprintln!(
        "{killed} kills of a batch: {} keys were there before the last run, {keys} after it",
        there.len()
    );
    killed
}

#[test]
fn a_signal_loses_nothing_and_the_rerun_goes_on() {
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        program::within_a_second(|| signalled(signal, status));
    }
}

/// Sends a signal to a batch, checks what the batch leaves, and runs it again. Returns how long it
/// went on after the signal.
fn signalled(signal: Signal, status: i32) -> Duration {
    let outer = TempDir::new().unwrap();
    let directory = outer.path().join("keys");
    let (mut child, mut stdout, mut lines, _) = endless("abc", &directory, 30);
    kill_process(Pid::from_child(&child), signal).unwrap();
    let sent = Instant::now();
    std::io::Read::read_to_string(&mut stdout, &mut lines).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(status));
    let took = sent.elapsed();
    let objects = objects(&lines);
    let found = of_type(&objects, "found").len();
    assert_eq!(check_batch(&directory), found);
    assert_eq!(whole(objects.last().unwrap(), "found"), found as u64);
    let more = found + 10;
    assert_eq!(rerun(&directory, &["-n", &more.to_string(), "abc"]).1, 10);
    assert_eq!(check_batch(&directory), more);
    took
}

#[test]
fn a_stdout_that_is_full_or_closed_loses_no_key() {
    for (redirection, status) in [("> /dev/full", 1), (">&-", 0)] {
        let outer = TempDir::new().unwrap();
        let directory = outer.path().join("keys");
        let script = format!("exec \"$0\" -n 60 ab -d \"$1\" {redirection}");
        let ran = run(command("sh").args(["-c", &script, executable()]).arg(&directory));
        assert_eq!(ran.status, Some(status), "{redirection}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{redirection}: {}", ran.stderr);
        let kept = check_batch(&directory);
        assert!(kept > 0, "{redirection}");
        if status == 1 {
            assert!(ran.stderr.contains("error: cannot write to stdout: "), "{}", ran.stderr);
            assert!(
                ran.stderr.contains(" just found is kept in '")
                    || ran.stderr.contains(" just found are kept in '")
            );
        }
        assert_eq!(rerun(&directory, &["-n", "60", "ab"]).1, 60 - kept as u64);
        assert_eq!(check_batch(&directory), 60);
    }
}

#[test]
fn a_limit_of_file_size_stops_the_ledger_and_loses_no_key() {
    let outer = TempDir::new().unwrap();
    let directory = outer.path().join("keys");
    // The limit is far above the size of a key file, and far below that of a ledger of 150 keys.
    let script = "ulimit -f 16; exec \"$0\" --json -n 150 ab -d \"$1\"";
    let ran = run(command("bash").args(["-c", script, executable()]).arg(&directory));
    assert_eq!(ran.status, Some(1), "{ran:?}");
    // Several groups of keys meet the limit, and the error is printed once.
    assert_eq!(ran.stderr.matches(&format!("/{LEDGER}': ")).count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("\nhint: every reported key is kept"), "{}", ran.stderr);
    let found = objects(&ran.stdout).iter().filter(|object| object["type"] == "found").count();
    assert_eq!(privates(&directory).len(), found);
    // The next run ends the line that was cut off.
    assert_eq!(rerun(&directory, &["-n", "150", "ab"]).1, 150 - found as u64);
    assert_eq!(check_batch(&directory), 150);
}

/// Runs a script in which `$1` is the program and `$2` is a small disk. Returns the run, and a copy
/// of the disk.
fn on_small_disk(unshare: &Path, outer: &Path, options: &str, script: &str) -> (Ran, PathBuf) {
    let (disk, copy) = (outer.join("disk"), outer.join("copy"));
    fs::create_dir(&disk).unwrap();
    let script = format!(
        "mount -t tmpfs -o mode=700,{options} tmpfs \"$2\" || exit 99\n{script}\nstatus=$?\n\
         cp -a \"$2\" \"$3\" || exit 98\nexit $status"
    );
    let mut command: Command = command(unshare);
    command.args(["-rm", "sh", "-c", &script, "sh", executable()]).arg(&disk).arg(&copy);
    command.current_dir(outer).env("HOME", outer);
    (run(&mut command), copy)
}

/// Checks a failure on a small disk: every reported key is whole, and there is no other key.
fn check_failed(ran: &Ran, copy: &Path, complaints: &[&str]) {
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let is_explained = complaints.iter().any(|complaint| ran.stderr.contains(complaint));
    assert!(ran.stderr.contains("error: cannot ") && is_explained, "{}", ran.stderr);
    assert!(!ran.stderr.contains("panicked") && !ran.stderr.contains("keys tried"), "{}", ran.stderr);
    let found = objects(&ran.stdout);
    let found: BTreeSet<&str> =
        of_type(&found, "found").iter().map(|object| text(object, "private_key_file")).collect();
    assert!(!found.is_empty(), "{ran:?}");
    let mut there = privates(copy);
    for name in &there {
        check_pair(&copy.join(name));
    }
    // What was found and had no room is beside the disk.
    let outer = copy.parent().unwrap();
    for name in names(outer).into_iter().filter(|name| name.starts_with("ab") && !name.ends_with(".pub")) {
        check_pair(&outer.join(&name));
        assert!(ran.stderr.contains(&format!("the key is kept in ./{name} instead")), "{}", ran.stderr);
        there.push(name);
    }
    there.sort();
    let mut printed: Vec<String> =
        found.iter().map(|path| Path::new(path).file_name().unwrap().to_str().unwrap().to_owned()).collect();
    printed.sort();
    assert!(printed == there, "{} printed, {} there", printed.len(), there.len());
}

#[test]
fn a_full_disk_ends_the_batch_and_keeps_every_reported_key() {
    let Some(unshare) = program::unshare() else { return };
    // The disk runs out of space, then of inodes.
    for options in ["size=200k", "nr_inodes=40"] {
        let outer = TempDir::new().unwrap();
        let script = "\"$1\" --json -n 1000 ab -d \"$2\"";
        let (ran, copy) = on_small_disk(&unshare, outer.path(), options, script);
        check_failed(&ran, &copy, &["No space left on device", "no storage space"]);
        // With room again, the batch goes on.
        let before = privates(&copy).len() as u64;
        assert_eq!(rerun(&copy, &["-n", "100", "ab"]).1, 100 - before);
        assert_eq!(check_batch(&copy), 100);
    }
}

/// With no room anywhere and nobody who watches, every lost key is named, and the hint counts those that were
/// lost together.
#[test]
fn keys_that_no_disk_takes_are_named_and_counted() {
    let Some(unshare) = program::unshare() else { return };
    // OpenCL would put its cache there.
    let script = format!(
        "{NO_SHARED_MEMORY}cd \"$2\" && OCL_ICD_VENDORS=/none HOME=\"$2\" setsid -w \"$1\" -q -n 60 ab -d ."
    );
    // How many are found together depends on the moment.
    for _ in 0..20 {
        let outer = TempDir::new().unwrap();
        let (ran, copy) = on_small_disk(&unshare, outer.path(), "size=40k", &script);
        assert_eq!(ran.status, Some(1), "{ran:?}");
        privates(&copy).iter().for_each(|name| drop(check_pair(&copy.join(name))));
        let named = ran.stderr.lines().filter(|line| line.ends_with("; the key is lost")).count();
        // The ledger may be the first that has no room.
        let hint = ran.stderr.lines().find_map(|line| line.strip_prefix("hint: the "));
        let Some(hint) = hint else { continue };
        let counted = match hint.split_once(" keys that were just found are lost; ") {
            Some((number, _)) => number.parse().unwrap(),
            None => 1,
        };
        assert!(counted > 1 || hint.starts_with("key that was just found is lost; "), "{hint}");
        assert!((1..=named).contains(&counted), "{counted}: {ran:?}");
        if counted > 1 {
            return;
        }
    }
    panic!("no two keys were lost together");
}

/// With no room for a pair and its line, the search is refused. Else every command finds the line of its
/// key, and every problem is named.
#[test]
fn a_small_disk_takes_a_whole_key_or_none() {
    let Some(unshare) = program::unshare() else { return };
    for kibibytes in [4, 8, 12, 16, 32, 64] {
        for (options, fits) in [("-o \"$2/ab-x\"", 8), ("-n 3 -d \"$2\"", 12)] {
            let outer = TempDir::new().unwrap();
            let script = format!(
                "\"$1\" --json -q ab {options} --exec 'echo \"$VANITY_PRIVATE_KEY_FILE\" >> log; \
                 test ! -e disk/{LEDGER} || grep -qF \"$VANITY_PUBLIC_KEY\" disk/{LEDGER} || test ! -e disk/\"${{VANITY_PRIVATE_KEY_FILE##*/}}\" || echo early >> log'"
            );
            let (ran, copy) = on_small_disk(&unshare, outer.path(), &format!("size={kibibytes}k"), &script);
            let log = fs::read_to_string(outer.path().join("log")).unwrap_or_default();
            assert!(!log.contains("early"), "{kibibytes}: {ran:?}");
            if kibibytes < fits {
                assert_eq!((ran.status, log.as_str()), (Some(2), ""), "{kibibytes} {options}: {ran:?}");
                assert!(ran.stderr.starts_with("error: cannot create files in "), "{ran:?}");
                continue;
            }
            assert!(matches!(ran.status, Some(0 | 1)), "{kibibytes} {options}: {ran:?}");
            let found = objects(&ran.stdout);
            assert!(!of_type(&found, "found").is_empty(), "{kibibytes} {options}: {ran:?}");
            privates(&copy).iter().for_each(|name| drop(check_pair(&copy.join(name))));
            // A line that could not be written is named, whatever else has failed.
            let lines = fs::read_to_string(copy.join(LEDGER)).unwrap_or_default();
            let is_missing = options.contains("-d") && lines.lines().count() < privates(&copy).len();
            assert_eq!(ran.stderr.contains(&format!("{LEDGER}'")), is_missing, "{kibibytes}: {ran:?}");
        }
    }
}

#[test]
fn a_disk_that_becomes_read_only_ends_the_batch_and_keeps_every_reported_key() {
    let Some(unshare) = program::unshare() else { return };
    let outer = TempDir::new().unwrap();
    // The disk cannot become read-only while a file is open for writing, so the script tries often. It does
    // not repeat the options of the mount: one is its owner, whose number means nothing in the namespace.
    let script = format!(
        "\"$1\" --json -n {ENDLESS} abc -d \"$2\" & child=$!\n\
         until [ -s \"$2/{LEDGER}\" ]; do kill -0 $child || exit 97; sleep 0.01; done\n\
         until mount --options-mode ignore -o remount,ro \"$2\" 2> /dev/null; do kill -0 $child || exit 97; done\n\
         wait $child"
    );
    let (ran, copy) = on_small_disk(&unshare, outer.path(), "size=400m", &script);
    check_failed(&ran, &copy, &["Read-only file system", "read-only filesystem"]);
}

#[test]
fn a_key_counts_whatever_its_comment_is() {
    let directory = TempDir::new().unwrap();
    rerun(directory.path(), &["-n", "2", "ab", "-C", "me@here"]);
    let name = &privates(directory.path())[0];
    let public = public_path(&directory.path().join(name));
    let line = fs::read_to_string(&public).unwrap();
    assert_eq!(comment(line.trim_end()), "me@here");
    fs::write(&public, line.replace("me@here", "mine")).unwrap();
    assert_eq!(rerun(directory.path(), &["-n", "2", "ab"]).1, 0);
}
