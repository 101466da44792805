//! `--host-key`: a real `sshd` has the key, and the printed lines are those of `ssh-keygen`.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::program::{
    check_pair, command, comment, executable, mode, names, objects, of_type, program, run, succeed, text,
};
use crate::sshd::{Server, free_port};
use crate::{json, require};

const FILE: &str = "ssh_host_ed25519_key";

/// The host of the examples.
const HOST: &str = "bob.example.org";

/// Runs the program in a directory.
fn program_in(directory: &TempDir, args: &[&str]) -> Command {
    let mut command = program(args);
    command.current_dir(directory);
    command
}

/// Returns the name of this machine, as `ssh-keygen -A` sees it.
fn own_name() -> String {
    succeed(command("uname").arg("-n")).stdout.trim().to_owned()
}

#[test]
fn the_files_are_those_that_sshd_wants() {
    let directory = TempDir::new().unwrap();
    let own = own_name();
    let line = format!("umask 022; exec '{}' --host-key --in fingerprint ab", executable());
    let ran = succeed(command("sh").args(["-c", &line]).current_dir(&directory));
    assert_eq!(names(directory.path()), [FILE, "ssh_host_ed25519_key.pub"]);
    let private = directory.path().join(FILE);
    assert_eq!((mode(&private), mode(&directory.path().join(format!("{FILE}.pub")))), (0o600, 0o644));
    let public = check_pair(&private);
    assert_eq!(comment(&public), format!("root@{own}"));
    assert!(fs::read_to_string(&private).unwrap().starts_with("-----BEGIN OPENSSH PRIVATE KEY-----\n"));
    let bare = public.strip_suffix(&format!(" root@{own}")).unwrap();
    assert!(
        ran.stdout.starts_with(&format!("{public}\n{own} {bare}\n{own} IN SSHFP 4 1 ")),
        "{}",
        ran.stdout
    );

    // They are never overwritten.
    let ran = run(&mut program_in(&directory, &["--host-key", "ab"]));
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("already exists"), "{}", ran.stderr);
    assert_eq!(check_pair(&private), public);
}

#[test]
fn the_files_go_where_they_are_asked_for() {
    let directory = TempDir::new().unwrap();
    let at = |name: &str| directory.path().join(name);
    for (args, file) in [
        (&["-d", "new"][..], "new/ssh_host_ed25519_key"),
        (&["-o", "other.pem"], "other.pem"),
        (&["-d", "."], "ssh_host_ed25519_key"),
    ] {
        let host = format!("--host-key={HOST}");
        let ran = succeed(program_in(&directory, &[&host, "-C", "mine", "ab"]).args(args));
        assert_eq!(comment(&check_pair(&at(file))), "mine");
        assert!(fs::read_to_string(at(file)).unwrap().starts_with("-----BEGIN OPENSSH PRIVATE KEY-----\n"));
        assert_eq!(ran.stdout.matches(HOST).count(), 3, "{}", ran.stdout);
    }
    assert_eq!((mode(&at("new")), names(&at("new")).len()), (0o700, 2));
}

#[test]
fn the_records_are_those_of_ssh_keygen() {
    let Some(ssh_keygen) = require::tool("ssh-keygen") else { return };
    // The name in the DNS, and what ssh looks up in known_hosts.
    for (typed, name, known) in [
        (None, own_name(), own_name()),
        (Some(HOST), HOST.to_owned(), HOST.to_owned()),
        (Some("bob.example.org."), "bob.example.org.".to_owned(), HOST.to_owned()),
        (Some("[localhost]:2222"), "localhost".to_owned(), "[localhost]:2222".to_owned()),
        (Some("[bob.example.org]:22"), HOST.to_owned(), HOST.to_owned()),
        (Some("my_host"), "my_host".to_owned(), "MY_HOST".to_owned()),
    ] {
        let directory = TempDir::new().unwrap();
        let option = typed.map_or("--host-key".to_owned(), |typed| format!("--host-key={typed}"));
        let ran = succeed(&mut program_in(&directory, &[&option, "ab"]));
        let public = directory.path().join(format!("{FILE}.pub"));
        let records = succeed(command(&ssh_keygen).args(["-r", &name, "-f"]).arg(&public)).stdout;
        let lines: Vec<&str> = ran.stdout.split_inclusive('\n').collect();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[2..].concat(), records);
        // ssh-keygen finds the key of the host in the line of known_hosts.
        let known_hosts = directory.path().join("known_hosts");
        fs::write(&known_hosts, lines[1]).unwrap();
        let found = succeed(command(&ssh_keygen).args(["-F", &known, "-f"]).arg(&known_hosts)).stdout;
        assert!(found.ends_with(lines[1]), "{found}");
    }
}

#[test]
fn an_address_has_a_line_and_no_records() {
    let Some(ssh_keygen) = require::tool("ssh-keygen") else { return };
    let mut printed = Vec::new();
    for (typed, known) in [
        ("192.0.2.1", "192.0.2.1"),
        ("[192.0.2.1]:2222", "[192.0.2.1]:2222"),
        ("2001:DB8:0:0::1", "2001:db8::1"),
        ("[::1]:2222", "[::1]:2222"),
    ] {
        let directory = TempDir::new().unwrap();
        let ran = succeed(&mut program_in(&directory, &[&format!("--host-key={typed}"), "--json", "ab"]));
        let objects = objects(&ran.stdout);
        let found = of_type(&objects, "found")[0];
        assert_eq!(found.get("sshfp"), None);
        let line = text(found, "known_hosts");
        let known_hosts = directory.path().join("known_hosts");
        fs::write(&known_hosts, format!("{line}\n")).unwrap();
        let shown = succeed(command(&ssh_keygen).args(["-F", known, "-f"]).arg(&known_hosts)).stdout;
        assert!(shown.ends_with(&format!("{line}\n")), "{shown}");
        printed.extend(objects);

        let directory = TempDir::new().unwrap();
        let ran = succeed(&mut program_in(&directory, &[&format!("--host-key={typed}"), "ab"]));
        assert_eq!(ran.stdout.lines().count(), 2, "{}", ran.stdout);
        assert!(!ran.stderr.contains("SSHFP"), "{}", ran.stderr);
    }
    json::validate(&printed);
}

/// `ssh` looks the server up by its address and its port, without an alias.
#[test]
fn clients_trust_a_server_at_a_port_by_the_line() {
    let tools = ["sshd", "ssh"].map(require::tool);
    let [Some(sshd), Some(ssh)] = tools else { return };
    let directory = TempDir::new().unwrap();
    let at = |name: &str| directory.path().join(name);
    succeed(program(&["-o"]).arg(at("id_x")).arg("ab"));
    let port = free_port();
    for (typed, is_trusted) in
        [(format!("[127.0.0.1]:{port}"), true), ("[127.0.0.1]:22222".to_owned(), port == 22222)]
    {
        let ran = succeed(&mut program_in(&directory, &[&format!("--host-key={typed}"), "ab"]));
        fs::write(at("known_hosts"), ran.stdout.lines().nth(1).unwrap().to_owned() + "\n").unwrap();
        let server = Server::start_at(port, &sshd, &at(FILE), directory.path(), &at("id_x.pub"));
        let login = server.login_to_known(&ssh, &at("known_hosts"), None, &at("id_x"));
        let [stdout, stderr] = [login.stdout, login.stderr].map(|said| String::from_utf8(said).unwrap());
        assert_eq!(stdout == "OK\n", is_trusted, "{typed}: {stderr}\n{}", server.log());
        drop(server);
        for name in [FILE, "ssh_host_ed25519_key.pub", "log"] {
            fs::remove_file(at(name)).unwrap();
        }
    }
}

#[test]
fn json_has_the_same_lines() {
    let directory = TempDir::new().unwrap();
    let host = format!("--host-key={HOST}");
    let ran = succeed(&mut program_in(&directory, &[&host, "--json", "ab"]));
    let objects = objects(&ran.stdout);
    json::validate(&objects);
    let found = of_type(&objects, "found")[0];
    let line = check_pair(&directory.path().join(FILE));
    assert_eq!((text(found, "private_key_file"), text(found, "public_key")), (FILE, line.as_str()));
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!(text(found, "known_hosts"), format!("{HOST} {} {}", words[0], words[1]));
    assert_eq!(found["sshfp"].as_array().unwrap().len(), 2);
}

#[test]
fn clients_that_have_the_line_trust_a_server_with_the_key_and_no_other() {
    let tools = ["sshd", "ssh", "ssh-keygen"].map(require::tool);
    let [Some(sshd), Some(ssh), Some(ssh_keygen)] = tools else { return };
    let directory = TempDir::new().unwrap();
    let at = |name: &str| directory.path().join(name);
    succeed(program(&["-o"]).arg(at("id_x")).arg("ab"));
    let host = format!("--host-key={HOST}");
    let ran = succeed(&mut program_in(&directory, &[&host, "--in", "fingerprint", "ab"]));
    fs::write(at("known_hosts"), ran.stdout.lines().nth(1).unwrap().to_owned() + "\n").unwrap();
    let login = |server: &Server, host: &str| {
        let login = server.login_to_known(&ssh, &at("known_hosts"), Some(host), &at("id_x"));
        (String::from_utf8(login.stdout).unwrap(), String::from_utf8(login.stderr).unwrap())
    };

    let server = Server::start_with(&sshd, &at(FILE), directory.path(), Path::new(&at("id_x.pub")));
    let (stdout, stderr) = login(&server, HOST);
    assert_eq!(stdout, "OK\n", "{stderr}\n{}", server.log());
    let (stdout, stderr) = login(&server, "ann.example.org");
    assert!(stdout.is_empty() && stderr.contains("Host key verification failed"), "{stderr}");
    drop(server);

    fs::remove_file(at("log")).unwrap();
    let server = Server::start(&sshd, &ssh_keygen, directory.path(), &at("id_x.pub"));
    let (stdout, stderr) = login(&server, HOST);
    assert!(stdout.is_empty() && stderr.contains("HOST IDENTIFICATION HAS CHANGED"), "{stderr}");
}
