//! The filter of a matcher as plain words for a device, which rejects most keys before they leave
//! it.
//!
//! A filter is a list of clauses. A key passes the filter if it passes one of the clauses. A clause
//! has up to three tests, and a key passes the clause if it passes all of them: rows of windows
//! (`pair_bitmap.rs`), the Bloom filter of the first characters of literals (`literals.rs`), and
//! the walk through an automaton (`dfa_scan.rs`). A key that passes may match; the matcher decides.
//!
//! Work items read these tests at places of their own, and a device serves such reads one cache line
//! after the other. So the sieve comes before them: a small bitmap that a device keeps where it reads
//! any places at once. It is a row that all clauses have, folded, or the prefix hashes of the Bloom
//! filter. It rejects no key that passes the filter.
//!
//! ```text
//! 0                  the target's zero bits before the first byte
//! 1                  the number of clauses
//! 2                  what the sieve holds: 0 nothing, 1 to 3 a row that begins at byte 0 to 2,
//!                    4 prefix hashes
//! 3                  where the sieve begins
//! 4 + 4 i            of clause i: the number of rows, where they begin,
//!                    where the Bloom filter begins, where the walk begins, or 0 for none
//! ```

use super::lookup::{MOST_COUNT, SPREAD};
use super::pair_bitmap::{PairBitmap, ROW_WORDS, WINDOWS};
use crate::wire::Target;

/// The filter of a list of patterns.
pub struct DeviceFilter {
    target: Target,
    clauses: Vec<Clause>,
}

/// The words of the rows, of the Bloom filter and of the walk.
type Clause = [Vec<u32>; 3];

/// The number of words before the first clause, and the number of words of each clause.
const HEAD: usize = 4;
const CLAUSE: usize = 4;

/// What a sieve holds, besides a row.
const NOTHING: u32 = 0;
const HASHES: u32 = 4;

impl DeviceFilter {
    /// The words of a sieve: 4 KiB.
    pub const SIEVE_WORDS: usize = 1 << 10;

    /// The constants that a kernel needs to read a filter, with their names there.
    pub const NUMBERS: [(&str, u64); 6] = [
        ("ROW_WINDOWS", WINDOWS as u64),
        ("ROW_WORDS", ROW_WORDS as u64),
        ("MOST_COUNT", MOST_COUNT as u64),
        ("SPREAD", SPREAD),
        ("SIEVE_WORDS", Self::SIEVE_WORDS as u64),
        ("SIEVE_OF_HASHES", HASHES as u64),
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
        let mut tests = Clause::default();
        if let Some(rows) = rows {
            rows.write(&mut tests[0]);
        }
        bloom(&mut tests[1]);
        walk(&mut tests[2]);
        self.clauses.push(tests);
    }

    /// Returns the words of the whole filter.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        let (kind, sieve) = self.sieve();
        let first = HEAD + CLAUSE * self.clauses.len();
        let mut words = vec![self.target.lead() as u32, self.clauses.len() as u32, kind, first as u32];
        let mut at = first + sieve.len();
        for tests in &self.clauses {
            words.push((tests[0].len() / ROW_WORDS) as u32);
            for test in tests {
                words.push(if test.is_empty() { 0 } else { at as u32 });
                at += test.len();
            }
        }
        words.extend(sieve);
        words.extend(self.clauses.iter().flatten().flatten());
        words
    }

    /// Returns what the sieve holds, and its words.
    fn sieve(&self) -> (u32, Vec<u32>) {
        // Of the rows with all windows that every clause has, the one with the fewest marks.
        let of_rows = (0..3).filter_map(|byte| Some((byte + 1, self.folded_rows(byte)?)));
        let of_hashes = || match &self.clauses[..] {
            [[rows, bloom, _]] if rows.is_empty() && !bloom.is_empty() => {
                Some((HASHES, bloom[bloom.len() - Self::SIEVE_WORDS..].to_vec()))
            }
            _ => None,
        };
        let marks = |words: &[u32]| words.iter().map(|word| word.count_ones()).sum::<u32>();
        let sieve = of_rows.min_by_key(|(_, words)| marks(words)).or_else(of_hashes);
        sieve.unwrap_or((NOTHING, Vec::new()))
    }

    /// Returns the marks of the rows of all clauses that begin at this byte, without the highest bits of
    /// their places. `None` unless all clauses have such a row, with all windows.
    fn folded_rows(&self, byte: u32) -> Option<Vec<u32>> {
        let mut folded = vec![0; Self::SIEVE_WORDS];
        for [rows, ..] in &self.clauses {
            let row = rows.chunks(ROW_WORDS).find(|row| row[..2] == [WINDOWS as u32, byte])?;
            for (at, word) in row[1 + WINDOWS..].iter().enumerate() {
                folded[at % Self::SIEVE_WORDS] |= word;
            }
        }
        (!self.clauses.is_empty()).then_some(folded)
    }
}
