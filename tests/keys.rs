//! Key files made by the library, read by real `ssh-keygen` and `openssl`.

#![allow(clippy::unwrap_used, reason = "a test")]

mod require;

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use vanity_ed25519::key::{Destination, Format, Kept, PublicKey, Seed};

/// Random keys for each form and tool.
const KEYS: usize = 50;

/// Comments of every kind, each met by some of the keys.
const COMMENTS: [&str; 4] = ["", "me@here", "several words, \"quoted\"", "größer ☃"];

/// A random key pair in files of its own, with a comment.
fn random_key(directory: &Path, i: usize, format: Format) -> (PublicKey, &'static str, Kept) {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).unwrap();
    let seed = Seed::new(bytes);
    let public = seed.public_key();
    let comment = COMMENTS[i % COMMENTS.len()];
    let destination = Destination::File(directory.join(format!("key_{i}")));
    destination.prepare().unwrap();
    let text = seed.private_text(format, comment, None).unwrap();
    let kept = destination.keep(&seed, &public, "label", comment, Some(format), &text).unwrap().unwrap();
    (public, comment, kept)
}

/// What a command that must succeed prints.
fn output(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn ssh_keygen_reads_the_openssh_form() {
    let Some(ssh_keygen) = require::tool("ssh-keygen") else { return };
    let directory = TempDir::new().unwrap();
    for i in 0..KEYS {
        let (public, comment, kept) = random_key(directory.path(), i, Format::Openssh);
        let line = output(Command::new(&ssh_keygen).arg("-y").arg("-f").arg(&kept.private_file));
        assert_eq!(String::from_utf8(line).unwrap(), public.line(comment) + "\n");
    }
}

#[test]
fn ssh_keygen_shows_our_fingerprint() {
    let Some(ssh_keygen) = require::tool("ssh-keygen") else { return };
    let directory = TempDir::new().unwrap();
    for i in 0..KEYS {
        let (public, _, kept) = random_key(directory.path(), i, Format::Openssh);
        // Of the public file, and then of the private file alone.
        for _ in 0..2 {
            let shown = output(Command::new(&ssh_keygen).arg("-lf").arg(&kept.private_file));
            let shown = String::from_utf8_lossy(&shown);
            let fields: Vec<_> = shown.split_whitespace().collect();
            assert_eq!(fields[..2], ["256", public.fingerprint().as_str()]);
            assert_eq!(fields.last(), Some(&"(ED25519)"));
            let _ = std::fs::remove_file(&kept.public_file);
        }
    }
}

#[test]
fn openssl_reads_pkcs8() {
    let Some(openssl) = require::tool("openssl") else { return };
    let directory = TempDir::new().unwrap();
    for i in 0..KEYS {
        let (public, _, kept) = random_key(directory.path(), i, Format::Pkcs8);
        let pkey = || {
            let mut command = Command::new(&openssl);
            command.arg("pkey").arg("-in").arg(&kept.private_file);
            command
        };
        assert_eq!(output(pkey().arg("-noout")), b"");
        // A SubjectPublicKeyInfo ends with the key.
        let info = output(pkey().args(["-pubout", "-outform", "DER"]));
        assert!(info.ends_with(&public.0));
    }
}
