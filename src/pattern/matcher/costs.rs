//! What the stages cost, in nanoseconds a key: the choice among them rests on these figures.
//!
//! They were measured on one core of a 2.5 GHz Xeon (Cascade Lake). `cargo bench --bench patterns` measures what whole
//! lists cost beside a search without a matcher; RESULTS.txt has its runs. Only their ratios matter, and those hold
//! on other processors, too.

/// The exact look-ups at all places of a text, for each number of characters that is looked up, and both signs.
pub(super) const LOOK_UP_EVERYWHERE: f64 = 400.0;

/// Those at one place that a filter has named.
pub(super) const LOOK_UP_AT_A_PLACE: f64 = 15.0;

/// Folding a text into classes.
pub(super) const FOLD_TEXT: f64 = 6.0;

/// Looking at all quads of a folded text.
pub(super) const LOOK_AT_QUADS: f64 = 20.0;

/// Looking up one end of a folded text, where the Bloom filter is in a cache.
pub(super) const LOOK_UP_END: f64 = 6.0;

/// A row of windows with all of its windows, and with a few.
pub(super) const ALL_WINDOWS: f64 = 8.0;
pub(super) const FEW_WINDOWS: f64 = 3.0;

/// A branch that the processor predicts wrongly.
pub(super) const WRONG_GUESS: f64 = 20.0;

/// Copying a key that passes.
pub(super) const COPY_PASSING: f64 = 10.0;
