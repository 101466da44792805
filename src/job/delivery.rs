//! Delivers finds: stores them at their destination, and then has them told.
//!
//! Every find takes the same route, alone or in a group: its files are durable, the agent has the
//! key, the ledger has its line, the command after finds is queued, and then the find is told. A step
//! that fails costs no key: what is not kept at its destination is kept elsewhere.

use std::collections::VecDeque;
use std::io;

use zeroize::Zeroizing;

use super::agent::AgentLog;
use super::error::{Fate, JobError};
use super::exec_queue::{ExecQueue, not_run};
use super::open::PreparedSearch;
use super::rate::{Rate, RateMeter};
use super::reporter::{Added, Delivered};
use super::rescue::{Rescue, is_watched};
use super::teller::{Event, Teller};
use crate::escape::{quoted_start, shell_word};
use crate::ledger::{Entry, Ledger, Waiting};
use crate::notice::Notice;
use crate::search::{Find, Observer, Preparation, Progress, PublicFind, Quota};
use crate::store::{Destination, FileError, HeldLog, Kept, NewPair, StoreError, most_together};
use crate::sys::WipeStack;

/// Stores finds at the destination of the plan, and then has them told.
pub(super) struct Delivery<'a> {
    pub(super) search: &'a PreparedSearch,
    pub(super) teller: &'a Teller,
    pub(super) meter: RateMeter,
    pub(super) agent: AgentLog,
    /// The commands that run after finds, if any.
    pub(super) commands: Option<ExecQueue>,
    /// The number of finds that were passed to the teller.
    passed: u64,
    /// The finds whose command waits until they are written to stdout, and their numbers.
    unwritten: VecDeque<(u64, PublicFind)>,
    /// The text of the error that was returned, if any. That error is printed at the end, and different
    /// ones at once.
    failure: Option<String>,
}

/// Where the key of a find is.
enum Place {
    /// At its destination.
    Files(Kept),
    /// In other files, because its destination does not take it.
    Elsewhere(Kept),
    /// In the agent alone, if it takes it.
    Agent,
    /// Nowhere until it is written to stdout.
    Stdout,
    /// Where an error says.
    Told,
}

/// The ledger as it was when the files of finds got their names: not asked for, or open unless
/// another process uses it.
type Held = Option<io::Result<Option<HeldLog>>>;

impl<'a> Delivery<'a> {
    pub(super) fn new(
        search: &'a PreparedSearch,
        teller: &'a Teller,
        meter: RateMeter,
        commands: Option<ExecQueue>,
    ) -> Self {
        let (agent, unwritten) = (AgentLog::default(), VecDeque::new());
        Self { search, teller, meter, agent, commands, passed: 0, unwritten, failure: None }
    }

    /// Has the rate of this machine told, if it is known.
    pub(super) fn tell_rate(&mut self, rate: Option<Rate>) {
        if let Some(rate) = rate {
            self.teller.tell(Event::Rate(rate));
        }
    }

    /// Queues the commands of the finds that are written to stdout.
    pub(super) fn add_written_commands(&mut self) {
        let told = self.teller.told();
        while self.unwritten.front().is_some_and(|(number, _)| *number <= told) {
            if let Some((_, find)) = self.unwritten.pop_front() {
                self.add_command(&find, None);
            }
        }
    }

    /// Takes finds along their route. After a failure, the others are delivered all the same.
    fn deliver(&mut self, finds: &[Find]) -> Result<(), JobError> {
        let texts = finds.iter().map(|find| self.private_text(find)).collect::<Result<Vec<_>, _>>()?;
        let search = self.search;
        let pairs: Vec<NewPair> =
            finds.iter().zip(&texts).map(|(find, text)| search.pair(find, text)).collect();
        let mut errors = Vec::new();

        let (mut places, held) = self.store(&pairs, &mut errors);
        let added = self.add_to_agent(&pairs, &mut places, &mut errors);
        let is_entered = self.enter(finds, &places, held, &mut errors);
        self.queue_commands(finds, &places, is_entered);
        for (((find, text), place), added) in finds.iter().zip(texts).zip(places).zip(added) {
            self.tell(find, text, place, added);
        }
        self.fail(errors)
    }

    /// Writes finds to durable files. Those that their destination does not take go elsewhere.
    fn store(&mut self, pairs: &[NewPair], errors: &mut Vec<JobError>) -> (Vec<Place>, Held) {
        let keys = &self.search.keys;
        if keys.destination == Destination::Stream {
            let place = || if keys.is_agent_alone() { Place::Agent } else { Place::Stdout };
            return (pairs.iter().map(|_| place()).collect(), None);
        }
        let mut held = None;
        let hold = || held = self.search.ledger.as_ref().map(Ledger::hold_at_once);
        let first = keys.destination.keep(pairs, keys.allow_exposed, hold);
        let is_missing =
            |one: &Result<Kept, StoreError>| one.as_ref().is_err_and(|error| !error.is_on_disk());
        let missing = pairs.iter().zip(&first).filter(|(_, one)| is_missing(one)).map(|(pair, _)| *pair);
        let missing: Vec<NewPair> = missing.collect();
        let mut again = self.store_again(&missing).into_iter();
        let mut lost: Option<(StoreError, Fate)> = None;
        let place = |one: Result<Kept, StoreError>| {
            let error = match one {
                Ok(kept) => return Place::Files(kept),
                Err(error) if error.is_on_disk() => {
                    errors.push(JobError::Store(error, Fate::Told));
                    return Place::Told;
                }
                Err(error) => error,
            };
            let (place, fate) = match again.next() {
                Some(Again::Kept(kept)) => return Place::Files(kept),
                Some(Again::Elsewhere(kept)) => {
                    let file = shell_word(&kept.private_file);
                    self.teller.failure(format!("{error}; the key is kept in {file} instead"));
                    (Place::Elsewhere(kept), Fate::Elsewhere)
                }
                Some(Again::Nowhere(why, pair)) => {
                    (Place::Told, self.show(&format!("{error}, and {why}"), &pair))
                }
                Some(Again::OnDisk) | None => (Place::Told, Fate::Told),
            };
            lost = match lost.take() {
                Some((first, before)) => Some((first, before.and(fate))),
                None => Some((error, fate)),
            };
            place
        };
        let places = first.into_iter().map(place).collect();
        errors.extend(lost.map(|(error, fate)| JobError::Store(error, fate)));
        (places, held)
    }

    /// Keeps finds that their destination has not taken: at a second try, or else elsewhere.
    fn store_again<'b>(&self, pairs: &[NewPair<'b>]) -> Vec<Again<'b>> {
        if pairs.is_empty() {
            return Vec::new();
        }
        let keys = &self.search.keys;
        // In a directory each key has a name of its own. A file of the user's choice may be another's.
        let has_own_name = matches!(keys.destination, Destination::Directory(_));
        let second = keys.destination.keep(pairs, keys.allow_exposed, || ());
        let is_on_disk = |error: &StoreError| match error {
            // The first try has given the file its name.
            StoreError::File(FileError::Exists(_)) => has_own_name,
            error => error.is_on_disk() || matches!(error, StoreError::WrongKey(_)),
        };
        let left = pairs.iter().zip(&second);
        let left = left.filter(|(_, one)| one.as_ref().is_err_and(|error| !is_on_disk(error)));
        let left: Vec<NewPair> = left.map(|(pair, _)| *pair).collect();
        let mut elsewhere = Rescue::new().keep(&left, keys.allow_exposed).into_iter().zip(left);
        let again = |one: Result<Kept, StoreError>| match one {
            Ok(kept) => Again::Kept(kept),
            Err(error) if is_on_disk(&error) => Again::OnDisk,
            Err(_) => match elsewhere.next() {
                Some((Ok(kept), _)) => Again::Elsewhere(kept),
                Some((Err(why), pair)) => Again::Nowhere(why, pair),
                None => Again::OnDisk,
            },
        };
        second.into_iter().map(again).collect()
    }

    /// Shows a key that no file takes on the terminal, if anybody watches.
    fn show(&self, why: &str, pair: &NewPair) -> Fate {
        if !is_watched() {
            self.teller.failure(format!("{why}; the key is lost"));
            return Fate::Lost(1);
        }
        self.teller.failure(format!("{why}; this is the private key:"));
        self.teller.tell(Event::Show(Zeroizing::new(pair.private_text.to_owned())));
        Fate::Shown
    }

    /// Adds finds to the agent, if the plan asks for it. Those that only the agent would have had go to
    /// files if it does not take them.
    fn add_to_agent(
        &mut self,
        pairs: &[NewPair],
        places: &mut [Place],
        errors: &mut Vec<JobError>,
    ) -> Vec<Option<Added>> {
        let search = self.search;
        let Some(agent) = &search.agent else { return pairs.iter().map(|_| None).collect() };
        let mut added =
            agent.add(pairs, &mut self.agent, &|| search.stop.requested().is_some()).into_iter().map(Some);
        let added: Vec<Option<Added>> = pairs.iter().map(|_| added.next().flatten()).collect();
        let is_refused =
            |place: &Place, added: &Option<Added>| matches!((place, added), (Place::Agent, Some(Err(_))));
        let refused = pairs.iter().zip(places.iter().zip(&added));
        let refused = refused.filter(|(_, (place, added))| is_refused(place, added)).map(|(pair, _)| *pair);
        let refused: Vec<NewPair> = refused.collect();
        let mut elsewhere = Rescue::new().keep(&refused, search.keys.allow_exposed).into_iter();
        let mut lost = None;
        for ((place, added), pair) in places.iter_mut().zip(&added).zip(pairs) {
            let (true, Some(Err(error))) = (is_refused(place, added), added) else { continue };
            *place = match elsewhere.next() {
                Some(Ok(kept)) => Place::Elsewhere(kept),
                why => {
                    let why = format!("{error}, and {}", why.and_then(Result::err).unwrap_or_default());
                    let fate = self.show(&why, pair);
                    lost = match lost.take() {
                        Some((first, before)) => Some((first, Fate::and(before, fate))),
                        None => Some((why, fate)),
                    };
                    Place::Told
                }
            };
        }
        errors.extend(lost.map(|(why, fate)| JobError::Unkept(why, fate)));
        added
    }

    /// Writes the lines of finds to the ledger, if there is one. Returns whether they are in it.
    fn enter(&self, finds: &[Find], places: &[Place], held: Held, errors: &mut Vec<JobError>) -> bool {
        let search = self.search;
        let Some(ledger) = &search.ledger else { return true };
        let entry = |(find, place): (&Find, &Place)| match place {
            Place::Files(kept) => {
                Some(Entry::of(find, &search.patterns, search.comment(&find.patterns), kept))
            }
            _ => None,
        };
        let entries: Vec<Entry> = finds.iter().zip(places).filter_map(entry).collect();
        if entries.is_empty() {
            return true;
        }
        let must_end = || search.stop.requested().is_some();
        let waiting = Waiting { tell: &|notice| self.teller.notice(notice), must_end: &must_end };
        let entered = match held {
            Some(Ok(Some(mut held))) => Ledger::append(&mut held, &entries),
            Some(Err(error)) => Err(error),
            Some(Ok(None)) | None => {
                ledger.hold(&waiting).and_then(|mut held| Ledger::append_missing(&mut held, entries))
            }
        };
        match entered {
            Ok(()) => return true,
            // The user or the timeout has ended the waiting, and the next search makes up for it.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let error = JobError::Unentered(error, ledger.path().to_owned());
                self.teller.notice(Notice::warning(error.to_string()));
                self.teller.notice(Notice::note(error.hint().unwrap_or_default()));
            }
            Err(error) => errors.push(JobError::Unentered(error, ledger.path().to_owned())),
        }
        false
    }

    /// Queues the commands of the finds that are kept, but not of those whose line the ledger lacks.
    fn queue_commands(&mut self, finds: &[Find], places: &[Place], is_entered: bool) {
        let mut unqueued = Vec::new();
        for (find, place) in finds.iter().zip(places) {
            match place {
                Place::Files(kept) if !is_entered => unqueued.push(self.name(&find.public(), Some(kept))),
                Place::Files(kept) | Place::Elsewhere(kept) => self.add_command(&find.public(), Some(kept)),
                Place::Agent => self.add_command(&find.public(), None),
                // The key is kept when it is written.
                Place::Stdout | Place::Told => {}
            }
        }
        if self.commands.is_some() && !unqueued.is_empty() {
            self.teller.failure(not_run(unqueued.iter().map(String::as_str)));
        }
    }

    /// Has a find told.
    fn tell(&mut self, find: &Find, text: Zeroizing<String>, place: Place, added: Option<Added>) {
        let delivered = match place {
            Place::Files(kept) | Place::Elsewhere(kept) => Delivered::Files(kept),
            Place::Agent => Delivered::Agent,
            Place::Stdout => Delivered::Stdout(text),
            Place::Told => return,
        };
        self.passed += 1;
        if self.commands.is_some() && matches!(delivered, Delivered::Stdout(_)) {
            self.unwritten.push_back((self.passed, find.public()));
        }
        self.teller.found(find.public(), delivered, added);
    }

    /// Returns the first error of the search. Has different ones told.
    fn fail(&mut self, errors: Vec<JobError>) -> Result<(), JobError> {
        let mut first = None;
        for error in errors {
            let text = error.to_string();
            match &self.failure {
                Some(returned) if *returned == text => {}
                Some(_) => self.teller.failure(text),
                None => (self.failure, first) = (Some(text), Some(error)),
            }
        }
        first.map_or(Ok(()), Err)
    }

    /// Returns the name of a find in messages about its command: the pattern, and with several keys for a
    /// pattern also its file or its fingerprint.
    fn name(&self, find: &PublicFind, kept: Option<&Kept>) -> String {
        let pattern = quoted_start(self.search.patterns[find.patterns[0]].text());
        match kept {
            _ if self.search.quota == Quota::Each(1) => pattern,
            Some(kept) => format!("{pattern} in {}", shell_word(&kept.private_file)),
            None => format!("{pattern}, {}", find.public_key.fingerprint()),
        }
    }

    fn add_command(&mut self, find: &PublicFind, kept: Option<&Kept>) {
        let name = self.name(find, kept);
        if let Some(commands) = &mut self.commands {
            let pattern = self.search.patterns[find.patterns[0]].text();
            commands.add(name, find, pattern, self.search.comment(&find.patterns), kept);
        }
    }

    /// Returns the text of the private key, encrypted if the plan asks for it.
    fn private_text(&self, find: &Find) -> Result<Zeroizing<String>, JobError> {
        match &find.prepared {
            Some(text) => Ok(text.clone()),
            None => prepare(self.search, find)(&find.seed).map_err(JobError::Encode),
        }
    }
}

/// What became of a find that its destination has not taken at first.
enum Again<'a> {
    /// The destination took it at a second try.
    Kept(Kept),
    /// It is at its destination already, although the first error denies it.
    OnDisk,
    Elsewhere(Kept),
    /// Nothing takes it, for this reason.
    Nowhere(String, NewPair<'a>),
}

impl PreparedSearch {
    /// Returns the key pair of a find whose private text is `text`. Its files get their names from
    /// the first pattern.
    fn pair<'a>(&'a self, find: &'a Find, text: &'a str) -> NewPair<'a> {
        NewPair {
            seed: &find.seed,
            public_key: &find.public_key,
            label: self.patterns[find.patterns[0]].text(),
            comment: self.comment(&find.patterns),
            format: self.keys.format,
            private_text: text,
        }
    }
}

impl Observer for Delivery<'_> {
    type Error = JobError;

    fn begin(&mut self) {
        self.teller.tell(Event::Odds);
    }

    fn found(&mut self, finds: &[Find]) -> Result<(), JobError> {
        let _stack = WipeStack;
        // Until the finds are kept, a second signal does not end the process.
        let _signals = self.search.stop.hold_off();
        let first = &finds[0];
        let rate = self.meter.so_far(&Progress::of(first.tried, first.elapsed));
        self.tell_rate(rate);
        let mut outcome = Ok(());
        for finds in finds.chunks(most_together()) {
            let delivered = self.deliver(finds);
            outcome = outcome.and(delivered);
        }
        outcome.and_then(|()| self.teller.check())
    }

    fn progress(&mut self, progress: &Progress) -> Result<(), JobError> {
        let rate = self.meter.progress(&*self.search.engine, progress);
        self.tell_rate(rate);
        self.teller.progress(progress);
        self.add_written_commands();
        if let Some(commands) = &mut self.commands {
            commands.report(self.teller);
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
