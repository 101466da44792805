//! What to do with a key: lines about files, the agent, and the key of a host.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::agent::{AgentError, Constraints};
use crate::escape::{escaped, shell_word};
use crate::key::{Format, HostName, PublicKey};
use crate::store::Kept;
use serde_json::Value;

use super::number::limit;

/// Returns the next steps with a key in files. `is_in_agent` is whether the agent has it, too.
pub(super) fn with_files(kept: &Kept, is_in_agent: bool) -> Vec<String> {
    let (private, public) = (shell_word(&kept.private_file), shell_word(&kept.public_file));
    let is_for_putty = kept.format == Format::Ppk;
    // Neither Windows nor PuTTY has ssh-copy-id.
    let mut lines = vec![if cfg!(windows) || is_for_putty {
        format!("  authorize it   append the line in {public} to ~/.ssh/authorized_keys on HOST")
    } else {
        format!("  authorize it   ssh-copy-id -f -i {public} USER@HOST")
    }];
    if is_for_putty {
        lines.push(format!("  log in         putty -i {private} USER@HOST"));
        lines.push("  (PuTTY reads this format since version 0.75; OpenSSH does not read it)".to_owned());
        return lines;
    }
    lines.push(format!("  log in         ssh -i {private} USER@HOST"));
    if !is_in_agent {
        lines.push(format!("  or an agent    ssh-add {private}"));
    }
    if kept.format == Format::Pkcs8 {
        lines.push(
            "  (OpenSSH reads PKCS#8 since version 9.8, and its own format in every version)".to_owned(),
        );
    }
    lines
}

/// Returns the next steps with a key that only the agent has.
pub(super) fn with_agent() -> [String; 2] {
    [
        "  authorize it   append the public line to ~/.ssh/authorized_keys on HOST".to_owned(),
        "  log in         ssh USER@HOST".to_owned(),
    ]
}

/// Returns what to do with a private key that went to stdout. `key` is the words for it.
pub(super) fn with_stdout(key: &str, format: Format) -> String {
    let (reader, program) = match format {
        Format::Pkcs8 => ("OpenSSH 9.8 or later", "ssh"),
        Format::Openssh => ("OpenSSH", "ssh"),
        Format::Ppk => ("PuTTY 0.75 or later", "putty"),
    };
    let close = if cfg!(windows) { "" } else { "chmod 600 FILE, then " };
    format!("the {key} went to stdout; for {reader}: {close}{program} -i FILE USER@HOST")
}

/// Returns the line about a key that the agent took.
pub(super) fn added(constraints: Constraints) -> String {
    let time = |seconds: NonZeroU32| limit(Duration::from_secs(seconds.get().into()));
    let drops = constraints.lifetime.map(|seconds| format!("drops it after {}", time(seconds)));
    let asks = constraints.confirm.then(|| "asks before each use".to_owned());
    match [drops, asks].into_iter().flatten().collect::<Vec<_>>().join(" and ") {
        empty if empty.is_empty() => "private key in the agent".to_owned(),
        does => format!("private key in the agent, which {does}"),
    }
}

/// Returns the error and the hint about a key that the agent did not take.
pub(super) fn not_added(error: &AgentError, kept: &Kept) -> [String; 2] {
    let file = shell_word(&kept.private_file);
    [
        format!("error: {}; the key is kept in {file}", escaped(&error.to_string())),
        format!("hint: ssh-add {file} adds it later"),
    ]
}

/// Returns the line of `known_hosts` and the SSHFP records of a host, if it has any, each with its line end.
pub(super) fn host_lines(host: &HostName, key: &PublicKey) -> String {
    let lines = std::iter::once(key.known_hosts_line(host)).chain(key.sshfp_records(host));
    lines.map(|line| line + "\n").collect()
}

/// Adds the same lines to the object for a find.
pub(super) fn add_host(found: &mut Value, host: &HostName, key: &PublicKey) {
    found["known_hosts"] = key.known_hosts_line(host).into();
    let records = key.sshfp_records(host);
    if !records.is_empty() {
        found["sshfp"] = records.into();
    }
}

/// Returns the next steps with the key of a host.
pub(super) fn with_host_key(host: &HostName, kept: &Kept) -> Vec<String> {
    let (private, public) = (shell_word(&kept.private_file), shell_word(&kept.public_file));
    let is_found = kept.private_file.file_name().is_some_and(|name| name == "ssh_host_ed25519_key");
    let named = if is_found { "" } else { "name it in a HostKey line of sshd_config, " };
    let mut lines = vec![
        format!("  install it     copy {private} and {public} to /etc/ssh as root, {named}and restart sshd"),
        "  trust it       append the line of known_hosts to ~/.ssh/known_hosts of each user".to_owned(),
    ];
    lines.extend(
        host.in_dns()
            .map(|name| format!("  publish it     put the SSHFP records into the DNS zone of {name}")),
    );
    lines
}
