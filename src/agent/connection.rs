//! A connection to an agent, with a limit of time.
//!
//! Neither the standard library nor the operating systems limit the time of every step in the same
//! way: a socket can hang in `connect`, and a named pipe of Windows in all of its calls. So a
//! thread of its own talks with the agent, and the caller waits for that thread as long as it wants
//! to. A thread that hangs ends with the process.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::error::AgentError;
use super::message::{Answer, Request};

/// The longest time for all that is said over one connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest time after the search was told to end.
const HASTE: Duration = Duration::from_millis(400);

/// The time between two looks at whether the search was told to end.
const LOOK: Duration = Duration::from_millis(50);

/// The most bytes of an answer. A key takes about 100.
const LONGEST: usize = 16 << 20;

#[cfg(unix)]
type Stream = std::os::unix::net::UnixStream;

/// A named pipe.
#[cfg(not(unix))]
type Stream = std::fs::File;

/// A connection to an agent.
pub(super) struct Connection(Stream);

impl Connection {
    #[cfg(unix)]
    fn open(socket: &Path) -> io::Result<Self> {
        Stream::connect(socket).map(Self)
    }

    #[cfg(not(unix))]
    fn open(socket: &Path) -> io::Result<Self> {
        let mut options = Stream::options();
        options.read(true).write(true);
        // The agent can learn who asks (SECURITY_IDENTIFICATION), but cannot act as that user.
        #[cfg(windows)]
        std::os::windows::fs::OpenOptionsExt::security_qos_flags(&mut options, 0x0001_0000);
        options.open(socket).map(Self)
    }

    /// Sends a request and returns the answer.
    pub(super) fn ask(&mut self, request: &Request) -> Result<Answer, AgentError> {
        self.exchange(request)
            .map_err(AgentError::Broken)?
            .ok_or(AgentError::NoAnswer)
            .and_then(|body| Answer::read(&body))
    }

    /// Returns the body of the answer, or `None` if it is too long for one.
    fn exchange(&mut self, request: &Request) -> io::Result<Option<Vec<u8>>> {
        self.0.write_all(request.bytes())?;
        self.0.flush()?;
        let mut length = [0; 4];
        self.0.read_exact(&mut length)?;
        let length = u32::from_be_bytes(length) as usize;
        if length > LONGEST {
            return Ok(None);
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body)?;
        Ok(Some(body))
    }
}

/// Opens a connection, and returns what `talk` returns. Gives up after [`PATIENCE`], or [`HASTE`]
/// after `must_end` became true. What was sent until then can still have its effect.
pub(super) fn converse<T: Send + 'static>(
    socket: &Path,
    must_end: &dyn Fn() -> bool,
    talk: impl FnOnce(&mut Connection) -> Result<T, AgentError> + Send + 'static,
) -> Result<T, AgentError> {
    let (sender, receiver) = channel();
    let path = socket.to_owned();
    let thread = move || {
        let opened = Connection::open(&path).map_err(|error| AgentError::Unreachable(path, error));
        // Nobody receives it any more if the time is over.
        let _ = sender.send(opened.and_then(|mut connection| talk(&mut connection)));
    };
    std::thread::Builder::new().name("agent".to_owned()).spawn(thread).map_err(AgentError::Broken)?;
    let mut end = Instant::now() + PATIENCE;
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) if Instant::now() < end => {
                if must_end() {
                    end = end.min(Instant::now() + HASTE);
                }
            }
            Err(_) => return Err(AgentError::Silent),
        }
    }
}
