//! Arithmetic modulo p = 2^255 - 19: the seam between instruction sets.
//!
//! A back end is a type that implements [`Field`]. It works on vectors of independent elements, one a lane, in whatever
//! radix suits its instructions. How far limbs have grown is told by types, so that nothing that could overflow can be
//! written down:
//!
//! | type | where from | where to |
//! | --- | --- | --- |
//! | [`Field::Tight`] | carried, from a table or a sum of products | sums and differences |
//! | [`Field::Loose`] | a difference of tight elements, not carried | a product, once |
//! | [`Field::Product`] | a product | products |
//! | [`Field::Sum`] | a sum of tight elements, not carried | to be subtracted from a square |

#![allow(clippy::needless_range_loop, reason = "limbs are counted, as in the formulas")]

mod back_end;
mod element;
mod fma;
mod ifma;
mod invert;
mod portable;
mod radix51;

pub use back_end::{Field, Word};
pub use element::Element;
pub use fma::Fma;
pub use ifma::Ifma;
pub use invert::invert;
pub use portable::Portable;

#[cfg(test)]
mod tests;
