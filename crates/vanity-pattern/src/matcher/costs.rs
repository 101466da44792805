//! The measured costs of the stages, in nanoseconds a key. The stages are chosen by them.
//!
//! Those of AVX-512 VBMI are from an EPYC (Zen 5), and that of a walk is an estimate. The others
//! were measured on one core of a 2.5 GHz Xeon (Cascade Lake). `cargo bench --bench patterns`
//! measures the cost of whole lists against a search without a matcher; RESULTS.txt has its runs.
//! Only the ratios matter, and other processors have about the same ratios.

/// The exact look-ups at all places of a text, with both signs, for each number of characters that
/// is looked up.
pub(super) const LOOK_UP_EVERYWHERE: f64 = 400.0;

/// The exact look-ups at one place that a filter reports.
pub(super) const LOOK_UP_AT_A_PLACE: f64 = 15.0;

/// Folding a text into classes.
pub(super) const FOLD_TEXT: f64 = 6.0;

/// Testing all quads of a folded text.
pub(super) const LOOK_AT_QUADS: f64 = 20.0;

/// Testing one end of a folded text, if the Bloom filter is in a cache.
pub(super) const LOOK_UP_END: f64 = 6.0;

/// Splitting bytes into sextets, and looking up all of them for one place in a sequence, with
/// AVX-512 VBMI.
pub(super) const LOOK_UP_SEXTETS: f64 = 1.0;
pub(super) const LOOK_UP_SYMBOL: f64 = 0.6;

/// The same if a sequence lies in one word.
pub(super) const LOOK_UP_SYMBOL_OF_WORD: f64 = 0.4;

/// Everything that a key costs because it passes the sequences, but for the tests after them.
pub(super) const PASS_SEQUENCES: f64 = 60.0;

/// The walk of a text through an automaton.
pub(super) const WALK: f64 = 100.0;

/// Testing all windows of a row, and testing a few.
pub(super) const ALL_WINDOWS: f64 = 8.0;
pub(super) const FEW_WINDOWS: f64 = 3.0;

/// A mispredicted branch.
pub(super) const WRONG_GUESS: f64 = 20.0;

/// Copying a key that passes.
pub(super) const COPY_PASSING: f64 = 10.0;
