//! Says how a job failed: its message and its exit status.

use std::time::Duration;

use super::estimate::{Suggestions, at};
use super::forecast::seconds_for;
use super::number::time;
use super::printing::{self, Paint};
use crate::job::{Hopeless, JobError, Places};
use crate::pattern::Pattern;
use crate::plan::{ANOTHER_ENGINE, Diagnostic, PlanError};
use crate::search::{End, SearchError};
use crate::words::{counted, grouped};
use console::Term;

/// The status of a failure of input or output, of the machine, or of a self-check.
const FAILURE: u8 = 1;

/// The status of a request that cannot be carried out.
const UNUSABLE: u8 = 2;

/// The status of a search that a limit ended.
const LIMIT: u8 = 3;

/// Returns the exit status of a job.
#[must_use]
pub fn status(ended: &Result<End, JobError>) -> u8 {
    match ended {
        Ok(End::Complete) => 0,
        Ok(End::Timeout) | Err(JobError::Stopped(End::Timeout) | JobError::InUse(..)) => LIMIT,
        Ok(End::Signal(signal)) | Err(JobError::Stopped(End::Signal(signal))) => signal.status(),
        Err(JobError::Refused(PlanError::Diagnostics(_)) | JobError::Hopeless(_)) => UNUSABLE,
        // None of these has begun a search.
        Err(JobError::Signals(_) | JobError::Thread(_) | JobError::Search(SearchError::Threads(_))) => {
            UNUSABLE
        }
        Err(_) => FAILURE,
    }
}

/// Returns the message about keys that nobody has read from stdout, with its line endings. It is empty
/// if there are none.
#[must_use]
pub fn unread(untold: &Places) -> String {
    let Some(hint) = untold.hint() else { return String::new() };
    let keys = |number: usize| counted(number as u64, "key");
    let what = match (untold.lost, untold.elsewhere) {
        (0, 0) => format!("it lacks the lines of {}", keys(untold.in_files() + untold.in_agent)),
        (0, elsewhere) => format!("it lacks {}", keys(elsewhere)),
        (lost, _) => format!("{} lost", keys(lost)),
    };
    format!("error: nobody read stdout: {what}\nhint: {hint}\n")
}

/// Returns the message about a failed job, with line endings. It is empty after a signal, because
/// the sender knows the reason, and after a panic, which has printed a message itself.
#[must_use]
pub fn failure(error: &JobError, paint: Paint) -> String {
    match error {
        JobError::Refused(refused) => plan_error(refused, paint),
        JobError::Hopeless(hopeless) => self::hopeless(hopeless, paint),
        JobError::Stopped(End::Signal(_)) | JobError::Panic => String::new(),
        error => diagnostic(&Diagnostic::new(error.to_string()).hints(error.hint()), paint),
    }
}

/// Returns the message about a refused request, with line endings.
#[must_use]
pub fn plan_error(error: &PlanError, paint: Paint) -> String {
    match error {
        PlanError::Diagnostics(diagnostics) => diagnostics.iter().map(|one| diagnostic(one, paint)).collect(),
        PlanError::SelfTest(error) => {
            diagnostic(&Diagnostic::new(error.to_string()).hint(ANOTHER_ENGINE), paint)
        }
    }
}

/// Returns the message about one diagnostic, with line endings.
fn diagnostic(diagnostic: &Diagnostic, paint: Paint) -> String {
    let text = diagnostic.to_string();
    match text.strip_prefix("error:") {
        Some(rest) => format!("{}{rest}\n", paint.error("error:")),
        None => text + "\n",
    }
}

/// The time within which a hopeless search could find something else.
const INSTEAD: Duration = Duration::from_secs(3600);

/// The most patterns that a refusal names.
const NAMED: usize = 3;

/// Returns the refusal of a search whose keys will not be found, and what can be found.
fn hopeless(hopeless: &Hopeless, paint: Paint) -> String {
    let Hopeless { patterns, of, rate, output } = hopeless;
    let takes = |pattern: &Pattern| time(seconds_for(pattern.odds(), *rate)[0]);
    let at = at(*rate);
    let (problem, hint) = match &patterns[..] {
        [pattern] => (
            format!(
                "'{}' will not be found: it has a 50% chance within {} {at}",
                pattern.text(),
                takes(pattern)
            ),
            match of {
                1 => "a shorter text is found sooner: --estimate --within 1h prints what fits into an hour",
                _ => "leave it out, or shorten it: --estimate --within 1h prints what fits into an hour",
            },
        ),
        patterns => {
            let named = patterns.iter().take(NAMED);
            let named: Vec<String> =
                named.map(|pattern| format!("'{}' within {}", pattern.text(), takes(pattern))).collect();
            let number = patterns.len() as u64;
            let more = patterns.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
            (
                format!(
                    "{} of {} will not be found; 50% chances {at}: {}{more}",
                    grouped(number),
                    counted(*of as u64, "pattern"),
                    named.join(", ")
                ),
                "leave them out: --estimate --within 1h prints how many patterns fit into an hour",
            )
        }
    };
    let refusal = Diagnostic::new(problem)
        .hint(hint)
        .hint("--timeout 1h searches for that long all the same, and --however-long without a limit");
    let mut text = diagnostic(&refusal, paint);
    if let ([pattern], false) = (&patterns[..], output.quiet) {
        let suggestions = Suggestions::new(pattern, *rate, Some(INSTEAD), output.arguments);
        let lines = suggestions.lines(printing::width(&Term::stderr()), paint);
        lines.iter().for_each(|line| text = format!("{text}{line}\n"));
    }
    text
}
