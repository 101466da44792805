//! The exact chance that a random key matches.
//!
//! `literal` computes the chance of one literal, `list` that of any of many literals, and
//! `automaton` that of a regular expression.

mod automaton;
mod list;
mod literal;
mod probability;

pub use automaton::{Automaton, DEAD, MATCHED, SIZE_LIMIT, START, TooComplex, nfa};
pub use list::{MOST_CHARACTERS, of_any};
pub use literal::{Place, Shape, of_one};
pub use probability::{Bounds, Odds};
