//! What a word holds: a polynomial, with what is known of it. `axioms` computes with it, and
//! `variables` keeps it.

use std::rc::Rc;

use super::dyadic::Dyadic;
use super::polynomial::Polynomial;

/// What a word or a double holds.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) polynomial: Polynomial,
    /// The least and the largest value.
    pub(crate) range: (Dyadic, Dyadic),
    /// Every value is a multiple of 2^`zeros`.
    pub(super) zeros: i64,
    pub(super) form: Form,
}

/// What is known of a value besides its polynomial.
#[derive(Clone, Debug)]
pub(super) enum Form {
    Plain,
    /// a + 2^m b with 0 <= a < 2^m.
    Join(Rc<Value>, i64, Rc<Value>),
    /// The bits of the first, as many as the number says. All are flipped if the second is 1 and
    /// not 0.
    Flip(Rc<Value>, Rc<Value>, i64),
}
