//! The command of `--exec`: what it gets, when it runs, and what its failure does.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::program;
use program::{
    ENDLESS, NEVER, Ran, Running, check_pair, check_secret, command, executable, names, objects, of_type,
    privates, program, run, succeed, text, whole,
};

/// Returns a search whose command appends a line to `log` in `directory`.
fn search(directory: &Path, command: &str, args: &[&str]) -> Command {
    let mut search = program(&["--exec", command]);
    search.args(args).current_dir(directory);
    search
}

/// Returns messages without the names of files in `keys`. There must be this number of them.
fn without_files(messages: &str, files: usize) -> String {
    let mut parts = messages.split(" in keys/");
    let mut rest = parts.next().unwrap().to_owned();
    let after = |part: &str| part[part.find([' ', ',', '\n']).unwrap()..].to_owned();
    let named: Vec<String> = parts.map(after).collect();
    assert_eq!(named.len(), files, "{messages}");
    rest.extend(named);
    rest
}

fn log(directory: &Path) -> String {
    fs::read_to_string(directory.join("log")).unwrap_or_default()
}

/// Returns the variables that a command has printed by `env -0`.
fn variables(environment: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8(environment.to_vec()).unwrap();
    let split = |variable: &str| {
        let (name, value) = variable.split_once('=').unwrap();
        (name.to_owned(), value.to_owned())
    };
    text.split_terminator('\0').map(split).collect()
}

#[test]
fn a_command_gets_the_public_data_of_its_find() {
    let directory = TempDir::new().unwrap();
    let at = |name: &str| directory.path().join(name);
    for (args, files) in [
        (&["-o", "id_x", "-C", "me @ $(here)"][..], Some("id_x")),
        (&["-d", "keys"], None),
        (&["-o", "./-x.ppk"], Some("./-x.ppk")),
        (&["--output=-y"], Some("./-y")),
    ] {
        let args = [&["--json", "ab"], args].concat();
        let ran = succeed(search(directory.path(), "env -0 > env", &args).env("UNRELATED", "kept"));
        let found = objects(&ran.stdout);
        let found = of_type(&found, "found")[0].clone();
        let variables = variables(&fs::read(at("env")).unwrap());
        let value = |name: &str| {
            variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str()).unwrap()
        };
        assert_eq!(value("VANITY_PATTERN"), "ab");
        assert_eq!(value("VANITY_PUBLIC_KEY"), text(&found, "public_key"));
        assert_eq!(value("VANITY_FINGERPRINT"), text(&found, "fingerprint"));
        assert_eq!(value("VANITY_ATTEMPTS"), whole(&found, "attempts").to_string());
        let seconds: f64 = value("VANITY_SECONDS").parse().unwrap();
        assert!((seconds - found["seconds"].as_f64().unwrap()).abs() < 0.001, "{found}");
        let private = files.unwrap_or_else(|| text(&found, "private_key_file"));
        assert_eq!(value("VANITY_PRIVATE_KEY_FILE"), private);
        assert_eq!(value("VANITY_PUBLIC_KEY_FILE"), format!("{private}.pub"));
        assert_eq!(check_pair(&at(private)), value("VANITY_PUBLIC_KEY"));
        assert_eq!(value("UNRELATED"), "kept");
    }
}

#[test]
fn a_command_never_gets_a_secret() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("secret"), "correct horse\n").unwrap();
    // Everything that a process can look at: its environment, its arguments, its open files, and
    // its parent.
    let look = "{ env; tr '\\0' '\\n' < /proc/$$/cmdline; ls -l /proc/$$/fd; cat; \
                tr '\\0' '\\n' < /proc/$PPID/cmdline; cat /proc/$PPID/environ; } >> log 2>&1; \
                for file in 3 4 5 63; do (cat <&$file >> log); done 2> errors; true";
    for args in [
        &["ab", "-o", "clear"][..],
        &["ab", "-o", "clear.pem"],
        &["ab", "-o", "clear.ppk"],
        &["--json", "ab", "--format", "openssh"],
        &["ab", "--rounds", "1", "--passphrase-file", "secret", "-o", "encrypted"],
        &["ab", "--rounds", "1", "--passphrase-file", "/dev/fd/3", "-o", "by-descriptor"],
    ] {
        let _ = fs::remove_file(directory.path().join("log"));
        let shell = "exec \"$0\" --exec \"$@\" 3< secret";
        let mut shell_of = command("sh");
        shell_of.args(["-c", shell, executable(), look]).args(args).current_dir(directory.path());
        let ran = succeed(&mut shell_of);
        let log = log(directory.path());
        assert!(log.contains("VANITY_PATTERN=ab\n") && log.contains(" 0 -> /dev/null\n"), "{log}");
        assert!(!log.contains("correct horse") && !log.contains(" 3 -> "), "{log}");
        let private = match args.iter().position(|arg| *arg == "-o") {
            Some(at) => fs::read_to_string(directory.path().join(args[at + 1])).unwrap(),
            None => text(of_type(&objects(&ran.stdout), "found")[0], "private_key").to_owned(),
        };
        if args.contains(&"--passphrase-file") {
            continue;
        }
        check_secret(&Ran { status: None, stdout: log, stderr: ran.stderr }, &private);
    }
}

#[test]
fn without_files_their_variables_are_not_set() {
    let directory = TempDir::new().unwrap();
    let mut search = search(directory.path(), "env > log", &["ab"]);
    search.env("VANITY_PRIVATE_KEY_FILE", "old").env("VANITY_PUBLIC_KEY_FILE", "old");
    let ran = succeed(search.env("VANITY_PATTERN", "old"));
    let log = log(directory.path());
    assert!(log.contains("VANITY_PATTERN=ab\n") && !log.contains("_KEY_FILE="), "{log}");
    assert!(ran.stdout.starts_with("-----BEGIN PRIVATE KEY-----\n"));
    check_secret(&Ran { status: None, stdout: log, stderr: ran.stderr }, &ran.stdout);
}

/// What a command prints goes to stderr, and it reads nothing of what the program reads.
#[test]
fn stdout_belongs_to_the_keys_and_stdin_to_the_program() {
    let directory = TempDir::new().unwrap();
    let line = "printf 'ab\\n' | \"$0\" -n 2 -f - --exec 'cat; echo printed; echo said >&2'";
    let ran = succeed(command("sh").args(["-c", line, executable()]).current_dir(directory.path()));
    assert_eq!(ran.stdout.lines().count(), 6, "{}", ran.stdout);
    assert!(!ran.stdout.contains("printed"), "{}", ran.stdout);
    assert_eq!((ran.stderr.matches("printed\n").count(), ran.stderr.matches("said\n").count()), (2, 2));
}

#[test]
fn commands_run_one_at_a_time_in_the_order_of_finds() {
    let directory = TempDir::new().unwrap();
    let order =
        "echo \"begin $VANITY_FINGERPRINT\" >> log; sleep 0.02; echo \"end $VANITY_FINGERPRINT\" >> log";
    for to in [&["-d", "keys"][..], &["--format", "openssh"]] {
        let _ = fs::remove_file(directory.path().join("log"));
        let args = [&["--json", "-t", "2", "-n", "20", "ab"], to].concat();
        let ran = succeed(&mut search(directory.path(), order, &args));
        let found = objects(&ran.stdout);
        let lines = of_type(&found, "found").into_iter().map(|found| {
            let fingerprint = text(found, "fingerprint");
            format!("begin {fingerprint}\nend {fingerprint}\n")
        });
        assert_eq!(log(directory.path()), lines.collect::<String>());
    }
}

/// Patterns with every character that a shell obeys are plain text in the environment.
#[test]
fn nothing_of_a_pattern_is_obeyed() {
    let directory = TempDir::new().unwrap();
    for (kind, pattern) in [
        ("--anywhere", "a+/"),
        ("--regex", "^(.*a|$(touch bad)|`touch bad`|;touch bad;|\"|'|\\\\|\\n)"),
        ("--regex", "a|\" ; touch bad ; \""),
        ("--regex", "[ab]|\u{202e}|ö"),
    ] {
        let show = "printf %s \"$VANITY_PATTERN\" > log; printf %s \"$VANITY_PUBLIC_KEY\" > line";
        let ran = succeed(&mut search(directory.path(), show, &["-q", kind, pattern, "-d", "keys"]));
        assert_eq!(log(directory.path()), pattern);
        assert_eq!(fs::read_to_string(directory.path().join("line")).unwrap() + "\n", ran.stdout);
        assert_eq!(names(directory.path()), ["keys", "line", "log"], "{pattern}");
    }
}

#[test]
fn failing_commands_give_status_1_and_all_keys_are_kept() {
    let directory = TempDir::new().unwrap();
    for (number, (command, why)) in [
        ("exit 3", "exit status: 3"),
        ("kill -9 $$", "signal: 9 (SIGKILL)"),
        ("no-such-program", "exit status: 127"),
        ("if", "exit status: 2"),
        // No signal of our own follows.
        ("sleep 0.2; kill -INT $$", "signal: 2 (SIGINT)"),
    ]
    .into_iter()
    .enumerate()
    {
        let keys = format!("keys-{number}");
        let ran = run(&mut search(directory.path(), command, &["-n", "3", "ab", "-q", "-d", &keys]));
        assert_eq!(ran.status, Some(1), "{ran:?}");
        let (begin, end) = (format!("error: the command for 'ab' in {keys}/ab-"), format!(" failed: {why}"));
        let times = |text: &str| ran.stderr.matches(text).count();
        assert_eq!((times(&begin), times(&end)), (3, 3), "{}", ran.stderr);
        let end = "error: 3 of 3 commands failed\nhint: every reported key is kept\n";
        assert!(ran.stderr.ends_with(end), "{}", ran.stderr);
        assert_eq!(ran.stdout.lines().count(), 3);
        let keys = directory.path().join(keys);
        let private = privates(&keys);
        assert_eq!(private.len(), 3);
        private.iter().for_each(|name| drop(check_pair(&keys.join(name))));
    }
    // One failure of several, and the timeout.
    let once = "if mkdir first; then exit 7; fi";
    let args = ["-t", "1", "-n", "4", "--timeout", "2s", "ab", NEVER, "-d", "more"];
    let ran = run(&mut search(directory.path(), once, &args));
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("error: 1 of 4 commands failed\n"), "{}", ran.stderr);
    let ran = run(&mut search(directory.path(), "true", &["--timeout", "300ms", "ab", NEVER, "-d", "third"]));
    assert_eq!(ran.status, Some(3), "{ran:?}");
}

/// A key that could not be kept has no command, and those before it have theirs.
#[test]
fn a_failure_of_the_search_waits_for_the_commands_of_kept_keys() {
    let directory = TempDir::new().unwrap();
    let script = "\"$0\" -q -t 1 --exec 'echo \"$VANITY_FINGERPRINT\" >> log' -n 1000 ab -d keys | head -n 1";
    let ran = run(command("bash").args(["-c", script, executable()]).current_dir(directory.path()));
    assert!(ran.stderr.contains("error: cannot write to stdout: "), "{ran:?}");
    let kept = privates(&directory.path().join("keys")).len();
    let log = log(directory.path());
    assert!(kept >= 1 && log.lines().count() == kept, "{kept}\n{log}");
}

/// Starts a search that never ends, and returns it with its stdout.
fn start(directory: &Path, command: &str, args: &[&str]) -> (Running, BufReader<ChildStdout>) {
    let mut search = search(directory, command, args);
    let mut child = program::start(search.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let stdout = BufReader::new(child.stdout.take().unwrap());
    (child, stdout)
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Reads lines until one that ends so, and returns it.
fn read_until(lines: &mut impl BufRead, end: &str) -> String {
    let mut line = String::new();
    while !line.ends_with(end) {
        line.clear();
        assert_ne!(lines.read_line(&mut line).unwrap(), 0);
    }
    line
}

/// The first command waits for a file that this test writes only after many more finds.
#[test]
fn a_slow_command_does_not_stop_the_search() {
    let directory = TempDir::new().unwrap();
    let slow = "echo \"$VANITY_FINGERPRINT\" >> log; until [ -e go ]; do sleep 0.01; done";
    let args = ["-q", "-t", "2", "-n", ENDLESS, "abc", "-d", "keys"];
    let (child, mut stdout) = start(directory.path(), slow, &args);
    let mut lines = String::new();
    while lines.lines().count() < 40 {
        assert_ne!(stdout.read_line(&mut lines).unwrap(), 0, "{lines}");
    }
    assert!(log(directory.path()).lines().count() <= 1);
    // The first signal ends the search. Then every command runs.
    signal(&child, Signal::INT);
    fs::write(directory.path().join("go"), "").unwrap();
    stdout.read_to_string(&mut lines).unwrap();
    let ran = child.end();
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(130), ""));
    assert_eq!(log(directory.path()).lines().count(), lines.lines().count());
}

#[test]
fn a_second_signal_ends_the_waiting_and_names_what_did_not_run() {
    let slow = "echo \"$$ $VANITY_PATTERN\" >> log; exec sleep 600";
    // A search that has ended by itself needs one signal, another one two.
    for (count, signals, status) in [("15", &[Signal::TERM][..], 143), (ENDLESS, &[Signal::INT; 2], 130)] {
        let directory = TempDir::new().unwrap();
        let args = ["-t", "1", "-n", count, "abc", "-d", "keys"];
        let (mut child, mut stdout) = start(directory.path(), slow, &args);
        let mut lines = String::new();
        while lines.lines().count() < 15 {
            assert_ne!(stdout.read_line(&mut lines).unwrap(), 0, "{lines}");
        }
        while !log(directory.path()).ends_with('\n') {
            std::thread::yield_now();
        }
        // What is told waits for a reader of the results before it.
        let reader = std::thread::spawn(move || stdout.read_to_string(&mut lines));
        let (last, first) = signals.split_last().unwrap();
        first.iter().for_each(|first| signal(&child, *first));
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let line = read_until(&mut stderr, " commands; Ctrl-C ends the waiting\n");
        let waiting: usize = line.split(' ').nth(2).unwrap().replace(',', "").parse().unwrap();
        signal(&child, *last);
        assert_eq!(child.wait().unwrap().code(), Some(status));
        reader.join().unwrap().unwrap();
        let log = log(directory.path());
        let (process, pattern) = log.trim_end().split_once(' ').unwrap();
        assert_eq!(pattern, "abc", "only one command has run");
        // The command is left alone. It holds our stderr open until it ends.
        kill_process(Pid::from_raw(process.parse().unwrap()).unwrap(), Signal::KILL).unwrap();
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).unwrap();
        let quoted = ["'abc'"; 10].join(", ");
        assert_eq!(
            without_files(&rest, 11),
            format!(
                "error: did not wait for the command for 'abc'\n\
                 error: did not run {} commands, for {quoted}, {} more\n",
                waiting - 1,
                waiting - 11
            )
        );
    }
}

/// A terminal sends Ctrl-C to the command, too. It ends, and no other begins, not even if our own signal
/// comes a little later.
#[test]
fn ctrl_c_in_a_terminal_ends_the_command_that_runs() {
    let directory = TempDir::new().unwrap();
    let slow = "echo $$ >> log; exec sleep 600";
    let mut search = search(directory.path(), slow, &["-t", "1", "-n", "15", "ab", "-d", "keys"]);
    let mut child = program::start(search.stdout(Stdio::null()).stderr(Stdio::piped()));
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    read_until(&mut stderr, "waiting for 15 commands; Ctrl-C ends the waiting\n");
    while !log(directory.path()).ends_with('\n') {
        std::thread::yield_now();
    }
    let process = log(directory.path());
    kill_process(Pid::from_raw(process.trim_end().parse().unwrap()).unwrap(), Signal::INT).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    signal(&child, Signal::INT);
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let quoted = ["'ab'"; 10].join(", ");
    assert_eq!(
        without_files(&rest, 11),
        format!(
            "error: the command for 'ab' failed: signal: 2 (SIGINT)\n\
             error: did not run 14 commands, for {quoted}, 4 more\n"
        )
    );
    assert_eq!(log(directory.path()), process, "no other has begun");
}

/// Its status is that of the signal although no other command was to begin.
#[test]
fn ctrl_c_in_a_terminal_ends_the_last_command() {
    let directory = TempDir::new().unwrap();
    let mut search = search(directory.path(), "echo $$ >> log; exec sleep 600", &["ab", "-o", "id"]);
    let mut child = program::start(search.stdout(Stdio::null()).stderr(Stdio::piped()));
    program::wait_until("the command runs", || log(directory.path()).ends_with('\n'));
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    read_until(&mut stderr, "waiting for 1 command; Ctrl-C ends the waiting\n");
    let process = log(directory.path()).trim_end().parse().unwrap();
    kill_process(Pid::from_raw(process).unwrap(), Signal::INT).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    signal(&child, Signal::INT);
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(rest, "error: the command for 'ab' failed: signal: 2 (SIGINT)\n");
}

#[test]
fn a_command_that_fails_is_reported_while_the_search_goes_on() {
    let directory = TempDir::new().unwrap();
    let mut search = search(directory.path(), "exit 3", &["-q", "-d", "keys", "--however-long", "ab", NEVER]);
    let mut child = program::start(search.stdout(Stdio::null()).stderr(Stdio::piped()));
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "error: the command for 'ab' failed: exit status: 3\n");
}

/// A command begins like a program that a shell starts: no signal is blocked, and SIGPIPE ends it.
#[test]
fn a_command_begins_with_the_usual_signals() {
    let directory = TempDir::new().unwrap();
    let masks = "exec grep -e SigBlk -e SigIgn /proc/self/status > log";
    succeed(&mut search(directory.path(), masks, &["-q", "ab", "-o", "id_x"]));
    let log = log(directory.path());
    let mask = |name: &str| {
        let line = log.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        u64::from_str_radix(line.trim(), 16).unwrap()
    };
    assert_eq!((mask("SigBlk:"), mask("SigIgn:") >> 12 & 1), (0, 0), "{log}");
}

#[test]
fn keys_that_exist_already_have_no_command() {
    let directory = TempDir::new().unwrap();
    let mut lines = 0;
    for (count, more) in [("2", 2), ("2", 0), ("3", 1)] {
        succeed(&mut search(directory.path(), "echo >> log", &["-q", "-n", count, "ab", "-d", "keys"]));
        lines += more;
        assert_eq!(log(directory.path()).lines().count(), lines);
    }
    // A run that makes no key runs nothing.
    succeed(&mut search(directory.path(), "echo >> log", &["ab", "--estimate", "-t", "1"]));
    assert_eq!(log(directory.path()).lines().count(), lines);
}

#[test]
fn a_command_whose_data_is_too_long_is_refused_before_the_search() {
    let directory = TempDir::new().unwrap();
    let comment = "x".repeat(131_000);
    let ran = run(&mut search(directory.path(), "true", &["-o", "id_x", "-C", &comment, NEVER]));
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr.starts_with("error: cannot run a command after each key: Argument list too long"),
        "{}",
        ran.stderr
    );
    let hint = "\nhint: shorten the command, the pattern or the comment\n";
    assert!(ran.stderr.ends_with(hint), "{}", ran.stderr);
    succeed(&mut search(directory.path(), "true", &["-o", "id_x", "-C", &comment[..130_000], "ab"]));
}
