//! The passphrase of the private keys: typed twice on the terminal, or the first line of a file. One for a whole run.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use zeroize::Zeroizing;

use super::error::JobError;
use super::prompt::{Interrupted, Terminal};
use crate::escape::escaped_path;
use crate::key::{Passphrase, Protection};
use crate::notice::Notice;
use crate::plan::{Complaint, Encryption, PassphraseSource};
use crate::search::Stop;

/// How often a passphrase is asked for.
const TRIES: usize = 3;

const PROMPT: &str = "Passphrase for the private keys: ";
const AGAIN: &str = "The same passphrase again: ";

/// What some editors write before UTF-8 text. Nobody can type it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

const WHERE_FROM: &str =
    "--passphrase asks for it on the terminal, --passphrase-file FILE takes the first line of a file";

/// A passphrase that is known, or will be.
pub(super) enum Source {
    /// It will be asked for.
    Terminal(Terminal),
    /// It was read or typed.
    Known(Passphrase),
}

impl Source {
    /// Reads the file, or opens the terminal. Returns beside it what is printed about the file.
    pub(super) fn open(encryption: &Encryption) -> Result<(Self, Option<Notice>), Complaint> {
        let first_line =
            |path| first_line(path).map(|(passphrase, notice)| (Self::Known(passphrase), notice));
        match &encryption.passphrase {
            PassphraseSource::File(path) => first_line(Some(path)),
            PassphraseSource::Stdin => first_line(None),
            PassphraseSource::Terminal => {
                let terminal = Terminal::open().map_err(|error| {
                    Complaint::new(format!("there is no terminal to ask for the passphrase on: {error}"))
                        .hint("--passphrase-file FILE takes the first line of a file, and of stdin if FILE is -")
                })?;
                Ok((Self::Terminal(terminal), None))
            }
        }
    }

    /// Returns the passphrase, if it is known already.
    pub(super) fn known(&self) -> Option<&Passphrase> {
        match self {
            Self::Terminal(_) => None,
            Self::Known(passphrase) => Some(passphrase),
        }
    }

    /// Asks for the passphrase if that is still to be done, until a signal comes.
    pub(super) fn ask(&mut self, stop: &mut Option<Stop>) -> Result<(), JobError> {
        if let Self::Terminal(terminal) = self {
            let signals = Stop::on_signals().map_err(JobError::Signals)?;
            *self = Self::Known(ask(terminal, stop.insert(signals))?);
        }
        Ok(())
    }

    /// Returns what private keys are encrypted with.
    pub(super) fn protection(
        mut self,
        encryption: &Encryption,
        stop: &mut Option<Stop>,
    ) -> Result<Protection, JobError> {
        self.ask(stop)?;
        match self {
            Self::Known(passphrase) => {
                Ok(Protection { passphrase, cipher: encryption.cipher, rounds: encryption.rounds })
            }
            Self::Terminal(_) => unreachable!("it was asked for"),
        }
    }
}

fn ask(terminal: &mut Terminal, stop: &Stop) -> Result<Passphrase, JobError> {
    let line = |terminal: &mut Terminal, prompt: &str| {
        terminal.ask(prompt, || stop.requested().is_some()).map_err(|interrupted| match interrupted {
            Interrupted::Failed(error) => no_answer(&error).into(),
            Interrupted::Stopped => match stop.requested() {
                Some(signal) => JobError::Signal(signal),
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

/// Returns the passphrase that a file, or stdin, begins with, and what is printed about the file.
fn first_line(path: Option<&Path>) -> Result<(Passphrase, Option<Notice>), Complaint> {
    let name = path.map_or_else(|| "stdin".into(), escaped_path);
    let read = || -> io::Result<_> {
        let mut file = path.map_or_else(stdin, File::open)?;
        let line = line(&mut file)?;
        Ok((line, if path.is_some() { warning(&file, &name)? } else { None }))
    };
    let (line, note) = read().map_err(|error| {
        Complaint::new(format!("cannot read the passphrase from {}: {error}", format_args!("'{name}'")))
    })?;
    let unusable = |problem: String| {
        Complaint::new(format!("{}: {problem}", format_args!("'{name}'")))
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
fn warning(file: &File, name: &str) -> io::Result<Option<Notice>> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = file.metadata()?;
    let is_open = metadata.is_file() && metadata.mode() & 0o077 != 0;
    let mode = metadata.mode() & 0o777;
    Ok(is_open.then(|| {
        Notice::warning(format!(
            "the passphrase file '{name}' is open to other users (mode {mode:04o}); chmod 600 it"
        ))
    }))
}

#[cfg(not(unix))]
fn warning(_: &File, _: &str) -> io::Result<Option<Notice>> {
    Ok(None)
}
