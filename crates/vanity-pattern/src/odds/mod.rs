//! The exact chance that a random key matches.
//!
//! `literal` computes the chance of one literal, `list` that of any of many literals, and
//! `automaton` that of a regular expression.

mod automaton;
mod chance;
mod list;
mod literal;

pub(crate) use automaton::{Automaton, DEAD, MATCHED, SIZE_LIMIT, START, TooComplex, nfa};
pub use chance::{Bounds, Odds};
pub(crate) use list::{MOST_CHARACTERS, of_any};
pub(crate) use literal::{Place, Shape, of_one};

#[cfg(test)]
mod tests;
