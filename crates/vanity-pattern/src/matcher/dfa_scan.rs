//! Regular expressions over batches of bytes: eight walks through an automaton side by side.
//!
//! A walk is a chain of loads, and each load waits for the one before. Eight walks side by side
//! hide that latency. The sign of a key changes only the last character but one, so both signs
//! share the walk up to there.

use std::collections::HashMap;

use super::needle::EachCandidate;
use crate::odds::{Automaton, DEAD, MATCHED, START};
use crate::wire::{BODY_LEN, Bytes, QUADS, SIGN_POSITION, SIGN_VALUE, SYMBOL_BITS, Target};

/// The number of walks side by side.
const LANES: usize = 8;

/// The number of values that a symbol has.
const VALUES: u32 = 1 << SYMBOL_BITS;

/// The most states of a union. Its table has at most 512 KiB.
pub const MOST_STATES: usize = 2048;

/// An automaton. A state is the offset of its row in the table, and a row has one successor for
/// each value of a symbol.
#[derive(Clone)]
pub struct DfaScan {
    target: Target,
    /// The successors. [`DEAD`] and [`MATCHED`] lead to themselves.
    next: Vec<u32>,
    /// For each state, by its number: whether the text may end there.
    accepts: Vec<bool>,
}

/// The values of the characters of eight texts, by position.
type Values = [[u8; LANES]; 4 * QUADS];

impl DfaScan {
    /// Writes the table of an automaton.
    pub fn new(target: Target, automaton: &Automaton) -> Self {
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

    /// Returns the automaton that matches where one of `scans` matches. `None` if it has more than
    /// [`MOST_STATES`].
    ///
    /// A state of the union is the states of all automata together. Almost all of them are where they
    /// usually are, so a state lists only the others. So the time grows with the states of the union,
    /// but hardly with the number of automata.
    pub fn union(scans: &[&Self]) -> Option<Self> {
        let target = scans.first()?.target;
        let usual: Vec<u32> = scans.iter().map(|scan| scan.usual_state()).collect();
        let others = |states: &mut dyn Iterator<Item = u32>| -> Vec<(usize, u32)> {
            states.enumerate().filter(|(at, state)| *state != usual[*at]).collect()
        };
        let from_usual: Vec<Vec<(usize, u32)>> = (0..VALUES as usize)
            .map(|value| {
                others(&mut scans.iter().zip(&usual).map(|(scan, usual)| scan.next[*usual as usize + value]))
            })
            .collect();
        let same = values_like(scans);
        let start = others(&mut scans.iter().map(|_| START * VALUES));
        let (mut numbers, mut found) = (HashMap::from([(start.clone(), START)]), vec![start]);
        let mut next: Vec<u32> =
            [DEAD, MATCHED].iter().flat_map(|state| [state * VALUES; VALUES as usize]).collect();
        let mut accepts = vec![false, true];
        let mut done = 0;
        while done < found.len() {
            let row = next.len();
            accepts.push(found[done].iter().any(|(at, state)| scans[*at].accepts[(state / VALUES) as usize]));
            for value in 0..VALUES as usize {
                if same[value] < value {
                    next.push(next[row + same[value]]);
                    continue;
                }
                let after = scans_after(scans, &usual, &found[done], &from_usual[value], value);
                let number = match after {
                    None => MATCHED,
                    Some(after) => *numbers.entry(after).or_insert_with_key(|after| {
                        found.push(after.clone());
                        START + found.len() as u32 - 1
                    }),
                };
                next.push(number * VALUES);
            }
            if found.len() > MOST_STATES {
                return None;
            }
            done += 1;
        }
        Some(Self { target, next, accepts })
    }

    /// Returns the state that most successors are, among those in which the text may not end.
    fn usual_state(&self) -> u32 {
        let mut counts = vec![0u32; self.accepts.len()];
        for state in &self.next[(START * VALUES) as usize..] {
            counts[(state / VALUES) as usize] += 1;
        }
        let states = (0..self.accepts.len()).filter(|state| !self.accepts[*state]);
        states.max_by_key(|state| counts[*state]).map_or(DEAD, |state| state as u32 * VALUES)
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.accepts.len()
    }

    /// Returns the bytes that the scan of an automaton takes, without small fields.
    pub fn bytes(automaton: &Automaton) -> usize {
        ((START + automaton.states()) * VALUES) as usize * size_of::<u32>()
    }

    /// Appends the words that a device needs: the first state, the number of successors, the
    /// successors, and one bit for each state in which the text may end.
    pub fn write(&self, words: &mut Vec<u32>) {
        words.extend([START * VALUES, self.next.len() as u32]);
        words.extend(&self.next);
        let bits = |some: &[bool]| some.iter().rev().fold(0, |bits, accepts| bits << 1 | u32::from(*accepts));
        words.extend(self.accepts.chunks(32).map(bits));
    }

    /// Calls `each` with the place of every element of `batch` that matches, in ascending order.
    /// Tests keys with either sign.
    pub fn candidates(&self, batch: &[Bytes], each: EachCandidate) {
        for (number, some) in batch.chunks(LANES).enumerate() {
            let matches = self.eight(&values(self.target, some), self.target == Target::Key);
            for (lane, _) in matches.iter().take(some.len()).enumerate().filter(|(_, matches)| **matches) {
                each(LANES * number + lane);
            }
        }
    }

    /// Returns whether `bytes` match. Tests a key with the sign that it has.
    pub fn is_match(&self, bytes: &Bytes) -> bool {
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

/// Returns the states after a symbol of the automata that are not where they usually are: of those
/// that were elsewhere, and of those that leave. `None` if one of them matches.
fn scans_after(
    scans: &[&DfaScan],
    usual: &[u32],
    elsewhere: &[(usize, u32)],
    leaving: &[(usize, u32)],
    value: usize,
) -> Option<Vec<(usize, u32)>> {
    let mut after = Vec::with_capacity(elsewhere.len() + leaving.len());
    let moved = elsewhere.iter().map(|(at, state)| (*at, scans[*at].next[*state as usize + value]));
    let stays_out = |at: usize| elsewhere.binary_search_by_key(&at, |(at, _)| *at).is_ok();
    after.extend(moved.filter(|(at, state)| *state != usual[*at]));
    after.extend(leaving.iter().filter(|(at, _)| !stays_out(*at)));
    if after.iter().any(|(_, state)| *state == MATCHED * VALUES) {
        return None;
    }
    after.sort_unstable();
    Some(after)
}

/// Returns for each value the first value that no automaton distinguishes from it.
fn values_like(scans: &[&DfaScan]) -> Vec<usize> {
    let mut first = HashMap::new();
    let column = |value: usize| -> Vec<u32> {
        scans.iter().flat_map(|scan| scan.next[value..].iter().step_by(VALUES as usize).copied()).collect()
    };
    let values = 0..VALUES as usize;
    // The first two states lead to themselves for every value.
    values.map(|value| *first.entry(column(value)).or_insert(value)).collect()
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
