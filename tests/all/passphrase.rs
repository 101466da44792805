//! Real `ssh-keygen`, `openssl` and `ssh-add` open the private keys that the program encrypts.
//! Other tests show the ways in which the program gets a passphrase.
//!
//! `VANITY_KEYS` sets the number of keys of each cipher with few rounds (2 by default; `keys` reads more),
//! and `VANITY_COSTLY` the number of keys of each form with the program's own rounds (1 by default).

#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{program, require, terminal};
use program::{
    NEVER, Ran, at_once, command, executable, names, objects, of_type, private_paths, program, public_path,
    run, seed, succeed, text,
};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use terminal::{AGAIN, PROMPT, Typist};

const SECRET: &str = "correct horse";
const OPENSSH: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
const ENCRYPTED_PKCS8: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n";

/// Returns the number of keys that the variable sets, or `ordinarily`.
fn keys(variable: &str, ordinarily: usize) -> usize {
    std::env::var(variable).map_or(ordinarily, |keys| keys.parse().unwrap())
}

/// Writes a file of mode 0600.
fn write_secret(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// Makes a directory with the passphrase in a file `secret`.
fn with_secret() -> (TempDir, PathBuf) {
    let directory = TempDir::new().unwrap();
    let secret = directory.path().join("secret");
    write_secret(&secret, format!("{SECRET}\n").as_bytes());
    (directory, secret)
}

/// Runs `ssh-keygen -y` with a passphrase of any bytes.
fn open_with(ssh_keygen: &Path, private: &Path, passphrase: &[u8]) -> Ran {
    let passphrase = std::ffi::OsString::from_vec(passphrase.to_vec());
    run(command(ssh_keygen).arg("-y").arg("-P").arg(passphrase).arg("-f").arg(private))
}

/// Checks that only `passphrase` opens the key, and that the key has the public line beside it.
fn check_opens(ssh_keygen: &Path, private: &Path, passphrase: &str) {
    let opened = open_with(ssh_keygen, private, passphrase.as_bytes());
    assert_eq!(opened.stdout, fs::read_to_string(public_path(private)).unwrap(), "{private:?}: {opened:?}");
    for wrong in ["", "wrong"] {
        let refused = open_with(ssh_keygen, private, wrong.as_bytes());
        assert_eq!((refused.status, refused.stdout.as_str()), (Some(255), ""), "{wrong:?} {private:?}");
        assert!(refused.stderr.contains("incorrect passphrase"), "{refused:?}");
    }
}

/// Returns the cipher and the rounds of bcrypt that a key file in the OpenSSH format names.
fn cipher_and_rounds(private: &Path) -> (String, u32) {
    let key = ssh_key::PrivateKey::from_openssh(fs::read_to_string(private).unwrap()).unwrap();
    let ssh_key::Kdf::Bcrypt { rounds, .. } = key.kdf() else { panic!("{private:?} is not encrypted") };
    (key.cipher().as_str().to_owned(), *rounds)
}

#[test]
fn ssh_keygen_opens_every_key_and_changes_its_passphrase() {
    let Some(ssh_keygen) = require::tool("ssh-keygen") else { return };
    let (outer, secret) = with_secret();
    let [few, costly] =
        [("VANITY_KEYS", 2), ("VANITY_COSTLY", 1)].map(|(name, count)| keys(name, count).to_string());
    for (name, options, count, cipher, rounds) in [
        ("default", &[][..], &costly, "aes256-ctr", 24),
        ("default-gcm", &["--cipher", "aes256-gcm"], &costly, "aes256-gcm@openssh.com", 24),
        ("ctr", &["--rounds", "2", "--cipher", "aes256-ctr"], &few, "aes256-ctr", 2),
        ("gcm", &["--rounds", "1", "--cipher", "aes256-gcm@openssh.com"], &few, "aes256-gcm@openssh.com", 1),
    ] {
        let directory = outer.path().join(name);
        let args = ["-q", "ab", "-n", count, "--passphrase-file"];
        let ran = succeed(program(&args).arg(&secret).arg("-d").arg(&directory).args(options));
        let files = private_paths(&directory);
        assert_eq!(files.len().to_string(), *count);
        assert_eq!(ran.stdout.lines().count(), files.len());
        for private in &files {
            assert_eq!(cipher_and_rounds(private), (cipher.to_owned(), rounds));
            assert_eq!(program::mode(private), 0o600);
            check_opens(&ssh_keygen, private, SECRET);
            let change = ["-p", "-a", "1", "-P", SECRET, "-N", "another", "-f"];
            succeed(command(&ssh_keygen).args(change).arg(private));
            let opened = open_with(&ssh_keygen, private, b"another");
            assert_eq!(opened.stdout, fs::read_to_string(public_path(private)).unwrap(), "{private:?}");
        }
        eprintln!("ssh-keygen opened {count} of {count} keys, {cipher}, {rounds} rounds");
    }
}

#[test]
fn openssl_opens_every_key() {
    let Some(openssl) = require::tool("openssl") else { return };
    let (outer, secret) = with_secret();
    let directory = outer.path().join("keys");
    let count = keys("VANITY_COSTLY", 1);
    let args = ["-q", "--format", "pkcs8", "ab", "-n", &count.to_string(), "--passphrase-file"];
    succeed(program(&args).arg(&secret).arg("-d").arg(&directory));
    let files = private_paths(&directory);
    assert_eq!(files.len(), count);
    let open = |private: &Path, secret: &str| {
        let mut pkey = command(&openssl);
        pkey.args(["pkey", "-pubout", "-outform", "DER", "-passin", secret, "-in"]).arg(private);
        pkey.output().unwrap()
    };
    for (at, private) in files.iter().enumerate() {
        assert!(fs::read_to_string(private).unwrap().starts_with(ENCRYPTED_PKCS8), "{private:?}");
        let info = open(private, &format!("file:{}", secret.display()));
        assert!(info.status.success(), "{private:?}: {info:?}");
        // A SubjectPublicKeyInfo ends with the key.
        let key = vanity_search::key::PublicKey(*info.stdout.last_chunk().unwrap());
        assert_eq!(fs::read_to_string(public_path(private)).unwrap(), key.line("ab") + "\n");
        // Each attempt costs 600,000 iterations.
        if at == 0 {
            for wrong in ["pass:", "pass:wrong"] {
                let refused = open(private, wrong);
                assert!(!refused.status.success() && refused.stdout.is_empty(), "{wrong}: {refused:?}");
            }
        }
    }
    eprintln!("openssl opened {count} of {count} keys");
}

#[test]
fn an_agent_takes_an_encrypted_key() {
    let tools = ["ssh-agent", "ssh-add", "ssh-keygen"].map(require::tool);
    let [Some(agent), Some(add), Some(_)] = tools else { return };
    let (directory, secret) = with_secret();
    let (private, socket) = (directory.path().join("id_x"), directory.path().join("socket"));
    succeed(
        program(&["-q", "ab", "--rounds", "1", "--passphrase-file"]).arg(&secret).arg("-o").arg(&private),
    );
    let ask = directory.path().join("ask");
    fs::write(&ask, format!("#!/bin/sh\ncat '{}'\n", secret.display())).unwrap();
    fs::set_permissions(&ask, fs::Permissions::from_mode(0o700)).unwrap();

    let mut agent = program::start(command(agent).arg("-D").arg("-a").arg(&socket).stdout(Stdio::null()));
    let talk = |args: &[&str], more: Option<&Path>| {
        let mut talk = command(&add);
        talk.args(args).args(more).env("SSH_AUTH_SOCK", &socket);
        run(talk.env("SSH_ASKPASS", &ask).env("SSH_ASKPASS_REQUIRE", "force"))
    };
    // Status 2 means that no agent answers.
    while talk(&["-l"], None).status == Some(2) {
        assert!(agent.try_wait().unwrap().is_none(), "ssh-agent has ended");
        std::thread::sleep(Duration::from_millis(10));
    }
    let added = talk(&[], Some(&private));
    let listed = talk(&["-L"], None);
    drop(agent);
    assert_eq!(added.status, Some(0), "{added:?}");
    assert_eq!(listed.stdout, fs::read_to_string(public_path(&private)).unwrap());
}

#[test]
fn the_first_line_of_a_file_is_the_passphrase() {
    let Some(ssh_keygen) = require::tool("ssh-keygen") else { return };
    let directory = TempDir::new().unwrap();
    let secret = directory.path().join("secret");
    let long = [b'x'; 1023];
    let longest = [&long[..], b"\r\n"].concat();
    for (number, (content, passphrase)) in [
        (&b"plain\n"[..], &b"plain"[..]),
        (b"no end", b"no end"),
        (b"dos\r\nsecond\r\n", b"dos"),
        (b"first\nsecond\n", b"first"),
        (b" blanks \t\n", b" blanks \t"),
        (b"caf\xe9\n", b"caf\xe9"),
        ("größer ☃\n".as_bytes(), "größer ☃".as_bytes()),
        (&long, &long),
        (&longest, &long),
    ]
    .into_iter()
    .enumerate()
    {
        write_secret(&secret, content);
        let private = directory.path().join(format!("id_{number}"));
        let args = ["--rounds", "1", "ab", "--passphrase-file"];
        let ran = succeed(program(&args).arg(&secret).arg("-o").arg(&private));
        assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
        let opened = open_with(&ssh_keygen, &private, passphrase);
        assert_eq!(opened.stdout, ran.stdout, "{}: {opened:?}", passphrase.escape_ascii());
    }
}

#[test]
fn a_passphrase_can_come_through_a_pipe() {
    let Some(ssh_keygen) = require::tool("ssh-keygen") else { return };
    let Some(bash) = require::tool("bash") else { return };
    let directory = TempDir::new().unwrap();
    for (number, line) in [
        "printf 'correct horse\\n' | \"$0\" \"$@\" --passphrase-file -",
        "\"$0\" \"$@\" --passphrase-file <(printf 'correct horse\\n')",
        "\"$0\" \"$@\" --passphrase-file /dev/fd/3 3<<<'correct horse'",
        // This writer is slow, and stays until the key is there.
        "(printf 'correct '; sleep 0.2; printf 'horse\\n'; until [ -e \"${!#}\" ]; do sleep 0.05; done) | \
         \"$0\" \"$@\" --passphrase-file -",
    ]
    .into_iter()
    .enumerate()
    {
        let private = directory.path().join(format!("id_{number}"));
        let args = ["-c", line, executable(), "-q", "--rounds", "1", "ab", "-o"];
        let ran = succeed(command(&bash).args(args).arg(&private));
        assert_eq!(ran.stderr, "", "{line}");
        check_opens(&ssh_keygen, &private, SECRET);
    }
}

#[test]
fn a_passphrase_file_that_others_can_read_causes_a_warning() {
    let (directory, secret) = with_secret();
    for (mode, is_told) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true), (0o620, true)] {
        fs::set_permissions(&secret, fs::Permissions::from_mode(mode)).unwrap();
        let private = directory.path().join(format!("id_{mode:o}"));
        let args = ["--rounds", "1", "ab", "--passphrase-file"];
        let ran = succeed(program(&args).arg(&secret).arg("-o").arg(&private));
        let warning = format!("' (mode {mode:04o}); run chmod 600 on it");
        assert_eq!(ran.stderr.contains(&warning), is_told, "{}", ran.stderr);
    }
}

#[test]
fn reports_say_that_a_key_is_encrypted() {
    let (directory, secret) = with_secret();
    let mut with = program(&["--json", "--passphrase-file"]);
    let ran = succeed(with.arg(&secret).arg("ab"));
    let objects_of = objects(&ran.stdout);
    let [found] = of_type(&objects_of, "found")[..] else { panic!("{}", ran.stdout) };
    assert_eq!(found["encrypted"], true);
    assert!(text(found, "private_key").starts_with(ENCRYPTED_PKCS8), "{found}");

    let ran =
        succeed(program(&["ab", "--format", "openssh", "--rounds", "1", "--passphrase-file"]).arg(&secret));
    assert!(ran.stdout.starts_with(OPENSSH), "{}", ran.stdout);
    assert!(ran.stderr.contains("the encrypted private key went to stdout"), "{}", ran.stderr);

    let private = directory.path().join("id_x");
    let mut with = program(&["--json", "--rounds", "1", "--passphrase-file"]);
    let ran = succeed(with.arg(&secret).arg("ab").arg("-o").arg(&private));
    let objects_of = objects(&ran.stdout);
    assert_eq!(of_type(&objects_of, "found")[0]["encrypted"], true);
    assert!(
        ran.stderr.contains(&format!("encrypted private key in {}", private.display())),
        "{}",
        ran.stderr
    );
    let written = fs::read_to_string(&private).unwrap();
    assert!(written.starts_with(OPENSSH));
    for said in [&ran.stdout, &ran.stderr] {
        assert!(!said.contains(written.lines().nth(1).unwrap()) && !said.contains(SECRET), "{said}");
    }

    let ran = succeed(&mut program(&["--json", "ab"]));
    let objects_of = objects(&ran.stdout);
    let found = of_type(&objects_of, "found")[0];
    assert_eq!(found["encrypted"], false);
    seed(text(found, "private_key"));
    assert!(!ran.stderr.contains("encrypted"), "{}", ran.stderr);
}

/// A run that makes no key needs no passphrase. It shows no prompt and reads no file.
#[test]
fn estimates_need_no_passphrase() {
    at_once([&["--passphrase"][..], &["--passphrase-file", "missing"]], |from| {
        succeed(program(&["-t", "1", "--engine", "reference", "ab", "--estimate"]).args(from));
    });
}

/// The test reads the arguments of the process while it works.
#[test]
fn the_passphrase_is_in_no_argument() {
    let (directory, secret) = with_secret();
    let args = ["--however-long", NEVER, "-o", "id_x", "--passphrase-file"];
    let mut search = program(&args);
    search.arg(&secret).current_dir(directory.path()).stderr(Stdio::piped());
    let mut child = program::start(&mut search);
    // The program prints the odds after it has read everything.
    let mut printed = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut printed).unwrap();
    assert!(printed.starts_with(NEVER), "{printed}");
    let proc = PathBuf::from(format!("/proc/{}", child.id()));
    let cmdline = fs::read(proc.join("cmdline")).unwrap();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let arguments: Vec<&[u8]> = cmdline.split(|&byte| byte == 0).collect();
    assert!(arguments.contains(&secret.as_os_str().as_bytes()), "{arguments:?}");
    assert!(!cmdline.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()), "{arguments:?}");
}

/// With these rounds, it takes minutes to derive a key from the passphrase, and nothing can
/// interrupt that. The program ends without waiting for it.
#[test]
fn a_signal_ends_an_encryption_within_a_second() {
    let (outer, secret) = with_secret();
    for (name, options, signal, status, json) in [
        ("one", &["-q", "-t", "1"][..], Signal::INT, 130, false),
        ("one-json", &["-q", "-t", "1"], Signal::INT, 130, true),
        ("several", &["-t", "2", "-n", "1000"], Signal::TERM, 143, true),
        ("hangup", &["-t", "2", "-n", "1000"], Signal::HUP, 129, false),
    ] {
        let directory = outer.path().join(name);
        program::within_a_second(|| {
            let _ = fs::remove_dir(&directory);
            let mut search = program(&["--rounds", "10000", "--passphrase-file"]);
            search.arg(&secret).args(options).args(json.then_some("--json")).args(["ab", "-d"]);
            let mut child =
                program::start(search.arg(&directory).stdout(Stdio::piped()).stderr(Stdio::piped()));
            program::wait_for_encryption(child.id());
            let sent = Instant::now();
            kill_process(Pid::from_child(&child), signal).unwrap();
            let status_seen = child.wait().unwrap().code();
            let took = sent.elapsed();
            let ended = child.end();
            assert_eq!(status_seen, Some(status), "{ended:?}");
            let given_up = "for 'ab': the encryption did not finish in time";
            assert!(ended.stderr.contains(given_up), "{ended:?}");
            assert!(!ended.stderr.contains("no progress to lose"), "{ended:?}");
            if json {
                let objects = objects(&ended.stdout);
                let summary = of_type(&objects, "summary")[0];
                assert_eq!((summary["found"].as_u64(), text(summary, "reason")), (Some(0), "signal"));
                let given_up = summary["given_up"].as_array().unwrap();
                assert!((1..=2).contains(&given_up.len()) && given_up.iter().all(|one| one == "ab"));
            } else {
                assert_eq!(ended.stdout, "");
            }
            assert_eq!(names(&directory), [""; 0]);
            took
        });
    }
}

/// Keys are encrypted while the workers search. After a signal, every reported key is whole, and
/// there is no other.
#[test]
fn an_interrupted_batch_keeps_every_reported_key() {
    let Some(ssh_keygen) = require::tool("ssh-keygen") else { return };
    let (outer, secret) = with_secret();
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let directory = outer.path().join(status.to_string());
        let args = ["--json", "-q", "--rounds", "8", "ab", "-n", "100000", "--passphrase-file"];
        let mut batch = program(&args);
        let batch = batch.arg(&secret).arg("-d").arg(&directory).stdout(Stdio::piped());
        let mut child = program::start(batch.stderr(Stdio::piped()));
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut printed = String::new();
        while of_type(&objects(&printed), "found").len() < 3 {
            assert_ne!(stdout.read_line(&mut printed).unwrap(), 0, "{printed}");
        }
        kill_process(Pid::from_child(&child), signal).unwrap();
        stdout.read_to_string(&mut printed).unwrap();
        let ended = child.end();
        assert_eq!(ended.status, Some(status), "{ended:?}");
        let objects = objects(&printed);
        // On a busy machine the program may give up a key. Then it names the key, and prints
        // nothing else.
        let given_up = of_type(&objects, "summary")[0]["given_up"].as_array().unwrap();
        assert_eq!(ended.stderr.contains("for 'ab': the encryption"), !given_up.is_empty(), "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), usize::from(!given_up.is_empty()), "{ended:?}");
        let found = of_type(&objects, "found");
        assert_eq!(text(of_type(&objects, "summary")[0], "reason"), "signal");
        assert_eq!(names(&directory).len(), 2 * found.len() + 1, "a pair for each, and the ledger");
        for object in found {
            let opened = open_with(&ssh_keygen, text(object, "private_key_file").as_ref(), SECRET.as_bytes());
            assert_eq!(opened.stdout.trim_end(), text(object, "public_key"));
        }
    }
}

#[test]
fn a_passphrase_is_typed_twice_and_never_shown() {
    let tools = ["script", "ssh-keygen"].map(require::tool);
    let [Some(script), Some(ssh_keygen)] = tools else { return };
    let directory = TempDir::new().unwrap();
    for (name, line) in [
        ("id_a", "exec \"$P\" --passphrase --rounds 1 -o id_a ab"),
        // The program asks on the terminal wherever its streams go.
        ("id_b", "exec \"$P\" --passphrase --rounds 1 -o id_b ab </dev/null >out 2>err"),
        ("id_c", "echo ab | \"$P\" --passphrase --rounds 1 -o id_c -f - | cat"),
    ] {
        let mut typist = Typist::start(&script, directory.path(), line);
        typist.answer(PROMPT, format!("{SECRET}\n"));
        typist.answer(AGAIN, format!("{SECRET}\n"));
        let (status, shown) = typist.end();
        assert_eq!(status, Some(0), "{shown:?}");
        assert!(!shown.contains("horse"), "{shown:?}");
        // Enter ends the line of a prompt, and no line is empty.
        assert!(shown.contains(&format!("{PROMPT}\r\n{AGAIN}\r\n")), "{shown:?}");
        check_opens(&ssh_keygen, &directory.path().join(name), SECRET);
    }
    // Only the program hides what is typed: a terminal shows it.
    let mut typist = Typist::start(&script, directory.path(), "printf 'go '; read x");
    typist.answer("go ", "horse\n");
    assert!(typist.end().1.contains("horse"));
}

#[test]
fn one_prompt_serves_a_whole_batch() {
    let tools = ["script", "ssh-keygen"].map(require::tool);
    let [Some(script), Some(ssh_keygen)] = tools else { return };
    let directory = TempDir::new().unwrap();
    let line = "exec \"$P\" --passphrase --rounds 1 -d keys -n 4 ab +a";
    let mut typist = Typist::start(&script, directory.path(), line);
    typist.answer(PROMPT, format!("{SECRET}\n"));
    typist.answer(AGAIN, format!("{SECRET}\n"));
    let (status, shown) = typist.end();
    assert_eq!(status, Some(0), "{shown:?}");
    assert_eq!(shown.matches(PROMPT).count(), 1, "{shown:?}");
    let files = private_paths(&directory.path().join("keys"));
    assert!(files.len() > 4, "{shown:?}");
    files.iter().for_each(|private| check_opens(&ssh_keygen, private, SECRET));
}

#[test]
fn bytes_arrive_as_they_are_typed() {
    let tools = ["script", "ssh-keygen"].map(require::tool);
    let [Some(script), Some(ssh_keygen)] = tools else { return };
    let directory = TempDir::new().unwrap();
    let long = [&[b'x'; 1023][..], b"\n"].concat();
    for (number, (typed, passphrase)) in [
        (&b"caf\xe9\n"[..], &b"caf\xe9"[..]),
        // Ctrl-U clears the line, then the backspace key corrects it.
        (b"wrong\x15corrects\x7f\n", b"correct"),
        (&long, &long[..1023]),
    ]
    .into_iter()
    .enumerate()
    {
        let line = format!("exec \"$P\" --passphrase --rounds 1 -o id_{number} ab");
        let mut typist = Typist::start(&script, directory.path(), &line);
        typist.answer(PROMPT, typed);
        typist.answer(AGAIN, typed);
        let (status, shown) = typist.end();
        assert_eq!(status, Some(0), "{shown:?}");
        let private = directory.path().join(format!("id_{number}"));
        let opened = open_with(&ssh_keygen, &private, passphrase);
        assert_eq!(opened.stdout, fs::read_to_string(public_path(&private)).unwrap(), "{opened:?}");
    }
}

#[test]
fn an_unusable_or_mistyped_passphrase_is_asked_for_again() {
    let tools = ["script", "ssh-keygen"].map(require::tool);
    let [Some(script), Some(ssh_keygen)] = tools else { return };
    let directory = TempDir::new().unwrap();
    for (name, typed, why) in [
        ("id_x", "\n", "is empty"),
        ("id_y", "one\x01\n", "has a control character, such as a carriage return or Ctrl-A"),
    ] {
        let line = format!("exec \"$P\" --passphrase --rounds 1 -o {name} ab");
        let mut typist = Typist::start(&script, directory.path(), &line);
        typist.answer(PROMPT, typed);
        typist.answer(&format!("Not accepted: the passphrase {why}."), "");
        typist.answer(PROMPT, "one\n");
        typist.answer(AGAIN, "other\n");
        typist.answer("The two passphrases are not the same.", "");
        typist.answer(PROMPT, format!("{SECRET}\n"));
        typist.answer(AGAIN, format!("{SECRET}\n"));
        let (status, shown) = typist.end();
        assert_eq!(status, Some(0), "{shown:?}");
        check_opens(&ssh_keygen, &directory.path().join(name), SECRET);
    }
}

#[test]
fn the_prompt_gives_up_after_three_tries() {
    let Some(script) = require::tool("script") else { return };
    let directory = TempDir::new().unwrap();
    for tries in [["\n"; 3], ["one\n"; 3]] {
        let mut typist = Typist::start(&script, directory.path(), "exec \"$P\" --passphrase -o id_x ab");
        for typed in tries {
            typist.answer(PROMPT, typed);
            if typed != "\n" {
                typist.answer(AGAIN, "other\n");
            }
        }
        let (status, shown) = typist.end();
        assert_eq!(status, Some(2), "{shown:?}");
        assert!(shown.contains("no usable passphrase after 3 tries; nothing was searched"), "{shown:?}");
        assert_eq!(names(directory.path()), [""; 0]);
    }
}

#[test]
fn the_terminal_is_restored_after_the_prompt() {
    let Some(script) = require::tool("script") else { return };
    let directory = TempDir::new().unwrap();
    for (leave, before, status) in [
        ("\x03", "trap : INT; ", 130),
        ("\x1c", "trap : QUIT; ", 131),
        ("", "timeout --foreground --preserve-status -s ALRM 1 ", 142),
        ("", "timeout --foreground --preserve-status -s USR1 1 ", 138),
        ("\x04", "", 2),
        ("", "timeout --foreground --preserve-status 1 ", 143),
    ] {
        for is_second in [false, true] {
            let line = format!("stty -a; {before}\"$P\" --passphrase -o id_x ab; echo status $?; stty -a");
            let mut typist = Typist::start(&script, directory.path(), &line);
            if is_second {
                typist.answer(PROMPT, format!("{SECRET}\n"));
                typist.answer(AGAIN, leave);
            } else {
                typist.answer(PROMPT, leave);
            }
            let (_, shown) = typist.end();
            let (before, after) = shown.split_once(PROMPT).unwrap();
            // Whatever is printed next begins a line.
            let prompt = if is_second { AGAIN } else { PROMPT };
            assert!(shown.contains(&format!("{prompt}\r\n")), "{shown:?}");
            let (_, after) =
                after.split_once(&format!("status {status}")).unwrap_or_else(|| panic!("{shown:?}"));
            let modes = |shown: &str| shown[shown.find("speed").unwrap()..].trim_end().to_owned();
            assert_eq!(modes(after), modes(before));
            assert!(modes(after).contains(" echo "), "{shown:?}");
            assert_eq!(names(directory.path()), [""; 0]);
        }
    }
}

/// As ssh does it: the terminal shows again what is typed, and the prompt comes back.
#[test]
fn a_stop_at_the_prompt_restores_the_terminal_and_asks_again() {
    let Some(script) = require::tool("script") else { return };
    let Some(bash) = require::tool("bash") else { return };
    let directory = TempDir::new().unwrap();
    // Ctrl-Z, and a signal by another process.
    for (stop, other) in [("\x1a", ""), ("", "(sleep 1; pkill -TSTP -P $$ -x vanity-ed25519) & ")] {
        let line = format!(
            "set -m; {other}\"$P\" -q --passphrase --rounds 1 --timeout 60s -o id_x ab; echo stopped; \
             stty -a; fg; echo status $?"
        );
        let line = format!("exec {} -c '{line}'", bash.display());
        let mut typist = Typist::start(&script, directory.path(), &line);
        typist.answer(PROMPT, stop);
        typist.answer("stopped", "");
        typist.answer(PROMPT, format!("{SECRET}\n"));
        typist.answer(AGAIN, format!("{SECRET}\n"));
        let (_, shown) = typist.end();
        let modes = &shown[shown.find("speed").unwrap()..];
        assert!(modes.contains(" echo ") && modes.contains("status 0"), "{shown:?}");
        assert!(!shown.contains(SECRET), "{shown:?}");
        fs::remove_file(directory.path().join("id_x")).unwrap();
        fs::remove_file(directory.path().join("id_x.pub")).unwrap();
    }
}

#[test]
fn without_a_terminal_nothing_is_searched() {
    let Some(setsid) = require::tool("setsid") else { return };
    let directory = TempDir::new().unwrap();
    let mut detached: Command = command(setsid);
    let stdin = File::open("/dev/null").unwrap();
    let ran = run(detached
        .args(["-w", executable(), "--passphrase", "-d", "keys", "ab"])
        .stdin(stdin)
        .current_dir(directory.path()));
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.stderr.starts_with("error: cannot open the terminal to ask for the passphrase"), "{ran:?}");
    assert!(ran.stderr.contains("--passphrase-file FILE"), "{ran:?}");
    assert_eq!(names(directory.path()), [""; 0]);
}

/// A terminal shows what is typed, unless it is asked not to.
#[test]
fn a_terminal_is_no_passphrase_file() {
    let Some(script) = require::tool("script") else { return };
    let directory = TempDir::new().unwrap();
    for file in ["-", "/dev/tty", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/dev/stderr", "$(tty)"] {
        let line = format!("$P --passphrase-file {file} -d keys ab");
        let (status, shown) = Typist::start(&script, directory.path(), &line).end();
        assert_eq!(status, Some(2), "{file}: {shown}");
        assert!(shown.contains(" is a terminal, which would show the passphrase\r\n"), "{file}: {shown}");
        assert!(shown.contains("\r\nhint: --passphrase asks for it "), "{file}: {shown}");
        assert_eq!(names(directory.path()), [""; 0], "{file}");
    }
}

/// A library that gives no program the memory of Argon2.
const LITTLE_MEMORY: &str = "#include <errno.h>
    #include <stddef.h>
    void *aligned_alloc(size_t, size_t);
    int posix_memalign(void **at, size_t align, size_t len) {
        *at = len == 8 << 20 ? NULL : aligned_alloc(align, (len + align - 1) / align * align);
        return *at ? 0 : ENOMEM;
    }";

#[test]
fn an_encryption_that_fails_is_refused_before_the_search() {
    let Some(cc) = require::tool("cc") else { return };
    let (directory, _) = with_secret();
    let [source, library] = ["memory.c", "memory.so"].map(|name| directory.path().join(name));
    fs::write(&source, LITTLE_MEMORY).unwrap();
    succeed(command(cc).args(["-shared", "-fPIC", "-o"]).args([&library, &source]));
    let search = |args: &[&str]| {
        let mut search = program(&["-q", "--engine", "reference", "--passphrase-file", "secret"]);
        search.args(args).env("LD_PRELOAD", &library).current_dir(&directory);
        search
    };
    let ran = run(&mut search(&["-o", "x.ppk", "--however-long", NEVER]));
    assert_eq!(ran.status, Some(2), "{ran:?}");
    let expected = "error: cannot encrypt the private key in PuTTY's format: ";
    assert!(ran.stderr.starts_with(expected), "{}", ran.stderr);
    assert!(ran.stderr.contains("\nhint: each thread needs 8 MiB to encrypt a key"), "{}", ran.stderr);
    // Other forms need no such memory.
    succeed(&mut search(&["--rounds", "1", "-o", "x", "ab"]));
    let mut left = names(directory.path());
    left.retain(|name| name.starts_with('x'));
    assert_eq!(left, ["x", "x.pub"]);
}
