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
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::error::JobError;
use super::teller::Teller;
use crate::key::PublicKey;
use crate::notice::Notice;
use crate::plan::Diagnostic;
#[cfg(unix)]
use crate::search::Signal;
use crate::search::{End, PublicFind, Stop};
use crate::store::Kept;
use crate::sys::close_files_on_exec;
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
    queue: Sender<Variables>,
    /// The results of the commands, in the order of the queue.
    results: Receiver<io::Result<ExitStatus>>,
    gate: Arc<Gate>,
    /// The names of the finds whose commands have no result, the oldest first.
    unfinished: VecDeque<String>,
    /// The number of commands with a result.
    finished: u64,
    /// The number of commands that failed.
    failed: u64,
}

/// Decides whether another command may begin.
struct Gate {
    stop: Stop,
    /// The number of signals after which no command begins. The first one may end the search, and not the
    /// commands.
    most_signals: AtomicUsize,
    /// The number of commands that have begun.
    begun: AtomicU64,
}

impl Gate {
    /// Whether the job waits for commands.
    fn is_waiting(&self) -> bool {
        self.most_signals.load(Relaxed) != usize::MAX
    }

    /// Whether a signal has ended the waiting for commands, or the time limit.
    fn is_closed(&self) -> bool {
        self.stop.requests() > self.most_signals.load(Relaxed) || self.is_waiting() && self.stop.is_over()
    }

    /// Counts a command that begins. Returns false if it must not begin.
    fn pass(&self) -> bool {
        let may_begin = !self.is_closed();
        self.begun.fetch_add(u64::from(may_begin), Relaxed);
        may_begin
    }

    /// Waits for our own signal after Ctrl-C has ended a command, if the job waits for commands.
    /// Otherwise the next command could begin, or the job could end, before that signal arrives.
    fn await_signal(&self) {
        let until = Instant::now() + LATE;
        while self.is_waiting() && !self.is_closed() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl ExecQueue {
    /// Starts the thread that runs `command`.
    pub(super) fn start(command: &OsStr, stop: &Stop) -> Result<Self, JobError> {
        close_files_on_exec();
        let (queue, finds) = channel::<Variables>();
        let (finished, results) = channel();
        let (most_signals, begun) = (AtomicUsize::new(usize::MAX), AtomicU64::new(0));
        let gate = Arc::new(Gate { stop: stop.clone(), most_signals, begun });
        let (command, entry) = (command.to_owned(), Arc::clone(&gate));
        let work = move || {
            for variables in finds {
                if !entry.pass() {
                    return;
                }
                let result = run(&command, variables);
                if result.as_ref().is_ok_and(is_interrupted) {
                    entry.await_signal();
                }
                if finished.send(result).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("commands".into()).spawn(work);
        thread.map_err(JobError::Thread)?;
        Ok(Self { queue, results, gate, unfinished: VecDeque::new(), finished: 0, failed: 0 })
    }

    /// Queues the command of a find that is kept, which has this name in messages. `kept` has its files,
    /// if it went to files.
    pub(super) fn add(
        &mut self,
        name: String,
        find: &PublicFind,
        pattern: &str,
        comment: &str,
        kept: Option<&Kept>,
    ) {
        let variables = variables(find, pattern, comment, kept);
        self.unfinished.push_back(name);
        // If the thread is gone, `finish` reports that.
        let _ = self.queue.send(variables);
    }

    /// Reports the commands that failed since the last call.
    pub(super) fn report(&mut self, teller: &Teller) {
        while let Ok(result) = self.results.try_recv() {
            self.take(result, teller);
        }
    }

    /// Waits for the commands. A signal that has not ended the search ends the waiting, and so does the
    /// time limit. Returns how the job has ended, if the search has ended as `searched`.
    pub(super) fn finish(
        mut self,
        stop: &Stop,
        teller: &Teller,
        searched: Result<End, JobError>,
    ) -> Result<End, JobError> {
        self.report(teller);
        let ended_search = matches!(searched, Ok(End::Signal(_)));
        self.gate.most_signals.store(ended_search.into(), Relaxed);
        let mut quiet_until = Some(Instant::now() + QUIET);
        while !self.unfinished.is_empty() {
            if self.gate.is_closed() {
                self.give_up(teller);
                return searched.map(|end| if ended_search { end } else { stop.requested().unwrap_or(end) });
            }
            if quiet_until.take_if(|until| *until <= Instant::now()).is_some() {
                let commands = counted(self.unfinished.len() as u64, "command");
                teller.notice(Notice::info(format!("waiting for {commands}; Ctrl-C ends the waiting")));
            }
            match self.results.recv_timeout(POLL) {
                Ok(result) => self.take(result, teller),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if self.gate.is_closed() => {}
                // The thread has panicked.
                Err(RecvTimeoutError::Disconnected) => return searched.and(Err(JobError::Panic)),
            }
        }
        match (searched, stop.requested()) {
            // It may have come after the last command.
            (Ok(End::Complete | End::Timeout), Some(end @ End::Signal(_))) => Ok(end),
            (Ok(End::Complete | End::Timeout), _) if self.failed > 0 => {
                Err(JobError::CommandsFailed { failed: self.failed, of: self.finished })
            }
            (searched, _) => searched,
        }
    }

    fn take(&mut self, result: io::Result<ExitStatus>, teller: &Teller) {
        self.finished += 1;
        let find = self.unfinished.pop_front().unwrap_or_default();
        let why = match result {
            Ok(status) if status.success() => return,
            Ok(status) => status.to_string(),
            Err(error) => format!("cannot run it: {error}"),
        };
        self.failed += 1;
        teller.failure(format!("the command for {find} failed: {why}"));
    }

    /// Reports the commands that will not run.
    pub(super) fn give_up(&mut self, teller: &Teller) {
        self.report(teller);
        let is_running = |hooks: &Self| hooks.gate.begun.load(Relaxed) > hooks.finished;
        if is_running(self) {
            // The signal often ends the command, too.
            let ended = self.results.recv_timeout(LATE);
            ended.into_iter().for_each(|result| self.take(result, teller));
        }
        if is_running(self) {
            let running = self.unfinished.pop_front().unwrap_or_default();
            teller.failure(format!("did not wait for the command for {running}"));
        }
        if self.unfinished.is_empty() {
            return;
        }
        teller.failure(not_run(self.unfinished.iter().map(String::as_str)));
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
    let mut shell = Command::new("sh");
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
    let mut shell = Command::new("cmd");
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
