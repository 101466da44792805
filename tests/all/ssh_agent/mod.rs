//! Runs a real `ssh-agent`, and imitates agents that fail.

#![cfg(unix)]

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process};

use crate::program::{Ran, Running, command, run, start, succeed, wait_until};
use crate::require;

/// The messages of the protocol.
pub const SUCCESS: &[u8] = &[6];
pub const FAILURE: &[u8] = &[5];
pub const LIST: u8 = 11;
pub const ADD: u8 = 17;
pub const REMOVE: u8 = 18;
pub const ADD_CONSTRAINED: u8 = 25;

/// The trial before the search takes five messages: keys are listed, one that is not there is removed,
/// a key is added and removed, and keys are listed again.
pub const TRIAL: usize = 5;

/// The bytes of a message that adds a key, up to its comment.
pub const ADDED_KEY: usize = 1 + 4 + 11 + 4 + 32 + 4 + 64;

/// A real agent. It ends when this value is dropped.
pub struct Agent {
    pub socket: PathBuf,
    ssh_add: PathBuf,
    _child: Running,
}

impl Agent {
    /// Starts an agent that listens in `directory`. `askpass` is the program by which it asks the
    /// user. Returns `None` without the tools.
    pub fn start(directory: &Path, askpass: &Path) -> Option<Self> {
        let tools = ["ssh-agent", "ssh-add"].map(require::tool);
        let [Some(ssh_agent), Some(ssh_add)] = tools else { return None };
        let socket = directory.join("agent");
        let mut command = Command::new(ssh_agent);
        command.arg("-D").arg("-a").arg(&socket).stdin(Stdio::null()).stdout(Stdio::piped());
        command.env("SSH_ASKPASS", askpass).env("SSH_ASKPASS_REQUIRE", "force");
        let mut child = start(&mut command);
        // The agent listens before it prints its variables.
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("SSH_AUTH_SOCK="), "{line}");
        Some(Self { socket, ssh_add, _child: child })
    }

    /// Runs `ssh-add` with these arguments.
    pub fn ssh_add(&self, args: &[&str]) -> Ran {
        run(command(&self.ssh_add).args(args).env("SSH_AUTH_SOCK", &self.socket))
    }

    /// Returns the public lines of the keys that the agent has.
    pub fn lines(&self) -> String {
        let listed = self.ssh_add(&["-L"]);
        if listed.stdout == "The agent has no identities.\n" { String::new() } else { listed.stdout }
    }

    /// Locks the agent with `-x`, or unlocks it with `-X`. `askpass` prints the password.
    pub fn lock(&self, option: &str, askpass: &Path) {
        let mut command = command(&self.ssh_add);
        command.arg(option).env("SSH_AUTH_SOCK", &self.socket);
        succeed(command.env("SSH_ASKPASS", askpass).env("SSH_ASKPASS_REQUIRE", "force"));
    }
}

/// A real gpg-agent. It ends when this value is dropped.
pub struct GpgAgent {
    pub home: PathBuf,
    pub socket: PathBuf,
    /// The agent itself. The process that was started has made another one.
    pid: Pid,
    _child: Running,
}

impl Drop for GpgAgent {
    fn drop(&mut self) {
        // The program that asks for passphrases ends when its directory is removed.
        let _ = kill_process(self.pid, Signal::KILL);
    }
}

/// Returns the file that exists once an agent with this directory has asked for a passphrase.
fn asked(home: &Path) -> PathBuf {
    home.join("asked")
}

impl GpgAgent {
    /// Starts a gpg-agent in a new directory. It asks for passphrases by a program that answers when
    /// [`Self::answer`] has been called. Returns `None` without the tool.
    pub fn start(home: PathBuf) -> Option<Self> {
        let gpg_agent = require::tool("gpg-agent")?;
        fs::create_dir(&home).unwrap();
        fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
        let (pinentry, answer) = (home.join("pinentry"), home.join("answer"));
        let lines = format!(
            "#!/bin/sh\necho OK\nwhile read -r line; do case $line in\n\
             GETPIN*) : > '{}'; while [ ! -e '{}' -a -e \"$0\" ]; do sleep 0.05; done; printf 'S PIN_REPEATED\\nD word\\nOK\\n';;\n\
             BYE*) echo OK; exit;;\n*) echo OK;;\nesac; done\n",
            asked(&home).display(),
            answer.display()
        );
        fs::write(&pinentry, lines).unwrap();
        fs::set_permissions(&pinentry, fs::Permissions::from_mode(0o700)).unwrap();
        let mut command = Command::new(gpg_agent);
        command.arg("--homedir").arg(&home).arg("--pinentry-program").arg(&pinentry);
        command.args(["--no-detach", "--daemon", "--enable-ssh-support", "--disable-scdaemon"]);
        command
            .args(["--s2k-count", "65536"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = start(&mut command);
        let socket = home.join("S.gpg-agent.ssh");
        wait_until("gpg-agent listens", || UnixStream::connect(&socket).is_ok());
        let mut ask = Command::new(require::tool("gpg-connect-agent")?);
        ask.arg("-S").arg(home.join("S.gpg-agent")).args(["GETINFO pid", "/bye"]);
        let told = succeed(&mut ask).stdout;
        let pid = told.lines().next().unwrap().strip_prefix("D ").unwrap().parse().unwrap();
        Some(Self { home, socket, pid: Pid::from_raw(pid).unwrap(), _child: child })
    }

    /// Waits until it asks for a passphrase.
    pub fn await_question(&self) {
        wait_until("the agent asks for a passphrase", || asked(&self.home).exists());
    }

    /// Answers the questions for passphrases, those that are open and all others.
    pub fn answer(&self) {
        fs::write(self.home.join("answer"), "").unwrap();
    }

    /// Returns the number of private keys on its disk.
    pub fn keys(&self) -> usize {
        fs::read_dir(self.home.join("private-keys-v1.d")).map_or(0, Iterator::count)
    }
}

/// What an imitation does after it has read a message.
pub enum Reply {
    /// It answers with this body.
    Answer(Vec<u8>),
    /// It closes the connection.
    Close,
    /// It never answers.
    Hang,
}

impl From<&[u8]> for Reply {
    fn from(body: &[u8]) -> Self {
        Self::Answer(body.to_vec())
    }
}

/// The keys of an imitation: their blobs.
pub type Keys = Arc<Mutex<Vec<Vec<u8>>>>;

/// An agent that holds the keys as a real one does, except where `fault` replies instead. `fault`
/// gets the number of messages before this one, and the message. The thread ends with the tests.
pub fn imitate(socket: &Path, fault: impl Fn(usize, u8) -> Option<Reply> + Send + 'static) -> Keys {
    imitate_whole(socket, move |count, message| fault(count, message[0]))
}

/// An agent as that of [`imitate`], whose `fault` gets the whole message.
pub fn imitate_whole(socket: &Path, fault: impl Fn(usize, &[u8]) -> Option<Reply> + Send + 'static) -> Keys {
    let listener = UnixListener::bind(socket).unwrap();
    let keys = Keys::default();
    let held = Arc::clone(&keys);
    std::thread::spawn(move || {
        let (mut count, mut comments) = (0, HashMap::new());
        let mut hanging = Vec::new();
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            while let Some(message) = read(&mut connection) {
                let reply = fault(count, &message).unwrap_or_else(|| answer(&message, &held, &mut comments));
                count += 1;
                match reply {
                    Reply::Answer(body) => {
                        let length = (body.len() as u32).to_be_bytes();
                        // A program that has given up closes the connection.
                        let _ = connection.write_all(&[&length[..], &body].concat());
                    }
                    Reply::Close => break,
                    Reply::Hang => {
                        hanging.push(connection);
                        break;
                    }
                }
            }
        }
    });
    keys
}

fn read(connection: &mut UnixStream) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    connection.read_exact(&mut length).ok()?;
    let mut message = vec![0; u32::from_be_bytes(length) as usize];
    connection.read_exact(&mut message).ok()?;
    Some(message)
}

/// Returns the answer of an agent that does what it is asked.
fn answer(message: &[u8], keys: &Keys, comments: &mut HashMap<Vec<u8>, Vec<u8>>) -> Reply {
    let mut keys = keys.lock().unwrap();
    match message[0] {
        // The algorithm and the public key of an added key are its blob.
        ADD | ADD_CONSTRAINED => {
            let (blob, comment) = (message[1..52].to_vec(), &message[ADDED_KEY..]);
            let length = u32::from_be_bytes(comment[..4].try_into().unwrap()) as usize;
            comments.insert(blob.clone(), comment[..4 + length].to_vec());
            keys.push(blob);
        }
        REMOVE => match keys.iter().position(|key| *key == message[5..]) {
            Some(at) => drop(keys.remove(at)),
            None => return Reply::from(FAILURE),
        },
        LIST => {
            let mut body = [&[12][..], &(keys.len() as u32).to_be_bytes()].concat();
            for key in keys.iter() {
                let comment = comments.get(key).map_or(&[0; 4][..], Vec::as_slice);
                body.extend([&(key.len() as u32).to_be_bytes()[..], key, comment].concat());
            }
            return Reply::Answer(body);
        }
        _ => return Reply::from(FAILURE),
    }
    Reply::from(SUCCESS)
}
