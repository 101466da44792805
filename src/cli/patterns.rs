//! Patterns from arguments and files; of the bad ones, all are known before anything is said.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::Path;

use vanity_ed25519::pattern::{Pattern, Style};

use super::values::{quoted, quoted_os};
use super::{Complaint, Refusal};

/// How many bad patterns are shown; the others are counted.
const SHOWN: usize = 10;

/// Reads every pattern of the arguments and of the files.
pub(super) fn read(
    typed: &[impl AsRef<OsStr>],
    files: &[impl AsRef<Path>],
    style: Style,
) -> Result<Vec<Pattern>, Refusal> {
    let mut patterns = Vec::new();
    let mut complaints = Vec::new();
    let mut bad = 0;
    let mut add = |origin: &str, text: &str| match Pattern::new(text, style) {
        Ok(pattern) => patterns.push(pattern),
        Err(error) => {
            bad += 1;
            if bad <= SHOWN {
                complaints.push(Complaint::pattern(origin, text, &error));
            }
        }
    };
    for text in typed {
        let text = text.as_ref();
        match text.to_str() {
            Some(text) => add(&format!("pattern {}", shortened(text)), text),
            None => {
                return Err(not_text(&format!("pattern {}", quoted_os(text)), text.as_encoded_bytes()).into());
            }
        }
    }
    for file in files {
        let name = if file.as_ref() == Path::new("-") {
            "stdin".into()
        } else {
            file.as_ref().display().to_string()
        };
        let bytes = contents(file.as_ref(), &name)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| not_text(&name, &bytes))?;
        if let Some(at) = text.find('\0') {
            return Err(not_text(&name, &bytes[..=at]).into());
        }
        let mut any = false;
        for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                add(&format!("{name}:{number}"), line);
                any = true;
            }
        }
        if !any {
            return Err(Complaint::new(format!("{name} holds no patterns"))
                .hint("write one a line; blank lines and lines that begin with # do not count")
                .into());
        }
    }
    Complaint::say_hints_once(&mut complaints);
    if bad > SHOWN {
        complaints
            .push(Complaint::new(format!("{bad} patterns cannot be searched; the first {SHOWN} are shown")));
    }
    if bad > 0 { Err(Refusal::Complaints(complaints)) } else { Ok(patterns) }
}

fn contents(file: &Path, name: &str) -> Result<Vec<u8>, Complaint> {
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    match read {
        Ok(_) => Ok(bytes),
        Err(error) => Err(Complaint::new(format!("cannot read patterns from {}: {error}", quoted(name)))),
    }
}

/// Says where `bytes` stop being text.
fn not_text(origin: &str, bytes: &[u8]) -> Complaint {
    let valid = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), |text| text.len() - 1);
    let line = 1 + bytes[..valid].iter().filter(|&&byte| byte == b'\n').count();
    let column = 1 + bytes[..valid].iter().rev().take_while(|&&byte| byte != b'\n').count();
    Complaint::new(format!(
        "{origin} is not UTF-8 text: byte {:#04x} in line {line}, column {column}",
        bytes[valid]
    ))
    .hint("key text is made of A-Z, a-z, 0-9, `+` and `/`")
}

/// A pattern in quotes, cut off where it would fill the screen.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(48) {
        Some((end, _)) => format!("{}...", quoted(&text[..end])),
        None => quoted(text),
    }
}
