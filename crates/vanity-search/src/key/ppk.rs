//! PuTTY's key file, version 3, which PuTTY reads from version 0.75 on (PuTTY's manual, appendix
//! "PPK file format").
//!
//! Every file shows its public key and its comment. In an encrypted file Argon2 derives three
//! secrets from the passphrase: the key and the initialization vector of AES-256-CBC, and the key
//! of an HMAC-SHA-256. This MAC covers the public key, the comment, and the private key before
//! encryption. In a file without encryption the key of the MAC is empty, so the MAC only detects
//! damage.
//!
//! Version 2, which older versions of PuTTY write, is not read.

use std::cell::Cell;
use std::fmt::{self, Write as _};
use std::str::Lines;

use aes::Aes256;
use argon2::{Algorithm, Argon2, Block, Params, Version};
use base64ct::{Base64, Encoding as _};
use cbc::cipher::array::Array;
use cbc::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit};
use cbc::{Decryptor, Encryptor};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::protect::{ARGON2_MEMORY, MOST_MEMORY, MOST_PASSES};
use super::seed::{PublicKey, Seed};
use crate::wire;
use ed25519_batch::memory::{room, wipe_vec};

/// The label of the first line.
const FIRST: &str = "PuTTY-User-Key-File-3";

/// The encryption of a file in the clear, and of an encrypted one.
const CLEAR: &str = "none";
const ENCRYPTED: &str = "aes256-cbc";

/// The variants of Argon2. PuTTYgen writes the first one unless the user chooses another.
const VARIANTS: [(&str, Algorithm); 3] =
    [("Argon2id", Algorithm::Argon2id), ("Argon2i", Algorithm::Argon2i), ("Argon2d", Algorithm::Argon2d)];

/// The most characters in a line of base64.
const LINE: usize = 64;

/// The most characters in a text without its comment. Real texts have about 500.
const LONGEST: usize = 1000;

const AES_KEY: usize = 32;
const AES_BLOCK: usize = 16;

/// The bytes of a MAC and of its key.
const MAC: usize = 32;

/// The bytes before the seed in a private key: the length of the seed.
const SEED_HEAD: [u8; 4] = [0, 0, 0, 32];

/// The bytes of a private key in the clear.
const PRIVATE: usize = SEED_HEAD.len() + 32;

/// The bytes after the seed that fill the last block of AES.
pub(super) const PADDING: usize = PRIVATE.next_multiple_of(AES_BLOCK) - PRIVATE;

/// A key file.
pub(super) struct KeyFile {
    /// The public key that the file shows.
    pub(super) public_key: PublicKey,
    /// The comment.
    pub(super) comment: String,
    /// How the passphrase becomes the secrets, if the file is encrypted.
    derivation: Option<Derivation>,
    /// The private key, encrypted or not.
    private: Zeroizing<Vec<u8>>,
    /// The MAC.
    mac: [u8; MAC],
}

impl KeyFile {
    /// Returns a file in the clear. The comment must be one line.
    pub(super) fn clear(seed: &Seed, comment: &str) -> Self {
        Self::new(seed, comment, None, |_| &[])
    }

    /// Returns an encrypted file. The comment must be one line. The salt and the padding must be
    /// random.
    ///
    /// # Errors
    ///
    /// Returns an error if there is not enough memory to derive the secrets.
    pub(super) fn encrypted(
        seed: &Seed,
        comment: &str,
        passphrase: &[u8],
        salt: &[u8],
        padding: [u8; PADDING],
        passes: u32,
    ) -> argon2::Result<Self> {
        let (_, algorithm) = VARIANTS[0];
        let params = Params::new(ARGON2_MEMORY, passes, 1, Some(Secrets::LEN))?;
        let derivation = Derivation { algorithm, params, salt: salt.to_vec() };
        let secrets = derivation.secrets(passphrase)?;
        let mut file = Self::new(seed, comment, Some(derivation), |private| {
            private.extend_from_slice(&padding);
            secrets.mac_key()
        });
        let (blocks, _) = Array::slice_as_chunks_mut(&mut file.private);
        secrets.cipher::<Encryptor<Aes256>>().encrypt_blocks(blocks);
        Ok(file)
    }

    /// Returns a file whose private key is not yet encrypted. `pad` pads it, and returns the key of
    /// the MAC.
    fn new<'a>(
        seed: &Seed,
        comment: &str,
        derivation: Option<Derivation>,
        pad: impl FnOnce(&mut Vec<u8>) -> &'a [u8],
    ) -> Self {
        // It does not grow beyond this, which would leave a copy elsewhere.
        let mut private = Zeroizing::new(Vec::with_capacity(PRIVATE + PADDING));
        private.extend_from_slice(&SEED_HEAD);
        private.extend_from_slice(seed.bytes());
        let mac_key = pad(&mut private);
        let (public_key, comment) = (seed.public_key(), comment.to_owned());
        let mut file = Self { public_key, comment, derivation, private, mac: [0; MAC] };
        file.mac = file.mac_of(&file.private, mac_key).finalize().into_bytes().into();
        file
    }

    /// Returns the text of the file.
    pub(super) fn text(&self) -> Zeroizing<String> {
        // It does not grow beyond this, which would leave a copy elsewhere.
        let mut text = Zeroizing::new(String::with_capacity(LONGEST + self.comment.len()));
        // A write to memory does not fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        writeln!(text, "{FIRST}: {}", wire::ALGORITHM)?;
        writeln!(text, "Encryption: {}", self.encryption())?;
        writeln!(text, "Comment: {}", self.comment)?;
        write_base64(text, "Public", &wire::blob(&self.public_key.0))?;
        if let Some(derivation) = &self.derivation {
            derivation.write(text)?;
        }
        write_base64(text, "Private", &self.private)?;
        writeln!(text, "Private-MAC: {}", hex(&self.mac))
    }

    /// Reads the text of a file. Returns `None` unless it is a whole file with an Ed25519 key.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if value(&mut lines, FIRST)? != wire::ALGORITHM {
            return None;
        }
        let is_encrypted = match value(&mut lines, "Encryption")? {
            CLEAR => false,
            ENCRYPTED => true,
            _ => return None,
        };
        let comment = value(&mut lines, "Comment")?.to_owned();
        let blob = read_base64(&mut lines, "Public", wire::BLOB_LEN)?;
        let public_key = PublicKey(blob.strip_prefix(&wire::HEADER)?.try_into().ok()?);
        let derivation = if is_encrypted { Some(Derivation::read(&mut lines)?) } else { None };
        let len = if is_encrypted { PRIVATE + PADDING } else { PRIVATE };
        let private = read_base64(&mut lines, "Private", len)?;
        let mac = unhex(value(&mut lines, "Private-MAC")?)?.try_into().ok()?;
        lines.next().is_none().then_some(Self { public_key, comment, derivation, private, mac })
    }

    /// Returns whether the private key is encrypted.
    pub(super) fn is_encrypted(&self) -> bool {
        self.derivation.is_some()
    }

    /// Returns the seed. The passphrase of a file in the clear is empty. Returns `None` if the
    /// passphrase does not open the file, or if the parts of the file do not belong together.
    ///
    /// # Errors
    ///
    /// Returns an error if to derive the secrets would take too much memory or time.
    pub(super) fn open(&self, passphrase: &[u8]) -> argon2::Result<Option<Seed>> {
        let Some(derivation) = &self.derivation else { return Ok(self.checked(&self.private, &[])) };
        let secrets = derivation.secrets(passphrase)?;
        let mut private = self.private.clone();
        let (blocks, _) = Array::slice_as_chunks_mut(&mut private);
        secrets.cipher::<Decryptor<Aes256>>().decrypt_blocks(blocks);
        Ok(self.checked(&private, secrets.mac_key()))
    }

    /// Returns the seed in a private key that is not encrypted. Returns `None` unless it belongs to
    /// the MAC and to the public key of the file.
    fn checked(&self, private: &[u8], mac_key: &[u8]) -> Option<Seed> {
        self.mac_of(private, mac_key).verify_slice(&self.mac).ok()?;
        let seed = Seed::new(*private.strip_prefix(&SEED_HEAD)?.first_chunk()?);
        (seed.public_key() == self.public_key).then_some(seed)
    }

    fn mac_of(&self, private: &[u8], mac_key: &[u8]) -> Hmac<Sha256> {
        let mac = Hmac::new_from_slice(mac_key);
        let mut mac: Hmac<Sha256> = mac.unwrap_or_else(|_| unreachable!("keys of HMAC have any length"));
        let blob = wire::blob(&self.public_key.0);
        let [algorithm, encryption, comment] =
            [wire::ALGORITHM, self.encryption(), &self.comment].map(str::as_bytes);
        for part in [algorithm, encryption, comment, &blob, private] {
            mac.update(&(part.len() as u32).to_be_bytes());
            mac.update(part);
        }
        mac
    }

    fn encryption(&self) -> &'static str {
        if self.is_encrypted() { ENCRYPTED } else { CLEAR }
    }
}

thread_local! {
    /// The memory of the last derivation, wiped, unless it is larger than usual. Given back to the
    /// allocator after each key, it would not be used again: a batch needed ten times as much.
    static MEMORY: Cell<Vec<Block>> = const { Cell::new(Vec::new()) };
}

/// The parameters of Argon2.
struct Derivation {
    algorithm: Algorithm,
    params: Params,
    salt: Vec<u8>,
}

impl Derivation {
    fn write(&self, text: &mut String) -> fmt::Result {
        let variant = VARIANTS.iter().find(|(_, algorithm)| *algorithm == self.algorithm);
        writeln!(text, "Key-Derivation: {}", variant.map_or("", |(name, _)| name))?;
        writeln!(text, "Argon2-Memory: {}", self.params.m_cost())?;
        writeln!(text, "Argon2-Passes: {}", self.params.t_cost())?;
        writeln!(text, "Argon2-Parallelism: {}", self.params.p_cost())?;
        writeln!(text, "Argon2-Salt: {}", hex(&self.salt))
    }

    fn read(lines: &mut Lines) -> Option<Self> {
        let variant = value(lines, "Key-Derivation")?;
        let (_, algorithm) = *VARIANTS.iter().find(|(name, _)| *name == variant)?;
        let mut number = |label| value(lines, label)?.parse().ok();
        let (memory, passes) = (number("Argon2-Memory")?, number("Argon2-Passes")?);
        let params = Params::new(memory, passes, number("Argon2-Parallelism")?, Some(Secrets::LEN)).ok()?;
        Some(Self { algorithm, params, salt: unhex(value(lines, "Argon2-Salt")?)? })
    }

    /// Derives the secrets, which takes about a tenth of a second.
    ///
    /// # Errors
    ///
    /// Returns an error if there is not enough memory, or if the parameters ask for more of it or of
    /// time than anybody would choose.
    fn secrets(&self, passphrase: &[u8]) -> argon2::Result<Secrets> {
        let [memory, passes] = [self.params.m_cost(), self.params.t_cost()].map(u64::from);
        if memory > MOST_MEMORY || memory.saturating_mul(passes) > MOST_PASSES {
            return Err(argon2::Error::OutOfMemory);
        }
        let argon2 = Argon2::new(self.algorithm, Version::V0x13, self.params.clone());
        let blocks = self.params.block_count();
        let mut memory = MEMORY.take();
        // A group that exceeds its limit is killed, so the allocator's answer is not enough.
        let missing = blocks.saturating_sub(memory.capacity()) * size_of::<Block>();
        if room().is_some_and(|room| room.left < missing as u64) {
            return Err(argon2::Error::OutOfMemory);
        }
        memory.try_reserve_exact(blocks).map_err(|_| argon2::Error::OutOfMemory)?;
        memory.resize(blocks, Block::new());
        let mut secrets = Secrets(Zeroizing::new([0; Secrets::LEN]));
        let derived =
            argon2.hash_password_into_with_memory(passphrase, &self.salt, &mut *secrets.0, &mut memory);
        wipe_vec(&mut memory);
        if memory.capacity() <= ARGON2_MEMORY as usize {
            MEMORY.set(memory);
        }
        derived.map(|()| secrets)
    }
}

/// What is derived from a passphrase: the key and the initialization vector of AES, and the key of
/// the MAC.
struct Secrets(Zeroizing<[u8; Self::LEN]>);

impl Secrets {
    const LEN: usize = AES_KEY + AES_BLOCK + MAC;

    fn cipher<C: KeyIvInit>(&self) -> C {
        let (key, rest) = self.0.split_at(AES_KEY);
        let cipher = C::new_from_slices(key, &rest[..AES_BLOCK]);
        cipher.unwrap_or_else(|_| unreachable!("the lengths are those of AES-256"))
    }

    fn mac_key(&self) -> &[u8] {
        &self.0[AES_KEY + AES_BLOCK..]
    }
}

/// Returns the value in the next line, which must have this label.
fn value<'a>(lines: &mut Lines<'a>, label: &str) -> Option<&'a str> {
    lines.next()?.strip_prefix(label)?.strip_prefix(": ")
}

/// Appends the number of lines of base64, and these lines.
fn write_base64(text: &mut String, label: &str, bytes: &[u8]) -> fmt::Result {
    // base64ct takes as long for all bytes, so its time shows nothing of a private key.
    let mut encoded = Zeroizing::new(vec![0; Base64::encoded_len(bytes)]);
    let encoded = Base64::encode(bytes, &mut encoded).map_err(|_| fmt::Error)?;
    writeln!(text, "{label}-Lines: {}", encoded.len().div_ceil(LINE))?;
    let mut rest = encoded;
    while !rest.is_empty() {
        let (line, next) = rest.split_at(rest.len().min(LINE));
        writeln!(text, "{line}")?;
        rest = next;
    }
    Ok(())
}

/// Reads the number of lines of base64, and these lines. Returns `None` unless they encode `len`
/// bytes.
fn read_base64(lines: &mut Lines, label: &str, len: usize) -> Option<Zeroizing<Vec<u8>>> {
    let characters = len.div_ceil(3) * 4;
    let count: usize = value(lines, &format!("{label}-Lines"))?.parse().ok()?;
    let mut encoded = Zeroizing::new(String::with_capacity(characters));
    for _ in 0..count {
        let line = lines.next()?;
        if encoded.len() + line.len() > characters {
            return None;
        }
        encoded.push_str(line);
    }
    let mut bytes = Zeroizing::new(vec![0; len]);
    let decoded = Base64::decode(encoded.as_bytes(), &mut bytes).ok()?.len();
    (decoded == len).then_some(bytes)
}

/// Returns two lower-case hexadecimal digits for each byte.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the bytes of hexadecimal digits.
fn unhex(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = digits.as_bytes().as_chunks();
    let bytes = pairs.iter().map(|[high, low]| Some(digit(high)? << 4 | digit(low)?));
    rest.is_empty().then(|| bytes.collect())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::ARGON2_PASSES;
    use ed25519_batch::rfc8032_vectors;

    /// The lines of the first key of RFC 8032, section 7.1, as PuTTYgen 0.78 writes them.
    const PUBLIC: &str = "Public-Lines: 2\n\
        AAAAC3NzaC1lZDI1NTE5AAAAINdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3\nB1Ea\n";
    const PLAIN: &str = "Private-Lines: 1\nAAAAIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n";

    /// Encrypted files of PuTTYgen 0.78 with that key. The passphrase is `secret`.
    const ENCRYPTED_FILES: [(&str, [&str; 7]); 3] = [
        (
            "me",
            [
                "Argon2id",
                "64",
                "2",
                "1",
                "625ab912e39403c4fd8c1e04e442a4a8",
                "xfWnM+m+OpXV5cTXMnqbKlJFFxqj/QDRW84DxEB6x4j1tX6b4xwpG00SpNUX8miv",
                "d351ed0518ac205c0484122b20a793a5b8f30d015af9ba1999b2f923edfeb3a8",
            ],
        ),
        (
            "me",
            [
                "Argon2i",
                "64",
                "3",
                "2",
                "b6b68175ae641b924e36da55f80bb57f",
                "ffmSNnXW48u+Cios3UnKTIJ+6G49T4PepxBWo4HwZlGeYAs4RLKp6KkkXy2oTBiO",
                "468d19c5844fe0dd4295b186ad1831123996f4b3d93152d09312668d518878a7",
            ],
        ),
        (
            "",
            [
                "Argon2d",
                "64",
                "1",
                "1",
                "f9dd0026aadb5f9a7a32b4601c860341",
                "g3hnwuVyXv0mxkwvuY79wVeAAAxNpI7qEBW+mWa+P6O9/fNXyJ4xuPrxWUB2PDar",
                "38ab4b351aa387dfd8f32ee54b9bd7bb1f72e40929c74a970115f8f24cf5cf76",
            ],
        ),
    ];

    fn seed() -> Seed {
        Seed::new(rfc8032_vectors::pairs()[0].0)
    }

    /// Returns the text of a file in the clear.
    fn clear_text(comment: &str, mac: &str) -> String {
        format!(
            "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: {comment}\n\
             {PUBLIC}{PLAIN}Private-MAC: {mac}\n"
        )
    }

    fn encrypted_text(
        (comment, [variant, memory, passes, parallelism, salt, private, mac]): (&str, [&str; 7]),
    ) -> String {
        format!(
            "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: aes256-cbc\nComment: {comment}\n{PUBLIC}\
             Key-Derivation: {variant}\nArgon2-Memory: {memory}\nArgon2-Passes: {passes}\n\
             Argon2-Parallelism: {parallelism}\nArgon2-Salt: {salt}\n\
             Private-Lines: 1\n{private}\nPrivate-MAC: {mac}\n"
        )
    }

    /// Returns whether the passphrase opens a file with the seed above.
    fn opens(file: &KeyFile, passphrase: &str) -> bool {
        let opened = file.open(passphrase.as_bytes()).unwrap();
        assert!(opened.as_ref().is_none_or(|opened| opened.bytes() == seed().bytes()));
        opened.is_some()
    }

    #[test]
    fn a_file_in_the_clear_is_that_of_puttygen() {
        for (comment, mac) in [
            ("x y", "4baf5cbe752f93353243dff21f9c00fd311434ac8a761cb508872a76443cf0e3"),
            ("two  words, größer", "7903d281f7c3689d34b9ef717ca8101acde2e7c256838c6771eb3eba540878c6"),
        ] {
            let text = clear_text(comment, mac);
            assert_eq!(*KeyFile::clear(&seed(), comment).text(), text);
            // On Windows PuTTYgen ends lines as usual there.
            for text in [text.clone(), text.replace('\n', "\r\n")] {
                let file = KeyFile::read(&text).unwrap();
                assert!(!file.is_encrypted() && opens(&file, ""));
                assert_eq!((file.public_key, file.comment.as_str()), (seed().public_key(), comment));
            }
        }
    }

    #[test]
    fn encrypted_files_of_puttygen_open_with_their_passphrase_alone() {
        for parts in ENCRYPTED_FILES {
            let text = encrypted_text(parts);
            let file = KeyFile::read(&text).unwrap();
            assert_eq!((file.public_key, file.comment.as_str()), (seed().public_key(), parts.0));
            assert!(file.is_encrypted() && opens(&file, "secret"));
            assert!(!opens(&file, "") && !opens(&file, "Secret"));
            assert_eq!(*file.text(), text);
        }
    }

    #[test]
    fn a_new_encrypted_file_opens_again() {
        let seed = seed();
        let file = KeyFile::encrypted(&seed, "me", b"secret", &[7; 16], [9; PADDING], ARGON2_PASSES).unwrap();
        let text = file.text();
        assert!(text.capacity() >= LONGEST && text.len() < LONGEST, "the text has moved");
        let middle = "\nKey-Derivation: Argon2id\nArgon2-Memory: 8192\nArgon2-Passes: 32\n\
                      Argon2-Parallelism: 1\nArgon2-Salt: 07070707070707070707070707070707\n";
        assert!(text.contains(middle), "{}", *text);
        let read = KeyFile::read(&text).unwrap();
        assert!(opens(&read, "secret") && !opens(&read, "wrong"));
    }

    #[test]
    fn a_damaged_file_is_not_read_or_not_opened() {
        let mac = "4baf5cbe752f93353243dff21f9c00fd311434ac8a761cb508872a76443cf0e3";
        for (text, passphrase) in
            [(clear_text("x y", mac), ""), (encrypted_text(ENCRYPTED_FILES[0]), "secret")]
        {
            // Without its last line end a file is whole.
            let harmless = |at: usize| text.len() - at == 1;
            for at in 0..text.len() {
                let whole = |text: &str| KeyFile::read(text).is_some_and(|file| opens(&file, passphrase));
                assert!(!whole(&text[..at]) || harmless(at), "{}", &text[..at]);
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1;
                let changed = String::from_utf8(bytes).unwrap();
                assert!(!whole(&changed), "{changed}");
            }
            assert!(KeyFile::read(&(text.clone() + "x")).is_none());
            for (part, other) in [
                ("File-3", "File-2"),
                ("ssh-ed25519", "ssh-ed448"),
                ("Comment: ", "Comment:"),
                ("Public-Lines: 2", "Public-Lines: 99999999999999999999"),
                ("Public-Lines: 2", "Public-Lines: 3"),
                ("Private-Lines: 1", "Private-Lines: 0"),
                ("Argon2-Passes: 2", "Argon2-Passes: 0"),
                ("Argon2id", "argon2id"),
                ("Private-MAC: ", "Private-MAC: 0"),
            ] {
                let changed = text.replacen(part, other, 1);
                assert!(changed == text || KeyFile::read(&changed).is_none(), "{changed}");
            }
        }
    }
}
