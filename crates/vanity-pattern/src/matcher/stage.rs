//! The contract of a stage: its arguments, and what it promises.
//!
//! A stage takes a batch of bytes and calls back with the elements that pass, in ascending order of
//! place. It may let any element pass, but it never rejects bytes that show a pattern. The sign of
//! x, the highest bit of a key, must be 0. A stage lets the key pass if it shows a pattern with
//! either sign.

use super::folded::Folded;
use super::run::Starts;

/// A callback that takes the place of one element of a batch.
pub(super) type EachPlace<'a> = &'a mut dyn FnMut(usize);

/// A callback that takes the places of some elements of a batch, the folded text of each, and the
/// positions where a literal may begin in each.
pub(super) type EachText<'a> = &'a mut dyn FnMut(&[usize], &[Folded], &[Starts]);
