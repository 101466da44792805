//! The identity of a pattern: when two patterns are the same.

use std::borrow::Cow;

use super::style::{Kind, Style};

/// The properties by which patterns are compared: kind, target, reading, and text.
///
/// If a pattern ignores case, so does its identity. The texts of regular expressions are compared
/// exactly, because `\d` is not `\D`. Their identity ignores [`Style::leet`], as they do.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Identity<'a> {
    style: Style,
    text: Cow<'a, str>,
}

impl<'a> Identity<'a> {
    /// Returns the identity of a pattern with this text and style.
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
