//! Runs the examples of README.md, CONTRIBUTING.md and docs as they are written there, but benches for
//! a shorter time, estimates with one thread of the engine that is measured soonest, and searches whose
//! output is not shown for a shorter name. Compares transcripts with the output. Commands must succeed.

#![cfg(target_os = "linux")]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{documents, program, require, sshd, terminal};
use program::{PROGRAM, Ran, command, program, run, succeed};
use regex::{Captures, Regex};
use sshd::Server;
use tempfile::TempDir;
use terminal::{AGAIN, PROMPT, Typist};

const SECRET: &str = "correct horse";

/// The manifests that name the benches and fuzz targets of the examples.
const MANIFESTS: [&str; 4] =
    ["Cargo.toml", "benches/criterion/Cargo.toml", "crates/ed25519-batch/Cargo.toml", "fuzz/Cargo.toml"];

/// Commands that are not run, because they change the machine or run this test again.
const NOT_RUN: [&str; 3] =
    ["cargo test", "cargo install --path . --locked", "cargo install --path . --locked --features gpu"];

/// Placeholders for the parts of the output that differ from run to run.
const VARYING: [(&str, &str); 9] = [
    ("[KEY]", "AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{43}"),
    ("[FINGERPRINT]", "SHA256:[A-Za-z0-9+/]{43}"),
    ("[ID]", "-(?<redacted>[0-9a-f]{16})"),
    ("[KEYS]", r"(?m)(after|^) ?(?<redacted>[0-9][0-9,]*) keys (tried )?in "),
    ("[RATE]", r"(at|,) (?<redacted>[0-9][0-9,.]*) keys/s"),
    (
        "[TIME]",
        r"(?<redacted>(in under|in|within at most|within) [0-9][0-9,.]* ?(ms|s|min|h)( [0-9]+ (s|min))?)",
    ),
    // A cell of a table, with the spaces that align it.
    ("[CELL]", r"(?<redacted> *(under )?[0-9][0-9,.]* (ms|s|min|h|days))  "),
    ("[ENGINE]", r"\((?<redacted>[a-z0-9]+), [0-9]+ thread"),
    ("[THREADS]", r"\(.*, (?<redacted>[0-9]+ threads?)\)"),
];

/// A home directory with everything that a document needs: the program in `PATH`, the files that it
/// names, a password manager, and a server called `host`.
struct Home {
    directory: TempDir,
    path: OsString,
    bash: PathBuf,
    /// The server, if the document names it.
    server: Option<Server>,
}

impl Home {
    /// Returns a home for a document, or `None` if a tool that the document needs is missing.
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
        // They would reach a desktop and a server. Each must get words.
        for name in ["notify-send", "curl"] {
            script(&format!("bin/{name}"), "[ \"$#\" -ge 2 ]".to_owned());
        }
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

    /// Returns the shell that runs a line.
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

    /// Runs a command and returns what a terminal shows.
    fn transcript(&self, line: &str, expected: &str) -> String {
        let line = &quick(line);
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

    /// Checks that ssh reads a configuration, and takes the key that it names for each host.
    fn check_config(&self, text: &str) {
        let file = self.directory.path().join("shown_config");
        fs::write(&file, text).unwrap();
        for host in text.lines().filter_map(|line| line.strip_prefix("Host ")) {
            let read = succeed(command("ssh").arg("-G").arg("-F").arg(&file).arg(host)).stdout;
            for line in ["identityfile ~/.ssh/id_alice", "identitiesonly yes"] {
                assert!(read.lines().any(|read| read == line), "{host}: {read}");
            }
        }
    }

    /// Runs a command that the document shows without its output.
    fn run_shown(&self, line: &str) {
        let known = |kind: &str, name: &str| {
            let entry = format!("name = \"{name}\"");
            let exists = MANIFESTS.iter().any(|manifest| documents::read(manifest).contains(&entry));
            assert!(exists, "no {kind} is called {name}");
        };
        let line = line.split("    #").next().unwrap().trim_end();
        let line = &(line.to_owned() + " ").replace(" alice ", " ali ");
        let line = line.trim_end();
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            _ if NOT_RUN.contains(&line) => {}
            ["cargo", "run", "--release", "--", ..] => {
                self.run_shown(&line.replacen("cargo run --release --", "vanity-ed25519", 1));
            }
            ["cargo", "bench"] => known("bench", "throughput"),
            ["cargo", "bench", "--bench", name] => known("bench", name),
            ["cargo", "+nightly", "fuzz", "run", name, ..] => known("fuzz target", name),
            [path] | [path, ">", _] | ["cargo", "run", "--manifest-path", path] if path.contains('/') => {
                assert!(documents::root().join(path).is_file(), "{path}");
            }
            ["vanity-ed25519", "--bench", seconds, ..] => {
                let short = line.replace(&format!("--bench {seconds}"), "--bench 0.1 --engine reference");
                succeed(&mut self.shell(&short));
            }
            ["vanity-ed25519", "--engine", "gpu", ..] if !cfg!(feature = "gpu") => {
                assert_eq!(run(&mut self.shell(line)).status, Some(2));
            }
            ["vanity-ed25519", "--passphrase", ..] => {
                // It asks in a terminal.
                self.transcript(line, PROMPT);
            }
            ["ssh-add", ..] | ["vanity-ed25519", "--agent", ..] => {
                let mut agent = command("ssh-agent");
                succeed(self.surround(&mut agent).args(["bash", "-c", line]));
            }
            ["puttygen", ..] if require::tool("puttygen").is_none() => {}
            [
                "vanity-ed25519" | "ssh" | "ssh-copy-id" | "ssh-keygen" | "puttygen" | "git" | "chmod"
                | "cut" | "echo" | "while",
                ..,
            ] => {
                let user = format!("{}@host", sshd::user("-un"));
                succeed(&mut self.shell(&quick(line).replace("user@host", &user)));
            }
            _ => panic!("'{line}' is not a command that this test knows"),
        }
    }
}

/// Returns a command with a quick measurement, if it is an estimate.
fn quick(line: &str) -> String {
    line.replace("vanity-ed25519 --estimate ", "vanity-ed25519 --estimate -t 1 --engine reference ")
}

/// Starts a server in a home. Returns it, and the configuration of ssh in which it is called
/// `host`.
fn start_server(directory: &Path, sshd: &Path, ssh_keygen: &Path) -> (Server, String) {
    let at = |name: &str| directory.join(name);
    // The server accepts one key at first. The examples use it to bring other keys there.
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

/// Returns a text with a placeholder for each part that differs from run to run.
fn redacted(text: &str, varying: &[(&str, Regex)]) -> String {
    varying.iter().fold(text.to_owned(), |text, (placeholder, pattern)| {
        let replace = |found: &Captures| {
            let part = found.name("redacted").unwrap_or(found.get(0).unwrap());
            let (from, to) =
                (part.start() - found.get(0).unwrap().start(), part.end() - found.get(0).unwrap().start());
            format!("{}{placeholder}{}", &found[0][..from], &found[0][to..])
        };
        pattern.replace_all(&text, replace).into_owned()
    })
}

/// Returns whether lines are those of a pattern, in which `...` stands for any lines.
fn is_like(lines: &[&str], pattern: &[&str]) -> bool {
    match pattern {
        [] => lines.is_empty(),
        ["...", rest @ ..] => (0..=lines.len()).any(|skipped| is_like(&lines[skipped..], rest)),
        [first, rest @ ..] => lines.first() == Some(first) && is_like(&lines[1..], rest),
    }
}

/// Runs the transcripts and commands of a document in their order, because some use the files of
/// others. Returns their numbers, and the home. Returns `None` if a tool is missing.
fn run_examples(name: &str) -> Option<(usize, usize, Home)> {
    let document = documents::read(name);
    let home = Home::new(&document)?;
    let varying = VARYING.map(|(placeholder, pattern)| (placeholder, Regex::new(pattern).unwrap()));
    let (mut transcripts, mut commands) = (0, 0);
    for block in document.split("\n```").skip(1).step_by(2) {
        let (language, text) = block.split_once('\n').unwrap();
        match language {
            "console" => {
                for example in text.strip_prefix("$ ").unwrap().split("\n$ ") {
                    let (line, expected) = example.split_once('\n').unwrap();
                    let shown = home.transcript(line, expected);
                    // A slow machine also prints progress after ten seconds and every minute.
                    let kept = shown.lines().filter(|line| !line.contains(" elapsed"));
                    let kept = kept.collect::<Vec<_>>().join("\n");
                    let [shown, expected] =
                        [kept.trim_end(), expected.trim_end()].map(|text| redacted(text, &varying));
                    let [lines, pattern] = [&shown, &expected].map(|text| text.lines().collect::<Vec<_>>());
                    assert!(is_like(&lines, &pattern), "$ {line}\n{shown}\nbut {name} has\n{expected}");
                    transcripts += 1;
                }
            }
            "sh" => {
                text.lines().for_each(|line| home.run_shown(line));
                commands += text.lines().count();
            }
            "ssh-config" => home.check_config(text),
            "text" if text.starts_with('#') => {
                fs::write(home.directory.path().join("shown.txt"), text).unwrap();
                succeed(&mut home.shell(&quick("vanity-ed25519 --estimate -f shown.txt")));
                transcripts += 1;
            }
            _ => panic!("{name}: a block of {language}: {text}"),
        }
    }
    Some((transcripts, commands, home))
}

/// Makes a test for each document, with the least number of its examples.
macro_rules! examples_of {
    ($($test:ident: $document:literal, $least:literal;)*) => {
        const RUN: &[&str] = &["README.md", "docs/keys.md", $($document),*];

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
    reference: "docs/reference.md", 6;
    engines: "docs/engines.md", 3;
    platforms: "docs/platforms.md", 6;
    questions: "docs/faq.md", 3;
}

/// `tests/many-machines/run` runs the guide to many machines, and `packaging/short` what makes a release.
#[test]
fn every_document_with_examples_is_run() {
    let has_examples = |name: &String| documents::read(name).contains("\n```");
    let with_examples = documents::documents().into_iter().filter(has_examples);
    let mut run: Vec<String> = RUN.iter().map(|name| (*name).to_owned()).collect();
    run.extend(["docs/many-machines.md", "packaging/README.md"].map(str::to_owned));
    run.sort_unstable();
    let mut with_examples: Vec<String> = with_examples.collect();
    with_examples.sort_unstable();
    assert_eq!(run, with_examples);
}

#[test]
fn the_readme() {
    let Some((transcripts, commands, home)) = run_examples("README.md") else { return };
    assert!(commands >= 14, "{transcripts} transcripts, {commands} commands");

    // The server accepted the key that the example brought to it.
    let line = fs::read_to_string(home.directory.path().join("id_alice.pub")).unwrap();
    let shown = succeed(command("ssh-keygen").args(["-lf", "id_alice.pub"]).current_dir(&home.directory));
    let fingerprint = shown.stdout.split(' ').nth(1).unwrap();
    let log = home.server.as_ref().unwrap().log();
    let accepted = |entry: &str| entry.contains("Accepted publickey") && entry.contains(fingerprint);
    assert!(log.lines().any(accepted), "{line} was not accepted:\n{log}");
}

#[test]
fn keys() {
    let Some((_, commands, home)) = run_examples("docs/keys.md") else { return };
    assert!(commands >= 30, "{commands} commands");
    let read = |name: &str| fs::read_to_string(home.directory.path().join(name)).unwrap();
    let text = |name: &str| read(name).split(' ').nth(1).unwrap().to_owned();
    // The new key has taken the place of the old one.
    let authorized = read(".ssh/authorized_keys");
    assert!(authorized.contains(&text(".ssh/id_alice_new.pub")), "{authorized}");
    assert!(!authorized.contains(&text(".ssh/id_alice.pub")), "{authorized}");
    // The commit has a signature of the key.
    let line = "git -C project log -1 --format='%G? %GS %GK'";
    let shown = succeed(&mut home.shell(line)).stdout;
    let key = succeed(&mut home.shell("ssh-keygen -lf .ssh/id_alice.pub")).stdout;
    assert_eq!(shown, format!("G alice@example.org {}\n", key.split(' ').nth(1).unwrap()));
}

/// `.ci/run` and `proof.sh` run these commands on a new machine. The first makes a key that every ssh
/// reads, and the last runs the tests.
#[test]
fn a_fresh_clone_needs_one_command_for_a_key_and_one_for_the_tests() {
    let readme = documents::read("README.md");
    let blocks = readme.split("\n```sh\n").skip(1).map(|block| block.split("\n```").next().unwrap());
    let cargo: Vec<&str> = blocks.filter(|block| block.starts_with("cargo ")).collect();
    assert_eq!(
        cargo,
        [
            "cargo run --release -- -o id_alice alice",
            "cargo install --path . --locked",
            "cargo run --release -- abc > key.pem",
            "cargo test"
        ]
    );
}
