//! Finds go to their destination first; only then are they told.

use std::borrow::Cow;
use std::path::PathBuf;
use std::{fmt, io};

use crate::escape::{escaped, escaped_path};
use crate::key::EncodeError;
use crate::search::{Find, Observer, Preparation, Progress, Summary};
use crate::store::{Group, StoreError};
use zeroize::Zeroizing;

use crate::cli;
use crate::ledger::{Entry, Ledger};
use crate::report::{Delivered, Report};

/// Keeps finds as the plan says, and has them reported.
pub struct Delivery<'a> {
    plan: &'a cli::Search,
    report: Report<'a>,
}

impl<'a> Delivery<'a> {
    pub fn new(plan: &'a cli::Search) -> Self {
        Self { plan, report: Report::new(plan) }
    }

    /// Every key is there already.
    pub fn nothing_is_missing(&mut self) -> Result<(), Undelivered> {
        self.report.complete().map_err(Undelivered::Stdout)
    }

    /// The search is about to begin, on a machine that was found to try so many keys per second.
    pub fn begin(&mut self, keys_per_second: f64) -> Result<(), Undelivered> {
        self.report.odds(keys_per_second).map_err(Undelivered::Stdout)
    }

    /// The search is over.
    pub fn finish(mut self, summary: &Summary) -> Result<(), Undelivered> {
        self.report.summary(summary).map_err(Undelivered::Stdout)
    }

    /// The pattern that a find is named after.
    fn label(&self, find: &Find) -> &'a str {
        self.plan.patterns[find.patterns[0]].text()
    }

    fn deliver(&mut self, find: &Find) -> Result<(), Undelivered> {
        let comment = self.plan.comment(find);
        let text = self.private_text(find)?;
        let (label, format) = (self.label(find), self.plan.format);
        let kept = self.plan.destination.keep(&find.seed, &find.public_key, label, comment, format, &text);
        if let Some(kept) = kept.map_err(Undelivered::Store)? {
            let file = kept.private_file.clone();
            let told = self.report.found(find, comment, Delivered::Files(kept));
            return told.map_err(|error| Undelivered::Untold(error, file));
        }
        self.report.found(find, comment, Delivered::Stdout(&text)).map_err(Undelivered::Lost)
    }

    /// The private key's text: encrypted by now, if it has to be.
    fn private_text<'b>(&self, find: &'b Find) -> Result<Cow<'b, Zeroizing<String>>, Undelivered> {
        match &find.prepared {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => prepare(self.plan, find)(&find.seed).map(Cow::Owned).map_err(Undelivered::Encode),
        }
    }

    /// All of them at once: files, then the ledger, then the report. Where something fails, those that are kept are
    /// still told.
    fn deliver_together(&mut self, finds: &[Find], ledger: &Ledger) -> Result<(), Undelivered> {
        let mut group = Group::new(ledger.directory()).map_err(Undelivered::Store)?;
        let added = finds.iter().try_for_each(|find| self.add(&mut group, find));
        let synced = group.sync().map_err(Undelivered::Store);
        let held = if group.is_empty() { None } else { Some(ledger.hold()) };
        let (kept, named) = group.name();

        let entry = |(number, kept): &(usize, _)| {
            let find = &finds[*number];
            Entry::of(find, &self.plan.patterns, self.plan.comment(find), kept)
        };
        let entries: Vec<Entry> = kept.iter().map(entry).collect();
        let entered = held.map_or(Ok(()), |held| Ledger::append(&mut held?, &entries));

        let mut untold = kept.len();
        for (number, kept) in kept {
            let find = &finds[number];
            let file = kept.private_file.clone();
            let told = self.report.found(find, self.plan.comment(find), Delivered::Files(kept));
            told.map_err(|error| match untold {
                1 => Undelivered::Untold(error, file),
                _ => Undelivered::SeveralUntold(error, untold, ledger.directory().to_owned()),
            })?;
            untold -= 1;
        }
        added.and(synced).and(named.map_err(Undelivered::Store))?;
        entered.map_err(|error| Undelivered::Unentered(error, ledger.path().to_owned()))
    }

    fn add(&self, group: &mut Group, find: &Find) -> Result<(), Undelivered> {
        let comment = self.plan.comment(find);
        let format = self.plan.destination.format(self.plan.format);
        let text = self.private_text(find)?;
        let added = group.add(&find.seed, &find.public_key, self.label(find), comment, format, &text);
        added.map_err(Undelivered::Store)
    }
}

impl Observer for Delivery<'_> {
    type Error = Undelivered;

    fn found(&mut self, finds: &[Find]) -> Result<(), Undelivered> {
        match &self.plan.ledger {
            Some(ledger) => {
                finds.chunks(Group::most()).try_for_each(|finds| self.deliver_together(finds, ledger))
            }
            None => finds.iter().try_for_each(|find| self.deliver(find)),
        }
    }

    fn progress(&mut self, progress: &Progress) {
        self.report.progress(progress);
    }

    fn note(&mut self, note: &str) {
        self.report.note(escaped(note));
    }
}

/// The work that makes a find's private text. With a passphrase it takes long.
pub fn prepare(plan: &cli::Search, find: &Find) -> Preparation {
    let format = plan.destination.format(plan.format);
    let comment = plan.comment(find).to_owned();
    let protection = plan.protection.clone();
    Box::new(move |seed| seed.private_text(format, &comment, protection.as_deref()))
}

/// Why a find did not get where it should.
#[derive(Debug)]
pub enum Undelivered {
    /// It could not be written to its files.
    Store(StoreError),
    /// It could not be encoded.
    Encode(EncodeError),
    /// It is kept, but not in the ledger at this path.
    Unentered(io::Error, PathBuf),
    /// stdout takes no more.
    Stdout(io::Error),
    /// stdout takes no more; the private key is in this file.
    Untold(io::Error, PathBuf),
    /// stdout takes no more; so many private keys are in this directory.
    SeveralUntold(io::Error, usize, PathBuf),
    /// stdout, where the private key should have gone, takes no more.
    Lost(io::Error),
}

impl Undelivered {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Store(error) => return error.hint(),
            Self::Encode(error) => return error.hint(),
            Self::Stdout(_) => return None,
            Self::Unentered(..) => {
                "every key that was told is kept; the next search into this directory enters those that \
                                    are missing"
                    .to_owned()
            }
            Self::Untold(_, file) => {
                format!("the key that was just found is kept in '{}'", escaped_path(file))
            }
            Self::SeveralUntold(_, keys, directory) => {
                format!("the {keys} keys that were just found are kept in '{}'", escaped_path(directory))
            }
            Self::Lost(_) => "the key that was just found is lost; --output PATH writes to a file".to_owned(),
        })
    }
}

impl fmt::Display for Undelivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::Encode(error) => error.fmt(f),
            Self::Unentered(error, path) => write!(f, "cannot write '{}': {error}", escaped_path(path)),
            Self::Stdout(error)
            | Self::Untold(error, _)
            | Self::SeveralUntold(error, ..)
            | Self::Lost(error) => {
                write!(f, "cannot write to stdout: {error}")
            }
        }
    }
}
