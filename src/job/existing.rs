//! Subtracts the keys that exist already from the keys that are wanted.

use std::io;
use std::path::PathBuf;

use super::error::JobError;
use super::passphrase::PassphraseInput;
use crate::escape::{escaped_path, quoted_start};
use crate::ledger::{self, Inventory, Ledger, Waiting};
use crate::notice::Notice;
use crate::pattern::Pattern;
use crate::plan::Diagnostic;
use crate::search::{Quota, Stop};
use crate::store::{Demands, FileError};
use crate::words::{are, counted, grouped};

/// The most patterns or files that are listed by name.
const LISTED: usize = 10;

/// The keys that the plan asks for.
pub(super) struct Wanted<'a> {
    pub(super) patterns: Vec<Pattern>,
    /// How many keys of these patterns are wanted.
    pub(super) quota: Quota,
    /// The comment, if it is not the pattern.
    pub(super) comment: Option<&'a str>,
    /// Whether keys count to which users other than the owner have access.
    pub(super) allow_exposed: bool,
    /// Whether `--quiet` is given.
    pub(super) quiet: bool,
}

/// The keys that are missing, and the number of those that exist.
pub(super) struct Existing {
    /// The patterns that still need keys.
    pub(super) patterns: Vec<Pattern>,
    /// How many keys these patterns still need.
    pub(super) quota: Quota,
    /// How many of the wanted keys exist already.
    pub(super) existing: u64,
    /// The notices about the existing keys.
    pub(super) notices: Vec<Notice>,
}

/// Subtracts the keys of a directory from the wanted keys. Removes the patterns that have all their
/// keys.
///
/// Asks for the passphrase on the terminal now if existing files are encrypted, and opens them with it.
pub(super) fn subtract(
    wanted: Wanted,
    ledger: &Ledger,
    source: &mut Option<PassphraseInput>,
    stop: &Stop,
    tell: &dyn Fn(Notice),
) -> Result<Existing, JobError> {
    let mut inventory = inventory(&wanted, ledger, source.as_ref(), stop, tell)?;
    if let Some(source) = source.as_mut().filter(|source| source.known().is_none() && inventory.encrypted > 0)
    {
        source.ask(stop)?;
        let before = inventory;
        inventory = self::inventory(&wanted, ledger, Some(source), stop, tell)?;
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

fn inventory(
    wanted: &Wanted,
    ledger: &Ledger,
    source: Option<&PassphraseInput>,
    stop: &Stop,
    tell: &dyn Fn(Notice),
) -> Result<Inventory, JobError> {
    let must_end = || stop.requested().is_some();
    let criteria = ledger::Criteria {
        patterns: &wanted.patterns,
        comment: wanted.comment,
        passphrase: source.and_then(PassphraseInput::known),
        encrypted: source.is_some(),
        allow_exposed: wanted.allow_exposed,
    };
    let waiting = Waiting { tell, quiet: wanted.quiet, must_end: &must_end };
    let inventory = ledger.reconcile(&criteria, &waiting).map_err(|error| {
        if error.kind() == io::ErrorKind::WouldBlock {
            return JobError::InUse(error, ledger.path().to_owned());
        }
        unusable(ledger, &error).into()
    })?;
    if inventory.in_the_clear.is_empty() {
        return Ok(inventory);
    }
    let in_the_clear = inventory.in_the_clear.len() as u64;
    let (keys, are) = (counted(in_the_clear, "existing key"), are(in_the_clear));
    let files = names(&inventory.in_the_clear);
    Err(Diagnostic::new(format!("{keys} {are} not encrypted: {files}")).hint(
        "encrypt each one with `ssh-keygen -p -f FILE`, or a *.ppk with `puttygen FILE -P`, and run the same command again; or choose another directory",
    ).into())
}

/// Checks that the ledger takes the line of a key. Returns the error for a file of this trial that cannot
/// be removed.
pub(super) fn try_ledger(ledger: &Ledger, demands: Demands) -> Result<Option<FileError>, Diagnostic> {
    ledger.try_room(demands.of_line()).map_err(|error| unusable(ledger, &error))
}

fn unusable(ledger: &Ledger, error: &io::Error) -> Diagnostic {
    let hint = match error.kind() {
        io::ErrorKind::FileTooLarge => "raise the limit of the size of files, or choose another directory",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space where it lies, or choose another directory"
        }
        _ if !ledger.path().exists() => {
            "choose a directory of another file system: this one cannot append to files"
        }
        _ => {
            "move it away, and the same command makes a new one from the existing keys; \
             or choose another directory"
        }
    };
    Diagnostic::new(format!("cannot use the ledger '{}': {error}", escaped_path(ledger.path()))).hint(hint)
}

/// Returns the first [`LISTED`] paths in quotes, and the number of the others.
fn names(paths: &[PathBuf]) -> String {
    let mut names: Vec<String> =
        paths.iter().take(LISTED).map(|path| format!("'{}'", escaped_path(path))).collect();
    if let Some(more @ 1..) = paths.len().checked_sub(LISTED) {
        names.push(format!("and {more} more"));
    }
    names.join(", ")
}

/// Returns the notices about the keys and the ledger of the directory.
fn notices(inventory: &Inventory, ledger: &Ledger, encrypts: bool) -> Vec<Notice> {
    let ledger = escaped_path(ledger.path());
    let mut notices = Vec::new();
    if inventory.broken > 0 {
        let (lines, are) = (counted(inventory.broken, "line"), are(inventory.broken));
        notices.push(Notice::note(format!("{lines} of '{ledger}' {are} not valid and {are} ignored")));
    }
    match inventory.entered {
        0 => {}
        1 => notices.push(Notice::note(format!("1 key was missing from '{ledger}' and is now in it"))),
        keys => {
            notices.push(Notice::note(format!("{keys} keys were missing from '{ledger}' and are now in it")))
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
        notices.push(Notice::note(format!(
            "these keys count although they cannot be checked without their passphrase: {files}"
        )));
    }
    if inventory.encrypted > 0 && !encrypts {
        let (keys, are) = (counted(inventory.encrypted, "existing key"), are(inventory.encrypted));
        notices.push(Notice::note(format!("{keys} {are} encrypted; new keys will not be")));
    }
    notices
}

impl Existing {
    /// Subtracts from a quota of `count` keys for each pattern.
    fn without_each(mut self, count: u64, inventory: &Inventory) -> Self {
        let had = || inventory.each.iter().map(|had| *had.min(&count));
        self.existing = had().sum();
        if self.existing == 0 {
            return self;
        }
        let there = self.patterns.iter().zip(had()).filter(|(_, had)| *had > 0);
        let lines = there.clone().take(LISTED).map(|(pattern, had)| {
            let (had, keys) = (grouped(had), counted(count, "key"));
            Notice::info(format!("{} already has {had} of {keys}", quoted_start(pattern.text())))
        });
        self.notices.extend(lines);
        match there.count().saturating_sub(LISTED) {
            0 => {}
            more => {
                self.notices
                    .push(Notice::info(format!("... and keys for {}", counted(more as u64, "more pattern"))));
            }
        }
        self.quota = Quota::Left(had().map(|had| count - had).filter(|left| *left > 0).collect());
        let mut left = had().map(|had| count - had);
        self.patterns.retain(|_| left.next() != Some(0));
        self
    }

    /// Subtracts from a quota of `count` keys of any patterns.
    fn without_any(mut self, count: u64, inventory: &Inventory) -> Self {
        self.existing = inventory.keys.min(count);
        if self.existing == 0 {
            return self;
        }
        let (had, keys) = (grouped(self.existing), counted(count, "key"));
        let text = format!("the directory already has {had} of {keys}");
        self.notices.push(Notice::info(text));
        self.quota = Quota::Any(count - self.existing);
        if self.existing == count {
            self.patterns.clear();
        }
        self
    }
}
