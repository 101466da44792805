//! The wire form of a public key, its text, and the bits of the key that each character shows.
//!
//! An Ed25519 public key travels as a 51-byte *blob* (RFC 8709, section 4):
//!
//! ```text
//! 00 00 00 0b "ssh-ed25519" 00 00 00 20 <32 key bytes>
//! ```
//!
//! Its base64 form is the *text*: exactly 68 characters, without padding. The 19 header bytes fill
//! characters 0..25 and the first two bits of character 25. So characters 0..25 never change, and
//! only the *body*, characters 25..68, can be searched. Body character 0 holds two zero bits of the
//! header and the four high bits of key byte 0, so it is one of `A` to `P`. Every other body
//! character holds six key bits and takes all 64 values.
//!
//! ```
//! use vanity_pattern::wire::{self, Target};
//!
//! let public_key = [0x20; 32];
//! let text = wire::text(&public_key);
//! assert!(text.starts_with(wire::FIXED.as_bytes()));
//! assert_eq!(Target::Key.body(&public_key), *wire::body(&text));
//! ```

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
pub use ed25519_batch::without_sign;

/// The name of the algorithm, in the blob and at the start of a public line.
pub const ALGORITHM: &str = "ssh-ed25519";

/// The number of bytes of a public key.
pub const KEY_LEN: usize = 32;

/// The number of bytes of the blob.
pub const BLOB_LEN: usize = HEADER.len() + KEY_LEN;

/// The number of characters of the text.
pub const TEXT_LEN: usize = BLOB_LEN / 3 * 4;

/// The number of characters of the body, the part of the text that depends on the key.
pub const BODY_LEN: usize = TEXT_LEN - FIXED.len();

/// The characters at the start of every text.
pub const FIXED: &str = "AAAAC3NzaC1lZDI1NTE5AAAAI";

/// The characters at the start of every fingerprint.
pub const FINGERPRINT_HEADER: &str = "SHA256:";

/// The 64 base64 symbols in the order of their values (RFC 4648, section 4).
pub const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes at the start of every blob.
pub const HEADER: [u8; 19] = *b"\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20";

/// The text of a key.
pub type Text = [u8; TEXT_LEN];

/// The last [`BODY_LEN`] characters of a text.
pub type Body = [u8; BODY_LEN];

/// A set of base64 symbols: bit `v` stands for `ALPHABET[v]`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Symbols(pub u64);

impl Symbols {
    /// All 64 symbols.
    pub const ALL: Self = Self(u64::MAX);

    /// Returns the set that holds only `byte`. The set is empty if `byte` is no base64 symbol.
    #[must_use]
    pub const fn of(byte: u8) -> Self {
        OF_BYTE[byte as usize]
    }

    /// Returns the smallest value of a symbol in the set, or `None` if the set is empty.
    #[must_use]
    pub fn first(self) -> Option<u8> {
        (!self.is_empty()).then(|| self.0.trailing_zeros() as u8)
    }

    /// Returns true if the set holds the symbol with this value, 0 to 63.
    #[must_use]
    pub const fn has(self, value: u8) -> bool {
        self.0 >> value & 1 == 1
    }

    /// Returns the union of the sets.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the intersection of the sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns true if the set holds no symbol.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the number of symbols in the set.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns the symbols as ASCII bytes, in the order of their values.
    pub fn bytes(self) -> impl Iterator<Item = u8> {
        (0..64).filter(move |value| self.0 >> value & 1 == 1).map(|value| ALPHABET[value])
    }
}

/// The result of [`Symbols::of`] for every byte.
const OF_BYTE: [Symbols; 256] = {
    let mut sets = [Symbols(0); 256];
    let mut value = 0;
    while value < ALPHABET.len() {
        sets[ALPHABET[value] as usize] = Symbols(1 << value);
        value += 1;
    }
    sets
};

/// The kind of text to search: the key itself or its fingerprint. Either shows 32 bytes as
/// [`BODY_LEN`] characters.
///
/// Character c shows bits 6c - `lead` to 6c - `lead` + 5 of the bytes. The highest bit of a byte
/// comes first, and bits before and after the bytes are 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Target {
    /// The key, shown as the body of its text. Its `lead` is 2, the bits of the header in character
    /// 0.
    #[default]
    Key,
    /// The SHA-256 of the blob, shown as the fingerprint's text after `SHA256:`. Its `lead` is 0.
    Fingerprint,
}

/// The 32 bytes of a [`Target`].
pub type Bytes = [u8; KEY_LEN];

impl Target {
    /// Returns the number of zero bits before the first byte.
    #[must_use]
    pub const fn lead(self) -> usize {
        match self {
            Self::Key => 2,
            Self::Fingerprint => 0,
        }
    }

    /// Returns the symbols that can appear at `position`, each equally likely. There are 16 at one
    /// of the ends and 64 elsewhere.
    #[must_use]
    pub const fn symbols(self, position: usize) -> Symbols {
        match self {
            Self::Key if position == 0 => Symbols(0xffff),
            Self::Fingerprint if position == BODY_LEN - 1 => Symbols(0x1111_1111_1111_1111),
            _ => Symbols::ALL,
        }
    }

    /// Returns [`Self::symbols`] of every position.
    #[must_use]
    pub fn positions(self) -> [Symbols; BODY_LEN] {
        std::array::from_fn(|position| self.symbols(position))
    }

    /// Returns the characters that show `bytes`.
    ///
    /// # Panics
    ///
    /// Never panics, because 32 bytes always fill 43 characters.
    #[must_use]
    pub fn body(self, bytes: &Bytes) -> Body {
        match self {
            Self::Key => *body(&text(bytes)),
            Self::Fingerprint => {
                let mut body = [0; BODY_LEN];
                let written = STANDARD_NO_PAD.encode_slice(bytes, &mut body);
                assert_eq!(written, Ok(BODY_LEN), "32 bytes are 43 base64 characters");
                body
            }
        }
    }

    /// Returns the values of `count` characters from `start`, six bits each, the first character
    /// highest. `count` is 1 to 8. Characters beyond the last one have the value 0.
    #[inline]
    #[must_use]
    pub fn window(self, bytes: &Bytes, start: usize, count: usize) -> u64 {
        // Read eight bytes that hold the characters. Bits before the first byte and after the last
        // byte are 0.
        let end = SYMBOL_BITS * (start + count) - self.lead();
        let from = (end.saturating_sub(1) / 8).saturating_sub(7).min(KEY_LEN - 8);
        let word = bytes[from..].first_chunk().map_or(0, |word| u64::from_be_bytes(*word));
        let word_end = 8 * from + 64;
        let shifted = if end <= word_end { word >> (word_end - end) } else { word << (end - word_end) };
        shifted & ((1 << (SYMBOL_BITS * count)) - 1)
    }

    /// Returns the values of characters 4i to 4i + 3, for i from 0 to 10, in the form of
    /// [`Self::window`].
    #[inline(always)]
    #[must_use]
    pub fn quads(self, bytes: &Bytes) -> [u32; QUADS] {
        let word = |from: usize| bytes[from..].first_chunk().map_or(0, |word| u32::from_be_bytes(*word));
        let last = word(KEY_LEN - 4);
        let mut quads = [0; QUADS];
        match self {
            Self::Key => {
                quads[0] = word(0) >> 10;
                for (at, quad) in quads.iter_mut().enumerate().take(QUADS - 1).skip(1) {
                    *quad = word(3 * at - 1) >> 2 & QUAD;
                }
                quads[QUADS - 1] = last << 6 & QUAD;
            }
            Self::Fingerprint => {
                for (at, quad) in quads.iter_mut().enumerate().take(QUADS - 1) {
                    *quad = word(3 * at) >> 8;
                }
                quads[QUADS - 1] = last << 8 & QUAD;
            }
        }
        quads
    }
}

/// The number of groups of four characters in a body. The last group has three.
pub const QUADS: usize = BODY_LEN.div_ceil(4);

/// The mask of the bits of four characters.
const QUAD: u32 = 0xff_ffff;

/// The number of bits of a character.
pub const SYMBOL_BITS: usize = 6;

/// Returns the blob of a public key.
#[must_use]
pub fn blob(key: &[u8; KEY_LEN]) -> [u8; BLOB_LEN] {
    let mut blob = [0; BLOB_LEN];
    blob[..HEADER.len()].copy_from_slice(&HEADER);
    blob[HEADER.len()..].copy_from_slice(key);
    blob
}

/// Returns the text of a public key, its blob in base64.
///
/// # Panics
///
/// Never panics, because 51 bytes always fill 68 characters.
#[must_use]
pub fn text(key: &[u8; KEY_LEN]) -> Text {
    let mut text = [0; TEXT_LEN];
    let written = STANDARD_NO_PAD.encode_slice(blob(key), &mut text);
    assert_eq!(written, Ok(TEXT_LEN), "51 bytes are 68 base64 characters");
    text
}

/// The body position that shows the highest bit of a key, the sign of x.
pub const SIGN_POSITION: usize = 41;

/// The value of the sign bit in the symbol at [`SIGN_POSITION`].
pub const SIGN_VALUE: u8 = 0b10;

/// Returns `key` with its highest bit set.
#[must_use]
pub const fn with_sign(mut key: [u8; KEY_LEN]) -> [u8; KEY_LEN] {
    key[KEY_LEN - 1] |= 0x80;
    key
}

/// Returns the body of a text.
#[must_use]
pub fn body(text: &Text) -> &Body {
    text.last_chunk().unwrap_or_else(|| unreachable!("a text is longer than its body"))
}
