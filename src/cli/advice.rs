//! Patterns in the words of the command line: hints about those that cannot be searched for, and
//! the options that search for one.

use crate::escape::{quoted_start, shell_argument};
use crate::notice::Notice;
use crate::pattern::{
    KINDS, Kind, MatchOptions, Pattern, PatternError, Reason, Remedy, last_characters, nearest,
};
use crate::wire::{self, Target};

/// Where a pattern comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The command line, or a file in which an option sets the kind of the lines.
    Options,
    /// A line of a file. It can name its kind itself.
    Line,
}

/// Returns the nearest texts to `text` that can be searched for, as a hint. `None` if there are
/// none.
pub(super) fn spellings(text: &str, options: MatchOptions) -> Option<String> {
    let spellings: Vec<String> = nearest(text, options).iter().map(|text| format!("`{text}`")).collect();
    match &spellings[..] {
        [] => None,
        [one] => Some(format!("the nearest spelling is {one}")),
        [others @ .., last] => Some(format!("the nearest spellings are {} and {last}", others.join(", "))),
    }
}

/// Returns what to do about `error`.
pub(super) fn advice(error: &PatternError, origin: Origin) -> String {
    let searched = error.searched();
    let (make_regex, regex, move_it) = match origin {
        Origin::Options => ("add --regex", "--regex", "use --anywhere"),
        Origin::Line => ("begin the line with `regex:`", "`regex:`", "begin the line with `anywhere:`"),
    };
    match (error.remedy(), error.target()) {
        (Remedy::GiveText, _) => "give at least one character".into(),
        (Remedy::LeaveOutPadding, Target::Key) => {
            "key text is exactly 68 characters long and has no `=` padding".into()
        }
        (Remedy::LeaveOutPadding, Target::Fingerprint) => {
            "a fingerprint has 43 characters and no `=` padding".into()
        }
        (Remedy::WritePlusAndSlash, _) => {
            format!("{searched} has `+` and `/` where URL-safe base64 has `-` and `_`")
        }
        (Remedy::SplitAtBlanks, _) => {
            "write several patterns as separate arguments; a pattern cannot contain whitespace".into()
        }
        (Remedy::MakeRegex, _) => format!("{make_regex} to search for a regular expression"),
        (Remedy::LeaveOutHeader, Target::Key) => format!(
            "every key text begins with {} {}; write only the part after it",
            wire::ALGORITHM,
            wire::FIXED
        ),
        (Remedy::LeaveOutHeader, Target::Fingerprint) => {
            format!(
                "every fingerprint begins with {}; write only the part after it",
                wire::FINGERPRINT_HEADER
            )
        }
        (Remedy::FitLength, _) if matches!(error.reason(), Reason::TooLong { most, .. } if *most < wire::BODY_LEN) => {
            "a word has `+` or `/` on both sides, which takes the other characters".into()
        }
        (Remedy::FitLength, Target::Key) => format!(
            "the searchable part of a key text is the last {} of its {} characters",
            wire::BODY_LEN,
            wire::TEXT_LEN
        ),
        (Remedy::FitLength, Target::Fingerprint) => {
            format!("a fingerprint has {} characters after {}", wire::BODY_LEN, wire::FINGERPRINT_HEADER)
        }
        (Remedy::ChangeFirstOrMove, _) => {
            format!("put a letter from A to P in front, or {move_it} (character 1 holds only four key bits)")
        }
        (Remedy::ChangeFirst, _) => {
            "begin with a letter from A to P (character 1 holds only four key bits)".into()
        }
        (Remedy::ChangeLastOrMove, _) => format!(
            "end with one of {} (the last character holds only four bits), or {move_it}",
            last_characters()
        ),
        (Remedy::MakeLiteral, _) => format!("leave out {regex} to search for the text itself"),
        (Remedy::CorrectSyntax, _) => {
            "the syntax is that of the Rust regex crate: https://docs.rs/regex/#syntax".into()
        }
        (Remedy::ResolveContradiction, _) => {
            "the expression contradicts itself; `^` and `$` are the two ends of the body".into()
        }
        (Remedy::Simplify, _) => "use fewer or smaller repetitions, or split it into several patterns".into(),
        (Remedy::UseAlphabet, _) => format!("{searched} is made of A-Z, a-z, 0-9, `+` and `/`"),
    }
}

/// Returns what a person probably meant by an argument that is not a pattern, as a hint.
pub(super) fn meant(text: &str, error: &PatternError, options: MatchOptions) -> Option<String> {
    let is = |text: &str, kind| Pattern::new(text, MatchOptions { kind, ..options }).is_ok();
    let is_pattern = |text: &str| is(text, options.kind);
    let is_literal = options.kind != Kind::Regex;
    let is_anywhere = options.kind == Kind::Anywhere;
    if error.remedy() == Remedy::LeaveOutHeader {
        let rest: String = text.chars().skip(error.at().end).collect();
        let rest = rest.split_whitespace().next()?;
        let is_part = rest.len() < wire::BODY_LEN && is_pattern(rest);
        return is_part.then(|| format!("{}: `{rest}`", advice(error, Origin::Options)));
    }
    if ["?", "/?"].contains(&text) {
        return Some("--help lists all options; -h prints a short list".to_owned());
    }
    if let Some(hint) = option(text) {
        return Some(hint);
    }
    let header = wire::FINGERPRINT_HEADER;
    if let Some(rest) = text.get(header.len()..).filter(|_| text[..header.len()].eq_ignore_ascii_case(header))
    {
        let is_prefix =
            Pattern::new(rest, MatchOptions { target: Target::Fingerprint, kind: Kind::Prefix, ..options });
        let rest = if is_prefix.is_ok() { rest } else { "TEXT" };
        return Some(format!("--in fingerprint --prefix {rest} searches fingerprints for it"));
    }
    if let Some(variable) = variable(text, is_literal) {
        return Some(match variable.starts_with('%') {
            true => format!("only cmd replaces {variable}; write $USER or, in PowerShell, $env:USERNAME"),
            false => format!(
                "the shell has not replaced {variable}: it does so without quotes, and in double quotes"
            ),
        });
    }
    if let Some((open, inner, close)) = quotes(text).filter(|(_, inner, _)| is_pattern(inner)) {
        return Some(format!("write {} without {open} and {close} around it", shell_argument(inner)));
    }
    if let Some(inner) = slashes(text) {
        let example = is(inner, Kind::Regex).then(|| format!(": --regex {}", shell_argument(inner)));
        return Some(format!("an expression has no slashes around it{}", example.unwrap_or_default()));
    }
    if let Some((name, host)) = text.split_once('@') {
        let is_address = !host.is_empty() && !host.contains('@') && is_pattern(name);
        return is_address
            .then(|| format!("an address can be the comment: -C {} {name}", shell_argument(text)));
    }
    let words = text.trim_matches(['{', '}', '[', ']', '(', ')']).split([',', ';']);
    let words: Vec<&str> = words.map(str::trim).filter(|word| !word.is_empty()).collect();
    if text.contains([',', ';']) && !words.is_empty() && words.iter().all(|word| is_pattern(word)) {
        let words: Vec<String> = words.into_iter().map(shell_argument).collect();
        return Some(format!("write several patterns as separate arguments: {}", words.join(" ")));
    }
    if is_literal && let Some(hint) = file_name(text) {
        return Some(hint);
    }
    if !is_literal || error.remedy() != Remedy::MakeRegex {
        return None;
    }
    // The signs of the shell for any characters.
    let rest = text.trim_matches('*');
    if text.contains('*') && is_pattern(rest) {
        let (option, at) = match (text.starts_with('*'), text.ends_with('*')) {
            (false, true) => ("--prefix", "beginning"),
            (true, false) => ("--suffix", "end"),
            _ => ("", ""),
        };
        if !is_anywhere || option.is_empty() {
            return Some(format!("write {rest} alone: other characters may be beside it"));
        }
        return Some(format!("{rest} alone is found anywhere; {option} {rest} searches at the {at}"));
    }
    let group = if text.contains('|') { format!("({text})") } else { text.to_owned() };
    let (option, expression) = match options.kind {
        Kind::Prefix => ("--prefix", format!("^{group}")),
        Kind::Suffix => ("--suffix", format!("{group}$")),
        Kind::Word => ("--word", format!("[+/]{group}[+/]")),
        _ => ("", String::new()),
    };
    if !is_anywhere {
        let expression = is(&expression, Kind::Regex).then(|| shell_argument(&expression))?;
        return Some(format!("--regex {expression}, in place of {option}, searches for an expression"));
    }
    let expression = text.replace('*', ".*").replace('?', ".");
    if is(&text.replace(['*', '?'], ""), Kind::Anywhere) && is(&expression, Kind::Regex) {
        let expression = shell_argument(&expression);
        return Some(format!("in a regular expression, `.` is any character: --regex {expression}"));
    }
    let (word, rest, kind) = match (text.strip_prefix('^'), text.strip_suffix('$')) {
        (Some(rest), None) => ("prefix", rest, Kind::Prefix),
        (None, Some(rest)) => ("suffix", rest, Kind::Suffix),
        _ => return None,
    };
    is(rest, kind).then(|| format!("--{word} {rest} searches there; or add --regex"))
}

/// Returns a note about an argument that is a pattern, if a person probably meant something else.
pub(super) fn note(text: &str, options: MatchOptions) -> Option<Notice> {
    if options.kind == Kind::Regex {
        let inner = shell_argument(slashes(text).filter(|inner| !inner.contains('/'))?);
        return Some(Notice::note(format!(
            "the slashes are searched for, too; without them: --regex {inner}"
        )));
    }
    let meant = match text.to_ascii_lowercase().as_str() {
        "help" => "--help prints the help".to_owned(),
        "version" => "--version prints the version".to_owned(),
        "bench" | "benchmark" => "--bench measures the engines".to_owned(),
        "estimate" => "--estimate prints the odds".to_owned(),
        "man" => "--man prints the manual page".to_owned(),
        "completion" | "completions" => "--completions SHELL prints a completion script".to_owned(),
        "search" | "find" | "generate" | "gen" | "keygen" | "new" | "create" | "make" | "run" | "list" => {
            "the program has options, but no commands".to_owned()
        }
        // It looks like the path of a file. A word between two slashes does not.
        _ if text.starts_with('/') && text.matches('/').count() > 1 && !text.ends_with('/') => {
            format!("-o {text} writes the key to that file")
        }
        _ => return None,
    };
    Some(Notice::note(format!("searching for the text {}; {meant}", quoted_start(text))))
}

/// Returns `true` for a hyphen, and for the dashes that word processors make of it.
fn is_dash(char: char) -> bool {
    matches!(char, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// Returns a hint about a word that looks like an option.
fn option(text: &str) -> Option<String> {
    let name = text.trim_start_matches(is_dash);
    let hyphens = text.strip_suffix(name)?;
    let command = super::args::command();
    let long = name.split('=').next().filter(|long| long.len() > 1);
    if command.get_opts().any(|option| option.get_long() == long)
        && (!hyphens.is_empty() || text.contains('='))
    {
        let is_right = hyphens == "--" || hyphens == "-";
        return Some(if is_right {
            "an option goes before --".into()
        } else {
            format!("an option begins with two hyphens: --{name}")
        });
    }
    let short = name.chars().next().filter(|_| hyphens == "-" && name.len() == 1)?;
    let is_short = command.get_opts().any(|option| option.get_short() == Some(short));
    is_short.then(|| "an option goes before --".to_owned())
}

/// Returns the first part of `text` that a shell would have replaced: a variable or a command. In an
/// expression, `$b` is more probably its end and a letter.
fn variable(text: &str, is_literal: bool) -> Option<&str> {
    let inner = |open: char, close: char| text.strip_prefix(open)?.strip_suffix(close);
    let is_name =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    if inner('%', '%').is_some_and(is_name) || inner('`', '`').is_some() {
        return Some(text);
    }
    let at = text.find('$').filter(|at| !text[at + 1..].is_empty())?;
    let rest = &text[at + 1..];
    let end = match rest.as_bytes()[0] {
        b'0'..=b'9' | b'a'..=b'z' | b'@' | b'#' if !is_literal => return None,
        b'{' => rest.find('}')? + 1,
        b'(' => rest.find(')')? + 1,
        b'0'..=b'9' | b'@' | b'#' => 1,
        b'A'..=b'Z' | b'a'..=b'z' | b'_' => {
            rest.bytes().position(|byte| byte != b'_' && !byte.is_ascii_alphanumeric()).unwrap_or(rest.len())
        }
        _ => return None,
    };
    Some(&text[at..=at + end])
}

/// Returns the text between two quotes, or between the signs of a placeholder, and these signs.
fn quotes(text: &str) -> Option<(char, &str, char)> {
    const PAIRS: [&str; 7] =
        ["''", "\"\"", "``", "<>", "\u{2018}\u{2019}", "\u{201c}\u{201d}", "\u{ab}\u{bb}"];
    PAIRS.iter().find_map(|pair| {
        let (open, close) = (pair.chars().next()?, pair.chars().next_back()?);
        Some((open, text.strip_prefix(open)?.strip_suffix(close)?, close))
    })
}

/// Returns the expression between two slashes, as in `/foo/i`.
fn slashes(text: &str) -> Option<&str> {
    let (inner, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
    let is_flags = flags.bytes().all(|flag| b"gimsuxy".contains(&flag));
    (!inner.is_empty() && is_flags).then_some(inner)
}

/// Returns a hint about a word that looks like the name of a file.
fn file_name(text: &str) -> Option<String> {
    let ends = |ends: &[&str]| ends.iter().any(|end| text.len() > end.len() && text.ends_with(end));
    let name = shell_argument(text);
    if text.starts_with("*.") {
        return Some(format!(
            "the shell has found no such files: {text}; -f FILE reads patterns from a file"
        ));
    }
    if ends(&[".txt", ".lst", ".list", ".csv", ".words", ".dic"]) {
        return Some(format!("-f {name} reads patterns from that file"));
    }
    let starts = |starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
    let is_key =
        starts(&["id_", "./", "../", "~/"]) || ends(&[".pem", ".ppk", ".key", ".pub"]) || text.contains('\\');
    is_key.then(|| format!("-o {} writes the key to that file", name.trim_end_matches(".pub")))
}

/// Returns a hint about the last of several arguments, if it could be the name of a file.
pub(super) fn name(text: &str) -> Option<String> {
    let is_name = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    (is_name && text.starts_with(|char: char| char.is_ascii_alphanumeric()))
        .then(|| format!("if it is the name of a file: -o {text}"))
}

/// Returns the options and the text that search for a pattern.
pub(super) fn arguments(pattern: &Pattern) -> Vec<String> {
    let MatchOptions { kind, case_sensitive, leet, target } = pattern.options();
    let mut words: Vec<String> = Vec::new();
    if target == Target::Fingerprint {
        words.extend(["--in", "fingerprint"].map(str::to_owned));
    }
    let known = KINDS.iter().find(|(_, known)| *known == kind && kind != Kind::Anywhere);
    words.extend(known.map(|(name, _)| format!("--{name}")));
    words.extend(case_sensitive.then(|| "-s".to_owned()));
    words.extend((leet && kind != Kind::Regex).then(|| "--leet".to_owned()));
    words.extend(pattern.text().starts_with('-').then(|| "--".to_owned()));
    words.push(pattern.text().to_owned());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_have_every_option() {
        let words = |text, options| arguments(&Pattern::new(text, options).unwrap()).join(" ");
        let plain = MatchOptions::default();
        assert_eq!(words("ab", plain), "ab");
        let regex = MatchOptions { kind: Kind::Regex, target: Target::Fingerprint, leet: true, ..plain };
        assert_eq!(words("^a.*b", regex), "--in fingerprint --regex ^a.*b");
        assert_eq!(words("-?ab", regex), "--in fingerprint --regex -- -?ab");
        let prefix = MatchOptions { kind: Kind::Prefix, case_sensitive: true, leet: true, ..plain };
        assert_eq!(words("Ab", prefix), "--prefix -s --leet Ab");
    }
}
