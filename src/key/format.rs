//! The two forms of a private key file.

use std::path::Path;

/// A form of the private key file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Format {
    /// PKCS#8 version 1 in PEM (RFC 8410). Every OpenSSL reads it, and OpenSSH from version 9.8 on.
    Pkcs8,
    /// The OpenSSH format, which also holds the comment. Every OpenSSH reads it.
    Openssh,
}

impl Format {
    /// Returns the form that a file of this name is expected to hold: PKCS#8 for `*.pem`, otherwise
    /// OpenSSH's.
    #[must_use]
    pub fn of_file_name(path: &Path) -> Self {
        match path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case("pem") => Self::Pkcs8,
            _ => Self::Openssh,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_gives_its_form() {
        for (name, format) in [
            ("key.pem", Format::Pkcs8),
            ("a/B.PEM", Format::Pkcs8),
            ("id_ed25519", Format::Openssh),
            ("key.pem.bak", Format::Openssh),
            ("a.pem/key", Format::Openssh),
            (".pem", Format::Openssh),
        ] {
            assert_eq!(Format::of_file_name(Path::new(name)), format, "{name}");
        }
    }
}
