//! Words that are not numbers, for checks by a machine: the algorithms of this package run over
//! them unchanged, because they are generic in the instruction set.
//!
//! | file | words |
//! | --- | --- |
//! | `interval`, `real`, `ranges` | ranges of words, ranges of doubles, and the instruction set that computes with both |
//! | `splits` | where a word of a range is cut in two |
//! | `polynomial`, `symbolic`, `dyadic`, `value`, `variables` | polynomials in limbs, and the instruction set that computes with them |
//! | `axioms`, `small_words` | what the polynomials assume of splits, tried with every small word |
//! | `instructions` | what each method does with one number; compares it with every instruction set and with the ranges |
//!
//! Most methods are never inlined: the algorithms inline all their steps, so the code would be ten
//! times as long. docs/design/verification.md describes the whole.

mod axioms;
mod dyadic;
mod instructions;
pub(crate) mod interval;
mod polynomial;
pub(crate) mod ranges;
pub(crate) mod real;
mod small_words;
pub(crate) mod splits;
mod symbolic;
mod value;
mod variables;

pub(crate) use dyadic::{Dyadic, power_of_two};
pub(crate) use polynomial::Polynomial;
pub(crate) use symbolic::{Number, Symbolic, Word, forget};
pub(crate) use value::Value;
pub(crate) use variables::{all_splits, range_of};
