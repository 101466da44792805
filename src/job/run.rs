//! Runs an open search.

use std::sync::Arc;

use super::delivery::Delivery;
use super::error::JobError;
use super::open::PreparedSearch;
use super::place::Places;
use super::teller::{Close, Event, Reporter, Teller};
use crate::plan::SearchPlan;
use crate::search::{End, Search};
use crate::sys::draw_hash_keys;

/// Ends the process with the status of a job whose results nobody reads. It is also passed where the keys
/// are that were not told.
pub type Abandon = fn(&Result<End, JobError>, &Places) -> !;

impl PreparedSearch {
    /// Searches, and delivers the finds. The reporter works on a thread of its own.
    ///
    /// After a timeout or a signal, the results that are not told within 300 ms are not waited for:
    /// that is left to `abandon`, because the thread may be blocked.
    ///
    /// # Errors
    ///
    /// Returns an error if the search fails, or if a find cannot be kept or told.
    pub fn run(&self, reporter: &mut (impl Reporter + Send), abandon: Abandon) -> Result<End, JobError> {
        let teller = Teller::default();
        std::thread::scope(|scope| {
            let listener = std::thread::Builder::new().name("report".into());
            let listen = || {
                // Objects of JSON are hash maps. If there are no keys for them, the first one reports it.
                let _ = draw_hash_keys();
                teller.listen(reporter);
            };
            listener.spawn_scoped(scope, listen).map_err(JobError::Thread)?;
            let _close = Close(&teller);
            let mut delivery = Delivery::new(self, &teller)?;
            self.search(&mut delivery, &teller);
            let is_stopped = self.stop.requested().is_some();
            let mut is_told = teller.wait(&self.stop);
            delivery.rescue(is_told);
            delivery.conclude();
            if let Some(commands) = delivery.commands.take() {
                // A request to stop that came while nobody read the results is for the commands, too.
                if is_told || is_stopped {
                    delivery.outcome = commands.finish(&teller, delivery.outcome);
                } else {
                    commands.give_up(&teller);
                    delivery.cut_short();
                }
                // The reader may have read meanwhile.
                is_told = true;
            }
            if !(is_told && teller.wait(&self.stop)) {
                delivery.cut_short();
                abandon(&delivery.outcome, &delivery.untold());
            }
            // Everything is kept and told.
            self.stop.finish();
            match teller.take_error(|_| true) {
                Some(error) if delivery.outcome.is_ok() => {
                    Err(JobError::Stdout(error, teller.untold().hint()))
                }
                _ => delivery.outcome,
            }
        })
    }

    /// Searches for the keys that are missing.
    fn search(&self, delivery: &mut Delivery, teller: &Teller) {
        self.plan.notices.iter().for_each(|notice| teller.notice(notice.clone()));
        if self.plan.patterns.is_empty() {
            return teller.tell(Event::NothingMissing);
        }
        let SearchPlan { patterns, quota, threads, .. } = &self.plan;
        let search = Search::new(patterns)
            .engine(Arc::clone(&self.engine))
            .threads(*threads)
            .quota(quota.clone())
            .stop(&self.stop);
        let searched = search.observe(delivery);
        delivery.end(searched);
    }
}
