//! Runs an open search.

use std::sync::Arc;
use std::time::Duration;

use super::agent::outcome;
use super::delivery::Delivery;
use super::encryption::Encryption;
use super::error::JobError;
use super::exec_queue::ExecQueue;
use super::last_second::TO_TELL;
use super::open::PreparedSearch;
use super::place::Whereabouts;
use super::rate::RateMeter;
use super::reporter::{Event, Reporter};
use super::teller::{Close, Teller, Told};
use crate::search::{End, Progress, Search, Summary};
use crate::sys::draw_hash_keys;

/// Ends the process with the status of a job whose results nobody reads. It is also passed where the keys
/// are that were not told.
pub type Abandon = fn(&Result<End, JobError>, &Whereabouts) -> !;

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
            let mut stopped = None;
            let Searched { ended, untold, told } = self.search(&teller, &mut stopped)?;
            let told = match told {
                Told::All => teller.wait(&self.stop, patience(&ended, stopped)),
                late => late,
            };
            if let Told::NotInTime(later) = told {
                abandon(&interrupted(ended, stopped.or(later)), &untold);
            }
            // Everything is kept and told.
            self.stop.finish();
            match teller.take_error() {
                Some(error) if ended.is_ok() => Err(JobError::Stdout(error, teller.untold().into())),
                _ => ended,
            }
        })
    }

    /// Searches, has the results told, and runs the commands after finds. `stopped` becomes the request
    /// to stop that came during the search, even if the search is complete.
    fn search(&self, teller: &Teller, stopped: &mut Option<End>) -> Result<Searched, JobError> {
        self.notices.iter().for_each(|notice| teller.notice(notice.clone()));
        if self.patterns.is_empty() {
            teller.tell(Event::NothingMissing);
            return Ok(Searched {
                ended: Ok(End::Complete),
                untold: Whereabouts::default(),
                told: Told::All,
            });
        }
        let search = Search::new(&self.patterns)
            .engine(Arc::clone(&self.engine))
            .threads(self.threads)
            .quota(self.quota.clone())
            .stop(&self.stop);
        let encryption = self.protection.as_ref().map(|_| Encryption::start(self.threads.get()));
        let encryption = encryption.transpose().map_err(JobError::Thread)?;
        let meter = RateMeter::new(self.output.json || !self.output.quiet);
        let start = |command| ExecQueue::start(command, &self.stop);
        let commands = self.keys.exec.as_deref().map(start).transpose()?;
        let mut delivery = Delivery::new(self, teller, meter, commands, encryption);
        let searched = search.observe(&mut delivery).map_err(JobError::of_search);
        let progress = searched.as_ref().map_or(Progress::NONE, Summary::progress);
        let (given_up, encrypted) = delivery.encrypt_last(progress);
        let searched = searched.and_then(|summary| encrypted.map(|()| summary)).map(|mut summary| {
            summary.found -= given_up.len() as u64;
            if let (End::Complete, false) = (summary.end, given_up.is_empty()) {
                summary.end = self.stop.requested().unwrap_or(summary.end);
            }
            summary
        });
        let entered = delivery.lines.as_mut().map_or(Ok(true), |lines| lines.finish(searched.is_err()));
        *stopped = self.stop.requested();
        let lacks_lines = matches!(entered, Ok(false));
        let searched = searched.and_then(|summary| entered.map(|_| summary));
        if !matches!(searched, Ok(ref summary) if summary.end == End::Complete) {
            teller.hurry();
        }
        let ended = searched.and_then(|summary| {
            let rate = delivery.meter.so_far(&summary.progress());
            delivery.tell_rate(rate);
            let (end, added) = (summary.end, outcome(delivery.agent.not_added));
            teller.tell(Event::Summary { summary, given_up });
            match end {
                End::Signal(_) => Ok(end),
                end if lacks_lines => Ok(stopped.unwrap_or(end)),
                end => added.map(|()| end),
            }
        });
        let told = teller.wait(&self.stop, patience(&ended, *stopped));
        delivery.rescue(&told);
        let ended = delivery.outcome(ended);
        let untold = delivery.untold();
        let (ended, told) = match (delivery.commands, told) {
            (Some(mut commands), Told::NotInTime(Some(later))) => {
                commands.give_up(teller);
                (interrupted(ended, Some(later)), Told::All)
            }
            (Some(commands), _) => (commands.finish(&self.stop, teller, ended), Told::All),
            (None, told) => (ended, told),
        };
        Ok(Searched { ended, untold, told })
    }
}

/// A search that is over.
struct Searched {
    ended: Result<End, JobError>,
    /// Where the keys are whose finds were not told.
    untold: Whereabouts,
    /// How the telling of its results has ended.
    told: Told,
}

/// Returns how long the results of a job are told at most, unless they have all the time that they
/// need.
fn patience(ended: &Result<End, JobError>, stopped: Option<End>) -> Option<Duration> {
    let is_over = matches!(ended, Ok(End::Timeout | End::Signal(_))) || stopped.is_some();
    is_over.then_some(TO_TELL)
}

/// Returns the end of a job whose results a request to stop has cut short.
fn interrupted(ended: Result<End, JobError>, stopped: Option<End>) -> Result<End, JobError> {
    ended.map(|end| stopped.unwrap_or(end))
}
