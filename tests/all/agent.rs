//! `--agent`: finds go into a real `ssh-agent`, and a find that an agent does not take is in a
//! file.

#![cfg(unix)]

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::program::{
    LEDGER, NEVER, Ran, at_once, body, check_pair, check_secret, comment, full_pipe, is_timed, names,
    objects, of_type, program, run, start, succeed, text, wait_until,
};
use crate::ssh_agent::{
    ADD, ADD_CONSTRAINED, ADDED_KEY, Agent, FAILURE, GpgAgent, LIST, REMOVE, Reply, SUCCESS, TRIAL, imitate,
    imitate_whole,
};
use crate::sshd::Server;
use crate::{json, program, require};

/// A directory for an agent, and one in which the program runs.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        fs::create_dir(directory.path().join("work")).unwrap();
        Self { directory }
    }

    fn work(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    fn socket(&self) -> PathBuf {
        self.directory.path().join("agent")
    }

    /// Writes a program, and returns its path.
    fn script(&self, name: &str, lines: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        path
    }

    fn agent(&self) -> Option<Agent> {
        Agent::start(self.directory.path(), Path::new("/bin/false"))
    }

    /// Returns a command that runs the program with the agent.
    fn program(&self, args: &[&str]) -> Command {
        let mut command = program(args);
        command.current_dir(self.work()).env("SSH_AUTH_SOCK", self.socket()).env("HOME", self.work());
        command
    }
}

#[test]
fn a_find_goes_into_the_agent_alone() {
    let place = Place::new();
    let Some(agent) = place.agent() else { return };
    let ran = succeed(&mut place.program(&["--agent", "-C", "me and\u{e9}", "ab"]));
    assert_eq!(ran.stdout, agent.lines());
    assert!(body(ran.stdout.trim_end()).to_lowercase().contains("ab"));
    assert_eq!(comment(ran.stdout.trim_end()), "me and\u{e9}");
    assert_eq!(names(&place.work()), [""; 0]);
    assert!(ran.stderr.contains("\nprivate key in the agent\n"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("PRIVATE KEY"), "{}", ran.stderr);

    let ran = succeed(&mut place.program(&["--agent", "-q", "-n", "3", "ab"]));
    assert_eq!((ran.stdout.lines().count(), ran.stderr.as_str()), (3, ""));
    assert!(agent.lines().ends_with(&ran.stdout));
    assert_eq!(agent.lines().lines().count(), 4);

    // Nobody reads the public line, but the agent has the key.
    succeed(place.program(&["--agent", "ab"]).stdout(Stdio::null()));
    assert_eq!(agent.lines().lines().count(), 5);
}

#[test]
fn a_file_and_the_agent_both_get_the_key() {
    let place = Place::new();
    let Some(agent) = place.agent() else { return };
    fs::write(place.directory.path().join("secret"), "correct horse\n").unwrap();
    let ran = succeed(&mut place.program(&["--agent", "-o", "id_x", "ab"]));
    assert_eq!(ran.stdout.trim_end(), check_pair(&place.work().join("id_x")));
    assert_eq!(ran.stdout, agent.lines());
    check_secret(&ran, &fs::read_to_string(place.work().join("id_x")).unwrap());

    // The agent has the key without the passphrase.
    let args = ["--agent", "-o", "locked", "--rounds", "1", "--passphrase-file", "../secret", "ab"];
    let ran = succeed(&mut place.program(&args));
    assert!(agent.lines().ends_with(&ran.stdout));

    let ran = succeed(&mut place.program(&["--agent", "-d", "keys", "-n", "3", "ab", "--json"]));
    let objects = objects(&ran.stdout);
    let found = of_type(&objects, "found");
    assert_eq!(found.len(), 3);
    for object in found {
        assert_eq!(object["agent"], true);
        assert_eq!(
            check_pair(&place.work().join(text(object, "private_key_file"))),
            text(object, "public_key")
        );
        assert!(agent.lines().contains(text(object, "public_key")));
    }
    // What exists already is not made again, and not added.
    succeed(&mut place.program(&["--agent", "-d", "keys", "-n", "3", "ab"]));
    assert_eq!(agent.lines().lines().count(), 5);
}

#[test]
fn json_shows_no_private_key() {
    let place = Place::new();
    let Some(agent) = place.agent() else { return };
    let ran = succeed(&mut place.program(&["--agent", "--json", "ab"]));
    let objects = objects(&ran.stdout);
    json::validate(&objects);
    let found = of_type(&objects, "found")[0];
    assert_eq!((&found["agent"], &found["encrypted"]), (&true.into(), &false.into()));
    assert!(["private_key", "private_key_file"].iter().all(|field| found.get(field).is_none()), "{found}");
    assert_eq!(agent.lines().trim_end(), text(found, "public_key"));
    assert_eq!(names(&place.work()), [""; 0]);
}

#[test]
fn the_agent_drops_a_key_after_its_lifetime() {
    let place = Place::new();
    let Some(agent) = place.agent() else { return };
    let ran = succeed(&mut place.program(&["--agent", "--lifetime", "2s", "ab"]));
    assert!(ran.stderr.contains("private key in the agent, which drops it after 2 s\n"), "{}", ran.stderr);
    assert_eq!(agent.lines(), ran.stdout);
    succeed(&mut place.program(&["--agent", "--lifetime", "1h", "ab"]));
    let deadline = Instant::now() + Duration::from_secs(30);
    while agent.lines().contains(&ran.stdout) {
        assert!(Instant::now() < deadline, "{}", agent.lines());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(agent.lines().lines().count(), 1);
}

#[test]
fn the_agent_asks_before_each_use() {
    let place = Place::new();
    let asked = place.directory.path().join("asked");
    let askpass = place.script("askpass", &format!("echo \"$1\" >> '{}'", asked.display()));
    let Some(agent) = Agent::start(place.directory.path(), &askpass) else { return };
    for (option, questions) in [(&[][..], 0), (&["--confirm"], 1)] {
        let file = format!("line_{questions}.pub");
        let ran = succeed(place.program(&["--agent", "ab"]).args(option));
        fs::write(place.work().join(&file), &ran.stdout).unwrap();
        let signed = agent.ssh_add(&["-T", place.work().join(&file).to_str().unwrap()]);
        assert_eq!(signed.status, Some(0), "{signed:?}");
        let text = fs::read_to_string(&asked).unwrap_or_default();
        assert_eq!(text.matches("Allow use of key").count(), questions, "{text}");
    }
}

#[test]
fn a_key_in_the_agent_logs_in() {
    let place = Place::new();
    let Some(agent) = place.agent() else { return };
    let tools = ["sshd", "ssh", "ssh-keygen"].map(require::tool);
    let [Some(sshd), Some(ssh), Some(ssh_keygen)] = tools else { return };
    let ran = succeed(&mut place.program(&["--agent", "ab"]));
    let authorized = place.directory.path().join("authorized");
    fs::write(&authorized, &ran.stdout).unwrap();
    let server = Server::start(&sshd, &ssh_keygen, place.directory.path(), &authorized);
    let login = server.login_by_agent(&ssh, place.directory.path(), &agent.socket);
    let stderr = String::from_utf8_lossy(&login.stderr);
    assert_eq!(String::from_utf8_lossy(&login.stdout), "OK\n", "{stderr}\n{}", server.log());
    agent.ssh_add(&["-D"]);
    let login = server.login_by_agent(&ssh, place.directory.path(), &agent.socket);
    assert_eq!(login.status.code(), Some(255), "{}", server.log());
}

#[test]
fn a_locked_agent_is_refused_before_the_search() {
    let place = Place::new();
    let Some(agent) = place.agent() else { return };
    let askpass = place.script("askpass", "echo password");
    succeed(&mut place.program(&["--agent", "ab"]));
    let had = agent.lines();
    agent.lock("-x", &askpass);
    for args in [&["--agent", "ab"][..], &["--agent", "--confirm", "--lifetime", "1h", "-d", "keys", "ab"]] {
        let ran = run(&mut place.program(args));
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        let message = "error: the agent takes no key and lists none; it may be locked\n\
             hint: if it is locked, ssh-add -X unlocks it; if not, SSH_AUTH_SOCK must name an agent that takes keys\n";
        assert_eq!(ran.stderr, message);
    }
    assert_eq!(names(&place.work()), [""; 0]);
    agent.lock("-X", &askpass);
    // Nothing remains of the trial.
    assert_eq!(agent.lines(), had);
    succeed(&mut place.program(&["--agent", "ab"]));
    assert_eq!(agent.lines().lines().count(), 2);
}

fn is_add(message: u8) -> bool {
    [ADD, ADD_CONSTRAINED].contains(&message)
}

/// Runs a search whose agent fails in the end. The key must be whole in a file of its own, which
/// the message names.
fn check_kept(place: &Place, args: &[&str], why: &str) {
    let ran = run(place.program(args).args(["--agent", "-q", "ab"]));
    assert_eq!(ran.status, Some(1), "{why}: {ran:?}");
    let files: Vec<String> =
        names(&place.work()).into_iter().filter(|name| !name.ends_with(".pub")).collect();
    let [file] = &files[..] else { panic!("{why}: {files:?}") };
    assert_eq!(ran.stdout.trim_end(), check_pair(&place.work().join(file)), "{why}");
    check_secret(&ran, &fs::read_to_string(place.work().join(file)).unwrap());
    let shown = if args.is_empty() { format!("./{file}") } else { file.clone() };
    let message = format!(
        "error: {why}; the key is kept in {shown}\nhint: ssh-add {shown} adds it later\n\
         error: 1 key is not in the agent\n\
         hint: the files are named above; ssh-add FILE adds a key\n"
    );
    assert_eq!(ran.stderr, message);
}

#[test]
fn a_key_that_the_agent_does_not_take_is_in_a_file() {
    type Fault = fn(usize, u8) -> Option<Reply>;
    let faults: [(&str, Fault); 6] = [
        ("the agent takes no key and lists none; it may be locked", |count, message| {
            (count >= TRIAL && is_add(message)).then(|| FAILURE.into())
        }),
        ("the agent closed the connection", |count, _| (count >= TRIAL).then_some(Reply::Close)),
        ("the agent closed the connection", |count, message| {
            (count >= TRIAL && message == LIST).then_some(Reply::Close)
        }),
        ("the answer is not that of an agent", |count, _| {
            (count >= TRIAL).then(|| Reply::Answer(b"HTTP/1.1 400 Bad Request".to_vec()))
        }),
        ("the agent does not list the key that it took", |count, message| {
            (count >= TRIAL && is_add(message)).then(|| SUCCESS.into())
        }),
        ("the agent does not answer (the longest wait is 5 s)", |count, _| {
            (count >= TRIAL).then_some(Reply::Hang)
        }),
    ];
    let ways = |fault| [&[][..], &["-o", "id_x"]].map(|args| (fault, args));
    at_once(faults.into_iter().flat_map(ways), |((why, fault), args)| {
        let place = Place::new();
        imitate(&place.socket(), fault);
        check_kept(&place, args, why);
    });
}

/// The rest of the keys is in files, and the search finds all of them.
#[test]
fn an_agent_that_dies_in_the_middle_loses_nothing() {
    at_once([|| Reply::Close, || Reply::Hang], |fault| {
        let place = Place::new();
        // The first key takes two messages: it is added and listed.
        let keys = imitate(&place.socket(), move |count, _| (count >= TRIAL + 2).then(fault));
        let ran = run(&mut place.program(&["--agent", "--json", "-n", "4", "ab"]));
        assert_eq!(ran.status, Some(1), "{ran:?}");
        let objects = objects(&ran.stdout);
        json::validate(&objects);
        let found = of_type(&objects, "found");
        assert_eq!((found.len(), keys.lock().unwrap().len()), (4, 1));
        assert_eq!(found[0]["agent"], true);
        for object in &found[1..] {
            assert_eq!(object["agent"], false);
            let file = text(object, "private_key_file");
            assert_eq!(check_pair(&place.work().join(file)), text(object, "public_key"));
            assert!(ran.stderr.contains(&format!("; the key is kept in {file}\n")), "{}", ran.stderr);
        }
        assert!(ran.stderr.contains("error: 3 keys are not in the agent\n"), "{}", ran.stderr);
        assert_eq!(names(&place.work()).len(), 6);
    });
}

/// A real agent that is killed while the program searches.
#[test]
fn an_agent_that_is_gone_loses_nothing() {
    let place = Place::new();
    let Some(agent) = place.agent() else { return };
    let mut search = place.program(&["--agent", "-n", "1000000", "abc"]);
    // A search whose results nobody reads pauses, so stderr goes to a file, and stdout is read.
    let said = place.directory.path().join("stderr");
    let mut child = start(search.stdout(Stdio::piped()).stderr(fs::File::create(&said).unwrap()));
    let mut stdout = child.stdout.take().unwrap();
    rustix::io::ioctl_fionbio(&stdout, true).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut read = || {
        assert!(Instant::now() < deadline);
        std::thread::yield_now();
        std::iter::from_fn(|| stdout.read(&mut [0; 4096]).ok().filter(|read| *read > 0)).sum::<usize>()
    };
    // The agent has the first key that is printed. It lists some thousand keys no longer.
    while read() == 0 {}
    drop(agent);
    while names(&place.work()).len() < 4 {
        read();
    }
    // A closed stdout ends the search.
    drop(stdout);
    let status = child.wait().unwrap().code();
    let stderr = fs::read_to_string(said).unwrap();
    assert_eq!(status, Some(1), "{stderr}");
    let is_named = |name: &String| {
        check_pair(&place.work().join(name));
        stderr.contains(&format!(" kept in ./{name}\n")) || stderr.contains(&format!(" kept in './{name}'\n"))
    };
    let files = names(&place.work());
    let unnamed = files.iter().filter(|name| !name.ends_with(".pub") && !is_named(name)).count();
    // Those that were found while stdout was closed are counted.
    let counted = format!("the {unnamed} keys that were just found are kept in '.'");
    assert!(unnamed == 0 || stderr.contains(&counted), "{unnamed} unnamed: {}", stderr);
}

#[test]
fn an_agent_that_hangs_is_refused_after_5_seconds() {
    let place = Place::new();
    let _listener = UnixListener::bind(place.socket()).unwrap();
    let began = Instant::now();
    let ran = run(&mut place.program(&["--agent", "-d", "keys", "ab"]));
    assert!(began.elapsed() >= Duration::from_secs(5));
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    let message = "error: the agent does not answer (the longest wait is 5 s)\nhint: ";
    assert!(ran.stderr.starts_with(message), "{}", ran.stderr);
    assert_eq!(names(&place.work()), [""; 0]);
}

/// Runs a search whose agent is not usable, and returns what it printed.
fn refused(place: &Place, args: &[&str]) -> String {
    let ran: Ran = run(place.program(args).args(["--agent", "ab"]));
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    assert_eq!(names(&place.work()), [""; 0]);
    ran.stderr
}

#[test]
fn an_unusable_agent_is_refused_before_the_search() {
    let place = Place::new();
    let message = refused(&place, &[]);
    assert!(message.starts_with(&format!("error: there is no agent at '{}': ", place.socket().display())));
    imitate(&place.socket(), |_, message| is_add(message).then(|| FAILURE.into()))
        .lock()
        .unwrap()
        .push(vec![0; 51]);
    assert!(refused(&place, &["-o", "id_x"]).starts_with("error: the agent refuses the key\n"));

    // Agents that refuse a lifetime, a confirmation or both, and what they then refuse of three requests.
    let requests = [&["--lifetime", "1h"][..], &["--confirm"], &["--confirm", "--lifetime", "1h"]];
    let whats = ["a lifetime", "a confirmation", "a lifetime or a confirmation"];
    for (lifetime, confirm, refusals) in [
        (true, false, [Some(0), None, Some(0)]),
        (false, true, [None, Some(1), Some(1)]),
        (true, true, [Some(0), Some(1), Some(2)]),
    ] {
        let place = Place::new();
        imitate_whole(&place.socket(), move |_, message| {
            // The constraints follow the key and its comment.
            let constraints = message.get(ADDED_KEY..).filter(|_| message[0] == ADD_CONSTRAINED)?;
            let length = u32::from_be_bytes(constraints[..4].try_into().unwrap()) as usize;
            let constraints = &constraints[4 + length..];
            let is_refused = lifetime && constraints[0] == 1 || confirm && constraints.ends_with(&[2]);
            is_refused.then(|| FAILURE.into())
        });
        for (request, refusal) in requests.into_iter().zip(refusals) {
            match refusal {
                None => drop(succeed(place.program(&["--agent", "-q", "ab"]).args(request))),
                Some(what) => {
                    let options = requests[what].iter().filter(|word| word.starts_with('-'));
                    let mut options: Vec<&str> = options.copied().collect();
                    options.sort_by_key(|option| *option == "--confirm");
                    let message = format!(
                        "error: the agent takes no keys with {}\nhint: leave out {}, or use the agent of OpenSSH\n",
                        whats[what],
                        options.join(" and ")
                    );
                    assert_eq!(refused(&place, request), message);
                }
            }
        }
        // Without constraints it is as good as any other.
        succeed(&mut place.program(&["--agent", "ab"]));
        assert_eq!(names(&place.work()), [""; 0]);
    }

    for reply in [|| Reply::Close, || Reply::Answer(b"HTTP".to_vec()), || Reply::Answer(Vec::new())] {
        let place = Place::new();
        imitate(&place.socket(), move |_, _| Some(reply()));
        refused(&place, &[]);
    }
}

/// Not even root can write files to /proc.
#[test]
#[cfg(target_os = "linux")]
fn a_key_that_the_agent_does_not_take_has_a_place() {
    let place = Place::new();
    imitate(&place.socket(), |count, _| (count >= 2 * TRIAL).then_some(Reply::Close));
    let ran = run(place.program(&["--agent", "ab"]).current_dir("/proc").env("HOME", "/proc"));
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.starts_with("error: cannot create files in '.': "), "{}", ran.stderr);

    let ran = run(place.program(&["--agent", "ab"]).current_dir("/proc"));
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let names = names(&place.work());
    assert_eq!(names.len(), 2);
    check_pair(&place.work().join(&names[0]));
    assert!(ran.stderr.contains(&names[0]), "{}", ran.stderr);
}

/// The agent fails, and no directory is left. The program must not report success.
#[test]
fn a_key_that_nothing_takes_is_reported_as_lost() {
    let Some(unshare) = program::unshare() else { return };
    let place = Place::new();
    let work = place.work();
    imitate(&place.socket(), move |count, _| {
        (count >= TRIAL).then(|| {
            let _ = fs::remove_dir(&work);
            Reply::Close
        })
    });
    let home = place.directory.path().join("gone");
    let mut search = program::without_memory(&unshare, &["--agent", "-q", "ab"]);
    search.current_dir(place.work()).env("SSH_AUTH_SOCK", place.socket()).env("HOME", &home);
    let ran = run(&mut search);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
    for tried in ["./", home.to_str().unwrap(), "/dev/shm"] {
        assert!(ran.stderr.contains(&format!(", and cannot write '{tried}")), "{}", ran.stderr);
    }
    assert!(ran.stderr.starts_with("error: the agent closed the connection, and cannot "), "{}", ran.stderr);
    assert!(ran.stderr.contains("\nhint: the key that was just found is lost; "), "{}", ran.stderr);
}

/// Returns the number of key pairs in a directory, and the lines of its ledger.
fn counts(directory: &Path) -> (usize, usize) {
    let ledger = fs::read_to_string(directory.join(LEDGER)).unwrap_or_default();
    let pairs = if directory.exists() { names(directory) } else { Vec::new() };
    (pairs.iter().filter(|name| name.ends_with(".pub")).count(), ledger.lines().count())
}

/// One key as well as many: the files are there when the agent gets the key, the agent has the key when
/// the ledger gets its line, and both are there when the command begins. No step waits for a reader.
#[test]
fn every_find_takes_the_same_route() {
    for keys in [1, 20] {
        let place = Place::new();
        let directory = place.work().join("keys");
        let seen = directory.clone();
        let added = std::cell::Cell::new(0);
        let (wrong, problems) = std::sync::mpsc::channel();
        let held = imitate(&place.socket(), move |count, message| {
            if count >= TRIAL && is_add(message) {
                let (pairs, lines) = counts(&seen);
                let before = added.replace(added.get() + 1);
                if pairs <= before || lines > before {
                    let _ = wrong.send(format!("{pairs} pairs and {lines} lines before key {before}"));
                }
            }
            None
        });
        let count = keys.to_string();
        let command = format!("grep -qF \"$VANITY_PUBLIC_KEY\" keys/{LEDGER} && echo ran >> log");
        let mut search = place.program(&["--agent", "-n", &count, "ab", "-d", "keys", "--exec", &command]);
        let (_reader, writer) = full_pipe();
        let child = start(search.stdout(writer).stderr(Stdio::piped()));
        let ran = || fs::read_to_string(place.work().join("log")).unwrap_or_default().lines().count();
        wait_until("every command has run", || ran() == keys);
        assert_eq!((counts(&directory), held.lock().unwrap().len()), ((keys, keys), keys));
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert_eq!(child.end().status, Some(143));
        assert_eq!(problems.try_iter().collect::<Vec<_>>(), [""; 0]);
    }
}

/// Until a find is in a file, it is in memory alone. Neither a second signal nor the timeout costs it.
#[test]
fn a_find_that_a_silent_agent_has_is_in_a_file_after_a_signal_or_the_timeout() {
    for timeout in [None, Some("--timeout=1s")] {
        let place = Place::new();
        let (asked, is_asked) = std::sync::mpsc::channel();
        imitate(&place.socket(), move |count, _| {
            (count >= TRIAL).then(|| {
                let _ = asked.send(());
                Reply::Hang
            })
        });
        let mut search = place.program(&["--agent", "-t", "1", "-n", "1000000", "ab"]);
        search.args(timeout).stdout(Stdio::null()).stderr(Stdio::piped());
        let began = Instant::now();
        let child = start(&mut search);
        is_asked.recv_timeout(Duration::from_secs(60)).unwrap();
        if timeout.is_none() {
            for _ in 0..2 {
                kill_process(Pid::from_child(&child), Signal::INT).unwrap();
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        let ran = child.end();
        assert_eq!(ran.status, Some(if timeout.is_some() { 1 } else { 130 }), "{ran:?}");
        let is_quick = began.elapsed() < Duration::from_secs(4);
        assert!(is_quick || !is_timed(), "{:?}", began.elapsed());
        let files: Vec<String> =
            names(&place.work()).into_iter().filter(|name| !name.ends_with(".pub")).collect();
        assert!(!files.is_empty(), "{ran:?}");
        for file in files {
            check_pair(&place.work().join(&file));
            assert!(ran.stderr.contains(&format!("the key is kept in ./{file}\n")), "{}", ran.stderr);
        }
    }
}

/// gpg-agent answers success to a removal and removes nothing. It is known by its socket, whatever the
/// name, and gets no key but those that were found.
#[test]
fn gpg_agent_gets_the_finds_and_nothing_else() {
    let place = Place::new();
    let Some(agent) = GpgAgent::start(place.directory.path().join("gpg")) else { return };
    agent.answer();
    let tunnel = place.directory.path().join("tunnel");
    forward(&tunnel, &agent.socket);
    std::os::unix::fs::symlink(&agent.socket, place.socket()).unwrap();
    for (number, socket) in [&agent.socket, &place.socket(), &tunnel].into_iter().enumerate() {
        let ran = succeed(place.program(&["--agent", "ab"]).env("SSH_AUTH_SOCK", socket));
        assert_eq!(agent.keys(), number + 1, "{ran:?}");
        let known = "note: gpg-agent writes keys to its disk and removes none; ";
        assert!(ran.stderr.starts_with(known), "{}", ran.stderr);
        let alone = "\nnote: only the agent has the private key; --output also writes it to a file\n";
        assert!(ran.stderr.contains(alone) && !ran.stderr.contains("memory"), "{}", ran.stderr);
        let mut refused = place.program(&["--agent", "--lifetime", "1h", "ab"]);
        let refused = run(refused.env("SSH_AUTH_SOCK", socket));
        let message = "error: gpg-agent does not drop a key after a lifetime\n\
             hint: leave out --lifetime, or use the agent of OpenSSH\n";
        assert_eq!((refused.status, refused.stderr.as_str()), (Some(2), message));
    }
    assert_eq!((agent.keys(), names(&place.work()).len()), (3, 0));
}

/// Passes what comes to a socket on to another one, as ssh does with the agent of another machine.
fn forward(from: &Path, to: &Path) {
    let (listener, to) = (UnixListener::bind(from).unwrap(), to.to_owned());
    std::thread::spawn(move || {
        for near in listener.incoming() {
            let (near, far) = (near.unwrap(), UnixStream::connect(&to).unwrap());
            for (mut from, mut to) in [(near.try_clone(), far.try_clone()), (Ok(far), Ok(near))]
                .map(|(a, b)| (a.unwrap(), b.unwrap()))
            {
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(std::net::Shutdown::Write);
                });
            }
        }
    });
}

/// The user of gpg-agent takes longer for an answer than other agents may. Only a signal ends that.
#[test]
fn the_search_waits_for_the_user_of_gpg_agent() {
    let place = Place::new();
    let Some(agent) = GpgAgent::start(place.directory.path().join("gpg")) else { return };
    let mut search = place.program(&["--agent", "ab"]);
    search.env("SSH_AUTH_SOCK", &agent.socket).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut searches = [start(&mut search), start(&mut search)];
    std::thread::sleep(Duration::from_millis(5500));
    assert!(searches.iter_mut().all(|search| search.try_wait().unwrap().is_none()));
    let [waiting, ended] = searches;
    kill_process(Pid::from_child(&ended), Signal::TERM).unwrap();
    let ran = ended.end();
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let message = "error: gpg-agent waits for a passphrase: cancel its prompt, because the key is removed if \
                   you answer; ";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    assert_eq!(names(&place.work()).len(), 2);
    let helpers = || helpers(&agent.home.join("S.gpg-agent"));
    assert!(helpers() > 0);
    agent.answer();
    let ran = waiting.end();
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("\nprivate key in the agent\n"), "{}", ran.stderr);
    // The agent takes the other key, too, and drops it.
    wait_until("nothing waits any more", || helpers() == 0);
    assert_eq!(agent.keys(), 1);
    let control = fs::read_to_string(agent.home.join("sshcontrol")).unwrap();
    assert_eq!(control.matches("Ed25519 key added").count(), 2, "{control}");
}

/// Returns the number of processes that have this path as their last argument.
fn helpers(path: &Path) -> usize {
    let arguments = |entry: &fs::DirEntry| fs::read(entry.path().join("cmdline")).unwrap_or_default();
    let path = [path.as_os_str().as_encoded_bytes(), b"\0"].concat();
    fs::read_dir("/proc").unwrap().filter(|entry| arguments(entry.as_ref().unwrap()).ends_with(&path)).count()
}

/// What waits for an answer ends with the agent.
#[test]
fn nothing_waits_for_a_gpg_agent_that_is_gone() {
    let place = Place::new();
    let Some(agent) = GpgAgent::start(place.directory.path().join("gpg")) else { return };
    let mut search = place.program(&["--agent", "ab"]);
    search.env("SSH_AUTH_SOCK", &agent.socket).stdout(Stdio::piped()).stderr(Stdio::piped());
    let search = start(&mut search);
    agent.await_question();
    kill_process(Pid::from_child(&search), Signal::TERM).unwrap();
    let ran = search.end();
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("because the key is removed if you answer; "), "{ran:?}");
    let socket = agent.home.join("S.gpg-agent");
    assert!(helpers(&socket) > 0);
    drop(agent);
    wait_until("nothing waits any more", || helpers(&socket) == 0);
}

/// An agent that says that it removes keys, and one that refuses to.
#[test]
fn at_most_one_trial_key_stays_in_an_agent() {
    for (reply, trials) in [(SUCCESS, 0), (FAILURE, 1)] {
        let place = Place::new();
        let keys = imitate(&place.socket(), move |_, message| (message == REMOVE).then(|| reply.into()));
        for found in 1..=2 {
            let ran = succeed(&mut place.program(&["--agent", "ab"]));
            assert_eq!(keys.lock().unwrap().len(), trials + found, "{ran:?}");
            assert!(
                ran.stderr.contains("note: the agent may keep keys that it is asked to remove"),
                "{}",
                ran.stderr
            );
            let how = "warning: the agent has kept a key named 'a trial of vanity-ed25519'; ssh-add -d FILE ";
            assert_eq!(ran.stderr.contains(how), trials == 1, "{}", ran.stderr);
        }
    }
}

/// What the search has given up does not appear in the agent later, whichever answer is late.
#[test]
fn a_key_that_the_agent_takes_too_late_is_removed_again() {
    at_once([(TRIAL, &[ADD, REMOVE][..]), (TRIAL + 1, &[ADD, LIST, REMOVE])], |(late, expected)| {
        let place = Place::new();
        let (heard, messages) = std::sync::mpsc::channel();
        let keys = imitate(&place.socket(), move |count, message| {
            if count == late {
                std::thread::sleep(Duration::from_secs(6));
            }
            if count >= TRIAL {
                heard.send(message).unwrap();
            }
            None
        });
        // While so many keys wait for the agent, the search computes nothing.
        let mut search =
            place.program(&["--agent", "-q", "-t", "1", "--however-long", "-n", "40", "ab", NEVER]);
        let child = start(search.stdout(Stdio::null()).stderr(Stdio::piped()));
        let heard = expected.iter().map(|_| messages.recv_timeout(Duration::from_secs(60)).unwrap());
        assert_eq!(heard.collect::<Vec<_>>(), expected);
        wait_until("the key is removed", || keys.lock().unwrap().is_empty());
        wait_until("all keys are in files", || names(&place.work()).len() == 2 * 40);
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert_eq!(child.end().status, Some(143));
    });
}

#[test]
fn a_confirmation_needs_a_program_that_asks() {
    let place = Place::new();
    let Some(_agent) = place.agent() else { return };
    let note = "note: the agent asks by the program that SSH_ASKPASS named when the agent was started; \
                without such a program it refuses every use of the key\n";
    for (args, is_noted) in [(&["--agent", "--confirm", "ab"][..], true), (&["--agent", "ab"], false)] {
        let ran = succeed(&mut place.program(args));
        assert_eq!(ran.stderr.contains(note), is_noted, "{}", ran.stderr);
    }
}
