//! Patterns. Typed text becomes a [`Pattern`] with exact [`Odds`], and a list of patterns becomes a
//! [`Matcher`].
//!
//! A pattern is matched against the 43 characters that show a [`Target`](wire::Target): the
//! body of a key's text, or the fingerprint.
//!
//! | module | what it does |
//! | --- | --- |
//! | `odds` | computes exact chances, by dynamic programming over prefixes or automata |
//! | `syntax` | turns text into a pattern, or into an error that names the place and the reason |
//! | `list` | reads lists of patterns, one on each line |
//! | `matcher` | compiles a list of patterns and tests whole batches with it |
//! | `fingerprint` | computes the fingerprints of whole batches |

mod any_of;
#[doc(hidden)]
pub mod fingerprint;
mod list;
mod matcher;
mod odds;
mod syntax;
mod variants;
pub mod wire;

pub use any_of::any_of;
pub use fingerprint::fingerprints;
pub use list::{Line, Lines, firsts};
pub use matcher::{DeviceFilter, Matcher};
pub use odds::{Bounds, Odds};
pub use syntax::nearest;
pub use syntax::{
    Identity, KINDS, Kind, MatchOptions, Pattern, PatternError, PatternId, Reason, Remedy, last_characters,
};
pub use variants::{Change, Variant, fitting, likelier};

/// What the tests of this package reach beyond its interface. Nobody else may use it: it changes
/// without notice.
#[doc(hidden)]
pub mod internals {
    pub use crate::matcher::{
        choice, dfa_scan, four_gram_filter, literals, lookup, needle, pair_bitmap, required_literals,
        symbol_classes,
    };
    pub use crate::odds::{Automaton, DEAD, MATCHED, MOST_CHARACTERS, Place, START, Shape, of_any, of_one};
    pub use crate::syntax::{Literal, Regex, quoted};
    pub use crate::variants::in_two_parts;
}
