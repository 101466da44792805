//! Signals that ask this process to end.
//!
//! These are all signals whose usual action ends a process, except those of faults. A signal that was
//! ignored when the process began stays ignored: `nohup` ignores SIGHUP, and a shell without job control
//! ignores SIGINT for a command in the background. A signal that was blocked then is heard nevertheless,
//! because nobody could end the program otherwise.

#![allow(unsafe_code, reason = "foreign calls")]

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use libc::{
    SIGALRM, SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGPIPE, SIGPROF, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU,
    SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ, sigset_t,
};
use vanity_search::search::{Signal, Stop};

const ENDING: [i32; 10] =
    [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU];

/// Those that only Linux has, or that end a process only there.
#[cfg(target_os = "linux")]
const ENDING_ON_LINUX: [i32; 3] = [libc::SIGIO, libc::SIGPWR, libc::SIGSTKFLT];
#[cfg(not(target_os = "linux"))]
const ENDING_ON_LINUX: [i32; 0] = [];

/// The size of the stack of the thread that hears signals, in bytes.
const STACK: usize = 64 << 10;

/// Returns a stop that signals request, for the whole process: all that end a process, except those of
/// faults. A signal that was ignored when the process began stays ignored. After
/// [`Stop::requested`] has returned the request, a further signal ends the process at once.
///
/// From then on, a write beyond the limit of a file's size (SIGXFSZ) or without a reader (SIGPIPE) is an
/// error of the write, and does not end the process. Programs that this process starts can be waited for,
/// even if its parent ignores SIGCHLD.
///
/// This thread and those that it starts block these signals, also those that were ignored, and one thread
/// waits for them. So no handler takes one away: the libraries of devices contain a compiler (LLVM) that has
/// handlers for most of them. A program that this process starts would inherit the mask: see
/// [`with_none_blocked`].
///
/// # Errors
///
/// Returns the error of the operating system if it refuses the mask, the descriptor or the thread.
pub fn stop_on_signals() -> io::Result<Stop> {
    let ending = || ENDING.into_iter().chain(ENDING_ON_LINUX);
    let awaited = set(ending().filter(|number| !is_ignored(*number)));
    // SAFETY: the call takes a number.
    let exit = |signal: Signal| unsafe { libc::_exit(signal.status().into()) };
    let stop = Stop::by_signals(exit, move || take(&awaited));
    if is_ignored(SIGCHLD) {
        // SAFETY: the default action needs no handler.
        unsafe { libc::signal(SIGCHLD, libc::SIG_DFL) };
    }
    block(&set(ending().chain([SIGPIPE, SIGXFSZ])))?;
    let hear = hearer(awaited, stop.clone())?;
    std::thread::Builder::new().name("signals".into()).stack_size(STACK).spawn(hear)?;
    Ok(stop)
}

/// Returns what the thread does that waits for signals of the set. It takes none that another thread could
/// miss: see [`Stop::hear`].
#[cfg(any(target_os = "linux", target_os = "android"))]
fn hearer(awaited: sigset_t, stop: Stop) -> io::Result<impl FnOnce() + Send> {
    use rustix::event::{PollFd, PollFlags, poll};
    use std::os::fd::{FromRawFd as _, OwnedFd};
    use std::time::Duration;

    // SAFETY: the call only reads the set, which is ours.
    let file = unsafe { libc::signalfd(-1, &raw const awaited, libc::SFD_CLOEXEC) };
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the file is open, and nobody else has it.
    let file = unsafe { OwnedFd::from_raw_fd(file) };
    Ok(move || {
        loop {
            // If the call fails, it must not fail all the time.
            if poll(&mut [PollFd::new(&file, PollFlags::IN)], None).is_err() {
                std::thread::sleep(Duration::from_millis(10));
            }
            stop.hear();
        }
    })
}

/// Returns what the thread does that waits for signals of the set.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn hearer(awaited: sigset_t, stop: Stop) -> io::Result<impl FnOnce() + Send> {
    Ok(move || {
        let mut number = 0;
        // SAFETY: the set and the place are ours. The call fails only for a set without signals.
        while unsafe { libc::sigwait(&raw const awaited, &raw mut number) } == 0 {
            stop.request(Signal::of(number));
        }
    })
}

/// Takes a signal of the set that has come: whoever asks for one, such as after the last command, need not
/// wait until the thread above has got a processor. macOS has no such call.
fn take(awaited: &sigset_t) -> Option<Signal> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call only reads the set and the time, which are ours.
        let number = unsafe { libc::sigtimedwait(awaited, std::ptr::null_mut(), &raw const at_once) };
        (number > 0).then(|| Signal::of(number))
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = awaited;
        None
    }
}

/// Lets the program of a command begin with no signal blocked.
pub(super) fn with_none_blocked(mut command: Command) -> Command {
    // SAFETY: the function only makes calls that may stand between fork and exec.
    unsafe { command.pre_exec(|| block(&set([]))) };
    command
}

/// The signal that [`StopSignals`] has taken, or 0.
static STOPPED: AtomicI32 = AtomicI32::new(0);

extern "C" fn note(number: i32) {
    STOPPED.store(number, Relaxed);
}

/// Takes the signals that stop this process or continue it, until this value is dropped. Those that were
/// ignored stay ignored.
pub(crate) struct StopSignals(Vec<(i32, libc::sigaction)>);

impl StopSignals {
    pub(crate) fn take() -> Self {
        STOPPED.store(0, Relaxed);
        let mut before = Vec::new();
        for number in [SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT].into_iter().filter(|number| !is_ignored(*number)) {
            let mut taken = action();
            taken.sa_sigaction = note as extern "C" fn(i32) as usize;
            taken.sa_flags = libc::SA_RESTART;
            let mut old = action();
            // SAFETY: the handler only stores a number, and both places are ours.
            if unsafe { libc::sigaction(number, &raw const taken, &raw mut old) } == 0 {
                before.push((number, old));
            }
        }
        Self(before)
    }

    /// Whether one of the signals has come.
    pub(crate) fn has_come(&self) -> bool {
        STOPPED.load(Relaxed) != 0
    }

    /// Lets the signals have their effect again, calls `before`, and then stops this process, if one of them
    /// should have done that. Returns when the process is continued.
    pub(crate) fn stop(self, before: impl FnOnce()) {
        drop(self);
        before();
        let number = STOPPED.swap(0, Relaxed);
        if number != 0 && number != SIGCONT {
            // SAFETY: the call takes a number.
            unsafe { libc::raise(number) };
        }
    }
}

impl Drop for StopSignals {
    fn drop(&mut self) {
        for (number, old) in &self.0 {
            // SAFETY: this is the action that the system has returned for the signal.
            unsafe { libc::sigaction(*number, old, std::ptr::null_mut()) };
        }
    }
}

/// Returns an action without a handler.
fn action() -> libc::sigaction {
    // SAFETY: all zeros are a valid value of this structure of numbers and pointers: the default action.
    unsafe { std::mem::zeroed() }
}

/// Whether the process ignores a signal.
fn is_ignored(number: i32) -> bool {
    let mut action = action();
    // SAFETY: without a new action the call only writes the present one to the place, which is ours.
    let asked = unsafe { libc::sigaction(number, std::ptr::null(), &raw mut action) };
    asked == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// Returns the set of these signals.
fn set(numbers: impl IntoIterator<Item = i32>) -> sigset_t {
    // SAFETY: all zeros are a valid value of this structure of numbers.
    let mut set: sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is ours.
    unsafe { libc::sigemptyset(&raw mut set) };
    for number in numbers {
        // SAFETY: the same. A number that the system does not have is no member.
        unsafe { libc::sigaddset(&raw mut set, number) };
    }
    set
}

/// Lets all signals but these arrive at this thread, and at those that it starts.
fn block(signals: &sigset_t) -> io::Result<()> {
    // SAFETY: the call only reads the set, which is ours.
    let result = unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, signals, std::ptr::null_mut()) };
    if result == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(result)) }
}
