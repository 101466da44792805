//! Writes the lines of finds to the ledger. While another process uses it, they wait: the files of keys
//! do not.

use std::io;
use std::time::{Duration, Instant};

use super::error::JobError;
use super::open::PreparedSearch;
use super::teller::Teller;
use crate::ledger::{Entry, Ledger, in_use};
use crate::notice::Notice;
use crate::store::HeldLog;

/// How long a process that uses the ledger may delay the files of keys. Their lines follow when it is free.
const PATIENCE: Duration = Duration::from_millis(50);

/// The lines that the ledger does not have yet.
pub(super) struct LedgerLines<'a> {
    ledger: &'a Ledger,
    search: &'a PreparedSearch,
    teller: &'a Teller,
    waiting: Vec<Entry>,
    /// The ledger as it was when the files of finds got their names: open unless another process used it.
    held: io::Result<Option<HeldLog>>,
    /// Since when lines wait.
    since: Option<Instant>,
    /// Whether that was said.
    has_said: bool,
}

impl<'a> LedgerLines<'a> {
    /// Returns no lines, or `None` if there is no ledger.
    pub(super) fn new(search: &'a PreparedSearch, teller: &'a Teller) -> Option<Self> {
        let ledger = search.ledger.as_ref()?;
        let waiting = Vec::new();
        Some(Self { ledger, search, teller, waiting, held: Ok(None), since: None, has_said: false })
    }

    /// Opens the ledger, before the files of finds get their names.
    pub(super) fn hold(&mut self) {
        let patience = if self.waiting.is_empty() { PATIENCE } else { Duration::ZERO };
        self.held = self.ledger.log.hold(patience);
    }

    /// Writes lines, or has them wait.
    pub(super) fn add(&mut self, entries: Vec<Entry>) -> Result<(), JobError> {
        let held = std::mem::replace(&mut self.held, Ok(None));
        if entries.is_empty() {
            return Ok(());
        }
        let is_alone = self.waiting.is_empty();
        self.waiting.extend(entries);
        let entered = held.and_then(|held| match held {
            Some(mut held) if is_alone => Ledger::append(&mut held, &std::mem::take(&mut self.waiting)),
            held => self.append(held),
        });
        entered.map_err(|error| self.unentered(error))
    }

    /// Writes the lines that wait, if no other process uses the ledger for longer than `patience`.
    pub(super) fn retry(&mut self, patience: Duration) -> Result<(), JobError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let _signals = self.search.stop.hold_off();
        let held = self.ledger.log.hold(patience);
        held.and_then(|held| self.append(held)).map_err(|error| self.unentered(error))
    }

    /// Writes the lines that wait, when the search is over. Waits for another process that uses the ledger
    /// until the job must end, but not after a failure. Returns whether the ledger has all lines.
    pub(super) fn finish(&mut self, has_failed: bool) -> Result<bool, JobError> {
        let mut must_end = has_failed;
        loop {
            self.retry(PATIENCE)?;
            if self.waiting.is_empty() || must_end {
                break;
            }
            must_end = self.search.stop.requested().is_some();
        }
        let is_complete = self.waiting.is_empty();
        if !is_complete {
            // The next search makes up for it.
            let error = self.unentered(in_use());
            self.teller.failure(error.to_string());
            self.teller.notice(Notice::note(error.hint().unwrap_or_default()));
        }
        Ok(is_complete)
    }

    /// Writes the lines that wait, as far as no other process has written them. Has it told once that another
    /// process uses the ledger, if it does so for long.
    fn append(&mut self, held: Option<HeldLog>) -> io::Result<()> {
        if let Some(mut held) = held {
            self.since = None;
            return Ledger::append_missing(&mut held, std::mem::take(&mut self.waiting));
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        if !self.has_said
            && let Some(notice) =
                self.ledger.waits(since, self.search.plan.output.quiet, "keys are stored meanwhile")
        {
            self.has_said = true;
            self.teller.notice(notice);
        }
        Ok(())
    }

    fn unentered(&self, error: io::Error) -> JobError {
        JobError::Unentered(error, self.ledger.path().to_owned())
    }
}
