//! Many patterns against batches of keys: the cheapest test first, the exact one last.
//!
//! A test takes a batch and calls back with its *candidates*, by their indices, in ascending order.
//! It may let any element pass, but it never rejects bytes that show a pattern. The sign of x, the
//! highest bit of a key, must be 0. A test lets the key pass if it shows a pattern with either
//! sign. The candidates of one test are the batch of the next.
//!
//! ```text
//!                  batch of 32-byte keys or fingerprints
//!           ┌───────────────────┴────────────────────┐
//!       literals                                expressions
//!           │                            ┌───────────┴───────────┐
//!           │                      with needles            without needles
//!           │                     required_literals              │
//!      pair_bitmap   if it pays     pair_bitmap                  │
//!           │                            │                       │
//!   four_gram_filter if it pays          │                       │
//!    anchored_filter                     │                       │
//!           │                            │                       │
//!        lookup                      dfa_scan                dfa_scan
//!  prefixes, then literals        each expression    one automaton for many
//!           └────────────────────────────┬───────────────────────┘
//!                                   candidates
//! ```
//!
//! | file | what it does |
//! | --- | --- |
//! | `choice` | the measured cost of each filter, and the choice of the cheapest |
//! | `needle` | what a match shows, and the positions where it may begin |
//! | `pair_bitmap` | tests pairs of bytes, without reading characters |
//! | `literals` | takes the literals of a list through their tests |
//! | `symbol_classes` | folds characters that no literal distinguishes into classes, in vectors |
//! | `four_gram_filter` | tests four classes in a row everywhere |
//! | `anchored_filter` | tests the classes at one end, for prefixes and suffixes |
//! | `lookup` | finds the literals that begin with some classes |
//! | `expressions` | takes the regular expressions of a list through their tests |
//! | `required_literals` | finds needles of which every match of an expression shows one |
//! | `dfa_scan` | takes eight texts side by side through an automaton |
//! | `device_filter` | writes the same tests as plain words, for a graphics processor |
//!
//! A candidate is a claim. The search derives its key again and compares it with
//! [`Pattern::find`], which shares no code with this folder.

mod anchored_filter;
pub mod choice;
mod device_filter;
pub mod dfa_scan;
mod expressions;
pub mod four_gram_filter;
pub mod literals;
pub mod lookup;
pub mod needle;
pub mod pair_bitmap;
pub mod required_literals;
pub mod symbol_classes;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub use self::device_filter::DeviceFilter;
use self::dfa_scan::DfaScan;
use self::expressions::Expressions;
use self::literals::Literals;
use crate::syntax::{Form, Pattern, PatternId};
use crate::wire::{Bytes, Target};
use ed25519_batch::simd::InstructionSet;

/// A compiled list of patterns, all about the same [`Target`].
pub struct Matcher<'a> {
    /// A number that no other matcher of this process has.
    number: u64,
    target: Target,
    literals: Option<Literals<'a>>,
    expressions: Expressions<'a>,
}

impl<'a> Matcher<'a> {
    /// Compiles `patterns`.
    ///
    /// # Panics
    ///
    /// Panics if the patterns have different targets.
    #[must_use]
    pub fn new(patterns: &'a [Pattern]) -> Self {
        Self::of(patterns, 0..patterns.len())
    }

    /// Compiles the patterns with these ids.
    ///
    /// # Panics
    ///
    /// Panics if the patterns have different targets, or if `patterns` has no pattern of an id.
    #[must_use]
    pub fn of(patterns: &'a [Pattern], ids: impl IntoIterator<Item = PatternId>) -> Self {
        Self::with_set(InstructionSet::widest(), patterns, ids)
    }

    /// Does the same. The matcher uses `set`, and no other instruction set.
    ///
    /// # Panics
    ///
    /// Panics if the patterns have different targets, or if `patterns` has no pattern of an id.
    #[doc(hidden)]
    #[must_use]
    pub fn with_set(
        set: InstructionSet,
        patterns: &'a [Pattern],
        ids: impl IntoIterator<Item = PatternId>,
    ) -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let target = patterns.first().map_or(Target::default(), |first| first.options().target);
        let (mut literals, mut regexes) = (Vec::new(), Vec::new());
        for id in ids {
            assert!(patterns[id].options().target == target, "a list has one target");
            match patterns[id].form() {
                Form::Literal(_) => literals.push(id),
                Form::Regex(regex) => regexes.push((id, regex)),
            }
        }
        Self {
            number: NUMBERS.fetch_add(1, Relaxed),
            target,
            literals: (!literals.is_empty())
                .then(|| Literals::new(set, target, &literals, Box::new(|id| patterns[id].literal()))),
            expressions: Expressions::new(set, target, patterns, &regexes),
        }
    }

    /// Estimates the bytes that a matcher needs for a regular expression. Returns 0 for any other
    /// pattern.
    #[must_use]
    pub fn bytes_for(pattern: &Pattern) -> usize {
        match pattern.form() {
            Form::Literal(_) => 0,
            Form::Regex(regex) => regex.bytes() + DfaScan::bytes(regex.automaton()),
        }
    }

    /// Returns the target that the patterns are searched in.
    #[must_use]
    pub fn target(&self) -> Target {
        self.target
    }

    /// Returns a number that no other matcher of this process has. It identifies the matcher for
    /// which a cached value was made.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the filter by which a device can reject keys.
    #[must_use]
    pub fn device_filter(&self) -> DeviceFilter {
        let mut filter = DeviceFilter::new(self.target);
        if let Some(literals) = &self.literals {
            literals.write(&mut filter);
        }
        self.expressions.write(&mut filter);
        filter
    }

    /// Returns the indices of all elements of `batch` that match a pattern, in ascending order. The
    /// sign of x, the highest bit of a key, must be 0. A key is among them if it matches with
    /// either sign.
    #[must_use]
    pub fn candidates(&self, batch: &[Bytes]) -> Vec<usize> {
        let mut candidates = Vec::new();
        let mut add = |candidate| candidates.push(candidate);
        if let Some(literals) = &self.literals {
            literals.candidates(batch, &mut add);
        }
        self.expressions.candidates(batch, &mut add);
        candidates.sort_unstable();
        candidates.dedup();
        candidates
    }

    /// Returns whether any pattern matches.
    #[must_use]
    pub fn is_match(&self, bytes: &Bytes) -> bool {
        let literals = self.literals.as_ref();
        literals.is_some_and(|literals| literals.all_shown(bytes, |_| ControlFlow::Break(())).is_break())
            || self.expressions.matching(bytes).next().is_some()
    }

    /// Returns the ids of all patterns that match, in ascending order.
    #[must_use]
    pub fn find(&self, bytes: &Bytes) -> Vec<PatternId> {
        let mut found: Vec<PatternId> = self.expressions.matching(bytes).collect();
        if let Some(literals) = &self.literals {
            let _ = literals.all_shown(bytes, |id| {
                found.push(id);
                ControlFlow::Continue(())
            });
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}
