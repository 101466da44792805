//! Options about passphrases.

use std::ffi::OsString;
use std::path::Path;

use crate::key::{BCRYPT_ROUNDS, Format};
use crate::plan::{Diagnostic, Encryption, PassphraseSource};
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::args::Args;

const WHERE_FROM: &str =
    "--passphrase asks for it on the terminal; --passphrase-file FILE reads the first line of FILE";

const WITHOUT_TERMINAL: &str =
    "--passphrase-file FILE reads the first line of FILE, or of stdin if FILE is -";

/// Returns a diagnostic if `error` is about a value of `--passphrase`. That value may be a
/// passphrase, and clap would print it.
pub(super) fn typed(error: &clap::Error) -> Option<Diagnostic> {
    let option = ContextValue::String("--passphrase".to_owned());
    let is_ours =
        error.kind() == ErrorKind::TooManyValues && error.get(ContextKind::InvalidArg) == Some(&option);
    is_ours.then(|| {
        Diagnostic::new("--passphrase takes no value, because other users can see the command line")
            .hint(WHERE_FROM)
    })
}

/// Refuses a word directly after `--passphrase`. It may be a passphrase, and as a pattern it would be
/// in names of files and in the ledger. So the diagnostic does not repeat it.
pub(super) fn check_typed(typed: &[OsString]) -> Result<(), Diagnostic> {
    let options: Vec<&OsString> = typed.iter().take_while(|word| *word != "--").collect();
    let is_word = |word: &OsString| !word.as_encoded_bytes().starts_with(b"-");
    let is_followed = options.windows(2).any(|pair| pair[0] == "--passphrase" && is_word(pair[1]));
    if !is_followed {
        return Ok(());
    }
    Err(Diagnostic::new("--passphrase takes no value: it asks for the passphrase")
        .hint("if the word after it is a pattern, put it before --passphrase, or after --"))
}

/// Returns how private keys in this format are encrypted, or `None` if they are not.
///
/// # Errors
///
/// Returns a diagnostic if options contradict each other.
pub(super) fn encryption(args: &Args, format: Format) -> Result<Option<Encryption>, Diagnostic> {
    check(args, format)?;
    let (cipher, rounds) = (args.cipher.unwrap_or_default(), args.rounds.unwrap_or(BCRYPT_ROUNDS));
    let passphrase = match &args.passphrase_file {
        Some(path) if path == Path::new("-") => PassphraseSource::Stdin,
        Some(path) => PassphraseSource::File(path.clone()),
        None if args.passphrase => PassphraseSource::Terminal { instead: WITHOUT_TERMINAL },
        None => return Ok(None),
    };
    Ok(Some(Encryption { passphrase, cipher, rounds }))
}

/// Refuses options that contradict each other. Reads no file.
fn check(args: &Args, format: Format) -> Result<(), Diagnostic> {
    let is_stdin = |path: &Path| path == Path::new("-");
    if args.passphrase_file.as_deref().is_some_and(is_stdin) && args.files.iter().any(|file| is_stdin(file)) {
        return Err(Diagnostic::new(
            "stdin can be read only once, but both -f - and --passphrase-file - read it",
        )
        .hint("use a file for one of them"));
    }
    let is_asked_for = args.passphrase || args.passphrase_file.is_some();
    for (option, is_given) in [("--cipher", args.cipher.is_some()), ("--rounds", args.rounds.is_some())] {
        if !is_given {
            continue;
        }
        if !is_asked_for {
            return Err(Diagnostic::new(format!("{option} needs a passphrase")).hint(WHERE_FROM));
        }
        let (other, hint) = match format {
            Format::Openssh => continue,
            Format::Pkcs8 => (
                "PKCS#8",
                "add --format openssh; without it, keys on stdout and in files named *.pem are PKCS#8",
            ),
            Format::Ppk => (
                "in PuTTY's format",
                "leave it out: PuTTY's format has one cipher, and as many passes of Argon2id as PuTTYgen uses",
            ),
        };
        return Err(Diagnostic::new(format!(
            "{option} applies to the OpenSSH format, but the private key will be {other}"
        ))
        .hint(hint));
    }
    Ok(())
}
