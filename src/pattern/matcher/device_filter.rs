//! What a matcher tells a device, as plain words: the tests that rule most keys out before any of them leaves it.
//!
//! A filter is a list of sieves, and lets a key pass if one of them does. A sieve has up to three tests, and lets a key pass if all
//! of them do: rows of windows (`filter/rows.rs`), marks of the first characters of literals (`index.rs`), and the walk of an
//! expression (`walk.rs`). What passes may match; the matcher decides.
//!
//! ```text
//! 0                  the target's zero bits before the first byte
//! 1                  the number of sieves
//! 2 + 4 i            of sieve i: the number of rows, where they begin,
//!                    where the marks begin, where the walk begins, or 0 for none
//! ```

use super::bloom::SPREAD;
use super::literals::MOST_COUNT;
use super::window_filter::{ROW_WORDS, WINDOWS, WindowFilter};
use crate::wire::Target;

/// The tests of a list of patterns.
pub struct DeviceFilter {
    target: Target,
    /// The number of rows, and the words of each kind of test.
    sieves: Vec<(usize, [Vec<u32>; 3])>,
}

/// The words before the first sieve, and those of one.
const HEAD: usize = 2;
const SIEVE: usize = 4;

impl DeviceFilter {
    /// What those who read a filter have to know, by the names that they use.
    pub const NUMBERS: [(&str, u64); 4] = [
        ("ROW_WINDOWS", WINDOWS as u64),
        ("ROW_WORDS", ROW_WORDS as u64),
        ("MOST_COUNT", MOST_COUNT as u64),
        ("SPREAD", SPREAD),
    ];

    pub(super) fn new(target: Target) -> Self {
        Self { target, sieves: Vec::new() }
    }

    /// Adds a sieve of these rows, and of marks and a walk if they are written.
    pub(super) fn add(
        &mut self,
        rows: Option<&WindowFilter>,
        marks: impl FnOnce(&mut Vec<u32>),
        walk: impl FnOnce(&mut Vec<u32>),
    ) {
        let mut tests = [const { Vec::new() }; 3];
        let count = rows.map_or(0, |rows| rows.write(&mut tests[0]));
        marks(&mut tests[1]);
        walk(&mut tests[2]);
        self.sieves.push((count, tests));
    }

    /// All of it.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        let mut words = vec![self.target.lead() as u32, self.sieves.len() as u32];
        let mut at = HEAD + SIEVE * self.sieves.len();
        for (rows, tests) in &self.sieves {
            words.push(*rows as u32);
            for test in tests {
                words.push(if test.is_empty() { 0 } else { at as u32 });
                at += test.len();
            }
        }
        words.extend(self.sieves.iter().flat_map(|(_, tests)| tests.iter().flatten()));
        words
    }
}
