//! Comments, and the programs that stumble over them.

use std::borrow::Cow;

use unicode_general_category::{GeneralCategory, get_general_category};

use super::format::Format;

/// Returns true if `char` is active: a terminal can obey it instead of showing it. These are control
/// characters (the general category Cc of Unicode: C0, DEL, C1), formatting characters (Cf: directions,
/// joiners, soft hyphens, byte order marks, tags), line separators (Zl) and paragraph separators (Zp).
#[must_use]
pub fn is_active(char: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator};
    if char.is_ascii() {
        return char.is_ascii_control();
    }
    matches!(get_general_category(char), Control | Format | LineSeparator | ParagraphSeparator)
}

/// Returns true if `text` has an [active](is_active) character. Text of ASCII, which most text is, takes
/// little time.
#[must_use]
pub fn has_active(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_control()) || !text.is_ascii() && text.chars().any(is_active)
}

/// Returns `text` with a space in the place of every active character. It is for text that other
/// programs read, which would take the characters of an escape literally.
#[must_use]
pub fn blanked(text: &str) -> String {
    text.chars().map(|char| if is_active(char) { ' ' } else { char }).collect()
}

/// The characters of a comment that no program misreads, besides letters and digits.
const HARMLESS: &[u8] = b"+/._@-";

/// Returns a comment for `text` that every program reads: `_` replaces all but letters and digits of
/// ASCII and `+/._@-`.
#[must_use]
pub fn harmless(text: &str) -> Cow<'_, str> {
    let is_harmless = |character: char| {
        character.is_ascii_alphanumeric() || HARMLESS.iter().any(|&one| character == char::from(one))
    };
    if text.chars().all(is_harmless) {
        return text.into();
    }
    text.chars().map(|character| if is_harmless(character) { character } else { '_' }).collect()
}

/// Returns what programs make of a comment that they misread, or `None` if none is known to.
///
/// The rules were tried with sops, asyncssh 2.24 and paramiko 5.1. paramiko takes the last byte of the
/// private part for padding, unless it is printable ASCII. The part has no padding if its 131 bytes and
/// the comment fill whole blocks: of 8 bytes, or of 16 if it is encrypted.
#[must_use]
pub fn trouble(comment: &str, format: Format, is_encrypted: bool) -> Option<String> {
    const BEFORE_COMMENT: usize = 131;
    let block = if is_encrypted { 16 } else { 8 };
    let is_unpadded = (BEFORE_COMMENT + comment.len()).is_multiple_of(block);
    let ends_in_ascii = comment.bytes().next_back().is_none_or(|byte| byte.is_ascii());
    let troubles = [
        (comment.contains(','), "sops splits the public line at the comma"),
        (!comment.is_ascii(), "asyncssh skips public lines that are not ASCII"),
        (
            format == Format::Openssh && is_unpadded && !ends_in_ascii,
            "paramiko cannot read the private key, because of the length and the end of the comment",
        ),
    ];
    let troubles: Vec<&str> = troubles.iter().filter(|(is_one, _)| *is_one).map(|(_, what)| *what).collect();
    (!troubles.is_empty()).then(|| troubles.join("; "))
}

#[cfg(test)]
mod tests {
    use regex_syntax::hir::{Class, HirKind};

    use super::*;

    /// Compares with another package's tables of Unicode.
    #[test]
    fn active_characters_are_those_of_the_unicode_categories() {
        let class = regex_syntax::parse(r"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]").unwrap();
        let HirKind::Class(Class::Unicode(class)) = class.kind() else { panic!("{class:?}") };
        let listed = class.iter().flat_map(|range| range.start()..=range.end());
        let active = ('\0'..=char::MAX).filter(|char| is_active(*char));
        assert_eq!(active.collect::<Vec<_>>(), listed.collect::<Vec<_>>());
    }

    #[test]
    fn a_harmless_comment_has_harmless_characters_alone() {
        for (text, comment) in [
            ("alice", "alice"),
            ("a+b/c0", "a+b/c0"),
            ("a{2,3}", "a_2_3_"),
            ("^ab.*c$", "_ab._c_"),
            ("a b#\"'\\", "a_b____"),
            ("größer", "gr__er"),
            ("a\nb\u{202e}", "a_b_"),
            ("", ""),
        ] {
            assert_eq!(harmless(text), comment);
            assert_eq!(trouble(comment, Format::Openssh, false), None);
        }
    }

    #[test]
    fn each_trouble_is_told() {
        let told = |comment: &str, format, is_encrypted| {
            let told = trouble(comment, format, is_encrypted).unwrap_or_default();
            ["sops", "asyncssh", "paramiko"].map(|program| told.contains(program))
        };
        assert_eq!(told("me@here, work", Format::Openssh, false), [true, false, false]);
        for length in 2..=64 {
            let comment = format!("{}é", "x".repeat(length - 2));
            for is_encrypted in [false, true] {
                let is_unreadable = if is_encrypted { length % 16 == 13 } else { length % 8 == 5 };
                assert_eq!(told(&comment, Format::Openssh, is_encrypted), [false, true, is_unreadable]);
                assert_eq!(told(&comment, Format::Pkcs8, is_encrypted), [false, true, false]);
            }
        }
        assert_eq!(told("éx12", Format::Openssh, false), [false, true, false]);
    }
}
