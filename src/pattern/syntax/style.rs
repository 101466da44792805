//! How a typed pattern is to be read.

use crate::wire::Target;

/// Where the text must stand, or that it is a regular expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Kind {
    /// Anywhere.
    #[default]
    Anywhere,
    /// At the beginning, right after the fixed characters.
    Prefix,
    /// At the end.
    Suffix,
    /// Anywhere, with `+` or `/` on both sides.
    Word,
    /// A regular expression over all 43 characters, which `^` and `$` delimit.
    Regex,
}

/// Every kind, and the word for it: an option's name, what stands before a colon in a file, and what a ledger says.
pub const KINDS: [(&str, Kind); 5] = [
    ("anywhere", Kind::Anywhere),
    ("prefix", Kind::Prefix),
    ("suffix", Kind::Suffix),
    ("word", Kind::Word),
    ("regex", Kind::Regex),
];

/// How a typed pattern is to be read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Style {
    /// Where the text must stand.
    pub kind: Kind,
    /// Whether `a` and `A` differ.
    pub case_sensitive: bool,
    /// Whether a letter also matches its usual digit (not for [`Kind::Regex`]).
    pub leet: bool,
    /// What shows the text.
    pub target: Target,
}
