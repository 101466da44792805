//! Every signal that ends a process, and the time limit, end the program in good order and within a
//! second, whatever it does.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::program::{
    ENDLESS, NEVER, Ran, Running, check_pair, command, executable, objects, of_type, program, run, start,
    text, wait_until, whole, within_a_second,
};
use crate::require;

/// The signals whose usual action ends a process, except those of faults, and their exit status.
const ENDING: [(&str, u8); 13] = [
    ("HUP", 129),
    ("INT", 130),
    ("QUIT", 131),
    ("USR1", 138),
    ("USR2", 140),
    ("ALRM", 142),
    ("TERM", 143),
    ("STKFLT", 144),
    ("XCPU", 152),
    ("VTALRM", 154),
    ("PROF", 155),
    ("IO", 157),
    ("PWR", 158),
];

/// Sends a signal by its name.
fn send(child: &Running, name: &str) {
    let number = ENDING.iter().find(|(ending, _)| *ending == name).unwrap().1 - 128;
    kill_process(Pid::from_child(child), Signal::from_named_raw(number.into()).unwrap()).unwrap();
}

/// Panics if a thread of the process does not block these signals: a handler of a library could take one away
/// there.
pub fn check_masks(child: &Running) {
    let ending = ENDING.iter().fold(0_u64, |mask, (_, status)| mask | 1 << (status - 129));
    for thread in fs::read_dir(format!("/proc/{}/task", child.id())).unwrap() {
        // A thread can end meanwhile.
        let Ok(status) = fs::read_to_string(thread.unwrap().path().join("status")) else { continue };
        let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:\t")).unwrap();
        assert_eq!(u64::from_str_radix(blocked, 16).unwrap() & ending, ending, "{status}");
    }
}

/// Returns the program as `env` starts it with an option about signals. Without such an `env` the test
/// is skipped.
fn with_signals(option: &str, args: &[&str]) -> Option<Command> {
    let env = require::tool("env")?;
    if run(command(&env).args([option, "true"])).status != Some(0) {
        require::missing("env --block-signal");
        return None;
    }
    let mut search = command(env);
    search.args([option, executable()]).args(args).current_dir(env!("CARGO_TARGET_TMPDIR"));
    Some(search)
}

/// Starts a search and waits until it has printed the odds, and so has begun.
fn begun(search: &mut Command) -> Running {
    let mut child = start(search.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut stderr = BufReader::with_capacity(1, child.stderr.take().unwrap());
    assert_ne!(stderr.read_line(&mut String::new()).unwrap(), 0);
    child.stderr = Some(stderr.into_inner());
    child
}

#[test]
fn every_signal_that_ends_a_process_ends_a_search_in_good_order() {
    for (name, status) in ENDING {
        within_a_second(|| {
            let child = begun(&mut program(&["--json", "-t", "1", "--however-long", NEVER]));
            check_masks(&child);
            send(&child, name);
            let sent = Instant::now();
            let ran = child.end();
            assert_eq!(ran.status, Some(status.into()), "{name}: {ran:?}");
            let objects = objects(&ran.stdout);
            assert_eq!(text(of_type(&objects, "summary")[0], "reason"), "signal", "{name}");
            sent.elapsed()
        });
    }
}

#[test]
fn signals_that_the_parent_ignored_stay_ignored_and_blocked_ones_do_not_stay_blocked() {
    for (name, status) in ENDING.into_iter().filter(|(name, _)| ["INT", "TERM", "USR1"].contains(name)) {
        let args = ["-t", "1", "--however-long", NEVER];
        let Some(mut ignoring) = with_signals(&format!("--ignore-signal={name}"), &args) else { return };
        let child = begun(&mut ignoring);
        send(&child, name);
        send(&child, if name == "TERM" { "INT" } else { "TERM" });
        assert_eq!(child.end().status, Some(if name == "TERM" { 130 } else { 143 }), "{name} is ignored");
        let Some(mut blocking) = with_signals(&format!("--block-signal={name}"), &args) else { return };
        let child = begun(&mut blocking);
        send(&child, name);
        assert_eq!(child.end().status, Some(status.into()), "{name} was blocked");
    }
}

/// A parent that ignores SIGCHLD would leave nobody to wait for.
#[test]
fn a_command_runs_although_the_parent_ignores_the_end_of_children() {
    let directory = TempDir::new().unwrap();
    let Some(mut search) =
        with_signals("--ignore-signal=CHLD", &["-q", "ab", "--exec", "echo ran", "-o", "k"])
    else {
        return;
    };
    let ran = run(search.current_dir(&directory));
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), "ran\n"));
    check_pair(&directory.path().join("k"));
}

/// Makes a FIFO that nobody writes to.
fn fifo(directory: &TempDir) -> String {
    let path = directory.path().join("fifo");
    assert_eq!(run(command("mkfifo").arg(&path)).status, Some(0));
    path.to_str().unwrap().to_owned()
}

fn in_time(ran: impl Fn() -> (Ran, Duration), status: i32, message: &str) {
    within_a_second(|| {
        let (ran, took) = ran();
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(status), message));
        took
    });
}

const TOO_LATE: &str = "error: the time limit ended the program before the search\n";

/// The program waits for ever where it opens or reads something: a passphrase, patterns from a FIFO or
/// from stdin.
#[test]
fn nothing_that_is_read_before_the_search_delays_a_signal_or_the_time_limit() {
    let directory = TempDir::new().unwrap();
    let fifo = fifo(&directory);
    let waits: [&[&str]; 4] = [
        &["--passphrase-file", &fifo, "ab"],
        &["-f", &fifo],
        &["-f", "-"],
        &["--passphrase-file", "-", "ab"],
    ];
    for args in waits {
        let begin = |more: &[&str]| {
            let mut search = program(args);
            start(search.args(more).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()))
        };
        in_time(
            || {
                let began = Instant::now();
                let mut child = begin(&["--timeout", "300ms"]);
                let stdin = child.stdin.take();
                let ran = child.end();
                drop(stdin);
                (ran, began.elapsed().saturating_sub(Duration::from_millis(300)))
            },
            3,
            TOO_LATE,
        );
        for (signal, status) in [("TERM", 143), ("USR1", 138)] {
            in_time(
                || {
                    let mut child = begin(&[]);
                    let stdin = child.stdin.take();
                    std::thread::sleep(Duration::from_millis(300));
                    send(&child, signal);
                    let sent = Instant::now();
                    let ran = child.end();
                    drop(stdin);
                    (ran, sent.elapsed())
                },
                status,
                "",
            );
        }
    }
}

/// An estimate that nobody reads holds up nothing.
#[test]
fn printing_to_a_reader_that_does_not_read_delays_neither_signal_nor_time_limit() {
    for (more, status) in [(&["--timeout", "2s"][..], 3), (&[], 143)] {
        within_a_second(|| {
            let (_reader, writer) = crate::program::full_pipe();
            let mut search = program(&["--estimate", "--json", "-t", "1", "--engine", "reference", "abc"]);
            let mut child = start(search.args(more).stdout(writer).stderr(Stdio::null()));
            std::thread::sleep(Duration::from_secs(2));
            let sent = Instant::now();
            if more.is_empty() {
                assert!(child.try_wait().unwrap().is_none());
                send(&child, "TERM");
            }
            assert_eq!(child.end().status, Some(status));
            sent.elapsed()
        });
    }
}

/// It is the time that passes, whether or not the process works.
#[test]
fn time_in_which_the_process_is_stopped_counts_for_the_limit() {
    let child = begun(&mut program(&["--json", "-t", "1", "--timeout", "3s", NEVER]));
    let began = Instant::now();
    kill_process(Pid::from_child(&child), Signal::STOP).unwrap();
    std::thread::sleep(Duration::from_secs(3));
    kill_process(Pid::from_child(&child), Signal::CONT).unwrap();
    let ran = child.end();
    assert_eq!(ran.status, Some(3));
    assert!(began.elapsed() < Duration::from_millis(5500), "{:?}", began.elapsed());
}

/// Ends the command that the program has left alone. It holds stderr open.
fn end_command(directory: &TempDir) {
    let process = fs::read_to_string(directory.path().join("pid")).unwrap();
    kill_process(Pid::from_raw(process.trim().parse().unwrap()).unwrap(), Signal::KILL).unwrap();
}

/// The second signal ends the waiting for commands, however soon it comes.
#[test]
fn a_second_signal_soon_after_the_first_ends_the_waiting_for_commands() {
    for pause in [50, 100, 200] {
        within_a_second(|| {
            let directory = TempDir::new().unwrap();
            let slow = "echo $$ > pid; exec sleep 60";
            let mut search = program(&["-t", "1", "-n", ENDLESS, "abc", "-d", "keys", "--exec", slow]);
            search.current_dir(&directory).stdout(Stdio::null()).stderr(Stdio::piped());
            let mut child = start(&mut search);
            let pid = directory.path().join("pid");
            wait_until("a command runs", || fs::read(&pid).is_ok_and(|pid| pid.ends_with(b"\n")));
            send(&child, "INT");
            std::thread::sleep(Duration::from_millis(pause));
            send(&child, "INT");
            let sent = Instant::now();
            wait_until("the program has ended", || child.try_wait().unwrap().is_some());
            let took = sent.elapsed();
            assert_eq!(child.wait().unwrap().code(), Some(130), "{pause} ms");
            end_command(&directory);
            // A command that runs may have half a second.
            took.saturating_sub(Duration::from_millis(500))
        });
    }
}

/// Ctrl-C often comes when the last command has just ended by itself.
#[test]
fn a_signal_during_the_last_command_is_the_status() {
    let directory = TempDir::new().unwrap();
    let signal = "trap '' INT; kill -INT $PPID";
    let mut search = program(&["-q", "ab", "-o", "k", "--exec", signal]);
    let ran = run(search.current_dir(&directory));
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(130), ""));
    check_pair(&directory.path().join("k"));
}

/// The same if a thread that has taken the signal gets no processor for a while.
#[test]
fn a_signal_during_the_last_command_that_is_taken_late_is_the_status() {
    let Some(strace) = require::tool("strace") else { return };
    let directory = TempDir::new().unwrap();
    let mut traced = command(strace);
    traced.args(["-f", "-qq", "-o", "trace", "-e", "trace=rt_sigtimedwait"]);
    traced.args(["-e", "inject=rt_sigtimedwait:delay_exit=200000:when=1", executable(), "-q", "ab"]);
    traced.args(["-o", "k", "--exec", "trap '' INT; kill -INT $PPID"]);
    let ran = run(traced.current_dir(&directory));
    assert_eq!(ran.status, Some(130), "{ran:?}");
    check_pair(&directory.path().join("k"));
}

#[test]
fn too_few_open_files_to_hear_signals_are_an_error() {
    let Some(strace) = require::tool("strace") else { return };
    let directory = TempDir::new().unwrap();
    let mut traced = command(strace);
    traced.args(["-f", "-qq", "-o", "trace", "-e", "trace=signalfd4"]);
    traced.args(["-e", "inject=signalfd4:error=EMFILE", executable(), "ab", "-o", "k"]);
    let ran = run(traced.current_dir(&directory));
    let message = "error: cannot handle signals: Too many open files (os error 24)\n\
                   hint: raise the limit of open files (ulimit -n)\n";
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(2), message));
}

/// The time limit is that of the whole command, commands after finds included.
#[test]
fn the_time_limit_ends_the_waiting_for_commands() {
    let directory = TempDir::new().unwrap();
    let slow = "echo $$ > pid; exec sleep 60";
    let mut search = program(&["-q", "ab", "-o", "k", "--timeout", "2s", "--exec", slow]);
    let mut child = start(search.current_dir(&directory).stdout(Stdio::null()).stderr(Stdio::piped()));
    wait_until("the program has ended", || child.try_wait().unwrap().is_some());
    end_command(&directory);
    let ran = child.end();
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert_eq!(ran.stderr, "error: did not wait for the command for 'ab'\n");
    check_pair(&directory.path().join("k"));
}

/// Those that were found before are kept.
#[test]
fn a_time_limit_in_a_batch_keeps_what_was_found() {
    let directory = TempDir::new().unwrap();
    let mut search =
        program(&["--json", "-t", "1", "-n", ENDLESS, "--timeout", "00:01", "abcd", "-d", "keys"]);
    let ran = run(search.current_dir(&directory));
    assert_eq!(ran.status, Some(3), "{ran:?}");
    let objects = objects(&ran.stdout);
    let summary = of_type(&objects, "summary")[0];
    assert_eq!(text(summary, "reason"), "timeout");
    assert_eq!(whole(summary, "found"), of_type(&objects, "found").len() as u64);
}
