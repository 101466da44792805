//! Runs an open search.

use std::time::Duration;

use super::delivery::{Delivery, prepare};
use super::error::JobError;
use super::open::OpenSearch;
use super::reporter::Reporter;
use crate::search::{End, Find, Goal, Measure, Search, Unmeasured};

/// How long the rate of this machine is measured before a search. Each thread tries some batches.
const CALIBRATION_TIME: Duration = Duration::from_millis(10);

impl OpenSearch {
    /// Searches, and delivers the finds.
    ///
    /// # Errors
    ///
    /// Returns an error if the search fails, or if a find cannot be kept or reported.
    pub fn run(&self, reporter: &mut impl Reporter) -> Result<End, JobError> {
        for notice in &self.notices {
            reporter.notice(notice);
        }
        if self.patterns.is_empty() {
            reporter.nothing_missing().map_err(JobError::Stdout)?;
            return Ok(End::Complete);
        }
        if self.output.json || !self.output.quiet {
            let measure = Measure { patterns: &self.patterns, threads: self.threads, stop: &self.stop };
            match measure.rate(&*self.engine, CALIBRATION_TIME) {
                Ok(rate) => reporter.odds(rate).map_err(JobError::Stdout)?,
                // The search sees the same signal at once, and reports it.
                Err(Unmeasured::Signal(_)) => {}
                Err(Unmeasured::Failed(error)) => return Err(JobError::Search(error)),
            }
        }
        let preparation = |find: &Find| prepare(self, find);
        let search = Search {
            engine: &*self.engine,
            patterns: &self.patterns,
            threads: self.threads,
            goal: Goal::Keys(self.quota.clone()),
            timeout: self.timeout,
            prepare: self.protection.is_some().then_some(&preparation),
        };
        let mut delivery = Delivery { search: self, reporter };
        let summary = search.run(&self.stop, &mut delivery).map_err(JobError::of_search)?;
        reporter.summary(&summary).map_err(JobError::Stdout)?;
        Ok(summary.end)
    }
}
