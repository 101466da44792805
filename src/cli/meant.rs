//! Arguments by which a person probably meant something else: a file, an option, a variable of the
//! shell, several patterns, an expression.

use super::advice::{Origin, advice};
use super::usage;
use super::values::is_variable_name;
use crate::escape::{quoted_start, shell_argument};
use crate::notice::Notice;
use crate::pattern::{Kind, MatchOptions, Pattern, PatternError, Remedy};
use crate::wire::{self, Target};

/// Returns what a person probably meant by an argument that is not a pattern, as a hint.
pub(super) fn meant(text: &str, error: &PatternError, options: MatchOptions) -> Option<String> {
    let argument = Argument { text, options };
    if error.remedy() == Remedy::LeaveOutHeader {
        return argument.after_header(error);
    }
    let guesses =
        [Argument::fingerprint, Argument::shell, Argument::delimited, Argument::address, Argument::list];
    let guess = option(text).or_else(|| guesses.iter().find_map(|guess| guess(&argument)));
    if guess.is_some() || options.kind == Kind::Regex {
        return guess;
    }
    file_name(text).or_else(|| (error.remedy() == Remedy::MakeRegex).then(|| argument.expression())?)
}

/// An argument that is not a pattern.
struct Argument<'a> {
    text: &'a str,
    options: MatchOptions,
}

impl Argument<'_> {
    fn is(&self, text: &str, kind: Kind) -> bool {
        Pattern::new(text, MatchOptions { kind, ..self.options }).is_ok()
    }

    /// Returns whether the same options search for this text.
    fn is_pattern(&self, text: &str) -> bool {
        self.is(text, self.options.kind)
    }

    /// Guesses the text after the fixed beginning of all keys.
    fn after_header(&self, error: &PatternError) -> Option<String> {
        let rest: String = self.text.chars().skip(error.at().end).collect();
        let rest = rest.split_whitespace().next()?;
        let is_part = rest.len() < wire::BODY_LEN && self.is_pattern(rest);
        is_part.then(|| format!("{}: `{rest}`", advice(error, Origin::Options, self.text, self.options)))
    }

    fn fingerprint(&self) -> Option<String> {
        let (header, rest) = self.text.split_at_checked(wire::FINGERPRINT_HEADER.len())?;
        if !header.eq_ignore_ascii_case(wire::FINGERPRINT_HEADER) {
            return None;
        }
        let options = MatchOptions { target: Target::Fingerprint, kind: Kind::Prefix, ..self.options };
        let rest = if Pattern::new(rest, options).is_ok() { rest } else { "TEXT" };
        Some(format!("--in fingerprint --prefix {rest} searches fingerprints for it"))
    }

    /// Guesses what the shell should have replaced.
    fn shell(&self) -> Option<String> {
        let variable = variable(self.text, self.options.kind != Kind::Regex)?;
        Some(if variable.starts_with('%') {
            format!("only cmd replaces {variable}; write $USER or, in PowerShell, $env:USERNAME")
        } else {
            format!("the shell has not replaced {variable}: it does so without quotes, and in double quotes")
        })
    }

    /// Guesses a pattern in quotes, or between the slashes of other languages.
    fn delimited(&self) -> Option<String> {
        if let Some((open, inner, close)) = quotes(self.text).filter(|(_, inner, _)| self.is_pattern(inner)) {
            return Some(format!("write {} without {open} and {close} around it", shell_argument(inner)));
        }
        let inner = slashes(self.text)?;
        let example = self.is(inner, Kind::Regex).then(|| format!(": --regex {}", shell_argument(inner)));
        Some(format!("an expression has no slashes around it{}", example.unwrap_or_default()))
    }

    fn address(&self) -> Option<String> {
        let (name, host) = self.text.split_once('@')?;
        let is_address = !host.is_empty() && !host.contains('@') && self.is_pattern(name);
        is_address.then(|| format!("an address can be the comment: -C {} {name}", shell_argument(self.text)))
    }

    /// Guesses several patterns in one argument.
    fn list(&self) -> Option<String> {
        let words = self.text.trim_matches(['{', '}', '[', ']', '(', ')']).split([',', ';']);
        let words: Vec<&str> = words.map(str::trim).filter(|word| !word.is_empty()).collect();
        let is_list = self.text.contains([',', ';']) && words.iter().all(|word| self.is_pattern(word));
        let words: Vec<String> = words.into_iter().map(shell_argument).collect();
        (is_list && !words.is_empty())
            .then(|| format!("write several patterns as separate arguments: {}", words.join(" ")))
    }

    /// Guesses an expression, or the signs of the shell for any characters.
    fn expression(&self) -> Option<String> {
        let Self { text, options } = *self;
        let stars = text.replace(".*", "*");
        let word = stars.trim_matches('*');
        if stars.contains('*') && self.is_pattern(word) {
            let (option, at) = match (options.kind, stars.starts_with('*'), stars.ends_with('*')) {
                (Kind::Anywhere, false, true) => ("--prefix", "beginning"),
                (Kind::Anywhere, true, false) => ("--suffix", "end"),
                _ => return Some(format!("write {word} alone: other characters may be beside it")),
            };
            return Some(format!("{word} alone is found anywhere; {option} {word} searches at the {at}"));
        }
        let group = if text.contains('|') { format!("({text})") } else { text.to_owned() };
        let (option, expression) = match options.kind {
            Kind::Prefix => ("--prefix", format!("^{group}")),
            Kind::Suffix => ("--suffix", format!("{group}$")),
            Kind::Word => ("--word", format!("[+/]{group}[+/]")),
            _ => return self.end(word).or_else(|| self.any_characters()),
        };
        let inner = word.trim_start_matches('^').trim_end_matches('$');
        let inner = inner.trim_start_matches("\\b").trim_end_matches("\\b");
        if self.is_pattern(inner) {
            return Some(format!("write {option} {inner}"));
        }
        let expression = self.is(&expression, Kind::Regex).then(|| shell_argument(&expression))?;
        Some(format!("--regex {expression}, in place of {option}, searches for an expression"))
    }

    /// Guesses a text at one of the two ends, or a word.
    fn end(&self, text: &str) -> Option<String> {
        let inner = |start, end| text.strip_prefix(start)?.strip_suffix(end);
        let word = inner("\\b", "\\b").or_else(|| inner("\\<", "\\>"));
        if let Some(word) = word.filter(|word| self.is(word, Kind::Word)) {
            return Some(format!("--word {word} searches between + and /"));
        }
        let (word, rest, kind) = match (text.strip_prefix('^'), text.strip_suffix('$')) {
            (Some(rest), None) => ("prefix", rest, Kind::Prefix),
            (None, Some(rest)) => ("suffix", rest, Kind::Suffix),
            (Some(rest), Some(_)) => {
                let rest = rest.strip_suffix('$').filter(|rest| self.is(rest, Kind::Anywhere))?;
                return Some(format!(
                    "other characters are always beside it: --prefix {rest}, --suffix {rest} or {rest} alone"
                ));
            }
            (None, None) => return None,
        };
        self.is(rest, kind).then(|| format!("--{word} {rest} searches there; or add --regex"))
    }

    fn any_characters(&self) -> Option<String> {
        let expression = self.text.replace('*', ".*").replace('?', ".");
        let is_text = self.is(&self.text.replace(['*', '?'], ""), Kind::Anywhere);
        (is_text && self.is(&expression, Kind::Regex)).then(|| {
            let expression = shell_argument(&expression);
            format!("in a regular expression, `.` is any character: --regex {expression}")
        })
    }
}

/// Returns a note about an argument that is a pattern, if a person probably meant something else.
pub(super) fn note(text: &str, options: MatchOptions) -> Option<Notice> {
    if options.kind == Kind::Regex {
        let inner = shell_argument(slashes(text).filter(|inner| !inner.contains('/'))?);
        return Some(Notice::note(format!(
            "the slashes are searched for, too; without them: --regex {inner}"
        )));
    }
    // It looks like the path of a file. A word between two slashes does not.
    let is_path = text.starts_with('/') && text.matches('/').count() > 1 && !text.ends_with('/');
    let meant = match usage::hint(&["PATTERN", &text.to_ascii_lowercase()]) {
        Some(hint) => hint.to_owned(),
        None if is_path => format!("-o {text} writes the key to that file"),
        None => return None,
    };
    Some(Notice::note(format!("searching for the text {}; {meant}", quoted_start(text))))
}

/// Returns `true` for a hyphen, and for the dashes that word processors make of it.
fn is_dash(char: char) -> bool {
    matches!(char, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// Returns a hint about a word that looks like an option.
fn option(text: &str) -> Option<String> {
    if ["?", "/?"].contains(&text) {
        return Some("--help lists all options; -h prints a short list".to_owned());
    }
    let name = text.trim_start_matches(is_dash);
    let hyphens = text.strip_suffix(name)?;
    let long = name.split('=').next().filter(|long| long.len() > 1);
    let is_long = long.is_some_and(|long| usage::option(&format!("--{long}")).is_some());
    if is_long && hyphens != "-" && hyphens != "--" && (!hyphens.is_empty() || text.contains('=')) {
        return Some(format!("an option begins with two hyphens: --{name}"));
    }
    let is_right = is_long && !hyphens.is_empty() || hyphens == "-" && usage::option(text).is_some();
    is_right.then(|| "an option goes before --".to_owned())
}

/// Returns the first part of `text` that a shell would have replaced: a variable or a command. In an
/// expression, `$b` is more probably its end and a letter.
fn variable(text: &str, is_literal: bool) -> Option<&str> {
    let inner = |sign: char| text.strip_prefix(sign)?.strip_suffix(sign);
    if inner('%').is_some_and(is_variable_name) || inner('`').is_some() {
        return Some(text);
    }
    let at = text.find('$')?;
    let rest = &text[at + 1..];
    let is_other = |char: char| char != '_' && !char.is_ascii_alphanumeric();
    let end = match rest.chars().next()? {
        '0'..='9' | 'a'..='z' | '@' | '#' if !is_literal => return None,
        '{' => rest.find('}')? + 1,
        '(' => rest.find(')')? + 1,
        '0'..='9' | '@' | '#' => 1,
        first if is_other(first) => return None,
        _ => rest.find(is_other).unwrap_or(rest.len()),
    };
    Some(&text[at..=at + end])
}

/// Returns the text between two quotes, or between the signs of a placeholder, and these signs.
fn quotes(text: &str) -> Option<(char, &str, char)> {
    const PAIRS: [&str; 9] =
        ["''", "\"\"", "``", "<>", "{}", "()", "\u{2018}\u{2019}", "\u{201c}\u{201d}", "\u{ab}\u{bb}"];
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
    let starts = |starts: &str| starts.split(' ').any(|start| text.starts_with(start));
    let ends = |ends: &str| ends.split(' ').any(|end| text.len() > end.len() && text.ends_with(end));
    if text.starts_with("*.") {
        let problem = format!("the shell has found no such files: {text}");
        return Some(format!("{problem}; -f FILE reads patterns from a file"));
    }
    if ends(".txt .lst .list .csv .words .dic") {
        return Some(format!("-f {} reads patterns from that file", shell_argument(text)));
    }
    if !starts("id_ ./ ../ ~/ .\\") && !ends(".pem .ppk .key .pub") && !text.contains(":\\") {
        return None;
    }
    let private = text.strip_suffix(".pub").unwrap_or(text);
    // In quotes, the shell would not replace it.
    let (home, name) = private.strip_prefix("~/").map_or(("", private), |name| ("~/", name));
    Some(format!("-o {home}{} writes the key to that file", shell_argument(name)))
}

/// Returns a hint about the last of several arguments, if it could be the name of a file.
pub(super) fn name(text: &str) -> Option<String> {
    let is_name = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    (is_name && text.starts_with(|char: char| char.is_ascii_alphanumeric()))
        .then(|| format!("if it is the name of a file: -o {text}"))
}
