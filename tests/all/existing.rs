//! Tests of directories that hold keys already. A key counts only if the program can open its
//! private file, and if the file holds the key that the ledger names.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Read as _};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::terminal::{AGAIN, PROMPT, Typist};
use crate::{program, require};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use program::{
    ENDLESS, LEDGER, NEVER, Ran, check_pair, command, executable, is_root, names, objects, of_type,
    private_paths, program, public_path, run, start, strace, succeed, text, wait_until,
};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// A directory of keys, and beside it a file with a passphrase.
struct Place {
    outer: TempDir,
}

impl Place {
    fn new() -> Self {
        let outer = TempDir::new().unwrap();
        fs::write(outer.path().join("pw"), "secret\n").unwrap();
        fs::set_permissions(outer.path().join("pw"), fs::Permissions::from_mode(0o600)).unwrap();
        Self { outer }
    }

    fn keys(&self) -> PathBuf {
        self.outer.path().join("keys")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = program(&["-d", "keys"]);
        command.args(args).current_dir(self.outer.path());
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        run(&mut self.command(args))
    }

    /// Runs a search that succeeds, and returns what it wrote to stderr and the private files of
    /// its finds.
    fn find(&self, args: &[&str]) -> (String, Vec<PathBuf>) {
        let ran = succeed(self.command(args).arg("--json"));
        let objects = objects(&ran.stdout);
        let found = of_type(&objects, "found");
        let files =
            found.iter().map(|found| self.outer.path().join(text(found, "private_key_file"))).collect();
        (ran.stderr, files)
    }

    /// Returns every file of the directory with its bytes, except the ledger.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let names = names(&self.keys()).into_iter().filter(|name| name != LEDGER);
        let bytes = |path: PathBuf| if path.is_file() { fs::read(path).unwrap() } else { Vec::new() };
        names.map(|name| (name.clone(), bytes(self.keys().join(name)))).collect()
    }

    /// Checks that no file of `before` has changed, except `but`.
    fn check_unchanged(&self, before: &[(String, Vec<u8>)], but: &str) {
        let after = self.files();
        for file in before.iter().filter(|(name, _)| name != but) {
            assert!(after.contains(file), "{} was changed", file.0);
        }
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

const ENCRYPT: [&str; 4] = ["--passphrase-file", "pw", "--rounds", "1"];

#[test]
fn keys_in_the_clear_are_refused_if_keys_must_be_encrypted() {
    let place = Place::new();
    let (_, files) = place.find(&["-n", "2", "Ab"]);
    let before = place.files();
    let ledger = fs::read(place.keys().join(LEDGER)).unwrap();
    for missing in [false, true] {
        if missing {
            // Without the ledger they would count as well.
            fs::remove_file(place.keys().join(LEDGER)).unwrap();
        }
        let ran = place.run(&[&ENCRYPT[..], &["-n", "3", "Ab"]].concat());
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
        assert!(ran.stderr.starts_with("error: 2 existing keys are not encrypted: "), "{}", ran.stderr);
        for file in &files {
            assert!(ran.stderr.contains(file.file_name().unwrap().to_str().unwrap()), "{}", ran.stderr);
        }
        assert!(
            ran.stderr.contains("\nhint: encrypt each one with `ssh-keygen -p -f FILE`"),
            "{}",
            ran.stderr
        );
        assert_eq!(place.files(), before);
        fs::write(place.keys().join(LEDGER), &ledger).unwrap();
    }
    // Keys of other patterns do not count, so the program does not refuse them.
    assert_eq!(place.find(&[&ENCRYPT[..], &["Ba"]].concat()).1.len(), 1);

    // The advice of the hint works.
    let Some(ssh_keygen) = require::tool("ssh-keygen") else { return };
    for file in &files {
        succeed(command(&ssh_keygen).args(["-q", "-p", "-P", "", "-N", "secret", "-f"]).arg(file));
    }
    let (_, more) = place.find(&[&ENCRYPT[..], &["-n", "3", "Ab"]].concat());
    assert_eq!(more.len(), 1);
}

#[test]
fn encrypted_keys_count_without_a_passphrase_and_a_note_says_so() {
    let place = Place::new();
    place.find(&[&ENCRYPT[..], &["-n", "2", "Ab"]].concat());
    let (stderr, files) = place.find(&["-n", "3", "Ab"]);
    assert_eq!(files.len(), 1);
    assert!(stderr.contains("note: 2 existing keys are encrypted; new keys will not be\n"), "{stderr}");
}

#[test]
fn a_sound_directory_causes_one_line_for_each_pattern_that_has_keys() {
    let place = Place::new();
    place.find(&["Ab"]);
    let ran = succeed(&mut place.command(&["-n", "2", "Ab", "Ba"]));
    let lines: Vec<&str> = ran.stderr.lines().take_while(|line| !line.starts_with("found ")).collect();
    let expected = ["'Ab' already has 1 of 2 keys", "Ab: 1 in 24.3", "Ba: 1 in 24.3", "any of 2: 1 in 12.7"];
    assert_eq!(lines, expected);
}

#[test]
fn encrypted_pkcs8_is_opened_if_a_passphrase_is_given() {
    let place = Place::new();
    let pkcs8 = ["--passphrase-file", "pw", "--format", "pkcs8", "Ab"];
    let (_, files) = place.find(&pkcs8);
    assert_eq!(place.find(&pkcs8).1.len(), 0);
    // Without a passphrase the key counts unopened.
    let (stderr, more) = place.find(&["Ab"]);
    assert_eq!(more.len(), 0);
    let note = "note: these keys count although they cannot be checked without their passphrase: 'keys/Ab-";
    assert!(stderr.contains(note), "{stderr}");
    // With another passphrase it does not count.
    let before = place.files();
    fs::write(place.outer.path().join("pw"), "other\n").unwrap();
    let (stderr, more) = place.find(&pkcs8);
    assert_eq!(more.len(), 1);
    let name = files[0].file_name().unwrap().to_str().unwrap();
    let message = format!("warning: 'keys/{name}' does not count: the passphrase does not open it\n");
    assert!(stderr.contains(&message), "{stderr}");
    place.check_unchanged(&before, "");
}

/// The program asks for a passphrase once, even if it has to open files with it first.
#[test]
fn a_typed_passphrase_opens_existing_keys() {
    let Some(script) = require::tool("script") else { return };
    let place = Place::new();
    let pkcs8 = ["--passphrase-file", "pw", "--format", "pkcs8", "Ab"];
    place.find(&pkcs8);
    // This key needs no passphrase to count, and the ledger does not have it.
    let ledger = fs::read(place.keys().join(LEDGER)).unwrap();
    place.find(&[&ENCRYPT[..], &["-n", "2", "Ab"]].concat());
    fs::write(place.keys().join(LEDGER), ledger).unwrap();
    let line = "exec \"$P\" -d keys --passphrase --format pkcs8 -n 3 Ab";
    let mut typist = Typist::start(&script, place.outer.path(), line);
    typist.answer(PROMPT, "secret\n");
    typist.answer(AGAIN, "secret\n");
    let (status, shown) = typist.end();
    assert_eq!(status, Some(0), "{shown}");
    assert_eq!(shown.matches(PROMPT).count(), 1, "{shown}");
    assert!(shown.contains("'Ab' already has 2 of 3 keys"), "{shown}");
    assert!(shown.contains("1 key was missing from "), "{shown}");
    assert!(!shown.contains("cannot be checked"), "{shown}");
    assert_eq!(place.find(&[&pkcs8[..], &["-n", "3"]].concat()).1.len(), 0);
}

#[test]
fn a_damaged_key_is_named_and_a_new_one_is_made_beside_it() {
    type Harm = fn(&Path, &Path);
    let harms: [(&str, Harm); 11] = [
        ("it is empty", |file, _| fs::write(file, "").unwrap()),
        ("it is not a complete Ed25519 private key", |file, _| {
            let text = fs::read(file).unwrap();
            fs::write(file, &text[..text.len() / 2]).unwrap();
        }),
        ("it is a broken link", |file, _| {
            fs::remove_file(file).unwrap();
            symlink("nowhere", file).unwrap();
        }),
        ("it is a directory", |file, _| {
            fs::remove_file(file).unwrap();
            fs::create_dir(file).unwrap();
        }),
        ("it is not a regular file", |file, _| {
            fs::remove_file(file).unwrap();
            symlink("/dev/zero", file).unwrap();
        }),
        ("it is too large for a key", |file, _| {
            fs::File::options().write(true).open(file).unwrap().set_len(2 << 20).unwrap();
        }),
        ("it contains another key", |file, other| assert!(fs::copy(other, file).is_ok())),
        ("other users can access it (mode 0644)", |file, _| set_mode(file, 0o644)),
        ("its public file does not contain its public key", |file, other| {
            assert!(fs::copy(public_path(other), public_path(file)).is_ok());
        }),
        ("its public file does not contain its public key", |file, _| {
            fs::write(public_path(file), "").unwrap()
        }),
        ("its public file does not contain its public key", |file, _| {
            fs::remove_file(public_path(file)).unwrap();
            symlink("nowhere", public_path(file)).unwrap();
        }),
    ];
    // Each harm is done to a key of its own, and one key stays sound. Ten keys are named at most.
    for (harms, ledger) in harms.chunks(6).flat_map(|harms| [(harms, true), (harms, false)]) {
        let place = Place::new();
        let count = (harms.len() + 1).to_string();
        let (_, files) = place.find(&["-n", &count, "Ab"]);
        for ((_, harm), file) in harms.iter().zip(&files) {
            harm(file, &files[harms.len()]);
        }
        if !ledger {
            fs::remove_file(place.keys().join(LEDGER)).unwrap();
        }
        let before = place.files();
        let (stderr, more) = place.find(&["-n", &count, "Ab"]);
        assert_eq!(more.len(), harms.len(), "{stderr}");
        for ((why, _), file) in harms.iter().zip(&files) {
            let name = file.file_name().unwrap().to_str().unwrap();
            let message = format!("warning: 'keys/{name}' does not count: {why}");
            assert!(stderr.contains(&message), "{message}: {stderr}");
        }
        more.iter().for_each(|file| drop(check_pair(file)));
        place.check_unchanged(&before, "");
        assert_eq!(place.find(&["-n", &count, "Ab"]).1.len(), 0);
    }
}

#[test]
fn a_line_of_the_ledger_proves_nothing() {
    let place = Place::new();
    let (_, files) = place.find(&["-n", "2", "Ab"]);
    let ledger = place.keys().join(LEDGER);
    let text = fs::read_to_string(&ledger).unwrap();

    // The ledger names a pattern that the keys do not show. They count for what they show.
    let other = "0123456789";
    let false_pattern = text.replace("\"pattern\":\"Ab\"", &format!("\"pattern\":\"{other}\""));
    fs::write(&ledger, &false_pattern).unwrap();
    let ran = place.run(&["--timeout", "100ms", "-n", "2", other]);
    assert_eq!(ran.status, Some(3), "{}", ran.stderr);
    let invalid = format!("note: 2 lines of 'keys/{LEDGER}' are not valid and are ignored\n");
    assert!(ran.stderr.contains(&invalid), "{}", ran.stderr);
    let (stderr, more) = place.find(&["-n", "2", "Ab"]);
    assert_eq!(more.len(), 0, "{stderr}");
    assert!(stderr.contains(&invalid), "{stderr}");

    // Lines name the files of each other, and the key of another file.
    let lines: Vec<&str> = text.lines().collect();
    let name = |line: &str| {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        entry["file"].as_str().unwrap().to_owned()
    };
    let [one, other] = [lines[0], lines[1]].map(name);
    let swapped = [lines[0].replace(&one, &other), lines[1].replace(&other, &one)].join("\n") + "\n";
    fs::write(&ledger, &swapped).unwrap();
    let (stderr, more) = place.find(&["-n", "2", "Ab"]);
    assert_eq!(more.len(), 0, "{stderr}");
    assert!(stderr.contains(&invalid), "{stderr}");
    let entered = fs::read_to_string(&ledger).unwrap();
    assert_eq!(entered.lines().filter(|line| [&one, &other].contains(&&name(line))).count(), 4);

    // A line that comes twice, or after a wrong one, counts once.
    fs::write(&ledger, format!("{swapped}{text}{text}")).unwrap();
    let (stderr, more) = place.find(&["-n", "3", "Ab"]);
    assert_eq!(more.len(), 1, "{stderr}");

    // A copy of a key does not count.
    fs::write(&ledger, &text).unwrap();
    let copy = PathBuf::from(format!("{}.pem", files[0].display()));
    fs::copy(&files[0], &copy).unwrap();
    let (stderr, _) = place.find(&["-n", "4", "Ab"]);
    assert!(
        stderr.contains(".pem' does not count: it is a copy of another key in the directory\n"),
        "{stderr}"
    );
}

/// Whoever put a key there knows it, whatever its mode is.
#[test]
fn a_key_of_another_user_does_not_count() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let (_, files) = place.find(&["-n", "2", "Ab"]);
    let name = files[0].file_name().unwrap().to_str().unwrap();
    chown(&files[0], Some(4321), None).unwrap();
    // That of a public file does not matter.
    chown(public_path(&files[1]), Some(4321), None).unwrap();
    chown(place.keys(), Some(4321), None).unwrap();
    let (stderr, more) = place.find(&["-n", "2", "Ab"]);
    assert_eq!(more.len(), 1, "{stderr}");
    let message =
        format!("warning: 'keys/{name}' does not count: other users can access it (it belongs to user 4321)");
    assert!(stderr.contains(&message), "{stderr}");
    assert_eq!(place.find(&["-n", "3", "Ab", "--allow-exposed"]).1.len(), 0);

    // That of root counts for everybody who can read it.
    let Some(setpriv) = require::tool("setpriv") else { return };
    chown(place.keys(), Some(4321), None).unwrap();
    chown(place.keys().join(LEDGER), Some(4321), None).unwrap();
    for file in &more {
        chown(file, Some(4321), None).unwrap();
    }
    set_mode(place.outer.path(), 0o711);
    let mut search = command(&setpriv);
    search.args(["--reuid=4321", "--clear-groups", executable(), "-d", "keys", "-n", "2", "Ab"]);
    let ran = succeed(search.current_dir(place.outer.path()));
    assert!(ran.stderr.contains("nothing to do: all keys exist"), "{}", ran.stderr);

    let pw = place.outer.path().join("pw");
    chown(&pw, Some(4321), None).unwrap();
    let warning = "warning: other users can access the passphrase file ";
    let encrypt = ["--rounds", "1", "--passphrase-file"];
    let ran = place.run(&[&encrypt[..], &["pw", "Ba"]].concat());
    let message = format!("{warning}'pw' (it belongs to user 4321)");
    assert!(ran.status == Some(0) && ran.stderr.starts_with(&message), "{}", ran.stderr);
    let ran = run(place.command(&encrypt).args(["-", "ba"]).stdin(fs::File::open(&pw).unwrap()));
    let message = format!("{warning}stdin (it belongs to user 4321)");
    assert!(ran.status == Some(0) && ran.stderr.starts_with(&message), "{}", ran.stderr);

    // So does a pipe with a name, and not one without.
    let script = "mkfifo -m 600 pipe && chown 4321 pipe && { cat pw > pipe & exec \"$0\" \"$@\" pipe bA; }";
    let search = |script: &str| {
        let mut search = command("sh");
        search.args(["-c", script, executable(), "-d", "keys"]).args(encrypt).current_dir(&place.outer);
        run(&mut search)
    };
    let ran = search(script);
    let message = format!("{warning}'pipe' (it belongs to user 4321)");
    assert!(ran.status == Some(0) && ran.stderr.starts_with(&message), "{ran:?}");
    let ran = search("cat pw | \"$0\" \"$@\" /dev/stdin BA");
    assert!(ran.status == Some(0) && !ran.stderr.contains("warning: other users"), "{ran:?}");
}

/// With the passphrase, a key whose encrypted part is damaged does not count.
#[test]
fn encrypted_keys_are_opened_with_the_passphrase() {
    for format in ["openssh", "ppk"] {
        let place = Place::new();
        let rounds: &[&str] = if format == "openssh" { &["--rounds", "1"] } else { &[] };
        let search = [&["--passphrase-file", "pw", "--format", format, "-n", "2", "Ab"][..], rounds].concat();
        let (_, files) = place.find(&search);
        let mut text = fs::read(&files[0]).unwrap();
        let at = text.len() - 120;
        text[at] = if text[at] == b'2' { b'3' } else { b'2' };
        fs::write(&files[0], text).unwrap();
        let (stderr, more) = place.find(&search);
        assert_eq!(more.len(), 1, "{format}: {stderr}");
        let name = files[0].file_name().unwrap().to_str().unwrap();
        let message = format!("warning: 'keys/{name}' does not count: the passphrase does not open it\n");
        assert!(stderr.contains(&message), "{format}: {stderr}");
    }
}

/// To open many keys with the passphrase takes long: a line says so, and the timeout ends it.
#[test]
fn the_timeout_is_heard_while_keys_are_opened() {
    let place = Place::new();
    let (_, files) = place.find(&[&ENCRYPT[..], &["Ab"]].concat());
    // The file now says that it costs more rounds than the program tries in this time. They follow the
    // name, two lengths and 16 bytes of salt.
    let text = fs::read_to_string(&files[0]).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let [begin, base64 @ .., end] = &lines[..] else { panic!("{text}") };
    let mut bytes = STANDARD.decode(base64.concat()).unwrap();
    let at = bytes.windows(6).position(|name| name == b"bcrypt").unwrap() + 6 + 4 + 4 + 16;
    assert_eq!(bytes[at..at + 4], 1u32.to_be_bytes());
    bytes[at..at + 4].copy_from_slice(&5000u32.to_be_bytes());
    let base64 = STANDARD.encode(bytes);
    let base64 = base64.as_bytes().chunks(70).map(|line| str::from_utf8(line).unwrap());
    let lines: Vec<&str> = std::iter::once(*begin).chain(base64).chain([*end]).collect();
    fs::write(&files[0], lines.join("\n") + "\n").unwrap();
    let ran = place.run(&[&ENCRYPT[..], &["--timeout", "1500ms", "Ab"]].concat());
    assert_eq!(ran.status, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("opening 1 existing key: 0 after 1 s; Ctrl-C ends it\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("opening its keys takes longer"), "{}", ran.stderr);
}

/// The program leaves the keys of others alone, even if they are named like its own.
#[test]
fn a_public_file_is_made_only_beside_a_key_of_the_program() {
    let place = Place::new();
    fs::create_dir(place.keys()).unwrap();
    let other = Place::new();
    let (_, files) = other.find(&["Ab"]);
    let (_, digits) = files[0].to_str().unwrap().rsplit_once('-').unwrap();
    for name in ["backup-0123456789abcdef", &format!("backup-{digits}"), "Ab-0123456789abcdef"] {
        fs::copy(&files[0], place.keys().join(name)).unwrap();
    }
    let before = place.files();
    let (_, more) = place.find(&["Ab"]);
    assert_eq!(more.len(), 1);
    place.check_unchanged(&before, "");
    let public = names(&place.keys()).into_iter().filter(|name| name.ends_with(".pub")).collect::<Vec<_>>();
    assert_eq!(public, [public_path(&more[0]).file_name().unwrap().to_str().unwrap()]);
}

#[test]
fn hostile_lines_of_a_ledger_cost_little_memory() {
    let place = Place::new();
    place.find(&["Ab"]);
    let path = place.keys().join(LEDGER);
    let good = fs::read_to_string(&path).unwrap();
    let long = |middle: &str, len: usize| middle.repeat(len / middle.len());
    for hostile in [
        format!("{{\"attempts\":[{}1]}}", long("[],", 900 << 10)),
        format!("{{\"also\":[{}1]}}", long("{},", 900 << 10)),
        format!("{{\"x\":{}", long("[", 900 << 10)),
        format!("{{\"x\":[{}1]}}", long("[],", 6 << 20)),
        long("{\"a\":", 6 << 20),
    ] {
        fs::write(&path, format!("{hostile}\n{good}")).unwrap();
        let script = "ulimit -v 300000; exec \"$0\" -d keys --json --engine reference -t 1 Ab";
        let ran = succeed(command("sh").args(["-c", script, executable()]).current_dir(place.outer.path()));
        assert!(
            ran.stderr.contains("note: 1 line of 'keys/vanity-ed25519.jsonl' is not valid"),
            "{}",
            ran.stderr
        );
        assert!(!ran.stdout.contains("\"found\",\"pattern\""), "{}", ran.stdout);
    }
}

/// If a system lacks one way to make or name a file, or forbids it, the program uses another.
#[test]
fn a_system_without_some_ways_to_name_files_is_good_enough() {
    let Some(cc) = require::tool("cc") else { return };
    let outer = TempDir::new().unwrap();
    let [source, forbid] = ["forbid.c", "forbid"].map(|name| outer.path().join(name));
    fs::write(&source, include_str!("forbid.c")).unwrap();
    succeed(command(cc).arg("-o").args([&forbid, &source]));
    let search = |errno: Errno, ways: &[&str], args: &[&str]| {
        let mut search = command(&forbid);
        search.arg(errno.raw_os_error().to_string()).args(ways).args(["--", executable(), "-q"]).args(args);
        search.current_dir(&outer);
        search
    };
    let errors = [Errno::PERM, Errno::ACCESS, Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP];
    let ways = [&["linkat"][..], &["tmpfile", "linkat", "renameat2"]];
    let of_each = errors.iter().flat_map(|errno| ways.map(|ways| (errno, ways)));
    let of_one = [&["tmpfile"][..], &["linkat", "renameat2"]].map(|ways| (&errors[0], ways));
    for (number, (errno, ways)) in of_each.chain(of_one).enumerate() {
        let [file, keys] = ["file", "keys"].map(|name| format!("{name}{number}"));
        succeed(&mut search(*errno, ways, &["ab", "-o", &file]));
        check_pair(&outer.path().join(&file));
        let again = run(&mut search(*errno, ways, &["ab", "-o", &file]));
        assert!(again.status == Some(2) && again.stderr.contains("already exists"), "{again:?}");
        succeed(&mut search(*errno, ways, &["ab", "-n", "2", "-d", &keys]));
        let keys = outer.path().join(keys);
        private_paths(&keys).iter().for_each(|private| drop(check_pair(private)));
        assert_eq!(names(&keys).len(), 5, "{errno}: {ways:?}: {:?}", names(&keys));
    }
    // With files that cannot be read and written at once, there is no ledger.
    let ways = ["tmpfile", "linkat", "renameat2", "both"];
    succeed(&mut search(Errno::PERM, &ways, &["ab", "-o", "write_only"]));
    check_pair(&outer.path().join("write_only"));
    let ran = run(&mut search(Errno::PERM, &ways, &["-t", "1", "--however-long", NEVER, "-d", "none"]));
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("this one cannot append to files\n"), "{ran:?}");
    let left = names(outer.path());
    assert!(!left.iter().any(|name| name.ends_with(".tmp")), "{left:?}");
}

/// The trial takes the step that the last one of a key is.
#[test]
fn a_system_without_syncs_is_refused_before_the_search() {
    let Some(strace) = strace() else { return };
    for option in ["-o", "-d"] {
        let directory = TempDir::new().unwrap();
        let mut command = command(&strace);
        command.args(["-f", "-qq", "-o", "/dev/null", "-e", "inject=fsync:error=EIO"]);
        // If the program did not refuse, this search would not end.
        let ran = run(command
            .args([executable(), "-t", "1", "--however-long", NEVER, option])
            .arg(directory.path().join("target")));
        assert_eq!(ran.status, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.starts_with("error: cannot create files in '"), "{}", ran.stderr);
        let left = names(directory.path());
        assert!(!left.iter().any(|name| name.ends_with(".tmp")), "{left:?}");
    }
}

/// Reads stderr until it says that another process is waited for.
fn await_waiting(stderr: &mut impl BufRead) -> String {
    let mut said = String::new();
    while !said.contains("waiting for another process, which is using") {
        assert_ne!(stderr.read_line(&mut said).unwrap(), 0, "{said}");
    }
    said
}

#[test]
fn a_ledger_that_another_process_uses_is_waited_for() {
    let place = Place::new();
    succeed(&mut place.command(&["abc"]));
    let ledger = fs::File::open(place.keys().join(LEDGER)).unwrap();
    let counts = || {
        let lines = fs::read_to_string(place.keys().join(LEDGER)).unwrap().lines().count();
        (names(&place.keys()).iter().filter(|name| name.ends_with(".pub")).count(), lines)
    };
    let search = |args: &[&str]| {
        let mut child = start(place.command(args).stdout(Stdio::null()).stderr(Stdio::piped()));
        let stderr = BufReader::new(child.stderr.take().unwrap());
        (child, stderr)
    };
    // A signal ends the waiting before the search, and during it; so does the timeout.
    ledger.lock().unwrap();
    let (quiet, mut said_to_quiet) = search(&["-q", "-n", "2", "abc"]);
    let (child, mut stderr) = search(&["-n", "2", "abc"]);
    await_waiting(&mut stderr);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_ne!(child.end().status, Some(0));
    assert_eq!(counts(), (1, 1));
    let (child, mut stderr) = search(&["--timeout", "1s", "-n", "2", "abc"]);
    await_waiting(&mut stderr);
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!((child.end().status, counts()), (Some(3), (1, 1)));
    assert!(said.contains("before the time limit: another process is using it\n"), "{said}");
    let said = await_waiting(&mut said_to_quiet);
    assert!(said.starts_with("error: waiting for another process, "), "{said}");
    kill_process(Pid::from_child(&quiet), Signal::INT).unwrap();
    assert_eq!((quiet.end().status, counts()), (Some(130), (1, 1)));
    let (child, mut stderr) = search(&["-n", "2", "abc"]);
    await_waiting(&mut stderr);
    ledger.unlock().unwrap();
    stderr.read_to_string(&mut String::new()).unwrap();
    assert_eq!(child.end().status, Some(0));
    assert_eq!(counts(), (2, 2));

    let (child, mut stderr) = search(&["-t", "1", "-n", ENDLESS, "abc"]);
    wait_until("keys are made", || counts().1 > 2);
    ledger.lock().unwrap();
    await_waiting(&mut stderr);
    let (pairs, lines) = counts();
    assert!(pairs > lines, "the keys are stored all the same: {pairs} and {lines}");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!(child.end().status, Some(130), "{said}");
    assert!(said.contains("is using it\n"), "{said}");
    ledger.unlock().unwrap();
    succeed(&mut place.command(&["-n", &counts().0.to_string(), "abc"]));
    assert_eq!(counts().0, counts().1);
}

/// With calls that are slow for longer than a ledger is usually held, two processes in one directory
/// do not get in each other's way.
#[test]
fn slow_calls_let_no_process_overtake_another() {
    let Some(strace) = require::tool("strace") else { return };
    std::thread::scope(|scope| {
        for call in ["linkat", "fsync", "flock"] {
            let strace = &strace;
            scope.spawn(move || {
                let place = Place::new();
                let slow = format!("inject={call}:delay_enter=600000");
                let search = || {
                    let mut traced = command(strace);
                    traced.args([
                        "-f",
                        "-qq",
                        "-o",
                        "/dev/null",
                        "-e",
                        &format!("trace={call}"),
                        "-e",
                        &slow,
                    ]);
                    traced.args([executable(), "-q", "-t", "1", "-n", "2", "ab", "-d", "keys"]);
                    start(traced.current_dir(&place.outer).stdout(Stdio::null()).stderr(Stdio::piped()))
                };
                let both = [search(), search()];
                for ran in both.map(program::Running::end) {
                    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{call}");
                }
                let ledger = fs::read_to_string(place.keys().join(LEDGER)).unwrap();
                let mut files: Vec<String> =
                    objects_of(&ledger).map(|line| text(&line, "file").to_owned()).collect();
                files.sort();
                let all = files.len();
                files.dedup();
                assert_eq!(files.len(), all, "{call}: {ledger}");
                files.iter().for_each(|file| drop(check_pair(&place.keys().join(file))));
                let pairs = names(&place.keys()).iter().filter(|name| name.ends_with(".pub")).count();
                assert_eq!(pairs, all, "{call}");
            });
        }
    });
}

/// Returns the objects of a ledger.
fn objects_of(ledger: &str) -> impl Iterator<Item = serde_json::Value> {
    ledger.lines().map(|line| serde_json::from_str(line).unwrap())
}

/// Somebody who can read an old ledger can lock it. That costs no key, and is said once.
#[test]
fn keys_are_stored_while_somebody_holds_the_ledger() {
    for quiet in [false, true] {
        let place = Place::new();
        succeed(&mut place.command(&["-q", "ab"]));
        let ledger = fs::File::open(place.keys().join(LEDGER)).unwrap();
        // Both grow to some hundred, and are counted often.
        let counts = || {
            let lines = fs::read_to_string(place.keys().join(LEDGER)).unwrap().lines().count();
            let is_public = |file: &std::io::Result<fs::DirEntry>| {
                file.as_ref().unwrap().file_name().as_encoded_bytes().ends_with(b".pub")
            };
            (fs::read_dir(place.keys()).unwrap().filter(is_public).count(), lines)
        };
        let more: &[&str] = if quiet { &["-q"] } else { &[] };
        let mut search = place.command(&["-t", "1", "-n", ENDLESS, "ab"]);
        let said = place.outer.path().join("said");
        let stderr = fs::File::create(&said).unwrap();
        let child = start(search.args(more).stdout(Stdio::null()).stderr(stderr));
        wait_until("keys are made", || counts().1 > 2);
        ledger.lock().unwrap();
        let (_, lines) = counts();
        // More than were in hand when the lock came, and no further line.
        wait_until("the search goes on", || counts().0 > lines + 300);
        assert_eq!(counts().1, lines);
        let times_said = || {
            fs::read_to_string(&said).unwrap().matches("waiting for another process, which is using").count()
        };
        wait_until("that is said", || times_said() > 0);
        ledger.unlock().unwrap();
        wait_until("the lines follow", || counts().1 > lines + 300);
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert_eq!(child.end().status, Some(143));
        assert_eq!((times_said(), counts().0), (1, counts().1));
    }
}
