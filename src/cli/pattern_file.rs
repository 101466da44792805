//! Files of patterns, and what is wrong with their lines.

use std::io::Read as _;
use std::path::Path;

use crate::pattern::{Line, PatternError, Reason};

use super::advice::{Origin, advice, spellings};
use super::stdio::is_stdio;
use crate::plan::Diagnostic;
use crate::sys::{Patient, room};

/// The size of the largest file that is read, in bytes. It has room for millions of words and fits
/// in memory.
const LARGEST_FILE: u64 = 64 << 20;

/// The length of the longest line that is read, in bytes. No pattern needs more, and a copy is
/// cheap.
const LONGEST: usize = 64 << 10;

/// How much of a longer line a diagnostic gets, in characters. This is more than an excerpt shows.
const SHOWN: usize = 100;

const WHAT_A_LINE_HOLDS: &str = "a line is one pattern without whitespace, or a comment that begins with #";

/// Refuses a line of `file` that is longer than [`LONGEST`].
pub(super) fn check_length(line: &Line, file: &str) -> Result<(), Diagnostic> {
    let len = line.written.len();
    if len <= LONGEST {
        return Ok(());
    }
    let shown: String = line.written.chars().take(SHOWN).collect();
    let problem = format!("{file}:{}: the line has {len} bytes; the limit is {LONGEST}", line.number);
    Err(Diagnostic::new(problem).place(&shown, 0..SHOWN).hint(WHAT_A_LINE_HOLDS))
}

/// Returns the diagnostic about a line of `file`. Its columns count from the start of the line.
pub(super) fn diagnostic(line: &Line, file: &str, error: &PatternError) -> Diagnostic {
    let before = line.written[..line.written.len() - line.pattern.len()].chars().count();
    let at = before + error.at().start..before + error.at().end;
    let problem = match error.reason() {
        Reason::NotBase64(char) | Reason::NeverBase64(Some(char)) => {
            format!("'{char}' never occurs in {}", error.searched())
        }
        Reason::Syntax { message, .. } => format!("malformed regular expression: {message}"),
        _ => error.to_string(),
    };
    let origin = if line.names_kind { Origin::LineWithKind } else { Origin::Line };
    Diagnostic::new(format!("{file}:{}:{}: {problem}", line.number, at.start + 1))
        .place(line.written, at)
        .hint(advice(error, origin, line.pattern, line.options))
        .hints(spellings(line.pattern, line.options))
}

/// Reads a file of at most [`LARGEST_FILE`] bytes, or half of the memory that limits leave.
pub(super) fn contents(file: &Path, name: &str) -> Result<Vec<u8>, Diagnostic> {
    let mut bytes = Vec::new();
    // What limits of memory leave must also hold the patterns.
    let most = room().map_or(LARGEST_FILE, |room| LARGEST_FILE.min(room.left / 2));
    // The extra byte shows that the file is larger than the limit.
    let read = if is_stdio(file) {
        Patient(std::io::stdin()).take(most + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|file| Patient(file).take(most + 1).read_to_end(&mut bytes))
    };
    match read {
        Ok(_) if bytes.len() as u64 > most => {
            let why = if most < LARGEST_FILE { ", for which the limits of memory leave no room" } else { "" };
            let problem = format!("{name} is larger than {} MiB{why}", most >> 20);
            Err(Diagnostic::new(problem).hint("split it, and give each part with -f"))
        }
        Ok(_) => Ok(bytes),
        Err(error) => Err(Diagnostic::new(format!("cannot read patterns from {name}: {error}")).hint(
            "-f takes a file of patterns; a pattern itself needs no option, and -o names the key's file",
        )),
    }
}

/// Refuses a file of keys. A diagnostic about one of its lines would show a part of the private key.
pub(super) fn check_no_key(text: &str, name: &str) -> Result<(), Diagnostic> {
    if ["-----BEGIN ", "---- BEGIN ", "PuTTY-User-Key-File-"].iter().any(|begin| text.contains(begin)) {
        return Err(Diagnostic::new(format!("{name} contains a key, not patterns"))
            .hint("-f takes a file of patterns; -o PATH names the file of a new key"));
    }
    Ok(())
}

/// Returns the diagnostic that names the first byte that text in UTF-8 does not have. Programs that
/// read text take a NUL byte for its end, and text in UTF-16 has many of them.
pub(super) fn not_text(origin: &str, bytes: &[u8]) -> Diagnostic {
    let text = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let at = text.find('\0').unwrap_or(text.len());
    let what = if at < text.len() { "text" } else { "UTF-8 text" };
    let line = 1 + bytes[..at].iter().filter(|&&byte| byte == b'\n').count();
    let column = 1 + bytes[..at].iter().rev().take_while(|&&byte| byte != b'\n').count();
    Diagnostic::new(format!(
        "{origin} is not {what}: byte {:#04x} in line {line}, column {column}",
        bytes[at]
    ))
}
