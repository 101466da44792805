//! The curve: scalars to public keys, many at a time.
//!
//! edwards25519 is searched in its birationally equivalent Montgomery form, shifted to short Weierstrass form, where an
//! affine addition costs five products and one square once its inversion is shared with a thousand others.
//! `table` says what is added, `addition` how, `batch` does it, and `field` is the seam between instruction sets.

mod addition;
mod batch;
mod edwards;
mod field;
mod table;

pub use addition::Point;
pub use batch::{Batch, ZeroProduct};
pub use edwards::numbers_of_edwards;
pub use field::{Element, Field, Fma, Ifma, Portable, invert};
pub use table::{Table, Window};

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::on_every_back_end;
