//! Diagnostics about the command line as clap reads it: about values, and about options that do not
//! exist or exclude each other.

use std::ffi::OsString;

use crate::escape::escaped;
use crate::plan::Diagnostic;
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

/// Options that exclude others, and what to do.
const EXCLUSIVE: [(&str, &str); 3] = [
    ("--bench", "--bench only measures engines: leave one of them out"),
    ("--leet", "write the digits into the expression, as in [a4]lice"),
    ("--output-dir", "--output names one file; --output-dir names the files itself"),
];

/// Returns the diagnostic about clap's `error`. clap does not escape what was typed, and its words
/// are not always right.
pub(super) fn diagnostic(error: &clap::Error, typed: &[OsString]) -> Diagnostic {
    known(error, typed).unwrap_or_else(|| {
        let said = error.render().to_string();
        let problem = said.lines().next().unwrap_or_default();
        Diagnostic::new(problem.trim_start_matches("error: ")).hint("--help lists all options")
    })
}

/// Returns the diagnostic about an error of a kind that this command line can cause.
fn known(error: &clap::Error, typed: &[OsString]) -> Option<Diagnostic> {
    let texts = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => std::slice::from_ref(text),
        Some(ContextValue::Strings(texts)) => texts,
        _ => &[],
    };
    let text = |kind| texts(kind).first().map(String::as_str);
    match error.kind() {
        ErrorKind::ValueValidation => {
            use std::error::Error as _;
            error.source()?.downcast_ref::<Diagnostic>().cloned()
        }
        ErrorKind::InvalidValue => {
            let usage = text(ContextKind::InvalidArg)?;
            let (option, typed) = (name(usage), text(ContextKind::InvalidValue)?);
            let known = texts(ContextKind::ValidValue).split_last();
            let known = known.map(|(last, others)| format!("{} or {last}", others.join(", ")));
            if typed.is_empty() {
                let usage =
                    known.map_or_else(|| usage.replace(['<', '>'], ""), |known| format!("{option} {known}"));
                return Some(
                    Diagnostic::new(format!("the value of {option} is missing or empty"))
                        .hint(format!("write {usage}")),
                );
            }
            let is_same = |name: &&String| name.eq_ignore_ascii_case(typed);
            let nearest = texts(ContextKind::ValidValue).iter().find(is_same).map(String::as_str);
            let nearest = nearest.or(text(ContextKind::SuggestedValue));
            let hint = match option {
                "--cipher" => Some("aes256-ctr, the default, is the one that most programs read".to_owned()),
                _ => nearest.map(|near| format!("the nearest is {near}")),
            };
            let problem = format!("{option} must be {}, not {}", known?, quoted(typed));
            Some(Diagnostic::new(problem).hints(hint))
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
        ErrorKind::ArgumentConflict => {
            let option = name(text(ContextKind::InvalidArg)?);
            let Some(other) = text(ContextKind::PriorArg).map(name) else {
                return Some(Diagnostic::new(format!("{option} cannot be used with other arguments")));
            };
            let hint = EXCLUSIVE.iter().find(|(name, _)| [option, other].contains(name));
            let hint = hint.map_or("leave one of them out", |(_, hint)| hint);
            Some(Diagnostic::new(format!("{option} cannot be used with {other}")).hint(hint))
        }
        _ => None,
    }
}

/// Returns the name of an option that clap shows with its value, as in `--output <PATH>`.
fn name(usage: &str) -> &str {
    usage.split([' ', '[']).next().unwrap_or(usage)
}

/// Returns `true` if a long option has the first letter or the last two of what was typed. What clap
/// suggests is often only a guess otherwise, as `--leet` for `--silent`.
fn is_like(option: &str, typed: &str) -> bool {
    option.get(..3).is_some_and(|beginning| typed.starts_with(beginning))
        || option.get(option.len() - 2..).is_some_and(|end| typed.ends_with(end))
}
