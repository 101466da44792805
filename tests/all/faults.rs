//! Every system call may fail, and the process may die at any of them.
//!
//! `strace` injects a failure, a deadly signal or a delay into one call after the other. By default
//! it takes the first and the last call of each name after the program has begun to use its files.
//! Calls that write, sync or name a file do so in every scenario without encryption, and the others in
//! one scenario.
//! With `VANITY_FAULTS=all` it takes every such call in every scenario, with every failure that the
//! call may meet and with a delay of 2 s.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::OnceLock;

use rayon::iter::{IntoParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};
use tempfile::TempDir;

use crate::{holdings, program};
use holdings::{Asked, PASSPHRASE, harm, is_temporary, misbehavior, missing, open, open_pair, snapshot};
use program::{LEDGER, Ran, command, executable, is_root, names, program, public_path, run, strace, succeed};

/// The calls for files and randomness, and those that start threads. A machine may lack some of
/// them.
const CALLS: &str = "?open,openat,?creat,close,read,pread64,readv,write,pwrite64,writev,lseek,ftruncate,fallocate,\
    fsync,fdatasync,?link,linkat,symlinkat,?rename,?renameat,renameat2,?unlink,unlinkat,?mkdir,\
    mkdirat,?chmod,fchmod,fchmodat,flock,getdents64,?stat,?lstat,fstat,?newfstatat,statx,statfs,\
    fstatfs,?readlink,readlinkat,getcwd,copy_file_range,getrandom,clone3,pipe2,eventfd2";

/// Returns the failures of a call, the most important one first.
fn errors(call: &str) -> &'static [&'static str] {
    match call {
        "link" | "linkat" | "rename" | "renameat" | "renameat2" => {
            &["EIO", "EINVAL", "EPERM", "ENOSPC", "EEXIST"]
        }
        "open" | "openat" => &["EIO", "ENOSPC", "EMFILE", "EOPNOTSUPP", "EACCES"],
        "write" | "fsync" | "fdatasync" => &["ENOSPC", "EIO", "EINTR"],
        "mkdir" | "mkdirat" => &["EIO", "ENOSPC"],
        "flock" => &["EIO", "ENOLCK"],
        "clone3" => &["EAGAIN"],
        // The standard library ignores a failure for a file, and panics for a directory. The
        // program can change neither.
        "close" => &[],
        _ => &["EIO"],
    }
}

/// The beginning of a fault that makes a call slow. A number of microseconds follows.
const SLOW: &str = "delay_enter=";

/// The number of slow runs at the same time. They sleep most of the time.
const SLOW_TOGETHER: usize = 16;

/// Returns whether a call writes, syncs or names a file.
fn is_vital(call: &str) -> bool {
    is_naming(call) || ["write", "fsync", "fdatasync", "flock"].contains(&call)
}

fn is_naming(call: &str) -> bool {
    call.starts_with("link") || call.starts_with("rename")
}

/// A run that meets a fault.
#[derive(Clone, Copy)]
struct Scenario {
    name: &'static str,
    /// The arguments, relative to a directory that has a file `secret` with the passphrase.
    args: &'static [&'static str],
    /// The destination of the keys.
    into: Into,
    encrypted: bool,
    /// Whether the directory holds a damaged batch before the run.
    rerun: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Into {
    /// The file `keys/id_x`.
    File,
    /// The directory `keys`, which may not exist yet, and the number of keys.
    Directory(usize),
}

const SCENARIOS: [Scenario; 5] = [
    Scenario { name: "file", args: &["-o", "keys/id_x"], into: Into::File, encrypted: false, rerun: false },
    Scenario {
        name: "encrypted file",
        args: &["-o", "keys/id_x", "--rounds", "1", "--passphrase-file", "secret"],
        into: Into::File,
        encrypted: true,
        rerun: false,
    },
    Scenario {
        name: "directory",
        args: &["-d", "keys", "-n", "2"],
        into: Into::Directory(2),
        encrypted: false,
        rerun: false,
    },
    Scenario {
        name: "encrypted directory",
        args: &["-d", "keys", "-n", "2", "--rounds", "1", "--passphrase-file", "secret"],
        into: Into::Directory(2),
        encrypted: true,
        rerun: false,
    },
    Scenario {
        name: "rerun",
        args: &["-d", "keys", "-n", "5"],
        into: Into::Directory(5),
        encrypted: false,
        rerun: true,
    },
];

/// The arguments before each scenario's own. They ask for one thread, and for nothing but public
/// lines on stdout.
const ALWAYS: [&str; 6] = ["-q", "-t", "1", "--engine", "reference", PATTERN];
const PATTERN: &str = "ab";

impl Scenario {
    /// Makes a directory in which the scenario can begin.
    fn stage(&self) -> TempDir {
        let stage = TempDir::new().unwrap();
        fs::write(stage.path().join("secret"), PASSPHRASE).unwrap();
        fs::set_permissions(stage.path().join("secret"), fs::Permissions::from_mode(0o600)).unwrap();
        let keys = stage.path().join("keys");
        if self.rerun {
            fs::create_dir(&keys).unwrap();
            for (name, (mode, bytes)) in batch_with_faults() {
                fs::write(keys.join(name), bytes).unwrap();
                fs::set_permissions(keys.join(name), fs::Permissions::from_mode(*mode & 0o7777)).unwrap();
            }
        } else if self.into == Into::File {
            fs::create_dir(&keys).unwrap();
            fs::write(keys.join("id_other.pub"), "what was there before").unwrap();
        }
        stage
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>, stage: &TempDir) -> std::process::Command {
        let mut command = command(program);
        command.current_dir(stage);
        command
    }

    /// Checks that everything that was asked for is on disk.
    fn missing(&self, keys: &Path) -> Result<(), String> {
        match self.into {
            Into::File => match open_pair(&keys.join("id_x")) {
                Some(opened) if opened.encrypted == self.encrypted => Ok(()),
                _ => Err("id_x is missing".into()),
            },
            Into::Directory(count) => missing(
                keys,
                &Asked { patterns: vec![PATTERN], count, any: false, encrypted: self.encrypted },
            ),
        }
    }

    /// Runs the program with this fault, then without any. Returns whether the fault happened, and
    /// what was wrong.
    fn meet(&self, strace: &Path, fault: &str) -> (bool, Option<String>) {
        let (stage, logs) = (self.stage(), TempDir::new().unwrap());
        let keys = stage.path().join("keys");
        let log = logs.path().join("log");
        let before = snapshot(&keys);
        let ran = run(self
            .command(strace, &stage)
            .args(["-f", "-qq", "-e", &format!("trace={CALLS}"), "-e", &format!("inject={fault}"), "-o"])
            .arg(&log)
            .arg(executable())
            .args(ALWAYS)
            .args(self.args));
        let killed = fault.contains("signal=");
        let calls = fs::read_to_string(&log).unwrap();
        let slow = fault.contains(SLOW);
        let mark = match () {
            () if killed => "+++ killed by SIGKILL +++",
            () if slow => "(DELAYED)",
            () => "(INJECTED)",
        };
        let met = calls.contains(mark);
        // If a call fails while the system loads the program, the message is the system's.
        let loaded = calls.lines().take_while(|line| !line.contains("(INJECTED)")).any(names_a_file);
        let judged = !met || loaded && !killed;
        let wrong = harm(&keys, &before, &ran.stdout)
            .and_then(|()| if judged { misbehavior(&ran) } else { Ok(()) })
            .and_then(|()| if ran.status == Some(0) || slow { self.missing(&keys) } else { Ok(()) });
        if let Err(wrong) = wrong {
            return (met, Some(format!("{}: {fault}: {wrong}: {ran:?}", self.name)));
        }
        let before = snapshot(&keys);
        let again = run(self.command(executable(), &stage).args(ALWAYS).args(self.args));
        let wrong = harm(&keys, &before, &again.stdout).and_then(|()| self.completes(&keys, &again)).err();
        (met, wrong.map(|wrong| format!("{}: after {fault}: {wrong}: {ran:?}, then {again:?}", self.name)))
    }

    /// Checks that a second run, without faults, has made everything that was asked for.
    fn completes(&self, keys: &Path, ran: &Ran) -> Result<(), String> {
        if let Some(left) = names(keys).into_iter().find(|name| is_temporary(name)) {
            return Err(format!("{left} is left over"));
        }
        if ran.status == Some(0) {
            return self.missing(keys);
        }
        // Once a key has its name, the program never writes it again. The key is whole, and gives
        // its public line.
        let is_there = self.into == Into::File
            && ran.status == Some(2)
            && ran.stderr.starts_with("error: 'keys/id_x")
            && ran.stderr.contains("' already exists\n")
            && open(&keys.join("id_x")).is_some_and(|opened| opened.encrypted == self.encrypted);
        if is_there { Ok(()) } else { Err("the second run did not complete it".into()) }
    }
}

/// Returns a batch of four keys. One lacks its public file, one its private file, and the ledger
/// was cut off.
fn batch_with_faults() -> &'static holdings::Snapshot {
    static BATCH: OnceLock<holdings::Snapshot> = OnceLock::new();
    BATCH.get_or_init(|| {
        let directory = TempDir::new().unwrap();
        succeed(program(&ALWAYS).args(["-n", "4", "-d"]).arg(directory.path()));
        let public = |name: &String| name.ends_with(".pub");
        let publics: Vec<String> = names(directory.path()).into_iter().filter(public).collect();
        fs::remove_file(directory.path().join(&publics[0])).unwrap();
        fs::remove_file(directory.path().join(publics[1].trim_end_matches(".pub"))).unwrap();
        let mut batch = snapshot(directory.path());
        let (_, ledger) = batch.get_mut(LEDGER).unwrap();
        ledger.truncate(ledger.len() - 20);
        batch
    })
}

/// Returns whether a call names one of the scenario's files.
fn names_a_file(call: &str) -> bool {
    call.contains("\"keys") || call.contains("\"secret")
}

/// How many calls of each name a thread makes: the fewest and the most before the program begins to
/// use its files, and the most in all.
type Counts = BTreeMap<String, [usize; 3]>;

/// Counts the calls of a run without faults.
fn counts(scenario: &Scenario, strace: &Path) -> Counts {
    let (stage, logs) = (scenario.stage(), TempDir::new().unwrap());
    let log = logs.path().join("log");
    succeed(
        scenario
            .command(strace, &stage)
            .args(["-f", "-qq", "-e", &format!("trace={CALLS}"), "-o"])
            .arg(&log)
            .arg(executable())
            .args(ALWAYS)
            .args(scenario.args),
    );
    let mut begun = false;
    let mut by_thread: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    let log = fs::read_to_string(log).unwrap();
    for line in log.lines() {
        let (thread, call) = line.split_once(' ').unwrap();
        let Some((name, _)) = call.trim_start().split_once('(') else { continue };
        if name.starts_with(['<', '+', '-']) {
            continue;
        }
        begun |= names_a_file(line);
        let (early, all) = by_thread.entry((thread, name)).or_default();
        *early += usize::from(!begun);
        *all += 1;
    }
    assert!(begun, "no path in {log}");
    let mut counts = Counts::new();
    for ((_, name), (early, all)) in by_thread.into_iter().filter(|(_, (early, all))| early < all) {
        let [fewest, late, most] = counts.entry(name.to_owned()).or_insert([early, early, all]);
        (*fewest, *late, *most) = ((*fewest).min(early), (*late).max(early), (*most).max(all));
    }
    counts
}

#[test]
fn any_system_call_may_fail_or_be_the_last() {
    // Paths are in the program's memory.
    if !is_root() {
        return;
    }
    let Some(strace) = strace() else { return };
    let all = std::env::var("VANITY_FAULTS").is_ok_and(|faults| faults == "all");
    let counted: Vec<Counts> = SCENARIOS.par_iter().map(|scenario| counts(scenario, &strace)).collect();
    let mut turns: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut sweeps, mut slow) = (Vec::new(), Vec::new());
    for (scenario, counts) in SCENARIOS.iter().zip(&counted) {
        for (call, numbers) in counts {
            let scenarios = counted.iter().filter(|counts| counts.contains_key(call)).count();
            let turn = turns.entry(call).or_default();
            *turn += 1;
            // The calls take turns with the scenarios.
            let is_taken = all
                || is_vital(call) && !scenario.encrypted
                || (*turn + call.len()).is_multiple_of(scenarios);
            if !is_taken {
                continue;
            }
            let several = if all || is_naming(call) { usize::MAX } else { 1 };
            let faults = errors(call).iter().take(several).map(|error| format!("error={error}"));
            for fault in faults.chain(["signal=KILL".to_owned()]) {
                sweeps.push((scenario, format!("{call}:{fault}"), *numbers));
            }
            if all || scenario.rerun && is_vital(call) {
                let delay = if all { 2_000_000 } else { 500_000 };
                slow.push((scenario, format!("{call}:{SLOW}{delay}"), *numbers));
            }
        }
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(SLOW_TOGETHER).build().unwrap();
    let sweep = |(scenario, fault, [fewest, late, most]): (&Scenario, String, [usize; 3])| {
        let meet = |number: usize| scenario.meet(&strace, &format!("{fault}:when={number}"));
        let mut met_and_wrong = (0, Vec::new());
        let mut add = |(met, wrong): (bool, Option<String>)| {
            met_and_wrong.0 += usize::from(met);
            met_and_wrong.1.extend(wrong);
            met
        };
        if all {
            // A search that takes longer makes more calls.
            (fewest + 1..).find(|number| !add(meet(*number)) && *number > most);
        } else {
            // One slow call of each name is enough here.
            let last = if fault.contains(SLOW) { late + 1 } else { most };
            let mut numbers = vec![fewest + 1, late + 1, last];
            numbers.dedup();
            for number in numbers {
                add(meet(number));
            }
        }
        met_and_wrong
    };
    let (failed, slow): (Vec<_>, Vec<_>) = rayon::join(
        || sweeps.into_par_iter().map(sweep).collect(),
        || pool.install(|| slow.into_par_iter().map(sweep).collect()),
    );
    let met: usize = failed.iter().chain(&slow).map(|(met, _)| met).sum();
    let wrong: Vec<&String> = failed.iter().chain(&slow).flat_map(|(_, wrong)| wrong).collect();
    println!("{met} faults met");
    assert!(wrong.is_empty(), "{} of {met} faults:\n{}", wrong.len(), join(&wrong));
    assert!(met > 90, "{met} faults met");
}

/// Returns the first 30 texts, one on each line.
fn join(wrong: &[&String]) -> String {
    let first = wrong.iter().take(30).map(|wrong| wrong.as_str());
    first.collect::<Vec<_>>().join("\n")
}

/// If a file system cannot name a file, the program finds out before the search.
#[test]
fn a_file_system_that_cannot_name_files_is_refused_before_the_search() {
    let Some(strace) = strace() else { return };
    for (scenario, errors) in SCENARIOS
        .iter()
        .flat_map(|scenario| [("EIO", "EIO"), ("EINVAL", "EROFS")].map(|errors| (scenario, errors)))
    {
        let (rename, link) = errors;
        let stage = scenario.stage();
        let keys = stage.path().join("keys");
        let before = snapshot(&keys);
        // If the program did not refuse, this search would find nothing and end by its timeout.
        let ran = run(scenario
            .command(&strace, &stage)
            .args([
                "-f",
                "-qq",
                "-o",
                "/dev/null",
                "-e",
                "trace=linkat,renameat2,/^link$,/^rename$,/^renameat$",
            ])
            .args(["-e", &format!("inject=renameat2:error={rename}")])
            .args(["-e", &format!("inject=linkat,/^link$:error={link}")])
            .args([executable(), "-t", "1", "--timeout", "3s", "abcdefghijabcdefghij"])
            .args(scenario.args));
        assert_eq!(
            (ran.status, ran.stdout.as_str()),
            (Some(2), ""),
            "{}: {errors:?}: {ran:?}",
            scenario.name
        );
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains("\nhint: "), "{ran:?}");
        assert_eq!(harm(&keys, &before, ""), Ok(()), "{}", scenario.name);
        let public_files = names(&keys).len();
        assert_eq!(public_files, before.len(), "{}: {:?}", scenario.name, names(&keys));
        assert!(!public_path(&keys.join("id_x")).exists());
    }
}
