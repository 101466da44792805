//! Keys that exist already are not searched again.

use std::path::PathBuf;

use super::error::JobError;
use super::passphrase::Source;
use crate::escape::{escaped_path, quoted_start};
use crate::ledger::{self, Inventory, Ledger};
use crate::notice::{Notice, counted};
use crate::pattern::Pattern;
use crate::plan::Complaint;
use crate::search::{Quota, Stop};

/// How many patterns or files are listed by name; of more, only the first so many.
const LISTED: usize = 10;

/// How much of a long pattern is shown, in characters.
const SHOWN: usize = 48;

/// What was asked for.
pub(super) struct Wanted<'a> {
    pub(super) patterns: Vec<Pattern>,
    pub(super) quota: Quota,
    /// The comment, if it is not the pattern.
    pub(super) comment: Option<&'a str>,
}

/// What is missing of it.
pub(super) struct Existing {
    /// Patterns that want keys.
    pub(super) patterns: Vec<Pattern>,
    /// How many they want.
    pub(super) quota: Quota,
    /// How many keys exist already.
    pub(super) existing: u64,
    /// What is printed about these.
    pub(super) notices: Vec<Notice>,
}

/// Subtracts from what is wanted what the directory has. Patterns that have all their keys leave the list.
///
/// If a passphrase has to be typed, that is done here only if files have to be opened with it.
pub(super) fn subtract(
    wanted: Wanted,
    ledger: &Ledger,
    source: &mut Option<Source>,
    stop: &mut Option<Stop>,
) -> Result<Existing, JobError> {
    let mut inventory = inventory(&wanted, ledger, source.as_ref())?;
    if let Some(source) = source.as_mut().filter(|_| !inventory.unopened.is_empty()) {
        source.ask(stop)?;
        let before = inventory;
        inventory = self::inventory(&wanted, ledger, Some(source))?;
        inventory.entered += before.entered;
    }
    let notices = notices(&inventory, ledger, source.is_some());
    let existing = Existing { patterns: wanted.patterns, quota: wanted.quota, existing: 0, notices };
    Ok(match existing.quota {
        Quota::Each(count) => existing.without_each(count, &inventory),
        Quota::Any(count) => existing.without_any(count, &inventory),
        Quota::Left(_) => existing,
    })
}

fn inventory(wanted: &Wanted, ledger: &Ledger, source: Option<&Source>) -> Result<Inventory, Complaint> {
    let wanted = ledger::Wanted {
        patterns: &wanted.patterns,
        comment: wanted.comment,
        passphrase: source.and_then(Source::known),
        encrypted: source.is_some(),
    };
    let inventory = ledger.reconcile(&wanted).map_err(|error| {
        Complaint::new(format!("cannot use the ledger '{}': {error}", escaped_path(ledger.path())))
            .hint("move it away, and a new one is made of the keys that exist; or choose another directory")
    })?;
    if inventory.in_the_clear.is_empty() {
        return Ok(inventory);
    }
    let keys = counted(inventory.in_the_clear.len() as u64, "key");
    let are = if inventory.in_the_clear.len() == 1 { "is" } else { "are" };
    let files = names(&inventory.in_the_clear);
    Err(Complaint::new(format!("{keys} that would count {are} not encrypted: {files}")).hint(
        "encrypt each one with `ssh-keygen -p -f FILE` and run the same command again, or choose another directory",
    ))
}

/// Returns the first paths, in quotes.
fn names(paths: &[PathBuf]) -> String {
    let mut names: Vec<String> =
        paths.iter().take(LISTED).map(|path| format!("'{}'", escaped_path(path))).collect();
    if let Some(more @ 1..) = paths.len().checked_sub(LISTED) {
        names.push(format!("and {more} more"));
    }
    names.join(", ")
}

/// Returns what is printed about the keys and the ledger that were found.
fn notices(inventory: &Inventory, ledger: &Ledger, encrypts: bool) -> Vec<Notice> {
    let ledger = escaped_path(ledger.path());
    let mut notices = Vec::new();
    match inventory.broken {
        0 => {}
        1 => notices.push(Notice::note(format!("1 line of '{ledger}' is not whole and is left out"))),
        lines => {
            notices.push(Notice::note(format!("{lines} lines of '{ledger}' are not whole and are left out")))
        }
    }
    match inventory.entered {
        0 => {}
        1 => notices.push(Notice::note(format!("1 key that was not in '{ledger}' is entered there"))),
        keys => {
            notices.push(Notice::note(format!("{keys} keys that were not in '{ledger}' are entered there")))
        }
    }
    let flawed = inventory.flawed.iter().take(LISTED);
    notices.extend(
        flawed.map(|(path, why)| Notice::warning(format!("'{}' does not count: {why}", escaped_path(path)))),
    );
    if let Some(more @ 1..) = inventory.flawed.len().checked_sub(LISTED) {
        notices.push(Notice::warning(format!("{more} more do not count")));
    }
    if !inventory.unopened.is_empty() {
        let files = names(&inventory.unopened);
        notices.push(Notice::note(format!("without their passphrase these count unopened: {files}")));
    }
    match inventory.encrypted {
        0 => {}
        _ if encrypts => {}
        1 => notices.push(Notice::note("1 key that exists already is encrypted; new keys will not be")),
        keys => {
            let text = format!("{keys} keys that exist already are encrypted; new keys will not be");
            notices.push(Notice::note(text));
        }
    }
    notices
}

impl Existing {
    fn without_each(mut self, count: u64, inventory: &Inventory) -> Self {
        let had = || inventory.each.iter().map(|had| *had.min(&count));
        self.existing = had().sum();
        if self.existing == 0 {
            return self;
        }
        let there = self.patterns.iter().zip(had()).filter(|(_, had)| *had > 0);
        let lines = there.clone().take(LISTED).map(|(pattern, had)| {
            let (these, are) = if count == 1 { ("key", "is") } else { ("keys", "are") };
            Notice::info(format!("{had} of {count} {these} for {} {are} there already", shortened(pattern)))
        });
        self.notices.extend(lines);
        match there.count().saturating_sub(LISTED) {
            0 => {}
            more => {
                self.notices
                    .push(Notice::info(format!("... and for {}", counted(more as u64, "more pattern"))));
            }
        }
        self.quota = Quota::Left(had().map(|had| count - had).filter(|left| *left > 0).collect());
        let mut left = had().map(|had| count - had);
        self.patterns.retain(|_| left.next() != Some(0));
        self
    }

    fn without_any(mut self, count: u64, inventory: &Inventory) -> Self {
        self.existing = inventory.keys.min(count);
        if self.existing == 0 {
            return self;
        }
        let (these, are) = if count == 1 { ("key", "is") } else { ("keys", "are") };
        let text = format!("{} of {count} {these} {are} there already", self.existing);
        self.notices.push(Notice::info(text));
        self.quota = Quota::Any(count - self.existing);
        if self.existing == count {
            self.patterns.clear();
        }
        self
    }
}

/// Returns a pattern in quotes, cut off where it would fill the screen.
fn shortened(pattern: &Pattern) -> String {
    quoted_start(pattern.text(), SHOWN)
}
