//! What stderr says where there is no plan, or where it could not be carried out.

use crate::cli::{Complaint, Refusal};

use super::Paint;

/// Returns what is said of a refusal, with line ends: nothing of a signal, whose sender knows.
#[must_use]
pub fn refusal(refusal: &Refusal, paint: Paint) -> String {
    match refusal {
        Refusal::Usage(usage) => if paint.enabled() { &usage.painted } else { &usage.plain }.clone(),
        Refusal::Complaints(complaints) => complaints.iter().map(|one| complaint(one, paint)).collect(),
        Refusal::SelfTest(error) => complaint(&Complaint::new(error.to_string()), paint),
        Refusal::Signal(_) => String::new(),
    }
}

/// Returns what is said of one thing that is wrong, with line ends.
#[must_use]
pub fn complaint(complaint: &Complaint, paint: Paint) -> String {
    let text = complaint.to_string();
    match text.strip_prefix("error:") {
        Some(rest) => format!("{}{rest}\n", paint.error("error:")),
        None => text + "\n",
    }
}
