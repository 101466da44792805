//! Reads the passphrase of the private keys: twice from the terminal, or from the first line of a
//! file.
//!
//! All private keys of a run have the same passphrase.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _};
use std::path::Path;

use zeroize::Zeroizing;

use super::error::JobError;
use super::prompt::Terminal;
use crate::escape::escaped_path;
use crate::key::Passphrase;
use crate::notice::Notice;
use crate::plan::{Diagnostic, Encryption, PassphraseSource};
use crate::search::Stop;
use crate::sys::{ForeignAccess, Patient, SecretFile};

/// How often the program asks for a passphrase.
const TRIES: usize = 3;

const PROMPT: &str = "Passphrase for the private keys: ";
const AGAIN: &str = "The same passphrase again: ";

/// The bytes that some editors write before UTF-8 text. Nobody can type them.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A passphrase that is known, or the terminal that it will come from.
pub(super) enum PassphraseInput {
    /// The program has not asked for the passphrase yet. The text says what to do if that fails.
    Terminal(Terminal, &'static str),
    /// The passphrase was read or typed.
    Known(Passphrase),
}

impl PassphraseInput {
    /// Reads the file, or opens the terminal. Also returns a warning if other users can access the
    /// file.
    pub(super) fn open(encryption: &Encryption) -> Result<(Self, Option<Notice>), Diagnostic> {
        let first_line =
            |path| first_line(path).map(|(passphrase, notice)| (Self::Known(passphrase), notice));
        match &encryption.passphrase {
            PassphraseSource::File(path) => first_line(Some(path)),
            PassphraseSource::Stdin => first_line(None),
            PassphraseSource::Terminal { instead } => {
                let terminal = Terminal::open().map_err(|error| {
                    Diagnostic::new(format!("cannot open the terminal to ask for the passphrase: {error}"))
                        .hint(*instead)
                })?;
                Ok((Self::Terminal(terminal, instead), None))
            }
        }
    }

    /// Returns the passphrase, if it is known already.
    pub(super) fn known(&self) -> Option<&Passphrase> {
        match self {
            Self::Terminal(..) => None,
            Self::Known(passphrase) => Some(passphrase),
        }
    }

    /// Returns the passphrase. Asks for it if it is not known yet. A request to stop interrupts this.
    pub(super) fn ask(self, stop: &Stop) -> Result<Passphrase, JobError> {
        match self {
            Self::Known(passphrase) => Ok(passphrase),
            Self::Terminal(mut terminal, instead) => ask(&mut terminal, instead, stop),
        }
    }
}

/// Asks for the passphrase, at most [`TRIES`] times, until two equal lines are a usable passphrase.
fn ask(terminal: &mut Terminal, instead: &str, stop: &Stop) -> Result<Passphrase, JobError> {
    // The prompt restores the terminal before the process ends.
    stop.answer(1);
    let passphrase = ask_in_time(terminal, instead, stop);
    stop.answer(0);
    passphrase
}

fn ask_in_time(terminal: &mut Terminal, instead: &str, stop: &Stop) -> Result<Passphrase, JobError> {
    let line = |terminal: &mut Terminal, prompt: &str| {
        let answer = terminal.ask(prompt, || stop.requested().is_some());
        answer.map_err(|error| match stop.requested() {
            Some(end) => JobError::Stopped(end),
            None => no_answer(&error, instead).into(),
        })
    };
    let show =
        |terminal: &mut Terminal, what: &str| terminal.show(what).map_err(|error| no_answer(&error, instead));
    for _ in 0..TRIES {
        let typed = line(terminal, PROMPT)?;
        let passphrase = match Passphrase::new(typed) {
            Ok(passphrase) => passphrase,
            Err(error) => {
                show(terminal, &format!("Not accepted: {error}."))?;
                continue;
            }
        };
        if line(terminal, AGAIN)?.as_slice() == passphrase.bytes() {
            return Ok(passphrase);
        }
        show(terminal, "The two passphrases are not the same.")?;
    }
    Err(Diagnostic::new(format!("no usable passphrase after {TRIES} tries; nothing was searched"))
        .hint("type the same passphrase twice, with at least one character")
        .into())
}

fn no_answer(error: &io::Error, instead: &str) -> Diagnostic {
    Diagnostic::new(format!("cannot read the passphrase from the terminal: {error}")).hint(instead)
}

/// Reads a passphrase from the first line of a file, or of stdin if `path` is `None`.
///
/// Also returns a warning if other users can access the file.
fn first_line(path: Option<&Path>) -> Result<(Passphrase, Option<Notice>), Diagnostic> {
    let name = path.map_or_else(|| "stdin".into(), |path| format!("'{}'", escaped_path(path)));
    let read = || -> io::Result<_> {
        let SecretFile { file, others, .. } = match path {
            Some(path) => SecretFile::open(path, true)?,
            None => SecretFile::of(stdin()?)?,
        };
        if file.is_terminal() {
            return Ok(None);
        }
        Ok(Some((line(&mut Patient(file))?, others.map(|others| warning(&others, &name)))))
    };
    let read = read().map_err(|error| {
        let hint = path.map(|_| "write the name of a file; its first line is the passphrase".to_owned());
        Diagnostic::new(format!("cannot read the passphrase from {name}: {error}")).hints(hint)
    })?;
    let (line, note) = read.ok_or_else(|| {
        Diagnostic::new(format!("{name} is a terminal, which would show the passphrase"))
            .hint("--passphrase asks for it on the terminal, which does not show it then")
    })?;
    let unusable = |problem: String| {
        Diagnostic::new(format!("{name}: {problem}"))
            .hint("the first line, without its line ending, is the passphrase")
    };
    if line.starts_with(BYTE_ORDER_MARK) {
        return Err(unusable("the passphrase begins with a byte order mark, which nobody can type".into()));
    }
    let passphrase = Passphrase::new(line).map_err(|error| unusable(error.to_string()))?;
    Ok((passphrase, note))
}

/// Opens stdin without the buffer of the standard library, which is never wiped.
#[cfg(unix)]
fn stdin() -> io::Result<File> {
    use std::os::fd::AsFd as _;
    io::stdin().as_fd().try_clone_to_owned().map(File::from)
}

#[cfg(windows)]
fn stdin() -> io::Result<File> {
    use std::os::windows::io::AsHandle as _;
    io::stdin().as_handle().try_clone_to_owned().map(File::from)
}

/// Reads the first line, without its line ending. Of a line that is too long for a passphrase,
/// reads at least one byte more than a passphrase can have.
fn line(file: &mut Patient<File>) -> io::Result<Zeroizing<Vec<u8>>> {
    // Room for one byte too many and for the line ending.
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

/// Returns the warning about a passphrase file that other users can access.
fn warning(others: &ForeignAccess, name: &str) -> Notice {
    let remedy = others.remedy();
    Notice::warning(format!("other users can access the passphrase file {name} ({others}); {remedy}"))
}
