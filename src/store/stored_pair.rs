//! Opens the key pairs of a directory.
//!
//! A name proves nothing, so the public key comes from the private file. With the passphrase an
//! encrypted file is opened, too. Without it the OpenSSH format and PuTTY's show their public key, and
//! PKCS#8 shows nothing.
//!
//! If a process was killed, only the public file of a pair can be missing, because it gets its name
//! second.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use zeroize::Zeroizing;

use super::error::StoreError;
use super::name::{file_name, is_name_of, parts_of_name, public_file};
use super::new_file::{Access, write_new};
use crate::key::{DecodeError, Format, Passphrase, PrivateText, PublicKey, Storage};
use crate::sys::{ForeignAccess, SecretFile};

/// The size of the largest key file, in bytes. A comment cannot be longer than an argument.
const LARGEST: u64 = 1 << 20;

/// A key pair in a directory. Its private file was opened, and its public file, if it exists,
/// belongs to that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredPair {
    pub name: String,
    pub public_key: PublicKey,
    pub storage: Storage,
    /// The comment in the private file, if the file shows one.
    pub comment: Option<String>,
    /// The public line without a line ending, or `None` if the public file is missing.
    pub line: Option<String>,
}

/// Why a pair does not count whose key is not the one in its name or in the ledger.
pub const OTHER_KEY: &str = "it contains another key";

/// Why a pair does not count whose public file does not hold the public key.
const PUBLIC_FILE: &str =
    "its public file does not contain its public key; remove the public file, and it counts again";

impl StoredPair {
    /// Returns the names in `directory` that have the form of this program's private files.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn names(directory: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(directory)? {
            // This program never makes a name that is not text.
            names.extend(entry?.file_name().into_string().ok().filter(|name| parts_of_name(name).is_some()));
        }
        Ok(names)
    }

    /// Opens the pair whose private file is `name`. With `allow_exposed`, users other than the owner
    /// may have access to it.
    ///
    /// # Errors
    ///
    /// Returns the first reason why the files are not a key pair that counts.
    pub fn open(
        directory: &Path,
        name: &str,
        passphrase: Option<&Passphrase>,
        allow_exposed: bool,
    ) -> Result<Self, String> {
        let private_file = directory.join(name);
        let (content, others) = read_key_file(&private_file).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => "it is a broken link".to_owned(),
            _ => error.to_string(),
        })?;
        if content.is_empty() {
            return Err("it is empty".to_owned());
        }
        if let Some(others) = others.filter(|_| !allow_exposed) {
            let remedy = others.remedy();
            return Err(format!("other users can access it ({others}); {remedy}, and it counts again"));
        }
        let private = PrivateText::read(&content, passphrase).map_err(|error| match error {
            DecodeError::NotAKey => "it is not a complete Ed25519 private key",
            DecodeError::WrongPassphrase => "the passphrase does not open it",
            DecodeError::TooCostly => "it would take too much time or memory to open it",
        })?;
        let line = match read_key_file(&public_file(&private_file)) {
            Ok((content, _)) => Some(String::from_utf8_lossy(&content).trim_end().to_owned()),
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && !is_link(&public_file(&private_file)) =>
            {
                None
            }
            Err(_) => return Err(PUBLIC_FILE.to_owned()),
        };
        if private.storage == Storage::Unopened
            && (line.is_none() || Format::of_file_name(&private_file) != Format::Pkcs8)
        {
            // Nothing shows the public key: its name is not that of a PKCS#8 file, or its public file is missing.
            return Err("its key is not known without the passphrase".to_owned());
        }
        let of_line = line.as_deref().map(|line| PublicKey::of_line(line).ok_or(PUBLIC_FILE)).transpose()?;
        let public_key = private.public_key.or(of_line).ok_or(PUBLIC_FILE)?;
        if !is_name_of(name, &public_key) {
            return Err(OTHER_KEY.to_owned());
        }
        if of_line.is_some_and(|of_line| of_line != public_key) {
            return Err(PUBLIC_FILE.to_owned());
        }
        let PrivateText { storage, comment, .. } = private;
        Ok(Self { name: name.to_owned(), public_key, storage, comment, line })
    }

    /// Whether files kept with this label would have these names.
    #[must_use]
    pub fn is_named_after(&self, label: &str) -> bool {
        let names = [Format::Openssh, Format::Pkcs8, Format::Ppk]
            .map(|format| file_name(label, &self.public_key, format));
        names.contains(&self.name)
    }

    /// Returns the public line. Writes the public file first if it is missing, with the comment in
    /// the private file, or else with `comment`.
    ///
    /// # Errors
    ///
    /// Returns an error if the public file cannot be written.
    pub fn public_line(&self, directory: &Path, comment: &str) -> Result<String, StoreError> {
        if let Some(line) = &self.line {
            return Ok(line.clone());
        }
        let line = self.public_key.line(self.comment.as_deref().unwrap_or(comment));
        let path = public_file(&directory.join(&self.name));
        match write_new(&path, Access::Everyone, format!("{line}\n").as_bytes()) {
            // Another process has just made it.
            Err(StoreError::Exists(_)) => {
                public_line_in(&path, &self.public_key).ok_or(StoreError::Exists(path))
            }
            written => written.map(|()| line),
        }
    }
}

/// Returns the line in a public file, if it is that of this key.
pub(super) fn public_line_in(path: &Path, public_key: &PublicKey) -> Option<String> {
    let (content, _) = read_key_file(path).ok()?;
    let line = String::from_utf8_lossy(&content).trim_end().to_owned();
    (PublicKey::of_line(&line)? == *public_key).then_some(line)
}

/// Reads a key file. Also returns the other users who can access it, if there are any. A directory of keys can contain other things with such a name. So this
/// function does not wait for a pipe, and does not read a device or a file that is too large.
///
/// # Errors
///
/// Returns the error of the operating system, or [`io::ErrorKind::InvalidData`] with the reason why
/// it is not a key file.
fn read_key_file(path: &Path) -> io::Result<(Zeroizing<Vec<u8>>, Option<ForeignAccess>)> {
    let SecretFile { file, metadata, others } = SecretFile::open(path, false)?;
    let other = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    let Some(found) = metadata else { return other("it is not a regular file") };
    match () {
        () if found.is_dir() => return other("it is a directory"),
        () if !found.is_file() => return other("it is not a regular file"),
        () if found.len() > LARGEST => return other("it is too large for a key"),
        () => {}
    }
    // The extra byte keeps the read from growing the buffer, which would leave a copy elsewhere.
    let mut content = Zeroizing::new(Vec::with_capacity(found.len() as usize + 1));
    file.take(found.len()).read_to_end(&mut content)?;
    Ok((content, others))
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use tempfile::TempDir;

    use super::super::destination::Destination;
    use super::super::group::NewPair;
    use super::*;
    use crate::key::{Cipher, Protection, Seed};

    fn passphrase(text: &str) -> Passphrase {
        Passphrase::new(Zeroizing::new(text.into())).unwrap()
    }

    fn protection() -> Protection {
        Protection { passphrase: passphrase("secret"), cipher: Cipher::default(), rounds: NonZeroU32::MIN }
    }

    /// Keeps the key of the seed of this byte, and returns the name of its private file.
    fn keep(directory: &TempDir, byte: u8, format: Format, protection: Option<&Protection>) -> String {
        let seed = Seed::new([byte; 32]);
        let text = seed.private_text(format, "me", protection).unwrap();
        let destination = Destination::Directory(directory.path().to_owned());
        let public_key = &seed.public_key();
        let pair =
            NewPair { seed: &seed, public_key, label: "a/b", comment: "me", format, private_text: &text };
        let kept = destination.keep(&[pair], false, || ()).remove(0).unwrap();
        kept.private_file.file_name().unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn kept_pairs_are_found_again() {
        let directory = TempDir::new().unwrap();
        let protection = protection();
        let secret = &protection.passphrase;
        for (byte, format, encrypted, known, storage, comment) in [
            (1, Format::Openssh, false, None, Storage::Clear, Some("me")),
            (2, Format::Pkcs8, false, None, Storage::Clear, None),
            (3, Format::Openssh, true, None, Storage::Encrypted, None),
            (4, Format::Openssh, true, Some(secret), Storage::Encrypted, Some("me")),
            (5, Format::Pkcs8, true, Some(secret), Storage::Encrypted, None),
            (6, Format::Pkcs8, true, None, Storage::Unopened, None),
            (7, Format::Ppk, false, None, Storage::Clear, Some("me")),
            (8, Format::Ppk, true, None, Storage::Encrypted, Some("me")),
            (9, Format::Ppk, true, Some(secret), Storage::Encrypted, Some("me")),
        ] {
            let name = keep(&directory, byte, format, encrypted.then_some(&protection));
            assert!(StoredPair::names(directory.path()).unwrap().contains(&name));
            let public_key = Seed::new([byte; 32]).public_key();
            let again = comment.unwrap_or("other");
            let comment = comment.map(str::to_owned);
            let pair = StoredPair {
                name: name.clone(),
                public_key,
                storage,
                comment,
                line: Some(public_key.line("me")),
            };
            let open = || StoredPair::open(directory.path(), &name, known, false);
            assert_eq!(open().unwrap(), pair);
            assert!(pair.is_named_after("a/b") && pair.is_named_after("a+b"));
            assert!(!pair.is_named_after("ab") && !pair.is_named_after(""));

            let public = public_file(&directory.path().join(&name));
            fs::remove_file(&public).unwrap();
            if storage == Storage::Unopened {
                assert_eq!(open().unwrap_err(), "its key is not known without the passphrase");
                continue;
            }
            let opened = open().unwrap();
            assert_eq!(opened.line, None);
            assert_eq!(opened.public_line(directory.path(), "other").unwrap(), public_key.line(again));
            assert_eq!(fs::read_to_string(&public).unwrap(), public_key.line(again) + "\n");
        }
        assert_eq!(StoredPair::names(directory.path()).unwrap().len(), 9);
    }

    /// Returns the flaw of a pair after `harm`.
    #[cfg(unix)]
    fn flaw(byte: u8, format: Format, harm: impl FnOnce(&TempDir, &Path)) -> String {
        let directory = TempDir::new().unwrap();
        let protection = (format == Format::Pkcs8).then(protection);
        let name = keep(&directory, byte, format, protection.as_ref());
        harm(&directory, &directory.path().join(&name));
        let wrong = passphrase("wrong");
        StoredPair::open(directory.path(), &name, Some(&wrong), false).unwrap_err()
    }

    /// One changed character, wherever it is, is found with the passphrase, and costs no century.
    #[test]
    fn a_damaged_encrypted_key_does_not_open() {
        let protection = protection();
        for (byte, format, step) in [(1, Format::Openssh, 7), (2, Format::Ppk, 97)] {
            let directory = TempDir::new().unwrap();
            let name = keep(&directory, byte, format, Some(&protection));
            let path = directory.path().join(&name);
            let text = fs::read_to_string(&path).unwrap();
            let open = || StoredPair::open(directory.path(), &name, Some(&protection.passphrase), false);
            assert!(open().is_ok());
            let first = text.find('\n').unwrap() + 1;
            for at in (first..text.len() - 40).step_by(step) {
                let mut changed = text.clone().into_bytes();
                changed[at] = if changed[at] == b'2' { b'3' } else { b'2' };
                fs::write(&path, &changed).unwrap();
                // Nothing protects the comment in the OpenSSH format.
                let is_whole = open().is_ok_and(|pair| pair.comment.as_deref() == Some("me"));
                assert!(!is_whole, "{format:?}: {}", String::from_utf8(changed).unwrap());
            }
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_damaged_pair_is_reported_by_its_flaw() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let write = |text: &'static str| move |_: &TempDir, path: &Path| fs::write(path, text).unwrap();
        let replace = |path: &Path, with: &dyn Fn(&Path)| {
            fs::remove_file(path).unwrap();
            with(path);
        };
        let openssh = Format::Openssh;
        assert_eq!(flaw(1, openssh, write("")), "it is empty");
        assert_eq!(flaw(1, openssh, write("nonsense")), "it is not a complete Ed25519 private key");
        let truncate = |_: &TempDir, path: &Path| {
            fs::File::options().write(true).open(path).unwrap().set_len(300).unwrap();
        };
        assert_eq!(flaw(1, openssh, truncate), "it is not a complete Ed25519 private key");
        assert_eq!(flaw(1, Format::Pkcs8, truncate), "it is not a complete Ed25519 private key");
        assert_eq!(flaw(1, Format::Pkcs8, |_, _| ()), "the passphrase does not open it");
        let dangling = |_: &TempDir, path: &Path| replace(path, &|path| symlink("nowhere", path).unwrap());
        assert_eq!(flaw(1, openssh, dangling), "it is a broken link");
        let directory = |_: &TempDir, path: &Path| replace(path, &|path| fs::create_dir(path).unwrap());
        assert_eq!(flaw(1, openssh, directory), "it is a directory");
        let open =
            |_: &TempDir, path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(flaw(1, openssh, open).starts_with("other users can access it (mode 0640)"));
        let other = |directory: &TempDir, path: &Path| {
            let other = keep(directory, 2, Format::Openssh, None);
            fs::rename(directory.path().join(other), path).unwrap();
        };
        assert_eq!(flaw(1, openssh, other), "it contains another key");
        let public =
            |text: String| move |_: &TempDir, path: &Path| fs::write(public_file(path), text).unwrap();
        for text in [String::new(), "ssh-ed25519".into(), Seed::new([8; 32]).public_key().line("me")] {
            assert!(flaw(1, openssh, public(text)).starts_with("its public file does not contain"));
        }
        let dangling =
            |_: &TempDir, path: &Path| replace(&public_file(path), &|path| symlink("x", path).unwrap());
        assert!(flaw(1, openssh, dangling).starts_with("its public file does not contain"));
    }

    #[test]
    #[cfg(unix)]
    fn files_that_hold_no_key_are_not_read() {
        use std::os::unix::fs::symlink;
        use std::process::Command;
        let directory = TempDir::new().unwrap();
        let path = |name| directory.path().join(name);
        fs::write(path("key"), "secret").unwrap();
        fs::write(path("empty"), "").unwrap();
        symlink("key", path("link")).unwrap();
        let read = |name| read_key_file(&path(name)).unwrap().0;
        assert_eq!(**read("key"), *b"secret");
        assert_eq!(**read("link"), *b"secret");
        assert_eq!(**read("empty"), *b"");

        fs::File::create(path("largest")).unwrap().set_len(LARGEST).unwrap();
        assert_eq!(read("largest").len() as u64, LARGEST);

        fs::File::create(path("large")).unwrap().set_len(LARGEST + 1).unwrap();
        symlink("/dev/zero", path("endless")).unwrap();
        assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        for name in ["large", "endless", "pipe", ".", "gone"] {
            assert!(read_key_file(&path(name)).is_err(), "{name}");
        }
    }
}
