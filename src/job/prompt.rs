//! A secret line, typed on the terminal and not shown there.
//!
//! The terminal itself edits the line, as it does for ssh and openssl: what is typed here is, byte for byte, what
//! they will read. The bytes are held in one place, which is wiped.

use std::io;

use zeroize::Zeroizing;

/// The controlling terminal, whatever stdin, stdout and stderr are.
pub struct Terminal {
    #[cfg(unix)]
    file: std::fs::File,
}

/// Why no line was read.
pub enum Interrupted {
    /// The caller wanted no more of it.
    Stopped,
    /// The operating system's answer; also that the terminal has hung up or end of file was typed.
    Failed(io::Error),
}

impl From<io::Error> for Interrupted {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io::{Read as _, Write as _};
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

    use super::{Interrupted, Terminal, Zeroizing, io};

    /// How often the caller is asked whether to go on.
    const TICK: Duration = Duration::from_millis(50);

    /// More than the line that a terminal edits can hold: 4095 bytes and its end on Linux, less elsewhere.
    const LONGEST_LINE: usize = 8192;

    /// The value of a special character that is switched off (`_POSIX_VDISABLE` of Linux; harmless elsewhere).
    const DISABLED: u8 = 0;

    impl Terminal {
        /// Opens the controlling terminal.
        ///
        /// # Errors
        ///
        /// What the operating system answers: mostly that there is none.
        pub fn open() -> io::Result<Self> {
            File::options().read(true).write(true).open("/dev/tty").map(|file| Self { file })
        }

        /// Shows `prompt` and reads a line, without its end. `is_stopped` is asked every now and then.
        ///
        /// # Errors
        ///
        /// [`Interrupted`]. The terminal is in every case as it was.
        pub fn ask(
            &mut self,
            prompt: &str,
            mut is_stopped: impl FnMut() -> bool,
        ) -> Result<Zeroizing<Vec<u8>>, Interrupted> {
            let _hidden = Hidden::new(&self.file)?;
            (&self.file).write_all(prompt.as_bytes())?;
            // Never reallocated, so that no copy is left behind.
            let mut line = Zeroizing::new(vec![0; LONGEST_LINE]);
            let mut len = 0;
            while len < line.len() {
                if is_stopped() {
                    return Err(Interrupted::Stopped);
                }
                if !is_ready(&self.file)? {
                    continue;
                }
                match (&self.file).read(&mut line[len..]) {
                    Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                    Ok(read) => len += read,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error.into()),
                }
                if line[len - 1] == b'\n' {
                    line.truncate(len - 1);
                    return Ok(line);
                }
            }
            Ok(line)
        }

        /// Shows a line.
        ///
        /// # Errors
        ///
        /// What the operating system answers.
        pub fn tell(&mut self, line: &str) -> io::Result<()> {
            self.file.write_all(format!("{line}\n").as_bytes())
        }
    }

    /// Whether there is something to read, after a tick at most.
    fn is_ready(file: &File) -> io::Result<bool> {
        let mut polled = [PollFd::new(file, PollFlags::IN)];
        let tick = Timespec { tv_sec: 0, tv_nsec: TICK.subsec_nanos().into() };
        match poll(&mut polled, Some(&tick)) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// A terminal that shows nothing of what is typed but the line's end, until this is dropped.
    struct Hidden<'a> {
        terminal: &'a File,
        before: Termios,
    }

    impl<'a> Hidden<'a> {
        fn new(terminal: &'a File) -> io::Result<Self> {
            let before = tcgetattr(terminal)?;
            let mut modes = before.clone();
            modes.local_modes.remove(LocalModes::ECHO);
            modes.local_modes.insert(LocalModes::ICANON | LocalModes::ISIG | LocalModes::ECHONL);
            // These would leave the terminal as it is now to the next program.
            for key in [SpecialCodeIndex::VSUSP, SpecialCodeIndex::VQUIT] {
                modes.special_codes[key] = DISABLED;
            }
            let hidden = Self { terminal, before };
            // What was typed ahead was shown, so it is thrown away.
            tcsetattr(terminal, OptionalActions::Flush, &modes)?;
            // That call succeeds, too, where only some of it was done.
            if tcgetattr(terminal)?.local_modes.contains(LocalModes::ECHO) {
                return Err(io::Error::other("the terminal cannot hide what is typed"));
            }
            Ok(hidden)
        }
    }

    impl Drop for Hidden<'_> {
        fn drop(&mut self) {
            // What was typed and not read is thrown away, too: nobody else shall read it.
            let _ = tcsetattr(self.terminal, OptionalActions::Flush, &self.before);
        }
    }
}

#[cfg(not(unix))]
impl Terminal {
    /// Fails: it is done for Unix alone.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn open() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Reads nothing.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn ask(&mut self, _: &str, _: impl FnMut() -> bool) -> Result<Zeroizing<Vec<u8>>, Interrupted> {
        Err(io::Error::from(io::ErrorKind::Unsupported).into())
    }

    /// Shows nothing.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn tell(&mut self, _: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
