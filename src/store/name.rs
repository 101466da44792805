//! The names of key files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::key::{Format, PublicKey};
use crate::wire::BODY_LEN;

/// The most characters of a label in a file name: the length of a body.
const MAX_LABEL: usize = BODY_LEN;

/// The number of bytes of the key's SHA-256 in a name. Each has two digits.
const HASHED: usize = 8;

/// Returns the name of a private file: the safe label, and 16 hexadecimal digits of the key's
/// SHA-256.
///
/// Only letters, digits and `_` come from the label. So the name cannot leave its directory, and is
/// not an option or a hidden file. The digits distinguish names that differ only in case.
pub(super) fn file_name(label: &str, public: &PublicKey, format: Format) -> String {
    let mut name = file_label(label);
    name.push('-');
    for byte in &public.blob_hash()[..HASHED] {
        name.push_str(&format!("{byte:02x}"));
    }
    name.push_str(match format {
        Format::Pkcs8 => ".pem",
        Format::Ppk => ".ppk",
        Format::Openssh => "",
    });
    name
}

/// Returns the safe form of a label for file names.
#[must_use]
pub fn file_label(label: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let label: String = label.chars().take(MAX_LABEL).map(safe).collect();
    if label.is_empty() { "key".to_owned() } else { label }
}

/// Returns the label and the hexadecimal digits in the name of a private file. Returns `None` for
/// any other name.
#[must_use]
pub fn parts_of_name(name: &str) -> Option<(&str, &str)> {
    let stem = [".pem", ".ppk"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
    let (label, digits) = stem.rsplit_once('-')?;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (!label.is_empty() && digits.len() == 2 * HASHED && digits.bytes().all(is_digit))
        .then_some((label, digits))
}

/// Returns the name of the public file: that of the private file, with `.pub` added.
pub(super) fn public_file(private_file: &Path) -> PathBuf {
    let mut name = OsString::from(private_file);
    name.push(".pub");
    name.into()
}

/// Returns the directory of `path`: `.` for a bare name.
pub(super) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Seed;

    #[test]
    fn names_are_safe_whatever_the_label() {
        let public = Seed::new([7; 32]).public_key();
        // By openssl and sha256sum.
        let hash = "cff7d2bf46744594";
        for (label, start) in [
            ("abc", "abc"),
            ("../../x", "______x"),
            ("-rf", "_rf"),
            ("a/b+c", "a_b_c"),
            ("", "key"),
            (".", "_"),
            ("größe\0\n", "gr__e__"),
            (&"z".repeat(500), &"z".repeat(43)),
        ] {
            for (format, end) in [(Format::Openssh, ""), (Format::Pkcs8, ".pem"), (Format::Ppk, ".ppk")] {
                let name = file_name(label, &public, format);
                assert_eq!(name, format!("{start}-{hash}{end}"));
                assert_eq!(parts_of_name(&name), Some((start, hash)));
            }
        }
        let other = Seed::new([8; 32]).public_key();
        let [lower, upper] = [("abc", &public), ("ABC", &other)]
            .map(|(label, public)| file_name(label, public, Format::Openssh).to_lowercase());
        assert_ne!(lower, upper);
        for other in [
            "abc",
            "-cff7d2bf46744594",
            "a-cff7d2bf4674459",
            "a-CFF7D2BF46744594",
            "a-cff7d2bf46744594.pub",
            "a-cff7d2bf46744594.ppk.pem",
        ] {
            assert_eq!(parts_of_name(other), None, "{other}");
        }
    }

    #[test]
    fn a_bare_name_is_in_the_working_directory() {
        assert_eq!(parent(Path::new("key")), Path::new("."));
        assert_eq!(parent(Path::new("a/key")), Path::new("a"));
        assert_eq!(parent(Path::new("/key")), Path::new("/"));
    }
}
