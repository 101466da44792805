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
    name + ending(format)
}

fn ending(format: Format) -> &'static str {
    match format {
        Format::Pkcs8 => ".pem",
        Format::Ppk => ".ppk",
        Format::Openssh => "",
    }
}

/// Returns the bytes of the longest name of a private file with one of these labels.
pub fn longest_name<'a>(labels: impl Iterator<Item = &'a str>, format: Format) -> usize {
    let label = labels.map(|label| file_label(label).len()).max().unwrap_or_default();
    label + "-".len() + 2 * HASHED + ending(format).len()
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

/// Whether this is a name of a private file of this key, whatever its label and its form.
#[must_use]
pub fn is_name_of(name: &str, public: &PublicKey) -> bool {
    let own_name = file_name("", public, Format::Openssh);
    parts_of_name(name).is_some_and(|(_, digits)| own_name.ends_with(digits))
}

/// Returns the name of the public file: that of the private file, with `.pub` added.
pub(super) fn public_file(private_file: &Path) -> PathBuf {
    let mut name = OsString::from(private_file);
    name.push(".pub");
    name.into()
}

/// The names that Windows gives to devices, also with any extension. COM and LPT have a digit.
const DEVICES: [&str; 8] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "COM", "LPT"];

/// Whether a file of Windows can have this name. With `:` it would be a part of another file, with
/// a dot or a space at its end the file would have another name, and a device would take the key.
pub(super) fn is_windows_name(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_uppercase();
    let is_device = DEVICES.iter().any(|device| {
        let rest = stem.strip_prefix(device);
        rest.is_some_and(|rest| match *device {
            "COM" | "LPT" => matches!(rest.chars().collect::<Vec<_>>()[..], ['0'..='9' | '¹' | '²' | '³']),
            _ => rest.is_empty(),
        })
    });
    !is_device && !name.ends_with(['.', ' ']) && !name.contains(|c| c < ' ' || "<>:\"|?*".contains(c))
}

/// Whether every file system takes this name, unless it is too long.
pub(super) fn is_ordinary_name(name: &str) -> bool {
    let is_ordinary = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    name.chars().all(is_ordinary) && is_windows_name(name)
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
                assert!(is_ordinary_name(&name) && is_name_of(&name, &public));
                assert_eq!(
                    longest_name(["", label].into_iter(), format),
                    name.len().max(longest_name([""].into_iter(), format))
                );
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
    fn windows_keeps_some_names_for_devices() {
        for name in
            ["key", "id_ed25519.pem", "größe ☃ 鍵", ".hidden", "a.b", "console", "com", "lpt10", "nul_"]
        {
            assert!(is_windows_name(name), "{name}");
        }
        for name in [
            "nul",
            "NUL.pem",
            "con",
            "Aux.tar.gz",
            "com1",
            "LPT9.x",
            "com¹",
            "nul .x",
            "conout$",
            "key:stream",
            "a?",
            "a*b",
            "a|b",
            "<a",
            "a\"b",
            "a\tb",
            "key.",
            "key ",
        ] {
            assert!(!is_windows_name(name), "{name}");
        }
    }

    #[test]
    fn a_bare_name_is_in_the_working_directory() {
        assert_eq!(parent(Path::new("key")), Path::new("."));
        assert_eq!(parent(Path::new("a/key")), Path::new("a"));
        assert_eq!(parent(Path::new("/key")), Path::new("/"));
    }
}
