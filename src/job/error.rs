//! Errors of jobs.

use std::convert::Infallible;
use std::path::PathBuf;
use std::{fmt, io};

use crate::escape::escaped_path;
use crate::key::EncodeError;
use crate::notice::{counted, grouped};
use crate::plan::{Complaint, Refusal};
use crate::search::{SearchError, Signal, Unmeasured};
use crate::store::StoreError;
use crate::sys::RandomnessError;

/// Why a job failed.
#[derive(Debug)]
pub enum JobError {
    /// The request was refused before the search.
    Refused(Refusal),
    /// A signal arrived before there was a result.
    Signal(Signal),
    /// The handlers of signals cannot be installed.
    Signals(io::Error),
    /// The operating system's random generator failed.
    Randomness(RandomnessError),
    /// The program panicked, and the panic has printed its message.
    Panic,
    /// The search itself failed.
    Search(SearchError<Infallible>),
    /// A find could not be written to its files.
    Store(StoreError),
    /// The agent did not take a find, and it could not be written to files either. It is lost.
    /// The text says why the agent did not take it.
    Unkept(String, Box<StoreError>),
    /// The agent did not take this number of keys. All of them are in files.
    NotAdded(u64),
    /// A find could not be encoded.
    Encode(EncodeError),
    /// A find is kept, but not in the ledger at this path.
    Unentered(io::Error, PathBuf),
    /// A write to stdout failed.
    Stdout(io::Error),
    /// A write to stdout failed; the private key is in this file.
    Unreported(io::Error, PathBuf),
    /// A write to stdout failed; this number of private keys is in this directory.
    SeveralUnreported(io::Error, usize, PathBuf),
    /// A write to stdout failed; the private key is in the agent.
    UnreportedInAgent(io::Error),
    /// A write of the private key to stdout failed, and the key is lost.
    Lost(io::Error),
    /// The thread that runs commands after finds cannot be started.
    Commands(io::Error),
    /// Commands after finds failed. Each failure is already reported.
    CommandsFailed {
        /// The number of those that failed.
        failed: u64,
        /// The number of all.
        of: u64,
    },
}

impl JobError {
    /// Converts the error of a search whose observer delivers finds.
    pub(super) fn of_search(error: SearchError<Self>) -> Self {
        match error {
            SearchError::Observer(error) => error,
            SearchError::Unprepared(error) => Self::Encode(error),
            SearchError::Randomness(error) => Self::Search(SearchError::Randomness(error)),
            SearchError::Threads(error) => Self::Search(SearchError::Threads(error)),
            SearchError::Preparers(error) => Self::Search(SearchError::Preparers(error)),
            SearchError::FalseHit(engine) => Self::Search(SearchError::FalseHit(engine)),
        }
    }

    /// Returns a hint about what to do.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Store(error) => return error.hint(),
            Self::Encode(error) => return error.hint(),
            Self::Refused(_)
            | Self::Signal(_)
            | Self::Signals(_)
            | Self::Randomness(_)
            | Self::Panic
            | Self::Stdout(_)
            | Self::Commands(_)
            | Self::Search(_) => return None,
            Self::NotAdded(_) => "the files are named above; ssh-add FILE adds a key".to_owned(),
            Self::CommandsFailed { .. } => "every reported key is kept".to_owned(),
            Self::Unentered(..) => {
                "every reported key is kept; the next search into this directory adds the missing lines"
                    .to_owned()
            }
            Self::Unreported(_, file) => {
                format!("the key that was just found is kept in '{}'", escaped_path(file))
            }
            Self::SeveralUnreported(_, keys, directory) => {
                let keys = counted(*keys as u64, "key");
                format!("the {keys} that were just found are kept in '{}'", escaped_path(directory))
            }
            Self::UnreportedInAgent(_) => {
                "the key that was just found is in the agent; ssh-add -L prints its public line".to_owned()
            }
            Self::Lost(_) | Self::Unkept(..) => {
                "the key that was just found is lost; to keep the next one, write it to a file".to_owned()
            }
        })
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(_) => f.write_str("the request is refused"),
            Self::Signal(_) => f.write_str("a signal ended the program"),
            Self::Signals(error) => write!(f, "cannot handle signals: {error}"),
            Self::Randomness(error) => SearchError::<Infallible>::Randomness(*error).fmt(f),
            Self::Panic => f.write_str("the program panicked"),
            Self::Search(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
            Self::Encode(error) => error.fmt(f),
            Self::Unkept(agent, store) => write!(f, "{agent}, and {store}"),
            Self::NotAdded(keys) => write!(f, "{} not in the agent", are(*keys)),
            Self::Unentered(error, path) => write!(f, "cannot write '{}': {error}", escaped_path(path)),
            Self::Stdout(error)
            | Self::Unreported(error, _)
            | Self::SeveralUnreported(error, ..)
            | Self::UnreportedInAgent(error)
            | Self::Lost(error) => {
                write!(f, "cannot write to stdout: {error}")
            }
            Self::Commands(error) => write!(f, "cannot start the thread that runs commands: {error}"),
            Self::CommandsFailed { failed, of } => {
                write!(f, "{} of {} failed", grouped(*failed), counted(*of, "command"))
            }
        }
    }
}

impl std::error::Error for JobError {}

/// Returns a complaint about a problem.
pub(super) fn complaint(problem: &impl fmt::Display, hint: Option<impl Into<String>>) -> Complaint {
    let complaint = Complaint::new(problem.to_string());
    match hint {
        Some(hint) => complaint.hint(hint),
        None => complaint,
    }
}

/// Returns `1 key is` or `2 keys are`.
fn are(keys: u64) -> String {
    format!("{} {}", counted(keys, "key"), if keys == 1 { "is" } else { "are" })
}

impl<R: Into<Refusal>> From<R> for JobError {
    fn from(refusal: R) -> Self {
        Self::Refused(refusal.into())
    }
}

impl From<Unmeasured> for JobError {
    fn from(unmeasured: Unmeasured) -> Self {
        match unmeasured {
            Unmeasured::Signal(signal) => Self::Signal(signal),
            Unmeasured::Failed(error) => Self::Search(error),
        }
    }
}
