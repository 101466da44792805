//! A stream that waits.

use std::io::{self, Read, Write};
#[cfg(unix)]
use std::os::fd::AsFd;

#[cfg(unix)]
use rustix::event::{PollFd, PollFlags, poll};
#[cfg(unix)]
use rustix::io::Errno;

/// Reads and writes a stream, and waits while it is not ready. Whoever shares an open stream, such as
/// the program that started this one, can make it non-blocking for all.
pub struct Patient<T>(pub T);

#[cfg(unix)]
impl<T: AsFd> Patient<T> {
    fn wait(
        &self,
        until: PollFlags,
        mut call: impl FnMut(&T) -> rustix::io::Result<usize>,
    ) -> io::Result<usize> {
        loop {
            match call(&self.0) {
                Err(Errno::AGAIN) => match poll(&mut [PollFd::new(&self.0, until)], None) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                },
                called => return Ok(called?),
            }
        }
    }
}

#[cfg(unix)]
impl<T: AsFd> Read for Patient<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.wait(PollFlags::IN, |stream| rustix::io::read(stream, &mut *bytes))
    }
}

#[cfg(unix)]
impl<T: AsFd> Write for Patient<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.wait(PollFlags::OUT, |stream| rustix::io::write(stream, bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(not(unix))]
impl<T: Read> Read for Patient<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

#[cfg(not(unix))]
impl<T: Write> Write for Patient<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
