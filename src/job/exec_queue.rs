//! Runs a shell command after each find that is kept: one at a time, in the order of finds.
//!
//! The commands run on a thread of their own, so that the search goes on meanwhile. Their queue has
//! no limit; a find takes less than a kilobyte in it. At the end the job waits until the queue is
//! empty, or until a signal ends the waiting.
//!
//! A command has the public data of its find in its environment. Its text is the same for every
//! find. Its stdin is the null device. Its stdout is our stderr, because our stdout belongs to keys
//! and results. It inherits no other open file, and no blocked signal (the standard library takes
//! care of that). It stays in our process group, so Ctrl-C in a terminal reaches it, too.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::error::JobError;
use super::parcel::Parcel;
use super::teller::Teller;
use crate::key::PublicKey;
use crate::notice::Notice;
use crate::plan::Diagnostic;
#[cfg(unix)]
use crate::search::Signal;
use crate::search::{End, PublicFind, Stop};
use crate::store::Kept;
use crate::sys;
use crate::words::counted;

/// How often the job looks for a signal while it waits for commands.
const POLL: Duration = Duration::from_millis(50);

/// How long the job waits before it says so.
const QUIET: Duration = Duration::from_secs(1);

/// How long Ctrl-C may take to reach one process after another.
const LATE: Duration = Duration::from_millis(500);

/// The most patterns that are listed by name.
const LISTED: usize = 10;

/// The variables of a command. A variable without a value is removed from the environment.
type Variables = [(&'static str, Option<OsString>); 7];

/// The commands of a search.
pub(super) struct ExecQueue {
    stop: Stop,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The commands that have not begun, and the names of their finds, the oldest first.
    waiting: VecDeque<(String, Variables)>,
    /// The name of the find whose command runs.
    running: Option<String>,
    /// Once the job waits for commands: the number of signals after which none begins. The first signal may
    /// have ended the search, and not the commands.
    most_signals: Option<usize>,
    /// The messages about commands that failed since the last report.
    failures: Vec<String>,
    /// The number of commands that have ended.
    ended: u64,
    /// The number of commands that failed.
    failed: u64,
}

impl State {
    /// Whether a signal has ended the waiting for commands, or the time limit.
    fn is_closed(&self, stop: &Stop) -> bool {
        self.most_signals.is_some_and(|most| stop.requests() > most || stop.is_over())
    }

    fn unfinished(&self) -> usize {
        self.waiting.len() + usize::from(self.running.is_some())
    }

    /// Takes the result of the command that runs.
    fn end(&mut self, result: io::Result<ExitStatus>) {
        self.ended += 1;
        let find = self.running.take();
        let why = match result {
            Ok(status) if status.success() => return,
            Ok(status) => status.to_string(),
            Err(error) => format!("cannot run it: {error}"),
        };
        self.failed += 1;
        // Without a name it was reported already.
        self.failures.extend(find.map(|find| format!("the command for {find} failed: {why}")));
    }

    /// Reports the commands that failed since the last call.
    fn report(&mut self, teller: &Teller) {
        self.failures.drain(..).for_each(|failure| teller.failure(failure));
    }
}

impl ExecQueue {
    /// Starts the thread that runs `command`.
    pub(super) fn start(command: &OsStr, stop: &Stop) -> Result<Arc<Self>, JobError> {
        let queue =
            Arc::new(Self { stop: stop.clone(), state: Mutex::default(), changed: Condvar::default() });
        let (command, own) = (command.to_owned(), Arc::clone(&queue));
        let thread = std::thread::Builder::new().name("commands".into()).spawn(move || own.work(&command));
        thread.map_err(JobError::Thread)?;
        Ok(queue)
    }

    /// Runs one command after the other, until no more may begin.
    fn work(&self, command: &OsStr) {
        let mut state = self.locked();
        while !state.is_closed(&self.stop) {
            let Some((find, variables)) = state.waiting.pop_front() else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            state.running = Some(find);
            drop(state);
            // The job waits for each command, so none may end the thread.
            let result = catch_unwind(AssertUnwindSafe(|| run(command, variables)))
                .unwrap_or_else(|_| Err(io::Error::other("the program panicked")));
            if result.as_ref().is_ok_and(is_interrupted) {
                self.await_signal();
            }
            state = self.locked();
            state.end(result);
            self.changed.notify_all();
        }
    }

    /// Waits for our own signal after Ctrl-C has ended a command, if the job waits for commands.
    /// Otherwise the next command could begin, or the job could end, before that signal arrives.
    fn await_signal(&self) {
        let until = Instant::now() + LATE;
        let is_awaited = |state: &State| state.most_signals.is_some() && !state.is_closed(&self.stop);
        while Instant::now() < until && is_awaited(&self.locked()) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Queues the command of a find that is kept, which has this name in messages.
    pub(super) fn add(&self, name: String, parcel: &Parcel, pattern: &str) {
        let variables = variables(&parcel.find, pattern, &parcel.comment, parcel.kept());
        self.locked().waiting.push_back((name, variables));
        self.changed.notify_all();
    }

    /// Reports the commands that failed since the last call.
    pub(super) fn report(&self, teller: &Teller) {
        self.locked().report(teller);
    }

    /// Waits for the commands. A signal that has not ended the search ends the waiting, and so does the
    /// time limit. Returns how the job has ended, if the search has ended as `searched`.
    pub(super) fn finish(&self, teller: &Teller, searched: Result<End, JobError>) -> Result<End, JobError> {
        let ended_search = matches!(searched, Ok(End::Signal(_)));
        let mut quiet_until = Some(Instant::now() + QUIET);
        let mut state = self.locked();
        state.most_signals = Some(ended_search.into());
        while state.unfinished() > 0 {
            if state.is_closed(&self.stop) {
                drop(state);
                self.give_up(teller);
                let end = |end| if ended_search { end } else { self.stop.requested().unwrap_or(end) };
                return searched.map(end);
            }
            if quiet_until.take_if(|until| *until <= Instant::now()).is_some() {
                let commands = counted(state.unfinished() as u64, "command");
                teller.notice(Notice::info(format!("waiting for {commands}; Ctrl-C ends the waiting")));
            }
            state = self.changed.wait_timeout(state, POLL).unwrap_or_else(PoisonError::into_inner).0;
            state.report(teller);
        }
        state.report(teller);
        match (searched, self.stop.requested()) {
            // It may have come after the last command.
            (Ok(End::Complete | End::Timeout), Some(end @ End::Signal(_))) => Ok(end),
            (Ok(End::Complete | End::Timeout), _) if state.failed > 0 => {
                Err(JobError::CommandsFailed { failed: state.failed, of: state.ended })
            }
            (searched, _) => searched,
        }
    }

    /// Reports the commands that will not run.
    pub(super) fn give_up(&self, teller: &Teller) {
        let mut state = self.locked();
        let waiting = std::mem::take(&mut state.waiting);
        // The signal often ends the command, too.
        let ended = self.changed.wait_timeout_while(state, LATE, |state| state.running.is_some());
        let mut state = ended.unwrap_or_else(PoisonError::into_inner).0;
        state.report(teller);
        if let Some(running) = state.running.take() {
            teller.failure(format!("did not wait for the command for {running}"));
        }
        if !waiting.is_empty() {
            teller.failure(not_run(waiting.iter().map(|(find, _)| &**find)));
        }
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the message about the commands for finds with these names that did not run.
pub(super) fn not_run<'a>(finds: impl ExactSizeIterator<Item = &'a str>) -> String {
    let all = finds.len();
    let mut listed: Vec<String> = finds.take(LISTED).map(str::to_owned).collect();
    if let Some(more @ 1..) = all.checked_sub(LISTED) {
        listed.push(format!("{more} more"));
    }
    format!("did not run {}, for {}", counted(all as u64, "command"), listed.join(", "))
}

/// Checks that the system takes a command with the data of any key: the lengths of arguments and of
/// variables are limited. `pattern` and `comment` are the longest ones. Runs a shell that does nothing.
pub(super) fn check(command: &OsStr, pattern: &str, comment: &str) -> Result<(), Diagnostic> {
    let find = PublicFind {
        public_key: PublicKey([0; 32]),
        patterns: Vec::new(),
        attempts: u64::MAX,
        elapsed: Duration::MAX,
    };
    let mut shell = shell(OsStr::new(if cfg!(windows) { "exit" } else { ":" }));
    if cfg!(unix) {
        shell.arg(command);
    }
    set(&mut shell, variables(&find, pattern, comment, None));
    let ran = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    ran.map(drop).map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::NotFound => {
                Some(format!("no directory of PATH has {}, which runs it", shell.get_program().display()))
            }
            // Windows reports a command line that is too long as a file name that is.
            io::ErrorKind::ArgumentListTooLong | io::ErrorKind::InvalidFilename => {
                Some("shorten the command, the pattern or the comment".to_owned())
            }
            _ => None,
        };
        Diagnostic::new(format!("cannot run a command after each key: {error}")).hints(hint)
    })
}

fn variables(find: &PublicFind, pattern: &str, comment: &str, kept: Option<&Kept>) -> Variables {
    let file = |file: &Path| Some(plain_word(file));
    [
        // A variable cannot hold a NUL.
        ("VANITY_PATTERN", Some(pattern.replace('\0', " ").into())),
        ("VANITY_PUBLIC_KEY", Some(find.public_key.line(comment).into())),
        ("VANITY_FINGERPRINT", Some(find.public_key.fingerprint().into())),
        ("VANITY_PRIVATE_KEY_FILE", kept.and_then(|kept| file(&kept.private_file))),
        ("VANITY_PUBLIC_KEY_FILE", kept.and_then(|kept| file(&kept.public_file))),
        ("VANITY_ATTEMPTS", Some(find.attempts.to_string().into())),
        ("VANITY_SECONDS", Some(format!("{:.3}", find.elapsed.as_secs_f64()).into())),
    ]
}

fn set(shell: &mut Command, variables: Variables) {
    for (name, value) in variables {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
}

/// Runs the command to its end.
fn run(command: &OsStr, variables: Variables) -> io::Result<ExitStatus> {
    let mut shell = shell(command);
    set(&mut shell, variables);
    shell.stdin(Stdio::null()).stdout(io::stderr()).status()
}

/// Whether SIGINT ended a command.
#[cfg(unix)]
fn is_interrupted(status: &ExitStatus) -> bool {
    std::os::unix::process::ExitStatusExt::signal(status) == Some(Signal::INTERRUPT.number())
}

/// Whether Ctrl-C ended a command (`STATUS_CONTROL_C_EXIT`).
#[cfg(windows)]
fn is_interrupted(status: &ExitStatus) -> bool {
    status.code() == Some(0xc000_013a_u32.cast_signed())
}

#[cfg(not(windows))]
fn shell(command: &OsStr) -> Command {
    let mut shell = sys::command("sh");
    shell.arg("-c").arg(command);
    shell
}

/// `/S` takes the quotes away, and nothing else.
#[cfg(windows)]
fn shell(command: &OsStr) -> Command {
    use std::os::windows::process::CommandExt as _;
    let mut quoted = OsString::from("\"");
    quoted.push(command);
    quoted.push("\"");
    let mut shell = sys::command("cmd");
    shell.args(["/D", "/S", "/C"]).raw_arg(quoted);
    shell
}

/// Returns a path that no program takes for an option.
fn plain_word(path: &Path) -> OsString {
    if path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        Path::new(".").join(path).into()
    } else {
        path.into()
    }
}
