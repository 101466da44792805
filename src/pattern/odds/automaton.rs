//! A deterministic automaton over the characters that are searched, and its exact chance.
//!
//! `regex-automata` determinises; the result is copied into a smaller table that knows only what a search
//! needs. A text either matches or not, so the first match ends the walk ([`MATCHED`] is never left),
//! and bytes that no state tells apart share a column.

use std::collections::HashMap;

use regex_automata::Input;
use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson::{self, NFA};
use regex_syntax::hir::Hir;

use crate::wire::Symbols;

/// The most bytes the determiniser may take: some thousand states. It gives up on more after about 20 ms.
pub(crate) const SIZE_LIMIT: usize = 512 << 10;

/// The most bytes an NFA may take. A body has 43 characters, so an expression that needs more holds
/// repetitions of no use.
const NFA_LIMIT: usize = 256 << 10;

/// The state from which no match can be reached.
pub(crate) const DEAD: u32 = 0;

/// The state in which a match has been seen.
pub(crate) const MATCHED: u32 = 1;

/// The state before the first character, and the first with a row in the table.
pub(crate) const START: u32 = 2;

/// Recognises the bodies that one pattern matches.
#[derive(Clone)]
pub(crate) struct Automaton {
    /// The base64 symbols of each column; empty for the columns of other bytes.
    symbols: Vec<Symbols>,
    /// The successor states, a row of columns for each state from [`START`] on.
    next: Vec<u32>,
    /// Whether the body may end in the state.
    accepts_end: Vec<bool>,
}

/// The automaton would have been larger than [`SIZE_LIMIT`], its NFA larger than [`NFA_LIMIT`], or it needs
/// what automata cannot do.
#[derive(Debug)]
pub(crate) struct TooComplex;

/// The NFA of an expression that may begin anywhere.
pub(crate) fn nfa(hir: &Hir) -> Result<NFA, TooComplex> {
    let config = thompson::Config::new().utf8(false).nfa_size_limit(Some(NFA_LIMIT));
    thompson::Compiler::new().configure(config).build_from_hir(hir).map_err(|_| TooComplex)
}

impl Automaton {
    /// Builds the automaton of an expression.
    pub(crate) fn of(hir: &Hir) -> Result<Self, TooComplex> {
        Self::new(&nfa(hir)?)
    }

    /// Builds the automaton of an NFA made by [`nfa`].
    pub(crate) fn new(nfa: &NFA) -> Result<Self, TooComplex> {
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

        // A dense automaton enters a match state one byte late or at the end of input. Entering it is
        // final all the same, whatever byte led there.
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

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.next) + size_of_val(&*self.accepts_end) + size_of_val(&*self.symbols)
    }

    /// How many states there are from [`START`] on.
    pub(crate) fn states(&self) -> u32 {
        self.accepts_end.len() as u32
    }

    /// Whether the text may end in a state from [`START`] on.
    pub(crate) fn accepts(&self, state: u32) -> bool {
        self.accepts_end[(state - START) as usize]
    }

    /// What follows a state from [`START`] on when the symbol with this value comes.
    pub(crate) fn after(&self, state: u32, value: u8) -> u32 {
        let row = self.next.chunks_exact(self.symbols.len()).nth((state - START) as usize);
        let column = self.symbols.iter().position(|symbols| symbols.has(value));
        row.zip(column).map_or(DEAD, |(row, column)| row[column])
    }

    /// The exact chance that a random body matches, when the symbol at each position is drawn evenly
    /// from that position's set.
    ///
    /// One pass of dynamic programming: the probability mass of every state, position by position. All
    /// terms are positive, so the relative rounding error stays within some hundred units in the last place.
    pub(crate) fn chance(&self, positions: &[Symbols]) -> f64 {
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

    /// Whether some string of `len` bytes, of base64 or not, would match.
    pub(crate) fn matches_some_bytes(&self, len: usize) -> bool {
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
