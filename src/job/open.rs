//! Opens the destination, the ledger, the passphrase and the engine of a plan.

use std::borrow::Cow;
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use super::agent::OpenAgent;
use super::encryption::{self, STACK};
use super::error::{JobError, diagnostic, warning};
use super::exec_queue;
use super::existing::{self, Existing};
use super::hopeless;
use super::passphrase::PassphraseInput;
use crate::engine::Engine;
use crate::escape::escaped;
use crate::key::{Protection, encryption_memory};
use crate::ledger::Ledger;
use crate::notice::Notice;
use crate::pattern::{Pattern, PatternId};
use crate::plan::{Diagnostic, KeyOutput, OutputOptions, SearchPlan};
use crate::search::{Measure, Quota, Stop, TooLittleMemory, fitting_threads, max_threads, memory_for};
use crate::store::{Demands, Destination, longest_name};
use crate::words::counted;

/// A search that is ready to begin.
pub struct PreparedSearch {
    /// The patterns to search for; none if every key exists already.
    pub patterns: Vec<Pattern>,
    /// The notices that are printed before the search.
    pub notices: Vec<Notice>,
    /// How many keys are missing.
    pub quota: Quota,
    /// How many of the wanted keys exist already. The quota does not include them.
    pub existing: u64,
    /// The engine, which has passed its self-test.
    pub engine: Arc<dyn Engine>,
    pub threads: NonZeroUsize,
    /// Where each key goes, and in which form.
    pub keys: KeyOutput,
    /// The comments that are neither the user's nor the text of the pattern.
    comments: HashMap<PatternId, String>,
    /// The agent, if keys go there.
    pub(super) agent: Option<OpenAgent>,
    /// The ledger, if the destination is a directory.
    pub ledger: Option<Ledger>,
    /// The passphrase and the cipher, if private keys are encrypted.
    pub protection: Option<Arc<Protection>>,
    pub output: OutputOptions,
    /// The signals and the time limit that end the search.
    pub(super) stop: Stop,
}

impl PreparedSearch {
    /// Opens the destination, the ledger, the passphrase and the engine of a plan. Passes `tell` what
    /// it waits for. The search ends when `stop` is requested.
    ///
    /// # Errors
    ///
    /// Returns why the plan cannot be carried out.
    pub fn open(plan: SearchPlan, stop: &Stop, tell: &dyn Fn(Notice)) -> Result<Self, JobError> {
        let SearchPlan { patterns, mut notices, quota, engine, timeout, however_long, .. } = plan;
        let encryption = plan.keys.encryption.as_ref();
        let encryption = encryption.map_or(0, |_| STACK as u64 + encryption_memory(plan.keys.format));
        let threads = usable_threads(plan.threads, &patterns, encryption, &mut notices)?;
        let SearchPlan { keys, output, .. } = plan;
        let KeyOutput { destination, encryption, comment, .. } = &keys;
        let (mut passphrase, note) = encryption.as_ref().map(PassphraseInput::open).transpose()?.unzip();
        notices.extend(note.flatten());
        let longest_comment = comment.as_deref().unwrap_or_else(|| longest(&patterns, Pattern::text));
        if let Some(command) = &keys.exec {
            exec_queue::check(command, longest(&patterns, Pattern::text), longest_comment)?;
        }
        let demands = Demands {
            text: longest_comment.len().max(longest(&patterns, Pattern::text).len()),
            name: longest_name(patterns.iter().map(Pattern::text), keys.format),
            allow_exposed: keys.allow_exposed,
        };
        let mut agent = None;
        if let Some(constraints) = keys.agent {
            let (opened, about) = OpenAgent::open(constraints, destination, demands)?;
            notices.extend(about);
            agent = Some(opened);
        }
        let new_directory = missing_directory(destination);
        let left = destination.prepare(demands).map_err(|error| diagnostic(&error, error.hint()))?;
        notices.extend(left.into_iter().map(warning));
        let (ledger, existing) = match destination {
            Destination::Directory(directory) => {
                let ledger = Ledger::new(directory);
                let wanted = existing::Wanted {
                    patterns,
                    quota,
                    comment: comment.as_deref(),
                    allow_exposed: keys.allow_exposed,
                    quiet: output.quiet,
                };
                let existing = existing::subtract(wanted, &ledger, &mut passphrase, stop, tell)?;
                if !existing.patterns.is_empty() {
                    notices.extend(existing::try_ledger(&ledger, demands)?.map(warning));
                }
                (Some(ledger), existing)
            }
            _ => (None, Existing { patterns, quota, existing: 0, notices: Vec::new() }),
        };
        let Existing { patterns, quota, existing, notices: more } = existing;
        notices.extend(more);
        let engine = engine.build(quota.expected_attempts(&patterns))?;
        let measure = Measure { patterns: &patterns, threads, stop };
        if timeout.is_none()
            && !however_long
            && let Some(hopeless) = hopeless::check(&measure, &*engine, &quota, output)?
        {
            remove_new(new_directory);
            return Err(JobError::Hopeless(Box::new(hopeless)));
        }
        let protection = match (passphrase, encryption) {
            (Some(source), Some(encryption)) if !patterns.is_empty() => {
                let protection = source.protection(encryption, stop)?;
                let comment = comment.as_deref().unwrap_or_else(|| longest(&patterns, Pattern::text));
                encryption::try_it(keys.format, comment, &protection)?;
                Some(Arc::new(protection))
            }
            _ => None,
        };
        let comment = |(id, pattern)| match keys.comment(pattern) {
            Cow::Borrowed(_) => None,
            Cow::Owned(comment) => Some((id, comment)),
        };
        let comments = patterns.iter().enumerate().filter_map(comment).collect();
        Ok(Self {
            patterns,
            notices,
            quota,
            existing,
            engine,
            threads,
            keys,
            comments,
            agent,
            ledger,
            protection,
            output,
            stop: stop.clone(),
        })
    }

    /// Returns the comment on a find of these patterns.
    #[must_use]
    pub fn comment(&self, matched: &[PatternId]) -> &str {
        let first = matched[0];
        let text = || self.keys.comment.as_deref().unwrap_or_else(|| self.patterns[first].text());
        self.comments.get(&first).map_or_else(text, String::as_str)
    }

    /// Returns the number of threads that the engine uses.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.engine.workers(self.threads.get())
    }
}

/// Returns the number of threads that a search starts. Adds a notice if it is not `threads`. Each thread
/// has another one beside it that encrypts keys with this many bytes, or 0.
///
/// # Errors
///
/// Returns a diagnostic if limits of memory leave too little.
pub(super) fn usable_threads(
    threads: NonZeroUsize,
    patterns: &[Pattern],
    encryption: u64,
    notices: &mut Vec<Notice>,
) -> Result<NonZeroUsize, Diagnostic> {
    let most = max_threads();
    if threads > most {
        notices.push(Notice::note(format!("using {most} threads: more do not help on this machine")));
    }
    let bytes = patterns.iter().map(memory_for).sum();
    let (fitting, limit) = fitting_threads(threads.min(most), bytes, encryption).map_err(too_little)?;
    if let Some(limit) = limit {
        let threads = counted(fitting.get() as u64, "thread");
        let (left, of) = (limit.left >> 20, escaped(&limit.of));
        notices.push(Notice::note(format!("using {threads}: only {left} MiB of memory are left ({of})")));
    }
    Ok(fitting)
}

/// Returns the diagnostic about a search that does not fit into memory.
fn too_little(error: TooLittleMemory) -> Diagnostic {
    Diagnostic::new(escaped(&error.to_string()))
        .hint("raise that limit; -t 1 and fewer patterns need the least")
}

/// Returns the directory of a destination if it does not exist yet.
fn missing_directory(destination: &Destination) -> Option<&Path> {
    match destination {
        Destination::Directory(path) | Destination::FileIn(path, _) => {
            Some(&**path).filter(|path| !path.exists())
        }
        _ => None,
    }
}

/// Removes a directory that was made for a search that is refused.
fn remove_new(directory: Option<&Path>) {
    if let Some(directory) = directory {
        let _ = std::fs::remove_dir(directory);
    }
}

fn longest<'a>(patterns: &'a [Pattern], text: impl Fn(&'a Pattern) -> &'a str) -> &'a str {
    patterns.iter().map(text).max_by_key(|text| text.len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_names_the_threads_if_there_are_fewer_than_wanted() {
        let most = max_threads();
        for (wanted, notices) in [(NonZeroUsize::MIN, 0), (most, 0), (most.saturating_add(1), 1)] {
            let mut said = Vec::new();
            assert_eq!(usable_threads(wanted, &[], 0, &mut said).unwrap(), wanted.min(most));
            assert_eq!(said.len(), notices, "{wanted}");
        }
    }
}
