//! The examples of README.md, CONTRIBUTING.md and docs, each run as it stands there: transcripts are compared, commands
//! have to succeed.

#![cfg(target_os = "linux")]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{documents, program, require, sshd, terminal};
use program::{PROGRAM, Ran, command, program, run, succeed};
use regex::Regex;
use snapbox::{Assert, Redactions};
use sshd::Server;
use tempfile::TempDir;
use terminal::{AGAIN, PROMPT, Typist};

const SECRET: &str = "correct horse";

/// What is there for `cargo` to run.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "fuzz/Cargo.toml"];

/// Commands that change the machine, and those that are the test itself.
const NOT_RUN: [&str; 3] =
    ["cargo test", "cargo install --path . --locked", "cargo install --path . --locked --features gpu"];

/// What differs from run to run, and what stands for it.
const VARYING: [(&str, &str); 8] = [
    ("[KEY]", "AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{43}"),
    ("[FINGERPRINT]", "SHA256:[A-Za-z0-9+/]{43}"),
    ("[ID]", "-(?<redacted>[0-9a-f]{16})"),
    ("[KEYS]", r"(?m)(after|^) ?(?<redacted>[0-9][0-9,]*) keys (tried )?in "),
    ("[RATE]", r"(at|,) (?<redacted>[0-9][0-9,.]*) (keys/s|a second)"),
    ("[TIME]", r"(in|within at most|within) (?<redacted>[0-9][0-9,.]* ?(ms|s|min|h)( [0-9]+(ms|s|min))*)"),
    ("[ENGINE]", "by (?<redacted>[a-z0-9]+) on"),
    ("[THREADS]", "on (?<redacted>[0-9]+ threads?)"),
];

/// A home with what a document takes for granted: the program in `PATH`, files that it names, a password manager, a
/// server called `host`.
struct Home {
    directory: TempDir,
    path: OsString,
    bash: PathBuf,
    /// Only where the document names it.
    server: Option<Server>,
}

impl Home {
    /// `None` where a tool that the document needs is missing.
    fn new(document: &str) -> Option<Self> {
        let named = |tool: &&str| {
            document.contains(&format!("\n{tool} ")) || document.contains(&format!("| {tool} "))
        };
        let named =
            ["ssh-copy-id", "ssh-agent", "ssh-add", "ssh-keygen", "jq", "git"].into_iter().filter(named);
        let tools: Vec<_> = named.map(require::tool).collect();
        let [bash, script] = ["bash", "script"].map(require::tool);
        let (bash, _) = bash.zip(script)?;
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

        let script = |name: &str, line: String| {
            fs::write(at(name), format!("#!/bin/sh\n{line}\n")).unwrap();
            fs::set_permissions(at(name), fs::Permissions::from_mode(0o700)).unwrap();
        };
        script("bin/pass", format!("echo '{SECRET}'"));
        let mut server = None;
        if document.contains(" user@host") {
            let tools = ["sshd", "ssh", "ssh-keygen"].map(require::tool);
            let [Some(sshd), Some(ssh), Some(ssh_keygen)] = &tools else { return None };
            let (started, config) = start_server(directory.path(), sshd, ssh_keygen);
            fs::write(at("ssh_config"), config).unwrap();
            script("bin/ssh", format!("exec '{}' -F '{}' \"$@\"", ssh.display(), at("ssh_config").display()));
            server = Some(started);
        } else {
            // The key of the README's first command.
            succeed(program(&["-q", "-o", "id_alice", "abc"]).current_dir(&directory));
        }

        let own = [at("bin"), Path::new(PROGRAM).parent().unwrap().into()];
        let path = std::env::var_os("PATH").unwrap();
        let path = std::env::join_paths(own.into_iter().chain(std::env::split_paths(&path))).unwrap();
        Some(Self { path, bash, server, directory })
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
            let is_there = MANIFESTS.iter().any(|manifest| documents::read(manifest).contains(&entry));
            assert!(is_there, "there is no {kind} {name}");
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
            [path] | [path, ">", _] | ["cargo", "run", "--manifest-path", path] if path.contains('/') => {
                assert!(documents::root().join(path).is_file(), "{path}");
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
            ["puttygen", ..] if require::tool("puttygen").is_none() => {}
            ["vanity-ed25519" | "ssh" | "ssh-copy-id" | "ssh-keygen" | "puttygen" | "git" | "chmod", ..] => {
                let user = format!("{}@host", sshd::user("-un"));
                succeed(&mut self.shell(&line.replace("user@host", &user)));
            }
            _ => panic!("'{line}' is neither run nor known"),
        }
    }
}

/// Starts a server in a home. Returns it, and the lines of a configuration with which ssh calls it `host`.
fn start_server(directory: &Path, sshd: &Path, ssh_keygen: &Path) -> (Server, String) {
    let at = |name: &str| directory.join(name);
    // The server knows one key, with which the others are brought there.
    let first = at("first");
    succeed(command(ssh_keygen).args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&first));
    fs::copy(program::public_path(&first), at(".ssh/authorized_keys")).unwrap();
    let server = Server::start(sshd, ssh_keygen, directory, &at(".ssh/authorized_keys"));
    let config = format!(
        "Host host\n HostName 127.0.0.1\n Port {}\n IdentityFile \"{}\"\n BatchMode yes\n IdentityAgent none\n \
         StrictHostKeyChecking accept-new\n GlobalKnownHostsFile /dev/null\n UserKnownHostsFile \"{}\"\n",
        server.port,
        first.display(),
        at("known_hosts").display()
    );
    (server, config)
}

/// Runs the transcripts and commands of a document in the order in which they stand there, since some use the files of
/// others. Returns how many transcripts and commands there are, and the home; `None` where a tool is missing.
fn run_examples(name: &str) -> Option<(usize, usize, Home)> {
    let document = documents::read(name);
    let home = Home::new(&document)?;
    let mut redactions = Redactions::new();
    for (placeholder, pattern) in VARYING {
        redactions.insert(placeholder, Regex::new(pattern).unwrap()).unwrap();
    }
    let (mut transcripts, mut commands) = (0, 0);
    for block in document.split("\n```").skip(1).step_by(2) {
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
                transcripts += 1;
            }
            _ => panic!("{name}: a block of {language}: {text}"),
        }
    }
    Some((transcripts, commands, home))
}

/// A test for each document: how many examples it has at least.
macro_rules! examples_of {
    ($($test:ident: $document:literal, $least:literal;)*) => {
        const RUN: &[&str] = &["README.md", $($document),*];

        $(#[test]
        fn $test() {
            let Some((transcripts, commands, _)) = run_examples($document) else { return };
            assert!(transcripts + commands >= $least, "{transcripts} transcripts, {commands} commands");
        })*
    };
}

examples_of! {
    contributing: "CONTRIBUTING.md", 16;
    patterns: "docs/patterns.md", 5;
    batches: "docs/batches.md", 5;
    encryption: "docs/encryption.md", 4;
    json: "docs/json.md", 1;
    graphics_processors: "docs/gpu.md", 2;
    platforms: "docs/platforms.md", 6;
    questions: "docs/faq.md", 7;
}

/// `tests/guide.rs` is for the guide to many machines.
#[test]
fn every_document_with_examples_is_run() {
    let has_examples = |name: &String| documents::read(name).contains("\n```");
    let with_examples = documents::documents().into_iter().filter(has_examples);
    let mut run: Vec<String> = RUN.iter().map(|name| (*name).to_owned()).collect();
    run.push("docs/many-machines.md".to_owned());
    run.sort_unstable();
    let mut with_examples: Vec<String> = with_examples.collect();
    with_examples.sort_unstable();
    assert_eq!(run, with_examples);
}

#[test]
fn the_readme() {
    let Some((transcripts, commands, home)) = run_examples("README.md") else { return };
    assert!(transcripts >= 2 && commands >= 8, "{transcripts} transcripts, {commands} commands");

    // The key that was brought to the server is the one that it let in.
    let line = fs::read_to_string(home.directory.path().join("id_alice.pub")).unwrap();
    let shown = succeed(command("ssh-keygen").args(["-lf", "id_alice.pub"]).current_dir(&home.directory));
    let fingerprint = shown.stdout.split(' ').nth(1).unwrap();
    let log = home.server.as_ref().unwrap().log();
    let accepted = |entry: &str| entry.contains("Accepted publickey") && entry.contains(fingerprint);
    assert!(log.lines().any(accepted), "{line} was not accepted:\n{log}");
}

/// What `.ci/run` and `proof.sh` run on a new machine: the first two commands of the README, in this order.
#[test]
fn the_first_commands_make_a_key_that_every_ssh_reads_and_run_the_tests() {
    let readme = documents::read("README.md");
    let blocks = readme.split("\n```sh\n").skip(1).map(|block| block.split("\n```").next().unwrap());
    let first: Vec<&str> = blocks.clone().next().unwrap().lines().collect();
    assert_eq!(first, ["cargo run --release -- -o id_alice alice", "cargo test"]);
    assert!(blocks.skip(1).any(|block| block == "cargo run --release -- abc > key.pem"));
}
