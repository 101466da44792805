//! Real `ssh-keygen` and `openssl` read key files of both forms: files of the library with comments
//! of every kind, and files of the program, whose keys must show the pattern.
//!
//! `VANITY_KEYS` sets the number of keys of each form (20 by default).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{program, require};
use program::{body, check_pair, command, names, program, public_path, succeed};
use tempfile::TempDir;
use vanity_ed25519::program::{Demands, Destination, Kept, NewPair};
use vanity_search::key::{Format, PublicKey, Seed};

/// Comments of every kind. Each is the comment of some of the keys.
const COMMENTS: [&str; 4] = ["", "me@here", "several words, \"quoted\"", "größer ☃"];

const SECRET: &str = "correct horse";

/// Returns the number of keys of each form.
fn keys() -> usize {
    std::env::var("VANITY_KEYS").map_or(20, |keys| keys.parse().unwrap())
}

/// Writes a random key pair with a comment to files of its own.
fn random_key(directory: &Path, i: usize, format: Format) -> (PublicKey, &'static str, Kept) {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).unwrap();
    let seed = Seed::new(bytes);
    let public = seed.public_key();
    let comment = COMMENTS[i % COMMENTS.len()];
    let destination = Destination::File(directory.join(format!("key_{i}")));
    destination.prepare(Demands::default()).unwrap();
    let text = seed.private_text(format, comment, None).unwrap();
    let pair =
        NewPair { seed: &seed, public_key: &public, label: "label", comment, format, private_text: &text };
    let kept = destination.keep(&[pair], false, || ()).remove(0).unwrap();
    (public, comment, kept)
}

/// Returns the public line that `ssh-keygen -y` derives from a private file.
fn reread(ssh_keygen: &Path, private: &Path, passphrase: &str) -> String {
    succeed(command(ssh_keygen).args(["-y", "-P", passphrase, "-f"]).arg(private)).stdout
}

/// Returns the fingerprint that `ssh-keygen -l` shows for a file.
fn fingerprint(ssh_keygen: &Path, file: &Path) -> String {
    let shown = succeed(command(ssh_keygen).arg("-lf").arg(file)).stdout;
    let fields: Vec<_> = shown.split_whitespace().collect();
    assert_eq!((fields[0], *fields.last().unwrap()), ("256", "(ED25519)"), "{shown}");
    fields[1].to_owned()
}

/// Returns the public key that `openssl pkey` derives from a private file.
fn openssl_key(openssl: &Path, private: &Path, passphrase: &str) -> PublicKey {
    let mut pkey = Command::new(openssl);
    let pkey = pkey.args(["pkey", "-pubout", "-outform", "DER", "-passin"]).arg(format!("pass:{passphrase}"));
    let info = pkey.arg("-in").arg(private).output().unwrap();
    assert!(info.status.success(), "{private:?}: {info:?}");
    // A SubjectPublicKeyInfo ends with the key.
    PublicKey(*info.stdout.last_chunk().unwrap())
}

#[test]
fn the_tools_read_any_key_with_any_comment() {
    let tools = ["ssh-keygen", "openssl"].map(require::tool);
    let [Some(ssh_keygen), Some(openssl)] = tools else { return };
    let directory = TempDir::new().unwrap();
    for i in 0..20 {
        let (public, comment, kept) = random_key(directory.path(), 2 * i, Format::Openssh);
        assert_eq!(reread(&ssh_keygen, &kept.private_file, ""), public.line(comment) + "\n");
        // The first time `ssh-keygen` reads the public file, the second time the private file
        // alone.
        for _ in 0..2 {
            assert_eq!(fingerprint(&ssh_keygen, &kept.private_file), public.fingerprint());
            let _ = fs::remove_file(&kept.public_file);
        }
        let (public, _, kept) = random_key(directory.path(), 2 * i + 1, Format::Pkcs8);
        assert_eq!(openssl_key(&openssl, &kept.private_file, ""), public);
    }
}

/// Makes a batch of keys that show "ab". Returns their private files, each with its public line.
fn batch(directory: &Path, options: &[&str]) -> Vec<(PathBuf, String)> {
    let count = keys().to_string();
    let mut batch = program(&["-q", "-n", &count, "ab", "-d"]);
    succeed(batch.arg(directory).args(options));
    let public: Vec<String> = names(directory).into_iter().filter(|name| name.ends_with(".pub")).collect();
    assert_eq!(public.len(), keys());
    let pair = |name: String| {
        let private = directory.join(name.strip_suffix(".pub").unwrap());
        let line = fs::read_to_string(directory.join(name)).unwrap();
        assert!(body(line.trim_end()).to_lowercase().contains("ab"), "{line}");
        (private, line)
    };
    public.into_iter().map(pair).collect()
}

#[test]
fn ssh_keygen_reads_every_key_of_a_batch() {
    let Some(ssh_keygen) = require::tool("ssh-keygen") else { return };
    let outer = TempDir::new().unwrap();
    let pairs = batch(&outer.path().join("keys"), &[]);
    for (private, line) in &pairs {
        assert_eq!(check_pair(private) + "\n", *line);
        assert_eq!(reread(&ssh_keygen, private, ""), *line);
    }
    let shown: Vec<String> =
        pairs.iter().map(|(private, _)| fingerprint(&ssh_keygen, &public_path(private))).collect();
    for ((private, _), shown) in pairs.iter().zip(shown) {
        fs::remove_file(public_path(private)).unwrap();
        assert_eq!(fingerprint(&ssh_keygen, private), shown, "{private:?}");
    }
    eprintln!("ssh-keygen read {} of {} keys", pairs.len(), keys());
}

#[test]
fn ssh_keygen_reads_every_encrypted_key_of_a_batch() {
    let Some(ssh_keygen) = require::tool("ssh-keygen") else { return };
    let outer = TempDir::new().unwrap();
    let secret = outer.path().join("secret");
    fs::write(&secret, SECRET).unwrap();
    let secret = secret.to_str().unwrap();
    for cipher in ["aes256-ctr", "aes256-gcm"] {
        let options = ["--passphrase-file", secret, "--rounds", "1", "--cipher", cipher];
        let pairs = batch(&outer.path().join(cipher), &options);
        for (private, line) in &pairs {
            assert_eq!(reread(&ssh_keygen, private, SECRET), *line);
        }
        eprintln!("ssh-keygen read {} of {} keys encrypted by {cipher}", pairs.len(), keys());
    }
}

#[test]
fn openssl_reads_every_key_of_a_batch() {
    let Some(openssl) = require::tool("openssl") else { return };
    let outer = TempDir::new().unwrap();
    let pairs = batch(&outer.path().join("keys"), &["--format", "pkcs8"]);
    for (private, line) in &pairs {
        assert_eq!(check_pair(private) + "\n", *line);
        assert_eq!(openssl_key(&openssl, private, "").line("ab") + "\n", *line);
    }
    eprintln!("openssl read {} of {} keys", pairs.len(), keys());
}
