//! What to do with a key: lines about files, the agent, and the key of a host.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::agent::{AgentError, Constraints};
use crate::escape::{escaped, shell_word};
use crate::key::{Format, HostName, PublicKey};
use crate::store::Kept;
use serde_json::Value;

use super::number::limit;
use crate::words::broken;
use console::measure_text_width;

/// The page of GitHub that takes a public line.
const GITHUB: &str = "https://github.com/settings/ssh/new";

/// One thing to do with a key.
pub(super) struct Step {
    label: &'static str,
    text: String,
    /// Whether the text is a command, which people copy.
    is_command: bool,
}

/// The columns of a label.
const LABEL: usize = 13;

impl Step {
    fn run(label: &'static str, command: String) -> Self {
        Self { label, text: command, is_command: true }
    }

    fn read(label: &'static str, text: String) -> Self {
        Self { label, text, is_command: false }
    }

    /// Returns the step in one line, or in several if it is wider than `width`.
    pub(super) fn lines(&self, width: Option<usize>) -> Vec<String> {
        let Self { label, text, is_command } = self;
        let line = format!("  {label:<LABEL$}  {text}");
        if width.is_none_or(|width| measure_text_width(&line) <= width) {
            return vec![line];
        }
        let room = if *is_command { None } else { width.map(|width| width.saturating_sub(4)) };
        let rows = broken(text, room);
        std::iter::once(format!("  {label}:")).chain(rows.lines().map(|row| format!("    {row}"))).collect()
    }
}

/// Returns the next steps with a key in files, or with each of several keys if `kept` stands for them.
/// `is_in_agent` is whether the agent has it, too.
pub(super) fn with_files(kept: &Kept, is_in_agent: bool) -> Vec<Step> {
    let (private, public) = (shell_word(&kept.private_file), shell_word(&kept.public_file));
    let is_for_putty = kept.format == Format::Ppk;
    let mut steps = Vec::new();
    steps.extend(needs(kept.format).map(|needs| Step::read("needs", needs.to_owned())));
    // Neither Windows nor PuTTY has ssh-copy-id.
    steps.push(if cfg!(windows) || is_for_putty {
        let text = format!("append the line in {public} to ~/.ssh/authorized_keys on HOST");
        Step::read("authorize it", text)
    } else {
        Step::run("authorize it", format!("ssh-copy-id -f -i {public} USER@HOST"))
    });
    steps.push(Step::read("on GitHub", format!("paste {public} at {GITHUB}")));
    if is_for_putty {
        steps.push(Step::run("log in", format!("putty -i {private} USER@HOST")));
        return steps;
    }
    steps.push(Step::run("log in", format!("ssh -i {private} USER@HOST")));
    if !is_in_agent {
        steps.push(Step::run("or an agent", format!("ssh-add {private}")));
    }
    steps
}

/// Returns which programs read private keys of this format, unless every ssh does.
fn needs(format: Format) -> Option<&'static str> {
    match format {
        Format::Openssh => None,
        Format::Pkcs8 => Some("OpenSSH 9.8 or later; for older ssh: --format openssh"),
        Format::Ppk => Some("PuTTY 0.75 or later; OpenSSH does not read it"),
    }
}

/// Returns the next steps with a key that only the agent has.
pub(super) fn with_agent() -> Vec<Step> {
    vec![
        Step::read("authorize it", "append the public line to ~/.ssh/authorized_keys on HOST".to_owned()),
        Step::read("on GitHub", format!("paste the public line at {GITHUB}")),
        Step::run("log in", "ssh USER@HOST".to_owned()),
    ]
}

/// Returns where private keys went, and what reads them. `keys` is the words for them.
pub(super) fn on_stdout(keys: &str, format: Format) -> String {
    let need = if keys.ends_with('s') { "they need" } else { "it needs" };
    let needs = needs(format).map_or_else(String::new, |needs| format!("; {need} {needs}"));
    format!("the {keys} went to stdout{needs}")
}

/// Returns how to use a private key that went to stdout.
pub(super) fn with_stdout(format: Format) -> String {
    let program = if format == Format::Ppk { "putty" } else { "ssh" };
    let close = if cfg!(windows) { "" } else { "chmod 600 FILE, then " };
    format!("to use it: {close}{program} -i FILE USER@HOST")
}

/// Returns how to keep private keys that were only shown.
pub(super) fn with_shown(are_several: bool) -> String {
    let keys = if are_several { "these keys:" } else { "this key:" };
    let close = if cfg!(windows) { "" } else { ", and run chmod 600 FILE" };
    format!("To keep {keys} copy the lines from BEGIN to END into a new FILE{close}.")
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
pub(super) fn with_host_key(host: &HostName, kept: &Kept) -> Vec<Step> {
    let (private, public) = (shell_word(&kept.private_file), shell_word(&kept.public_file));
    let is_found = kept.private_file.file_name().is_some_and(|name| name == "ssh_host_ed25519_key");
    let named = if is_found { "" } else { "name it in a HostKey line of sshd_config, " };
    let install = format!("copy {private} and {public} to /etc/ssh as root, {named}and restart sshd");
    let trust = "append the line of known_hosts to ~/.ssh/known_hosts of each user".to_owned();
    let mut steps = vec![Step::read("install it", install), Step::read("trust it", trust)];
    let publish = |name| format!("put the SSHFP records into the DNS zone of {name}");
    steps.extend(host.in_dns().map(|name| Step::read("publish it", publish(name))));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_is_too_wide_has_a_line_for_its_label() {
        let command = Step::run("log in", "ssh -i id_alice USER@HOST".to_owned());
        let whole = ["  log in         ssh -i id_alice USER@HOST"];
        assert_eq!(
            (command.lines(None), command.lines(Some(42))),
            (whole.map(str::to_owned).into(), whole.map(str::to_owned).into())
        );
        for width in [41, 10] {
            assert_eq!(command.lines(Some(width)), ["  log in:", "    ssh -i id_alice USER@HOST"]);
        }
        let read = Step::read("on GitHub", format!("paste id_alice.pub at {GITHUB}"));
        let broken = ["  on GitHub:", "    paste id_alice.pub at", "    https://github.com/settings/ssh/new"];
        assert_eq!(read.lines(Some(60)), broken);
    }
}
