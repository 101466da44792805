//! A find goes to its destination first; only then is it told.

use std::path::PathBuf;
use std::{fmt, io};

use vanity_ed25519::key::{EncodeError, StoreError};
use vanity_ed25519::search::{Find, Observer, Prepared, Progress, Summary};
use zeroize::Zeroizing;

use crate::cli;
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

    /// The search is about to begin, on a machine that was found to try so many keys per second.
    pub fn begin(&mut self, keys_per_second: f64) -> Result<(), Undelivered> {
        self.report.odds(keys_per_second).map_err(Undelivered::Stdout)
    }

    /// The search is over.
    pub fn finish(mut self, summary: &Summary) -> Result<(), Undelivered> {
        self.report.summary(summary).map_err(Undelivered::Stdout)
    }
}

impl Observer for Delivery<'_> {
    type Error = Undelivered;

    fn found(&mut self, find: &Find) -> Result<(), Undelivered> {
        let pattern = self.plan.patterns[find.patterns[0]].text();
        let comment = self.plan.comment(find);
        let made;
        let text: &str = match &find.prepared {
            // While it waited, the pattern that it was prepared for may have got its keys.
            Some(prepared) if prepared.comment == comment => &prepared.text,
            _ => {
                made = private_text(self.plan, find, comment).map_err(Undelivered::Encode)?;
                &made
            }
        };
        let format = self.plan.format;
        let kept = self.plan.destination.keep(&find.seed, &find.public_key, pattern, comment, format, text);
        if let Some(kept) = kept.map_err(Undelivered::Store)? {
            let file = kept.private_file.clone();
            let told = self.report.found(find, comment, Delivered::Files(kept));
            return told.map_err(|error| Undelivered::Untold(error, file));
        }
        self.report.found(find, comment, Delivered::Stdout(text)).map_err(Undelivered::Lost)
    }

    fn progress(&mut self, progress: &Progress) {
        self.report.progress(progress);
    }
}

/// Makes the private key's text, which takes long with a passphrase. Failures are met again, and told, later.
pub fn prepare(plan: &cli::Search, find: &Find) -> Option<Prepared> {
    let comment = plan.comment(find);
    let text = private_text(plan, find, comment).ok()?;
    Some(Prepared { comment: comment.to_owned(), text })
}

fn private_text(plan: &cli::Search, find: &Find, comment: &str) -> Result<Zeroizing<String>, EncodeError> {
    find.seed.private_text(plan.destination.format(plan.format), comment, plan.protection.as_ref())
}

/// Why a find did not get where it should.
#[derive(Debug)]
pub enum Undelivered {
    /// It could not be written to its files.
    Store(StoreError),
    /// It could not be encoded.
    Encode(EncodeError),
    /// stdout takes no more.
    Stdout(io::Error),
    /// stdout takes no more; the private key is in this file.
    Untold(io::Error, PathBuf),
    /// stdout, where the private key should have gone, takes no more.
    Lost(io::Error),
}

impl Undelivered {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.hint(),
            Self::Encode(error) => error.hint(),
            Self::Stdout(_) => None,
            Self::Untold(_, file) => {
                Some(format!("the key that was just found is kept in '{}'", file.display()))
            }
            Self::Lost(_) => {
                Some("the key that was just found is lost; --output PATH writes to a file".to_owned())
            }
        }
    }
}

impl fmt::Display for Undelivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::Encode(error) => error.fmt(f),
            Self::Stdout(error) | Self::Untold(error, _) | Self::Lost(error) => {
                write!(f, "cannot write to stdout: {error}")
            }
        }
    }
}
