//! Options about the key of a host.

use std::path::Path;

use crate::key::{Format, HostName};
use crate::plan::Diagnostic;
use crate::store::Destination;
use crate::sys::host_name;

use super::args::Args;
use crate::escape::{is_active, quoted_start};

/// The name that sshd expects.
const FILE: &str = "ssh_host_ed25519_key";

/// The key of a host: its name, and where the files go.
pub(super) struct HostKey {
    pub(super) host: HostName,
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
    let host = typed.as_ref().or(own.as_ref()).and_then(|name| HostName::parse(name)).ok_or_else(|| {
        let problem = match typed {
            Some(typed) => format!("--host-key={} is not a host name", quoted_start(typed)),
            None => "this machine has no name that clients could use".to_owned(),
        };
        Diagnostic::new(problem).hint(hint(typed.as_deref().unwrap_or_default()))
    })?;
    let destination = match (&args.output, &args.output_dir) {
        (Some(path), _) => Destination::File(path.clone()),
        (None, Some(directory)) => Destination::FileIn(directory.clone(), FILE),
        (None, None) => Destination::File(FILE.into()),
    };
    let comment = format!("root@{}", own.as_deref().unwrap_or(host.bare()));
    Ok(Some(HostKey { host, destination, comment }))
}

/// Returns what to write instead of a name that is not usable.
fn hint(typed: &str) -> String {
    let with_port = typed.rsplit_once(':').map(|(name, port)| format!("[{name}]:{port}"));
    if let Some(with_port) = with_port.filter(|with_port| HostName::parse(with_port).is_some()) {
        return format!("a name with a port has brackets: --host-key='{with_port}'");
    }
    if !typed.is_ascii() && !typed.chars().any(is_active) {
        return "write the name in ASCII, as the DNS has it, such as xn--bcher-kva.example".to_owned();
    }
    "write the name or the address by which clients connect, such as --host-key=bob.example.org, or with a port \
     that is not 22, --host-key='[bob.example.org]:2222'"
        .to_owned()
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
