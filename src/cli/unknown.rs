//! Hints about options of other programs that people type here.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::plan::Diagnostic;

/// Options that do not exist, and what to use in their place.
const OTHERS: [(&[&str], &str); 9] = [
    (&["--starts-with", "--start", "--begins-with"], "--prefix matches the text at the beginning"),
    (&["--ends-with", "--end"], "--suffix matches the text at the end"),
    (
        &["--contains", "--substring"],
        "leave it out: the text may be anywhere, unless --prefix or --suffix is given",
    ),
    (&["--case-insensitive", "--nocase"], "leave it out: case is ignored, unless -s is given"),
    (&["--position", "--where"], "--prefix, --suffix and --word say where the text must be"),
    (&["-j", "--jobs", "--cores", "--workers"], "-t N, or --threads N, sets the number of worker threads"),
    (&["-v", "--verbose"], "leave it out: everything is printed, unless -q is given; -V prints the version"),
    (&["--output-file", "--out", "--file", "--key"], "-o PATH, or --output PATH, names the private file"),
    (
        &["--dir", "--directory", "--out-dir"],
        "-d DIR, or --output-dir DIR, writes a pair of files for each key",
    ),
];

/// Returns a diagnostic if `error` is about one of these options.
pub(super) fn diagnostic(error: &clap::Error) -> Option<Diagnostic> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let name = typed.split('=').next().unwrap_or_default();
    let (_, hint) = OTHERS.iter().find(|(names, _)| names.contains(&name))?;
    Some(Diagnostic::new(format!("there is no option {name}")).hint(*hint))
}
