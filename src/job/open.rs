//! A plan whose destination, ledger, passphrase and engine are open.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use super::error::JobError;
use super::existing::{self, Existing};
use super::expected::expected_attempts;
use super::passphrase::Source;
use crate::engine::Engine;
use crate::key::{Format, Protection};
use crate::ledger::Ledger;
use crate::notice::Notice;
use crate::pattern::Pattern;
use crate::plan::{Complaint, OutputOptions, SearchPlan};
use crate::search::{Find, Quota, Stop};
use crate::store::{Destination, StoreError};

/// A search that can begin.
pub struct OpenSearch {
    /// What to look for; nothing if every key exists already.
    pub patterns: Vec<Pattern>,
    /// What is printed before the search.
    pub notices: Vec<Notice>,
    /// How many keys are missing.
    pub quota: Quota,
    /// How many of those that were asked for exist already. They are not in the quota.
    pub existing: u64,
    /// The way of searching, which has passed its self-test.
    pub engine: Box<dyn Engine>,
    /// Worker threads that were asked for.
    pub threads: NonZeroUsize,
    /// When to give up.
    pub timeout: Option<Duration>,
    /// Where keys go.
    pub destination: Destination,
    /// The form of the private keys.
    pub format: Format,
    /// The ledger of the directory where they go.
    pub ledger: Option<Ledger>,
    /// What private keys are encrypted with.
    pub protection: Option<Arc<Protection>>,
    /// The comment, if it is not the pattern.
    pub comment: Option<String>,
    /// What is shown.
    pub output: OutputOptions,
    /// The signals that end it.
    pub(super) stop: Stop,
}

impl OpenSearch {
    /// Opens what the plan names.
    ///
    /// # Errors
    ///
    /// Why the plan cannot be carried out. Nothing was searched then.
    pub fn open(plan: SearchPlan) -> Result<Self, JobError> {
        let SearchPlan { patterns, mut notices, quota, engine, threads, timeout, .. } = plan;
        let SearchPlan { destination, format, encryption, comment, output, .. } = plan;
        let (mut passphrase, note) = encryption.as_ref().map(Source::open).transpose()?.unzip();
        notices.extend(note.flatten());
        destination.prepare().map_err(|error| with_hint(&error))?;
        let mut stop = None;
        let (ledger, existing) = match &destination {
            Destination::Directory(directory) => {
                let ledger = Ledger::new(directory);
                let wanted = existing::Wanted { patterns, quota, comment: comment.as_deref() };
                let existing = existing::subtract(wanted, &ledger, &mut passphrase, &mut stop)?;
                (Some(ledger), existing)
            }
            _ => (None, Existing { patterns, quota, existing: 0, notices: Vec::new() }),
        };
        let Existing { patterns, quota, existing, notices: more } = existing;
        notices.extend(more);
        let engine = engine.select(expected_attempts(&patterns, &quota))?;
        let protection = match (passphrase, encryption) {
            (Some(source), Some(encryption)) if !patterns.is_empty() => {
                Some(Arc::new(source.protection(&encryption, &mut stop)?))
            }
            _ => None,
        };
        let stop = match stop {
            Some(stop) => stop,
            None => Stop::on_signals().map_err(JobError::Signals)?,
        };
        let format = destination.format(format);
        Ok(Self {
            patterns,
            notices,
            quota,
            existing,
            engine,
            threads,
            timeout,
            destination,
            format,
            ledger,
            protection,
            comment,
            output,
            stop,
        })
    }

    /// Returns the comment on a find.
    #[must_use]
    pub fn comment(&self, find: &Find) -> &str {
        self.comment.as_deref().unwrap_or_else(|| self.patterns[find.patterns[0]].text())
    }

    /// Returns the number of threads that the engine takes.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.engine.workers(self.threads.get())
    }
}

/// Returns a destination's error as a complaint.
fn with_hint(error: &StoreError) -> Complaint {
    let complaint = Complaint::new(error.to_string());
    match error.hint() {
        Some(hint) => complaint.hint(hint),
        None => complaint,
    }
}
