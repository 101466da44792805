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
//!
//! ```
//! use vanity_ed25519::wire::{self, Target};
//!
//! let public_key = [0x20; 32];
//! let text = wire::text(&public_key);
//! assert!(text.starts_with(wire::FIXED.as_bytes()));
//! assert_eq!(Target::Key.body(&public_key), *wire::body(&text));
//! ```

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

/// What a fingerprint begins with.
pub const FINGERPRINT_HEADER: &str = "SHA256:";

/// The 64 base64 symbols in the order of their values (RFC 4648, section 4).
pub const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// What every blob begins with.
pub const HEADER: [u8; 19] = *b"\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20";

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

    /// The set that holds only `byte`; empty if base64 has no such symbol.
    #[must_use]
    pub const fn of(byte: u8) -> Self {
        OF_BYTE[byte as usize]
    }

    /// The value of the first symbol of the set.
    #[must_use]
    pub fn first(self) -> Option<u8> {
        (!self.is_empty()).then(|| self.0.trailing_zeros() as u8)
    }

    /// Whether the set holds the symbol with this value, 0 to 63.
    #[must_use]
    pub const fn has(self, value: u8) -> bool {
        self.0 >> value & 1 == 1
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

/// [`Symbols::of`] every byte.
const OF_BYTE: [Symbols; 256] = {
    let mut sets = [Symbols(0); 256];
    let mut value = 0;
    while value < ALPHABET.len() {
        sets[ALPHABET[value] as usize] = Symbols(1 << value);
        value += 1;
    }
    sets
};

/// What is searched: 32 bytes that are shown as [`BODY_LEN`] characters.
///
/// Character c shows bits 6c - `lead` to 6c - `lead` + 5 of the bytes, the highest bit of a byte first; bits before and after
/// them are 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Target {
    /// The key, shown as the body of its text. Its `lead` is 2, the end of the header.
    #[default]
    Key,
    /// The SHA-256 of the blob, shown as the fingerprint's text after `SHA256:`. Its `lead` is 0.
    Fingerprint,
}

/// The 32 bytes of a [`Target`].
pub type Bytes = [u8; KEY_LEN];

impl Target {
    /// Zero bits before the first byte.
    #[must_use]
    pub const fn lead(self) -> usize {
        match self {
            Self::Key => 2,
            Self::Fingerprint => 0,
        }
    }

    /// The symbols that stand at `position`, each equally likely: 16 at one of the ends, 64 elsewhere.
    #[must_use]
    pub const fn symbols(self, position: usize) -> Symbols {
        match self {
            Self::Key if position == 0 => Symbols(0xffff),
            Self::Fingerprint if position == BODY_LEN - 1 => Symbols(0x1111_1111_1111_1111),
            _ => Symbols::ALL,
        }
    }

    /// [`Self::symbols`] of every position.
    #[must_use]
    pub fn positions(self) -> [Symbols; BODY_LEN] {
        std::array::from_fn(|position| self.symbols(position))
    }

    /// The characters that show `bytes`.
    ///
    /// # Panics
    ///
    /// Never: 32 bytes always fill 43 characters.
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

    /// The values of the characters from `start` on, six bits for each of `count`, 1 to 8. Beyond the last character they
    /// are 0.
    #[inline]
    #[must_use]
    pub fn window(self, bytes: &Bytes, start: usize, count: usize) -> u64 {
        // Of eight bytes that hold all or the last of them; those before the first are 0.
        let end = SYMBOL_BITS * (start + count) - self.lead();
        let from = (end.saturating_sub(1) / 8).saturating_sub(7).min(KEY_LEN - 8);
        let word = bytes[from..].first_chunk().map_or(0, |word| u64::from_be_bytes(*word));
        let held = 8 * from + 64;
        let shifted = if end <= held { word >> (held - end) } else { word << (end - held) };
        shifted & ((1 << (SYMBOL_BITS * count)) - 1)
    }

    /// The values of characters 4i to 4i + 3, for i from 0 to 10, as [`Self::window`] has them.
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

/// Characters in fours, the last one a body's last three.
pub const QUADS: usize = BODY_LEN.div_ceil(4);

/// The bits of four characters.
const QUAD: u32 = 0xff_ffff;

/// The bits of a character.
pub const SYMBOL_BITS: usize = 6;

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

/// The body position that shows the highest bit of a key, the sign of x.
pub const SIGN_POSITION: usize = 41;

/// The value of that bit in the symbol there.
pub const SIGN_VALUE: u8 = 0b10;

/// Returns `key` with its highest bit set.
#[must_use]
pub const fn with_sign(mut key: [u8; KEY_LEN]) -> [u8; KEY_LEN] {
    key[KEY_LEN - 1] |= 0x80;
    key
}

/// Returns `key` with its highest bit clear.
#[must_use]
pub const fn without_sign(mut key: [u8; KEY_LEN]) -> [u8; KEY_LEN] {
    key[KEY_LEN - 1] &= 0x7f;
    key
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
            assert_eq!(seen, Target::Key.symbols(position), "body position {position}");
        }
    }

    #[test]
    fn windows_and_quads_are_the_values_of_the_characters() {
        let bytes: Bytes = std::array::from_fn(|at| (at as u8).wrapping_mul(0x9d).wrapping_add(0x35));
        for (target, bytes) in [Target::Key, Target::Fingerprint]
            .into_iter()
            .flat_map(|target| [(target, bytes), (target, bytes.map(|byte| !byte))])
        {
            let body = target.body(&bytes);
            let value = |position: usize| {
                let symbol = body.get(position).map_or(Symbols(1), |byte| Symbols::of(*byte));
                assert!(!symbol.and(target.symbols(position)).is_empty());
                u64::from(symbol.first().unwrap())
            };
            for start in 0..BODY_LEN {
                for count in 1..=8 {
                    let expected = (start..start + count).fold(0, |window, at| window << 6 | value(at));
                    assert_eq!(target.window(&bytes, start, count), expected, "{count} from {start}");
                }
            }
            for (number, quad) in target.quads(&bytes).into_iter().enumerate() {
                assert_eq!(u64::from(quad), target.window(&bytes, 4 * number, 4));
            }
        }
    }

    /// The fingerprint of `a_known_key_has_its_known_line_and_fingerprint`.
    #[test]
    fn the_last_character_of_a_fingerprint_has_four_bits() {
        assert_eq!(
            Target::Fingerprint.symbols(BODY_LEN - 1).bytes().collect::<Vec<_>>(),
            b"AEIMQUYcgkosw048"
        );
        for fill in [0, 0xff, 0x5a] {
            let body = Target::Fingerprint.body(&[fill; KEY_LEN]);
            let last = Symbols::of(body[BODY_LEN - 1]);
            assert!(!last.and(Target::Fingerprint.symbols(BODY_LEN - 1)).is_empty());
        }
    }

    #[test]
    fn the_sign_bit_touches_one_symbol() {
        for fill in 0..=0x7f {
            let clear = [fill; KEY_LEN];
            let set = with_sign(clear);
            let mut expected = *body(&text(&clear));
            let value = Symbols::of(expected[SIGN_POSITION]).first().unwrap() | SIGN_VALUE;
            expected[SIGN_POSITION] = ALPHABET[usize::from(value)];
            assert_eq!(*body(&text(&set)), expected);
            assert_eq!(with_sign(set), set);
        }
    }

    #[test]
    fn a_set_of_symbols_lists_them() {
        assert_eq!(Target::Key.symbols(0).bytes().collect::<Vec<_>>(), b"ABCDEFGHIJKLMNOP");
        assert_eq!(Symbols::ALL.len(), 64);
        assert!(Symbols::of(b'=').is_empty());
        assert!(Symbols::of(b'Q').and(Target::Key.symbols(0)).is_empty());
        assert_eq!(Symbols::of(b'B').first(), Some(1));
        assert_eq!(Symbols(0).first(), None);
        assert!(Symbols::of(b'/').has(63) && !Symbols::of(b'/').has(62));
    }
}
