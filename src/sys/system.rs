//! Calls of the system: protection of the process's memory, which holds seeds, random bytes, a clock,
//! and the name of the machine.

use std::io;
use std::time::Duration;

/// The error of the operating system's generator.
pub type RandomnessError = io::Error;

/// Switches core dumps off (`RLIMIT_CORE` 0, on Unix) and forbids other processes of the same user
/// to trace this one or read its memory (`PR_SET_DUMPABLE` 0, on Linux). Elsewhere it does nothing.
///
/// # Errors
///
/// Returns the error of the operating system if it refuses.
pub fn forbid_core_dumps() -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    }
    // The limit alone is not enough. A core_pattern that pipes to a program ignores it.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    Ok(())
}

/// Returns the time since a moment in the past. It goes on while the process is stopped or the machine
/// sleeps, and nobody can set it.
#[must_use]
pub fn clock() -> Duration {
    #[cfg(unix)]
    {
        use rustix::time::{ClockId, clock_gettime};
        // Elsewhere than on Linux this clock goes on while the machine sleeps.
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let id = ClockId::Monotonic;
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let id = ClockId::Boottime;
        clock_gettime(id).try_into().unwrap_or_default()
    }
    #[cfg(not(unix))]
    {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        START.get_or_init(std::time::Instant::now).elapsed()
    }
}

/// Whether this process works in the background of the terminal at stderr, whose shell shows its prompt
/// there.
#[must_use]
pub fn is_in_background() -> bool {
    #[cfg(unix)]
    {
        let shown = rustix::termios::tcgetpgrp(std::io::stderr());
        shown.is_ok_and(|group| group != rustix::process::getpgrp())
    }
    #[cfg(not(unix))]
    false
}

/// Keeps all open files but stdin, stdout and stderr from programs that this process runs. Files
/// that the standard library opens are kept from them anyway, but not files that were open when
/// this process began, such as that of a passphrase in `/dev/fd/3`.
pub fn close_files_on_exec() {
    #[cfg(unix)]
    close_fds::set_fds_cloexec_threadsafe(3, &[]);
}

/// Fills `bytes` with random bytes from the operating system's generator.
///
/// If the system has no call for that, or a filter refuses it, the bytes come from `/dev/urandom`.
/// That must be the device itself: in an image without devices it can be a regular file, which gives
/// every run the same bytes.
///
/// # Errors
///
/// Returns the error of the operating system.
pub fn fill_random(bytes: &mut [u8]) -> Result<(), RandomnessError> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::io::Errno;
        use rustix::rand::{GetRandomFlags, getrandom};
        let mut filled = 0;
        while filled < bytes.len() {
            match getrandom(&mut bytes[filled..], GetRandomFlags::empty()) {
                Ok(more) => filled += more,
                Err(Errno::INTR) => {}
                Err(Errno::NOSYS | Errno::PERM) => return fill_from_device(bytes),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        getrandom::fill(bytes).map_err(|error| io::Error::other(error.to_string()))
    }
}

/// Fills `bytes` from the device of random bytes.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn fill_from_device(bytes: &mut [u8]) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::fs::{FileType, fstat, makedev};
    use std::fs::File;
    const PATH: &str = "/dev/urandom";
    let failed = |what: String| io::Error::other(format!("getrandom is refused, and {PATH} {what}"));
    // The numbers are those of the kernel's list of devices.
    let is_device = |file: &File, minor| {
        fstat(file).is_ok_and(|found| {
            FileType::from_raw_mode(found.st_mode).is_char_device() && found.st_rdev == makedev(1, minor)
        })
    };
    let mut urandom = File::open(PATH).map_err(|error| failed(format!("cannot be opened: {error}")))?;
    if !is_device(&urandom, 9) {
        return Err(failed("is not the random device".to_owned()));
    }
    // /dev/urandom does not wait until the generator has its seed, and /dev/random does.
    if let Some(random) = File::open("/dev/random").ok().filter(|random| is_device(random, 8)) {
        while let Err(error) = poll(&mut [PollFd::new(&random, PollFlags::IN)], None) {
            if error != rustix::io::Errno::INTR {
                return Err(error.into());
            }
        }
    }
    io::Read::read_exact(&mut urandom, bytes)
}

/// Draws this thread's keys for hash maps. Without this, the standard library draws them for the
/// first map, and panics if the operating system's generator fails then. A few failures do not matter.
///
/// # Errors
///
/// Returns an error if the generator goes on failing.
pub fn draw_hash_keys() -> Result<(), RandomnessError> {
    const TRIES: usize = 3;
    // The hook is the whole process's.
    static ONE_THREAD: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _guard = ONE_THREAD.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let is_drawn = (0..TRIES).any(|_| std::panic::catch_unwind(std::hash::RandomState::new).is_ok());
    std::panic::set_hook(hook);
    is_drawn.then_some(()).ok_or_else(|| io::Error::other("it gives no keys for hash maps"))
}

/// Returns the name of this machine, if the system gives one.
#[must_use]
pub fn host_name() -> Option<String> {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_str().ok().map(str::to_owned);
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").ok();
    name.filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn forbid_core_dumps_forbids_core_dumps_and_tracing() {
        use rustix::process::{DumpableBehavior, Resource, dumpable_behavior, getrlimit};

        forbid_core_dumps().unwrap();
        let limit = getrlimit(Resource::Core);
        assert_eq!((limit.current, limit.maximum), (Some(0), Some(0)));
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
    }

    #[test]
    fn the_clock_goes_on_while_the_process_sleeps() {
        let (before, pause) = (clock(), Duration::from_millis(20));
        std::thread::sleep(pause);
        assert!(clock() - before >= pause);
    }
}
