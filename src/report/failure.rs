//! The message of a job that fails, and the exit status of every job.

use super::streams::Paint;
use crate::job::JobError;
use crate::notice::counted;
use crate::plan::{Diagnostic, PlanError};
use crate::search::End;

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
        Ok(End::Timeout) => LIMIT,
        Ok(End::Signal(signal)) | Err(JobError::Signal(signal)) => signal.status(),
        Err(JobError::Refused(PlanError::Usage(_) | PlanError::Diagnostics(_))) => UNUSABLE,
        Err(JobError::Refused(PlanError::SelfTest(_))) => FAILURE,
        Err(_) => FAILURE,
    }
}

/// Returns the message about keys that nobody has read from stdout, with its line ending.
#[must_use]
pub fn lost(keys: usize) -> String {
    let keys = counted(keys as u64, "key");
    format!("error: nobody read stdout: {keys} lost\nhint: --output and --output-dir write keys to files\n")
}

/// Returns the message about a failed job, with line endings. It is empty after a signal, because
/// the sender knows the reason, and after a panic, which has printed a message itself.
#[must_use]
pub fn failure(error: &JobError, paint: Paint) -> String {
    match error {
        JobError::Refused(refused) => plan_error(refused, paint),
        JobError::Signal(_) | JobError::Panic => String::new(),
        error => {
            let line = Diagnostic::new(error.to_string());
            diagnostic(&if let Some(hint) = error.hint() { line.hint(hint) } else { line }, paint)
        }
    }
}

/// Returns the message about a refused request, with line endings.
#[must_use]
pub fn plan_error(error: &PlanError, paint: Paint) -> String {
    match error {
        PlanError::Usage(usage) => if paint.enabled() { &usage.painted } else { &usage.plain }.clone(),
        PlanError::Diagnostics(diagnostics) => diagnostics.iter().map(|one| diagnostic(one, paint)).collect(),
        PlanError::SelfTest(error) => diagnostic(&Diagnostic::new(error.to_string()), paint),
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
