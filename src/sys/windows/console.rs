//! The console: its events, and a hidden line of input.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::windows::io::{AsHandle, AsRawHandle as _};
use std::ptr::null;
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use vanity_search::search::{Signal, Stop};
use windows_sys::Win32::Foundation::ERROR_OPERATION_ABORTED;
use windows_sys::Win32::Storage::FileSystem::{FILE_TYPE_CHAR, FILE_TYPE_UNKNOWN, GetFileType};
use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, ENABLE_ECHO_INPUT, ENABLE_LINE_INPUT, ENABLE_PROCESSED_INPUT,
    FlushConsoleInputBuffer, GetConsoleMode, ReadConsoleW, SetConsoleCtrlHandler, SetConsoleMode,
};
use zeroize::Zeroizing;

/// The size of the buffer for a line, in units of UTF-16. A line can have no more.
const LONGEST_LINE: usize = 8192;

/// The time between two questions to the caller whether to stop.
const TICK: Duration = Duration::from_millis(50);

/// What Ctrl-Z puts into a line.
const END_OF_FILE: u16 = 0x1a;

/// What the events of the console request.
static STOP: OnceLock<Stop> = OnceLock::new();

/// Returns a stop that Ctrl-C, Ctrl-Break and a closed window request, for the whole process.
/// After [`Stop::requested`] has returned the request, a further one ends the process at once. When the
/// window closes, the user logs off, or the system shuts down, the process has a few seconds to end by itself.
///
/// # Errors
///
/// Returns the error of the operating system if it refuses the handler.
pub fn stop_on_signals() -> io::Result<Stop> {
    let stop =
        STOP.get_or_init(|| Stop::by_signals(|signal| vanity_search::engine::exit(signal.status()), || None));
    // SAFETY: the function stays valid as long as the process.
    match unsafe { SetConsoleCtrlHandler(Some(take), 1) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(stop.clone()),
    }
}

/// Passes an event on. The system calls it on a thread of its own.
extern "system" fn take(kind: u32) -> i32 {
    let is_interrupt = matches!(kind, CTRL_C_EVENT | CTRL_BREAK_EVENT);
    let signal = if is_interrupt { Signal::INTERRUPT } else { Signal::HANGUP };
    if let Some(stop) = STOP.get() {
        stop.request(signal);
    }
    // The system ends the process when this function returns, or when it takes too long.
    if !is_interrupt {
        loop {
            std::thread::park();
        }
    }
    1
}

/// Whether what is written to a stream is lost: it is closed, or it is the null device.
#[must_use]
pub fn takes_nothing(stream: &impl AsHandle) -> bool {
    let handle = stream.as_handle().as_raw_handle();
    // SAFETY: the call accepts every handle, and those that are none.
    match unsafe { GetFileType(handle) } {
        FILE_TYPE_UNKNOWN => true,
        // The other device of characters that a stream can be.
        FILE_TYPE_CHAR => mode(stream).is_err(),
        _ => false,
    }
}

fn mode(console: &impl AsHandle) -> io::Result<u32> {
    let mut mode = 0;
    // SAFETY: the handle is open while it is borrowed, and the place for the mode is ours.
    match unsafe { GetConsoleMode(console.as_handle().as_raw_handle(), &raw mut mode) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(mode),
    }
}

fn set_mode(console: &File, mode: u32) -> io::Result<()> {
    // SAFETY: the handle is open while it is borrowed.
    match unsafe { SetConsoleMode(console.as_raw_handle(), mode) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// The console of this process, even if stdin, stdout and stderr are redirected.
pub struct Console {
    input: File,
    output: File,
}

impl Console {
    /// Opens the console.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system, usually because there is no console.
    pub fn open() -> io::Result<Self> {
        let open = |name| File::options().read(true).write(true).open(name);
        Ok(Self { input: open("CONIN$")?, output: open("CONOUT$")? })
    }

    /// Shows text.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn show(&mut self, text: &str) -> io::Result<()> {
        self.output.write_all(text.as_bytes())
    }

    /// Shows `prompt`, reads a line that is not shown, and returns it as UTF-8, without its line
    /// ending. The console edits it. Calls `is_stopped` after each [`TICK`].
    ///
    /// The console of Windows ends a call that reads at Ctrl-C, and that of Wine does not. So
    /// another thread makes the call. If `is_stopped` ends the waiting, that thread ends with
    /// the process.
    ///
    /// # Errors
    ///
    /// Returns [`io::ErrorKind::Interrupted`] after Ctrl-C or if the caller is stopped,
    /// [`io::ErrorKind::UnexpectedEof`] after Ctrl-Z, or the error of the operating system. The
    /// mode of the console is restored in every case.
    pub fn hidden_line(
        &mut self,
        prompt: &str,
        mut is_stopped: impl FnMut() -> bool,
    ) -> io::Result<Zeroizing<Vec<u8>>> {
        let _hidden = Hidden::new(&self.input)?;
        self.output.write_all(prompt.as_bytes())?;
        let input = self.input.try_clone()?;
        let (sender, receiver) = channel();
        // Nobody receives the line any more if the caller is stopped. Then it is wiped.
        std::thread::Builder::new().name("console".to_owned()).spawn(move || sender.send(line(&input)))?;
        loop {
            match receiver.recv_timeout(TICK) {
                Ok(line) => return line,
                Err(RecvTimeoutError::Timeout) if is_stopped() => {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }
}

/// Reads a line from a console.
fn line(input: &File) -> io::Result<Zeroizing<Vec<u8>>> {
    // The buffers are never reallocated, so no copy remains.
    let mut line = Zeroizing::new(vec![0u16; LONGEST_LINE]);
    let mut len = 0;
    while len < line.len() && !line[..len].ends_with(&[b'\n'.into()]) {
        let mut read = 0;
        let rest = &mut line[len..];
        // SAFETY: the handle is open, the buffer is ours, and the call gets its size.
        let result = unsafe {
            ReadConsoleW(
                input.as_raw_handle(),
                rest.as_mut_ptr().cast(),
                rest.len() as u32,
                &raw mut read,
                null(),
            )
        };
        let error = io::Error::last_os_error();
        if result == 0 && error.raw_os_error() != Some(ERROR_OPERATION_ABORTED.cast_signed()) {
            return Err(error);
        }
        if read == 0 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        len += read as usize;
    }
    if line[0] == END_OF_FILE {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    while len > 0 && [b'\r', b'\n'].map(u16::from).contains(&line[len - 1]) {
        len -= 1;
    }
    utf8(&line[..len])
}

/// Returns UTF-16 as UTF-8.
fn utf8(line: &[u16]) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(3 * line.len()));
    for char in char::decode_utf16(line.iter().copied()) {
        let char = char.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it has half a character"))?;
        bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Ok(bytes)
}

/// Hides what is typed until it is dropped.
struct Hidden<'a> {
    input: &'a File,
    /// The mode to restore.
    before: u32,
}

impl<'a> Hidden<'a> {
    fn new(input: &'a File) -> io::Result<Self> {
        let before = mode(input)?;
        let hidden = Self { input, before };
        hidden.discard();
        let shown = before | ENABLE_LINE_INPUT | ENABLE_PROCESSED_INPUT;
        set_mode(input, shown & !ENABLE_ECHO_INPUT)?;
        Ok(hidden)
    }

    /// Discards what was typed and not read: before the prompt it was shown, and after it no other
    /// program reads it.
    fn discard(&self) {
        // SAFETY: the handle is open while it is borrowed.
        unsafe { FlushConsoleInputBuffer(self.input.as_raw_handle()) };
    }
}

impl Drop for Hidden<'_> {
    fn drop(&mut self) {
        self.discard();
        let _ = set_mode(self.input, self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vanity_search::search::End;

    #[test]
    fn a_typed_line_becomes_utf_8() {
        for text in ["", "secret", "gröẞe 👩 €", "\u{ffff}"] {
            let line: Vec<u16> = text.encode_utf16().collect();
            assert_eq!(*utf8(&line).unwrap(), text.as_bytes());
        }
        assert!(utf8(&[0xd83d]).is_err());
    }

    #[test]
    fn ctrl_c_and_ctrl_break_are_the_same_signal() {
        let stop = stop_on_signals().unwrap();
        stop.answer(1);
        for kind in [CTRL_C_EVENT, CTRL_BREAK_EVENT] {
            assert_eq!(take(kind), 1, "the system must not end the process");
            assert_eq!(stop.requested(), Some(End::Signal(Signal::INTERRUPT)));
        }
    }

    #[test]
    fn the_null_device_takes_nothing_and_a_file_does() {
        assert!(takes_nothing(&File::options().write(true).open("NUL").unwrap()));
        assert!(!takes_nothing(&tempfile::tempfile().unwrap()));
        let (_reader, writer) = io::pipe().unwrap();
        assert!(!takes_nothing(&writer));
    }
}
