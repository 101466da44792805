//! The expected work of a search.

use crate::pattern::Pattern;
use crate::search::Quota;

/// Returns how many keys the search is expected to try. The figure is a rough one: it serves to
/// choose the size of tables.
pub(super) fn expected_attempts(patterns: &[Pattern], quota: &Quota) -> f64 {
    let attempts = patterns.iter().map(|pattern| pattern.odds().expected_attempts());
    match quota {
        Quota::Each(count) => *count as f64 * attempts.fold(0.0, f64::max),
        Quota::Left(counts) => {
            counts.iter().zip(attempts).map(|(count, attempts)| *count as f64 * attempts).fold(0.0, f64::max)
        }
        Quota::Any(count) => *count as f64 * attempts.fold(f64::INFINITY, f64::min),
    }
}
