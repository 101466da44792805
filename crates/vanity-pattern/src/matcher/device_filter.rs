//! The filter of a matcher as plain words for a device, which rejects most keys before they leave
//! it.
//!
//! A filter is a list of clauses. A key passes the filter if it passes one of the clauses. A clause
//! has up to three tests, and a key passes the clause if it passes all of them: rows of windows
//! (`pair_bitmap.rs`), the Bloom filter of the first characters of literals (`literals.rs`), and
//! the walk through an automaton (`dfa_scan.rs`). A key that passes may match; the matcher decides.
//!
//! ```text
//! 0                  the target's zero bits before the first byte
//! 1                  the number of clauses
//! 2 + 4 i            of clause i: the number of rows, where they begin,
//!                    where the Bloom filter begins, where the walk begins, or 0 for none
//! ```

use super::lookup::{MOST_COUNT, SPREAD};
use super::pair_bitmap::{PairBitmap, ROW_WORDS, WINDOWS};
use crate::wire::Target;

/// The filter of a list of patterns.
pub struct DeviceFilter {
    target: Target,
    /// For each clause, the number of rows, and the words of each kind of test.
    clauses: Vec<(usize, [Vec<u32>; 3])>,
}

/// The number of words before the first clause, and the number of words of each clause.
const HEAD: usize = 2;
const CLAUSE: usize = 4;

impl DeviceFilter {
    /// The constants that a kernel needs to read a filter, with their names there.
    pub const NUMBERS: [(&str, u64); 4] = [
        ("ROW_WINDOWS", WINDOWS as u64),
        ("ROW_WORDS", ROW_WORDS as u64),
        ("MOST_COUNT", MOST_COUNT as u64),
        ("SPREAD", SPREAD),
    ];

    pub(super) fn new(target: Target) -> Self {
        Self { target, clauses: Vec::new() }
    }

    /// Adds a clause of these rows. The closures append the words of the Bloom filter and of the
    /// walk, or nothing if the clause has none.
    pub(super) fn add(
        &mut self,
        rows: Option<&PairBitmap>,
        bloom: impl FnOnce(&mut Vec<u32>),
        walk: impl FnOnce(&mut Vec<u32>),
    ) {
        let mut tests = [const { Vec::new() }; 3];
        let count = rows.map_or(0, |rows| rows.write(&mut tests[0]));
        bloom(&mut tests[1]);
        walk(&mut tests[2]);
        self.clauses.push((count, tests));
    }

    /// Returns the words of the whole filter.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        let mut words = vec![self.target.lead() as u32, self.clauses.len() as u32];
        let mut at = HEAD + CLAUSE * self.clauses.len();
        for (rows, tests) in &self.clauses {
            words.push(*rows as u32);
            for test in tests {
                words.push(if test.is_empty() { 0 } else { at as u32 });
                at += test.len();
            }
        }
        words.extend(self.clauses.iter().flat_map(|(_, tests)| tests.iter().flatten()));
        words
    }
}
