//! The contract of a stage: what it is asked, and what it promises.
//!
//! A stage gets a batch of bytes and calls back with what it lets pass, in ascending order of place. It may let
//! anything pass, but it never holds back bytes that show a pattern. Of a key the highest bit, the sign of x, has to be 0;
//! a stage lets the key pass if it shows a pattern with either sign.

use super::folded::Folded;
use super::run::Starts;

/// Takes the place of one element of a batch.
pub(super) type EachPlace<'a> = &'a mut dyn FnMut(usize);

/// Takes the places of some elements of a batch, the folded text of each, and where a literal may begin in it.
pub(super) type EachText<'a> = &'a mut dyn FnMut(&[usize], &[Folded], &[Starts]);
