//! A connection to an agent, with a limit of time.
//!
//! Neither the standard library nor the operating systems limit the time of every step in the same
//! way: a socket can hang in `connect`, and a named pipe of Windows in all of its calls. So a
//! thread of its own talks with the agent, and the caller waits for that thread as long as it wants
//! to. A thread that hangs ends with the process.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::error::AgentError;
use super::message::{Answer, Request};

/// The longest time until the next answer of an agent that asks nobody.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// The longest time until the next answer when the search must end. Until its keys are in files,
/// they are in memory alone.
const HASTE: Duration = Duration::from_millis(100);

/// The time between two looks at whether the search must end.
const LOOK: Duration = Duration::from_millis(10);

/// The most bytes of an answer. A key takes about 100.
const LONGEST: usize = 16 << 20;

#[cfg(unix)]
type Stream = std::os::unix::net::UnixStream;

/// A named pipe.
#[cfg(not(unix))]
type Stream = std::fs::File;

/// The error of a named pipe that has no free end (`ERROR_PIPE_BUSY`).
#[cfg(not(unix))]
const PIPE_BUSY: i32 = 231;

/// A connection to an agent.
pub(super) struct Connection(Stream);

impl Connection {
    #[cfg(unix)]
    fn open(socket: &Path) -> io::Result<Self> {
        let stream = Stream::connect(socket)?;
        // A request that nobody reads does not stay in memory.
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self(stream))
    }

    #[cfg(not(unix))]
    fn open(socket: &Path) -> io::Result<Self> {
        let mut options = Stream::options();
        options.read(true).write(true);
        // The agent can learn who asks (SECURITY_IDENTIFICATION), but cannot act as that user.
        #[cfg(windows)]
        std::os::windows::fs::OpenOptionsExt::security_qos_flags(&mut options, 0x0001_0000);
        let began = Instant::now();
        loop {
            match options.open(socket) {
                // The agent answers somebody else, or has just done so.
                Err(error) if error.raw_os_error() == Some(PIPE_BUSY) && began.elapsed() < PATIENCE => {
                    std::thread::sleep(LOOK);
                }
                opened => return opened.map(Self),
            }
        }
    }

    /// Sends a request, wipes it and returns the answer.
    pub(super) fn ask(&mut self, request: Request) -> Result<Answer, AgentError> {
        self.exchange(request)
            .map_err(|error| AgentError::Broken(error.into()))?
            .ok_or(AgentError::NoAnswer)
            .and_then(|body| Answer::read(&body))
    }

    /// Returns the body of the answer, or `None` if it is too long for one.
    fn exchange(&mut self, request: Request) -> io::Result<Option<Vec<u8>>> {
        self.0.write_all(request.bytes())?;
        self.0.flush()?;
        // The agent can take as long as it wants to.
        drop(request);
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

/// What the thread that talks has to tell.
enum Told<T> {
    Result(T),
    End(Result<(), AgentError>),
}

/// What the thread that talks does after it has passed a result on.
#[derive(PartialEq, Eq)]
pub(super) enum Next {
    GoOn,
    End,
    /// Nobody has received the result.
    GivenUp,
}

/// Opens a connection, and returns the results that `talk` passes on, and how it ended. Gives up when
/// no result came for `patience`, if there is such a limit. If the search must end, gives up when none
/// came for [`HASTE`], and ends the talk at the time of `until`. What was sent until then can still
/// have its effect.
pub(super) fn converse<T: Send + 'static>(
    socket: &Path,
    patience: Option<Duration>,
    until: &dyn Fn() -> Option<Instant>,
    talk: impl FnOnce(&mut Connection, &dyn Fn(T) -> Next) -> Result<(), AgentError> + Send + 'static,
) -> (Vec<T>, Result<(), AgentError>) {
    let (sender, receiver) = channel();
    let path = socket.to_owned();
    let is_over = Arc::new(AtomicBool::new(false));
    let must_stop = Arc::clone(&is_over);
    let thread = move || {
        let opened = Connection::open(&path).map_err(|error| AgentError::Unreachable(path, error.into()));
        let pass_on = |result| match sender.send(Told::Result(result)) {
            Err(_) => Next::GivenUp,
            Ok(()) if must_stop.load(Relaxed) => Next::End,
            Ok(()) => Next::GoOn,
        };
        // Nobody receives it any more if the time is over.
        let ended = opened.and_then(|mut connection| talk(&mut connection, &pass_on));
        let _ = sender.send(Told::End(ended));
    };
    let mut results = Vec::new();
    if let Err(error) = std::thread::Builder::new().name("agent".to_owned()).spawn(thread) {
        return (results, Err(AgentError::Broken(error.into())));
    }
    let mut answered = Instant::now();
    let ended = loop {
        match receiver.recv_timeout(LOOK) {
            Ok(Told::Result(result)) => {
                results.push(result);
                answered = Instant::now();
            }
            Ok(Told::End(ended)) => break ended,
            Err(RecvTimeoutError::Disconnected) => break Err(AgentError::Silent),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let silence = answered.elapsed();
        match until() {
            Some(until) => {
                is_over.fetch_or(until <= Instant::now(), Relaxed);
                if silence >= HASTE {
                    break Err(AgentError::Hurried);
                }
            }
            None if patience.is_some_and(|patience| silence >= patience) => break Err(AgentError::Silent),
            None => {}
        }
    };
    results.extend(receiver.try_iter().filter_map(|told| match told {
        Told::Result(result) => Some(result),
        Told::End(_) => None,
    }));
    (results, ended)
}
