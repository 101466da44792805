//! Real `puttygen` and `plink` use the program's keys in PuTTY's format, and the program reads
//! files that `puttygen` has written again.
//!
//! `VANITY_KEYS` sets the number of keys in the clear (4 by default), and `VANITY_COSTLY` the
//! number of encrypted keys (2 by default).

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::terminal::Typist;
use crate::{program, putty, require, sshd};
use program::{
    Ran, check_pair, command, comment, derived, mode, names, objects, of_type, private_paths, program,
    public_path, run, succeed, text,
};
use putty::{ENCRYPTED_PPK, PPK};
use sshd::{Server, user};
use tempfile::TempDir;
use vanity_search::key::{DecodeError, Format, Passphrase, PrivateText, PublicKey, Seed};
use zeroize::Zeroizing;

const SECRET: &str = "correct horse";

/// Returns the number of keys that the variable sets, or `ordinarily`.
fn keys(variable: &str, ordinarily: usize) -> String {
    std::env::var(variable).unwrap_or_else(|_| ordinarily.to_string())
}

/// Makes a directory with the passphrase in a file `secret`, and another one in `wrong`.
fn with_secrets() -> (TempDir, PathBuf, PathBuf) {
    let directory = TempDir::new().unwrap();
    let [secret, wrong] = [("secret", SECRET), ("wrong", "Correct horse")].map(|(name, passphrase)| {
        let path = directory.path().join(name);
        fs::write(&path, passphrase).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    });
    (directory, secret, wrong)
}

/// Checks what `puttygen` reads from a private file against the public file beside it: the public
/// line, the fingerprint, and the key after a conversion to the OpenSSH format.
fn check_read(puttygen: &Path, private: &Path, passphrase: Option<&Path>) {
    let line = fs::read_to_string(public_path(private)).unwrap();
    let key = PublicKey::of_line(&line).unwrap();
    let read = |args: &[&str]| {
        let mut command = command(puttygen);
        succeed(command.arg(private).args(args)).stdout
    };
    // With an empty comment PuTTYgen ends the line with a space.
    assert_eq!(read(&["-L"]).trim_end(), line.trim_end(), "{private:?}");
    let shown = read(&["-l"]);
    assert_eq!(shown.split_whitespace().nth(2), Some(key.fingerprint().as_str()), "{private:?}: {shown}");
    let converted = private.with_extension("converted");
    let ran = convert(puttygen, private, passphrase, &converted);
    assert_eq!(ran.status, Some(0), "{private:?}: {ran:?}");
    let mut opened = ssh_key::PrivateKey::from_openssh(fs::read_to_string(&converted).unwrap()).unwrap();
    assert_eq!(opened.is_encrypted(), passphrase.is_some(), "{private:?}");
    if passphrase.is_some() {
        opened = opened.decrypt(SECRET).unwrap();
    }
    let seed = opened.key_data().ed25519().unwrap().private.to_bytes();
    assert_eq!(Seed::new(seed).public_key(), key, "{private:?}");
    assert_eq!(opened.comment().as_str_lossy(), comment(line.trim_end_matches('\n')), "{private:?}");
    fs::remove_file(converted).unwrap();
}

/// Lets `puttygen` write a key in the OpenSSH format.
fn convert(puttygen: &Path, private: &Path, passphrase: Option<&Path>, to: &Path) -> Ran {
    let mut convert = command(puttygen);
    convert.arg(private).args(["-O", "private-openssh-new", "-o"]).arg(to);
    run(convert.args(passphrase.map(|_| "--old-passphrase")).args(passphrase))
}

#[test]
fn puttygen_reads_every_key_of_a_batch() {
    let Some(puttygen) = require::tool("puttygen") else { return };
    let directory = TempDir::new().unwrap();
    let count = keys("VANITY_KEYS", 4);
    let mut batch = program(&["-q", "--format", "ppk", "-n", &count, "ab", "-d"]);
    succeed(batch.arg(directory.path()));
    let files = private_paths(directory.path());
    assert_eq!(files.len().to_string(), count);
    for private in &files {
        assert_eq!(comment(&check_pair(private)), "ab");
        check_read(&puttygen, private, None);
    }
    eprintln!("puttygen read {count} of {count} keys");
}

#[test]
fn puttygen_opens_every_encrypted_key_with_its_passphrase_alone() {
    let Some(puttygen) = require::tool("puttygen") else { return };
    let (outer, secret, wrong) = with_secrets();
    let directory = outer.path().join("keys");
    let count = keys("VANITY_COSTLY", 1);
    let mut batch = program(&["-q", "--format", "ppk", "-n", &count, "ab", "--passphrase-file"]);
    succeed(batch.arg(&secret).arg("-d").arg(&directory));
    let files = private_paths(&directory);
    assert_eq!(files.len().to_string(), count);
    for private in &files {
        let content = fs::read_to_string(private).unwrap();
        assert!(content.starts_with(PPK) && content.contains(ENCRYPTED_PPK), "{content}");
        assert_eq!(mode(private), 0o600);
        check_read(&puttygen, private, Some(&secret));
        let to = outer.path().join("never");
        let refused = convert(&puttygen, private, Some(&wrong), &to);
        assert!(refused.status != Some(0) && !to.exists(), "{private:?}: {refused:?}");
        assert!(refused.stderr.contains("wrong passphrase"), "{refused:?}");
    }
    eprintln!("puttygen opened {count} of {count} keys");
}

#[test]
fn comments_of_every_kind_reach_puttygen() {
    let Some(puttygen) = require::tool("puttygen") else { return };
    let (directory, secret, _) = with_secrets();
    let long = "x".repeat(3000);
    let comments = ["", "me@here", "  several  words: \"quoted\"  ", "größer ☃", "Private-Lines: 1", &long];
    for (number, comment) in comments.into_iter().enumerate() {
        let clear = directory.path().join(format!("{number}.ppk"));
        succeed(program(&["-q", "ab", "-C", comment, "-o"]).arg(&clear));
        check_read(&puttygen, &clear, None);
        // To encrypt a key takes long. The MAC covers the comment.
        if comment.is_ascii() {
            continue;
        }
        let encrypted = directory.path().join(format!("{number}-encrypted.ppk"));
        let mut search = program(&["-q", "ab", "-C", comment, "--passphrase-file"]);
        succeed(search.arg(&secret).arg("-o").arg(&encrypted));
        check_read(&puttygen, &encrypted, Some(&secret));
    }
}

/// PuTTYgen writes the very bytes of our files, also for seeds that begin or end with zeros.
#[test]
fn files_in_the_clear_are_those_of_puttygen() {
    let Some(puttygen) = require::tool("puttygen") else { return };
    let directory = TempDir::new().unwrap();
    let at = |name: &str| directory.path().join(name);
    for (first, last) in [(7, 7), (0, 7), (0x80, 7), (0xff, 7), (7, 0), (7, 0x80), (0, 0)] {
        let mut bytes = [7; 32];
        bytes[..2].fill(first);
        bytes[30..].fill(last);
        let seed = Seed::new(bytes);
        let text = |format| seed.private_text(format, "two words", None).unwrap();
        fs::write(at("openssh"), &*text(Format::Openssh)).unwrap();
        succeed(command(&puttygen).arg(at("openssh")).args(["-O", "private", "-o"]).arg(at("key.ppk")));
        let written = fs::read_to_string(at("key.ppk")).unwrap();
        assert_eq!(written, *text(Format::Ppk), "{first} {last}");
        let read = PrivateText::read(written.as_bytes(), None).unwrap();
        assert_eq!((read.public_key, read.comment.as_deref()), (Some(seed.public_key()), Some("two words")));
        fs::remove_file(at("key.ppk")).unwrap();
    }
}

/// Keys in a directory stay the program's keys after `puttygen` has written them again.
#[test]
fn keys_that_puttygen_has_encrypted_count() {
    let Some(puttygen) = require::tool("puttygen") else { return };
    let (outer, secret, _) = with_secrets();
    let keys = outer.path().join("keys");
    let find = |options: &[&str]| {
        let mut search = program(&["--json", "--format", "ppk", "Ab", "-d"]);
        run(search.arg(&keys).args(options))
    };
    let count = |ran: &Ran| of_type(&objects(&ran.stdout), "found").len();
    let secret_file = secret.to_str().unwrap();
    assert_eq!(count(&find(&[])), 1);
    assert_eq!(count(&find(&[])), 0);
    // A key in the clear is not what is asked for, and the hint helps.
    let refused = find(&["--passphrase-file", secret_file]);
    assert_eq!(refused.status, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("or a *.ppk with `puttygen FILE -P`"), "{}", refused.stderr);
    let [private] = &private_paths(&keys)[..] else { panic!("{:?}", names(&keys)) };
    for variant in ["argon2id", "argon2i", "argon2d"] {
        let parameters = format!("--ppk-param=kdf={variant},memory=64,passes=1");
        let mut encrypt = command(&puttygen);
        encrypt.arg(private).arg("-P").arg(parameters).arg("--new-passphrase").arg(&secret);
        succeed(encrypt.arg("--old-passphrase").arg(&secret));
        let written = fs::read_to_string(private).unwrap();
        assert!(written.contains(ENCRYPTED_PPK) && written.contains("\nArgon2-Memory: 64\n"), "{written}");
        let again = find(&["--passphrase-file", secret_file]);
        assert_eq!((again.status, count(&again)), (Some(0), 0), "{again:?}");
    }
    // The file shows its public key, so a lost public file is written again, with its comment.
    let line = fs::read_to_string(public_path(private)).unwrap();
    fs::remove_file(public_path(private)).unwrap();
    let again = find(&["-C", "other"]);
    assert_eq!((again.status, count(&again)), (Some(0), 0), "{again:?}");
    assert!(again.stderr.contains("1 existing key is encrypted; new keys will not be"), "{}", again.stderr);
    assert_eq!(fs::read_to_string(public_path(private)).unwrap(), line);
    // Version 2 is not read.
    let mut rewrite = command(&puttygen);
    rewrite.arg(private).args(["-O", "private", "--ppk-param=version=2", "-o"]).arg(private);
    succeed(rewrite.arg("--old-passphrase").arg(&secret).args(["--reencrypt"]));
    let again = find(&[]);
    assert_eq!((again.status, count(&again)), (Some(0), 1), "{again:?}");
    assert!(again.stderr.contains("it is not a complete Ed25519 private key"), "{}", again.stderr);
}

#[test]
fn plink_logs_in_with_our_key_and_with_no_other() {
    let tools = ["plink", "sshd", "ssh-keygen"].map(require::tool);
    let [Some(plink), Some(sshd), Some(ssh_keygen)] = tools else { return };
    let directory = TempDir::new().unwrap();
    let at = |name: &str| directory.path().join(name);
    for name in ["key.ppk", "other.ppk"] {
        succeed(program(&["-q", "ab", "-o"]).arg(at(name)));
    }
    let server = Server::start(&sshd, &ssh_keygen, directory.path(), &at("key.ppk.pub"));
    let host = fs::read_to_string(at("host.pub")).unwrap();
    let host = PublicKey::of_line(&host).unwrap().fingerprint();
    let login = |key: &str| {
        let mut login = command(&plink);
        // plink keeps its own files in the home directory.
        login.env("HOME", directory.path()).env_remove("SSH_AUTH_SOCK");
        login.args(["-ssh", "-batch", "-noagent", "-hostkey", &host, "-P", &server.port.to_string(), "-i"]);
        run(login.arg(at(key)).arg(format!("{}@127.0.0.1", user("-un"))).arg("echo OK"))
    };
    let ran = login("key.ppk");
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), "OK\n"), "{ran:?}\n{}", server.log());
    let key = derived(&fs::read_to_string(at("key.ppk")).unwrap());
    assert!(server.log().contains(&key.fingerprint()), "{}", server.log());
    let refused = login("other.ppk");
    assert!(refused.status != Some(0) && refused.stdout.is_empty(), "{refused:?}\n{}", server.log());
}

#[test]
fn the_next_steps_are_those_of_putty() {
    let (directory, secret, _) = with_secrets();
    let private = directory.path().join("a key.ppk");
    let Some(script) = require::tool("script") else { return };
    let line = format!("exec \"$P\" ab -o '{}'", private.display());
    let (status, shown) = Typist::start(&script, directory.path(), &line).end();
    assert_eq!(status, Some(0), "{shown}");
    let steps = format!("putty -i '{}' USER@HOST\r\n", private.display());
    assert!(shown.contains(&steps) && shown.contains("PuTTY 0.75 or later"), "{shown}");
    assert!(!["ssh-copy-id", "ssh -i", "ssh-add"].iter().any(|other| shown.contains(other)), "{shown}");

    let ran = succeed(program(&["--format", "ppk", "ab", "--passphrase-file"]).arg(&secret));
    assert!(putty::open(&ran.stdout, SECRET).is_some() && putty::open(&ran.stdout, "").is_none());
    let fact = "the encrypted private key went to stdout; it needs PuTTY 0.75 or later";
    assert!(ran.stderr.contains(fact), "{}", ran.stderr);

    let ran = succeed(program(&["--json", "--format", "ppk", "ab", "--passphrase-file"]).arg(&secret));
    let objects = objects(&ran.stdout);
    let found = of_type(&objects, "found")[0];
    assert_eq!(found["encrypted"], true);
    assert!(putty::open(text(found, "private_key"), SECRET).is_some(), "{found}");
}

/// Our reader and the tests' own agree about an encrypted file.
#[test]
fn an_encrypted_file_shows_its_public_key_to_the_library() {
    let (directory, secret, _) = with_secrets();
    let private = directory.path().join("key.ppk");
    succeed(program(&["-q", "ab", "--passphrase-file"]).arg(&secret).arg("-o").arg(&private));
    let content = fs::read_to_string(&private).unwrap();
    let opened = putty::open(&content, SECRET).unwrap();
    let passphrase = |text: &str| Passphrase::new(Zeroizing::new(text.into())).unwrap();
    for passphrase in [None, Some(&passphrase(SECRET))] {
        let read = PrivateText::read(content.as_bytes(), passphrase).unwrap();
        assert_eq!(read.public_key, Some(Seed::new(opened.seed).public_key()));
        assert_eq!(read.comment.as_deref(), Some("ab"));
    }
    let read = PrivateText::read(content.as_bytes(), Some(&passphrase("any")));
    assert_eq!(read, Err(DecodeError::WrongPassphrase));
}
