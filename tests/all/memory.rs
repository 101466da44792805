//! No secret stays in memory once a key is kept or thrown away, and no other process of the same
//! user can read that memory.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::num::NonZeroUsize;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::Mutex;

use crate::{program, putty, remains, require, ssh_agent};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_batch::memory::WipeStack;
use program::{NEVER, PROGRAM, Running, at_once, command, is_root, objects, of_type, program, seed, text};
use remains::{Needles, masked};
use rustix::process::{Pid, Signal, kill_process, setpriority_process};
use sha2::Digest as _;
use tempfile::TempDir;
use vanity_search::chacha::ChaCha20;
use vanity_search::engine::{self, Engine, EngineOptions, EngineWorker, Hit, SeedSource};
use vanity_search::pattern::{Kind, MatchOptions, Matcher, Pattern};
use vanity_search::search::{Quota, Search};
use zeroize::Zeroizing;

/// The number of keys in a batch whose secrets are searched for. To encrypt one takes long.
const KEYS: usize = 20;
const ENCRYPTED_KEYS: usize = 2;

/// The number of existing keys whose secrets are searched for.
const EXISTING: usize = 100;

/// Starts a search that reports its keys and then goes on, because it never finds one of its
/// patterns. Returns the process and the private files.
fn batch_that_goes_on(keys: usize, args: &[&str], without: &str, directory: &Path) -> (Running, Vec<String>) {
    let count = keys.to_string();
    let common = [
        "--json",
        "-q",
        "-t",
        "2",
        "--table-memory",
        "1MiB",
        "--however-long",
        "-n",
        &count,
        "abc",
        NEVER,
        "-d",
    ];
    let mut search = program(&common);
    search.env("VANITY_WITHOUT", without).env("SSH_AUTH_SOCK", directory.with_file_name("agent"));
    let mut child =
        program::start(search.arg(directory).args(args).stdout(Stdio::piped()).stderr(Stdio::null()));
    // After its keys it must only stay alive, and other tests have work. Its threads start later, and
    // inherit this.
    setpriority_process(Some(Pid::from_child(&child)), 19).unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut lines = String::new();
    while lines.matches("\"type\":\"found\"").count() < keys {
        assert_ne!(stdout.read_line(&mut lines).unwrap(), 0, "{lines}");
    }
    let objects = objects(&lines);
    let files = of_type(&objects, "found");
    (child, files.iter().map(|object| text(object, "private_key_file").to_owned()).collect())
}

/// Returns the characters of a private key's text that encode its seed and nothing else, with the
/// line ends between them.
fn seed_text(private: &str) -> String {
    let seed = seed(private);
    let (_, lines) = private.split_once("\nPrivate-Lines: 1\n").or(private.split_once('\n')).unwrap();
    let (lines, _) = lines.split_once("Private-MAC").or(lines.split_once("-----END")).unwrap();
    let bytes = STANDARD.decode(lines.replace('\n', "")).unwrap();
    let at = bytes.windows(32).rposition(|window| window == seed).unwrap();
    let (from, to) = (at.div_ceil(3) * 4, (at + 32) / 3 * 4);
    let line = lines.find('\n').unwrap();
    let place = |character: usize| character + character / line;
    lines[place(from)..place(to)].to_owned()
}

#[test]
fn nothing_is_left_of_a_reported_batch() {
    if !is_root() {
        return;
    }
    // Without AVX-512 another generator makes the seeds.
    for (args, without) in [
        (&[][..], ""),
        (&["--format", "pkcs8"], "avx512f"),
        (&["--format", "ppk"], "avx512f,avx2"),
        (&["--engine", "reference"], "avx512f"),
    ] {
        let directory = TempDir::new().unwrap();
        let (child, files) = batch_that_goes_on(KEYS, args, without, &directory.path().join("keys"));
        let mut needles = Needles::default();
        for (number, file) in files.iter().enumerate() {
            let private = fs::read_to_string(file).unwrap();
            needles.add_seed(&seed(&private).map(|byte| byte ^ masked(&[0])[0]), number);
            needles.add(&masked(seed_text(&private).as_bytes()), format!("text {number}"));
        }
        check_memory(child, needles, args);
    }
}

/// Agents that fall silent: when they get their first key, when they list it, and in the middle.
#[test]
fn nothing_is_left_of_keys_that_a_silent_agent_has() {
    if !is_root() {
        return;
    }
    at_once([0, 1, 7], |after| {
        let directory = TempDir::new().unwrap();
        let fault = move |count, _| (count >= ssh_agent::TRIAL + after).then_some(ssh_agent::Reply::Hang);
        ssh_agent::imitate(&directory.path().join("agent"), fault);
        let (child, files) = batch_that_goes_on(KEYS, &["--agent"], "", &directory.path().join("keys"));
        let mut needles = Needles::default();
        for (number, file) in files.iter().enumerate() {
            let private = fs::read_to_string(file).unwrap();
            needles.add_seed(&seed(&private).map(|byte| byte ^ masked(&[0])[0]), number);
        }
        check_memory(child, needles, &["--agent"]);
    });
}

const PASSPHRASE: &str = "correct horse";

/// Writes the passphrase to a file, and returns its path.
fn secret(directory: &TempDir) -> String {
    let secret = directory.path().join("secret");
    fs::write(&secret, PASSPHRASE).unwrap();
    secret.to_str().unwrap().to_owned()
}

#[test]
fn nothing_is_left_of_a_batch_that_was_encrypted() {
    if !is_root() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let secret = secret(&directory);
    for cipher in ["aes256-ctr", "aes256-gcm"] {
        let args = ["--passphrase-file", &secret, "--rounds", "1", "--cipher", cipher];
        let (child, files) = batch_that_goes_on(ENCRYPTED_KEYS, &args, "", &directory.path().join(cipher));
        let mut needles = Needles::default();
        for (number, file) in files.iter().enumerate() {
            let encrypted = ssh_key::PrivateKey::from_openssh(fs::read(file).unwrap()).unwrap();
            let private = encrypted.decrypt(PASSPHRASE).unwrap();
            // The key that is derived from the passphrase, and the hash of the passphrase, from
            // which bcrypt begins.
            let mut derived = [0; 48];
            encrypted.kdf().derive(PASSPHRASE, &mut derived).unwrap();
            needles.add(&masked(&derived[..16]), format!("derived key {number}, first half"));
            needles.add(&masked(&derived[16..32]), format!("derived key {number}, second half"));
            let hash = sha2::Sha512::digest(PASSPHRASE);
            for (at, part) in hash.chunks(16).enumerate() {
                needles.add(&masked(part), format!("hash of the passphrase, part {at}"));
            }
            let seed = private.key_data().ed25519().unwrap().private.to_bytes();
            needles.add_seed(&seed.map(|byte| byte ^ masked(&[0])[0]), number);
        }
        check_memory(child, needles, &args);
    }
}

#[test]
fn nothing_is_left_of_a_batch_that_was_encrypted_for_putty() {
    if !is_root() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let secret = secret(&directory);
    let args = ["--passphrase-file", &secret, "--format", "ppk"];
    let (child, files) = batch_that_goes_on(ENCRYPTED_KEYS, &args, "", &directory.path().join("keys"));
    let mut needles = Needles::default();
    for (number, file) in files.iter().enumerate() {
        let private = putty::open(&fs::read_to_string(file).unwrap(), PASSPHRASE).unwrap();
        // The keys of AES and of the MAC, the initialization vector, and the hash from which Argon2
        // begins.
        for (at, part) in private.derived.chunks(16).enumerate() {
            needles.add(&masked(part), format!("derived key {number}, part {at}"));
        }
        for (at, part) in private.first_hash.chunks(16).enumerate() {
            needles.add(&masked(part), format!("first hash {number}, part {at}"));
        }
        needles.add_seed(&private.seed.map(|byte| byte ^ masked(&[0])[0]), number);
    }
    check_memory(child, needles, &args);
}

/// Opens the key in the text of a private file, encrypted or not.
fn opened_seed(private: &str) -> [u8; 32] {
    let encrypted = |encrypted: &str| private.starts_with(&format!("-----BEGIN {encrypted} PRIVATE KEY"));
    if private.starts_with(putty::PPK) {
        return putty::open(private, PASSPHRASE).unwrap().seed;
    }
    if encrypted("OPENSSH") {
        let key = ssh_key::PrivateKey::from_openssh(private).unwrap();
        let key = if key.is_encrypted() { key.decrypt(PASSPHRASE).unwrap() } else { key };
        return key.key_data().ed25519().unwrap().private.to_bytes();
    }
    if encrypted("ENCRYPTED") {
        let (_, document) = pkcs8::SecretDocument::from_pem(private).unwrap();
        let info = pkcs8::EncryptedPrivateKeyInfoRef::try_from(document.as_bytes()).unwrap();
        return *info.decrypt(PASSPHRASE).unwrap().as_bytes().last_chunk().unwrap();
    }
    seed(private)
}

/// The keys of earlier runs are opened to be counted.
#[test]
fn nothing_is_left_of_existing_keys() {
    if !is_root() {
        return;
    }
    let outer = TempDir::new().unwrap();
    let secret = secret(&outer);
    let in_the_clear = ["openssh", "pkcs8", "ppk"].map(|format| (format, EXISTING, &[][..]));
    let encrypt = ["--passphrase-file", &secret];
    let encrypted = ["openssh", "pkcs8", "ppk"].map(|format| (format, ENCRYPTED_KEYS, &encrypt[..]));
    for (number, (format, keys, encrypt)) in in_the_clear.into_iter().chain(encrypted).enumerate() {
        let directory = outer.path().join(number.to_string());
        let rounds: &[&str] =
            if format == "openssh" && !encrypt.is_empty() { &["--rounds", "1"] } else { &[] };
        let search = |more: &[&str]| {
            let mut search = program(&["-t", "1", "--table-memory", "1MiB", "--format", format]);
            search.args(encrypt).args(rounds).args(["-n", &keys.to_string(), "ab", "-d"]).arg(&directory);
            search.args(more);
            search
        };
        program::succeed(&mut search(&[]));
        let mut needles = Needles::default();
        for (number, file) in program::privates(&directory).iter().enumerate() {
            let private = fs::read_to_string(directory.join(file)).unwrap();
            let seed = opened_seed(&private);
            needles.add_seed(&seed.map(|byte| byte ^ masked(&[0])[0]), number);
            if encrypt.is_empty() {
                needles.add(&masked(seed_text(&private).as_bytes()), format!("text {number}"));
            }
        }
        let mut child = program::start(search(&[NEVER, "--however-long"]).stderr(Stdio::piped()));
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut lines = String::new();
        while !lines.contains(&format!("{NEVER}: 1 in ")) {
            assert_ne!(stderr.read_line(&mut lines).unwrap(), 0, "{lines}");
        }
        assert!(lines.contains(&format!("already has {keys} of {keys} keys")), "{lines}");
        check_memory(child, needles, &[format]);
    }
}

/// Checks that the memory of a search holds none of the needles, and ends the search.
fn check_memory(search: Running, mut needles: Needles, args: &[&str]) {
    // A control: this pattern is in memory, and must be found there.
    needles.add(&masked(NEVER.as_bytes()), "pattern".to_owned());
    kill_process(Pid::from_child(&search), Signal::STOP).unwrap();
    let mut found = needles.find(&search.id().to_string());
    drop(search);
    let is_control = |name: &String| name.starts_with("pattern ");
    assert!(found.iter().any(is_control), "{found:?}");
    found.retain(|name| !is_control(name));
    assert_eq!(found, [].into(), "{args:?}");
}

/// The seeds that engines were given, masked.
static GIVEN: Mutex<Vec<[u8; 32]>> = Mutex::new(Vec::new());

/// An engine that remembers its seeds in [`GIVEN`].
struct Remembering(Arc<dyn Engine>);
struct RememberingWorker<'a>(Box<dyn EngineWorker + 'a>);
struct RememberingSource<'a>(&'a mut dyn SeedSource);

impl Engine for Remembering {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn worker(&self) -> Box<dyn EngineWorker + '_> {
        Box::new(RememberingWorker(self.0.worker()))
    }
}

impl EngineWorker for RememberingWorker<'_> {
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
        self.0.batch(matcher, &mut RememberingSource(seeds), hits)
    }
}

impl SeedSource for RememberingSource<'_> {
    fn fill(&mut self, seeds: &mut [[u8; 32]]) {
        self.0.fill(seeds);
        let mut given = GIVEN.lock().unwrap();
        for seed in seeds {
            let mut hidden = [0; 32];
            for (hidden, byte) in hidden.iter_mut().zip(&*seed) {
                *hidden = byte ^ masked(&[0])[0];
            }
            given.push(hidden);
        }
    }
}

/// The test runs itself in a process of its own for each engine.
#[test]
fn nothing_is_left_of_seeds_that_were_thrown_away() {
    const ENGINE: &str = "VANITY_ED25519_INNER_TEST";
    let Ok(name) = std::env::var(ENGINE) else {
        at_once(require::engines(EngineOptions::for_attempts(f64::INFINITY)), |engine| {
            let ran = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "memory::nothing_is_left_of_seeds_that_were_thrown_away", "--nocapture"])
                .env(ENGINE, engine.name())
                .output()
                .unwrap();
            let output = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
            assert!(ran.status.success() && output.contains("1 passed"), "{}: {output}", engine.name());
        });
        return;
    };
    let options = EngineOptions { table_memory: Some(1 << 20), ..EngineOptions::for_attempts(1e6) };
    let engine = Remembering(engine::select(&name, options).unwrap());
    let patterns =
        [Pattern::new("ab", MatchOptions { kind: Kind::Prefix, ..MatchOptions::default() }).unwrap()];
    let search = Search::new(&patterns).engine(Arc::new(engine)).threads(NonZeroUsize::new(2).unwrap());
    let summary = search.quota(Quota::Each(20)).run(drop).unwrap();
    let given = std::mem::take(&mut *GIVEN.lock().unwrap());
    assert_eq!(summary.attempts, given.len() as u64);
    let mut needles = Needles::default();
    // The last seeds are the likeliest to be left.
    for (number, seed) in given.iter().rev().take(1000).enumerate() {
        needles.add_seed(seed, number);
    }
    // A control: these bytes are in memory, and must be found there.
    let mut control = Box::new([0; 32]);
    getrandom::fill(&mut *control).unwrap();
    needles.add(&masked(&*control), "control".to_owned());
    let is_control = |name: &String| name.starts_with("control ");
    let mut found = needles.find("self");
    assert!(found.iter().any(is_control) && control.iter().any(|byte| *byte != 0), "{found:?}");
    found.retain(|name| !is_control(name));
    assert_eq!(found, [].into(), "{name}: {} seeds", given.len());
}

/// Both ways in which a stream gives up a key: it takes another one, and it ends.
#[test]
fn nothing_is_left_of_a_stream_that_has_another_key_or_ended() {
    let mut needles = Needles::default();
    let mut stream = {
        let _stack = WipeStack;
        let mut key = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *key).unwrap();
        let mut stream = ChaCha20::new(&key);
        let mut output = Zeroizing::new([[0; 32]; 20]);
        stream.fill(&mut *output);
        // The generator computes 256 bytes at once. It keeps a part of the last ones.
        for (what, bytes) in [("key", &*key), ("last output", &output[17])] {
            for (at, half) in masked(bytes).chunks(16).enumerate() {
                needles.add(half, format!("{what}, half {at}"));
            }
        }
        stream
    };
    let held = needles.find("self");
    assert!(held.len() == 4 && held.iter().all(|name| name.ends_with("[heap]") || name.ends_with("unnamed")));
    {
        let _stack = WipeStack;
        stream.rekey(&[0; 32]);
    }
    assert_eq!(needles.find("self"), [].into());
}

/// Starts a search as a user without rights, after the shell commands `before`. Returns once the
/// search has begun.
fn begun(before: &str, directory: &Path) -> Running {
    let copy = directory.join("program");
    // Another process makes the copy. A file that this process wrote could still be open in a child
    // of another test, and then could not be run.
    program::succeed(command("cp").arg(PROGRAM).arg(&copy));
    let script = format!("cd \"$1\" && {before} exec \"$0\" -t 1 --however-long {NEVER}");
    let mut search = unprivileged("sh");
    search.args(["-c", &script]).arg(&copy).arg(directory).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = program::start(&mut search);
    let mut line = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    while !line.contains(NEVER) {
        assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "{line}");
    }
    child
}

/// Returns a command that runs as a user without rights.
fn unprivileged(name: &str) -> Command {
    if !rustix::process::geteuid().is_root() {
        return command(name);
    }
    let mut command = command("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", name]);
    command
}

/// Makes a directory in which every user can write.
fn open_directory() -> TempDir {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = TempDir::new().unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
    directory
}

#[test]
fn another_process_of_the_same_user_cannot_read_the_memory() {
    if require::tool("setpriv").is_none() {
        return;
    }
    let directory = open_directory();
    let search = begun("", directory.path());
    let other = program::start(unprivileged("sleep").arg("600"));
    // `setpriv` becomes `sleep` only after a moment.
    while fs::read_to_string(format!("/proc/{}/comm", other.id())).unwrap() != "sleep\n" {
        std::thread::yield_now();
    }
    for file in ["environ", "maps", "mem"] {
        let open = |child: &Child| {
            let script = format!("exec < /proc/{}/{file}", child.id());
            program::run(unprivileged("sh").args(["-c", &script])).status
        };
        assert_eq!(open(&other), Some(0), "{file}");
        assert_eq!(open(&search), Some(2), "{file}");
    }
}

#[test]
fn a_crash_leaves_no_core() {
    if require::tool("setpriv").is_none() {
        return;
    }
    let directory = open_directory();
    let mut search = begun("ulimit -c unlimited;", directory.path());
    let pid = Pid::from_child(&search);
    kill_process(pid, Signal::ABORT).unwrap();
    let ended = search.wait().unwrap();
    assert_eq!((ended.signal(), ended.core_dumped()), (Some(6), false));
    assert_eq!(program::names(directory.path()), ["program"]);
}
