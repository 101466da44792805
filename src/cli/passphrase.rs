//! The passphrase of the private keys: typed twice on the terminal, or the first line of a file. One for a whole run.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::escape::escaped_path;
use crate::key::{Format, Interrupted, Passphrase, Protection, Terminal};
use crate::search::Stop;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use zeroize::Zeroizing;

use super::args::Args;
use super::values::{self, quoted};
use super::{Complaint, Refusal};

/// How often it is asked for.
const TRIES: usize = 3;

const PROMPT: &str = "Passphrase for the private keys: ";
const AGAIN: &str = "The same passphrase again: ";

/// What some editors write before UTF-8 text. Nobody can type it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

const WHERE_FROM: &str =
    "--passphrase asks for it on the terminal, --passphrase-file FILE takes the first line of a file";

/// Where the passphrase comes from.
pub(super) enum Source {
    /// It will be asked for.
    Terminal(Terminal),
    /// It was read or typed.
    Known(Passphrase),
}

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

/// Refuses options that contradict each other. Nothing is read.
pub(super) fn check(args: &Args, format: Format) -> Result<(), Complaint> {
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

impl Source {
    /// Reads the file, or finds the terminal. Beside it what there is to tell of the file. `None` if no passphrase is wanted.
    pub fn open(args: &Args) -> Result<Option<(Self, Option<String>)>, Complaint> {
        if let Some(path) = &args.passphrase_file {
            return first_line(path).map(|(passphrase, note)| Some((Self::Known(passphrase), note)));
        }
        if !args.passphrase {
            return Ok(None);
        }
        let terminal = Terminal::open().map_err(|error| {
            Complaint::new(format!("there is no terminal to ask for the passphrase on: {error}"))
                .hint("--passphrase-file FILE takes the first line of a file, and of stdin if FILE is -")
        })?;
        Ok(Some((Self::Terminal(terminal), None)))
    }

    /// The passphrase, if it is known already.
    pub fn known(&self) -> Option<&Passphrase> {
        match self {
            Self::Terminal(_) => None,
            Self::Known(passphrase) => Some(passphrase),
        }
    }

    /// Asks for the passphrase if that is still to be done, until a signal comes.
    pub fn ask(&mut self, stop: &mut Option<Stop>) -> Result<(), Refusal> {
        if let Self::Terminal(terminal) = self {
            let signals = Stop::on_signals().map_err(|error| Complaint::new(error.to_string()))?;
            *self = Self::Known(ask(terminal, stop.insert(signals))?);
        }
        Ok(())
    }
}

/// How keys are to be encrypted.
pub(super) fn protection(
    args: &Args,
    mut source: Source,
    stop: &mut Option<Stop>,
) -> Result<Option<Protection>, Refusal> {
    source.ask(stop)?;
    let Source::Known(passphrase) = source else { return Ok(None) };
    Ok(Some(Protection {
        passphrase,
        cipher: values::cipher(args.cipher.as_deref())?,
        rounds: values::rounds(args.rounds.as_deref())?,
    }))
}

fn ask(terminal: &mut Terminal, stop: &Stop) -> Result<Passphrase, Refusal> {
    let line = |terminal: &mut Terminal, prompt: &str| {
        terminal.ask(prompt, || stop.requested().is_some()).map_err(|interrupted| match interrupted {
            Interrupted::Failed(error) => no_answer(&error).into(),
            Interrupted::Stopped => match stop.requested() {
                Some(signal) => Refusal::Signal(signal),
                None => no_answer(&io::ErrorKind::Interrupted.into()).into(),
            },
        })
    };
    let tell = |terminal: &mut Terminal, what: &str| terminal.tell(what).map_err(|error| no_answer(&error));
    for _ in 0..TRIES {
        let passphrase = match Passphrase::new(line(terminal, PROMPT)?) {
            Ok(passphrase) => passphrase,
            Err(error) => {
                tell(terminal, &format!("This does not do: {error}."))?;
                continue;
            }
        };
        if line(terminal, AGAIN)?.as_slice() == passphrase.bytes() {
            return Ok(passphrase);
        }
        tell(terminal, "The two differ.")?;
    }
    Err(Complaint::new(format!("there is no passphrase after {TRIES} tries; nothing was searched"))
        .hint("type the same line twice, at least one character")
        .into())
}

fn no_answer(error: &io::Error) -> Complaint {
    Complaint::new(format!("no passphrase came from the terminal: {error}")).hint(WHERE_FROM)
}

/// The passphrase that a file begins with, and what there is to tell of the file.
fn first_line(path: &Path) -> Result<(Passphrase, Option<String>), Complaint> {
    let is_stdin = path == Path::new("-");
    let name = if is_stdin { "stdin".into() } else { escaped_path(path) };
    let read = || -> io::Result<_> {
        let mut file = if is_stdin { stdin()? } else { File::open(path)? };
        let line = line(&mut file)?;
        Ok((line, if is_stdin { None } else { warning(&file, &name)? }))
    };
    let (line, note) = read().map_err(|error| {
        Complaint::new(format!("cannot read the passphrase from {}: {error}", quoted(&name)))
    })?;
    let unusable = |problem: String| {
        Complaint::new(format!("{}: {problem}", quoted(&name)))
            .hint("its first line, without the line's end, is the passphrase")
    };
    if line.starts_with(BYTE_ORDER_MARK) {
        return Err(unusable("the passphrase begins with a byte order mark, which nobody can type".into()));
    }
    let passphrase = Passphrase::new(line).map_err(|error| unusable(error.to_string()))?;
    Ok((passphrase, note))
}

/// stdin without the standard library's buffer, which is never wiped.
#[cfg(unix)]
fn stdin() -> io::Result<File> {
    use std::os::fd::AsFd as _;
    io::stdin().as_fd().try_clone_to_owned().map(File::from)
}

#[cfg(not(unix))]
fn stdin() -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The first line without its end. Of one that is too long for a passphrase, so much that this shows.
fn line(file: &mut File) -> io::Result<Zeroizing<Vec<u8>>> {
    // One byte too many, and the line's end.
    let mut line = Zeroizing::new(vec![0; Passphrase::LONGEST + 1 + b"\r\n".len()]);
    let mut len = 0;
    while len < line.len() && !line[..len].contains(&b'\n') {
        match file.read(&mut line[len..]) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    if let Some(end) = line[..len].iter().position(|&byte| byte == b'\n') {
        len = if line[..end].ends_with(b"\r") { end - 1 } else { end };
    }
    line.truncate(len);
    Ok(line)
}

/// A warning, if others than its owner can get at what is in the file.
#[cfg(unix)]
fn warning(file: &File, name: &str) -> io::Result<Option<String>> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = file.metadata()?;
    let is_open = metadata.is_file() && metadata.mode() & 0o077 != 0;
    let mode = metadata.mode() & 0o777;
    Ok(is_open.then(|| {
        format!(
            "warning: the passphrase file {} is open to other users (mode {mode:04o}); chmod 600 it",
            quoted(name)
        )
    }))
}

#[cfg(not(unix))]
fn warning(_: &File, _: &str) -> io::Result<Option<String>> {
    Ok(None)
}
