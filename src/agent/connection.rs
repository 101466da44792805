//! A connection to an agent, with a limit of time.
//!
//! Neither the standard library nor the operating systems limit the time of every step in the same
//! way: a socket can hang in `connect`, and a named pipe of Windows in all of its calls. So a
//! thread of its own talks with the agent, and the caller waits for that thread as long as it wants
//! to. A thread that hangs ends with the process.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::error::AgentError;
use super::message::{Answer, Request};

/// The longest time until the next answer of an agent that asks nobody.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// The longest time until the next answer when the search must end. Until its keys are in files,
/// they are in memory alone.
const HASTE: Duration = Duration::from_millis(100);

/// The longest time in which a connection is handed over.
const LEAVING: Duration = Duration::from_millis(200);

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
struct Connection(Stream);

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

    /// Sends a request, and wipes it.
    fn send(&mut self, request: Request) -> Result<(), AgentError> {
        let sent = self.0.write_all(request.bytes()).and_then(|()| self.0.flush());
        sent.map_err(|error| AgentError::Broken(error.into()))
    }

    /// Returns the answer. The agent can take as long as it wants to.
    fn answer(&mut self) -> Result<Answer, AgentError> {
        self.body()
            .map_err(|error| AgentError::Broken(error.into()))?
            .ok_or(AgentError::NoAnswer)
            .and_then(|body| Answer::read(&body))
    }

    /// Whether the answer begins, or the connection ends, within [`LOOK`].
    #[cfg(unix)]
    fn is_answered(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let look = Timespec { tv_sec: 0, tv_nsec: LOOK.subsec_nanos().into() };
        poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&look)) != Ok(0)
    }

    /// Only the answer itself shows that.
    #[cfg(not(unix))]
    fn is_answered(&self) -> bool {
        true
    }

    /// Returns the stream for a process that goes on with it.
    fn shared(&self) -> io::Result<Stdio> {
        #[cfg(unix)]
        let stream = std::os::fd::OwnedFd::from(self.0.try_clone()?);
        #[cfg(not(unix))]
        let stream = self.0.try_clone()?;
        Ok(stream.into())
    }

    /// Returns the body of the answer, or `None` if it is too long for one.
    fn body(&mut self) -> io::Result<Option<Vec<u8>>> {
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

/// What follows if nobody waits for an answer any more.
pub(super) enum Undo {
    /// A request, after an answer that is no failure.
    Request(Request),
    /// The connection is handed over before the answer. Returns whether somebody reads that.
    HandOver(Box<dyn FnOnce(Stdio) -> bool + Send>),
}

/// A request, and what follows if nobody waits for the answer any more.
type Pair = (Request, Option<Undo>);

/// A conversation with an agent. One question is asked at a time. After an error there is no further one.
pub(super) struct Conversation<'a> {
    requests: Sender<Pair>,
    answers: Receiver<Result<Answer, AgentError>>,
    patience: Option<Duration>,
    until: &'a dyn Fn() -> Option<Instant>,
    /// Whether nobody waits for the answer any more.
    is_given_up: Arc<AtomicBool>,
}

impl<'a> Conversation<'a> {
    /// Connects to an agent. Gives up when no answer came for `patience`, if there is such a limit, or for
    /// [`HASTE`] if the search must end, which `until` says. What was sent until then can still have its
    /// effect.
    pub(super) fn open(
        socket: &Path,
        patience: Option<Duration>,
        until: &'a dyn Fn() -> Option<Instant>,
    ) -> Result<Self, AgentError> {
        let (requests, asked) = channel::<Pair>();
        let (sender, answers) = channel();
        let path = socket.to_owned();
        let is_given_up = Arc::new(AtomicBool::new(false));
        let must_leave = Arc::clone(&is_given_up);
        let thread = move || {
            let mut connection = match Connection::open(&path) {
                Ok(connection) => connection,
                Err(error) => return drop(sender.send(Err(AgentError::Unreachable(path, error.into())))),
            };
            let _ = sender.send(Ok(Answer::Success));
            for (request, undo) in asked {
                let sent = connection.send(request);
                let undo = match undo {
                    Some(Undo::HandOver(begin)) => {
                        while sent.is_ok() && !connection.is_answered() {
                            if must_leave.load(Relaxed) {
                                let is_watched = connection.shared().is_ok_and(begin);
                                return drop(sender.send(Err(AgentError::Prompting { is_watched })));
                            }
                        }
                        None
                    }
                    Some(Undo::Request(undo)) => Some(undo),
                    None => None,
                };
                let answer = sent.and_then(|()| connection.answer());
                let undo = undo.filter(|_| matches!(answer, Ok(Answer::Success | Answer::Identities(_))));
                // Nobody waits for the answer any more. The key is in a file by now, and the search has said that
                // the agent does not have it.
                if sender.send(answer).is_err()
                    && let Some(undo) = undo
                {
                    let _ = connection.send(undo).and_then(|()| connection.answer());
                }
            }
        };
        let spawned = std::thread::Builder::new().name("agent".to_owned()).spawn(thread);
        spawned.map_err(|error| AgentError::Broken(error.into()))?;
        let conversation = Self { requests, answers, patience, until, is_given_up };
        conversation.answer()?;
        Ok(conversation)
    }

    /// Sends a request, and returns the answer.
    pub(super) fn ask(&mut self, request: Request) -> Result<Answer, AgentError> {
        self.ask_or_undo(request, None)
    }

    /// Sends a request, and returns the answer. If nobody waits for it any more, `undo` follows.
    pub(super) fn ask_or_undo(&mut self, request: Request, undo: Option<Undo>) -> Result<Answer, AgentError> {
        self.requests.send((request, undo)).map_err(|_| AgentError::Silent)?;
        self.answer()
    }

    /// Whether no further key can be added before the search must end.
    pub(super) fn is_over(&self) -> bool {
        (self.until)().is_some_and(|until| until <= Instant::now())
    }

    fn answer(&self) -> Result<Answer, AgentError> {
        let asked = Instant::now();
        loop {
            match self.answers.recv_timeout(LOOK) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Disconnected) => return Err(AgentError::Silent),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let silence = asked.elapsed();
            match (self.until)() {
                Some(_) if silence >= HASTE => {
                    self.is_given_up.store(true, Relaxed);
                    // Without a limit the connection is handed over, which takes a moment.
                    let most = if self.patience.is_none() { LEAVING } else { Duration::ZERO };
                    return self.answers.recv_timeout(most).unwrap_or(Err(AgentError::Hurried));
                }
                None if self.patience.is_some_and(|patience| silence >= patience) => {
                    return Err(AgentError::Silent);
                }
                _ => {}
            }
        }
    }
}
