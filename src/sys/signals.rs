//! Signals that ask this process to end.
//!
//! These are all signals whose usual action ends a process, except those of faults. A signal that was
//! ignored when the process began stays ignored: `nohup` ignores SIGHUP, and a shell without job control
//! ignores SIGINT for a command in the background. A signal that was blocked does not stay blocked, because
//! nobody could end the program then.

#![allow(unsafe_code, reason = "foreign calls")]

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use libc::{
    SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU,
    SIGXFSZ,
};
use signal_hook::iterator::Signals;
use signal_hook::{flag, low_level};

const ENDING: [i32; 10] =
    [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU];

/// Those that only Linux has, or that end a process only there.
#[cfg(target_os = "linux")]
const ENDING_ON_LINUX: [i32; 3] = [libc::SIGIO, libc::SIGPWR, libc::SIGSTKFLT];
#[cfg(not(target_os = "linux"))]
const ENDING_ON_LINUX: [i32; 0] = [];

/// The size of the stack of the thread that hears signals, in bytes.
const STACK: usize = 64 << 10;

/// Sets `last` to the number of each signal that asks this process to end, and calls `hear` with it on a
/// thread of its own.
///
/// From then on, a write beyond the limit of a file's size (SIGXFSZ) is an error of the write, and does not
/// end the process. Programs that this process starts can be waited for, even if its parent ignores SIGCHLD.
///
/// # Errors
///
/// Returns the error of the operating system if it refuses handlers or a thread.
pub(crate) fn on_ending_signals(
    last: &Arc<AtomicUsize>,
    mut hear: impl FnMut(i32) + Send + 'static,
) -> io::Result<()> {
    let ending = ENDING.into_iter().chain(ENDING_ON_LINUX).filter(|number| !is_ignored(*number));
    let ending: Vec<i32> = ending.collect();
    for &number in &ending {
        flag::register_usize(number, Arc::clone(last), number as usize)?;
    }
    flag::register(SIGXFSZ, Arc::default())?;
    if is_ignored(SIGCHLD) {
        flag::register(SIGCHLD, Arc::default())?;
    }
    let mut signals = Signals::new(&ending)?;
    let thread = std::thread::Builder::new().name("signals".into()).stack_size(STACK);
    thread.spawn(move || signals.forever().for_each(&mut hear))?;
    unblock()
}

/// Ends the process without anything else.
pub(crate) fn exit(status: u8) -> ! {
    low_level::exit(status.into())
}

/// Whether the process ignores a signal.
fn is_ignored(number: i32) -> bool {
    // SAFETY: all zeros are a valid value of this structure of numbers and pointers.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: without a new action the call only writes the present one to the place, which is ours.
    let asked = unsafe { libc::sigaction(number, std::ptr::null(), &raw mut action) };
    asked == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// Lets every signal arrive at this thread, and at those that it starts.
fn unblock() -> io::Result<()> {
    // SAFETY: all zeros are a valid value of this structure of numbers.
    let mut none: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is ours, and the calls write no other memory.
    let result = unsafe {
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut())
    };
    if result == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(result)) }
}
