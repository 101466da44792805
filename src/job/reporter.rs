//! The interface through which a job reports what happens.

use std::io;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::parcel::Parcel;
use super::rate::Rate;
use super::rescue::Screen;
use crate::notice::Notice;
use crate::pattern::PatternId;
use crate::search::{Progress, Summary};

/// What happens in a job.
pub enum Event {
    /// The search is about to begin.
    Begin,
    /// How fast this machine is, and with it how long the search takes. The first one comes before the
    /// first find. If the engine had not settled then, another one follows.
    Rate(Rate),
    /// Every key exists already.
    NothingMissing,
    /// A find, and where its private key went. One that is in memory alone goes to stdout, as part of
    /// the report.
    Found(Arc<Parcel>),
    Progress {
        progress: Progress,
        /// Whether the search waits until keys are encrypted.
        is_encrypting: bool,
    },
    /// A line for people.
    Notice(Notice),
    /// A private key that nothing else takes is shown on a terminal.
    Show(Zeroizing<String>, Screen),
    /// The search is over.
    Summary {
        summary: Summary,
        /// The first pattern of each key that was given up.
        given_up: Vec<PatternId>,
    },
}

impl Event {
    /// Whether this is a result, which is written to stdout.
    pub(super) fn is_result(&self) -> bool {
        matches!(self, Self::Rate(_) | Self::NothingMissing | Self::Found(_) | Self::Summary { .. })
    }
}

/// A receiver of the events of a job.
pub trait Reporter {
    /// Reports an event. A long report is cut short if it must not go on.
    ///
    /// # Errors
    ///
    /// Returns an error if a result cannot be written to stdout.
    fn tell(&mut self, event: &Event, may_go_on: &dyn Fn() -> bool) -> io::Result<()>;
}
