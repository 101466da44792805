//! This process: who can read its memory, which programs get its files, and where it runs.

use std::io;
use std::process::Command;

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

/// Returns the command of a program that begins as if a shell had started it: with stdin, stdout and stderr as
/// its only files, and with no signal blocked. The standard library keeps the files that it opens from other
/// programs, but not those that were open when this process began, such as that of a passphrase in `/dev/fd/3`.
pub fn command(program: &str) -> Command {
    #[cfg(unix)]
    {
        close_fds::set_fds_cloexec_threadsafe(3, &[]);
        super::signals::with_none_blocked(Command::new(program))
    }
    #[cfg(not(unix))]
    Command::new(program)
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn forbid_core_dumps_forbids_core_dumps_and_tracing() {
        use rustix::process::{DumpableBehavior, Resource, dumpable_behavior, getrlimit};

        forbid_core_dumps().unwrap();
        let limit = getrlimit(Resource::Core);
        assert_eq!((limit.current, limit.maximum), (Some(0), Some(0)));
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
    }
}
