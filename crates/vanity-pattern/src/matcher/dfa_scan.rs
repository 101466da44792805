//! Regular expressions over batches of bytes: eight walks through an automaton side by side.
//!
//! A walk is a chain of loads, and each load waits for the one before. Eight walks side by side
//! hide that latency. The sign of a key changes only the last character but one, so both signs
//! share the walk up to there.

use super::prefilter::EachCandidate;
use crate::odds::{Automaton, DEAD, MATCHED, START};
use crate::wire::{BODY_LEN, Bytes, QUADS, SIGN_POSITION, SIGN_VALUE, SYMBOL_BITS, Target};

/// The number of walks side by side.
const LANES: usize = 8;

/// The number of values that a symbol has.
const VALUES: u32 = 1 << SYMBOL_BITS;

/// An automaton. A state is the offset of its row in the table, and a row has one successor for
/// each value of a symbol.
pub(super) struct DfaScan {
    target: Target,
    /// The successors. [`DEAD`] and [`MATCHED`] lead to themselves.
    next: Vec<u32>,
    /// For each state, by its number: whether the text may end there.
    accepts: Vec<bool>,
}

/// The values of the characters of eight texts, by position.
type Values = [[u8; LANES]; 4 * QUADS];

impl DfaScan {
    pub(super) fn new(target: Target, automaton: &Automaton) -> Self {
        let mut next = Vec::new();
        for state in [DEAD, MATCHED] {
            next.extend([state * VALUES; VALUES as usize]);
        }
        for state in START..START + automaton.states() {
            next.extend((0..VALUES as u8).map(|value| automaton.after(state, value) * VALUES));
        }
        let accepts =
            [false, true].into_iter().chain((0..automaton.states()).map(|at| automaton.accepts(START + at)));
        Self { target, next, accepts: accepts.collect() }
    }

    /// Returns the bytes that the scan of an automaton takes, without small fields.
    pub(super) fn bytes(automaton: &Automaton) -> usize {
        ((START + automaton.states()) * VALUES) as usize * size_of::<u32>()
    }

    /// Appends the words that a device needs: the first state, the number of successors, the
    /// successors, and one bit for each state in which the text may end.
    pub(super) fn write(&self, words: &mut Vec<u32>) {
        words.extend([START * VALUES, self.next.len() as u32]);
        words.extend(&self.next);
        let bits = |some: &[bool]| some.iter().rev().fold(0, |bits, accepts| bits << 1 | u32::from(*accepts));
        words.extend(self.accepts.chunks(32).map(bits));
    }

    /// Calls `each` with the place of every element of `batch` that matches, in ascending order.
    /// Tests keys with either sign.
    pub(super) fn candidates(&self, batch: &[Bytes], each: EachCandidate) {
        for (number, some) in batch.chunks(LANES).enumerate() {
            let matches = self.eight(&values(self.target, some), self.target == Target::Key);
            for (lane, _) in matches.iter().take(some.len()).enumerate().filter(|(_, matches)| **matches) {
                each(LANES * number + lane);
            }
        }
    }

    /// Returns whether `bytes` match. Tests a key with the sign that it has.
    pub(super) fn is_match(&self, bytes: &Bytes) -> bool {
        self.eight(&values(self.target, std::slice::from_ref(bytes)), false)[0]
    }

    fn eight(&self, values: &Values, either_sign: bool) -> [bool; LANES] {
        let mut states = [START * VALUES; LANES];
        for values in &values[..SIGN_POSITION] {
            self.step(&mut states, values);
        }
        let mut matches = [false; LANES];
        for sign in if either_sign { &[0, SIGN_VALUE][..] } else { &[0] } {
            let mut states = states;
            self.step(&mut states, &values[SIGN_POSITION].map(|value| value | sign));
            for values in &values[SIGN_POSITION + 1..BODY_LEN] {
                self.step(&mut states, values);
            }
            for lane in 0..LANES {
                matches[lane] |= self.accepts[(states[lane] / VALUES) as usize];
            }
        }
        matches
    }

    #[inline(always)]
    fn step(&self, states: &mut [u32; LANES], values: &[u8; LANES]) {
        for lane in 0..LANES {
            states[lane] = self.next[states[lane] as usize + usize::from(values[lane])];
        }
    }
}

/// Returns the values of the characters of up to eight texts.
#[inline(always)]
fn values(target: Target, some: &[Bytes]) -> Values {
    let mut values = [[0; LANES]; 4 * QUADS];
    for (lane, bytes) in some.iter().enumerate() {
        for (number, quad) in target.quads(bytes).into_iter().enumerate() {
            for at in 0..4 {
                values[4 * number + at][lane] = (quad >> (SYMBOL_BITS * (3 - at)) & 0x3f) as u8;
            }
        }
    }
    values
}
