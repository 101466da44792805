//! Reads a secret line from the terminal, which does not show it.
//!
//! The terminal itself edits the line, as it does for ssh and openssl. So this program reads the
//! same bytes as they do. One buffer holds these bytes, and it is wiped.
//!
//! The package `rpassword` cannot serve here, because no signal and no time limit ends its blocking
//! read, it ignores Ctrl-Z, a terminal that hangs up ends the line as Enter does, and its growing
//! buffer leaves copies of what was typed.

use std::io;

use zeroize::Zeroizing;

/// The controlling terminal, even if stdin, stdout and stderr are redirected.
pub struct Terminal {
    #[cfg(unix)]
    file: std::fs::File,
    #[cfg(windows)]
    console: crate::sys::windows::Console,
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io::{Read as _, Write as _};
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

    use super::{Terminal, Zeroizing, io};
    use crate::sys::signals::StopSignals;

    /// The time between two questions to the caller whether to stop.
    const TICK: Duration = Duration::from_millis(50);

    /// The size of the buffer in bytes. It is more than a line of a terminal can have: 4095 bytes
    /// and the line ending on Linux, fewer elsewhere.
    const LONGEST_LINE: usize = 8192;

    impl Terminal {
        /// Opens the controlling terminal.
        ///
        /// # Errors
        ///
        /// Returns the error of the operating system, usually because there is no terminal.
        pub fn open() -> io::Result<Self> {
            File::options().read(true).write(true).open("/dev/tty").map(|file| Self { file })
        }

        /// Shows `prompt` and reads a line, without its line ending. Calls `is_stopped` after each
        /// [`TICK`] at the latest. If a signal stops the process, such as Ctrl-Z, its terminal is as it was
        /// before, and the prompt is shown again when the process continues.
        ///
        /// # Errors
        ///
        /// Returns the error of the operating system, or [`io::ErrorKind::Interrupted`] if the caller stops the
        /// prompt. The modes of the terminal are restored in every case.
        pub fn ask(
            &mut self,
            prompt: &str,
            mut is_stopped: impl FnMut() -> bool,
        ) -> io::Result<Zeroizing<Vec<u8>>> {
            loop {
                // In the background this stops the process until it is in the foreground.
                let hidden = Hidden::new(&self.file)?;
                let signals = StopSignals::take();
                match self.answer(prompt, &mut is_stopped, &signals) {
                    Ok(Some(line)) => return Ok(line),
                    Ok(None) => signals.stop(|| drop(hidden)),
                    Err(error) => {
                        // Without Enter, the terminal has not ended the line of the prompt. A terminal
                        // that is stopped takes nothing, and one that has hung up does not matter.
                        if is_ready(&self.file, PollFlags::OUT).unwrap_or(false) {
                            let _ = (&self.file).write_all(b"\n");
                        }
                        return Err(error);
                    }
                }
            }
        }

        /// Shows `prompt` and reads a line. Returns `None` if the process must stop first, or was stopped.
        fn answer(
            &self,
            prompt: &str,
            is_stopped: &mut impl FnMut() -> bool,
            signals: &StopSignals,
        ) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
            let mut file = &self.file;
            let mut is_ready_for = |what| -> io::Result<bool> {
                while !signals.has_come() {
                    if is_stopped() {
                        return Err(io::ErrorKind::Interrupted.into());
                    }
                    if is_ready(file, what)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            };
            if !is_ready_for(PollFlags::OUT)? {
                return Ok(None);
            }
            file.write_all(prompt.as_bytes())?;
            // The buffer is never reallocated, so no copy remains.
            let mut line = Zeroizing::new(vec![0; LONGEST_LINE]);
            let mut len = 0;
            while len < line.len() && !line[..len].ends_with(b"\n") {
                if !is_ready_for(PollFlags::IN)? {
                    return Ok(None);
                }
                match file.read(&mut line[len..]) {
                    Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    Ok(read) => len += read,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            let ending = usize::from(line[..len].ends_with(b"\n"));
            line.truncate(len - ending);
            Ok(Some(line))
        }

        /// Shows a line.
        ///
        /// # Errors
        ///
        /// Returns the error of the operating system.
        pub fn show(&mut self, line: &str) -> io::Result<()> {
            self.file.write_all(format!("{line}\n").as_bytes())
        }
    }

    /// Waits for input, or for room for output, at most one tick. Returns whether there is some.
    fn is_ready(file: &File, what: PollFlags) -> io::Result<bool> {
        let mut polled = [PollFd::new(file, what)];
        let tick = Timespec { tv_sec: 0, tv_nsec: TICK.subsec_nanos().into() };
        match poll(&mut polled, Some(&tick)) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Hides what is typed, except the line ending, until it is dropped.
    struct Hidden<'a> {
        terminal: &'a File,
        /// The modes to restore.
        before: Termios,
    }

    impl<'a> Hidden<'a> {
        fn new(terminal: &'a File) -> io::Result<Self> {
            let before = tcgetattr(terminal)?;
            let mut modes = before.clone();
            modes.local_modes.remove(LocalModes::ECHO);
            modes.local_modes.insert(LocalModes::ICANON | LocalModes::ISIG | LocalModes::ECHONL);
            let hidden = Self { terminal, before };
            // The terminal has shown what was typed before, so this discards it.
            tcsetattr(terminal, OptionalActions::Flush, &modes)?;
            // The call also succeeds if it has made only some of the changes.
            if tcgetattr(terminal)?.local_modes.contains(LocalModes::ECHO) {
                return Err(io::Error::other("the terminal cannot hide what is typed"));
            }
            Ok(hidden)
        }
    }

    impl Drop for Hidden<'_> {
        fn drop(&mut self) {
            // This also discards what was typed and not read, so that no other program reads it.
            let _ = tcsetattr(self.terminal, OptionalActions::Flush, &self.before);
        }
    }
}

#[cfg(windows)]
mod windows {
    use std::time::{Duration, Instant};

    use super::{Terminal, Zeroizing, io};
    use crate::sys::windows::Console;

    /// How long after Ctrl-C its event may take to arrive. The event has a thread of its own.
    const LATE: Duration = Duration::from_millis(500);

    impl Terminal {
        /// Opens the console.
        ///
        /// # Errors
        ///
        /// Returns the error of the operating system, usually because there is no console.
        pub fn open() -> io::Result<Self> {
            Console::open().map(|console| Self { console })
        }

        /// Shows `prompt` and reads a line, without its line ending. Asks `is_stopped` now and
        /// then.
        ///
        /// # Errors
        ///
        /// Returns the error of the operating system, or [`io::ErrorKind::Interrupted`] if the caller stops the
        /// prompt. The mode of the console is restored in every case.
        pub fn ask(
            &mut self,
            prompt: &str,
            mut is_stopped: impl FnMut() -> bool,
        ) -> io::Result<Zeroizing<Vec<u8>>> {
            if is_stopped() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let line = self.console.hidden_line(prompt, &mut is_stopped);
            self.console.show("\r\n")?;
            let is_interrupted = line.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted);
            let until = Instant::now() + LATE;
            while is_interrupted && Instant::now() < until && !is_stopped() {
                std::thread::sleep(Duration::from_millis(5));
            }
            line
        }

        /// Shows a line.
        ///
        /// # Errors
        ///
        /// Returns the error of the operating system.
        pub fn show(&mut self, line: &str) -> io::Result<()> {
            self.console.show(&format!("{line}\r\n"))
        }
    }
}
