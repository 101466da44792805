//! When two patterns are the same.

use std::borrow::Cow;

use super::style::{Kind, Style};

/// What makes a pattern the same as another: its kind, its target, how it is read, and its text.
///
/// Where case is ignored, so it is here. Regular expressions are compared as they stand, since `\d` is not `\D`, and
/// they do not differ by [`Style::leet`], which they ignore.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Identity<'a> {
    style: Style,
    text: Cow<'a, str>,
}

impl<'a> Identity<'a> {
    /// Returns the identity of a pattern with this text.
    #[must_use]
    pub fn new(text: &'a str, style: Style) -> Self {
        let is_regex = style.kind == Kind::Regex;
        let style = Style { leet: style.leet && !is_regex, ..style };
        let has_upper = || text.bytes().any(|byte| byte.is_ascii_uppercase());
        let text = if is_regex || style.case_sensitive || !has_upper() {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(text.to_ascii_lowercase())
        };
        Self { style, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_leet_count_where_they_are_read() {
        let literal = Style::default();
        let exact = Style { case_sensitive: true, ..literal };
        let regex = Style { kind: Kind::Regex, ..literal };
        let leet = |style| Style { leet: true, ..style };
        assert_eq!(Identity::new("aB", literal), Identity::new("Ab", literal));
        assert_ne!(Identity::new("aB", exact), Identity::new("Ab", exact));
        assert_ne!(Identity::new(r"\d", regex), Identity::new(r"\D", regex));
        assert_eq!(Identity::new("a", regex), Identity::new("a", leet(regex)));
        assert_ne!(Identity::new("a", literal), Identity::new("a", leet(literal)));
        assert_ne!(Identity::new("a", literal), Identity::new("a", Style { kind: Kind::Prefix, ..literal }));
    }
}
