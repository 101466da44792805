//! A deterministic automaton over the characters of a body, and its exact chance.
//!
//! `regex-automata` determinizes. The result is copied into a smaller table that holds only what a
//! search needs. A text either matches or not, so the first match ends the walk ([`MATCHED`] is
//! never left). Bytes that no state distinguishes share a column.

use std::collections::HashMap;

use regex_automata::Input;
use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson::{self, NFA};
use regex_syntax::hir::Hir;

use crate::wire::Symbols;

/// The most bytes that the determinizer may take: some thousand states.
pub const SIZE_LIMIT: usize = 512 << 10;

/// The most bytes that an NFA may take. A body has 43 characters, so an expression that needs more
/// has useless repetitions.
const NFA_LIMIT: usize = 256 << 10;

/// The state from which no match can be reached.
pub const DEAD: u32 = 0;

/// The state in which a match has been seen.
pub const MATCHED: u32 = 1;

/// The state before the first character. It is the first state with a row in the table.
pub const START: u32 = 2;

/// An automaton that recognizes the bodies that a pattern matches.
#[derive(Clone)]
pub struct Automaton {
    /// The base64 symbols of each column. Columns of other bytes have none.
    symbols: Vec<Symbols>,
    /// The successor states: one row of columns for each state from [`START`] on.
    next: Vec<u32>,
    /// For each state from [`START`] on: whether the body may end there.
    accepts_end: Vec<bool>,
}

/// The error of an automaton that would be larger than [`SIZE_LIMIT`], of an NFA that would be
/// larger than [`NFA_LIMIT`], and of an expression that automata do not support.
#[derive(Debug)]
pub struct TooComplex;

/// Builds the NFA of an expression, whose match may begin anywhere.
pub fn nfa(hir: &Hir) -> Result<NFA, TooComplex> {
    let config = thompson::Config::new().utf8(false).nfa_size_limit(Some(NFA_LIMIT));
    thompson::Compiler::new().configure(config).build_from_hir(hir).map_err(|_| TooComplex)
}

impl Automaton {
    /// Builds the automaton of an expression.
    pub fn of(hir: &Hir) -> Result<Self, TooComplex> {
        Self::new(&nfa(hir)?)
    }

    /// Builds the automaton of an NFA made by `nfa`.
    pub fn new(nfa: &NFA) -> Result<Self, TooComplex> {
        let config = dense::Config::new()
            .start_kind(StartKind::Unanchored)
            .accelerate(false)
            .dfa_size_limit(Some(SIZE_LIMIT))
            .determinize_size_limit(Some(SIZE_LIMIT));
        let dfa = dense::Builder::new().configure(config).build_from_nfa(nfa).map_err(|_| TooComplex)?;
        let start = dfa.start_state_forward(&Input::new(b"")).map_err(|_| TooComplex)?;

        let classes = dfa.byte_classes();
        let representatives: Vec<u8> = classes.representatives(..).filter_map(|unit| unit.as_u8()).collect();
        let mut automaton = Self {
            symbols: vec![Symbols::default(); representatives.len()],
            next: Vec::new(),
            accepts_end: Vec::new(),
        };
        for byte in 0..=255 {
            let symbols = &mut automaton.symbols[usize::from(classes.get(byte))];
            *symbols = symbols.or(Symbols::of(byte));
        }

        // A dense automaton enters a match state one byte late, or at the end of input. A match is
        // final in either case, whatever byte led there.
        let mut numbers = HashMap::from([(start, START)]);
        let mut found = vec![start];
        let mut done = 0;
        while let Some(&state) = found.get(done) {
            done += 1;
            automaton.accepts_end.push(dfa.is_match_state(dfa.next_eoi_state(state)));
            for &byte in &representatives {
                let to = dfa.next_state(state, byte);
                automaton.next.push(if dfa.is_match_state(to) {
                    MATCHED
                } else if dfa.is_dead_state(to) {
                    DEAD
                } else {
                    *numbers.entry(to).or_insert_with(|| {
                        found.push(to);
                        START + found.len() as u32 - 1
                    })
                });
            }
        }
        Ok(automaton)
    }

    /// Returns the bytes that the automaton takes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.next) + size_of_val(&*self.accepts_end) + size_of_val(&*self.symbols)
    }

    /// Returns the number of states from [`START`] on.
    pub fn states(&self) -> u32 {
        self.accepts_end.len() as u32
    }

    /// Returns whether the text may end in `state`, which must be [`START`] or later.
    pub fn accepts(&self, state: u32) -> bool {
        self.accepts_end[(state - START) as usize]
    }

    /// Returns the successor of `state`, which must be [`START`] or later, for the symbol with this
    /// value.
    pub fn after(&self, state: u32, value: u8) -> u32 {
        let row = self.next.chunks_exact(self.symbols.len()).nth((state - START) as usize);
        let column = self.symbols.iter().position(|symbols| symbols.has(value));
        row.zip(column).map_or(DEAD, |(row, column)| row[column])
    }

    /// Returns the exact chance that a random body matches. The symbol at each position is drawn
    /// uniformly from the set of that position.
    ///
    /// One pass of dynamic programming computes the probability mass of every state, position by
    /// position. All terms are positive, so the relative rounding error is at most some hundred
    /// units in the last place.
    pub fn chance(&self, positions: &[Symbols]) -> f64 {
        let mut mass = vec![0.0; self.accepts_end.len()];
        let mut next = mass.clone();
        mass[0] = 1.0;
        let mut matched = 0.0;
        for &allowed in positions {
            let share: Vec<f64> = self
                .symbols
                .iter()
                .map(|column| f64::from(column.and(allowed).len()) / f64::from(allowed.len()))
                .collect();
            next.fill(0.0);
            for (here, row) in mass.iter().zip(self.next.chunks_exact(self.symbols.len())) {
                if *here == 0.0 {
                    continue;
                }
                for (&to, share) in row.iter().zip(&share) {
                    match to {
                        DEAD => {}
                        MATCHED => matched += here * share,
                        _ => next[(to - START) as usize] += here * share,
                    }
                }
            }
            std::mem::swap(&mut mass, &mut next);
        }
        let ends = mass.iter().zip(&self.accepts_end).filter(|(_, accepts)| **accepts);
        matched + ends.map(|(here, _)| here).sum::<f64>()
    }

    /// Returns whether some string of `len` bytes would match, base64 or not.
    pub fn matches_some_bytes(&self, len: usize) -> bool {
        let mut reached = vec![false; self.accepts_end.len()];
        reached[0] = true;
        for _ in 0..len {
            let mut next = vec![false; reached.len()];
            for (_, row) in
                reached.iter().zip(self.next.chunks_exact(self.symbols.len())).filter(|(on, _)| **on)
            {
                for &to in row {
                    match to {
                        DEAD => {}
                        MATCHED => return true,
                        _ => next[(to - START) as usize] = true,
                    }
                }
            }
            reached = next;
        }
        reached.iter().zip(&self.accepts_end).any(|(reached, accepts)| *reached && *accepts)
    }
}
