//! Runs an open search.

use std::sync::Arc;

use super::delivery::Delivery;
use super::error::JobError;
use super::exec_queue::ExecQueue;
use super::last_second::TO_TELL;
use super::open::PreparedSearch;
use super::place::Places;
use super::teller::{Close, Event, Reporter, Teller};
use crate::search::{End, Search, Stop};
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
            let mut ending = self.search(&teller)?;
            ending.tell(&teller, &self.stop);
            if !ending.is_told {
                ending.cut_short(&self.stop);
                abandon(&ending.outcome, &ending.untold);
            }
            // Everything is kept and told.
            self.stop.finish();
            match teller.take_error(|_| true) {
                Some(error) if ending.outcome.is_ok() => Err(JobError::Stdout(error, teller.untold().into())),
                _ => ending.outcome,
            }
        })
    }

    /// Searches, has the results told, and runs the commands after finds.
    fn search(&self, teller: &Teller) -> Result<Ending, JobError> {
        self.notices.iter().for_each(|notice| teller.notice(notice.clone()));
        if self.patterns.is_empty() {
            teller.tell(Event::NothingMissing);
            return Ok(Ending::new(Ok(End::Complete), None));
        }
        let search = Search::new(&self.patterns)
            .engine(Arc::clone(&self.engine))
            .threads(self.threads)
            .quota(self.quota.clone())
            .stop(&self.stop);
        let mut delivery = Delivery::new(self, teller)?;
        let searched = search.observe(&mut delivery).map_err(JobError::of_search);
        let (outcome, stopped) = delivery.end(searched);
        let mut ending = Ending::new(outcome, stopped);
        ending.tell(teller, &self.stop);
        delivery.rescue(ending.is_told);
        ending.outcome = delivery.outcome(ending.outcome);
        ending.untold = delivery.untold();
        Ok(match delivery.commands {
            Some(commands) => ending.after(&commands, teller, &self.stop),
            None => ending,
        })
    }
}

/// The end of a job, which the last stages change.
struct Ending {
    outcome: Result<End, JobError>,
    /// The request to stop that came during the search, even if the search is complete.
    stopped: Option<End>,
    /// Whether the results are told. Otherwise nobody read them in time.
    is_told: bool,
    /// Where the keys are whose finds were not told.
    untold: Places,
}

impl Ending {
    fn new(outcome: Result<End, JobError>, stopped: Option<End>) -> Self {
        Self { outcome, stopped, is_told: true, untold: Places::default() }
    }

    /// Whether a request to stop has ended the search, or came during it.
    fn is_stopped(&self) -> bool {
        self.stopped.is_some() || matches!(self.outcome, Ok(End::Timeout | End::Signal(_)))
    }

    /// Waits until the results are told, unless they were not told in time before. After a request to stop
    /// they have little time.
    fn tell(&mut self, teller: &Teller, stop: &Stop) {
        self.is_told = self.is_told && teller.wait(stop, self.is_stopped().then_some(TO_TELL));
    }

    /// Waits for the commands. Gives them up if a request to stop came while nobody read the results.
    fn after(mut self, commands: &ExecQueue, teller: &Teller, stop: &Stop) -> Self {
        if self.is_told || self.is_stopped() {
            return Self { outcome: commands.finish(teller, self.outcome), is_told: true, ..self };
        }
        commands.give_up(teller);
        self.cut_short(stop);
        Self { is_told: true, ..self }
    }

    /// Makes the request to stop the end of a job whose results it has cut short.
    fn cut_short(&mut self, stop: &Stop) {
        if let (Ok(end), Some(requested)) = (&mut self.outcome, stop.requested()) {
            *end = requested;
        }
    }
}
