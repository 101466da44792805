//! The forms of a private key file.

use std::path::Path;

/// A form of the private key file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// PKCS#8 version 1 in PEM (RFC 8410). Every OpenSSL reads it, and OpenSSH from version 9.8 on.
    Pkcs8,
    /// The OpenSSH format, which also holds the comment. Every OpenSSH reads it.
    Openssh,
    /// The format of PuTTY, version 3, which also holds the comment. PuTTY reads it from version
    /// 0.75 on.
    Ppk,
}

impl Format {
    /// Returns the form that a file of this name is expected to hold: PKCS#8 for `*.pem`, PuTTY's
    /// for `*.ppk`, otherwise OpenSSH's.
    #[must_use]
    pub fn of_file_name(path: &Path) -> Self {
        match path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case("pem") => Self::Pkcs8,
            Some(extension) if extension.eq_ignore_ascii_case("ppk") => Self::Ppk,
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
            ("key.ppk", Format::Ppk),
            ("a/B.PPK", Format::Ppk),
            ("id_ed25519", Format::Openssh),
            ("key.pem.bak", Format::Openssh),
            ("a.pem/key", Format::Openssh),
            (".pem", Format::Openssh),
        ] {
            assert_eq!(Format::of_file_name(Path::new(name)), format, "{name}");
        }
    }
}
