//! The curve: public keys from scalars, many at a time.
//!
//! The additions are not done on edwards25519, but on the birationally equivalent Montgomery curve,
//! shifted to short Weierstrass form. There an affine addition costs five products and one square,
//! if about a thousand additions share one inversion.
//!
//! `table` has the points, `addition` and `last_addition` have the formulas, `batch` runs them for
//! a batch of keys, `pass` reads the points in time, and `field` has one back end for each kind of
//! instruction set.

pub mod addition;
mod batch;
pub mod field;
pub mod last_addition;
mod pass;
pub mod table;

pub use batch::Batch;
pub use field::{Field, Fma, Ifma, Portable, Word, invert};
pub use pass::VECTORS_AHEAD;
pub use table::{Multiples, Table, TableBuilder, fetch};
