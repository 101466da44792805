//! Spellings of a text that cannot be searched for, with characters that can be.
//!
//! A gap, such as a blank or a hyphen, becomes `+` or `/`, or the next letter becomes a capital. A
//! letter with a mark becomes the two letters that replace it in its languages, or loses its mark.
//! A character that cannot be the first or the last one is replaced, or gets a neighbor.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::error::{PatternError, Reason};
use super::identity::Identity;
use super::literal::{LEET, is_base64};
use super::options::{Kind, MatchOptions};
use super::pattern::Pattern;

/// The most spellings of a text.
const MOST: usize = 4;

/// Letters that are usually replaced by others, not only by losing a mark.
const LETTERS: [(char, &str); 13] = [
    ('ä', "ae"),
    ('ö', "oe"),
    ('ü', "ue"),
    ('å', "aa"),
    ('æ', "ae"),
    ('œ', "oe"),
    ('ø', "oe"),
    ('ß', "ss"),
    ('þ', "th"),
    ('ð', "d"),
    ('đ', "d"),
    ('ł', "l"),
    ('ı', "i"),
];

/// Characters inside words, which are left out.
const LEFT_OUT: [char; 5] = ['\'', '’', '‘', '`', '´'];

/// Punctuation of expressions, and the colon after the kind of a line. A text with it is no name.
const OF_EXPRESSIONS: &str = "^$*?[](){}|\\<>\":";

/// Returns the nearest spellings of `text` that can be searched for with `options`, at most four. The
/// list is empty if there are none, and for a regular expression.
pub fn nearest(text: &str, options: MatchOptions) -> Vec<String> {
    let error = Pattern::new(text, options).err().filter(|_| options.kind != Kind::Regex);
    let words = match error.as_ref().map(PatternError::reason) {
        Some(Reason::NotBase64(_)) => spellings(text),
        Some(Reason::FirstCharacter(_) | Reason::LastCharacter(_)) => vec![text.to_owned()],
        _ => Vec::new(),
    };
    let mut nearest: Vec<String> = Vec::new();
    let same = |a: &str, b: &str| Identity::new(a, options) == Identity::new(b, options);
    for spelling in words.iter().flat_map(|word| at_ends(word, options)) {
        let is_new = spelling != text && !nearest.iter().any(|other| same(other, &spelling));
        if is_new && nearest.len() < MOST {
            nearest.push(spelling);
        }
    }
    nearest
}

/// A part of a text.
enum Piece {
    /// Characters that can be searched for: as they are usually written, and in the shortest way.
    Letters(String, String),
    Gap,
}

/// Returns spellings of a text in the characters of base64, the nearest first. There are none if
/// some character has no counterpart.
fn spellings(text: &str) -> Vec<String> {
    let pieces = pieces(text.trim_end_matches('=')).unwrap_or_default();
    if !pieces.iter().any(|piece| matches!(piece, Piece::Letters(..))) {
        return Vec::new();
    }
    let mut gaps = vec!["+", "/", ""];
    if !pieces.iter().any(|piece| matches!(piece, Piece::Gap)) {
        gaps.truncate(1);
    }
    let written = |shortest: bool| gaps.iter().map(move |gap| (*gap, shortest));
    written(false).chain(written(true)).map(|(gap, shortest)| joined(&pieces, gap, shortest)).collect()
}

/// Returns the pieces of a text, or `None` if some character has no counterpart.
fn pieces(text: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    for char in text.nfc() {
        let is_gap = char.is_whitespace()
            || "–—·".contains(char)
            || char.is_ascii_punctuation() && !OF_EXPRESSIONS.contains(char);
        if is_base64(char) {
            pieces.push(Piece::Letters(char.into(), char.into()));
        } else if LEFT_OUT.contains(&char) {
        } else if is_gap {
            if !matches!(pieces.last(), Some(Piece::Gap)) {
                pieces.push(Piece::Gap);
            }
        } else {
            pieces.push(letters(char)?);
        }
    }
    Some(pieces)
}

/// Returns the letters in place of one that base64 does not have.
fn letters(char: char) -> Option<Piece> {
    let lower = char.to_lowercase().next()?;
    let usual = LETTERS.iter().find(|(letter, _)| *letter == lower).map(|(_, usual)| match char {
        _ if char == lower => (*usual).to_owned(),
        _ => capitalized(usual),
    });
    let bare: String =
        char.encode_utf8(&mut [0; 4]).nfkd().filter(|char| !is_combining_mark(*char)).collect();
    let bare = Some(bare).filter(|bare| !bare.is_empty() && bare.chars().all(is_base64));
    let usual = usual.or_else(|| bare.clone())?;
    Some(Piece::Letters(usual.clone(), bare.unwrap_or(usual)))
}

/// Returns the pieces in one text, with `gap` in the gaps. Without one, the letter after a gap
/// becomes a capital.
fn joined(pieces: &[Piece], gap: &str, shortest: bool) -> String {
    let (mut text, mut is_after_gap) = (String::new(), false);
    for piece in pieces {
        match piece {
            Piece::Gap => text.push_str(gap),
            Piece::Letters(usual, short) => {
                let letters = if shortest { short } else { usual };
                let is_capital = is_after_gap && gap.is_empty() && !text.is_empty();
                text += &if is_capital { capitalized(letters) } else { letters.clone() };
            }
        }
        is_after_gap = matches!(piece, Piece::Gap);
    }
    text
}

fn capitalized(letters: &str) -> String {
    let (first, rest) = letters.split_at(letters.chars().next().map_or(0, char::len_utf8));
    first.to_uppercase() + rest
}

/// Returns `text` if it can be searched for. If its first or its last character cannot be there,
/// returns texts that differ in it or have one more.
fn at_ends(text: &str, options: MatchOptions) -> Vec<String> {
    let can_be = |text: &String| Pattern::new(text, options).is_ok();
    let error = match Pattern::new(text, options) {
        Ok(_) => return vec![text.to_owned()],
        Err(error) => error,
    };
    let changed = |at: usize| {
        let (before, after) = (&text[..at], &text[at + 1..]);
        let others = alike(text.as_bytes()[at]);
        others.into_iter().map(move |other| format!("{before}{}{after}", char::from(other)))
    };
    match error.reason() {
        Reason::FirstCharacter(_) => changed(0).chain([format!("A{text}")]).filter(can_be).collect(),
        Reason::LastCharacter(_) => {
            changed(text.len() - 1).chain([format!("{text}A")]).filter(can_be).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the characters that look like this one: in the other case, its digit, or the letters of
/// a digit.
fn alike(typed: u8) -> Vec<u8> {
    let mut others = vec![typed ^ if typed.is_ascii_alphabetic() { 0x20 } else { 0 }];
    for (letter, digit) in LEET {
        if letter == typed.to_ascii_lowercase() {
            others.push(digit);
        }
        if digit == typed {
            others.extend([letter.to_ascii_uppercase(), letter]);
        }
    }
    others.retain(|other| *other != typed);
    others
}
