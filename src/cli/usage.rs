//! Diagnostics about the command line as clap reads it: about values, about options that do not
//! exist, and clap's own.

use std::ffi::OsString;

use crate::escape::escaped;
use crate::plan::{Diagnostic, Usage};
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::values::{quoted, quoted_os};

/// Options that do not exist, and what to use in their place.
const OTHERS: [(&[&str], &str); 23] = [
    (&["--starts-with", "--start", "--begins-with"], "--prefix matches the text at the beginning"),
    (&["--ends-with", "--end"], "--suffix matches the text at the end"),
    (
        &["--contains", "--substring"],
        "leave it out: the text may be anywhere, unless --prefix or --suffix is given",
    ),
    (&["-w", "--whole-word", "--word-regexp"], "--word matches the text with + or / on both sides"),
    (&["-e", "-E", "-r", "--regexp"], "--regex matches PATTERN as a regular expression"),
    (&["--case-insensitive", "--nocase"], "leave it out: case is ignored, unless -s is given"),
    (&["--exact", "--case"], "-s, or --case-sensitive, matches upper and lower case exactly"),
    (&["--position", "--where"], "--prefix, --suffix and --word say where the text must be"),
    (&["--fingerprint", "--hash", "--sha256"], "--in fingerprint searches the fingerprint"),
    (
        &["--list", "--wordlist", "--words", "--stdin"],
        "-f FILE, or --patterns FILE, reads one pattern per line (- is stdin)",
    ),
    (
        &["--number", "--num", "--amount", "--keys", "--max", "--limit"],
        "-n N, or --count N, sets the number of keys for each pattern",
    ),
    (
        &["-j", "--jobs", "--cores", "--cpus", "--workers"],
        "-t N, or --threads N, sets the number of worker threads",
    ),
    (
        &["--gpu", "--cuda", "--opencl", "--device", "--devices", "--list-devices"],
        "--engine gpu searches with graphics processors; --gpu-device list lists them",
    ),
    (&["-v", "--verbose"], "leave it out: everything is printed, unless -q is given; -V prints the version"),
    (&["--silent", "--no-progress"], "-q, or --quiet, prints only errors to stderr"),
    (&["--no-color", "--no-colors"], "--color never prints without colors"),
    (
        &["--dry-run", "--odds", "--probability", "--difficulty", "--time"],
        "--estimate prints the odds and the time of a search; --timeout ends one",
    ),
    (
        &["--output-file", "--out", "--file", "--filename", "--key", "--save"],
        "-o PATH, or --output PATH, names the private file",
    ),
    (
        &["--dir", "--directory", "--out-dir", "--batch"],
        "-d DIR, or --output-dir DIR, writes a pair of files for each key",
    ),
    (&["--stdout", "--print"], "leave it out: the key goes to stdout, unless -o, -d or --agent is given"),
    (
        &["--force", "--overwrite", "-y", "--yes"],
        "keys are never overwritten: choose another name, or move the existing file away",
    ),
    (
        &["-m", "--pem", "--pkcs8", "--openssh", "--ppk", "--putty"],
        "--format pkcs8, openssh or ppk sets the format of the private key",
    ),
    (
        &["-p", "-P", "-N", "--password", "--pass", "--pw", "--encrypt"],
        "--passphrase asks for a passphrase on the terminal; --passphrase-file FILE reads the first line of FILE",
    ),
];

/// Returns a diagnostic if clap's `error` would repeat what was typed, which clap does not escape, or if
/// clap does not say what is wrong.
pub(super) fn diagnostic(error: &clap::Error, typed: &[OsString]) -> Option<Diagnostic> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::ValueValidation => {
            use std::error::Error as _;
            error.source()?.downcast_ref::<Diagnostic>().cloned()
        }
        ErrorKind::InvalidValue => {
            let option = text(ContextKind::InvalidArg)?.split(' ').next()?;
            let typed = text(ContextKind::InvalidValue)?;
            let Some(ContextValue::Strings(known)) = error.get(ContextKind::ValidValue) else { return None };
            let (last, others) = known.split_last()?;
            let problem = format!("{option} must be {} or {last}, not {}", others.join(", "), quoted(typed));
            let nearest = text(ContextKind::SuggestedValue).map(|near| format!("the nearest is {near}"));
            Some(Diagnostic::new(problem).hints(nearest))
        }
        ErrorKind::InvalidUtf8 => {
            let word = typed.iter().find(|word| word.to_str().is_none())?;
            Some(Diagnostic::new(format!("{} is not UTF-8 text", quoted_os(word))))
        }
        ErrorKind::TooManyValues => {
            Some(Diagnostic::new(format!("{} takes no value", text(ContextKind::InvalidArg)?)))
        }
        ErrorKind::UnknownArgument => {
            let name = text(ContextKind::InvalidArg)?.split('=').next()?;
            let hint = match OTHERS.iter().find(|(names, _)| names.contains(&name)) {
                Some((_, hint)) => (*hint).to_owned(),
                None => match text(ContextKind::SuggestedArg).filter(|near| is_like(near, name)) {
                    Some(near) => format!("the nearest is {near}"),
                    None => "--help lists all options".to_owned(),
                },
            };
            Some(Diagnostic::new(format!("there is no option {}", escaped(name))).hint(hint))
        }
        _ => None,
    }
}

/// Returns `true` if a long option has the first letter or the last two of what was typed. What clap
/// suggests is often only a guess otherwise, as `--leet` for `--silent`.
fn is_like(option: &str, typed: &str) -> bool {
    option.get(..3).is_some_and(|beginning| typed.starts_with(beginning))
        || option.get(option.len() - 2..).is_some_and(|end| typed.ends_with(end))
}

/// Returns clap's own message. It repeats nothing that was typed; if it did, it would be escaped.
pub(super) fn usage(error: &clap::Error) -> Usage {
    let said = error.render();
    let plain: String = said.to_string().lines().map(|line| format!("{}\n", escaped(line))).collect();
    let painted = if plain == said.to_string() { said.ansi().to_string() } else { plain.clone() };
    Usage { plain, painted }
}
