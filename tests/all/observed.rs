//! Tests of what the kernel and a terminal see: the order of system calls, a failing random
//! generator, the progress line.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{program, require, terminal};
use program::{
    ENDLESS, at_once, check_pair, command, executable, names, objects, of_type, run, start, strace, succeed,
    unshare, wait_until,
};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use terminal::Typist;

/// Returns the system calls of a log of `strace -f`, each in one piece, in the order in which they
/// ended.
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

/// Returns the result of a call.
fn result(call: &str) -> &str {
    call.rsplit(" = ").next().unwrap_or_default().trim()
}

/// Returns whether a call has this name and this first argument.
fn is(call: &str, name: &str, argument: &str) -> bool {
    call.strip_prefix(name)
        .and_then(|rest| rest.strip_prefix('(')?.strip_prefix(argument))
        .is_some_and(|rest| rest.starts_with([',', ')']))
}

/// Returns the string arguments of a call. Only root sees those of a process that forbids tracing.
fn strings(call: &str) -> Vec<&str> {
    call.split('"').skip(1).step_by(2).collect()
}

/// A key is printed after its files are synced and named, then the directory is synced, then the
/// ledger, if there is one. This holds for one key as for many.
#[test]
fn keys_are_durable_before_they_are_printed() {
    check_order(&["-o"], "id_x", 1);
    check_order(&["-q", "-n", "100", "-d"], "", 100);
}

/// Runs a search for `keys` keys. The last of `args` takes the path of `destination`.
fn check_order(args: &[&str], destination: &str, keys: usize) {
    let Some(strace) = strace() else { return };
    let directory = TempDir::new().unwrap();
    let logs = TempDir::new().unwrap();
    let log = logs.path().join("log");
    let trace = "trace=openat,write,fsync,?link,linkat,?rename,?renameat,renameat2,close";
    let ran = succeed(
        command(&strace)
            .args(["-f", "-s", "100000", "-e", trace, "-o"])
            .arg(&log)
            .args([executable(), "ab"])
            .args(args)
            .arg(if destination.is_empty() {
                directory.path().into()
            } else {
                directory.path().join(destination)
            }),
    );
    let calls = calls(&fs::read_to_string(&log).unwrap());
    if !calls.iter().any(|call| call.starts_with("linkat(") && strings(call).len() == 2) {
        require::missing("strace");
        return;
    }
    assert_eq!(ran.stdout.lines().count(), keys);
    let has_ledger = destination.is_empty();
    let ledger = directory.path().join(program::LEDGER);
    let (directory, ledger) = (directory.path().to_str().unwrap(), ledger.to_str().unwrap());

    // The path of each descriptor, the synced files, the names that were given, and how many of
    // these are durable.
    let mut open = std::collections::HashMap::new();
    let mut synced = std::collections::HashSet::new();
    let mut named = Vec::new();
    let mut durable = 0;
    let mut appended = String::new();
    let mut entered = String::new();
    let (mut count, mut groups) = (0, 0);
    for call in &calls {
        if call.starts_with("openat(") {
            let unnamed = call.contains("O_TMPFILE");
            // It is made with its final mode.
            let mode = if unnamed { call.split(", ").last().unwrap() } else { "" };
            assert!(!unnamed || mode.starts_with("0600)") || mode.starts_with("0644)"), "{call}");
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
            named.extend(Some(new.to_owned()).filter(|new| !new.ends_with(".tmp")));
        } else if is(call, "write", "1") {
            let key = call.split(' ').nth(2).unwrap();
            assert!(!has_ledger || entered.contains(key), "reported before it is in the ledger: {call}");
            count += 1;
            // The files and the directory are synced before the ledger names the key.
            assert!(durable >= 2 * count, "reported before it is durable: {call}");
        } else if call.starts_with("write(") && !is(call, "write", "2") {
            let fd = &call["write(".len()..call.find(',').unwrap()];
            if open.get(fd).is_some_and(|path| path == ledger) {
                assert_eq!(durable, named.len(), "entered before it is durable: {call}");
                appended.push_str(call);
                groups += 1;
            }
        }
    }
    assert_eq!((count, named.len()), (keys, 2 * keys));
    // The program writes to the ledger once for each group of keys.
    assert!(groups < 100 && (groups > 0) == has_ledger, "{groups} groups");
    let public = |name: &&String| name.ends_with(".pub");
    for pair in named.chunks(2) {
        assert_eq!(pair.iter().filter(public).count(), 1);
        assert_eq!(format!("{}.pub", pair[0]), pair[1], "the private file comes first");
    }
}

/// Lets the random generator fail from its first call on, then from its second, and so on, until a
/// search succeeds. The memory allocator and the standard library's hash maps ask for randomness,
/// too, before the program does. Returns how often the program reported the failure, or nothing
/// without `strace`.
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
            .args([executable(), "-t", "1", "ab"])
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
        let message = "error: the operating system's random generator failed: ";
        assert!(!ran.stderr.contains("panicked"), "call {call}: {ran:?}");
        missed += u32::from(ran.stderr.contains(message));
    }
    Some(missed)
}

/// A disk may refuse to make a name durable. A file system that has no such call is another matter.
#[test]
fn a_directory_that_cannot_be_synced_is_an_error() {
    let Some(strace) = strace() else { return };
    let search = |error: &str, call: usize| {
        let directory = TempDir::new().unwrap();
        let inject = format!("inject=fsync:error={error}:when={call}");
        run(command(&strace)
            .args(["-f", "-qq", "-e", "trace=fsync", "-e", &inject, "-o", "/dev/null"])
            .args([executable(), "-t", "1", "ab", "-o"])
            .arg(directory.path().join("id_x")))
    };
    let is_named = |call: &usize| {
        let ran = search("EIO", *call);
        ran.status == Some(1) && ran.stderr.contains("error: cannot sync the directory '")
    };
    let call = (1..10).find(is_named).unwrap();
    let ran = search("EINVAL", call);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
}

#[test]
fn without_randomness_no_key_is_made() {
    let check = |private: &Path| drop(check_pair(private));
    let Some(missed) = randomness_missed(&[], check) else { return };
    // The generator fails for the seeds of the measurement before the search, and for those of the
    // search.
    assert!(missed >= 2, "the seeds' own failure was reported {missed} times");
}

#[test]
fn without_randomness_no_encrypted_key_is_made() {
    let directory = TempDir::new().unwrap();
    let secret = directory.path().join("secret");
    fs::write(&secret, "correct horse").unwrap();
    let options = ["-q", "--rounds", "1", "--passphrase-file", secret.to_str().unwrap()];
    let check = |private: &Path| {
        let text = fs::read_to_string(private).unwrap();
        assert!(ssh_key::PrivateKey::from_openssh(text).unwrap().is_encrypted());
    };
    let Some(missed) = randomness_missed(&options, check) else { return };
    // The generator fails at the very beginning, for the seeds of the search, for the salt, and for
    // the check value.
    assert!(missed >= 4, "the failure was reported {missed} times");
}

/// The arguments of a search that a timeout ends with status 3. If the machine is not busy, a
/// progress line is due by then.
const ENDED: &str = "-t 1 --timeout 500ms abcdefghijabcdefghij";

/// Runs the program in a pseudo-terminal, where it must end with `status`. Returns what the
/// terminal received.
fn in_terminal(script: &Path, env: &[(&str, &str)], args: &str, status: i32) -> String {
    let line = format!("exec '{}' {args}", executable());
    let ran = run(command(script).args(["-qec", &line, "/dev/null"]).envs(env.iter().copied()));
    assert_eq!(ran.status, Some(status), "{ran:?}");
    ran.stdout
}

/// Returns the letters of the control sequences `ESC [ ... letter` that were sent.
fn sequences(sent: &str) -> String {
    let letter = |rest: &str| rest.chars().find(|c| !c.is_ascii_digit() && !";?".contains(*c));
    sent.split("\x1b[").skip(1).filter_map(letter).collect()
}

/// Returns whether a line was rewritten: whether a carriage return came without a line feed.
fn rewrites(sent: &str) -> bool {
    sent.replace("\r\n", "\n").contains('\r')
}

#[test]
fn a_terminal_has_a_progress_line_and_colors() {
    let Some(script) = require::tool("script") else { return };
    let search = format!("exec '{}' -t 1 --however-long abcdefghijabcdefghij", executable());
    let mut typist = Typist::run(&mut command(&script), &search);
    typist.answer("% within ", "\x03");
    typist.answer("% within ", "");
    let (status, sent) = typist.end();
    assert_eq!(status, Some(130), "{sent:?}");
    assert!(rewrites(&sent), "{sent:?}");
    assert!(sent.contains(" elapsed, below 0.01%"), "{sent:?}");
    assert!(sequences(&sent).contains('m'), "{sent:?}");
    // Nothing of the progress line stays at the end.
    let last = sent.trim_end().lines().last().unwrap();
    assert!(!last.contains("% within "), "{last:?}");

    let quiet = in_terminal(&script, &[], &format!("-q {ENDED}"), 3);
    assert_eq!(quiet, "");
}

/// The shell shows its prompt while a search works in the background.
#[test]
fn a_search_in_the_background_of_a_terminal_has_no_progress_line() {
    let Some(script) = require::tool("script") else { return };
    for (command, has_line) in [("P ARGS", true), ("set -m; P ARGS & wait $!", false)] {
        let line = command.replace('P', executable()).replace("ARGS", ENDED);
        let ran = run(program::command(&script).args(["-qec", &line, "/dev/null"]));
        assert_eq!(ran.status, Some(3), "{ran:?}");
        assert!(ran.stdout.contains("time limit reached: 0 of 1 key found"), "{ran:?}");
        assert_eq!(rewrites(&ran.stdout), has_line, "{ran:?}");
    }
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
fn a_terminal_gets_a_key_that_every_openssh_reads() {
    let Some(script) = require::tool("script") else { return };
    let directory = TempDir::new().unwrap();
    let sent = in_terminal(&script, &[("NO_COLOR", "1")], "--suffix b+A", 0);
    let sent = sent.replace('\r', "");
    let (begin, end) = ("-----BEGIN OPENSSH PRIVATE KEY-----\n", "-----END OPENSSH PRIVATE KEY-----\n");
    let at = sent.find(begin).unwrap_or_else(|| panic!("{sent}"));
    let key = &sent[at..at + sent[at..].find(end).unwrap() + end.len()];
    let file = directory.path().join("copied");
    fs::write(&file, key).unwrap();
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    if let Some(keygen) = require::tool("ssh-keygen") {
        let line = succeed(command(keygen).arg("-yf").arg(&file)).stdout;
        assert!(program::body(program::public_line(&line)).to_lowercase().ends_with("b+a"), "{line}");
    }
    assert!(sent.contains("To keep this key: copy the lines from BEGIN to END"), "{sent}");
    assert!(sent.contains("Not saved. Next time: vanity-ed25519 -o id_b_a --suffix b+A\n"), "{sent}");
    let secret = directory.path().join("secret");
    fs::write(&secret, "a passphrase\n").unwrap();
    let encrypted = format!("--passphrase-file '{}' ab", secret.display());
    // A command that asks for more than the key is not told again, but what to add to it.
    for (args, advice) in [
        ("-n 2 ab", "add -d keys, which writes each key to files of its own"),
        ("-C me ab", "add -o id_ab, which writes the key to files"),
        ("--format ppk ab", "add -o id_ab, which writes the key to files"),
        (&encrypted, "add -o id_ab, which writes the key to files"),
    ] {
        let sent = in_terminal(&script, &[], args, 0);
        assert!(sent.contains(&format!("Not saved. Next time: {advice}\r\n")), "{sent}");
    }
}

#[test]
fn a_terminal_without_colors_receives_none() {
    let Some(script) = require::tool("script") else { return };
    let without = [(&[("NO_COLOR", "1")][..], ""), (&[], "--color never"), (&[("TERM", "dumb")], "")];
    at_once(without, |(env, option)| {
        for (args, status) in [("ab", 0), (ENDED, 3), ("--estimate -t 1 --engine reference ab", 0)] {
            let sent = in_terminal(&script, env, &format!("{option} {args}"), status);
            assert!(!sequences(&sent).contains('m'), "{env:?} {option} {args}: {sent:?}");
        }
    });
    // `--color always` prints colors in spite of the environment.
    let sent = in_terminal(&script, &[("NO_COLOR", "1")], "--color always ab", 0);
    assert!(sequences(&sent).contains('m'), "{sent:?}");
}

#[test]
fn errors_in_a_terminal_without_colors_have_none() {
    let Some(script) = require::tool("script") else { return };
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        for args in ["--nonsense", "ab=", "-o /tmp ab"] {
            let sent = in_terminal(&script, &[variable], args, 2);
            assert_eq!(sequences(&sent), "", "{variable:?} {args}: {sent:?}");
        }
    }
}

#[test]
fn errors_obey_the_color_option() {
    let Some(script) = require::tool("script") else { return };
    for args in ["--nonsense", "ab=", "-o /tmp ab"] {
        let sent = in_terminal(&script, &[], &format!("--color never {args}"), 2);
        assert_eq!(sequences(&sent), "", "{args}: {sent:?}");
    }
}

#[test]
fn a_dumb_terminal_receives_no_control_sequences() {
    let Some(script) = require::tool("script") else { return };
    for (args, status) in [("ab", 0), (ENDED, 3)] {
        let sent = in_terminal(&script, &[("TERM", "dumb")], args, status);
        assert_eq!(sequences(&sent), "", "{sent:?}");
        assert!(!rewrites(&sent), "{sent:?}");
    }
}

/// Where a filter refuses the call for randomness, the device takes its place, but no other file.
#[test]
fn only_the_random_device_takes_the_place_of_a_call_that_is_refused() {
    let (Some(unshare), Some(strace)) = (unshare(), strace()) else { return };
    let search = |error: &str, prepare: &str| {
        let text = format!(
            "set -e; mount -t tmpfs tmpfs /mnt; head -c 4096 /dev/zero > /mnt/file; {prepare}
            exec \"$1\" -f -qq -e trace=getrandom -e inject=getrandom:error={error} -o /dev/null \
                \"$0\" -q -t 1 --format pkcs8 ab -o /mnt/key"
        );
        run(command(&unshare).args(["-rm", "sh", "-c", &text, executable()]).arg(&strace))
    };
    for error in ["EPERM", "ENOSYS"] {
        let ran = search(error, "");
        assert_eq!(ran.status, Some(0), "{ran:?}");
        for (prepare, what) in [
            ("mount --bind /mnt/file /dev/urandom;", "/dev/urandom is not the random device"),
            ("mount --bind /dev/zero /dev/urandom;", "/dev/urandom is not the random device"),
            ("mount -t tmpfs tmpfs /dev; : > /dev/null;", "/dev/urandom cannot be opened: "),
        ] {
            let ran = search(error, prepare);
            assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
            let message = "error: the operating system's random generator failed: getrandom is refused, and ";
            assert!(ran.stderr.starts_with(&format!("{message}{what}")), "{ran:?}");
        }
    }
}

/// The first call of the worker's thread is for fresh bytes, about a second after the start. Of the
/// other threads' first calls, one is the memory allocator's, which needs no answer, and the others are
/// repeated.
#[test]
fn a_generator_that_fails_later_ends_the_search_and_keeps_its_keys() {
    let Some(strace) = strace() else { return };
    let directory = TempDir::new().unwrap();
    let keys = directory.path().join("keys");
    let ran = run(command(&strace)
        .args(["-f", "-qq", "-e", "trace=getrandom", "-e", "inject=getrandom:error=EIO:when=1"])
        .args(["-o", "/dev/null", executable(), "--json", "-t", "1", "-n", ENDLESS, "abcd", "-d"])
        .arg(&keys));
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let found = of_type(&objects(&ran.stdout), "found").len();
    assert_eq!((found > 0, found), (true, program::private_paths(&keys).len()), "{ran:?}");
    let message = "error: the operating system's random generator failed: Input/output error";
    assert!(ran.stderr.contains(message) && !ran.stderr.contains("panicked"), "{ran:?}");
}

/// The third call of the thread that encrypts is for the salt of the second key. Without it the key is
/// encrypted in another form, which takes long. The trial before the search makes two calls.
#[test]
fn the_second_try_to_encrypt_ends_in_time() {
    let Some(strace) = strace() else { return };
    let directory = TempDir::new().unwrap();
    let secret = directory.path().join("secret");
    fs::write(&secret, "correct horse").unwrap();
    let mut search = command(&strace);
    search
        .args(["-D", "-f", "-qq", "-e", "trace=getrandom", "-e", "inject=getrandom:error=EIO:when=3"])
        .args(["-o", "/dev/null", executable(), "-q", "-t", "1", "--rounds", "120", "-n", "2", "ab", "-d"])
        .arg(directory.path().join("keys"))
        .arg("--passphrase-file")
        .arg(&secret);
    let child = start(search.stdout(Stdio::null()).stderr(Stdio::piped()));
    let keys = directory.path().join("keys");
    wait_until("the first key is kept", || keys.join(program::LEDGER).exists());
    // The second one takes a second or more.
    std::thread::sleep(std::time::Duration::from_millis(100));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let ran = child.end();
    assert_eq!((ran.status, names(&keys).len()), (Some(143), 3), "{ran:?}");
    assert!(ran.stderr.starts_with("error: gave up 1 key for 'ab': the encryption did not"), "{ran:?}");
}

/// Returns what a terminal of this width shows.
fn shown(script: &Path, columns: usize, directory: &Path, line: &str) -> String {
    let line = format!("stty cols {columns} rows 24 && cd '{}' && exec $P {line}", directory.display());
    let (status, shown) =
        Typist::run(command(script).env("P", executable()).env("NO_COLOR", "1"), &line).end();
    assert_eq!(status, Some(0), "{shown}");
    // Without the progress line, which a slow machine shows.
    let lines = shown.lines().map(|line| line.rsplit("\x1b[0J").next().unwrap().to_owned() + "\n");
    lines.collect()
}

#[test]
fn the_closing_steps_go_to_a_terminal_alone() {
    let Some(script) = require::tool("script") else { return };
    let directory = TempDir::new().unwrap();
    for columns in [80, 60] {
        let file = format!("id_{columns}");
        let text = shown(&script, columns, directory.path(), &format!("-o {file} abc"));
        let (_, steps) = text.split_once("next steps:\n").unwrap_or_else(|| panic!("{text}"));
        assert!(steps.contains("https://github.com/settings/ssh/new\n") && steps.contains(&file), "{steps}");
        assert!(steps.contains(&format!("ssh -i {file} USER@HOST\n")), "{steps}");
        let is_wide = |line: &&str| line.chars().count() > columns && !line.starts_with("ssh-ed25519 ");
        assert_eq!(text.lines().find(is_wide), None, "{text}");
        // How the key spells the word, without colors.
        let line = check_pair(&directory.path().join(&file));
        let body = program::body(&line);
        let at = body.to_lowercase().find("abc").unwrap();
        let spelled = &body[at..at + 3];
        let found =
            if spelled == "abc" { "found abc:".to_owned() } else { format!("found abc as {spelled}:") };
        assert!(text.contains(&found), "{text}");
        // The number of keys and the time are told once.
        assert_eq!((text.matches(" tried in ").count(), text.matches(" after ").count()), (1, 0), "{text}");
    }
    let text = shown(&script, 80, directory.path(), "-o id.pem ab");
    let (_, steps) = text.split_once("next steps:\n").unwrap_or_else(|| panic!("{text}"));
    assert!(steps.trim_start().starts_with("needs          OpenSSH 9.8 or later"), "{steps}");
    assert!(steps.lines().next().unwrap().ends_with("for older ssh: --format openssh"), "{steps}");

    let text = shown(&script, 80, directory.path(), "ab > out.pem").replace('\n', " ");
    assert!(
        text.contains("went to stdout; it needs OpenSSH 9.8 or later; for older ssh: --format openssh"),
        "{text}"
    );
    assert!(text.contains("to use it: chmod 600 FILE, then ssh -i FILE USER@HOST"), "{text}");

    // A log gets the facts.
    let log = succeed(program::program(&["-o", "logged", "ab"]).current_dir(&directory)).stderr;
    assert!(!log.contains("next steps") && !log.contains("USER@HOST") && !log.contains("github"), "{log}");
    assert!(log.contains("private key in logged, public key in logged.pub"), "{log}");
    for args in [&["ab"][..], &["--json", "ab"]] {
        let log = succeed(&mut program::program(args)).stderr;
        assert!(log.contains("for older ssh: --format openssh\n") && !log.contains("chmod"), "{log}");
    }
}

#[test]
fn a_long_search_says_first_that_its_key_will_only_be_shown() {
    let Some(script) = require::tool("script") else { return };
    let warning = "warning: the key will only be shown here; -o FILE saves it";
    let of = |args: &str| in_terminal(&script, &[], &format!("-t 1 --timeout 300ms {args}"), 3);
    let shown = of("abcdefgh");
    let (before, _) = shown.split_once(warning).unwrap_or_else(|| panic!("{shown}"));
    assert!(!before.contains("keys/s") && !before.contains("elapsed"), "{shown}");
    assert!(of("-n 2 abcdefgh").contains("warning: the keys will only be shown here; -d DIR saves them"));
    let directory = TempDir::new().unwrap();
    let saved = of(&format!("-o '{}/id_x' abcdefgh", directory.path().display()));
    assert!(!saved.contains("will only be shown"), "{saved}");
    let into = format!("abcdefgh > '{}/key.pem'", directory.path().display());
    let redirected = of(&into);
    assert!(redirected.contains("ssh before OpenSSH 9.8 will not read what goes to stdout"), "{redirected}");
    assert!(!of(&format!("--format openssh {into}")).contains("ssh before OpenSSH"));
    let short = in_terminal(&script, &[], "abc", 0);
    assert!(!short.contains("will only be shown") && short.contains("To keep this key: copy"), "{short}");
}

#[test]
fn a_terminal_that_nothing_is_known_of_gets_no_sequences() {
    let Some(script) = require::tool("script") else { return };
    for term in ["unset TERM; ", "export TERM=; ", "export TERM=dumb; "] {
        let line = format!("{term}exec '{}' {ENDED}", executable());
        let (status, sent) = Typist::run(&mut command(&script), &line).end();
        assert_eq!(status, Some(3), "{sent:?}");
        assert!(!sent.contains('\x1b') && !rewrites(&sent), "{term}{sent:?}");
    }
}

/// When a terminal becomes narrower, it breaks the progress line into rows. The program stands still
/// meanwhile, so that it writes no line of the old width to the new window.
#[test]
fn nothing_stays_of_a_line_when_the_window_becomes_narrower() {
    let Some(program) = require::tool("tmux") else { return };
    let tmux = Tmux { program, directory: TempDir::new().unwrap() };
    let line = format!(
        "{} -t 1 --engine reference --however-long --prefix {}; sleep 60",
        executable(),
        "a".repeat(30)
    );
    tmux.run(&["new-session", "-d", "-x", "110", "-y", "24", &line]);
    let screen = || tmux.run(&["capture-pane", "-p"]);
    let shell = tmux.run(&["display-message", "-p", "#{pane_pid}"]);
    let send = |signal| succeed(command(Path::new("pkill")).args([signal, "-P", shell.trim()]));
    program::wait_until("progress is shown", || screen().contains(" elapsed"));
    for columns in ["70", "50", "90", "45"] {
        send("-STOP");
        // Meanwhile tmux reads what was written before.
        screen();
        tmux.run(&["resize-window", "-x", columns, "-y", "24"]);
        let before = screen();
        send("-CONT");
        program::wait_until("progress goes on", || screen() != before);
        std::thread::sleep(std::time::Duration::from_millis(300));
        let shown = screen();
        let rows = shown.lines().filter(|line| line.contains("/s, ") || line.contains(" elapsed"));
        assert_eq!(rows.count(), 1, "{columns}: {shown}");
    }
}

/// A server of tmux, which ends with the test.
struct Tmux {
    program: PathBuf,
    directory: TempDir,
}

impl Tmux {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = command(&self.program);
        command.env("SHELL", "/bin/sh").arg("-S").arg(self.directory.path().join("socket"));
        command.args(["-f", "/dev/null"]).args(args);
        command
    }

    /// Runs a command of tmux, and returns what it prints.
    fn run(&self, args: &[&str]) -> String {
        succeed(&mut self.command(args)).stdout
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // Nothing is left to end if the server never began.
        _ = self.command(&["kill-server"]).output();
    }
}

#[test]
fn a_person_who_types_patterns_is_told_how() {
    let Some(script) = require::tool("script") else { return };
    for file in ["-", "/dev/stdin", "/dev/tty"] {
        let line = format!("exec '{}' -f {file} -t 1 --engine reference --estimate", executable());
        let mut typist = Typist::run(&mut command(&script), &line);
        typist.answer("reading patterns from the terminal, one per line; Ctrl-D ends\r\n", "abc\n\x04");
        let (status, shown) = typist.end();
        assert_eq!(status, Some(0), "{shown}");
        assert!(shown.contains(": 1 in 781; "), "{shown}");
    }
    let line = format!("echo abc | '{}' -f - -t 1 --engine reference --estimate", executable());
    let (_, shown) = Typist::run(&mut command(&script), &line).end();
    assert!(shown.contains(": 1 in 781; ") && !shown.contains("reading"), "{shown}");
}
