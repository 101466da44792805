//! Keys found by the program, used by real `openssl`, `ssh-keygen`, `ssh` and `sshd`.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test")]

mod require;

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use vanity_ed25519::key::PublicKey;

/// The program under test.
fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vanity-ed25519"));
    command.stdin(Stdio::null());
    command
}

/// Runs a command that must succeed.
fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The first word of `text` that begins with `start`.
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
    let output = run(program().arg("-o").arg(&private).arg("abc"));
    Found {
        private,
        public: directory.join("id_x.pub"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn stdout_is_a_clean_file_for_openssl() {
    let Some(openssl) = require::tool("openssl") else { return };
    let directory = TempDir::new().unwrap();
    let pem = directory.path().join("key.pem");
    let output = run(program().arg("ab").stdout(File::create(&pem).unwrap()).stderr(Stdio::piped()));
    let stderr = String::from_utf8(output.stderr).unwrap();

    let content = fs::read_to_string(&pem).unwrap();
    assert!(content.starts_with("-----BEGIN PRIVATE KEY-----\n"));
    assert!(content.ends_with("\n-----END PRIVATE KEY-----\n"));
    assert_eq!(content.lines().count(), 3);
    assert!(!stderr.contains("PRIVATE KEY"));

    let pkey = || {
        let mut command = Command::new(&openssl);
        command.arg("pkey").arg("-in").arg(&pem);
        command
    };
    run(pkey().arg("-noout"));
    let info = run(pkey().args(["-pubout", "-outform", "DER"])).stdout;
    // A SubjectPublicKeyInfo ends with the key.
    let key = PublicKey(*info.last_chunk().unwrap());
    let text = word(&stderr, "AAAA");
    assert_eq!(text.as_bytes(), key.text());
    assert!(text[25..].to_lowercase().contains("ab"));
}

#[test]
fn ssh_keygen_reads_the_files() {
    let Some(ssh_keygen) = require::tool("ssh-keygen") else { return };
    let directory = TempDir::new().unwrap();
    let found = find(directory.path());

    assert_eq!(fs::metadata(&found.private).unwrap().mode() & 0o7777, 0o600);
    assert_eq!(fs::metadata(&found.public).unwrap().mode() & 0o022, 0);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);

    let line = fs::read_to_string(&found.public).unwrap();
    let read = run(Command::new(&ssh_keygen).arg("-y").arg("-f").arg(&found.private)).stdout;
    assert_eq!(String::from_utf8(read).unwrap(), line);
    assert!(word(&line, "AAAA")[25..].to_lowercase().contains("abc"));
    assert_eq!(found.stdout, line);

    let shown = run(Command::new(&ssh_keygen).arg("-lf").arg(&found.public)).stdout;
    let shown = String::from_utf8(shown).unwrap();
    assert_eq!(word(&shown, "SHA256:"), word(&found.stderr, "SHA256:"));
}

/// A server of our own on a loopback port, ended when it goes out of scope.
struct Server {
    child: Child,
    port: u16,
    log: PathBuf,
}

impl Server {
    /// Starts `sshd` in `directory` with the lines of `authorized` as its `authorized_keys`.
    fn start(sshd: &Path, ssh_keygen: &Path, directory: &Path, authorized: &Path) -> Self {
        let path = |name: &str| directory.join(name);
        run(Command::new(ssh_keygen).args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path("host")));
        if user("-u") == "0" {
            fs::create_dir_all("/run/sshd").unwrap();
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = format!(
            "Port {port}\n\
             ListenAddress 127.0.0.1\n\
             HostKey \"{}\"\n\
             PidFile \"{}\"\n\
             AuthorizedKeysFile \"{}\"\n\
             UsePAM no\n\
             StrictModes no\n\
             PermitRootLogin prohibit-password\n\
             PasswordAuthentication no\n\
             KbdInteractiveAuthentication no\n\
             LogLevel VERBOSE\n",
            path("host").display(),
            path("pid").display(),
            authorized.display(),
        );
        fs::write(path("config"), config).unwrap();
        let log = path("log");
        let mut command = Command::new(sshd);
        command.arg("-D").arg("-f").arg(path("config")).arg("-E").arg(&log).stdin(Stdio::null());
        let mut server = Self { child: command.spawn().unwrap(), port, log };

        let deadline = Instant::now() + Duration::from_secs(20);
        while !server.log().contains("Server listening on") {
            let ended = server.child.try_wait().unwrap();
            assert!(ended.is_none() && Instant::now() < deadline, "no sshd ({ended:?}):\n{}", server.log());
            std::thread::sleep(Duration::from_millis(20));
        }
        server
    }

    /// Logs in as the current user with one key alone, and lets the server say OK.
    fn login(&self, ssh: &Path, directory: &Path, key: &Path) -> Output {
        let known_hosts = format!("UserKnownHostsFile=\"{}\"", directory.join("known_hosts").display());
        let mut command = Command::new(ssh);
        command.args(["-F", "/dev/null", "-p", &self.port.to_string(), "-i"]).arg(key);
        for option in [
            "IdentitiesOnly=yes",
            "IdentityAgent=none",
            "BatchMode=yes",
            "ConnectTimeout=20",
            "GlobalKnownHostsFile=/dev/null",
            "StrictHostKeyChecking=accept-new",
            &known_hosts,
        ] {
            command.args(["-o", option]);
        }
        let address = format!("{}@127.0.0.1", user("-un"));
        command.arg(address).arg("echo OK").stdin(Stdio::null()).output().unwrap()
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What `id` says of the current user.
fn user(option: &str) -> String {
    let output = run(Command::new("id").arg(option));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
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
    run(Command::new(&ssh_keygen).args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&other));
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
        run(program().args(["--in", "fingerprint", kind, text, "-o"]).arg(&private));
        let shown = run(Command::new(&ssh_keygen).arg("-lf").arg(private.with_extension("pub")));
        let shown = String::from_utf8(shown.stdout).unwrap();
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
