//! The wire form of a public key, its text, and which bits of the key make which character.
//!
//! An Ed25519 public key travels as a 51-byte *blob* (RFC 8709, section 4):
//!
//! ```text
//! 00 00 00 0b "ssh-ed25519" 00 00 00 20 <32 key bytes>
//! ```
//!
//! 51 bytes are exactly 68 base64 characters without padding: the *text*. The 19 header bytes fill
//! characters 0..25 and the first two bits of character 25. So characters 0..25 never change, and the
//! *body*, characters 25..68, is what can be searched. Body character 0 holds two zero bits of the
//! header and the four high bits of key byte 0: it is one of `A` to `P`. Every other body character
//! holds six key bits and takes all 64 values.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// The algorithm name, as it stands in the blob and at the head of a public line.
pub const ALGORITHM: &str = "ssh-ed25519";

/// Bytes of a public key.
pub const KEY_LEN: usize = 32;

/// Bytes of the blob.
pub const BLOB_LEN: usize = HEADER.len() + KEY_LEN;

/// Characters of the text.
pub const TEXT_LEN: usize = BLOB_LEN / 3 * 4;

/// Characters of the body, the part of the text that depends on the key.
pub const BODY_LEN: usize = TEXT_LEN - FIXED.len();

/// The characters with which every text begins.
pub const FIXED: &str = "AAAAC3NzaC1lZDI1NTE5AAAAI";

/// The 64 base64 symbols in the order of their values (RFC 4648, section 4).
pub const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const HEADER: [u8; 19] = *b"\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20";

/// The text of one key.
pub type Text = [u8; TEXT_LEN];

/// The last [`BODY_LEN`] characters of a text.
pub type Body = [u8; BODY_LEN];

/// A set of base64 symbols: bit `v` stands for `ALPHABET[v]`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Symbols(pub u64);

impl Symbols {
    /// All 64 symbols.
    pub const ALL: Self = Self(u64::MAX);

    /// What body character 0 can be: `A` to `P`.
    pub const FIRST: Self = Self(0xffff);

    /// The symbols that stand at body position `position`, each equally likely.
    #[must_use]
    pub const fn at(position: usize) -> Self {
        if position == 0 { Self::FIRST } else { Self::ALL }
    }

    /// The set that holds only `byte`; empty if base64 has no such symbol.
    #[must_use]
    pub fn of(byte: u8) -> Self {
        match ALPHABET.iter().position(|&symbol| symbol == byte) {
            Some(value) => Self(1 << value),
            None => Self(0),
        }
    }

    /// The symbols of either set.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The symbols of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether there is no symbol in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many symbols the set holds.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// The symbols as ASCII bytes, in the order of their values.
    pub fn bytes(self) -> impl Iterator<Item = u8> {
        (0..64).filter(move |value| self.0 >> value & 1 == 1).map(|value| ALPHABET[value])
    }
}

/// The blob of a public key.
#[must_use]
pub fn blob(key: &[u8; KEY_LEN]) -> [u8; BLOB_LEN] {
    let mut blob = [0; BLOB_LEN];
    blob[..HEADER.len()].copy_from_slice(&HEADER);
    blob[HEADER.len()..].copy_from_slice(key);
    blob
}

/// The text of a public key: its blob in base64.
///
/// # Panics
///
/// Never: 51 bytes always fill 68 characters.
#[must_use]
pub fn text(key: &[u8; KEY_LEN]) -> Text {
    let mut text = [0; TEXT_LEN];
    let written = STANDARD_NO_PAD.encode_slice(blob(key), &mut text);
    assert_eq!(written, Ok(TEXT_LEN), "51 bytes are 68 base64 characters");
    text
}

/// The body position that holds the highest bit of a key, the sign of x.
pub const SIGN_POSITION: usize = 41;

/// The symbol at [`SIGN_POSITION`] when the sign bit is set, whatever it is in `key`: the low half of key byte 30 and
/// the high two bits of byte 31.
#[must_use]
pub fn symbol_of_set_sign(key: &[u8; KEY_LEN]) -> u8 {
    ALPHABET[usize::from((key[30] & 0x0f) << 2 | 0b10 | key[31] >> 6 & 1)]
}

/// The body of a text.
#[must_use]
pub fn body(text: &Text) -> &Body {
    text.last_chunk().unwrap_or_else(|| unreachable!("a text is longer than its body"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fixed_characters_come_from_the_header() {
        let lowest = text(&[0; KEY_LEN]);
        let highest = text(&[0xff; KEY_LEN]);
        assert_eq!(&lowest[..FIXED.len()], FIXED.as_bytes());
        assert_eq!(&highest[..FIXED.len()], FIXED.as_bytes());
        assert_eq!(body(&lowest), &[b'A'; BODY_LEN]);
        assert_eq!(body(&highest)[0], b'P');
        assert_eq!(&body(&highest)[1..], &[b'/'; BODY_LEN - 1]);
    }

    /// RFC 8032, section 7.1, test 1: the public key, and its line as ssh-keygen prints it.
    #[test]
    fn a_known_key_has_its_known_text() {
        let key = [
            0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a,
            0x0e, 0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a,
        ];
        let known = "AAAAC3NzaC1lZDI1NTE5AAAAINdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea";
        assert_eq!(std::str::from_utf8(&text(&key)), Ok(known));
    }

    #[test]
    fn every_symbol_of_its_position_occurs_and_no_other() {
        for position in 0..BODY_LEN {
            let mut seen = Symbols::default();
            for value in 0..64u8 {
                let mut key = [0; KEY_LEN];
                for bit in 0..6 {
                    // Body character 0 starts two bits before the key.
                    let Some(at) = (6 * position + bit).checked_sub(2) else { continue };
                    key[at / 8] |= (value >> (5 - bit) & 1) << (7 - at % 8);
                }
                seen = seen.or(Symbols::of(body(&text(&key))[position]));
            }
            assert_eq!(seen, Symbols::at(position), "body position {position}");
        }
    }

    #[test]
    fn the_sign_bit_touches_one_symbol() {
        for fill in 0..=0x7f {
            let clear = [fill; KEY_LEN];
            let mut set = clear;
            set[31] |= 0x80;
            let mut expected = *body(&text(&clear));
            expected[SIGN_POSITION] = symbol_of_set_sign(&clear);
            assert_eq!(*body(&text(&set)), expected);
            assert_eq!(symbol_of_set_sign(&set), symbol_of_set_sign(&clear));
        }
    }

    #[test]
    fn a_set_of_symbols_lists_them() {
        assert_eq!(Symbols::FIRST.bytes().collect::<Vec<_>>(), b"ABCDEFGHIJKLMNOP");
        assert_eq!(Symbols::ALL.len(), 64);
        assert!(Symbols::of(b'=').is_empty());
        assert!(Symbols::of(b'Q').and(Symbols::FIRST).is_empty());
    }
}
