//! Subtracts the keys that exist already from the keys that are wanted.

use std::io;
use std::path::PathBuf;

use super::error::JobError;
use super::passphrase::PassphraseInput;
use crate::escape::{escaped_path, quoted_start};
use crate::ledger::{self, Inventory, Ledger, Waiting};
use crate::notice::Notice;
use crate::pattern::Pattern;
use crate::plan::{Diagnostic, SearchPlan};
use crate::search::Quota;
use crate::store::Demands;
use crate::words::{are, counted, grouped};

/// The most patterns or files that are listed by name.
const LISTED: usize = 10;

/// Subtracts the keys of a directory from those of a plan: it then has the patterns that need keys, and how
/// many they need. Adds notices about them. Returns how many of the wanted keys exist already.
///
/// Asks for the passphrase on the terminal now if existing files are encrypted, and opens them with it.
pub(super) fn subtract(
    plan: &mut SearchPlan,
    ledger: &Ledger,
    input: &mut Option<PassphraseInput>,
    waiting: &Waiting,
) -> Result<u64, JobError> {
    let mut inventory = inventory(plan, ledger, input.as_ref(), waiting)?;
    if let Some(unknown) = input.take_if(|input| input.known().is_none() && inventory.encrypted > 0) {
        *input = Some(PassphraseInput::Known(unknown.ask(waiting.stop)?));
        let before = inventory;
        inventory = self::inventory(plan, ledger, input.as_ref(), waiting)?;
        inventory.entered += before.entered;
    }
    plan.notices.extend(notices(&inventory, ledger, input.is_some()));
    Ok(match plan.quota {
        Quota::Each(count) => subtract_each(plan, count, &inventory),
        Quota::Any(count) => subtract_any(plan, count, &inventory),
        Quota::Left(_) => 0,
    })
}

/// Subtracts from a quota of `count` keys for each pattern.
fn subtract_each(plan: &mut SearchPlan, count: u64, inventory: &Inventory) -> u64 {
    let had = || inventory.each.iter().map(|had| *had.min(&count));
    let existing = had().sum();
    if existing == 0 {
        return 0;
    }
    let there = plan.patterns.iter().zip(had()).filter(|(_, had)| *had > 0);
    let line = |(pattern, had): (&Pattern, _)| {
        let (had, keys) = (grouped(had), counted(count, "key"));
        Notice::info(format!("{} already has {had} of {keys}", quoted_start(pattern.text())))
    };
    plan.notices.extend(there.clone().take(LISTED).map(line));
    if let Some(more @ 1..) = there.count().checked_sub(LISTED) {
        let more = counted(more as u64, "more pattern");
        plan.notices.push(Notice::info(format!("... and keys for {more}")));
    }
    plan.quota = Quota::Left(had().map(|had| count - had).filter(|left| *left > 0).collect());
    let mut left = had().map(|had| count - had);
    plan.patterns.retain(|_| left.next() != Some(0));
    existing
}

/// Subtracts from a quota of `count` keys of any patterns.
fn subtract_any(plan: &mut SearchPlan, count: u64, inventory: &Inventory) -> u64 {
    let existing = inventory.keys.min(count);
    if existing > 0 {
        plan.quota = Quota::Any(count - existing);
        let (had, keys) = (grouped(existing), counted(count, "key"));
        plan.notices.push(Notice::info(format!("the directory already has {had} of {keys}")));
    }
    if existing == count {
        plan.patterns.clear();
    }
    existing
}

fn inventory(
    plan: &SearchPlan,
    ledger: &Ledger,
    input: Option<&PassphraseInput>,
    waiting: &Waiting,
) -> Result<Inventory, JobError> {
    let criteria = ledger::Criteria {
        patterns: &plan.patterns,
        comment: plan.keys.comment.as_deref(),
        passphrase: input.and_then(PassphraseInput::known),
        encrypted: input.is_some(),
        allow_exposed: plan.keys.allow_exposed,
    };
    let inventory = ledger.reconcile(&criteria, waiting).map_err(|error| {
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

/// Checks that the ledger takes the line of a key. Returns a warning about a file of this trial that
/// cannot be removed.
pub(super) fn try_ledger(ledger: &Ledger, demands: Demands) -> Result<Option<Notice>, Diagnostic> {
    ledger.log.try_room(demands.of_line()).map_err(|error| unusable(ledger, &error))
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
        io::ErrorKind::PermissionDenied => "make it yours to read and write, or choose another directory",
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
    if inventory.entered > 0 {
        let (keys, are) = (counted(inventory.entered, "key"), are(inventory.entered));
        let were = if inventory.entered == 1 { "was" } else { "were" };
        notices.push(Notice::note(format!("{keys} {were} missing from '{ledger}' and {are} now in it")));
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
