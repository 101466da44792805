//! What the kernel and a terminal see: the order of system calls, no randomness, the live line.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;

use crate::{program, require, terminal};
use program::{PROGRAM, check_pair, command, names, run, succeed};
use tempfile::TempDir;
use terminal::Typist;

/// A `strace` that may trace here; else the test is skipped.
fn strace() -> Option<std::path::PathBuf> {
    let strace = require::tool("strace")?;
    if run(command(&strace).args(["-qq", "-e", "trace=none", "true"])).status == Some(0) {
        return Some(strace);
    }
    require::missing("strace");
    None
}

/// The system calls of a log of `strace -f`, each in one piece, in the order in which they ended.
fn calls(log: &str) -> Vec<String> {
    let mut begun = std::collections::HashMap::new();
    let mut calls = Vec::new();
    for line in log.lines() {
        let (thread, call) = line.split_once(' ').unwrap();
        let call = call.trim_start();
        if let Some(head) = call.strip_suffix(" <unfinished ...>") {
            begun.insert(thread, head);
        } else if let Some((_, tail)) =
            call.strip_prefix("<... ").and_then(|rest| rest.split_once(" resumed>"))
        {
            calls.push(format!("{}{tail}", begun.remove(thread).unwrap_or_default()));
        } else if call.contains('(') {
            calls.push(call.to_owned());
        }
    }
    calls
}

/// What a call gave back.
fn result(call: &str) -> &str {
    call.rsplit(" = ").next().unwrap_or_default().trim()
}

/// Whether the call is that one with that first argument.
fn is(call: &str, name: &str, argument: &str) -> bool {
    call.strip_prefix(name)
        .and_then(|rest| rest.strip_prefix('(')?.strip_prefix(argument))
        .is_some_and(|rest| rest.starts_with([',', ')']))
}

/// Checks the order for the new file that gets its name at `named`, where it is made with `mode`. Gives the
/// places of its first call and of its last.
fn check_order(calls: &[String], named: usize, path: &str, mode: &str) -> (usize, usize) {
    let all = calls.join("\n");
    let link = &calls[named];
    assert!(link.starts_with("linkat(") && link.contains("AT_SYMLINK_FOLLOW"), "{link}");
    assert_eq!(result(link), "0", "{link}");

    // It was made without a name and with its final mode, after its directory was opened.
    let opened = |call: &String| call.starts_with("openat(");
    let made = calls[..named].iter().rposition(opened).unwrap_or_else(|| panic!("no file in:\n{all}"));
    assert!(calls[made].contains("O_TMPFILE"), "{}", calls[made]);
    assert!(calls[made].contains(&format!(", {mode})")), "{}", calls[made]);
    let directory = calls[..made].iter().rposition(opened).unwrap();
    assert!(calls[directory].contains("O_RDONLY"), "{}", calls[directory]);

    // All was written, then synced, before it got its name.
    let (file, directory) = (result(&calls[made]), result(&calls[directory]));
    let before = &calls[made..named];
    let written = before.iter().rposition(|call| is(call, "write", file));
    let synced = before.iter().rposition(|call| is(call, "fsync", file) && result(call) == "0");
    assert!(written.is_some() && written < synced, "not written, then synced:\n{all}");
    let synced = calls[named..].iter().position(|call| call.starts_with("fsync("));
    let synced = named + synced.unwrap_or_else(|| panic!("no fsync of the directory in:\n{all}"));
    assert!(is(&calls[synced], "fsync", directory), "{} is not of {directory}:\n{all}", calls[synced]);
    assert_eq!(result(&calls[synced]), "0");

    // A process that cannot be traced shows its names to root alone.
    if let [unnamed, new] = strings(link)[..] {
        assert_eq!((unnamed, new), (&*format!("/proc/self/fd/{file}"), path));
    }
    (made, synced)
}

#[test]
fn a_key_is_durable_before_it_is_told() {
    let Some(strace) = strace() else { return };
    let directory = TempDir::new().unwrap();
    let logs = TempDir::new().unwrap();
    let log = logs.path().join("log");
    let private = directory.path().join("id_x");
    let trace = "trace=openat,write,fsync,link,linkat,rename,renameat,renameat2";
    let ran = succeed(
        command(&strace).args(["-f", "-e", trace, "-o"]).arg(&log).args([PROGRAM, "ab", "-o"]).arg(&private),
    );
    assert_eq!(ran.stdout, check_pair(&private) + "\n");

    let calls = calls(&fs::read_to_string(&log).unwrap());
    let is_naming = |call: &String| call.starts_with("rename") || call.starts_with("link");
    let naming: Vec<usize> = (0..calls.len()).filter(|&at| is_naming(&calls[at])).collect();
    // The first is the trial's.
    let [_, named, public_named] = naming[..] else { panic!("not three new names:\n{}", calls.join("\n")) };
    let path = private.to_str().unwrap();
    let (begun, durable) = check_order(&calls, named, path, "0600");
    let (public_begun, public_durable) = check_order(&calls, public_named, &format!("{path}.pub"), "0644");
    assert!(durable < public_begun, "the public file came first:\n{}", calls.join("\n"));

    let said: Vec<usize> =
        (0..calls.len()).filter(|&at| is(&calls[at], "write", "1") || is(&calls[at], "write", "2")).collect();
    assert!(!said.iter().any(|at| (begun..public_durable).contains(at)), "{}", calls.join("\n"));
    let told = said.iter().find(|&&at| is(&calls[at], "write", "1")).unwrap();
    assert!(public_durable < *told, "told before it was durable:\n{}", calls.join("\n"));
}

/// The string arguments of a call. A process that cannot be traced shows them to root alone.
fn strings(call: &str) -> Vec<&str> {
    call.split('"').skip(1).step_by(2).collect()
}

/// In a batch, what is told was named and synced before: its files, then its directory, then the ledger with its line.
#[test]
fn keys_that_are_kept_together_are_durable_before_they_are_told() {
    let Some(strace) = strace() else { return };
    let directory = TempDir::new().unwrap();
    let logs = TempDir::new().unwrap();
    let log = logs.path().join("log");
    let trace = "trace=openat,write,fsync,link,linkat,rename,renameat,renameat2,close";
    let ran = succeed(
        command(&strace)
            .args(["-f", "-s", "100000", "-e", trace, "-o"])
            .arg(&log)
            .args([PROGRAM, "-q", "-n", "300", "ab", "-d"])
            .arg(directory.path()),
    );
    let calls = calls(&fs::read_to_string(&log).unwrap());
    if !calls.iter().any(|call| call.starts_with("linkat(") && strings(call).len() == 2) {
        require::missing("strace");
        return;
    }
    assert_eq!(ran.stdout.lines().count(), 300);
    let ledger = directory.path().join(program::LEDGER);
    let (directory, ledger) = (directory.path().to_str().unwrap(), ledger.to_str().unwrap());

    // What each descriptor is of, which files are synced, and what became of the names that were given.
    let mut open = std::collections::HashMap::new();
    let mut synced = std::collections::HashSet::new();
    let mut named = Vec::new();
    let mut durable = 0;
    let mut appended = String::new();
    let mut entered = String::new();
    let (mut told, mut groups) = (0, 0);
    for call in &calls {
        if call.starts_with("openat(") {
            let unnamed = call.contains("O_TMPFILE");
            let path =
                if unnamed { format!("/proc/self/fd/{}", result(call)) } else { strings(call)[0].to_owned() };
            synced.remove(&path);
            open.insert(result(call).to_owned(), path);
        } else if let Some(fd) = call.strip_prefix("fsync(") {
            assert_eq!(result(call), "0", "{call}");
            let path = open[fd.split(')').next().unwrap()].clone();
            if path == directory {
                durable = named.len();
            } else if path == ledger {
                entered = appended.clone();
            }
            synced.insert(path);
        } else if call.starts_with("linkat(") {
            let [unnamed, new] = strings(call)[..] else { panic!("{call}") };
            assert!(synced.contains(unnamed) && result(call) == "0", "{call}");
            named.extend(Some(new.to_owned()).filter(|new| !new.contains("trial")));
        } else if is(call, "write", "1") {
            let key = call.split(' ').nth(2).unwrap();
            assert!(entered.contains(key), "told before it is in the ledger: {call}");
            told += 1;
            // Files and directory come before the ledger, which names every key that is durable.
            assert!(durable >= 2 * told, "told before it is durable: {call}");
        } else if call.starts_with("write(") && !is(call, "write", "2") {
            let fd = &call["write(".len()..call.find(',').unwrap()];
            if open.get(fd).is_some_and(|path| path == ledger) {
                assert_eq!(durable, named.len(), "entered before it is durable: {call}");
                appended.push_str(call);
                groups += 1;
            }
        }
    }
    assert_eq!((told, named.len()), (300, 600));
    // One write for each group, and groups there are.
    assert!(groups < 100, "{groups} groups");
    let public = |name: &&String| name.ends_with(".pub");
    for pair in named.chunks(2) {
        assert_eq!(pair.iter().filter(public).count(), 1);
        assert_eq!(format!("{}.pub", pair[0]), pair[1], "the private file comes first");
    }
}

/// The library that allocates memory and the standard library's hash maps ask for randomness, too, and first.
/// So the generator fails from the first, the second, ... call on, until nobody meets the failure any more.
/// Gives how often the program told of it; without that there would be no key. `None` without `strace`.
fn randomness_missed(options: &[&str], check: fn(&Path)) -> Option<u32> {
    let strace = strace()?;
    let mut missed = 0;
    for call in 1.. {
        assert!(call < 50, "the search never succeeds");
        let directory = TempDir::new().unwrap();
        let private = directory.path().join("id_x");
        let inject = format!("inject=getrandom:error=EIO:when={call}+");
        let ran = run(command(&strace)
            .args(["-f", "-qq", "-e", "trace=getrandom", "-e", &inject, "-o", "/dev/null"])
            .args([PROGRAM, "-t", "1", "ab"])
            .args(options)
            .arg("-o")
            .arg(&private));
        if ran.status == Some(0) {
            check(&private);
            break;
        }
        assert_eq!(ran.status, Some(1), "call {call}: {ran:?}");
        assert_eq!(ran.stdout, "", "call {call}");
        assert_eq!(names(directory.path()), [""; 0], "call {call}");
        let told = "error: the operating system's random generator failed: ";
        missed += u32::from(ran.stderr.contains(told));
    }
    Some(missed)
}

#[test]
fn without_randomness_there_is_no_key() {
    let check = |private: &Path| drop(check_pair(private));
    let Some(missed) = randomness_missed(&[], check) else { return };
    // Those of the measurement before the search, and those of the search.
    assert!(missed >= 2, "the seeds' own failure was told {missed} times");
}

#[test]
fn without_randomness_there_is_no_encrypted_key() {
    let directory = TempDir::new().unwrap();
    let secret = directory.path().join("secret");
    fs::write(&secret, "correct horse").unwrap();
    let options = ["-q", "--rounds", "1", "--passphrase-file", secret.to_str().unwrap()];
    let check = |private: &Path| {
        let text = fs::read_to_string(private).unwrap();
        assert!(ssh_key::PrivateKey::from_openssh(text).unwrap().is_encrypted());
    };
    let Some(missed) = randomness_missed(&options, check) else { return };
    // At the very beginning, for the seeds of the search, for the salt and for the check value.
    assert!(missed >= 4, "the failure was told {missed} times");
}

/// A search that a timeout ends, with status 3. On a machine that is not busy a live line is due by then.
const ENDED: &str = "-t 1 --timeout 500ms abcdefghijabcdefghij";

/// Runs the program in a pseudo-terminal to its end with `status`; gives what the terminal was sent.
fn in_terminal(script: &Path, env: &[(&str, &str)], args: &str, status: i32) -> String {
    let line = format!("exec '{PROGRAM}' {args}");
    let ran = run(command(script).args(["-qec", &line, "/dev/null"]).envs(env.iter().copied()));
    assert_eq!(ran.status, Some(status), "{ran:?}");
    ran.stdout
}

/// The control sequences `ESC [ ... letter` that were sent: their letters.
fn sequences(sent: &str) -> String {
    let letter = |rest: &str| rest.chars().find(|c| !c.is_ascii_digit() && !";?".contains(*c));
    sent.split("\x1b[").skip(1).filter_map(letter).collect()
}

/// Whether a line was rewritten: a return that no new line follows.
fn rewrites(sent: &str) -> bool {
    sent.replace("\r\n", "\n").contains('\r')
}

#[test]
fn a_terminal_has_a_live_line_and_colours() {
    let Some(script) = require::tool("script") else { return };
    let search = format!("exec '{PROGRAM}' -t 1 abcdefghijabcdefghij");
    let mut typist = Typist::run(&mut command(&script), &search);
    typist.answer(" below 0.01 % chance by now, ", "\x03");
    let (status, sent) = typist.end();
    assert_eq!(status, Some(130), "{sent:?}");
    assert!(rewrites(&sent), "{sent:?}");
    assert!(sent.contains(" keys/s, ") && sent.contains(" below 0.01 % chance by now, "), "{sent:?}");
    assert!(sequences(&sent).contains('m'), "{sent:?}");
    // At the end nothing stays of the live line.
    let last = sent.trim_end().lines().last().unwrap();
    assert!(!last.contains(" chance by now, "), "{last:?}");

    let quiet = in_terminal(&script, &[], &format!("-q {ENDED}"), 3);
    assert_eq!(quiet, "");
}

#[test]
fn the_match_stands_out_in_a_terminal() {
    let Some(script) = require::tool("script") else { return };
    let directory = TempDir::new().unwrap();
    let private = directory.path().join("id_x");
    let sent = in_terminal(&script, &[], &format!("abc -o '{}'", private.display()), 0);
    let line = check_pair(&private);
    let body = line.len() - program::body(&line).len() - " abc".len();
    let at = body + line[body..].to_lowercase().find("abc").unwrap();
    let (before, matched, after) = (&line[..at], &line[at..at + 3], &line[at + 3..]);
    let (_, shown) = sent.split_once(before).unwrap_or_else(|| panic!("no {before} in {sent:?}"));
    let (painted, _) = shown.split_once(after).unwrap_or_else(|| panic!("no {after} in {sent:?}"));
    assert!(painted.starts_with("\x1b["), "{painted:?}");
    assert!(painted.ends_with(&format!("m{matched}\x1b[0m")), "{painted:?}");
}

#[test]
fn a_terminal_without_colours_has_none() {
    let Some(script) = require::tool("script") else { return };
    for (env, option) in [(&[("NO_COLOR", "1")][..], ""), (&[], "--color never"), (&[("TERM", "dumb")], "")] {
        for (args, status) in [("ab", 0), (ENDED, 3), ("--estimate ab", 0)] {
            let sent = in_terminal(&script, env, &format!("{option} {args}"), status);
            assert!(!sequences(&sent).contains('m'), "{env:?} {option} {args}: {sent:?}");
        }
    }
    // Asked for, they are there in spite of the surroundings.
    let sent = in_terminal(&script, &[("NO_COLOR", "1")], "--color always ab", 0);
    assert!(sequences(&sent).contains('m'), "{sent:?}");
}

#[test]
fn complaints_in_a_terminal_without_colours_have_none() {
    let Some(script) = require::tool("script") else { return };
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        for args in ["--nonsense", "ab=", "-o /tmp ab"] {
            let sent = in_terminal(&script, &[variable], args, 2);
            assert_eq!(sequences(&sent), "", "{variable:?} {args}: {sent:?}");
        }
    }
}

#[test]
fn complaints_obey_color() {
    let Some(script) = require::tool("script") else { return };
    for args in ["--nonsense", "ab=", "-o /tmp ab"] {
        let sent = in_terminal(&script, &[], &format!("--color never {args}"), 2);
        assert_eq!(sequences(&sent), "", "{args}: {sent:?}");
    }
}

#[test]
fn a_dumb_terminal_is_only_written_on() {
    let Some(script) = require::tool("script") else { return };
    for (args, status) in [("ab", 0), (ENDED, 3)] {
        let sent = in_terminal(&script, &[("TERM", "dumb")], args, status);
        assert_eq!(sequences(&sent), "", "{sent:?}");
        assert!(!rewrites(&sent), "{sent:?}");
    }
}
