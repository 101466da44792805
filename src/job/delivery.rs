//! Delivers finds: stores them at their destination, and then has them told.
//!
//! Every find takes the same route, alone or in a group: its files are durable, the agent has the
//! key, the ledger has its line, the command after finds is queued, and then the find is told. A step
//! that fails costs no key: what is not kept at its destination is kept elsewhere.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use super::agent::AgentLog;
use super::encryption::{Encryption, Work};
use super::error::JobError;
use super::exec_queue::{ExecQueue, not_run};
use super::last_second::TO_ENCRYPT;
use super::ledger_lines::LedgerLines;
use super::open::PreparedSearch;
use super::parcel::Parcel;
use super::place::{Place, Places};
use super::rate::{Rate, RateMeter};
use super::rescue::{Attempt, Screen, last_attempts};
use super::teller::{Event, Teller};
use crate::escape::{quoted_start, shell_word};
use crate::ledger::Entry;
use crate::notice::Notice;
use crate::pattern::PatternId;
use crate::plan::SearchPlan;
use crate::search::{End, Find, Observer, Progress, Quota, SearchError, Summary};
use crate::store::{Destination, NewPair, most_together};
use crate::sys::{WipeStack, reader_gone};
use crate::words::counted;

/// The error of a write to a terminal that is closed.
#[cfg(unix)]
const CLOSED_TERMINAL: Option<i32> = Some(rustix::io::Errno::IO.raw_os_error());
#[cfg(not(unix))]
const CLOSED_TERMINAL: Option<i32> = None;

/// How often a request to stop is looked for while keys are encrypted after the search.
const POLL: Duration = Duration::from_millis(50);

/// Stores finds at the destination of the plan, and then has them told.
pub(super) struct Delivery<'a> {
    search: &'a PreparedSearch,
    plan: &'a SearchPlan,
    teller: &'a Teller,
    meter: RateMeter,
    agent: AgentLog,
    /// The commands that run after finds, if any.
    pub(super) commands: Option<Arc<ExecQueue>>,
    /// The finds that are being encrypted, if private keys are.
    encryption: Option<Encryption>,
    /// Whether the search has waited for it since the last progress.
    has_waited: bool,
    /// The lines for the ledger, if there is one.
    lines: Option<LedgerLines<'a>>,
    /// Where the keys are that their destination did not take.
    refused: Places,
    /// Whether the reporter is no longer waited for.
    is_abandoned: bool,
    /// How the job has ended so far. The first error stays, and is printed at the end.
    pub(super) outcome: Result<End, JobError>,
}

/// The error of a delivery that has failed. [`Delivery::outcome`] has the reason.
pub(super) struct Failed;

impl<'a> Delivery<'a> {
    pub(super) fn new(search: &'a PreparedSearch, teller: &'a Teller) -> Result<Self, JobError> {
        let start = |command| ExecQueue::start(command, &search.stop);
        let encryption = search.protection.as_ref().map(|_| Encryption::start(search.plan.threads.get()));
        Ok(Self {
            search,
            plan: &search.plan,
            teller,
            meter: RateMeter::new(search.plan.output.json || !search.plan.output.quiet),
            agent: AgentLog::default(),
            commands: search.plan.keys.exec.as_deref().map(start).transpose()?,
            encryption: encryption.transpose().map_err(JobError::Thread)?,
            has_waited: false,
            lines: LedgerLines::new(search, teller),
            refused: Places::default(),
            is_abandoned: false,
            outcome: Ok(End::Complete),
        })
    }

    /// Has the rate of this machine told, if it is known.
    fn tell_rate(&mut self, rate: Option<Rate>) {
        if let Some(rate) = rate {
            self.teller.tell(Event::Rate(rate));
        }
    }

    /// Queues the commands of the finds that are written to stdout.
    fn add_written_commands(&self) {
        let written = self.teller.take_written();
        written.iter().filter_map(|event| event.key()).for_each(|parcel| self.add_command(parcel));
    }

    /// Takes parcels along their route, in groups. After a failure, the others are delivered all the same.
    fn deliver(&mut self, mut parcels: Vec<Parcel>) {
        let _stack = WipeStack;
        // Until the finds are kept, a second signal does not end the process.
        let _signals = self.search.stop.hold_off();
        while !parcels.is_empty() {
            let others = parcels.split_off(parcels.len().min(most_together()));
            self.deliver_together(std::mem::replace(&mut parcels, others));
        }
    }

    fn deliver_together(&mut self, mut parcels: Vec<Parcel>) {
        self.keep(&mut parcels);
        self.add_to_agent(&mut parcels);
        let is_entered = self.enter(&parcels);
        self.queue_commands(&parcels, is_entered);
        for parcel in parcels {
            self.tell(parcel);
        }
    }

    /// Returns the work that makes a parcel of a find. With a passphrase it takes long.
    fn work(&self, find: Find) -> Work {
        let format = self.plan.keys.format;
        let comment = self.plan.keys.comment(self.search.first_pattern(&find.patterns)).into_owned();
        let protection = self.search.protection.clone();
        Box::new(move || Parcel::of(find, format, comment, protection.as_deref()))
    }

    /// Delivers what was encrypted meanwhile, and waits for the first find for `most` at most.
    fn deliver_encrypted(&mut self, most: Duration) {
        let parcels = self.encryption.as_mut().map_or(Vec::new(), |encryption| encryption.take(most));
        self.deliver(parcels);
    }

    /// Returns the first pattern of each find that is not yet encrypted.
    fn unencrypted(&self) -> &[PatternId] {
        self.encryption.as_ref().map_or(&[], Encryption::unfinished)
    }

    /// Does what is left when the search is over: delivers the keys that are still being encrypted, writes the
    /// lines that wait for the ledger, and has it told how the search has ended.
    pub(super) fn end(&mut self, searched: Result<Summary, SearchError<Failed>>) {
        let mut searched = match searched {
            Ok(summary) => Some(summary),
            Err(error) => {
                JobError::of_search(error).into_iter().for_each(|error| self.fail(error));
                None
            }
        };
        let given_up = self.encrypt_last(searched.as_ref().map_or(Progress::NONE, Summary::progress));
        if let Some(summary) = &mut searched {
            summary.found -= given_up.len() as u64;
            if summary.end == End::Complete && !given_up.is_empty() {
                summary.end = self.search.stop.requested().unwrap_or(summary.end);
            }
        }
        let finish = |lines: &mut LedgerLines| lines.finish(self.outcome.is_err());
        let has_lines = self.lines.as_mut().map_or(Ok(true), finish).unwrap_or_else(|error| {
            self.fail(error);
            false
        });
        let summary = searched.filter(|_| self.outcome.is_ok());
        if summary.as_ref().is_none_or(|summary| summary.end != End::Complete) {
            self.teller.hurry();
        }
        let Some(summary) = summary else { return };
        let rate = self.meter.so_far(&summary.progress());
        self.tell_rate(rate);
        let (end, not_added) = (summary.end, self.agent.not_added);
        self.teller.tell(Event::Summary { summary, given_up });
        self.outcome = match end {
            End::Signal(_) => Ok(end),
            // The ledger was in use to the end.
            _ if !has_lines => Ok(self.search.stop.requested().unwrap_or(end)),
            _ if not_added > 0 => Err(JobError::NotAdded(not_added)),
            _ => Ok(end),
        };
    }

    /// Delivers the keys that are still being encrypted after this progress of the search. Those that are not
    /// encrypted soon after a request to stop are given up. Returns the first pattern of each of these.
    fn encrypt_last(&mut self, progress: Progress) -> Vec<PatternId> {
        let began = Instant::now();
        while !self.unencrypted().is_empty() {
            let until = self.search.stop.deadline(TO_ENCRYPT);
            let is_late = until.is_some_and(|until| until <= Instant::now());
            self.deliver_encrypted(if is_late { Duration::ZERO } else { POLL });
            if is_late {
                break;
            }
            let progress = Progress { elapsed: progress.elapsed + began.elapsed(), ..progress };
            self.teller.tell(Event::Progress { progress, is_encrypting: true });
        }
        let mut given_up = self.unencrypted().to_vec();
        given_up.sort_unstable();
        for same in given_up.chunk_by(|a, b| a == b) {
            self.teller.failure(format!(
                "gave up {} for '{}': the encryption did not finish in time; run the same command again",
                counted(same.len() as u64, "key"),
                self.plan.patterns[same[0]].text()
            ));
        }
        given_up
    }

    /// Keeps parcels in durable files: at their destination, or else elsewhere.
    fn keep(&mut self, parcels: &mut [Parcel]) {
        let mut all: Vec<&mut Parcel> = parcels.iter_mut().collect();
        if self.plan.keys.destination != Destination::Stream {
            self.offer(&mut all, &Attempt::First);
            self.offer(&mut all, &Attempt::Second);
        }
        for parcel in all.iter().filter(|parcel| matches!(parcel.place, Place::Reported)) {
            let (why, hint) = (parcel.refusals[0].clone(), parcel.hint.clone());
            self.fail(JobError::Unkept { why, hint });
        }
        if !self.plan.keys.is_agent_alone() {
            self.keep_elsewhere(parcels);
        }
    }

    /// Keeps the parcels that were refused at the first of the last places that takes them.
    fn keep_elsewhere(&mut self, parcels: &mut [Parcel]) {
        let mut refused: Vec<&mut Parcel> = parcels.iter_mut().filter(|parcel| parcel.is_refused()).collect();
        if refused.is_empty() {
            return;
        }
        for attempt in last_attempts(refused.iter().any(|parcel| parcel.is_exposed)) {
            self.offer(&mut refused, &attempt);
        }
        refused.iter_mut().filter(|parcel| parcel.is_refused()).for_each(|parcel| self.show(parcel));
        // An agent that takes no key is an error of its own.
        refused.retain(|parcel| parcel.added.is_none() || parcel.kept().is_none());
        refused.iter().for_each(|parcel| self.refused.add(&parcel.place));
        self.refused.is_named = !self.is_abandoned;
        if let (Some(first), false) = (refused.first(), self.is_abandoned) {
            self.fail(JobError::Unkept { why: first.refusals[0].clone(), hint: None });
        }
    }

    /// Makes such a try for the parcels that want it.
    fn offer(&mut self, parcels: &mut [&mut Parcel], attempt: &Attempt) {
        let search = self.search;
        let destination = match attempt {
            Attempt::First | Attempt::Second => &search.plan.keys.destination,
            Attempt::Elsewhere { directory, .. } => directory,
        };
        let mut offered: Vec<_> = parcels.iter_mut().filter(|parcel| parcel.wants(attempt)).collect();
        if offered.is_empty() {
            return;
        }
        let before_names = || {
            if let (Attempt::First, Some(lines)) = (attempt, &mut self.lines) {
                lines.hold();
            }
        };
        let pairs: Vec<NewPair> = offered.iter().filter_map(|parcel| search.pair(parcel)).collect();
        let kept = destination.keep(&pairs, search.plan.keys.allow_exposed, before_names);
        // In a directory each key has a name of its own. A file of the user's choice may be another's.
        let has_own_name = matches!(destination, Destination::Directory(_));
        for (parcel, kept) in offered.iter_mut().zip(kept) {
            parcel.settle(attempt, kept, has_own_name);
            if let Attempt::Elsewhere { is_in_memory, .. } = attempt {
                self.tell_elsewhere(parcel, *is_in_memory);
            }
        }
    }

    /// Has it told in which other file a parcel is kept, if it is.
    fn tell_elsewhere(&self, parcel: &Parcel, is_in_memory: bool) {
        let Some(kept) = parcel.kept() else { return };
        let (why, file) = (&parcel.refusals[0], shell_word(&kept.private_file));
        let copy = "in memory: copy it before a restart";
        match (&parcel.added, is_in_memory) {
            (None, true) => self.teller.failure(format!("{why}; the key is kept in {file} instead, {copy}")),
            (None, false) => self.teller.failure(format!("{why}; the key is kept in {file} instead")),
            // The report of the find names the file.
            (Some(_), true) => self.teller.failure(format!("{file} is {copy}")),
            (Some(_), false) => {}
        }
    }

    /// Shows a key that no file takes on a terminal, if there is one.
    fn show(&mut self, parcel: &mut Parcel) {
        let why = parcel.refusals.join(", and ");
        // A reporter that is blocked shows nothing.
        let screen = if self.is_abandoned { None } else { Screen::find() };
        let end = match screen {
            Some(Screen::Stderr) => "this is the private key:",
            Some(_) => "the terminal shows the private key",
            None => "the key is lost",
        };
        self.teller.failure(format!("{why}; {end}"));
        parcel.place = Place::Reported;
        match screen {
            Some(screen) => {
                self.refused.shown += 1;
                self.teller.tell(Event::Show(Zeroizing::new(parcel.private_text().to_owned()), screen));
            }
            None => self.refused.lost += 1,
        }
    }

    /// Adds parcels to the agent, if the plan asks for it. Those that only the agent would have had go to
    /// files if it does not take them.
    fn add_to_agent(&mut self, parcels: &mut [Parcel]) {
        let search = self.search;
        let Some(agent) = &search.agent else { return };
        let pairs: Vec<NewPair> = parcels.iter().filter_map(|parcel| search.pair(parcel)).collect();
        let added = self.agent.add(agent, &pairs, &search.stop);
        for (parcel, added) in parcels.iter_mut().zip(added) {
            match &added {
                Ok(()) if parcel.is_in_memory() => parcel.place = Place::Agent,
                Err(error) if parcel.is_in_memory() => parcel.refusals.insert(0, error.to_string()),
                _ => {}
            }
            parcel.added = Some(added);
        }
        self.keep_elsewhere(parcels);
    }

    /// Writes the lines of parcels to the ledger, if there is one. Returns false if that fails.
    fn enter(&mut self, parcels: &[Parcel]) -> bool {
        let search = self.search;
        let Some(lines) = &mut self.lines else { return true };
        let entry = |parcel: &Parcel| match &parcel.place {
            Place::Files(kept) => Some(Entry::of(&parcel.find, &search.plan.patterns, &parcel.comment, kept)),
            _ => None,
        };
        match lines.add(parcels.iter().filter_map(entry).collect()) {
            Ok(()) => true,
            Err(error) => {
                self.fail(error);
                false
            }
        }
    }

    /// Queues the commands of the parcels that are kept, but not of those whose line the ledger lacks.
    fn queue_commands(&self, parcels: &[Parcel], is_entered: bool) {
        let mut unqueued = Vec::new();
        for parcel in parcels {
            match &parcel.place {
                Place::Files(_) if !is_entered => unqueued.push(self.name(parcel)),
                Place::Files(_) | Place::Elsewhere(_) | Place::Agent => self.add_command(parcel),
                // A key in memory is kept when it is written to stdout.
                Place::Memory | Place::Reported => {}
            }
        }
        if self.commands.is_some() && !unqueued.is_empty() {
            self.teller.failure(not_run(unqueued.iter().map(String::as_str)));
        }
    }

    /// Has a parcel told, unless an error has told it.
    fn tell(&mut self, mut parcel: Parcel) {
        if matches!(parcel.place, Place::Reported) {
            return;
        }
        parcel.wipe();
        self.teller.tell(Event::Found(Box::new(parcel)));
    }

    /// Keeps the keys elsewhere that stdout has not taken, when no more are found. `is_read` is whether
    /// everything else was told.
    pub(super) fn rescue(&mut self, is_read: bool) {
        let _stack = WipeStack;
        let _signals = self.search.stop.hold_off();
        self.add_written_commands();
        self.is_abandoned = !is_read;
        let why = self.teller.why_unwritten();
        let unwritten = self.teller.take_unwritten();
        let keys = unwritten.iter().filter_map(|event| event.key());
        let mut parcels: Vec<Parcel> = keys.map(|parcel| parcel.not_written(&why)).collect();
        for parcels in parcels.chunks_mut(most_together()) {
            self.keep_elsewhere(parcels);
            self.queue_commands(parcels, true);
        }
    }

    /// Returns where the keys are whose finds were not told.
    pub(super) fn untold(&self) -> Places {
        if self.is_for_stdout() { self.refused.clone() } else { self.teller.untold() }
    }

    /// Completes the outcome with what is known in the end: whether stdout took the results, and where keys
    /// are that are not where they were to go.
    pub(super) fn conclude(&mut self) {
        match (self.teller.take_error(|_| true), &self.outcome) {
            // The signal is the reason, and often closes the terminal.
            (Some(error), Ok(End::Signal(_))) => self.teller.failure(JobError::stdout(error).to_string()),
            (Some(error), Ok(_)) => self.outcome = Err(JobError::stdout(error)),
            _ => {}
        }
        let (refused, untold) = (self.refused.hint(), self.untold().hint());
        match &mut self.outcome {
            Err(JobError::Unkept { hint, .. }) => *hint = refused.or(hint.take()),
            Err(JobError::Stdout(_, hint)) => *hint = untold,
            _ => {}
        }
    }

    /// Makes the request to stop the end of a job whose results it has cut short.
    pub(super) fn cut_short(&mut self) {
        if let (Ok(end), Some(requested)) = (&mut self.outcome, self.search.stop.requested()) {
            *end = requested;
        }
    }

    /// Whether private keys go to stdout.
    fn is_for_stdout(&self) -> bool {
        let keys = &self.plan.keys;
        keys.destination == Destination::Stream && !keys.is_agent_alone()
    }

    /// Fails if a result cannot be written to stdout. A terminal that was closed ends no search whose keys go
    /// to files.
    fn check_stdout(&mut self) {
        let is_for_stdout = self.is_for_stdout();
        let ends = |error: &io::Error| is_for_stdout || error.raw_os_error() != CLOSED_TERMINAL;
        self.teller.take_error(ends).into_iter().for_each(|error| self.fail(JobError::stdout(error)));
    }

    /// Takes an error of the search. The first one is the outcome, and different ones are told.
    fn fail(&mut self, error: JobError) {
        let text = error.to_string();
        match &self.outcome {
            Ok(_) => self.outcome = Err(error),
            Err(first) if first.to_string() == text => {}
            // What became of each of these keys is told already.
            Err(_) if matches!(&error, JobError::Unkept { hint: None, .. }) => {}
            Err(_) => self.teller.failure(text),
        }
    }

    /// Returns an error after a failure, which ends the search.
    fn verdict(&self) -> Result<(), Failed> {
        if self.outcome.is_ok() { Ok(()) } else { Err(Failed) }
    }

    /// Returns the name of a find in messages about its command: the pattern, and with several keys for a
    /// pattern also its file or its fingerprint.
    fn name(&self, parcel: &Parcel) -> String {
        let pattern = quoted_start(self.search.first_pattern(&parcel.find.patterns).text());
        match parcel.kept() {
            _ if self.plan.quota == Quota::Each(1) => pattern,
            Some(kept) => format!("{pattern} in {}", shell_word(&kept.private_file)),
            None => format!("{pattern}, {}", parcel.find.public_key.fingerprint()),
        }
    }

    fn add_command(&self, parcel: &Parcel) {
        if let Some(commands) = &self.commands {
            let pattern = self.search.first_pattern(&parcel.find.patterns).text();
            commands.add(self.name(parcel), parcel, pattern);
        }
    }
}

impl PreparedSearch {
    /// Returns the key pair of a parcel, unless it is wiped. Its files get their names from the first
    /// pattern.
    fn pair<'a>(&'a self, parcel: &'a Parcel) -> Option<NewPair<'a>> {
        let key = parcel.key()?;
        Some(NewPair {
            seed: &key.seed,
            public_key: &parcel.find.public_key,
            label: self.first_pattern(&parcel.find.patterns).text(),
            comment: &parcel.comment,
            format: key.format,
            private_text: &key.text,
        })
    }
}

impl Observer for Delivery<'_> {
    type Error = Failed;

    fn begin(&mut self) {
        // With commands, the second signal ends the waiting for them.
        self.search.stop.answer(if self.commands.is_some() { 2 } else { 1 });
        self.teller.tell(Event::Begin);
    }

    fn found(&mut self, finds: Vec<Find>) -> Result<(), Failed> {
        let first = &finds[0];
        let rate = self.meter.so_far(&Progress::of(first.tried, first.elapsed));
        self.tell_rate(rate);
        let work: Vec<_> = finds.into_iter().map(|find| (find.patterns[0], self.work(find))).collect();
        match &mut self.encryption {
            Some(encryption) => work.into_iter().for_each(|(first, work)| encryption.add(first, work)),
            None => self.deliver(work.into_iter().map(|(_, work)| work()).collect()),
        }
        self.check_stdout();
        self.verdict()
    }

    fn progress(&mut self, progress: &Progress) -> Result<(), Failed> {
        let has_waited = std::mem::take(&mut self.has_waited);
        if has_waited || !self.unencrypted().is_empty() {
            // Encryption takes time from the search.
            self.meter.begin_again();
        }
        let rate = self.meter.progress(&*self.search.engine, progress);
        self.tell_rate(rate);
        self.teller.tell(Event::Progress { progress: *progress, is_encrypting: has_waited });
        let entered = self.lines.as_mut().map_or(Ok(()), |lines| lines.retry(Duration::ZERO));
        entered.unwrap_or_else(|error| self.fail(error));
        self.add_written_commands();
        if let Some(commands) = &self.commands {
            commands.report(self.teller);
        }
        self.check_stdout();
        // A reader that leaves after the last key has all of them.
        let gone = if self.is_for_stdout() { reader_gone() } else { None };
        gone.into_iter().for_each(|error| self.fail(JobError::stdout(error)));
        self.verdict()
    }

    fn ready(&mut self) -> Result<usize, Failed> {
        self.deliver_encrypted(Duration::ZERO);
        self.verdict()?;
        let room = self.encryption.as_ref().map_or(usize::MAX, Encryption::room);
        self.has_waited |= room == 0;
        Ok(if self.teller.has_room() { room } else { 0 })
    }

    fn notice(&mut self, notice: &Notice) {
        self.teller.notice(notice.clone());
    }
}
