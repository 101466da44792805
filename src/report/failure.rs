//! What stderr says where a job ends without its result, and the exit status of each end.

use super::paint::Paint;
use crate::job::JobError;
use crate::plan::{Complaint, Refusal};
use crate::search::End;

/// A failure: of input or output, of the machine, or of a self-check.
const FAILURE: u8 = 1;

/// The request cannot be carried out.
const UNUSABLE: u8 = 2;

/// A limit ended the search.
const LIMIT: u8 = 3;

/// Returns the exit status of how a job ended.
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

/// Returns what is printed about a job that failed, with line ends: nothing about a signal, whose sender knows.
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

/// Returns what is printed about a refusal, with line ends.
#[must_use]
pub fn refusal(refusal: &Refusal, paint: Paint) -> String {
    match refusal {
        Refusal::Usage(usage) => if paint.enabled() { &usage.painted } else { &usage.plain }.clone(),
        Refusal::Complaints(complaints) => complaints.iter().map(|one| complaint(one, paint)).collect(),
        Refusal::SelfTest(error) => complaint(&Complaint::new(error.to_string()), paint),
    }
}

/// Returns what is printed about one thing that is wrong, with line ends.
fn complaint(complaint: &Complaint, paint: Paint) -> String {
    let text = complaint.to_string();
    match text.strip_prefix("error:") {
        Some(rest) => format!("{}{rest}\n", paint.error("error:")),
        None => text + "\n",
    }
}
