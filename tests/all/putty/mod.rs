//! Reads key files of PuTTY, independently of the program.

use aes::Aes256;
use argon2::{Algorithm, Argon2, Block, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use blake2::{Blake2b512, Digest as _};
use cbc::cipher::array::Array;
use cbc::cipher::{BlockModeDecrypt as _, KeyIvInit as _};
use hmac::digest::KeyInit as _;
use hmac::{Hmac, Mac as _};
use regex::Regex;
use sha2::Sha256;
use vanity_search::key::{PublicKey, Seed};

/// The start of every such file.
pub const PPK: &str = "PuTTY-User-Key-File-3: ssh-ed25519\n";

/// The line of an encrypted file.
pub const ENCRYPTED_PPK: &str = "\nEncryption: aes256-cbc\n";

/// The key in a file.
pub struct Opened {
    pub seed: [u8; 32],
    pub comment: String,
    /// What Argon2 derives from the passphrase; zeros for a file in the clear.
    pub derived: [u8; 80],
    /// The hash of the passphrase and of the parameters, from which Argon2 begins.
    pub first_hash: [u8; 64],
}

/// Opens the text of a file that the program wrote. Returns nothing if it is not whole, or if the
/// passphrase does not open it.
pub fn open(text: &str, passphrase: &str) -> Option<Opened> {
    const FORM: &str = r"(?x)\A
        PuTTY-User-Key-File-3:\ ssh-ed25519\n
        Encryption:\ (?<encryption>none|aes256-cbc)\n
        Comment:\ (?<comment>[^\n]*)\n
        Public-Lines:\ 2\n (?<public>[^\n]{64}\n[^\n]{4})\n
        (?:Key-Derivation:\ Argon2id\n
        Argon2-Memory:\ (?<memory>[0-9]+)\n
        Argon2-Passes:\ (?<passes>[0-9]+)\n
        Argon2-Parallelism:\ 1\n
        Argon2-Salt:\ (?<salt>[0-9a-f]{32})\n)?
        Private-Lines:\ 1\n (?<private>[^\n]{48,64})\n
        Private-MAC:\ (?<mac>[0-9a-f]{64})\n\z";
    let parts = Regex::new(FORM).unwrap().captures(text)?;
    let public = STANDARD.decode(parts["public"].replace('\n', "")).ok()?;
    let mut private = STANDARD.decode(&parts["private"]).ok()?;
    let is_encrypted = &parts["encryption"] == "aes256-cbc";
    assert_eq!(is_encrypted, parts.name("salt").is_some(), "{text}");
    let (mut derived, mut first_hash) = ([0; 80], [0; 64]);
    if is_encrypted {
        let number = |name: &str| parts[name].parse().unwrap();
        let salt = bytes(&parts["salt"]);
        first_hash = hash_of(number("memory"), number("passes"), passphrase.as_bytes(), &salt);
        let params = Params::new(number("memory"), number("passes"), 1, Some(80)).unwrap();
        let mut memory = vec![Block::new(); params.block_count()];
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        argon2
            .hash_password_into_with_memory(passphrase.as_bytes(), &salt, &mut derived, &mut memory)
            .unwrap();
        let (blocks, rest) = Array::slice_as_chunks_mut(&mut private);
        assert!(rest.is_empty(), "{text}");
        cbc::Decryptor::<Aes256>::new_from_slices(&derived[..32], &derived[32..48])
            .unwrap()
            .decrypt_blocks(blocks);
    }
    let mut mac = Hmac::<Sha256>::new_from_slice(if is_encrypted { &derived[48..] } else { &[] }).unwrap();
    for part in
        [b"ssh-ed25519", parts["encryption"].as_bytes(), parts["comment"].as_bytes(), &public, &private]
    {
        mac.update(&(part.len() as u32).to_be_bytes());
        mac.update(part);
    }
    mac.verify_slice(&bytes(&parts["mac"])).ok()?;
    let seed: [u8; 32] = private.strip_prefix(b"\0\0\0\x20")?.get(..32)?.try_into().unwrap();
    let key = PublicKey(*public.last_chunk().unwrap());
    assert_eq!(Seed::new(seed).public_key(), key, "{text}");
    Some(Opened { seed, comment: parts["comment"].to_owned(), derived, first_hash })
}

/// Returns the hash H0 of RFC 9106, section 3.2, with one lane and 80 bytes of output.
fn hash_of(memory: u32, passes: u32, passphrase: &[u8], salt: &[u8]) -> [u8; 64] {
    let mut hash = Blake2b512::new();
    for number in [1, 80, memory, passes, 0x13, 2] {
        hash.update(number.to_le_bytes());
    }
    for part in [passphrase, salt, &[], &[]] {
        hash.update((part.len() as u32).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// Returns the bytes of hexadecimal digits.
fn bytes(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}
