//! Arithmetic modulo p = 2^255 - 19, with one back end for each kind of instruction set.
//!
//! A back end is a type that implements [`Field`]. It works on vectors of independent elements, one
//! in each lane, in the radix that suits its instructions. Types bound the size of limbs, so code
//! that could overflow does not compile:
//!
//! | type | source | use |
//! | --- | --- | --- |
//! | [`Field::Tight`] | a table or a sum of products, carried | sums and differences |
//! | [`Field::Loose`] | a difference of tight elements, not carried | one factor of a product |
//! | [`Field::Product`] | a product | factors of products |
//! | [`Field::Sum`] | a sum of tight elements, not carried | a subtrahend |

#![allow(clippy::needless_range_loop, reason = "limbs are counted, as in the formulas")]

mod back_end;
mod element;
pub mod fma;
pub mod ifma;
pub mod invert;
pub mod portable;
pub mod radix51;

pub use back_end::{Field, Word};
pub use element::Element;
pub use fma::Fma;
pub use ifma::Ifma;
pub use invert::invert;
pub use portable::Portable;
