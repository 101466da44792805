//! The form of the documents. Links lead somewhere, lines have their length, and tables agree with
//! the program.

#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::{program, require};
use program::{Ran, command, program, run, succeed};
use tempfile::TempDir;

/// The directory of the package.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Reads a document.
pub fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the names of all documents that people read.
pub fn documents() -> Vec<String> {
    let mut names = Vec::new();
    for directory in ["docs", "docs/design"] {
        let files = fs::read_dir(root().join(directory)).unwrap().map(|entry| entry.unwrap().file_name());
        let files = files.map(|name| name.into_string().unwrap()).filter(|name| name.ends_with(".md"));
        names.extend(files.map(|name| format!("{directory}/{name}")));
    }
    let others = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "packaging/README.md"];
    names.extend(others.map(str::to_owned));
    assert!(names.len() > 10, "{names:?}");
    names
}

/// Returns the lines outside fenced blocks, each with its number.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut fenced = false;
    let lines = text.lines().enumerate().filter(|(_, line)| {
        let fence = line.starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    });
    lines.map(|(at, line)| (at + 1, line)).collect()
}

/// Removes code in backticks, which has no links.
fn without_code(text: &str) -> String {
    text.split('`').step_by(2).collect()
}

/// Returns the anchors of the headings, as GitHub makes them.
fn anchors(name: &str) -> BTreeSet<String> {
    let text = read(name);
    let mut anchors = BTreeSet::new();
    for (line, heading) in prose(&text).into_iter().filter(|(_, line)| line.starts_with('#')) {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        assert!(anchors.insert(anchor), "{name}:{line}: a second heading of this name");
    }
    anchors
}

/// Returns the targets of the links of a text.
fn links(text: &str) -> Vec<String> {
    let prose: Vec<&str> = prose(text).into_iter().map(|(_, line)| line).collect();
    let prose = without_code(&prose.join("\n"));
    let targets = prose.split("](").skip(1).map(|rest| rest.split(')').next().unwrap().to_owned());
    targets.collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut count = 0;
    for name in documents() {
        for link in links(&read(&name)) {
            count += 1;
            if link.starts_with("https://") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match path {
                "" => PathBuf::from(&name),
                path => Path::new(&name).parent().unwrap().join(path),
            };
            assert!(root().join(&target).exists(), "{name}: {link}: no such file");
            let known = || anchors(&relative(&root().join(&target)));
            assert!(anchor.is_empty() || known().contains(anchor), "{name}: {link}: no such heading");
        }
    }
    assert!(count > 80, "only {count} links were seen");
}

#[test]
fn the_index_has_every_document() {
    let linked = links(&read("docs/README.md"));
    for name in documents() {
        let from_docs = name.strip_prefix("docs/").map_or(format!("../{name}"), str::to_owned);
        let is_start = ["README.md", "docs/README.md"].contains(&name.as_str());
        assert!(is_start || linked.contains(&from_docs), "docs/README.md does not name {name}");
    }
}

/// Returns the path of a file relative to the package.
fn relative(path: &Path) -> String {
    let path = fs::canonicalize(path).unwrap();
    path.strip_prefix(fs::canonicalize(root()).unwrap()).unwrap().to_str().unwrap().to_owned()
}

#[test]
fn every_file_that_is_named_exists() {
    // `.ci` is not packaged.
    let directories = ["src", "crates", "tests", "benches", "docs", "fuzz", "packaging", "examples"];
    let mut count = 0;
    for name in &documents() {
        let text = read(name);
        let prose: Vec<&str> = prose(&text).into_iter().map(|(_, line)| line).collect();
        for code in prose.join("\n").split('`').skip(1).step_by(2) {
            let path = code.split([' ', '*']).next().unwrap();
            if directories.iter().any(|directory| path.starts_with(&format!("{directory}/"))) {
                count += 1;
                assert!(root().join(path).exists(), "{name}: `{code}`: no such file");
            }
        }
    }
    assert!(count > 40, "only {count} files were seen");
}

/// The newest version in CHANGELOG.md is the one that cargo builds.
#[test]
fn the_changelog_begins_with_this_version() {
    let changelog = read("CHANGELOG.md");
    let mut versions = changelog.lines().filter_map(|line| line.strip_prefix("## ["));
    let newest = versions.find(|line| !line.starts_with("Unreleased]")).unwrap();
    let (version, when) = newest.split_once("] - ").unwrap_or_else(|| panic!("{newest}"));
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    let is_date = when.len() == 10 && when.split('-').all(|number| number.parse::<u32>().is_ok());
    assert!(is_date || when == "not yet released", "{newest}");
    for name in ["README.md", "SECURITY.md", "packaging/README.md"] {
        assert_eq!(read(name).contains("No release has been published yet"), !is_date, "{name}");
    }
}

/// docs/design/proof.md has the table of what `proof.sh` runs. The script needs bash 4, which macOS lacks.
#[cfg(target_os = "linux")]
#[test]
fn the_table_of_proofs_is_that_of_the_script() {
    let Some(bash) = require::tool("bash") else { return };
    let listed = succeed(command(&bash).args(["proof.sh", "--list"]).current_dir(root())).stdout;
    assert!(
        read("docs/design/proof.md").ends_with(&listed),
        "docs/design/proof.md is not `./proof.sh --list`"
    );
    assert!(listed.lines().count() > 50, "{listed}");
}

/// Runs ssh in the cases that docs/faq.md explains, and looks for its messages there.
#[test]
fn the_errors_in_the_faq_are_those_of_ssh() {
    let tools = ["ssh", "ssh-keygen"].map(require::tool);
    let [Some(ssh), Some(ssh_keygen)] = tools else { return };
    let directory = TempDir::new().unwrap();
    let at = |name: &str| directory.path().join(name);
    let set_mode =
        |name: &str, mode| fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).unwrap();
    let write = |name: &str, text: &str| {
        fs::write(at(name), text).unwrap();
        set_mode(name, 0o600);
    };
    let opened =
        |name: &str| run(command(&ssh_keygen).args(["-y", "-P", "", "-f", name]).current_dir(&directory));
    let faq = read("docs/faq.md");
    let is_explained = |ran: &Ran, messages: &[&str]| {
        let message = messages.iter().find(|message| ran.stderr.contains(**message));
        let message = message.unwrap_or_else(|| panic!("{messages:?} are not in {ran:?}"));
        assert!(ran.status != Some(0) && faq.contains(&format!("\"{message}\"")), "{message}");
    };

    succeed(program(&["-q", "-o", "id_alice", "ab"]).current_dir(&directory));
    let text = fs::read_to_string(at("id_alice")).unwrap();
    assert_eq!(opened("id_alice").status, Some(0));
    assert!(faq.contains(text.lines().next().unwrap()));
    set_mode("id_alice", 0o644);
    is_explained(&opened("id_alice"), &["UNPROTECTED PRIVATE KEY FILE"]);
    is_explained(&opened("id_alice"), &["bad permissions"]);
    set_mode("id_alice", 0o600);
    is_explained(&run(program(&["-q", "-o", "id_alice", "ab"]).current_dir(&directory)), &["already exists"]);

    let unreadable = ["invalid format", "error in libcrypto"];
    let cut: Vec<&str> = text.lines().take(3).collect();
    for (name, damaged) in [
        ("newline", text.trim_end().to_owned()),
        ("windows", text.replace('\n', "\r\n")),
        ("cut", cut.join("\n") + "\n"),
        ("public", fs::read_to_string(at("id_alice.pub")).unwrap()),
    ] {
        write(name, &damaged);
        is_explained(&opened(name), &unreadable);
    }

    // "OpenSSH_9.2p1 Debian-2, OpenSSL 3.0": from 9.8 on it reads PKCS#8.
    let version = run(command(&ssh).arg("-V")).stderr;
    let (_, version) = version.split_once("OpenSSH_").unwrap_or_else(|| panic!("{version}"));
    let mut numbers =
        version.split(|c: char| !c.is_ascii_digit()).map(|digits| digits.parse::<u32>().unwrap());
    let version = (numbers.next().unwrap(), numbers.next().unwrap());
    let pem = succeed(program(&["-q", "ab"]).current_dir(&directory)).stdout;
    write("key.pem", &pem);
    assert!(faq.contains(pem.lines().next().unwrap()));
    if version < (9, 8) {
        is_explained(&opened("key.pem"), &unreadable);
    } else {
        assert_eq!(opened("key.pem").status, Some(0));
        // It is converted by `ssh-keygen -p`.
        succeed(
            command(&ssh_keygen).args(["-p", "-P", "", "-N", "", "-f", "key.pem"]).current_dir(&directory),
        );
        assert_eq!(fs::read_to_string(at("key.pem")).unwrap().lines().next(), text.lines().next());
    }
}
