//! The message of a job that fails, and the exit status of every job.

use super::streams::Paint;
use crate::job::JobError;
use crate::notice::counted;
use crate::plan::{Complaint, Refusal};
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
        Err(JobError::Refused(Refusal::Usage(_) | Refusal::Complaints(_))) => UNUSABLE,
        Err(JobError::Refused(Refusal::SelfTest(_))) => FAILURE,
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
        JobError::Refused(refused) => refusal(refused, paint),
        JobError::Signal(_) | JobError::Panic => String::new(),
        error => {
            let line = Complaint::new(error.to_string());
            complaint(&if let Some(hint) = error.hint() { line.hint(hint) } else { line }, paint)
        }
    }
}

/// Returns the message about a refusal, with line endings.
#[must_use]
pub fn refusal(refusal: &Refusal, paint: Paint) -> String {
    match refusal {
        Refusal::Usage(usage) => if paint.enabled() { &usage.painted } else { &usage.plain }.clone(),
        Refusal::Complaints(complaints) => complaints.iter().map(|one| complaint(one, paint)).collect(),
        Refusal::SelfTest(error) => complaint(&Complaint::new(error.to_string()), paint),
    }
}

/// Returns the message about one complaint, with line endings.
fn complaint(complaint: &Complaint, paint: Paint) -> String {
    let text = complaint.to_string();
    match text.strip_prefix("error:") {
        Some(rest) => format!("{}{rest}\n", paint.error("error:")),
        None => text + "\n",
    }
}
