//! Tests of searches whose output nobody reads, or whose files cannot be written: finds are stored
//! all the same, and a signal or the timeout ends the program within a second.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{PipeWriter, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::program::{
    ENDLESS, LEDGER, NEVER, NO_SHARED_MEMORY, Running, await_workers, body, check_pair, command, derived,
    executable, fill, full_pipe, names, objects, of_type, positive, program, public_path, run, start,
    threads, wait_until, within_a_second,
};
use crate::terminal::Typist;
use crate::{program, require};

/// Returns the private files in a directory of keys.
fn private_files(directory: &Path) -> Vec<String> {
    let all = if directory.exists() { names(directory) } else { Vec::new() };
    let has_public = |name: &&String| all.binary_search(&format!("{name}.pub")).is_ok();
    all.iter().filter(|name| !name.starts_with('.')).filter(has_public).cloned().collect()
}

/// Checks that the keys of a directory are whole pairs, and those of the ledger.
fn check_directory(directory: &Path) -> usize {
    let files = private_files(directory);
    files.iter().for_each(|file| drop(check_pair(&directory.join(file))));
    let ledger = fs::read_to_string(directory.join(LEDGER)).unwrap();
    assert_eq!(ledger.lines().count(), files.len());
    files.len()
}

/// Checks that a search ends within a second. It is given a full pipe and the path of a directory that
/// does not exist, and returns how long the end took.
fn unread(search: impl Fn(PipeWriter, &Path) -> Duration) {
    within_a_second(|| {
        let (_reader, writer) = full_pipe();
        let directory = TempDir::new().unwrap();
        search(writer, &directory.path().join("keys"))
    });
}

/// Ends a search by a signal. Returns its status, what it said on stderr if that is a pipe, and how
/// long it took.
fn end_by(mut child: Running, signal: Signal) -> (Option<i32>, String, Duration) {
    let began = Instant::now();
    kill_process(Pid::from_child(&child), signal).unwrap();
    await_end(&mut child);
    let took = began.elapsed();
    let ran = child.end();
    (ran.status, ran.stderr, took)
}

/// Waits until a search has begun, and then half a second more.
fn await_search(child: &Running) {
    await_workers(child);
    std::thread::sleep(Duration::from_millis(500));
}

/// Waits for the end of a process that says little.
fn await_end(child: &mut Running) {
    let mut ended = || child.try_wait().unwrap().is_some();
    wait_until("the search has ended", &mut ended);
}

#[test]
fn a_key_is_stored_and_a_signal_ends_the_program_while_nobody_reads_the_progress() {
    unread(|writer, file| {
        let mut search = program(&["-t", "1", "--progress", "json", "abcd", "-o"]);
        let child = start(search.arg(file).stdout(Stdio::null()).stderr(writer));
        wait_until("a key is stored", || public_path(file).exists());
        let (status, _, took) = end_by(child, Signal::TERM);
        check_pair(file);
        assert_eq!(status, Some(143));
        took
    });
}

#[test]
fn keys_of_a_directory_are_stored_while_nobody_reads_stdout() {
    unread(|writer, keys| {
        let mut search = program(&["-q", "-n", ENDLESS, "abc", "-d"]);
        let child = start(search.arg(keys).stdout(writer).stderr(Stdio::piped()));
        wait_until("keys are stored", || private_files(keys).len() > 20);
        let (status, said, took) = end_by(child, Signal::INT);
        assert_eq!(status, Some(130));
        assert!(check_directory(keys) > 20);
        let (of, hint) = said.split_once('\n').unwrap();
        assert!(of.starts_with("error: nobody read stdout: it lacks the lines of "), "{said}");
        let kept = format!(" keys that were just found are kept in '{}'\n", keys.display());
        assert!(hint.starts_with("hint: the ") && hint.ends_with(&kept), "{said}");
        took
    });
}

#[test]
fn the_timeout_ends_a_search_whose_output_nobody_reads() {
    unread(|writer, keys| {
        let mut search = program(&["-t", "1", "-n", ENDLESS, "--json", "--timeout", "1s", "abc", "-d"]);
        search.arg(keys).stdout(writer.try_clone().unwrap()).stderr(writer);
        let began = Instant::now();
        let mut child = start(&mut search);
        await_end(&mut child);
        assert_eq!(child.end().status, Some(3));
        assert!(check_directory(keys) > 0);
        began.elapsed().saturating_sub(Duration::from_secs(1))
    });
}

#[test]
fn keys_that_nobody_reads_are_kept_elsewhere() {
    unread(|writer, path| {
        let work = path.parent().unwrap();
        let mut search = program(&["-n", ENDLESS, "-q", "--exec", "echo ran >> log", "ab"]);
        let child = start(search.current_dir(work).stdout(writer).stderr(Stdio::piped()));
        await_search(&child);
        let (status, said, took) = end_by(child, Signal::INT);
        assert_eq!(status, Some(130));
        let files = private_files(work);
        assert!(files.len() > 1, "{said}");
        files.iter().for_each(|file| drop(check_pair(&work.join(file))));
        let keys = format!("{} keys", files.len());
        let said: Vec<&str> = said.lines().filter(|line| !line.contains("command")).collect();
        assert_eq!(
            said,
            [
                format!("error: nobody read stdout: it lacks {keys}"),
                format!("hint: the {keys} that were just found are kept in '.'")
            ]
        );
        took
    });
}

#[test]
fn a_signal_ends_the_waiting_for_a_reader_of_the_last_results() {
    unread(|writer, _| {
        let mut search = program(&["--json", "-n", "3", "--exec", "true", "ab"]);
        let child = start(search.stdout(writer).stderr(Stdio::null()));
        // Three keys are found so quickly that nobody may ever see the workers.
        wait_until("the results are reported", || !threads(child.id(), "report").is_empty());
        std::thread::sleep(Duration::from_millis(500));
        let (status, _, took) = end_by(child, Signal::TERM);
        assert_eq!(status, Some(143));
        // A command that runs may have half a second of its own.
        took.saturating_sub(Duration::from_millis(500))
    });
}

/// More results wait than the queue takes, and the search goes on when they are read.
#[test]
fn a_slow_reader_gets_every_result() {
    let (mut reader, writer) = full_pipe();
    let mut search = program(&["--json", "--progress", "json", "-n", "2000", "ab"]);
    search.stdout(writer).stderr(Stdio::null());
    let child = start(&mut search);
    // The command holds the other end of the pipe.
    drop(search);
    std::thread::sleep(Duration::from_secs(1));
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(child.end().status, Some(0));
    let objects = objects(text.trim_start());
    assert_eq!(of_type(&objects, "found").len(), 2000);
    assert_eq!(of_type(&objects, "summary").len(), 1);
}

/// Runs a command whose stdout or stderr is full and does not wait, and returns its status and what a
/// slow reader gets.
fn slowly(search: &mut Command, is_stderr: bool) -> (Option<i32>, String) {
    let (mut reader, writer) = full_pipe();
    rustix::io::ioctl_fionbio(&writer, true).unwrap();
    if is_stderr {
        search.stdout(Stdio::piped()).stderr(writer);
    } else {
        search.stdout(writer).stderr(Stdio::null());
    }
    let child = start(search);
    // The command holds the other end of the pipe.
    search.stdout(Stdio::null()).stderr(Stdio::null());
    let mut bytes = Vec::new();
    std::thread::sleep(Duration::from_millis(200));
    loop {
        std::thread::sleep(Duration::from_millis(5));
        if reader.by_ref().take(1 << 13).read_to_end(&mut bytes).unwrap() == 0 {
            return (child.end().status, String::from_utf8(bytes).unwrap().trim_start().to_owned());
        }
    }
}

/// Whoever shares an open stream can make it non-blocking for all.
#[test]
fn a_stream_that_another_process_made_non_blocking_loses_nothing() {
    for args in [&["--completions", "bash"][..], &["--help"]] {
        let whole = run(&mut program(args)).stdout;
        assert_eq!(slowly(&mut program(args), false), (Some(0), whole), "{args:?}");
    }
    let (status, keys) = slowly(&mut program(&["-q", "-n", "300", "ab"]), false);
    assert_eq!((status, keys.matches("-----END PRIVATE KEY-----\n").count()), (Some(0), 300));
    let (status, found) = slowly(&mut program(&["--json", "-q", "-n", "300", "ab"]), false);
    assert_eq!((status, of_type(&objects(&found), "found").len()), (Some(0), 300));

    let said = run(&mut program(&["--nothing"])).stderr;
    assert_eq!(slowly(&mut program(&["--nothing"]), true), (Some(2), said));

    let private = ["-q", "--format", "openssh", "--rounds", "1", "--passphrase-file", "-", "ab"];
    for (args, text) in [(&["-q", "-f", "-"][..], "ab\nac\n"), (&private, "correct horse\n")] {
        let (reader, mut writer) = std::io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&reader, true).unwrap();
        let mut search = program(args);
        let child = start(search.stdin(reader).stdout(Stdio::piped()).stderr(Stdio::piped()));
        std::thread::sleep(Duration::from_millis(200));
        writer.write_all(text.as_bytes()).unwrap();
        drop(writer);
        let ran = child.end();
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{args:?}");
        assert!(ran.stdout.contains("PRIVATE KEY-----\n"), "{ran:?}");
    }
}

#[test]
fn a_key_is_stored_while_the_terminal_is_stopped() {
    let Some(script) = require::tool("script") else { return };
    let (directory, mut typist) = loop {
        let directory = TempDir::new().unwrap();
        let line = "$P -t 1 -o k abcd; status=$?; read end; exit $status";
        let mut typist = Typist::start(&script, directory.path(), line);
        // Ctrl-S stops the terminal, and Ctrl-Q continues it.
        typist.answer("1 in ", "\x13");
        std::thread::sleep(Duration::from_millis(20));
        if !directory.path().join("k").exists() {
            break (directory, typist);
        }
        // The key was found before: again.
    };
    wait_until("a key is stored", || directory.path().join("k.pub").exists());
    typist.answer("", "\x11\n");
    let (status, shown) = typist.end();
    assert_eq!(status, Some(0), "{shown}");
    assert!(shown.contains("private key in k, public key in k.pub"), "{shown}");
    check_pair(&directory.path().join("k"));
}

#[test]
fn a_stopped_terminal_delays_no_signal() {
    let Some(script) = require::tool("script") else { return };
    let directory = TempDir::new().unwrap();
    let line =
        format!("trap : INT; $P -t 1 --however-long -o k {}; echo $? > status; read end", "z".repeat(20));
    let mut typist = Typist::start(&script, directory.path(), &line);
    typist.answer("1 in ", "\x13");
    std::thread::sleep(Duration::from_millis(500));
    typist.answer("", "\x03");
    wait_until("the search has ended", || directory.path().join("status").exists());
    typist.answer("", "\x11\n");
    typist.end();
    assert_eq!(fs::read_to_string(directory.path().join("status")).unwrap(), "130\n");
}

/// Starts a search whose file is `work/keys/k` from `work`, and takes these directories away as soon
/// as it has begun. `around` begins the command. Returns its status and what the terminal has shown.
fn without(script: &Path, outer: &Path, gone: &[&str], around: &str, end: &str) -> (Option<i32>, String) {
    loop {
        for name in ["work", "work/keys", "home"] {
            fs::create_dir_all(outer.join(name)).unwrap();
        }
        let home = outer.join("home");
        let line = format!("cd work; HOME='{}' {around} $P -t 1 -o keys/k abcd {end}", home.display());
        let mut typist = Typist::start(script, outer, &line);
        if end.is_empty() {
            typist.answer("1 in ", "");
        } else {
            let log = outer.join("log");
            wait_until("the search has begun", || {
                fs::read_to_string(&log).is_ok_and(|log| log.contains("1 in "))
            });
        }
        let gone = gone.iter().try_for_each(|name| fs::remove_dir(outer.join(name)));
        let (status, shown) = typist.end();
        if gone.is_ok() {
            return (status, shown.replace('\r', ""));
        }
        // The key was found before: again.
        for name in ["work", "home"] {
            let _ = fs::remove_dir_all(outer.join(name));
        }
        let _ = fs::remove_file(outer.join("log"));
    }
}

/// The runtime directory is in memory.
#[test]
fn a_key_that_no_disk_takes_is_kept_in_memory() {
    let Some(script) = require::tool("script") else { return };
    let outer = TempDir::new().unwrap();
    let runtime = outer.path().join("run");
    fs::create_dir(&runtime).unwrap();
    let around = format!("XDG_RUNTIME_DIR='{}'", runtime.display());
    let (status, shown) = without(&script, outer.path(), &["work/keys", "work", "home"], &around, "");
    assert_eq!(status, Some(1), "{shown}");
    let files = private_files(&runtime);
    assert_eq!(files.len(), 1, "{shown}");
    check_pair(&runtime.join(&files[0]));
    assert!(
        shown.contains(&format!("/run/{} instead, in memory: copy it before a restart\n", files[0])),
        "{shown}"
    );
}

/// A terminal that is closed is no reader that left, if SIGHUP is ignored. A search for files goes on, and a
/// key that would be shown goes to a file.
#[test]
fn a_closed_terminal_costs_no_key() {
    let Some(script) = require::tool("script") else { return };
    for (args, place, keys) in [("-n 200 abc -d keys", "keys", 200), ("abcd", ".", 1)] {
        let line = format!("trap '' HUP; $P -t 1 {args}; echo $? > status");
        let (status, directory) = loop {
            let directory = TempDir::new().unwrap();
            let mut typist = Typist::start(&script, directory.path(), &line);
            typist.answer("1 in ", "");
            drop(typist);
            let status = || fs::read_to_string(directory.path().join("status")).unwrap_or_default();
            wait_until("the search has ended", || status().ends_with('\n'));
            // A single key that was shown before the terminal was closed has no file: again.
            if keys > 1 || status() != "0\n" {
                break (status(), directory);
            }
        };
        let place = directory.path().join(place);
        let files = private_files(&place);
        assert_eq!((status.as_str(), files.len()), ("1\n", keys));
        files.iter().for_each(|file| drop(check_pair(&place.join(file))));
    }
}

#[test]
fn a_key_whose_directory_is_gone_is_kept_elsewhere() {
    let Some(script) = require::tool("script") else { return };
    for (gone, place, named) in [(&["work/keys"][..], "work", "."), (&["work/keys", "work"], "home", "/home")]
    {
        let outer = TempDir::new().unwrap();
        let (status, shown) = without(&script, outer.path(), gone, "", "");
        assert_eq!(status, Some(1), "{shown}");
        let files = private_files(&outer.path().join(place));
        assert_eq!(files.len(), 1, "{shown}");
        check_pair(&outer.path().join(place).join(&files[0]));
        assert!(shown.contains("cannot write 'keys/k': No such file or directory (os error 2)"), "{shown}");
        assert!(shown.contains(&format!("{named}/{} instead\n", files[0])), "{shown}");
        assert!(
            shown.contains("hint: the keys that were found are kept in the files named above"),
            "{shown}"
        );
    }
}

/// The terminal shows it, whichever stream goes there, and even if none does.
#[test]
fn a_key_that_no_directory_takes_is_shown_on_the_terminal() {
    let Some(script) = require::tool("script") else { return };
    let Some(unshare) = program::unshare() else { return };
    let around = format!("{} -rm sh -c '{NO_SHARED_MEMORY}exec \"$0\" \"$@\"'", unshare.display());
    for end in ["", "2> ../log", "2> ../log > ../out"] {
        let outer = TempDir::new().unwrap();
        let gone = ["work/keys", "work", "home"];
        let (status, shown) = without(&script, outer.path(), &gone, &around, end);
        assert_eq!(status, Some(1), "{shown}");
        let (begin, finish) =
            ("-----BEGIN OPENSSH PRIVATE KEY-----\n", "-----END OPENSSH PRIVATE KEY-----\n");
        let key = &shown[shown.find(begin).unwrap()..shown.find(finish).unwrap() + finish.len()];
        assert!(body(&derived(key).line("x")).to_lowercase().contains("abcd"), "{shown}");
        let said = if end.is_empty() { shown } else { fs::read_to_string(outer.path().join("log")).unwrap() };
        let tried = ["/home/abcd-", "/dev/shm/abcd-", "hint: save the key that is shown "];
        assert!(tried.iter().all(|tried| said.contains(tried)), "{said}");
        assert!(end.is_empty() || !said.contains("PRIVATE KEY"), "{said}");
    }
}

/// Stdout is on a full disk, or its reader is gone, or it is a terminal that is closed: the key is kept
/// elsewhere, and a message names the file. What other workers have found goes the same way.
#[test]
fn a_key_that_stdout_does_not_take_is_kept_elsewhere() {
    let Some(script) = require::tool("bash") else { return };
    let secret = "--passphrase-file secret --format openssh --rounds 1";
    for args in [
        "ab",
        "--json -q ab",
        "-n 40 ab",
        "--format ppk ab",
        "-n 5 --exec \"echo ran >> log\" ab",
        &format!("{secret} -n 3 ab"),
    ] {
        let work = TempDir::new().unwrap();
        fs::write(work.path().join("secret"), "correct horse\n").unwrap();
        fs::set_permissions(work.path().join("secret"), std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .unwrap();
        // The limit is that of a file in blocks of 1 KiB, and `full` has one byte less: half a key is written.
        let line = format!(
            "head -c 16383 /dev/zero > full; chmod 600 full; ulimit -f 16; exec \"$0\" -t 2 {args} >> full"
        );
        let ran = run(command(&script).args(["-c", &line, executable()]).current_dir(&work));
        assert_eq!(ran.status, Some(1), "{args}: {ran:?}");
        let files = private_files(work.path());
        assert!(!files.is_empty(), "{args}: {ran:?}");
        let is_clear = !args.contains("secret");
        for file in &files {
            if is_clear {
                check_pair(&work.path().join(file));
            }
            let private = fs::read_to_string(work.path().join(file)).unwrap();
            assert_eq!(private.contains("BEGIN PRIVATE KEY"), is_clear && !args.contains("ppk"), "{args}");
            let named = format!(
                "error: cannot write to stdout: File too large (os error 27); the key is kept in ./{file} instead\n"
            );
            assert!(ran.stderr.contains(&named), "{args}: {named}: {}", ran.stderr);
        }
        assert!(
            ran.stderr.ends_with("hint: the keys that were found are kept in the files named above\n"),
            "{}",
            ran.stderr
        );
        assert!(!ran.stderr.contains(" lost"), "{ran:?}");
        assert_eq!(fs::metadata(work.path().join("full")).unwrap().len(), 16384);
        // The command of a key runs when it is kept.
        let log = fs::read_to_string(work.path().join("log")).unwrap_or_default();
        assert_eq!(log.lines().count(), if args.contains("exec") { files.len() } else { 0 }, "{ran:?}");
    }
}

/// A reader that is gone ends a search whose key would go there.
#[test]
fn a_reader_that_is_gone_ends_the_search_at_once() {
    for args in
        [&[NEVER][..], &["--json", "-q", NEVER], &["-n", "2", "--passphrase-file", "/proc/version", NEVER]]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut search = program(&["-t", "1", "--however-long"]);
        let child = start(search.args(args).stdout(writer).stderr(Stdio::piped()));
        drop(search);
        await_search(&child);
        drop(reader);
        let ran = child.end();
        assert_eq!(ran.status, Some(1), "{args:?}: {ran:?}");
        assert!(
            ran.stderr.ends_with("error: cannot write to stdout: Broken pipe (os error 32)\n"),
            "{}",
            ran.stderr
        );
    }
}

/// A reader takes some bytes of stdout or of stderr, and then no more, or closes the stream. Whatever
/// was found is stored, and a signal ends the program.
#[test]
fn a_reader_that_stops_at_any_write_costs_no_key_and_no_signal() {
    let modes: [&[&str]; 3] = [&[], &["--json"], &["--progress", "json"]];
    std::thread::scope(|scope| {
        for (mode, bytes, is_stdout, closes) in modes.into_iter().flat_map(|mode| {
            [(0, true, false), (300, true, false), (1, true, true), (0, false, false), (300, false, true)]
                .map(|(bytes, is_stdout, closes)| (mode, bytes, is_stdout, closes))
        }) {
            scope.spawn(move || stop_reading(mode, bytes, is_stdout, closes));
        }
    });
}

fn stop_reading(mode: &[&str], bytes: usize, is_stdout: bool, closes: bool) {
    let directory = TempDir::new().unwrap();
    let keys = directory.path().join("keys");
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut search = program(&["-t", "1", "-n", ENDLESS, "abc"]);
    search.args(mode).arg("-d").arg(&keys);
    if is_stdout {
        search.stdout(writer).stderr(Stdio::null());
    } else {
        search.stdout(Stdio::null()).stderr(writer);
    }
    let mut child = start(&mut search);
    drop(search);
    reader.read_exact(&mut vec![0; bytes]).unwrap();
    let reader = (!closes).then_some(reader);
    if let Some(reader) = &reader {
        // Another description of the pipe, so that the search itself may wait.
        let path = format!("/proc/self/fd/{}", reader.as_raw_fd());
        fill(
            fs::OpenOptions::new()
                .write(true)
                .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
                .open(path)
                .unwrap(),
        );
    }
    let stored = private_files(&keys).len();
    // Nobody reads the errors of a closed stdout, and a closed stderr ends no search.
    if is_stdout && closes {
        await_end(&mut child);
        assert_eq!(child.wait().unwrap().code(), Some(1), "{mode:?}");
    } else {
        wait_until("keys are stored", || private_files(&keys).len() > stored + 5);
        let (status, _, _) = end_by(child, Signal::TERM);
        assert_eq!(status, Some(143), "{mode:?}, {bytes} bytes");
    }
    drop(reader);
    assert!(check_directory(&keys) > 0);
}

#[test]
fn signals_that_were_ignored_at_the_start_stay_ignored() {
    let script = "trap '' INT TERM; exec \"$0\" -t 1 --timeout 1s --json abcdefghijabcdefghij";
    let child =
        start(command("sh").args(["-c", script, executable()]).stdout(Stdio::piped()).stderr(Stdio::null()));
    std::thread::sleep(Duration::from_millis(500));
    for signal in [Signal::INT, Signal::TERM] {
        kill_process(Pid::from_child(&child), signal).unwrap();
    }
    let ran = child.end();
    assert_eq!(ran.status, Some(3), "{ran:?}");
}

#[test]
fn every_number_of_threads_ends_within_a_second() {
    within_a_second(|| {
        let directory = TempDir::new().unwrap();
        let mut search = program(&["-t", "1024", "--however-long", "abcdefghijabcdefghij", "-o"]);
        let search = search.arg(directory.path().join("key"));
        let child = start(search.stdout(Stdio::null()).stderr(Stdio::piped()));
        await_search(&child);
        let (status, stderr, took) = end_by(child, Signal::INT);
        assert_eq!(status, Some(130));
        let processors = std::thread::available_parallelism().unwrap().get();
        let note = format!("note: using {} threads", 32 * processors);
        assert!(processors >= 32 || stderr.contains(&note), "{stderr}");
        took
    });
}

#[test]
fn the_shortest_timeout_has_its_estimate() {
    let ran = run(&mut program(&["--json", "-q", "--timeout", "1ns", "abcdefghijabcdefghij"]));
    let objects = objects(&ran.stdout);
    assert_eq!(ran.status, Some(3), "{ran:?}");
    positive(of_type(&objects, "estimate")[0], "seconds_50");
    assert_eq!(of_type(&objects, "summary").len(), 1);
}
