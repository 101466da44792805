//! What becomes of the keys: their destination, their format, their encryption and their comment. One
//! function decides all of it.

use super::args::{Args, Keys};
use super::option_values::instead_of;
use super::stdio::{self, is_stdio};
use super::usage;
use crate::agent::Constraints;
use crate::escape::escaped_path;
use crate::key::{BCRYPT_ROUNDS, Format, HostName, trouble};
use crate::notice::Notice;
use crate::plan::{Diagnostic, Encryption, KeyOutput, PassphraseSource};
use crate::store::Destination;
use crate::sys;

/// The name that sshd expects.
const HOST_KEY_FILE: &str = "ssh_host_ed25519_key";

const WITHOUT_TERMINAL: &str =
    "--passphrase-file FILE reads the first line of FILE, or of stdin if FILE is -";

/// Returns where each key goes, and in which form, with notices about it. Reads no file.
///
/// # Errors
///
/// Returns a diagnostic about what cannot be together, or about stdout.
pub(super) fn keys(args: &Args) -> Result<(KeyOutput, Vec<Notice>), Diagnostic> {
    let keys = &args.keys;
    let own = sys::host_name();
    let host = keys.host_key.as_ref().map(|name| host(name.as_ref(), own.as_deref())).transpose()?;
    let destination = destination(keys);
    let is_stream = destination == Destination::Stream;
    check(args, is_stream)?;
    let is_shown = args.is_search() && is_stream && !keys.agent;
    if args.is_search() {
        if args.shown.json {
            check_json(&destination)?;
        }
        stdio::check(is_shown)?;
    }
    // People read and copy a key on a terminal, and every OpenSSH reads this format. If the agent does not take
    // a key, the key goes to a file.
    let is_for_openssh = is_stream && keys.agent || is_shown && !args.shown.json && stdio::is_terminal();
    let usual = (host.is_some() || is_for_openssh).then_some(Format::Openssh);
    let format = destination.format(keys.format.or(usual));
    let encryption = encryption(keys, format)?;

    let comment = keys.comment.as_deref().filter(|_| args.is_search());
    let trouble = comment.and_then(|comment| trouble(comment, format, encryption.is_some()));
    let trouble = trouble.map(|why| Notice::note(format!("not every program can use this comment: {why}")));
    let exposed = if is_shown && encryption.is_none() { stdio::warning() } else { None };
    // `ssh-keygen -A` writes this comment, if it is root who runs it.
    let of_root = |host: &HostName| format!("root@{}", own.as_deref().unwrap_or(host.bare()));
    let output = KeyOutput {
        destination,
        agent: keys.agent.then_some(Constraints { lifetime: keys.lifetime, confirm: keys.confirm }),
        format,
        encryption,
        comment: keys.comment.clone().or_else(|| host.as_ref().map(of_root)),
        host,
        exec: keys.exec.clone(),
        allow_exposed: keys.allow_exposed,
    };
    Ok((output, exposed.into_iter().chain(trouble).collect()))
}

/// Returns the name of the host whose key is made: `typed`, or that of this machine.
fn host(typed: Option<&HostName>, own: Option<&str>) -> Result<HostName, Diagnostic> {
    let own = || own.and_then(HostName::parse);
    let nameless = || Diagnostic::new("this machine has no name that clients could use").hint(instead_of(""));
    typed.cloned().or_else(own).ok_or_else(nameless)
}

fn destination(keys: &Keys) -> Destination {
    match (&keys.output, &keys.output_dir, &keys.host_key) {
        (Some(path), ..) if !is_stdio(path) => Destination::File(path.clone()),
        (_, Some(directory), Some(_)) => Destination::FileIn(directory.clone(), HOST_KEY_FILE),
        (_, Some(directory), None) => Destination::Directory(directory.clone()),
        (None, None, Some(_)) => Destination::File(HOST_KEY_FILE.into()),
        _ => Destination::Stream,
    }
}

/// Refuses what depends on values, and not only on options.
fn check(args: &Args, is_stream: bool) -> Result<(), Diagnostic> {
    let keys = &args.keys;
    let [is_stdout, is_stdin] =
        [&keys.output, &keys.passphrase_file].map(|path| path.as_deref().is_some_and(is_stdio));
    let is_host = keys.host_key.is_some();
    let is_other_format = keys.format.is_some_and(|format| format != Format::Openssh);
    let excluded = [
        (is_host && is_stdout, "--host-key", "--output -"),
        (is_host && is_other_format, "--host-key", "--format"),
        (keys.agent && is_stdout, "--agent", "--output -"),
        (is_stdin && args.look.files.iter().any(|file| is_stdio(file)), "-f -", "--passphrase-file -"),
    ];
    if let Some((_, one, other)) = excluded.into_iter().find(|(is_so, ..)| *is_so) {
        return Err(usage::excluded(one, other));
    }
    let of_files = [
        ("--passphrase", keys.passphrase),
        ("--passphrase-file", keys.passphrase_file.is_some()),
        ("--format", keys.format.is_some()),
    ];
    match given(of_files).filter(|_| keys.agent && is_stream) {
        Some(option) => Err(Diagnostic::new(format!("{option} needs a file, but --agent alone writes none"))
            .hints(usage::hint(&["NEEDS", "file"]))),
        None => Ok(()),
    }
}

/// Returns the first option that is given.
fn given<const N: usize>(options: [(&'static str, bool); N]) -> Option<&'static str> {
    options.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
}

/// Refuses a destination that JSON cannot name.
fn check_json(destination: &Destination) -> Result<(), Diagnostic> {
    let (option, path) = match destination {
        Destination::Stream => return Ok(()),
        Destination::File(path) => ("--output", path),
        Destination::Directory(path) | Destination::FileIn(path, _) => ("--output-dir", path),
    };
    if path.to_str().is_some() {
        return Ok(());
    }
    Err(Diagnostic::new(format!("{option} '{}' is not UTF-8 text", escaped_path(path)))
        .hint("JSON cannot name it: choose another name, or leave out --json"))
}

/// Returns how private keys in this format are encrypted, or `None` if they are not.
fn encryption(keys: &Keys, format: Format) -> Result<Option<Encryption>, Diagnostic> {
    let of_openssh = given([("--cipher", keys.cipher.is_some()), ("--rounds", keys.rounds.is_some())]);
    if let Some(option) = of_openssh.filter(|_| format != Format::Openssh) {
        let (form, hint) = match format {
            Format::Ppk => ("in PuTTY's format", usage::hint(&["OPENSSH", "ppk"])),
            _ => ("PKCS#8", usage::hint(&["OPENSSH", "pkcs8"])),
        };
        let problem = format!("{option} applies to the OpenSSH format, but the private key will be {form}");
        return Err(Diagnostic::new(problem).hints(hint));
    }
    let passphrase = match &keys.passphrase_file {
        Some(path) if is_stdio(path) => PassphraseSource::Stdin,
        Some(path) => PassphraseSource::File(path.clone()),
        None if keys.passphrase => PassphraseSource::Terminal { instead: WITHOUT_TERMINAL },
        None => return Ok(None),
    };
    let (cipher, rounds) = (keys.cipher.unwrap_or_default(), keys.rounds.unwrap_or(BCRYPT_ROUNDS));
    Ok(Some(Encryption { passphrase, cipher, rounds }))
}
