//! What is there already is not searched again.

use std::path::PathBuf;

use crate::escape::escaped_path;
use crate::ledger::{Inventory, Ledger, Wanted};
use crate::search::Quota;

use super::passphrase::Source;
use super::values::shortened;
use super::{Complaint, Refusal, Search};

/// How many patterns or files are listed by name; of more, only the first so many.
const LISTED: usize = 10;

/// Lowers what is wanted by what the directory has. Patterns that have all their keys leave the list.
///
/// If a passphrase has to be typed, that is done here only if files have to be opened with it.
pub(super) fn subtract(search: &mut Search, source: &mut Option<Source>) -> Result<(), Refusal> {
    let Some(ledger) = &search.ledger else { return Ok(()) };
    let mut inventory = inventory(search, ledger, source.as_ref())?;
    if let Some(source) = source.as_mut().filter(|_| !inventory.unopened.is_empty()) {
        source.ask(&mut search.stop)?;
        let before = inventory;
        inventory = self::inventory(search, ledger, Some(source))?;
        inventory.entered += before.entered;
    }
    search.notes.extend(notes(&inventory, ledger, source.is_some()));
    match &search.quota {
        Quota::Each(count) => each(search, *count, &inventory),
        Quota::Any(count) => any(search, *count, &inventory),
        Quota::Left(_) | Quota::Endless => {}
    }
    Ok(())
}

fn inventory(search: &Search, ledger: &Ledger, source: Option<&Source>) -> Result<Inventory, Complaint> {
    let wanted = Wanted {
        patterns: &search.patterns,
        comment: search.comment.as_deref(),
        passphrase: source.and_then(Source::known),
        encrypted: source.is_some(),
    };
    let inventory = ledger.reconcile(&wanted).map_err(|error| {
        Complaint::new(format!("cannot use the ledger '{}': {error}", escaped_path(ledger.path()))).hint(
            "move it away, and a new one is made of the keys that are there; or choose another directory",
        )
    })?;
    match inventory.in_the_clear.len() {
        0 => Ok(inventory),
        keys => {
            let (keys, are) = if keys == 1 { ("1 key", "is") } else { (&*format!("{keys} keys"), "are") };
            let files = names(&inventory.in_the_clear);
            Err(Complaint::new(format!("{keys} that would count {are} not encrypted: {files}")).hint(
                "encrypt each one with `ssh-keygen -p -f FILE` and run the same command again, or choose another directory",
            ))
        }
    }
}

/// The first paths, in quotes.
fn names(paths: &[PathBuf]) -> String {
    let mut names: Vec<String> =
        paths.iter().take(LISTED).map(|path| format!("'{}'", escaped_path(path))).collect();
    if let Some(more @ 1..) = paths.len().checked_sub(LISTED) {
        names.push(format!("and {more} more"));
    }
    names.join(", ")
}

/// What there is to say of the keys and the ledger that were found.
fn notes(inventory: &Inventory, ledger: &Ledger, encrypts: bool) -> Vec<String> {
    let ledger = escaped_path(ledger.path());
    let mut notes = Vec::new();
    match inventory.broken {
        0 => {}
        1 => notes.push(format!("note: 1 line of '{ledger}' is not whole and is left out")),
        lines => notes.push(format!("note: {lines} lines of '{ledger}' are not whole and are left out")),
    }
    match inventory.entered {
        0 => {}
        1 => notes.push(format!("note: 1 key that was not in '{ledger}' is entered there")),
        keys => notes.push(format!("note: {keys} keys that were not in '{ledger}' are entered there")),
    }
    let flawed = inventory.flawed.iter().take(LISTED);
    notes
        .extend(flawed.map(|(path, why)| format!("warning: '{}' does not count: {why}", escaped_path(path))));
    if let Some(more @ 1..) = inventory.flawed.len().checked_sub(LISTED) {
        notes.push(format!("warning: {more} more do not count"));
    }
    if !inventory.unopened.is_empty() {
        let files = names(&inventory.unopened);
        notes.push(format!("note: without their passphrase these count unopened: {files}"));
    }
    match inventory.encrypted {
        0 => {}
        _ if encrypts => {}
        1 => notes.push("note: 1 key that exists already is encrypted; new keys will not be".into()),
        keys => {
            notes.push(format!("note: {keys} keys that exist already are encrypted; new keys will not be"))
        }
    }
    notes
}

fn each(search: &mut Search, count: u64, inventory: &Inventory) {
    let had = || inventory.each.iter().map(|had| *had.min(&count));
    search.had = had().sum();
    if search.had == 0 {
        return;
    }
    let there = search.patterns.iter().zip(had()).filter(|(_, had)| *had > 0);
    let notes = there.clone().take(LISTED).map(|(pattern, had)| {
        let (these, are) = if count == 1 { ("key", "is") } else { ("keys", "are") };
        format!("{had} of {count} {these} for {} {are} there already", shortened(pattern.text()))
    });
    search.notes.extend(notes);
    match there.count().saturating_sub(LISTED) {
        0 => {}
        1 => search.notes.push("... and for 1 more pattern".into()),
        more => search.notes.push(format!("... and for {more} more patterns")),
    }
    search.quota = Quota::Left(had().map(|had| count - had).filter(|left| *left > 0).collect());
    let mut left = had().map(|had| count - had);
    search.patterns.retain(|_| left.next() != Some(0));
}

fn any(search: &mut Search, count: u64, inventory: &Inventory) {
    search.had = inventory.keys.min(count);
    if search.had == 0 {
        return;
    }
    let (these, are) = if count == 1 { ("key", "is") } else { ("keys", "are") };
    search.notes.push(format!("{} of {count} {these} {are} there already", search.had));
    search.quota = Quota::Any(count - search.had);
    if search.had == count {
        search.patterns.clear();
    }
}
