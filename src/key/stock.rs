//! What a directory of key pairs holds.
//!
//! A file under its final name is whole, however its process ended. Only its other half can be missing: the public file,
//! which gets its name second, and which is made again here.

use std::path::Path;
use std::{fs, io};

use pkcs8::{PrivateKeyInfoRef, SecretDocument};

use super::encode::{OCTET_STRING_32, PRIVATE_KEY};
use super::file::{Access, read_key_file, write_new};
use super::name::{digits, file_name, public_file};
use super::{Format, PublicKey, Seed};

/// A key pair in a directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredPair {
    /// The name of the private file.
    pub name: String,
    /// The public key.
    pub public_key: PublicKey,
    /// The public line, without a line end.
    pub line: String,
}

impl StoredPair {
    /// The names of the files in `directory` that are named as private files are.
    ///
    /// # Errors
    ///
    /// What the operating system answers.
    pub fn names(directory: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(directory)? {
            // A name that is no text is none of ours.
            names.extend(entry?.file_name().into_string().ok().filter(|name| digits(name).is_some()));
        }
        Ok(names)
    }

    /// The pair whose private file is `name`. If its public file is missing, that is made: with the comment in the private
    /// file, or else with that one. `None` if the files are no pair, or not the one of that name.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or the public file cannot be written.
    pub fn open(directory: &Path, name: &str, comment: &str) -> io::Result<Option<Self>> {
        let private_file = directory.join(name);
        let public_file = public_file(&private_file);
        let Ok(private) = read_key_file(&private_file) else { return Ok(None) };
        let Some(private) = Private::read(&private) else { return Ok(None) };
        let line = match read_key_file(&public_file) {
            Ok(text) => String::from_utf8_lossy(&text).trim_end().to_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let Private::Key(public_key, kept) = &private else { return Ok(None) };
                let line = public_key.line(kept.as_deref().unwrap_or(comment));
                write_new(&public_file, Access::Everyone, format!("{line}\n").as_bytes())
                    .map_err(io::Error::other)?;
                line
            }
            Err(_) => return Ok(None),
        };
        let public_key = PublicKey::of_line(&line).filter(|public_key| {
            let is_its = !matches!(&private, Private::Key(key, _) if key != public_key);
            is_its
                && digits(name)
                    .is_some_and(|digits| file_name("", public_key, Format::Openssh).ends_with(digits))
        });
        Ok(public_key.map(|public_key| Self { name: name.to_owned(), public_key, line }))
    }

    /// Whether the files would have these names if they had been kept with this label.
    #[must_use]
    pub fn is_named_after(&self, label: &str) -> bool {
        let names = [Format::Openssh, Format::Pkcs8].map(|format| file_name(label, &self.public_key, format));
        names.contains(&self.name)
    }
}

impl PublicKey {
    /// The key of a public line, whatever its comment.
    fn of_line(line: &str) -> Option<Self> {
        let key = ssh_key::PublicKey::from_openssh(line).ok()?;
        key.key_data().ed25519().map(|key| Self(key.0))
    }
}

/// What a private file tells without a passphrase.
enum Private {
    /// Its public key, and the comment, if it shows one.
    Key(PublicKey, Option<String>),
    /// Nothing: it is encrypted as a whole.
    Encrypted,
}

impl Private {
    fn read(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        if text.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----\n") {
            return Some(Self::Encrypted);
        }
        if let Ok(key) = ssh_key::PrivateKey::from_openssh(text) {
            return Some(match key.key_data().ed25519() {
                Some(pair) => {
                    let comment = key.comment().as_str_lossy().to_owned();
                    Self::Key(Seed::new(pair.private.to_bytes()).public_key(), Some(comment))
                }
                // Encrypted, it still shows its public key.
                None => Self::Key(PublicKey(key.public_key().key_data().ed25519()?.0), None),
            });
        }
        let (label, document) = SecretDocument::from_pem(text).ok()?;
        let info = PrivateKeyInfoRef::try_from(document.as_bytes()).ok()?;
        let seed = info.private_key.as_bytes().strip_prefix(&OCTET_STRING_32)?;
        let public_key = Seed::new(seed.try_into().ok()?).public_key();
        (label == PRIVATE_KEY).then_some(Self::Key(public_key, None))
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::super::Destination;
    use super::*;

    #[test]
    fn what_was_kept_is_found_again() {
        let directory = TempDir::new().unwrap();
        let destination = Destination::Directory(directory.path().to_owned());
        for (byte, format, comment) in
            [(1, Format::Openssh, "me"), (2, Format::Pkcs8, "me"), (3, Format::Openssh, "")]
        {
            let seed = Seed::new([byte; 32]);
            let public_key = seed.public_key();
            let text = seed.private_text(format, comment, None).unwrap();
            let kept = destination.keep(&seed, &public_key, "a/b", comment, Some(format), &text);
            let kept = kept.unwrap().unwrap();
            let name = kept.private_file.file_name().unwrap().to_str().unwrap();
            assert!(StoredPair::names(directory.path()).unwrap().iter().any(|found| found == name));

            let pair = StoredPair { name: name.to_owned(), public_key, line: public_key.line(comment) };
            let open = |other| StoredPair::open(directory.path(), name, other).unwrap();
            assert_eq!(open("other"), Some(pair.clone()));
            assert!(pair.is_named_after("a/b") && pair.is_named_after("a+b"));
            assert!(!pair.is_named_after("ab") && !pair.is_named_after(""));

            // The public file is made again from the private one; PKCS#8 holds no comment.
            fs::remove_file(&kept.public_file).unwrap();
            let again = if format == Format::Pkcs8 { public_key.line("other") } else { pair.line };
            assert_eq!(open("other").unwrap().line, again);
            assert_eq!(fs::read_to_string(&kept.public_file).unwrap(), again + "\n");
        }
        assert_eq!(StoredPair::names(directory.path()).unwrap().len(), 3);
    }

    #[test]
    fn what_is_no_pair_is_not_taken_for_one() {
        let directory = TempDir::new().unwrap();
        let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
        let seed = Seed::new([7; 32]);
        let (text, line) =
            (seed.private_text(Format::Openssh, "me", None).unwrap(), seed.public_key().line("me"));
        let other = Seed::new([8; 32]).public_key().line("me");
        let name = file_name("x", &seed.public_key(), Format::Openssh);
        let wrong = format!("x-{}", "0".repeat(16));
        for (name, private, public) in [
            (&name, "", &line),
            (&name, "nonsense", &line),
            (&name, &text, &other),
            (&name, &text, &String::new()),
            (&wrong, &text, &line),
        ] {
            write(name, private);
            write(&format!("{name}.pub"), public);
            assert_eq!(StoredPair::open(directory.path(), name, "").unwrap(), None, "{private} {public}");
        }
        write("notes", "");
        write(".vanity-ed25519-aB3xyz.tmp", "");
        assert_eq!(StoredPair::names(directory.path()).unwrap().len(), 2);
    }
}
