//! How a typed pattern is read.

use crate::wire::Target;

/// Where the text must be, or that it is a regular expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Kind {
    /// Anywhere.
    #[default]
    Anywhere,
    /// At the beginning of the 43 characters.
    Prefix,
    /// At the end of the 43 characters.
    Suffix,
    /// Anywhere, with `+` or `/` on both sides.
    Word,
    /// A regular expression over all 43 characters. `^` and `$` match at their ends.
    Regex,
}

/// Every kind, and its name: for options, before a colon in a pattern file, and in a ledger.
pub const KINDS: [(&str, Kind); 5] = [
    ("anywhere", Kind::Anywhere),
    ("prefix", Kind::Prefix),
    ("suffix", Kind::Suffix),
    ("word", Kind::Word),
    ("regex", Kind::Regex),
];

/// How a typed pattern is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct MatchOptions {
    /// Where the text must be.
    pub kind: Kind,
    /// Whether `a` and `A` differ.
    pub case_sensitive: bool,
    /// Whether a letter also matches its usual digit (not for [`Kind::Regex`]).
    pub leet: bool,
    /// The text that is searched.
    pub target: Target,
}
