//! What differs on Windows: access lists, events of the console, the shell of `--exec`, the pipe of
//! the agent, names of devices, and files with the line endings of Windows.
//!
//! These tests run on Windows, and under Wine by `tests/wine/run`.

#![cfg(windows)]

mod foreign;

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::windows::process::CommandExt as _;
use std::path::Path;
use std::process::Stdio;

use tempfile::TempDir;
use vanity_ed25519::program::ForeignAccess;
use vanity_ed25519::program::StoredPair;

use crate::program;
use program::{
    ENDLESS, LEDGER, check_finds, check_pair, check_secret, derived, names, objects, of_type, program, run,
    start, succeed, text,
};

/// A directory whose name has spaces and characters that no code page of Windows has together.
const NAME: &str = "größe ☃ 鍵";

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn files_have_any_name_and_are_never_overwritten() {
    let directory = TempDir::new().unwrap();
    let inner = directory.path().join(NAME);
    fs::create_dir(&inner).unwrap();
    for (name, start) in [
        ("id ä", "-----BEGIN OPENSSH PRIVATE KEY-----\n"),
        ("ключ.pem", "-----BEGIN PRIVATE KEY-----\n"),
        ("x.ppk", "PuTTY-User-Key-File-3: ssh-ed25519\n"),
    ] {
        let path = inner.join(name);
        let ran = succeed(program(&["ab", "-o"]).arg(&path));
        let private = read(&path);
        assert!(private.starts_with(start) && !private.contains('\r'), "{private}");
        assert_eq!(ran.stdout, check_pair(&path) + "\n");
        check_secret(&ran, &private);

        let ran = run(program(&["ab", "-o"]).arg(&path));
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("already exists\nhint: choose another name"), "{}", ran.stderr);
        assert_eq!(read(&path), private);
        fs::remove_file(&path).unwrap();
        let ran = run(program(&["ab", "-o"]).arg(&path));
        assert!(ran.stderr.contains(".pub' already exists"), "{}", ran.stderr);
        assert!(!path.exists());
    }
    // The names are the same without regard to case, as Windows has them.
    let path = inner.join("Key");
    succeed(program(&["ab", "-o"]).arg(&path));
    let ran = run(program(&["ab", "-o"]).arg(inner.join("kEY")));
    assert!(ran.status == Some(2) && ran.stderr.contains("already exists"), "{ran:?}");
}

#[test]
fn a_directory_gets_pairs_and_a_ledger_and_what_is_there_counts() {
    let directory = TempDir::new().unwrap();
    let keys = directory.path().join(NAME);
    let search = |count: &str| {
        objects(&succeed(program(&["--json", "-n", count, "ab", "+c", "-d"]).arg(&keys)).stdout)
    };
    let first = search("3");
    let found = of_type(&first, "found");
    // A key can show both patterns.
    for pattern in ["ab", "+c"] {
        let show_it =
            found.iter().filter(|find| find["patterns"].as_array().unwrap().iter().any(|one| one == pattern));
        assert!(show_it.count() >= 3, "{pattern}: {found:?}");
    }
    check_finds(&found, &keys);
    assert!(of_type(&search("3"), "found").is_empty());
    let all = found.len() + of_type(&search("4"), "found").len();
    assert!((4..=8).contains(&all), "{all}");
    assert_eq!(StoredPair::names(&keys).unwrap().len(), all);
    // No temporary file remains.
    assert_eq!(names(&keys).len(), 2 * all + 1);
}

#[test]
fn a_key_that_others_can_read_does_not_count() {
    let directory = TempDir::new().unwrap();
    let keys = directory.path().join("keys");
    let search = || run(program(&["--json", "ab", "-d"]).arg(&keys));
    let first = objects(&search().stdout);
    let private = Path::new(text(of_type(&first, "found")[0], "private_key_file"));
    let content = fs::read(private).unwrap();
    fs::remove_file(private).unwrap();
    foreign::create_for_everyone(private).write_all(&content).unwrap();
    assert_eq!(ForeignAccess::of(&File::open(private).unwrap()).unwrap().unwrap().to_string(), "Everyone");

    let ran = search();
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("other users can access it (Everyone)"), "{}", ran.stderr);
    assert_eq!(of_type(&objects(&ran.stdout), "found").len(), 1);
}

#[test]
fn names_of_devices_and_streams_get_no_key() {
    let directory = TempDir::new().unwrap();
    for name in ["NUL", "con", "Aux.pem", "COM1", "key:stream", "a?b", "a*", "key.", "key "] {
        let ran = run(program(&["ab", "-o", name]).current_dir(&directory));
        assert_eq!(ran.status, Some(2), "{name}: {ran:?}");
        assert!(ran.stderr.starts_with(&format!("error: '{name}' does not name a file")), "{ran:?}");
        assert_eq!(ran.stdout, "", "{name}");
        assert_eq!(names(directory.path()), [""; 0], "{name}");
    }
}

#[test]
fn a_private_key_is_not_written_to_the_null_device() {
    let null = || File::options().write(true).open("NUL").unwrap();
    let mut refused = start(program(&["ab"]).stdout(null()).stderr(Stdio::piped()));
    let mut stderr = String::new();
    refused.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert!(stderr.starts_with("error: stdout is closed or the null device"), "{stderr}");
    assert_eq!(refused.end().status, Some(2));
    assert_eq!(start(program(&["--estimate", "ab"]).stdout(null())).end().status, Some(0));
}

#[test]
fn files_may_have_the_line_endings_of_windows() {
    let directory = TempDir::new().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("patterns"), "# two\r\nab\r\n\r\n  +c\r\n").unwrap();
    fs::write(at("marked"), "\u{feff}ab\r\n").unwrap();
    for (name, expected) in [("patterns", &["ab", "+c"][..]), ("marked", &["ab"])] {
        let ran = succeed(program(&["--json", "-q", "-f"]).arg(at(name)));
        let objects = objects(&ran.stdout);
        let patterns: Vec<&str> =
            of_type(&objects, "estimate").iter().map(|object| text(object, "pattern")).collect();
        assert_eq!(patterns, expected, "{name}");
    }
    // The passphrase is the line without its ending. The first run encrypts with it, the second opens
    // the key with it.
    for text in ["secret wörd\r\n", "secret wörd\n"] {
        fs::write(at("secret"), text).unwrap();
        let search = ["--format", "pkcs8", "--pbkdf2-rounds", "1000", "--json", "ab", "-d", "keys"];
        let mut search = program(&search[..2]);
        search.args(["--json", "ab", "-d", "keys", "--passphrase-file"]).arg(at("secret"));
        let ran = succeed(search.current_dir(&directory));
        assert_eq!(of_type(&objects(&ran.stdout), "found").len(), usize::from(text.ends_with("\r\n")));
    }
    let mut piped = program(&["ab", "-o", "piped", "--passphrase-file", "-"]);
    let mut child = start(piped.current_dir(&directory).stdin(Stdio::piped()).stdout(Stdio::piped()));
    child.stdin.take().unwrap().write_all(b"secret\r\n").unwrap();
    assert_eq!(child.end().status, Some(0));
    let key = ssh_key::PrivateKey::from_openssh(read(&at("piped"))).unwrap();
    assert!(key.is_encrypted() && key.decrypt("secret").is_ok());
}

#[test]
fn ctrl_break_ends_a_search_and_keeps_what_was_found() {
    if !foreign::has_break() {
        crate::require::missing("Ctrl-Break");
        return;
    }
    let directory = TempDir::new().unwrap();
    let keys = directory.path().join("keys");
    let mut search = program(&["--json", "-t", "2", "-n", ENDLESS, "ab", "-d"]);
    // The event reaches this group of processes, not the tests.
    search.creation_flags(foreign::NEW_GROUP);
    let mut child = start(search.arg(&keys).stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut stdout = child.stdout.take().unwrap();
    let mut seen = String::new();
    while seen.matches("\"type\":\"found\"").count() < 3 {
        let mut bytes = [0; 4096];
        let read = stdout.read(&mut bytes).unwrap();
        assert_ne!(read, 0, "{seen}");
        seen += std::str::from_utf8(&bytes[..read]).unwrap();
    }
    foreign::send_break(child.id());
    stdout.read_to_string(&mut seen).unwrap();
    let ran = child.end();
    assert_eq!(ran.status, Some(130), "{ran:?}");
    let objects = objects(&seen);
    let (summary, _) = objects.split_last().unwrap();
    assert_eq!((text(summary, "type"), text(summary, "reason")), ("summary", "signal"));
    check_finds(&of_type(&objects, "found"), &keys);
}

#[test]
fn a_killed_search_leaves_every_reported_key_whole() {
    let directory = TempDir::new().unwrap();
    let keys = directory.path().join("keys");
    let (mut child, mut stdout, mut lines, stderr) = program::endless("ab", &keys, 3);
    child.kill().unwrap();
    stdout.read_to_string(&mut lines).unwrap();
    drop(child);
    stderr.join().unwrap();
    let lines = &lines[..=lines.rfind('\n').unwrap()];
    for object in of_type(&objects(lines), "found") {
        assert_eq!(check_pair(Path::new(text(object, "private_key_file"))), text(object, "public_key"));
    }
    // The next search removes what the killed one has left.
    fs::write(keys.join(".vanity-ed25519-left.tmp"), "").unwrap();
    let held = File::create(keys.join(".vanity-ed25519-held.tmp")).unwrap();
    succeed(program(&["+c", "-d"]).arg(&keys));
    let temporary = names(&keys).into_iter().filter(|name| name.ends_with(".tmp"));
    assert_eq!(temporary.collect::<Vec<_>>(), [".vanity-ed25519-held.tmp"]);
    drop(held);
}

#[test]
fn a_command_runs_by_cmd_with_the_public_data_of_its_find() {
    let directory = TempDir::new().unwrap();
    let search = |command: &str, args: &[&str]| {
        run(program(&["--json", "-C", "me & \"you\" 100%", "ab", "--exec", command])
            .args(args)
            .current_dir(&directory))
    };
    let ran = search("set > \"a file\" & echo from \"the command\"", &["-o", "id x"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let found = objects(&ran.stdout);
    let found = of_type(&found, "found")[0];
    // The stdout of the command is our stderr.
    assert!(ran.stderr.contains("from \"the command\""), "{}", ran.stderr);
    let variables = read(&directory.path().join("a file"));
    for (name, value) in [
        ("PATTERN", "ab"),
        ("PUBLIC_KEY", text(found, "public_key")),
        ("FINGERPRINT", text(found, "fingerprint")),
        ("PRIVATE_KEY_FILE", "id x"),
        ("PUBLIC_KEY_FILE", "id x.pub"),
    ] {
        let line = format!("VANITY_{name}={value}");
        assert!(variables.lines().any(|other| other.trim_end() == line), "{line} in {variables}");
    }
    check_secret(&program::Ran { status: None, stdout: variables, stderr: ran.stderr }, &{
        read(&directory.path().join("id x"))
    });
    let ran = search("exit 7", &["-o", "id_y"]);
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("the command for 'ab' failed: exit code: 7"), "{}", ran.stderr);
    check_pair(&directory.path().join("id_y"));
}

#[test]
fn keys_go_into_the_agent_by_its_pipe() {
    let pipe = format!(r"\\.\pipe\vanity-ed25519-{}", std::process::id());
    let agent = foreign::agent(&pipe);
    let ran = succeed(program(&["--json", "--agent", "ab"]).env("SSH_AUTH_SOCK", &pipe));
    let found = objects(&ran.stdout);
    let line = text(of_type(&found, "found")[0], "public_key").to_owned();
    let held = agent.lock().unwrap();
    assert_eq!(held.len(), 1);
    let held = vanity_search::key::PublicKey(held[0][19..].try_into().unwrap());
    assert_eq!(held.line("ab"), line);

    let nobody = r"\\.\pipe\vanity-ed25519-nobody";
    let ran = run(program(&["--agent", "ab"]).env("SSH_AUTH_SOCK", nobody));
    assert_ne!(ran.status, Some(0));
    assert!(ran.stderr.contains("vanity-ed25519-nobody"), "{}", ran.stderr);
}

#[test]
fn a_key_on_stdout_has_the_line_endings_of_unix() {
    let ran = succeed(&mut program(&["ab"]));
    derived(&ran.stdout);
    assert!(!ran.stdout.contains('\r'));
    let ran = succeed(&mut program(&["--color", "always", "ab"]));
    assert!(ran.stderr.contains("\x1b["), "{}", ran.stderr);
    assert_eq!(LEDGER, "vanity-ed25519.jsonl");
}
