//! Real `openssl`, `ssh-keygen`, `ssh` and `sshd` use the keys that the program finds.

#![cfg(unix)]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{program, require, sshd};
use program::{Ran, mode, program, succeed};
use sshd::Server;
use tempfile::TempDir;
use vanity_search::key::PublicKey;

/// Returns the first word of `text` that begins with `start`.
fn word<'a>(text: &'a str, start: &str) -> &'a str {
    let found = text.split_whitespace().find(|word| word.starts_with(start));
    found.unwrap_or_else(|| panic!("no {start} in:\n{text}"))
}

/// A key found by the program, in two files.
struct Found {
    private: PathBuf,
    public: PathBuf,
    stdout: String,
    stderr: String,
}

fn find(directory: &Path) -> Found {
    let private = directory.join("id_x");
    let Ran { stdout, stderr, .. } = succeed(program(&["abc", "-o"]).arg(&private));
    Found { private, public: directory.join("id_x.pub"), stdout, stderr }
}

#[test]
fn stdout_is_a_clean_file_for_openssl() {
    let Some(openssl) = require::tool("openssl") else { return };
    let directory = TempDir::new().unwrap();
    let pem = directory.path().join("key.pem");
    let Ran { stderr, .. } = succeed(program(&["ab"]).stdout(File::create(&pem).unwrap()));

    let content = fs::read_to_string(&pem).unwrap();
    assert!(content.starts_with("-----BEGIN PRIVATE KEY-----\n"));
    assert!(content.ends_with("\n-----END PRIVATE KEY-----\n"));
    assert_eq!(content.lines().count(), 3);
    assert!(!stderr.contains("PRIVATE KEY"));
    let is_exposed = stderr.contains("warning: others can read the file that stdout goes to");
    assert_eq!(is_exposed, program::mode(&pem) & 0o077 != 0, "{stderr}");

    let pkey = || {
        let mut command = Command::new(&openssl);
        command.arg("pkey").arg("-in").arg(&pem);
        command
    };
    succeed(pkey().arg("-noout"));
    let info = pkey().args(["-pubout", "-outform", "DER"]).output().unwrap();
    // A SubjectPublicKeyInfo ends with the key.
    let key = PublicKey(*info.stdout.last_chunk().unwrap());
    let text = word(&stderr, "AAAA");
    assert_eq!(text.as_bytes(), key.text());
    assert!(text[25..].to_lowercase().contains("ab"));
}

#[test]
fn ssh_keygen_reads_the_files() {
    let Some(ssh_keygen) = require::tool("ssh-keygen") else { return };
    let directory = TempDir::new().unwrap();
    let found = find(directory.path());

    assert_eq!(mode(&found.private), 0o600);
    assert_eq!(mode(&found.public) & 0o022, 0);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);

    let line = fs::read_to_string(&found.public).unwrap();
    let read = succeed(Command::new(&ssh_keygen).arg("-y").arg("-f").arg(&found.private));
    assert_eq!(read.stdout, line);
    assert!(word(&line, "AAAA")[25..].to_lowercase().contains("abc"));
    assert_eq!(found.stdout, line);

    let shown = succeed(Command::new(&ssh_keygen).arg("-lf").arg(&found.public));
    assert_eq!(word(&shown.stdout, "SHA256:"), word(&found.stderr, "SHA256:"));
}

#[test]
fn a_real_server_lets_our_key_in_and_no_other() {
    let tools = ["sshd", "ssh", "ssh-keygen"].map(require::tool);
    let [Some(sshd), Some(ssh), Some(ssh_keygen)] = tools else { return };
    let directory = TempDir::new().unwrap();
    let found = find(directory.path());
    let server = Server::start(&sshd, &ssh_keygen, directory.path(), &found.public);

    let login = server.login(&ssh, directory.path(), &found.private);
    let stderr = String::from_utf8_lossy(&login.stderr);
    assert!(!server.log().contains("account is locked"), "this user cannot log in:\n{}", server.log());
    assert!(login.status.success(), "{stderr}\n{}", server.log());
    assert_eq!(login.stdout, b"OK\n");
    // The server saw the very key that the program reported.
    assert!(server.log().contains(word(&found.stderr, "SHA256:")), "{}", server.log());

    let other = directory.path().join("other");
    succeed(Command::new(&ssh_keygen).args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&other));
    let login = server.login(&ssh, directory.path(), &other);
    assert_eq!(login.status.code(), Some(255), "{}", server.log());
    assert!(String::from_utf8_lossy(&login.stderr).contains("Permission denied"), "{}", server.log());
    assert_eq!(login.stdout, b"");
}

#[test]
fn ssh_keygen_shows_the_fingerprint_that_was_searched() {
    let Some(ssh_keygen) = require::tool("ssh-keygen") else { return };
    let directory = TempDir::new().unwrap();
    for (number, (kind, text)) in
        [("--prefix", "abc"), ("--suffix", "xyQ"), ("--anywhere", "key"), ("--word", "a")]
            .into_iter()
            .enumerate()
    {
        let private = directory.path().join(format!("id_{number}"));
        succeed(program(&["--in", "fingerprint", kind, text, "-o"]).arg(&private));
        let shown = succeed(Command::new(&ssh_keygen).arg("-lf").arg(private.with_extension("pub"))).stdout;
        let fingerprint = word(&shown, "SHA256:").trim_start_matches("SHA256:").to_lowercase();
        let text = text.to_lowercase();
        assert!(
            match kind {
                "--prefix" => fingerprint.starts_with(&text),
                "--suffix" => fingerprint.ends_with(&text),
                "--anywhere" => fingerprint.contains(&text),
                _ => fingerprint.split(['+', '/']).skip(1).any(|between| between == text),
            },
            "{kind} {text}: {shown}"
        );
    }
}
