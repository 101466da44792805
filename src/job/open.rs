//! Opens the destination, the ledger, the passphrase and the engine of a plan.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use super::agent;
use super::encryption::{self, STACK};
use super::error::{JobError, diagnostic};
use super::exec_queue;
use super::existing;
use super::hopeless;
use super::passphrase::PassphraseInput;
use crate::agent::Agent;
use crate::engine::Engine;
use crate::escape::escaped;
use crate::key::{Protection, encryption_memory};
use crate::ledger::{Ledger, Waiting};
use crate::notice::Notice;
use crate::pattern::{Pattern, PatternId};
use crate::plan::{Diagnostic, Encryption, KeyOutput, SearchPlan};
use crate::search::{Measure, Stop, TooLittleMemory, fitting_threads, max_threads, memory_for};
use crate::store::{Demands, Destination, longest_name};
use crate::words::counted;

/// A search that is ready to begin.
pub struct PreparedSearch {
    /// The plan, with the notices that are printed before the search. The patterns are those whose keys are
    /// missing, and the quota is how many are; there are no patterns if every key exists already.
    pub plan: SearchPlan,
    /// How many of the wanted keys exist already. The quota does not include them.
    pub existing: u64,
    /// The engine, which has passed its self-test.
    pub engine: Arc<dyn Engine>,
    /// The agent, if keys go there.
    pub(super) agent: Option<Agent>,
    /// The ledger, if the destination is a directory.
    pub ledger: Option<Ledger>,
    /// The passphrase and the cipher, if private keys are encrypted.
    pub protection: Option<Arc<Protection>>,
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
    pub fn open(mut plan: SearchPlan, stop: &Stop, tell: &dyn Fn(Notice)) -> Result<Self, JobError> {
        let keys = &plan.keys;
        let for_encryption =
            if keys.encryption.is_some() { STACK as u64 + encryption_memory(keys.format) } else { 0 };
        let notices = &mut plan.notices;
        plan.threads = usable_threads(plan.threads, &plan.patterns, for_encryption, notices)?;
        let (mut passphrase, note) = keys.encryption.as_ref().map(PassphraseInput::open).transpose()?.unzip();
        notices.extend(note.flatten());
        let demands = demands(&plan.patterns, keys)?;
        let open = |constraints| agent::open(constraints, &keys.destination, demands);
        let (agent, about) = keys.agent.map(open).transpose()?.unzip();
        notices.extend(about.into_iter().flatten());
        let new_directory = missing_directory(&keys.destination).map(Path::to_owned);
        let left = keys.destination.prepare(demands);
        notices.extend(left.map_err(|error| diagnostic(&error, error.hint()))?);
        let (mut ledger, mut existing) = (None, 0);
        if let Destination::Directory(directory) = &keys.destination {
            let opened = Ledger::new(directory);
            let waiting = Waiting { tell, quiet: plan.output.quiet, stop };
            existing = existing::subtract(&mut plan, &opened, &mut passphrase, &waiting)?;
            if !plan.patterns.is_empty() {
                plan.notices.extend(existing::try_ledger(&opened, demands)?);
            }
            ledger = Some(opened);
        }
        let SearchPlan { patterns, quota, keys, .. } = &plan;
        let engine = plan.engine.build(quota.expected_attempts(patterns))?;
        let measure = Measure { patterns, threads: plan.threads, stop };
        if plan.timeout.is_none()
            && !plan.however_long
            && let Some(hopeless) = hopeless::check(&measure, &*engine, quota, plan.output)?
        {
            // It was made for this search.
            new_directory.into_iter().for_each(|directory| drop(std::fs::remove_dir(directory)));
            return Err(JobError::Hopeless(Box::new(hopeless)));
        }
        let protection = match (&keys.encryption, passphrase) {
            (Some(encryption), Some(passphrase)) if !patterns.is_empty() => {
                let &Encryption { cipher, rounds, .. } = encryption;
                let protection = Protection { passphrase: passphrase.ask(stop)?, cipher, rounds };
                encryption::try_it(keys.format, longest_comment(patterns, keys), &protection)?;
                Some(Arc::new(protection))
            }
            _ => None,
        };
        Ok(Self { plan, existing, engine, agent, ledger, protection, stop: stop.clone() })
    }

    /// Returns the first pattern of a find. Files have their names from it, and comments.
    #[must_use]
    pub fn first_pattern(&self, matched: &[PatternId]) -> &Pattern {
        &self.plan.patterns[matched[0]]
    }

    /// Returns the number of threads that the engine uses.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.engine.workers(self.plan.threads.get())
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

/// Returns what the files of these keys need. Checks that the command after each key can run.
fn demands(patterns: &[Pattern], keys: &KeyOutput) -> Result<Demands, Diagnostic> {
    let (pattern, comment) = (longest(patterns), longest_comment(patterns, keys));
    if let Some(command) = &keys.exec {
        exec_queue::check(command, pattern, comment)?;
    }
    Ok(Demands {
        text: comment.len().max(pattern.len()),
        name: longest_name(patterns.iter().map(Pattern::text), keys.format),
        allow_exposed: keys.allow_exposed,
    })
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

fn longest(patterns: &[Pattern]) -> &str {
    patterns.iter().map(Pattern::text).max_by_key(|text| text.len()).unwrap_or_default()
}

fn longest_comment<'a>(patterns: &'a [Pattern], keys: &'a KeyOutput) -> &'a str {
    keys.comment.as_deref().unwrap_or_else(|| longest(patterns))
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
