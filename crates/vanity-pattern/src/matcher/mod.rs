//! Many patterns against batches of keys, in stages: the cheapest test first, the exact one last.
//!
//! ```text
//!                       batch of 32-byte keys or fingerprints
//!          ┌───────────────────────┴──────────────────────────┐
//!       literals                                       regular expressions
//!          │                                   ┌──────────────┴──────────────┐
//!     run_filter    1 to 8 ns             run_filter                    without runs
//!          │  if it pays                       │  if it pays, runs by         │
//!    quad_filter    26 ns and more             │  required_literals           │
//!  anchored_filter  6 ns for each end          │                              │
//!          │  if they pay                      │                              │
//!       lookup      15 ns a place           dfa_scan                       dfa_scan
//!    (bloom, then the literals)          each expression          one automaton for many
//!          └───────────────────────┬──────────────────────────┘
//!                    candidates: places in the batch
//! ```
//!
//! | file | what it does |
//! | --- | --- |
//! | `matcher` | compiles a list of patterns and runs the stages |
//! | `stage` | defines the contract of a stage: it may let too much pass, and never too little |
//! | `costs` | the measured cost of each stage, by which `literal_filter` chooses |
//! | `run` | runs of characters that a match shows, and where they may begin |
//! | `run_filter` | chooses the cheaper one of two tests for runs |
//! | `window_filter` | tests windows of two bytes, without reading characters |
//! | `sequence_filter` | tests some characters in a row, with AVX-512 VBMI |
//! | `classes`, `folded` | folds characters that no literal distinguishes into classes, in vectors |
//! | `quad_filter` | tests four folded characters everywhere |
//! | `anchored_filter` | tests one end of a folded text, for prefixes and suffixes |
//! | `literal_filter` | chooses among these filters |
//! | `lookup`, `bloom`, `literals` | finds the literals that begin with the characters, and compares them |
//! | `required_literals` | finds runs that every match of an expression shows |
//! | `dfa_scan` | runs eight texts side by side through an automaton |
//! | `device_filter` | writes the same stages as plain words, for a graphics processor |
//!
//! A candidate is a claim. The search derives its key again and compares it with
//! [`Pattern::find`](super::Pattern::find), which shares no code with this folder.

mod anchored_filter;
mod bloom;
mod classes;
mod costs;
mod device_filter;
mod dfa_scan;
#[cfg(test)]
mod filters;
mod folded;
mod literal_filter;
mod literals;
mod lookup;
#[expect(clippy::module_inception, reason = "the file holds the type")]
mod matcher;
mod quad_filter;
mod required_literals;
mod run;
mod run_filter;
mod sequence_filter;
mod stage;
mod window_filter;

pub use device_filter::DeviceFilter;
pub use matcher::Matcher;
