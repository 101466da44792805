//! Runs an open search.

use super::agent::{AgentLog, outcome};
use super::delivery::{Delivery, prepare};
use super::error::JobError;
use super::hooks::Hooks;
use super::open::OpenSearch;
use super::rate::RateMeter;
use super::reporter::Reporter;
use crate::search::{End, Find, Goal, Search};

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
        reporter.odds();
        let preparation = |find: &Find| prepare(self, find);
        let search = Search {
            engine: &*self.engine,
            patterns: &self.patterns,
            threads: self.threads,
            goal: Goal::Keys(self.quota.clone()),
            timeout: self.timeout,
            prepare: self.protection.is_some().then_some(&preparation),
        };
        let meter = RateMeter::new(self.output.json || !self.output.quiet);
        let hooks = self.exec.as_deref().map(|command| Hooks::start(command, &self.stop)).transpose()?;
        let mut delivery = Delivery { search: self, reporter, meter, agent: AgentLog::default(), hooks };
        let searched = search.run(&self.stop, &mut delivery).map_err(JobError::of_search);
        let ended = searched.and_then(|summary| {
            let rate = delivery.meter.so_far(summary.attempts, summary.elapsed);
            delivery.report_rate(rate)?;
            let added = outcome(delivery.agent.not_added);
            delivery.reporter.summary(&summary).map_err(JobError::Stdout)?;
            match summary.end {
                End::Signal(_) => Ok(summary.end),
                end => added.map(|()| end),
            }
        });
        match delivery.hooks {
            Some(hooks) => hooks.finish(&self.stop, reporter, ended),
            None => ended,
        }
    }
}
