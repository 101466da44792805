//! Escapes that make foreign text harmless for a terminal, a log, a script and a shell.
//!
//! Patterns, arguments, paths, ledgers, names of devices and environment variables can contain
//! characters that a terminal obeys instead of showing them. These *active* characters move the
//! cursor, set the title, or reverse or hide the text beside them. All of them belong to four
//! general categories of Unicode: Cc (control: C0, DEL, C1), Cf (format: directions, joiners, soft
//! hyphens, byte order marks, tags), Zl (line separators) and Zp (paragraph separators). Only this
//! module knows them.
//!
//! Escaping text twice gives the same result as escaping it once. If in doubt, escape.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

use crate::key::{has_active, is_active};

/// Returns `text` with every active character as a Rust escape: `\n`, `\u{1b}`, `\u{202e}`.
#[must_use]
pub fn escaped(text: &str) -> Cow<'_, str> {
    replaced(text, |char, out| out.extend(char.escape_default()))
}

/// Returns one character, [escaped]. The result can be several columns wide.
#[must_use]
pub fn escaped_char(char: char) -> String {
    escaped(char.encode_utf8(&mut [0; 4])).into_owned()
}

/// Returns `text`, [escaped]. Bytes that are not UTF-8 appear as `\xNN`.
#[must_use]
pub fn escaped_os(text: &OsStr) -> String {
    let mut out = String::new();
    for chunk in text.as_encoded_bytes().utf8_chunks() {
        out += &escaped(chunk.valid());
        chunk.invalid().iter().for_each(|byte| {
            let _ = write!(out, "\\x{byte:02x}");
        });
    }
    out
}

/// The most characters that [`quoted_start`] returns.
const START: usize = 48;

/// Returns the first 48 characters of `text`, [escaped] and in quotes. Dots follow if characters are
/// missing.
#[must_use]
pub fn quoted_start(text: &str) -> String {
    match text.char_indices().nth(START) {
        Some((end, _)) => format!("'{}'...", escaped(&text[..end])),
        None => format!("'{}'", escaped(text)),
    }
}

/// Returns a path, [escaped]. Bytes that are not UTF-8 appear as `\xNN`.
#[must_use]
pub fn escaped_path(path: &Path) -> String {
    escaped_os(path.as_os_str())
}

/// Returns JSON with every active character as `\u` and four digits. A reader gets the same values.
///
/// `json` must be compact JSON, which has active characters only in strings. Indented JSON also has
/// line ends and tabs between values.
#[must_use]
pub fn escaped_json(json: &str) -> Cow<'_, str> {
    replaced(json, |char, out| {
        for unit in char.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    })
}

/// Returns a path as a shell word that names the same file, whatever characters the path has.
#[must_use]
pub fn shell_word(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let here = if bytes.starts_with(b"-") { "./" } else { "" };
    match path.to_str().filter(|text| !has_active(text)) {
        Some(text) => shell_argument(&format!("{here}{text}")),
        None => format!("{here}{}", shell_bytes(bytes)),
    }
}

/// Returns a text as a shell word.
#[must_use]
pub fn shell_argument(text: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "/._-+,:@%".contains(char);
    if has_active(text) {
        shell_bytes(text.as_bytes())
    } else if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Returns a word as `$'...'`, with three octal digits for each byte that does not print. All
/// shells read octal digits alike in every locale.
fn shell_bytes(bytes: &[u8]) -> String {
    let mut word = "$'".to_owned();
    let octal = |word: &mut String, bytes: &[u8]| {
        bytes.iter().for_each(|byte| {
            let _ = write!(word, "\\{byte:03o}");
        });
    };
    for chunk in bytes.utf8_chunks() {
        for char in chunk.valid().chars() {
            match char {
                '\'' | '\\' => word.extend(['\\', char]),
                char if is_active(char) => octal(&mut word, char.encode_utf8(&mut [0; 4]).as_bytes()),
                char => word.push(char),
            }
        }
        octal(&mut word, chunk.invalid());
    }
    word + "'"
}

/// Returns `text` with every active character replaced by what `write` appends for it.
fn replaced(text: &str, write: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if !has_active(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(2 * text.len());
    for char in text.chars() {
        if is_active(char) { write(char, &mut out) } else { out.push(char) }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_cannot_control_a_terminal() {
        assert_eq!(escaped_path(Path::new("größe/a b")), "größe/a b");
        assert_eq!(escaped_path(Path::new("a\x1b[2J\nb\u{9b}1m\x7f")), "a\\u{1b}[2J\\nb\\u{9b}1m\\u{7f}");
    }

    #[test]
    fn every_kind_of_active_character_is_escaped() {
        assert_eq!(escaped("größe a+b/c 👩 \\"), "größe a+b/c 👩 \\");
        assert_eq!(escaped("\u{1b}]0;x\u{7}\n\t"), r"\u{1b}]0;x\u{7}\n\t");
        for char in
            "\0\r\u{7f}\u{80}\u{9b}\u{ad}\u{61c}\u{200b}\u{200d}\u{202e}\u{2028}\u{2066}\u{feff}\u{e0041}"
                .chars()
        {
            assert_eq!(escaped_char(char), char.escape_default().to_string());
        }
        assert_eq!(escaped_json("\"a\u{7f}\u{9b}\u{e0041}\""), r#""a\u007f\u009b\udb40\udc41""#);
    }

    #[test]
    #[cfg(unix)]
    fn bytes_that_are_no_text_are_shown() {
        use std::os::unix::ffi::OsStrExt as _;
        assert_eq!(escaped_os(OsStr::from_bytes(b"caf\xe9\x1b\xff")), r"caf\xe9\u{1b}\xff");
        assert_eq!(shell_word(Path::new(OsStr::from_bytes(b"-caf\xe9'\x1b"))), r"./$'-caf\351\'\033'");
    }

    #[test]
    fn paths_survive_a_shell() {
        let shown = ["id_x", "/a/b.pem", "a b", "it's", "-x", "$HOME", "a\x1b'\n", "a\u{200b}\\"]
            .map(|path| shell_word(Path::new(path)));
        let expected = [
            "id_x",
            "/a/b.pem",
            "'a b'",
            r"'it'\''s'",
            "./-x",
            "'$HOME'",
            r"$'a\033\'\012'",
            r"$'a\342\200\213\\'",
        ];
        assert_eq!(shown, expected);
    }

    /// Generates text with many active and other rare characters.
    fn nasty() -> impl Strategy<Value = String> {
        static ACTIVE: LazyLock<Vec<char>> =
            LazyLock::new(|| ('\0'..=char::MAX).filter(|char| is_active(*char)).collect());
        let active = prop::sample::select(&**ACTIVE);
        let char = prop_oneof![active, any::<char>(), prop::char::range(' ', '~')];
        prop::collection::vec(char, 0..40).prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn nothing_active_is_left(text in nasty()) {
            let shown = escaped(&text);
            prop_assert!(!shown.contains(is_active));
            prop_assert_eq!(escaped(&shown), shown.clone());
            prop_assert_eq!(escaped_os(OsStr::new(&text)), shown);
            prop_assert!(!shell_word(Path::new(&text)).contains(is_active));
        }

        #[test]
        fn json_keeps_its_value(text in nasty(), name in nasty()) {
            let value = serde_json::json!({"type": "x", name: [text, 1.5, null]});
            let json = value.to_string();
            let shown = escaped_json(&json);
            prop_assert!(!shown.contains(is_active));
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        }
    }
}
