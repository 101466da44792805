//! Errors of jobs.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use super::hopeless::Hopeless;
use crate::escape::escaped_path;
use crate::key::EncodeError;
use crate::notice::{Notice, are, counted, grouped};
use crate::plan::{ANOTHER_ENGINE, Diagnostic, PlanError};
use crate::search::{End, MeasureError, SearchError};
use crate::store::{FileError, StoreError};
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
    /// Finds could not be written to their files.
    Store(StoreError, Fate),
    /// The agent did not take a find, and it could not be written to files either. The text says why.
    Unkept(String, Fate),
    /// The agent did not take this number of keys. All of them are in files.
    NotAdded(u64),
    /// A find could not be encoded.
    Encode(EncodeError),
    /// Another process used the ledger at this path until the timeout.
    InUse(io::Error, PathBuf),
    /// A find is kept, but not in the ledger at this path.
    Unentered(io::Error, PathBuf),
    /// A write to stdout failed. Some finds were to be told there.
    Stdout(io::Error, Untold),
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

/// Where the private keys of the finds are that could not be told.
#[derive(Default, Debug)]
pub struct Untold {
    pub files: Vec<PathBuf>,
    /// The number of keys that only the agent has.
    pub in_agent: usize,
    /// The number of keys that were to be written to stdout, and are lost.
    pub lost: usize,
}

impl Untold {
    /// Returns a hint about these keys.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let several = |keys: usize| format!("the {} that were just found are", counted(keys as u64, "key"));
        let in_files = match &self.files[..] {
            [] => None,
            [file] => Some(format!("the key that was just found is kept in '{}'", escaped_path(file))),
            [file, ..] => {
                let directory = file.parent().unwrap_or(Path::new("."));
                Some(format!("{} kept in '{}'", several(self.files.len()), escaped_path(directory)))
            }
        };
        let in_agent = match self.in_agent {
            0 => None,
            1 => Some(
                "the key that was just found is in the agent; ssh-add -L prints its public line".to_owned(),
            ),
            keys => Some(format!("{} in the agent; ssh-add -L prints their public lines", several(keys))),
        };
        let lost = match self.lost {
            0 => None,
            1 => Some(LOST.to_owned()),
            keys => Some(format!("{} lost; -d DIR keeps the next ones in files", several(keys))),
        };
        let hints: Vec<String> = [in_files, in_agent, lost].into_iter().flatten().collect();
        (!hints.is_empty()).then(|| hints.join("; "))
    }
}

/// What became of the finds that their destination did not take.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fate {
    /// The error tells it.
    Told,
    /// They are in other files, which are reported.
    Elsewhere,
    /// At least one was shown on the terminal.
    Shown,
    /// This number of them is lost.
    Lost(u32),
}

impl Fate {
    /// Returns what became of these finds and of others: the worst.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Lost(keys), Self::Lost(more)) => Self::Lost(keys + more),
            _ => self.max(other),
        }
    }

    fn hint(self) -> Option<String> {
        match self {
            Self::Told => None,
            Self::Elsewhere => Some("the keys that were found are kept in the files named above".to_owned()),
            Self::Shown => Some(
                "save the key that is shown above in a file that only you can read (chmod 600)".to_owned(),
            ),
            Self::Lost(1) => Some(format!("the key that was just found is lost; {ELSEWHERE}")),
            Self::Lost(keys) => Some(format!(
                "the {} that were just found are lost; {ELSEWHERE}",
                counted(keys.into(), "key")
            )),
        }
    }
}

/// What to do after keys that no file took.
const ELSEWHERE: &str =
    "start the search again in a directory that you can write to, on a disk with free space";

/// The hint about a key that was not written to stdout.
const LOST: &str = "the key that was just found is lost; -o FILE keeps the next one in a file";

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
            Self::Store(error, Fate::Told) => return error.hint(),
            Self::Store(_, fate) | Self::Unkept(_, fate) => return fate.hint(),
            Self::Encode(error) => return error.hint(),
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
            Self::Stdout(_, untold) => return untold.hint(),
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
            Self::Store(error, _) => error.fmt(f),
            Self::Encode(error) => error.fmt(f),
            Self::Unkept(why, _) => f.write_str(why),
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
