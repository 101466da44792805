//! What is the same in the SHA-256 block of every key.

/// The bytes before a key in SSH's wire form (RFC 8709, section 4).
pub(super) const HEADER: [u8; 19] = *b"\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20";

/// The number of bytes of a key in this form.
const BLOB_LEN: usize = HEADER.len() + 32;

/// The block of a key of zeros.
pub(super) const BLOCK: [u32; 16] = block();

/// The bit of word 12 that is the sign of x, the highest bit of its third byte.
pub(super) const SIGN: u32 = 1 << 15;

/// Returns the block of a key of zeros.
const fn block() -> [u32; 16] {
    let mut block = [0; 16];
    let mut at = 0;
    while at < HEADER.len() {
        block[at / 4] |= (HEADER[at] as u32) << (24 - at % 4 * 8);
        at += 1;
    }
    block[BLOB_LEN / 4] |= 0x80 << (24 - BLOB_LEN % 4 * 8);
    block[15] = BLOB_LEN as u32 * 8;
    block
}
