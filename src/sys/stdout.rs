//! Stdout: what it is, and a write whose errors are all errors.
//!
//! The standard library's own stdout takes a write to a descriptor that cannot be written (EBADF) for a
//! success.

use std::io::{self, Write as _};

use super::patient::Patient;

/// Why stdout takes nothing that is written to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(windows, allow(dead_code, reason = "only the null device is known there"))]
pub enum TakesNothing {
    /// It is closed, or the null device.
    Null,
    /// It is open for reading only.
    ReadOnly,
    /// It is a device that is always full.
    Full,
    /// It is a device that discards what is written, such as `/dev/zero` or `/dev/urandom`.
    Discards,
}

/// Writes bytes to stdout. Returns when all of them are written.
///
/// # Errors
///
/// Returns the error of the operating system. Then any part of the bytes can be written.
pub fn write_stdout(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = Patient(io::stdout().lock());
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// Returns why stdout takes nothing, if that is known before a write.
#[cfg(unix)]
#[must_use]
pub fn stdout_takes_nothing() -> Option<TakesNothing> {
    use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat};
    let stdout = io::stdout();
    let (Ok(flags), Ok(found)) = (fcntl_getfl(&stdout), fstat(&stdout)) else {
        return Some(TakesNothing::Null);
    };
    let device = FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice;
    match device.then(|| memory_device(found.st_rdev)).flatten() {
        Some(device) => Some(device),
        None if flags & OFlags::RWMODE == OFlags::RDONLY => Some(TakesNothing::ReadOnly),
        None => None,
    }
}

/// Returns what the device of this number is, if it is one of those that keep nothing. Rust's runtime
/// opens the null device for a stdout that is closed at the start of the program.
#[cfg(unix)]
fn memory_device(number: rustix::fs::Dev) -> Option<TakesNothing> {
    let is = |path: &&str| rustix::fs::stat(*path).is_ok_and(|found| found.st_rdev == number);
    // Linux has all of them, and memory itself, under one number.
    let of_linux = cfg!(target_os = "linux").then(|| (rustix::fs::major(number), rustix::fs::minor(number)));
    match of_linux {
        Some((1, 3)) => Some(TakesNothing::Null),
        Some((1, 7)) => Some(TakesNothing::Full),
        Some((1, _)) => Some(TakesNothing::Discards),
        _ if is(&"/dev/null") => Some(TakesNothing::Null),
        _ if is(&"/dev/full") => Some(TakesNothing::Full),
        _ => ["/dev/zero", "/dev/random", "/dev/urandom"].iter().any(is).then_some(TakesNothing::Discards),
    }
}

/// Returns whether stdout is the null device, as a closed one is.
#[cfg(windows)]
#[must_use]
pub fn stdout_takes_nothing() -> Option<TakesNothing> {
    super::windows::takes_nothing(&io::stdout()).then_some(TakesNothing::Null)
}

/// Returns the error of a write to a stdout that is a pipe or a socket whose reader is gone.
#[must_use]
pub fn reader_gone() -> Option<io::Error> {
    #[cfg(unix)]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        use rustix::fs::{FileType, fstat};
        let stdout = io::stdout();
        let is_stream = fstat(&stdout).is_ok_and(|found| {
            matches!(FileType::from_raw_mode(found.st_mode), FileType::Fifo | FileType::Socket)
        });
        let mut polled = [PollFd::new(&stdout, PollFlags::empty())];
        let is_gone = is_stream
            && poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok()
            && polled[0].revents().intersects(PollFlags::ERR | PollFlags::HUP);
        is_gone.then(|| rustix::io::Errno::PIPE.into())
    }
    #[cfg(not(unix))]
    None
}
