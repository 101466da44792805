//! The interface through which a job reports what happens.

use std::io;

use super::parcel::Parcel;
use super::rate::Rate;
use super::rescue::Screen;
use crate::notice::Notice;
use crate::pattern::PatternId;
use crate::search::{Progress, Summary};

/// A receiver of the events of a job. An error means that a result could not be written to stdout.
pub trait Reporter {
    /// Reports the odds before the search.
    fn odds(&mut self);

    /// Reports how fast this machine is, and with it how long the search takes. The first call
    /// comes before the first find. If the engine had not settled then, another call follows. A long
    /// report is cut short if it must not go on.
    ///
    /// # Errors
    ///
    /// Returns an error if a result cannot be written.
    fn rate(&mut self, rate: Rate, may_go_on: &dyn Fn() -> bool) -> io::Result<()>;

    /// Reports that every key exists already.
    ///
    /// # Errors
    ///
    /// Returns an error if a result cannot be written.
    fn nothing_missing(&mut self) -> io::Result<()>;

    /// Reports a find, and where its private key went. One that is in memory alone goes to stdout, as part
    /// of the report.
    ///
    /// # Errors
    ///
    /// Returns an error if a result cannot be written.
    fn found(&mut self, parcel: &Parcel) -> io::Result<()>;

    /// Reports the progress of the search, and whether it waits until keys are encrypted.
    fn progress(&mut self, progress: &Progress, is_encrypting: bool);

    /// Reports a line for people.
    fn notice(&mut self, notice: &Notice);

    /// Reports a failure that does not end the search, even if only errors are reported.
    fn failure(&mut self, text: &str);

    /// Shows a private key on a terminal, because nothing else takes it.
    fn show(&mut self, private_text: &str, screen: &Screen);

    /// Reports the end of the search, and the first pattern of each key that was given up.
    ///
    /// # Errors
    ///
    /// Returns an error if a result cannot be written.
    fn summary(&mut self, summary: &Summary, given_up: &[PatternId]) -> io::Result<()>;
}
