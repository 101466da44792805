//! Exact chances that a random key matches.
//!
//! `literal` has one literal, `list` any of many literals, and `automaton` a regular expression.

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
