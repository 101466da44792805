//! Helpers that run the program, and that read its output and its files.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
#[cfg(unix)]
use std::io::{PipeReader, PipeWriter, Write, pipe};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::{Arc, LazyLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use vanity_search::key::{PublicKey, Seed};

use crate::{putty, require};

/// The name of the ledger in a directory of keys.
pub const LEDGER: &str = "vanity-ed25519.jsonl";

/// A number of keys that no search completes while a test runs.
pub const ENDLESS: &str = "1000000";

/// A pattern of twenty letters, which no machine finds.
pub const NEVER: &str = "abcdefghijabcdefghij";

/// The path of the program that cargo has built with the tests.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_vanity-ed25519");

/// The characters with which every key text begins, and the number of those that follow.
const FIXED: &str = "AAAAC3NzaC1lZDI1NTE5AAAAI";
const BODY_LEN: usize = 43;

/// Returns a command whose output does not depend on the terminal of the tests: its stdin is empty
/// and its `TERM` is fixed.
pub fn command(name: impl AsRef<std::ffi::OsStr>) -> Command {
    #[cfg(target_os = "linux")]
    obey_signals();
    let mut command = Command::new(name);
    command
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("XDG_RUNTIME_DIR")
        .env_remove("SLURM_CPUS_PER_TASK")
        .env_remove("SLURM_CPUS_ON_NODE")
        .env_remove("PBS_NCPUS")
        .env_remove("PBS_JOBID")
        .env_remove("LSB_DJOB_NUMPROC")
        .env_remove("NSLOTS")
        .env("TERM", "xterm")
        .stdin(Stdio::null());
    command
}

/// Lets processes begin with the usual action of signals. A script may start the tests so that they
/// ignore SIGINT and SIGQUIT (in the background) or SIGHUP (under `nohup`), `perf` ignores SIGUSR2, and
/// processes would inherit that. They do not inherit handlers.
#[cfg(target_os = "linux")]
fn obey_signals() {
    use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};
    const SENT: [i32; 8] = [SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU];
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:\t"));
        let ignored = ignored.map_or(0, |mask| u64::from_str_radix(mask, 16).unwrap());
        for signal in SENT.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 1) {
            signal_hook::flag::register(signal, Arc::default()).unwrap();
        }
    });
}

/// Returns an `unshare` that can mount in namespaces of its own. Without one the test is skipped.
pub fn unshare() -> Option<PathBuf> {
    let unshare = require::tool("unshare")?;
    if run(command(&unshare).args(["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])).status == Some(0) {
        return Some(unshare);
    }
    require::missing("unshare");
    None
}

/// Returns a `strace` that may trace here. Without one the test is skipped.
pub fn strace() -> Option<PathBuf> {
    let strace = require::tool("strace")?;
    if run(command(&strace).args(["-qq", "-e", "trace=none", "true"])).status == Some(0) {
        return Some(strace);
    }
    require::missing("strace");
    None
}

/// Returns whether this process may read the memory of processes that forbid tracing. Otherwise the
/// test is skipped.
#[cfg(target_os = "linux")]
pub fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        require::missing("root");
    }
    is_root
}

/// Returns the path of the program under test: the value of `VANITY_PROGRAM`, or else [`PROGRAM`].
/// The variable lets the tests run a program of an archive, or a script that starts a program for
/// another processor. The script must replace itself with what it starts, so that signals arrive.
pub fn executable() -> &'static str {
    static PATH: LazyLock<String> =
        LazyLock::new(|| std::env::var("VANITY_PROGRAM").unwrap_or_else(|_| PROGRAM.to_owned()));
    &PATH
}

/// Returns a command that runs the program with these arguments. A key that its destination does not
/// take goes to a directory that nobody looks at.
pub fn program(args: &[&str]) -> Command {
    let mut command = command(executable());
    command.args(args).current_dir(env!("CARGO_TARGET_TMPDIR"));
    command
}

/// The beginning of a script that takes `/dev/shm` from the program. A script that `unshare` runs can do so.
pub const NO_SHARED_MEMORY: &str = "mount -t tmpfs -o ro tmpfs /dev/shm || exit 99; ";

/// Returns a command that runs the program without `/dev/shm` and without a terminal.
#[cfg(unix)]
pub fn without_memory(unshare: &Path, args: &[&str]) -> Command {
    let script = format!("{NO_SHARED_MEMORY}exec setsid -w \"$0\" \"$@\"");
    let mut command = command(unshare);
    command.args(["-rm", "sh", "-c", &script, executable()]).args(args);
    command
}

/// The result of a run.
#[derive(Debug)]
pub struct Ran {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Runs a command to its end.
pub fn run(command: &mut Command) -> Ran {
    command.output().unwrap().into()
}

/// Runs a command that must succeed.
pub fn succeed(command: &mut Command) -> Ran {
    let ran = run(command);
    assert_eq!(ran.status, Some(0), "{command:?}: {ran:?}");
    ran
}

/// A process that is killed when this value is dropped, also when its test fails.
pub struct Running(Option<Child>);

/// Starts a command. Every test uses this function, so that none leaves a process behind.
pub fn start(command: &mut Command) -> Running {
    #[allow(clippy::disallowed_methods, reason = "the one place")]
    let child = command.spawn().unwrap();
    Running(Some(child))
}

impl Running {
    /// Waits for the end. Returns the status, and what nobody has read from the streams yet.
    pub fn end(mut self) -> Ran {
        let child = self.0.take().unwrap();
        child.wait_with_output().unwrap().into()
    }
}

impl Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        self.0.as_ref().unwrap()
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Returns a pipe that takes no further byte until its reader reads.
#[cfg(unix)]
pub fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, writer) = pipe().unwrap();
    rustix::io::ioctl_fionbio(&writer, true).unwrap();
    fill(&writer);
    rustix::io::ioctl_fionbio(&writer, false).unwrap();
    (reader, writer)
}

/// Writes until a pipe takes no further byte. The writer must not wait for that.
#[cfg(unix)]
pub fn fill(mut writer: impl Write) {
    for size in [4096, 1] {
        while writer.write(&vec![b'\n'; size]).is_ok() {}
    }
}

/// Does the same work with every item at the same time, and returns the results in order. Runs that
/// wait, or work for a fixed time, take no longer together than alone.
pub fn at_once<T: Send, R: Send>(items: impl IntoIterator<Item = T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let work = &work;
    std::thread::scope(|scope| {
        let started: Vec<_> = items.into_iter().map(|item| scope.spawn(move || work(item))).collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Waits until a process has worked for 50 ms on the encryption of keys.
#[cfg(unix)]
pub fn wait_for_encryption(process: u32) {
    wait_until("a key is encrypted", || threads(process, "encryption").into_iter().any(|ticks| ticks >= 5));
}

/// Waits until `is_so`, and fails if it never is.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts a search for `pattern` into `directory` that does not end by itself, and waits until it
/// has reported `reported` keys. Returns the process, its stdout, the lines read so far, and a
/// thread that reads its stderr all the time, so that the search never waits for a reader.
pub fn endless(
    pattern: &str,
    directory: &Path,
    reported: usize,
) -> (Running, BufReader<ChildStdout>, String, JoinHandle<String>) {
    let mut search = program(&["--json", "-t", "2", "-n", ENDLESS, pattern, "-d"]);
    let mut child = start(search.arg(directory).stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut stderr = child.stderr.take().unwrap();
    let rest = std::thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).unwrap();
        text
    });
    let mut lines = String::new();
    while lines.matches("\"type\":\"found\"").count() < reported {
        assert_ne!(stdout.read_line(&mut lines).unwrap(), 0, "{lines}");
    }
    (child, stdout, lines, rest)
}

/// Waits until the threads of a search work.
#[cfg(target_os = "linux")]
pub fn await_workers(child: &Child) {
    let names = || {
        let tasks = fs::read_dir(format!("/proc/{}/task", child.id())).into_iter().flatten();
        tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok())
    };
    wait_until("the search has begun", || names().any(|name| name.starts_with("worker ")));
}

/// Returns how long each thread of this name has worked, in ticks of 10 ms, by `/proc`.
#[cfg(unix)]
pub fn threads(process: u32, name: &str) -> Vec<u64> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let stat = |task: std::io::Result<fs::DirEntry>| {
        // A thread can be gone by now.
        let stat = fs::read_to_string(task.ok()?.path().join("stat")).ok()?;
        let (before, after) = stat.rsplit_once(')')?;
        before.ends_with(&format!("({name}")).then(|| after.split(' ').nth(12)?.parse().ok())?
    };
    tasks.filter_map(stat).collect()
}

/// Whether `VANITY_TIMED` asks for checks of times. They hold on a machine that does nothing else.
pub fn is_timed() -> bool {
    std::env::var_os("VANITY_TIMED").is_some()
}

/// Checks that a search ends within a second after a signal. `signalled` runs a search and returns
/// how long it continued after the signal. One search of five must be this quick. Without
/// [`is_timed`], other programs may slow the search down, and only one that seems to hang is wrong.
pub fn within_a_second(signalled: impl Fn() -> Duration) {
    let most = Duration::from_secs(if is_timed() { 1 } else { 30 });
    let mut took = Vec::new();
    while took.last().is_none_or(|took| *took >= most) {
        assert!(took.len() < 5, "{took:?}");
        took.push(signalled());
    }
}

/// Reads every line as a JSON object. Each must have a `type`.
pub fn objects(stdout: &str) -> Vec<Value> {
    let parse = |line: &str| -> Value {
        let object: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(object["type"].is_string(), "{line}");
        object
    };
    stdout.lines().map(parse).collect()
}

/// Returns the objects of one `type`.
pub fn of_type<'a>(objects: &'a [Value], name: &str) -> Vec<&'a Value> {
    objects.iter().filter(|object| object["type"] == name).collect()
}

/// Returns a field that is a text.
pub fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object[field].as_str().unwrap_or_else(|| panic!("no text {field} in {object}"))
}

/// Returns a field that is a whole number.
pub fn whole(object: &Value, field: &str) -> u64 {
    object[field].as_u64().unwrap_or_else(|| panic!("no whole number {field} in {object}"))
}

/// Returns a field that is a number above 0.
pub fn positive(object: &Value, field: &str) -> f64 {
    let number = object[field].as_f64().unwrap_or_else(|| panic!("no number {field} in {object}"));
    assert!(number > 0.0 && number.is_finite(), "{field} in {object}");
    number
}

/// Returns the first line of `text` that is a public line.
pub fn public_line(text: &str) -> &str {
    let line = text.lines().find(|line| line.starts_with("ssh-ed25519 "));
    line.unwrap_or_else(|| panic!("no public line in:\n{text}"))
}

/// Returns the 43 characters of a public line that a pattern can match.
pub fn body(line: &str) -> &str {
    let text = line.split(' ').nth(1).unwrap_or_default();
    assert!(line.starts_with("ssh-ed25519 ") && text.starts_with(FIXED), "{line}");
    assert_eq!(text.len(), FIXED.len() + BODY_LEN, "{line}");
    &text[FIXED.len()..]
}

/// Returns the comment of a public line.
pub fn comment(line: &str) -> &str {
    line.splitn(3, ' ').nth(2).unwrap_or_default()
}

/// Returns the seed in the text of a private key of any form.
pub fn seed(private: &str) -> [u8; 32] {
    if private.starts_with(putty::PPK) {
        return putty::open(private, "").unwrap().seed;
    }
    if private.starts_with("-----BEGIN OPENSSH PRIVATE KEY-----\n") {
        let key = ssh_key::PrivateKey::from_openssh(private).unwrap();
        return key.key_data().ed25519().unwrap().private.to_bytes();
    }
    let lines: Vec<&str> = private.lines().collect();
    assert!(private.ends_with('\n'), "{private:?}");
    let ["-----BEGIN PRIVATE KEY-----", base64, "-----END PRIVATE KEY-----"] = lines[..] else {
        panic!("neither PKCS#8 nor OpenSSH nor PuTTY: {private}");
    };
    // RFC 8410, section 10.3: a version 1 key is these 16 bytes and the seed.
    let der = STANDARD.decode(base64).unwrap();
    assert_eq!(der[..16], *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20");
    der[16..].try_into().unwrap()
}

/// Returns the names of the private files in a directory of keys.
pub fn privates(directory: &Path) -> Vec<String> {
    let is_private = |name: &String| !name.ends_with(".pub") && name != LEDGER;
    names(directory).into_iter().filter(is_private).collect()
}

/// Returns the paths of the private files in a directory of keys.
pub fn private_paths(directory: &Path) -> Vec<PathBuf> {
    privates(directory).into_iter().map(|name| directory.join(name)).collect()
}

/// Returns the public key that belongs to the text of a private key.
pub fn derived(private: &str) -> PublicKey {
    Seed::new(seed(private)).public_key()
}

/// Returns the permissions of a file.
#[cfg(unix)]
pub fn mode(path: &Path) -> u32 {
    std::os::unix::fs::MetadataExt::mode(&fs::symlink_metadata(path).unwrap()) & 0o7777
}

/// Checks that only the owner can access a private file, and that no other user can change a public
/// one.
pub fn check_access(private: &Path, public: &Path) {
    #[cfg(unix)]
    {
        assert_eq!(mode(private), 0o600, "{private:?}");
        assert_eq!(mode(public) & 0o022, 0, "{private:?}");
    }
    #[cfg(windows)]
    {
        let others = vanity_ed25519::program::ForeignAccess::of(&fs::File::open(private).unwrap()).unwrap();
        assert_eq!(others, None, "{private:?}");
        assert!(public.is_file());
    }
}

/// Returns the names in a directory, sorted.
pub fn names(directory: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(directory).unwrap().map(name).collect();
    names.sort();
    names
}

/// Returns the path of the public file: the whole path of the private file, and `.pub`.
pub fn public_path(private: &Path) -> PathBuf {
    format!("{}.pub", private.display()).into()
}

/// Checks that the private file and the public file beside it are whole and belong together.
/// Returns the public line.
pub fn check_pair(private: &Path) -> String {
    let public = fs::read_to_string(public_path(private)).unwrap();
    let line = public.strip_suffix('\n').unwrap();
    let key = derived(&fs::read_to_string(private).unwrap());
    assert_eq!(line, key.line(comment(line)));
    check_access(private, &public_path(private));
    line.to_owned()
}

/// Checks that the key of every `found` object is whole on disk, and that `directory` holds nothing
/// else but the ledger.
pub fn check_finds(found: &[&Value], directory: &Path) {
    for object in found {
        let private = Path::new(text(object, "private_key_file"));
        assert_eq!(private.parent(), Some(directory), "{object}");
        assert_eq!(check_pair(private), text(object, "public_key"));
    }
    assert_eq!(names(directory).len(), 2 * found.len() + 1, "{:?}", names(directory));
    #[cfg(unix)]
    assert_eq!(mode(&directory.join(LEDGER)) & 0o133, 0);
}

/// Checks that neither stream shows any part of a private key.
pub fn check_secret(ran: &Ran, private: &str) {
    let seed = seed(private);
    let hex: String = seed.iter().map(|byte| format!("{byte:02x}")).collect();
    // The first lines of a file of PuTTY are public.
    let secret = private.split_once("\nPrivate-Lines: ").map_or(private, |(_, secret)| secret);
    let lines = secret.lines().filter(|line| line.len() > 1 && !line.starts_with('-')).map(str::to_owned);
    let encodings = [hex, STANDARD.encode(seed).trim_end_matches('=').to_owned()];
    let texts = ["PRIVATE KEY".to_owned(), "PuTTY-User-Key-File".to_owned()]
        .into_iter()
        .chain(encodings)
        .chain(lines);
    for text in texts {
        assert!(!ran.stdout.contains(&text), "stdout has {text}:\n{}", ran.stdout);
        assert!(!ran.stderr.contains(&text), "stderr has {text}:\n{}", ran.stderr);
    }
}
