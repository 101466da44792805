//! Typed text becomes a [`Pattern`], or an error with the place and the reason.
//!
//! A literal is checked character by character, and a regular expression is compiled. A pattern
//! that no key can ever match is refused.

mod error;
mod identity;
mod literal;
mod options;
mod pattern;
mod regex;
mod spelling;

pub use error::{PatternError, Reason, Remedy, last_characters, quoted};
pub use identity::Identity;
pub use literal::{LEET, Literal};
pub use options::{KINDS, Kind, MatchOptions};
pub(crate) use pattern::Form;
pub use pattern::{Pattern, PatternId};
pub use regex::Regex;
pub use spelling::nearest;
