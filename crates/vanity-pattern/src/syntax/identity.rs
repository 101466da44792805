//! The identity of a pattern: when two patterns are the same.

use std::borrow::Cow;

use super::options::{Kind, MatchOptions};

/// The properties by which patterns are compared: kind, target, reading, and text.
///
/// If a pattern ignores case, so does its identity. The texts of regular expressions are compared
/// exactly, because `\d` is not `\D`. Their identity ignores [`MatchOptions::leet`], as they do.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Identity<'a> {
    options: MatchOptions,
    text: Cow<'a, str>,
}

impl<'a> Identity<'a> {
    /// Returns the identity of a pattern with this text and options.
    #[must_use]
    pub fn new(text: &'a str, options: MatchOptions) -> Self {
        let is_regex = options.kind == Kind::Regex;
        let options = MatchOptions { leet: options.leet && !is_regex, ..options };
        let has_upper = || text.bytes().any(|byte| byte.is_ascii_uppercase());
        let text = if is_regex || options.case_sensitive || !has_upper() {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(text.to_ascii_lowercase())
        };
        Self { options, text }
    }
}
