//! What to look for: typed text becomes a [`Pattern`] with exact [`Odds`], many become a [`Matcher`].
//!
//! A pattern is matched against the 43 characters that show a [`Target`](crate::wire::Target): the body of a key's
//! text, or the fingerprint.
//!
//! | folder | its duty |
//! | --- | --- |
//! | `odds` | exact chances: of literals by dynamic programming, of expressions over the states of their automata |
//! | `syntax` | text becomes a pattern, or an error that names the place and the reason |
//! | `matcher` | a list of patterns, compiled, goes through whole batches |

mod any;
mod matcher;
mod odds;
mod syntax;

pub use any::any_of;
pub use matcher::{DeviceFilter, Matcher};
pub use odds::{Bounds, Odds};
pub use syntax::{
    Identity, KINDS, Kind, Pattern, PatternError, PatternId, Reason, Remedy, Style, last_characters,
};

#[cfg(test)]
mod tests;
