//! Errors of jobs.

use std::convert::Infallible;
use std::path::PathBuf;
use std::{fmt, io};

use thiserror::Error;

use super::delivery::Failed;
use super::hopeless::Hopeless;
use crate::escape::escaped_path;
use crate::plan::{ANOTHER_ENGINE, Diagnostic, PlanError};
use crate::search::{End, MeasureError, SearchError};
use crate::sys::RandomnessError;
use crate::words::{are, counted, grouped};

/// Why a job failed.
#[derive(Debug, Error)]
pub enum JobError {
    /// The request was refused before the search.
    #[error("the request is refused")]
    Refused(PlanError),
    /// The search would take too long.
    #[error("the key will not be found")]
    Hopeless(Box<Hopeless>),
    /// A signal, or the time limit, ended the program before there was a result.
    #[error("{}", match .0 {
        End::Timeout => "the time limit ended the program before the search",
        _ => "a signal ended the program",
    })]
    Stopped(End),
    /// The system refuses the thread that hears signals, or its descriptor.
    #[error("cannot handle signals: {0}")]
    Signals(io::Error),
    /// The operating system's random generator failed.
    #[error("the operating system's random generator failed: {0}")]
    Randomness(RandomnessError),
    /// The program panicked, and the panic has printed its message.
    #[error("the program panicked")]
    Panic,
    /// The search itself failed.
    #[error(transparent)]
    Search(SearchError<Infallible>),
    /// Finds are not kept where they were to go. The text says why.
    #[error("{why}")]
    Unkept {
        why: String,
        /// What to do, or in the end where the keys are.
        hint: Option<String>,
    },
    /// The agent did not take this number of keys. All of them are in files.
    #[error("{} {} not in the agent", counted(*.0, "key"), are(*.0))]
    NotAdded(u64),
    /// Another process used the ledger at this path until the timeout.
    #[error("cannot use '{}' before the time limit: {}", escaped_path(.1), .0)]
    InUse(io::Error, PathBuf),
    /// A find is kept, but not in the ledger at this path.
    #[error("cannot write '{}': {}", escaped_path(.1), .0)]
    Unentered(io::Error, PathBuf),
    /// A write to stdout failed. The hint is where the keys are that were to be told there.
    #[error("cannot write to stdout: {0}")]
    Stdout(io::Error, Option<String>),
    /// The thread that runs commands after finds, or the one that tells the results, cannot be
    /// started.
    #[error("cannot start another thread: {0}")]
    Thread(io::Error),
    /// Commands after finds failed. Each failure is already reported.
    #[error("{} of {} failed", grouped(*.failed), counted(*.of, "command"))]
    CommandsFailed {
        /// The number of those that failed.
        failed: u64,
        /// The number of all.
        of: u64,
    },
}

impl JobError {
    /// Converts the error of a search, unless it is that of its observer.
    pub(super) fn of_search(error: SearchError<Failed>) -> Option<Self> {
        Some(Self::Search(match error {
            SearchError::Observer(Failed) => return None,
            SearchError::Engine(error) => SearchError::Engine(error),
            SearchError::Randomness(error) => SearchError::Randomness(error),
            SearchError::Threads(error) => SearchError::Threads(error),
            SearchError::FalseHit(engine) => SearchError::FalseHit(engine),
        }))
    }

    /// Returns the error of a write to stdout.
    #[must_use]
    pub fn stdout(error: io::Error) -> Self {
        Self::Stdout(error, None)
    }

    /// Returns a hint about what to do.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unkept { hint, .. } | Self::Stdout(_, hint) => return hint.clone(),
            Self::Search(SearchError::FalseHit(_)) => ANOTHER_ENGINE,
            Self::Signals(error) if error.kind() != io::ErrorKind::WouldBlock => {
                "raise the limit of open files (ulimit -n)"
            }
            Self::Search(SearchError::Threads(_)) | Self::Thread(_) | Self::Signals(_) => {
                "use fewer threads, with -t N, or raise the limit of processes (ulimit -u, pids.max)"
            }
            Self::NotAdded(_) => "the files are named above; ssh-add FILE adds a key",
            Self::CommandsFailed { .. } => "every reported key is kept",
            Self::Unentered(..) => {
                "every reported key is kept; the next search into this directory adds the missing lines"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

pub(super) fn diagnostic(problem: &impl fmt::Display, hint: Option<impl Into<String>>) -> Diagnostic {
    Diagnostic::new(problem.to_string()).hints(hint)
}

impl<R: Into<PlanError>> From<R> for JobError {
    fn from(error: R) -> Self {
        Self::Refused(error.into())
    }
}

impl From<MeasureError> for JobError {
    fn from(error: MeasureError) -> Self {
        match error {
            MeasureError::Stopped(end) => Self::Stopped(end),
            MeasureError::Failed(error) => Self::Search(error),
        }
    }
}
