//! Delivers finds: writes each to its destination, and then reports it.

use std::borrow::Cow;
use std::io;

use zeroize::Zeroizing;

use super::agent::AgentLog;
use super::error::JobError;
use super::hooks::Hooks;
use super::open::OpenSearch;
use super::rate::{Rate, RateMeter};
use super::reporter::{Added, Delivered, Reporter};
use crate::agent::AgentError;
use crate::ledger::{Entry, Ledger};
use crate::notice::Notice;
use crate::search::{Find, Observer, Preparation, Progress};
use crate::store::{Group, Kept, NewPair};

/// Writes finds to the destination of the plan, and then reports them.
pub(super) struct Delivery<'a, R> {
    pub(super) search: &'a OpenSearch,
    pub(super) reporter: &'a mut R,
    pub(super) meter: RateMeter,
    pub(super) agent: AgentLog,
    /// The commands that run after finds, if any.
    pub(super) hooks: Option<Hooks>,
}

impl<R: Reporter> Delivery<'_, R> {
    /// Reports the rate of this machine, if it is known.
    pub(super) fn report_rate(&mut self, rate: Option<Rate>) -> Result<(), JobError> {
        rate.map_or(Ok(()), |rate| self.reporter.rate(rate).map_err(JobError::Stdout))
    }

    fn deliver(&mut self, find: &Find) -> Result<(), JobError> {
        let comment = self.search.comment(find);
        let text = self.private_text(find)?;
        let kept = self.search.destination.keep(&self.pair(find, &text)).map_err(JobError::Store)?;
        let added = self.add(find);
        let delivered = match (kept, &added) {
            (Some(kept), _) => Delivered::Files(kept),
            (None, None) => Delivered::Stdout(&text),
            (None, Some(Ok(()))) => Delivered::Agent,
            (None, Some(Err(error))) => Delivered::Files(self.keep_instead(find, &text, error)?),
        };
        match &delivered {
            Delivered::Files(kept) => self.add_hook(find, Some(kept)),
            Delivered::Agent => self.add_hook(find, None),
            // The key is kept when it is written.
            Delivered::Stdout(_) => {}
        }
        let is_written = matches!(delivered, Delivered::Stdout(_));
        let failure: Box<dyn FnOnce(io::Error) -> JobError> = match &delivered {
            Delivered::Files(Kept { private_file, .. }) => {
                let file = private_file.clone();
                Box::new(|error| JobError::Unreported(error, file))
            }
            Delivered::Stdout(_) => Box::new(JobError::Lost),
            Delivered::Agent => Box::new(JobError::UnreportedInAgent),
        };
        self.reporter.found(find, comment, delivered, added.as_ref()).map_err(failure)?;
        if is_written {
            self.add_hook(find, None);
        }
        Ok(())
    }

    /// Writes a find that the agent did not take to files.
    fn keep_instead(&self, find: &Find, text: &str, refused: &AgentError) -> Result<Kept, JobError> {
        let lost = |error| JobError::Unkept(refused.to_string(), Box::new(error));
        let agent = self.search.agent.as_ref();
        agent.unwrap_or_else(|| unreachable!("it refused the key")).keep(&self.pair(find, text)).map_err(lost)
    }

    /// Adds a find to the agent, if the plan asks for it.
    fn add(&mut self, find: &Find) -> Option<Added> {
        let agent = self.search.agent.as_ref()?;
        Some(agent.add(find, self.search.comment(find), &mut self.agent, &self.search.stop))
    }

    /// Queues the command for a find that is kept.
    fn add_hook(&mut self, find: &Find, kept: Option<&Kept>) {
        if let Some(hooks) = &mut self.hooks {
            let pattern = self.search.patterns[find.patterns[0]].text();
            hooks.add(find, pattern, self.search.comment(find), kept);
        }
    }

    /// Returns the key pair of a find whose private text is `text`. Its files get their names from
    /// the first pattern.
    fn pair<'b>(&'b self, find: &'b Find, text: &'b str) -> NewPair<'b> {
        NewPair {
            seed: &find.seed,
            public_key: &find.public_key,
            label: self.search.patterns[find.patterns[0]].text(),
            comment: self.search.comment(find),
            format: self.search.format,
            private_text: text,
        }
    }

    /// Returns the text of the private key, encrypted if the plan asks for it.
    fn private_text<'b>(&self, find: &'b Find) -> Result<Cow<'b, Zeroizing<String>>, JobError> {
        match &find.prepared {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => prepare(self.search, find)(&find.seed).map(Cow::Owned).map_err(JobError::Encode),
        }
    }

    /// Delivers several finds at once: writes their files, then their lines of the ledger, then
    /// reports them. After a failure, it still reports the finds that are kept.
    fn deliver_together(&mut self, finds: &[Find], ledger: &Ledger) -> Result<(), JobError> {
        let mut group = Group::new(ledger.directory()).map_err(JobError::Store)?;
        let added = finds.iter().try_for_each(|find| {
            let text = self.private_text(find)?;
            group.add(&self.pair(find, &text)).map_err(JobError::Store)
        });
        let synced = group.sync().map_err(JobError::Store);
        let held = if group.is_empty() { None } else { Some(ledger.hold()) };
        let (kept, named) = group.name();

        let entry = |(number, kept): &(usize, Kept)| {
            let find = &finds[*number];
            Entry::of(find, &self.search.patterns, self.search.comment(find), kept)
        };
        let entries: Vec<Entry> = kept.iter().map(entry).collect();
        let entered = held.map_or(Ok(()), |held| Ledger::append(&mut held?, &entries));

        kept.iter().for_each(|(number, kept)| self.add_hook(&finds[*number], Some(kept)));
        let mut unreported = kept.len();
        for (number, kept) in kept {
            let find = &finds[number];
            let file = kept.private_file.clone();
            let added = self.add(find);
            let comment = self.search.comment(find);
            let reported = self.reporter.found(find, comment, Delivered::Files(kept), added.as_ref());
            reported.map_err(|error| match unreported {
                1 => JobError::Unreported(error, file),
                _ => JobError::SeveralUnreported(error, unreported, ledger.directory().to_owned()),
            })?;
            unreported -= 1;
        }
        added.and(synced).and(named.map_err(JobError::Store))?;
        entered.map_err(|error| JobError::Unentered(error, ledger.path().to_owned()))
    }
}

impl<R: Reporter> Observer for Delivery<'_, R> {
    type Error = JobError;

    fn found(&mut self, finds: &[Find]) -> Result<(), JobError> {
        let first = &finds[0];
        let rate = self.meter.so_far(first.tried, first.elapsed);
        // The finds are kept even if the rate cannot be reported.
        let reported = self.report_rate(rate);
        match &self.search.ledger {
            Some(ledger) => {
                finds.chunks(Group::most()).try_for_each(|finds| self.deliver_together(finds, ledger))?;
            }
            None => finds.iter().try_for_each(|find| self.deliver(find))?,
        }
        reported
    }

    fn progress(&mut self, progress: &Progress) -> Result<(), JobError> {
        let rate = self.meter.progress(&*self.search.engine, progress);
        self.report_rate(rate)?;
        self.reporter.progress(progress);
        if let Some(hooks) = &mut self.hooks {
            hooks.report(self.reporter);
        }
        Ok(())
    }

    fn notice(&mut self, notice: &Notice) {
        self.reporter.notice(notice);
    }
}

/// Returns the work that makes the private text of a find. With a passphrase it takes long.
pub(super) fn prepare(search: &OpenSearch, find: &Find) -> Preparation {
    let format = search.format;
    let comment = search.comment(find).to_owned();
    let protection = search.protection.clone();
    Box::new(move |seed| seed.private_text(format, &comment, protection.as_deref()))
}
