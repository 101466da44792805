//! What is there already is not searched again.

use crate::key::shown;
use crate::search::Quota;

use super::values::shortened;
use super::{Complaint, Search};
use crate::ledger::Stock;

/// How many patterns are told of by name; of more, only the first so many.
const LISTED: usize = 10;

/// Lowers what is wanted by what the directory has. Patterns that have all their keys leave the list.
pub(super) fn subtract(search: &mut Search) -> Result<(), Complaint> {
    let Some(ledger) = &search.ledger else { return Ok(()) };
    let stock = ledger.take_stock(&search.patterns, search.comment.as_deref()).map_err(|error| {
        Complaint::new(format!("cannot use the ledger '{}': {error}", shown(ledger.path()))).hint(
            "move it away, and a new one is made of the keys that are there; or choose another directory",
        )
    })?;
    search.notes.extend_from_slice(&stock.notes);
    match &search.quota {
        Quota::Each(count) => each(search, *count, &stock),
        Quota::Any(count) => any(search, *count, &stock),
        Quota::Left(_) | Quota::Endless => {}
    }
    Ok(())
}

fn each(search: &mut Search, count: u64, stock: &Stock) {
    let had = || stock.each.iter().map(|had| *had.min(&count));
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

fn any(search: &mut Search, count: u64, stock: &Stock) {
    search.had = stock.keys.min(count);
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
