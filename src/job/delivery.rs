//! Delivers finds: stores each at its destination, and then has it told.
//!
//! The order is the same for one find and for several: the files are durable, the agent has the
//! key, the ledger has its line, the command after finds is queued, and then the find is told.

use std::collections::VecDeque;
use std::io;

use zeroize::Zeroizing;

use super::agent::AgentLog;
use super::error::{Fate, JobError};
use super::exec_queue::ExecQueue;
use super::open::PreparedSearch;
use super::rate::{Rate, RateMeter};
use super::reporter::{Added, Delivered};
use super::rescue::{Rescue, is_watched};
use super::teller::Teller;
use crate::escape::shell_word;
use crate::ledger::{Entry, Ledger};
use crate::notice::Notice;
use crate::search::{Find, Observer, Preparation, Progress, PublicFind};
use crate::store::{Destination, FileError, Group, HeldLog, Kept, NewPair, StoreError};
use crate::sys::WipeStack;

/// Stores finds at the destination of the plan, and then has them told.
pub(super) struct Delivery<'a> {
    pub(super) search: &'a PreparedSearch,
    pub(super) teller: &'a Teller,
    pub(super) meter: RateMeter,
    pub(super) agent: AgentLog,
    /// The commands that run after finds, if any.
    pub(super) hooks: Option<ExecQueue>,
    /// The number of finds that were passed to the teller.
    passed: u64,
    /// The finds whose command waits until they are written to stdout, and their numbers.
    unwritten: VecDeque<(u64, PublicFind)>,
}

impl<'a> Delivery<'a> {
    pub(super) fn new(
        search: &'a PreparedSearch,
        teller: &'a Teller,
        meter: RateMeter,
        hooks: Option<ExecQueue>,
    ) -> Self {
        let agent = AgentLog::default();
        Self { search, teller, meter, agent, hooks, passed: 0, unwritten: VecDeque::new() }
    }

    /// Has the rate of this machine told, if it is known.
    pub(super) fn tell_rate(&mut self, rate: Option<Rate>) {
        if let Some(rate) = rate {
            self.teller.rate(rate);
        }
    }

    /// Queues the commands of the finds that are written to stdout.
    pub(super) fn add_written_hooks(&mut self) {
        let told = self.teller.told();
        while self.unwritten.front().is_some_and(|(number, _)| *number <= told) {
            if let Some((_, find)) = self.unwritten.pop_front() {
                self.add_hook(&find, None);
            }
        }
    }

    fn deliver(&mut self, find: &Find) -> Result<(), JobError> {
        let text = self.private_text(find)?;
        let stored = self.search.keys.destination.keep(&self.pair(find, &text));
        let kept = match stored {
            Ok(kept) => kept,
            Err(error) => match self.keep_again(find, &text, &error) {
                Rescued::Kept(kept) => Some(kept),
                Rescued::Fate(fate) => return Err(JobError::Store(error, fate)),
            },
        };
        let added = self.add(find);
        let delivered = match (kept, &added) {
            (Some(kept), _) => Delivered::Files(kept),
            (None, None) => Delivered::Stdout(text),
            (None, Some(Ok(()))) => Delivered::Agent,
            (None, Some(Err(refused))) => {
                let lost = |error| JobError::Unkept(format!("{refused}, and {error}"));
                Delivered::Files(Rescue::new().keep(&self.pair(find, &text)).map_err(lost)?)
            }
        };
        self.tell(find.public(), delivered, added);
        Ok(())
    }

    /// Keeps a find that its destination has not taken, because of `error`: at a second try, or else
    /// elsewhere. What is kept elsewhere is told.
    fn keep_again(&mut self, find: &Find, text: &str, error: &StoreError) -> Rescued {
        let pair = self.pair(find, text);
        // In a directory each key has a name of its own. A file of the user's choice may be another's.
        let is_named = matches!(self.search.keys.destination, Destination::Directory(_))
            || matches!(error, StoreError::File(FileError::Unsynced(..)) | StoreError::PublicFile { .. });
        match self.search.keys.destination.keep(&pair) {
            Ok(Some(kept)) => return Rescued::Kept(kept),
            // The first try has given the file its name.
            Err(StoreError::File(FileError::Exists(_))) if is_named => return Rescued::Fate(Fate::Said),
            Err(StoreError::WrongKey(_)) => return Rescued::Fate(Fate::Said),
            Err(half @ StoreError::PublicFile { .. }) => {
                self.teller.failure(half.to_string());
                return Rescued::Fate(Fate::Said);
            }
            _ => {}
        }
        let fate = match Rescue::new().keep(&pair) {
            Ok(kept) => {
                let file = shell_word(&kept.private_file);
                self.teller.failure(format!("{error}; the key is kept in {file} instead"));
                let added = self.add(find);
                self.tell(find.public(), Delivered::Files(kept), added);
                Fate::Elsewhere
            }
            Err(elsewhere) if is_watched() => {
                self.teller.failure(format!("{error}, and {elsewhere}; this is the private key:"));
                self.teller.show(Zeroizing::new(text.to_owned()));
                Fate::Shown
            }
            Err(elsewhere) => {
                self.teller.failure(format!("{error}, and {elsewhere}"));
                Fate::Lost
            }
        };
        Rescued::Fate(fate)
    }

    /// Queues the command for a find, and has the find told.
    fn tell(&mut self, find: PublicFind, delivered: Delivered, added: Option<Added>) {
        self.passed += 1;
        match &delivered {
            Delivered::Files(kept) => self.add_hook(&find, Some(kept)),
            Delivered::Agent => self.add_hook(&find, None),
            // The key is kept when it is written.
            Delivered::Stdout(_) if self.hooks.is_some() => {
                self.unwritten.push_back((self.passed, find.clone()));
            }
            Delivered::Stdout(_) => {}
        }
        self.teller.found(find, delivered, added);
    }

    /// Adds a find to the agent, if the plan asks for it.
    fn add(&mut self, find: &Find) -> Option<Added> {
        let agent = self.search.agent.as_ref()?;
        let comment = self.search.comment(&find.patterns);
        Some(agent.add(find, comment, &mut self.agent, &self.search.stop))
    }

    /// Queues the command for a find that is kept.
    fn add_hook(&mut self, find: &PublicFind, kept: Option<&Kept>) {
        if let Some(hooks) = &mut self.hooks {
            let pattern = self.search.patterns[find.patterns[0]].text();
            hooks.add(find, pattern, self.search.comment(&find.patterns), kept);
        }
    }

    /// Returns the key pair of a find whose private text is `text`. Its files get their names from
    /// the first pattern.
    fn pair<'b>(&'b self, find: &'b Find, text: &'b str) -> NewPair<'b> {
        NewPair {
            seed: &find.seed,
            public_key: &find.public_key,
            label: self.search.patterns[find.patterns[0]].text(),
            comment: self.search.comment(&find.patterns),
            format: self.search.keys.format,
            private_text: text,
        }
    }

    /// Returns the text of the private key, encrypted if the plan asks for it.
    fn private_text(&self, find: &Find) -> Result<Zeroizing<String>, JobError> {
        match &find.prepared {
            Some(text) => Ok(text.clone()),
            None => prepare(self.search, find)(&find.seed).map_err(JobError::Encode),
        }
    }

    /// Delivers several finds at once. After a failure, the finds that are kept are still told.
    fn deliver_together(&mut self, finds: &[Find], ledger: &Ledger) -> Result<(), JobError> {
        let (mut kept, stored, held) = self.store_together(finds, ledger)?;
        let mut fate = Fate::Said;
        if let Err(error) = &stored {
            let is_kept = |number: &usize| kept.iter().any(|(kept, _)| kept == number);
            let missing: Vec<usize> = (0..finds.len()).filter(|number| !is_kept(number)).collect();
            for number in missing {
                let text = self.private_text(&finds[number])?;
                match self.keep_again(&finds[number], &text, error) {
                    Rescued::Kept(again) => kept.push((number, again)),
                    Rescued::Fate(one) => fate = fate.max(one),
                }
            }
        }
        let is_complete = kept.len() == finds.len();
        let in_agent: Vec<Option<Added>> = kept.iter().map(|(number, _)| self.add(&finds[*number])).collect();

        let entry = |(number, kept): &(usize, Kept)| {
            let find = &finds[*number];
            Entry::of(find, &self.search.patterns, self.search.comment(&find.patterns), kept)
        };
        let entries: Vec<Entry> = kept.iter().map(entry).collect();
        let held = held.or_else(|| (!entries.is_empty()).then(|| ledger.hold()));
        let entered = held.map_or(Ok(()), |held| Ledger::append(&mut held?, &entries));

        for ((number, kept), added) in kept.into_iter().zip(in_agent) {
            self.tell(finds[number].public(), Delivered::Files(kept), added);
        }
        if !is_complete {
            stored.map_err(|error| JobError::Store(error, fate))?;
        }
        entered.map_err(|error| JobError::Unentered(error, ledger.path().to_owned()))
    }

    /// Stores several finds at once. Returns those that are kept, by their numbers, the first error,
    /// and the ledger.
    fn store_together(&self, finds: &[Find], ledger: &Ledger) -> Result<Stored, JobError> {
        let mut group = match Group::new(ledger.directory()) {
            Ok(group) => group,
            Err(error) => return Ok((Vec::new(), Err(error), None)),
        };
        let mut added = Ok(());
        for find in finds {
            let text = self.private_text(find)?;
            added = group.add(&self.pair(find, &text));
            if added.is_err() {
                break;
            }
        }
        let synced = group.sync();
        let held = if group.is_empty() { None } else { Some(ledger.hold()) };
        let (kept, named) = group.name();
        Ok((kept, added.and(synced).and(named), held))
    }
}

/// The finds that are kept, by their numbers, the first error, and the ledger.
type Stored = (Vec<(usize, Kept)>, Result<(), StoreError>, Option<io::Result<HeldLog>>);

/// How a find was kept that its destination has not taken at first.
enum Rescued {
    /// At a second try.
    Kept(Kept),
    /// Otherwise.
    Fate(Fate),
}

impl Observer for Delivery<'_> {
    type Error = JobError;

    fn found(&mut self, finds: &[Find]) -> Result<(), JobError> {
        let _stack = WipeStack;
        let first = &finds[0];
        let rate = self.meter.so_far(first.tried, first.elapsed);
        self.tell_rate(rate);
        // After a failure the others are delivered all the same.
        let mut outcome = Ok(());
        match &self.search.ledger {
            Some(ledger) => {
                for finds in finds.chunks(Group::most()) {
                    let delivered = self.deliver_together(finds, ledger);
                    outcome = outcome.and(delivered);
                }
            }
            None => {
                for find in finds {
                    let delivered = self.deliver(find);
                    outcome = outcome.and(delivered);
                }
            }
        }
        outcome.and_then(|()| self.teller.check())
    }

    fn progress(&mut self, progress: &Progress) -> Result<(), JobError> {
        let rate = self.meter.progress(&*self.search.engine, progress);
        self.tell_rate(rate);
        self.teller.progress(progress);
        self.add_written_hooks();
        if let Some(hooks) = &mut self.hooks {
            hooks.report(self.teller);
        }
        self.teller.check()
    }

    fn has_room(&self) -> bool {
        self.teller.has_room()
    }

    fn notice(&mut self, notice: &Notice) {
        self.teller.notice(notice.clone());
    }
}

/// Returns the work that makes the private text of a find. With a passphrase it takes long.
pub(super) fn prepare(search: &PreparedSearch, find: &Find) -> Preparation {
    let format = search.keys.format;
    let comment = search.comment(&find.patterns).to_owned();
    let protection = search.protection.clone();
    Box::new(move |seed| seed.private_text(format, &comment, protection.as_deref()))
}
