//! Runs a real `sshd`.

#![cfg(unix)]

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::program::{Running, start, succeed};

/// A server on a loopback port. It ends when this value is dropped.
pub struct Server {
    child: Running,
    pub port: u16,
    log: PathBuf,
}

impl Server {
    /// Starts `sshd` in `directory`, which is also the home directory of a user who logs in. The
    /// server takes `authorized` for the user's `authorized_keys`.
    pub fn start(sshd: &Path, ssh_keygen: &Path, directory: &Path, authorized: &Path) -> Self {
        let host_key = directory.join("host");
        succeed(Command::new(ssh_keygen).args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&host_key));
        Self::start_with(sshd, &host_key, directory, authorized)
    }

    /// Starts `sshd` as [`Self::start`] does, with a host key that exists.
    pub fn start_with(sshd: &Path, host_key: &Path, directory: &Path, authorized: &Path) -> Self {
        Self::start_at(free_port(), sshd, host_key, directory, authorized)
    }

    /// Starts `sshd` as [`Self::start_with`] does, at this port.
    pub fn start_at(port: u16, sshd: &Path, host_key: &Path, directory: &Path, authorized: &Path) -> Self {
        let path = |name: &str| directory.join(name);
        if user("-u") == "0" {
            fs::create_dir_all("/run/sshd").unwrap();
        }
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
             SetEnv HOME={}\n\
             LogLevel VERBOSE\n",
            host_key.display(),
            path("pid").display(),
            authorized.display(),
            directory.display(),
        );
        fs::write(path("config"), config).unwrap();
        let log = path("log");
        let mut command = Command::new(sshd);
        command.arg("-D").arg("-f").arg(path("config")).arg("-E").arg(&log).stdin(Stdio::null());
        let mut server = Self { child: start(&mut command), port, log };

        let deadline = Instant::now() + Duration::from_secs(20);
        while !server.log().contains("Server listening on") {
            let ended = server.child.try_wait().unwrap();
            assert!(ended.is_none() && Instant::now() < deadline, "no sshd ({ended:?}):\n{}", server.log());
            std::thread::sleep(Duration::from_millis(20));
        }
        server
    }

    /// Logs in as the current user with one key alone, and runs `echo OK` on the server.
    pub fn login(&self, ssh: &Path, directory: &Path, key: &Path) -> Output {
        let mut command = Command::new(ssh);
        command
            .args(["-F", "/dev/null", "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-i"])
            .arg(key);
        self.echo(command, directory)
    }

    /// Logs in as the current user with the keys of an agent, and runs `echo OK` on the server.
    pub fn login_by_agent(&self, ssh: &Path, directory: &Path, socket: &Path) -> Output {
        let mut command = Command::new(ssh);
        command.args(["-F", "/dev/null", "-o", "IdentityFile=none"]).env("SSH_AUTH_SOCK", socket);
        self.echo(command, directory)
    }

    /// Logs in with one key, to a host that the file of known hosts must know, by this name or else by
    /// its address and port.
    pub fn login_to_known(&self, ssh: &Path, known_hosts: &Path, host: Option<&str>, key: &Path) -> Output {
        let mut command = Command::new(ssh);
        command
            .args(["-F", "/dev/null", "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-i"])
            .arg(key);
        command.args(["-o", "StrictHostKeyChecking=yes"]);
        if let Some(host) = host {
            command.args(["-o", &format!("HostKeyAlias={host}")]);
        }
        // The first value of an option counts.
        command.args(["-o", &format!("UserKnownHostsFile=\"{}\"", known_hosts.display())]);
        self.echo(command, known_hosts.parent().unwrap())
    }

    /// Runs `echo OK` on the server.
    fn echo(&self, mut command: Command, directory: &Path) -> Output {
        let known_hosts = format!("UserKnownHostsFile=\"{}\"", directory.join("known_hosts").display());
        command.args(["-p", &self.port.to_string()]);
        for option in [
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

    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

/// Returns a port at which nobody listens.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Returns what `id` prints about the current user.
pub fn user(option: &str) -> String {
    succeed(Command::new("id").arg(option)).stdout.trim().to_owned()
}
