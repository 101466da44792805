//! Options about the key of a host.

use std::path::Path;

use crate::key::Format;
use crate::plan::Diagnostic;
use crate::store::Destination;
use crate::sys::host_name;

use super::args::Args;
use crate::escape::quoted_start;

/// The name that sshd expects.
const FILE: &str = "ssh_host_ed25519_key";

/// The longest name of a host (RFC 1035, section 2.3.4).
const LONGEST: usize = 255;

/// The key of a host: its name, and where the files go.
pub(super) struct HostKey {
    pub(super) host: String,
    pub(super) destination: Destination,
    /// The comment that `ssh-keygen -A` writes, if it is root who runs it.
    pub(super) comment: String,
}

/// Returns what the options ask for, or `None` if they do not ask for the key of a host.
///
/// # Errors
///
/// Returns a diagnostic if options contradict each other, or if the host has no usable name.
pub(super) fn host_key(args: &Args) -> Result<Option<HostKey>, Diagnostic> {
    let Some(typed) = &args.host_key else { return Ok(None) };
    check(args)?;
    let own = host_name();
    let name = typed.as_ref().or(own.as_ref()).filter(|name| is_name(name)).ok_or_else(|| {
        let problem = match typed {
            Some(typed) => format!("--host-key={} is not a host name", quoted_start(typed)),
            None => "this machine has no name that clients could use".to_owned(),
        };
        Diagnostic::new(problem)
            .hint("write the name by which clients connect: letters, digits and any of `.-_:`, such as --host-key=bob.example.org")
    })?;
    let destination = match (&args.output, &args.output_dir) {
        (Some(path), _) => Destination::File(path.clone()),
        (None, Some(directory)) => Destination::FileIn(directory.clone(), FILE),
        (None, None) => Destination::File(FILE.into()),
    };
    let comment = format!("root@{}", own.as_ref().unwrap_or(name));
    Ok(Some(HostKey { host: name.clone(), destination, comment }))
}

fn is_name(name: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte);
    (1..=LONGEST).contains(&name.len()) && name.bytes().all(is_usual) && !name.starts_with('-')
}

/// Refuses what sshd could not use.
fn check(args: &Args) -> Result<(), Diagnostic> {
    let refuse = |problem: &str, hint: &str| Err(Diagnostic::new(problem).hint(hint));
    if args.passphrase || args.passphrase_file.is_some() {
        return refuse(
            "a host key cannot have a passphrase, because sshd cannot ask for it",
            "leave out --passphrase and --passphrase-file",
        );
    }
    if args.agent {
        return refuse(
            "--host-key cannot be used with --agent",
            "leave out --agent: sshd reads its key from a file",
        );
    }
    if args.output.as_deref() == Some(Path::new("-")) {
        return refuse(
            "a host key must go to a file, because sshd reads it from one",
            "leave out --output -, or write --output PATH",
        );
    }
    if args.format.is_some_and(|format| format != Format::Openssh) {
        return refuse(
            "a host key must have the OpenSSH format, which every sshd reads",
            "leave out --format",
        );
    }
    Ok(())
}
