//! Diagnostics about the command line as clap reads it: about values, about options of other programs,
//! and clap's own, with dangerous characters escaped.
//!
//! clap repeats what was typed unchanged, between its own colors. So clap reads a refused command
//! line a second time. There a stand-in replaces every character that must be escaped. The
//! stand-ins in the answer then become escapes.

use std::ffi::{OsStr, OsString};

use crate::escape::{escaped, escaped_char, is_active};
use crate::plan::{Diagnostic, Usage};
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::values::quoted;

/// Options that do not exist, and what to use in their place.
const OTHERS: [(&[&str], &str); 10] = [
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
    (
        &["-p", "-P", "-N", "--password", "--pass", "--pw", "--encrypt"],
        "--passphrase asks for a passphrase on the terminal; --passphrase-file FILE reads the first line of FILE",
    ),
];

/// Returns a diagnostic if clap's `error` is about a value or about one of these options.
pub(super) fn diagnostic(error: &clap::Error) -> Option<Diagnostic> {
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
        ErrorKind::UnknownArgument => {
            let name = text(ContextKind::InvalidArg)?.split('=').next()?;
            let (_, hint) = OTHERS.iter().find(|(names, _)| names.contains(&name))?;
            Some(Diagnostic::new(format!("there is no option {name}")).hint(*hint))
        }
        _ => None,
    }
}

/// The first stand-in and the number of stand-ins: plane 15 of Unicode, which is for private use.
const FIRST: u32 = 0xf_0000;
const MOST: usize = 0xfffe;

/// Returns clap's message about the command line `typed`, which `read` refuses with `error`.
pub(super) fn usage<T>(
    error: &clap::Error,
    typed: &[OsString],
    read: impl Fn(&[OsString]) -> Result<T, clap::Error>,
) -> Usage {
    let mut stand_ins = StandIns::default();
    let harmless: Vec<OsString> = typed.iter().map(|typed| stand_ins.replace(typed).into()).collect();
    match read(&harmless) {
        Err(error) if error.use_stderr() => {
            let said = error.render();
            Usage {
                plain: stand_ins.restore(&said.to_string()),
                painted: stand_ins.restore(&said.ansi().to_string()),
            }
        }
        // clap accepts the command line with stand-ins, so the error was about bytes that are not
        // text.
        _ => {
            let said = error.render().to_string();
            let plain: String = said.lines().map(|line| format!("{}\n", escaped(line))).collect();
            Usage { painted: plain.clone(), plain }
        }
    }
}

/// The characters that are replaced, in the order of their stand-ins.
#[derive(Default)]
struct StandIns(Vec<char>);

impl StandIns {
    /// Returns an argument with a stand-in for every character that must be escaped. Bytes that are
    /// not text become `\x..` escapes.
    fn replace(&mut self, typed: &OsStr) -> String {
        let mut harmless = String::new();
        for chunk in typed.as_encoded_bytes().utf8_chunks() {
            harmless.extend(chunk.valid().chars().map(|char| self.stand_in(char)));
            harmless.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
        }
        harmless
    }

    /// Returns the character or its stand-in. Characters above [`FIRST`] that were typed get
    /// stand-ins, too.
    fn stand_in(&mut self, char: char) -> char {
        if !is_active(char) && u32::from(char) < FIRST {
            return char;
        }
        let number = self.0.iter().position(|known| *known == char).unwrap_or_else(|| {
            self.0.push(char);
            self.0.len() - 1
        });
        // No command line has more different characters of this sort.
        char::from_u32(FIRST + number.min(MOST - 1) as u32).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    /// Returns clap's message with escapes in place of the stand-ins.
    fn restore(&self, said: &str) -> String {
        let original = |char: char| self.0.get(u32::from(char).checked_sub(FIRST)? as usize);
        said.chars().map(|char| original(char).map_or(char.into(), |char| escaped_char(*char))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_text_comes_back_escaped() {
        let mut stand_ins = StandIns::default();
        let typed = "a\u{1b}[2J\u{202e}b\u{f0000}\u{1b}ö\u{10fffd}";
        let harmless = stand_ins.replace(OsStr::new(typed));
        assert!(!harmless.contains(is_active), "{harmless:?}");
        assert_eq!(harmless.chars().count(), typed.chars().count());
        let said = format!("\u{1b}[31m'{harmless}'\u{1b}[0m\n");
        let shown = "\u{1b}[31m'a\\u{1b}[2J\\u{202e}b\u{f0000}\\u{1b}ö\u{10fffd}'\u{1b}[0m\n";
        assert_eq!(stand_ins.restore(&said), shown);
    }
}
