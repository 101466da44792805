//! Errors of jobs.

use std::convert::Infallible;
use std::path::PathBuf;
use std::{fmt, io};

use super::hopeless::Hopeless;
use super::place::Whereabouts;
use crate::escape::escaped_path;
use crate::notice::{Notice, are, counted, grouped};
use crate::plan::{ANOTHER_ENGINE, Diagnostic, PlanError};
use crate::search::{End, MeasureError, SearchError};
use crate::store::FileError;
use crate::sys::RandomnessError;

/// Why a job failed.
#[derive(Debug)]
pub enum JobError {
    /// The request was refused before the search.
    Refused(PlanError),
    /// The search would take too long.
    Hopeless(Box<Hopeless>),
    /// A signal, or the time limit, ended the program before there was a result.
    Stopped(End),
    /// The handlers of signals cannot be installed.
    Signals(io::Error),
    /// The operating system's random generator failed.
    Randomness(RandomnessError),
    /// The program panicked, and the panic has printed its message.
    Panic,
    /// The search itself failed.
    Search(SearchError<Infallible>),
    /// Finds are not kept where they were to go. The text says why.
    Unkept {
        why: String,
        /// What to do, unless the places of the keys tell it.
        hint: Option<String>,
        keys: Box<Whereabouts>,
    },
    /// The agent did not take this number of keys. All of them are in files.
    NotAdded(u64),
    /// Another process used the ledger at this path until the timeout.
    InUse(io::Error, PathBuf),
    /// A find is kept, but not in the ledger at this path.
    Unentered(io::Error, PathBuf),
    /// A write to stdout failed. Some finds were to be told there.
    Stdout(io::Error, Box<Whereabouts>),
    /// The thread that runs commands after finds, or the one that tells the results, cannot be
    /// started.
    Thread(io::Error),
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
            Self::Unkept { hint, keys, .. } => return keys.hint().or_else(|| hint.clone()),
            Self::Refused(_)
            | Self::Hopeless(_)
            | Self::Stopped(_)
            | Self::Signals(_)
            | Self::Randomness(_)
            | Self::Panic => return None,
            Self::Search(SearchError::FalseHit(_)) => ANOTHER_ENGINE.to_owned(),
            Self::Search(SearchError::Threads(_) | SearchError::Preparers(_)) | Self::Thread(_) => {
                "use fewer threads, with -t N".to_owned()
            }
            Self::Search(_) | Self::InUse(..) => return None,
            Self::NotAdded(_) => "the files are named above; ssh-add FILE adds a key".to_owned(),
            Self::CommandsFailed { .. } => "every reported key is kept".to_owned(),
            Self::Unentered(..) => {
                "every reported key is kept; the next search into this directory adds the missing lines"
                    .to_owned()
            }
            Self::Stdout(_, keys) => return keys.hint(),
        })
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(_) => f.write_str("the request is refused"),
            Self::Hopeless(_) => f.write_str("the key will not be found"),
            Self::Stopped(End::Timeout) => f.write_str("the time limit ended the program before the search"),
            Self::Stopped(_) => f.write_str("a signal ended the program"),
            Self::Signals(error) => write!(f, "cannot handle signals: {error}"),
            Self::Randomness(error) => write!(f, "the operating system's random generator failed: {error}"),
            Self::Panic => f.write_str("the program panicked"),
            Self::Search(error) => error.fmt(f),
            Self::Unkept { why, .. } => f.write_str(why),
            Self::NotAdded(keys) => write!(f, "{} {} not in the agent", counted(*keys, "key"), are(*keys)),
            Self::InUse(error, path) => {
                write!(f, "cannot use '{}' before the time limit: {error}", escaped_path(path))
            }
            Self::Unentered(error, path) => write!(f, "cannot write '{}': {error}", escaped_path(path)),
            Self::Stdout(error, _) => write!(f, "cannot write to stdout: {error}"),
            Self::Thread(error) => write!(f, "cannot start another thread: {error}"),
            Self::CommandsFailed { failed, of } => {
                write!(f, "{} of {} failed", grouped(*failed), counted(*of, "command"))
            }
        }
    }
}

impl std::error::Error for JobError {}

pub(super) fn diagnostic(problem: &impl fmt::Display, hint: Option<impl Into<String>>) -> Diagnostic {
    let diagnostic = Diagnostic::new(problem.to_string());
    match hint {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    }
}

/// Returns the warning about a file that a trial has left.
pub(super) fn warning(left: FileError) -> Notice {
    Notice::warning(left.to_string())
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
