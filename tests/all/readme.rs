//! The README's examples, each run as it stands there: transcripts are compared, commands have to succeed.

#![cfg(target_os = "linux")]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{program, require, sshd, terminal};
use program::{PROGRAM, Ran, command, run, succeed};
use regex::Regex;
use snapbox::{Assert, Redactions};
use sshd::Server;
use tempfile::TempDir;
use terminal::{AGAIN, PROMPT, Typist};

const README: &str = include_str!("../../README.md");
const SECRET: &str = "correct horse";

/// What is there for `cargo` to run.
const MANIFESTS: [&str; 2] = [include_str!("../../Cargo.toml"), include_str!("../../fuzz/Cargo.toml")];

/// Commands that change the machine, and those that are the test itself.
const NOT_RUN: [&str; 4] = [
    "cargo test",
    "cargo install --path . --locked",
    "cargo install --path . --locked --features gpu",
    "packaging/deb",
];

/// What differs from run to run, and what stands for it.
const VARYING: [(&str, &str); 8] = [
    ("[KEY]", "AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{43}"),
    ("[FINGERPRINT]", "SHA256:[A-Za-z0-9+/]{43}"),
    ("[ID]", "-(?<redacted>[0-9a-f]{16})"),
    ("[KEYS]", r"(?m)(after|^) ?(?<redacted>[0-9][0-9,]*) keys (tried )?in "),
    ("[RATE]", r"(at|,) (?<redacted>[0-9][0-9,.]*) (keys/s|a second)"),
    ("[TIME]", r"(in|within) (?<redacted>[0-9][0-9,.]* ?(ms|s|min|h)( [0-9]+(ms|s|min))*)"),
    ("[ENGINE]", "by (?<redacted>[a-z0-9]+) on"),
    ("[THREADS]", "on (?<redacted>[0-9]+ threads?)"),
];

/// A home with what the README takes for granted: the program in `PATH`, files that it names, a password manager, a
/// server called `host`.
struct Home {
    directory: TempDir,
    path: OsString,
    bash: PathBuf,
    server: Server,
}

impl Home {
    /// `None` where a tool is missing.
    fn new() -> Option<Self> {
        let tools = ["bash", "sshd", "ssh", "ssh-keygen", "ssh-copy-id", "ssh-agent", "ssh-add", "jq"];
        let tools = tools.map(require::tool);
        let [Some(bash), Some(sshd), Some(ssh), Some(ssh_keygen), ..] = &tools else { return None };
        tools.iter().all(Option::is_some).then_some(())?;
        let directory = TempDir::new().unwrap();
        let at = |name: &str| directory.path().join(name);
        for name in [
            ".ssh",
            "bin",
            ".zfunc",
            ".local/share/man/man1",
            ".local/share/bash-completion/completions",
            ".config/fish/completions",
        ] {
            fs::create_dir_all(at(name)).unwrap();
        }
        fs::write(at("words.txt"), "ann\nbob\n").unwrap();
        fs::write(at("secret"), format!("{SECRET}\n")).unwrap();
        fs::set_permissions(at("secret"), fs::Permissions::from_mode(0o600)).unwrap();

        // The server knows one key, with which the others are brought there.
        let first = at("first");
        succeed(command(ssh_keygen).args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&first));
        fs::copy(program::public_path(&first), at(".ssh/authorized_keys")).unwrap();
        let server = Server::start(sshd, ssh_keygen, directory.path(), &at(".ssh/authorized_keys"));
        let config = format!(
            "Host host\n HostName 127.0.0.1\n Port {}\n IdentityFile \"{}\"\n BatchMode yes\n IdentityAgent none\n \
             StrictHostKeyChecking accept-new\n GlobalKnownHostsFile /dev/null\n UserKnownHostsFile \"{}\"\n",
            server.port,
            first.display(),
            at("known_hosts").display()
        );
        fs::write(at("ssh_config"), config).unwrap();
        let script = |name: &str, line: String| {
            fs::write(at(name), format!("#!/bin/sh\n{line}\n")).unwrap();
            fs::set_permissions(at(name), fs::Permissions::from_mode(0o700)).unwrap();
        };
        script("bin/ssh", format!("exec '{}' -F '{}' \"$@\"", ssh.display(), at("ssh_config").display()));
        script("bin/pass", format!("echo '{SECRET}'"));

        let own = [at("bin"), Path::new(PROGRAM).parent().unwrap().into()];
        let path = std::env::var_os("PATH").unwrap();
        let path = std::env::join_paths(own.into_iter().chain(std::env::split_paths(&path))).unwrap();
        Some(Self { path, bash: bash.clone(), server, directory })
    }

    /// Runs a line of shell.
    fn shell(&self, line: &str) -> Command {
        let mut shell = command(&self.bash);
        self.surround(&mut shell).args(["-e", "-o", "pipefail", "-c", line]);
        shell
    }

    fn surround<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .current_dir(&self.directory)
            .env("PATH", &self.path)
            .env("HOME", self.directory.path())
            .env("TERM", "dumb")
            .env("SSH_ASKPASS", self.directory.path().join("bin/pass"))
            .env("SSH_ASKPASS_REQUIRE", "force")
    }

    /// What a terminal shows of a command.
    fn transcript(&self, line: &str, expected: &str) -> String {
        if !expected.contains(PROMPT) {
            let Ran { stdout, .. } = run(&mut self.shell(&format!("exec 2>&1; {line}")));
            return stdout;
        }
        let script = require::tool("script").unwrap();
        let mut typist = Typist::run(self.surround(&mut command(script)), line);
        typist.answer(PROMPT, format!("{SECRET}\n"));
        typist.answer(AGAIN, format!("{SECRET}\n"));
        let (status, shown) = typist.end();
        assert_eq!(status, Some(0), "{shown}");
        shown.replace('\r', "")
    }

    /// Runs a command that is shown without what it prints.
    fn run_shown(&self, line: &str) {
        let known = |kind: &str, name: &str| {
            let entry = format!("name = \"{name}\"");
            assert!(MANIFESTS.iter().any(|manifest| manifest.contains(&entry)), "there is no {kind} {name}");
        };
        let line = line.split("    #").next().unwrap().trim_end();
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            _ if NOT_RUN.contains(&line) => {}
            ["cargo", "run", "--release", "--", ..] => {
                self.run_shown(&line.replacen("cargo run --release --", "vanity-ed25519", 1));
            }
            ["cargo", "bench", "--bench", name] => known("bench", name),
            ["cargo", "+nightly", "fuzz", "run", name, ..] => known("fuzz target", name),
            [path] | ["cargo", "run", "--manifest-path", path] if path.contains('/') => {
                assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(path).is_file(), "{path}");
            }
            ["vanity-ed25519", "--bench", seconds, ..] => {
                succeed(&mut self.shell(&line.replace(&format!("--bench {seconds}"), "--bench 0.1")));
            }
            ["vanity-ed25519", "--engine", "gpu", ..] if !cfg!(feature = "gpu") => {
                assert_eq!(run(&mut self.shell(line)).status, Some(2));
            }
            ["ssh-add", ..] => {
                let mut agent = command("ssh-agent");
                succeed(self.surround(&mut agent).args(["bash", "-c", line]));
            }
            ["vanity-ed25519" | "ssh" | "ssh-copy-id" | "ssh-keygen", ..] => {
                let user = format!("{}@host", sshd::user("-un"));
                succeed(&mut self.shell(&line.replace("user@host", &user)));
            }
            _ => panic!("'{line}' is neither run nor known"),
        }
    }
}

/// Transcripts and commands in the order in which they stand there, since some use the files of others.
#[test]
fn the_examples_are_what_happens() {
    let Some(home) = Home::new() else { return };
    if require::tool("script").is_none() {
        return;
    }
    let mut redactions = Redactions::new();
    for (placeholder, pattern) in VARYING {
        redactions.insert(placeholder, Regex::new(pattern).unwrap()).unwrap();
    }
    let (mut transcripts, mut commands) = (0, 0);
    for block in README.split("\n```").skip(1).step_by(2) {
        let (language, text) = block.split_once('\n').unwrap();
        match language {
            "console" => {
                for example in text.strip_prefix("$ ").unwrap().split("\n$ ") {
                    let (line, expected) = example.split_once('\n').unwrap();
                    let shown = home.transcript(line, expected);
                    // What a slow machine tells after ten seconds, and every minute.
                    let told = shown.lines().filter(|line| !line.contains("% chance by now"));
                    let told = told.collect::<Vec<_>>().join("\n");
                    let shown = format!("$ {line}\n{}", told.trim_end());
                    let expected = redactions.redact(&format!("$ {line}\n{}", expected.trim_end()));
                    let assert = Assert::new().redact_with(redactions.clone());
                    assert.eq(shown, expected);
                    transcripts += 1;
                }
            }
            "sh" => {
                text.lines().for_each(|line| home.run_shown(line));
                commands += text.lines().count();
            }
            "text" if text.starts_with('#') => {
                fs::write(home.directory.path().join("shown.txt"), text).unwrap();
                succeed(&mut home.shell("vanity-ed25519 --estimate -f shown.txt"));
            }
            "text" => assert!(text.starts_with("ssh-ed25519 "), "a block of text: {text}"),
            _ => panic!("a block of {language}"),
        }
    }
    assert!(transcripts >= 8 && commands >= 20, "{transcripts} transcripts, {commands} commands");

    // The key that was brought to the server is the one that it let in.
    let line = fs::read_to_string(home.directory.path().join("id_alice.pub")).unwrap();
    let shown = succeed(command("ssh-keygen").args(["-lf", "id_alice.pub"]).current_dir(&home.directory));
    let fingerprint = shown.stdout.split(' ').nth(1).unwrap();
    let log = home.server.log();
    let accepted = |entry: &str| entry.contains("Accepted publickey") && entry.contains(fingerprint);
    assert!(log.lines().any(accepted), "{line} was not accepted:\n{log}");
}
