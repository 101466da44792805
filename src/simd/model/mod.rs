//! Words that are not numbers, for checks by a machine: the algorithms above this room run over
//! them unchanged, because they are generic in the instruction set.
//!
//! `interval` has words that are ranges, `real` has doubles that are ranges, and `ranges` is the
//! instruction set that computes with both. `splits` notes where a word is cut in two. `instructions`
//! says what each method does with one number, and compares that with every instruction set and with
//! the ranges. docs/verification.md describes the whole.

mod instructions;
pub(crate) mod interval;
pub(crate) mod ranges;
pub(crate) mod real;
pub(crate) mod splits;
