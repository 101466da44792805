//! The options about passphrases.

use std::path::Path;

use crate::key::Format;
use crate::plan::{Complaint, Encryption, PassphraseSource};
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::args::Args;
use super::values;

const WHERE_FROM: &str =
    "--passphrase asks for it on the terminal, --passphrase-file FILE takes the first line of a file";

/// clap's error, if it is that a passphrase was typed as a value of `--passphrase`: clap would show it.
pub(super) fn typed(error: &clap::Error) -> Option<Complaint> {
    let option = ContextValue::String("--passphrase".to_owned());
    let is_ours =
        error.kind() == ErrorKind::TooManyValues && error.get(ContextKind::InvalidArg) == Some(&option);
    is_ours.then(|| {
        Complaint::new("--passphrase takes no value: what stands on the command line, other users can see")
            .hint(WHERE_FROM)
    })
}

/// Returns how private keys of this form are encrypted, if they are.
///
/// # Errors
///
/// Options contradict each other.
pub(super) fn encryption(args: &Args, format: Format) -> Result<Option<Encryption>, Complaint> {
    let (cipher, rounds) = (values::cipher(args.cipher.as_deref())?, values::rounds(args.rounds.as_deref())?);
    check(args, format)?;
    let passphrase = match &args.passphrase_file {
        Some(path) if path == Path::new("-") => PassphraseSource::Stdin,
        Some(path) => PassphraseSource::File(path.clone()),
        None if args.passphrase => PassphraseSource::Terminal,
        None => return Ok(None),
    };
    Ok(Some(Encryption { passphrase, cipher, rounds }))
}

/// Refuses options that contradict each other. Nothing is read.
fn check(args: &Args, format: Format) -> Result<(), Complaint> {
    let is_stdin = |path: &Path| path == Path::new("-");
    if args.passphrase_file.as_deref().is_some_and(is_stdin) && args.files.iter().any(|file| is_stdin(file)) {
        return Err(Complaint::new(
            "stdin can be read only once, and both -f - and --passphrase-file - read it",
        )
        .hint("give one of them a file"));
    }
    let is_asked_for = args.passphrase || args.passphrase_file.is_some();
    for (option, value) in [("--cipher", &args.cipher), ("--rounds", &args.rounds)] {
        if value.is_none() {
            continue;
        }
        if !is_asked_for {
            return Err(Complaint::new(format!("{option} is of use only with a passphrase")).hint(WHERE_FROM));
        }
        if format == Format::Pkcs8 {
            return Err(Complaint::new(format!(
                "{option} is for OpenSSH's form, and the private key will be PKCS#8"
            ))
            .hint("add --format openssh; without it, stdout and files named *.pem have PKCS#8"));
        }
    }
    Ok(())
}
