//! Diagnostics about the command line as clap reads it: about values, and about options that do not
//! exist, exclude each other or need another one.

use std::error::Error as _;
use std::ffi::OsString;

use crate::escape::{escaped, escaped_os, shell_argument};
use crate::plan::Diagnostic;
use crate::words::listed;
use clap::Arg;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::args::{self, ABOUT_PATTERNS};
use super::option_values;

/// What to do, by the words of a command line.
const HINTS: &str = include_str!("hints.txt");

/// Returns what to do if these words come together.
pub(super) fn hint(words: &[&str]) -> Option<&'static str> {
    let has_all = |known: &str| words.iter().all(|word| known.split(' ').any(|known| known == *word));
    let lines = HINTS.lines().filter(|line| !line.starts_with('#'));
    let mut lines = lines.filter_map(|line| line.split_once(": "));
    lines.find(|(known, _)| has_all(known)).map(|(_, hint)| hint)
}

/// Returns the diagnostic about two options, perhaps with values, that exclude each other.
pub(super) fn excluded(one: &str, other: &str) -> Diagnostic {
    let words = [one, other].map(|option| option.replace(' ', "="));
    let any = |word| hint(&[word, "OTHERS"]);
    let known = hint(&[&words[0], &words[1]]).or_else(|| any(&words[0])).or_else(|| any(&words[1]));
    Diagnostic::new(format!("{one} cannot be used with {other}"))
        .hint(known.unwrap_or("leave one of them out"))
}

/// Returns the option of this name, such as `--output` or `-o`.
pub(super) fn option(name: &str) -> Option<Arg> {
    let (long, short) = (name.strip_prefix("--"), name.strip_prefix('-'));
    let is_it = |option: &&Arg| {
        long.is_some() && option.get_long() == long
            || short.is_some() && option.get_short().map(String::from).as_deref() == short
    };
    args::command().get_opts().find(is_it).cloned()
}

/// Returns the diagnostic about clap's `error`. clap does not escape what was typed, and its words
/// are not always right.
pub(super) fn diagnostic(error: &clap::Error, typed: &[OsString]) -> Diagnostic {
    let said = Said(error);
    let known = match error.kind() {
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => said.wrong_value(),
        ErrorKind::InvalidUtf8 => not_text(typed),
        ErrorKind::TooManyValues => said.value_of_none(),
        ErrorKind::UnknownArgument => said.unknown_option(typed),
        ErrorKind::ArgumentConflict => said.conflict(),
        ErrorKind::MissingRequiredArgument => said.needs_another(typed),
        _ => None,
    };
    known.unwrap_or_else(|| {
        let said = error.render().to_string();
        let problem = said.lines().next().unwrap_or_default();
        Diagnostic::new(problem.trim_start_matches("error: ")).hint("--help lists all options")
    })
}

/// Refuses what clap would read in another way: a word after `--passphrase`, `=` as a word, which it would take
/// for the value, and a long option with one hyphen, which it would take for `-o ut`.
pub(super) fn check_words(typed: &[OsString]) -> Result<(), Diagnostic> {
    let words = typed.iter().take_while(|word| *word != "--").map(|word| word.to_string_lossy());
    let words: Vec<_> = words.collect();
    let pairs = || words.iter().zip(words.iter().skip(1));
    // It may be a passphrase, and as a pattern it would be in names of files and in the ledger. So no diagnostic
    // repeats it.
    if pairs().any(|(before, word)| before == "--passphrase" && !word.starts_with('-')) {
        return Err(Diagnostic::new("--passphrase takes no value: it asks for the passphrase")
            .hint("if the word after it is a pattern, put it before --passphrase, or after --"));
    }
    for (before, word) in pairs() {
        if word == "="
            && let Some(option) = option(before).filter(|option| option.get_action().takes_values())
            && let Some([value, ..]) = option.get_value_names()
        {
            let problem = format!("there is a space between {before} and =");
            return Err(Diagnostic::new(problem).hint(format!("write {before} {value}")));
        }
        let name = word.split('=').next().unwrap_or_default();
        // The texts of these can begin with a hyphen.
        let is_text = ["-C", "--comment", "--exec"].contains(&&**before);
        // `-in 5` is `-i -n 5`, and `-help` is `-h`.
        let is_short = match name {
            "-in" => !words.contains(&"fingerprint".into()),
            "-help" => true,
            _ => name.len() < "-abc".len() || name.starts_with("--") || !name.starts_with('-'),
        };
        let hint = if is_text || is_short { None } else { two_hyphens(&format!("-{name}")) };
        if let Some(hint) = hint {
            return Err(Diagnostic::new(format!("there is no option {name}")).hint(hint));
        }
    }
    Ok(())
}

/// Returns a hint about an option that was typed with one hyphen, if it is one with two.
fn two_hyphens(long: &str) -> Option<String> {
    option(long).map(|_| format!("write {long}")).or_else(|| hint(&[long]).map(str::to_owned))
}

fn not_text(typed: &[OsString]) -> Option<Diagnostic> {
    let word = typed.iter().find(|word| word.to_str().is_none())?;
    Some(Diagnostic::new(format!("'{}' is not UTF-8 text", escaped_os(word))))
}

/// Returns the diagnostic about a value of an option that takes none.
fn no_value(name: &str, value: &str) -> Diagnostic {
    let is_about_patterns =
        || option(name).is_some_and(|option| option.get_help_heading() == Some(ABOUT_PATTERNS));
    let word = if value.is_empty() { "true" } else { &value.to_ascii_lowercase() };
    let known = hint(&["VALUE", word]).or_else(|| hint(&["VALUE", name]));
    let hint = match (name, known) {
        (_, Some(known)) => known.replace("OPTION", name),
        ("--estimate", _) if option_values::duration(value).is_ok() => {
            format!("write --estimate --within {value}")
        }
        _ if name == "--estimate" || is_about_patterns() => {
            format!("write {name} {}: the pattern is a word of its own", shell_argument(value))
        }
        _ => format!("write {name} alone"),
    };
    Diagnostic::new(format!("{name} takes no value")).hint(hint)
}

/// Returns the short option before a value that it does not take, as in `-s=abc`, and the value.
fn short_with_value(typed: &[OsString]) -> Option<(String, String)> {
    let words = typed.iter().take_while(|word| *word != "--").map(|word| word.to_string_lossy());
    words.filter(|word| !word.starts_with("--")).find_map(|word| {
        let (options, value) = word.strip_prefix('-')?.split_once('=')?;
        Some((format!("-{}", options.chars().next_back()?), value.to_owned()))
    })
}

/// What clap says about a command line.
struct Said<'a>(&'a clap::Error);

impl Said<'_> {
    fn texts(&self, kind: ContextKind) -> &[String] {
        match self.0.get(kind) {
            Some(ContextValue::String(text)) => std::slice::from_ref(text),
            Some(ContextValue::Strings(texts)) => texts,
            _ => &[],
        }
    }

    fn text(&self, kind: ContextKind) -> Option<&str> {
        self.texts(kind).first().map(String::as_str)
    }

    /// Returns the name of the option, which clap shows with its value, as in `--output <PATH>`.
    fn option(&self, kind: ContextKind) -> Option<&str> {
        self.text(kind)?.split([' ', '[']).next()
    }

    fn wrong_value(&self) -> Option<Diagnostic> {
        let source = self.0.source();
        if let Some(diagnostic) = source.and_then(|source| source.downcast_ref::<Diagnostic>()) {
            return Some(diagnostic.clone());
        }
        let (option, value) = (self.option(ContextKind::InvalidArg)?, self.text(ContextKind::InvalidValue)?);
        let names = self.texts(ContextKind::ValidValue);
        let one_of = (!names.is_empty()).then(|| listed(names, "or"));
        if value.is_empty() && source.is_none() {
            let usage = self.text(ContextKind::InvalidArg)?.replace(['<', '>'], "");
            let usage = one_of.map_or(usage, |one_of| format!("{option} {one_of}"));
            let problem = format!("the value of {option} is missing or empty");
            return Some(Diagnostic::new(problem).hint(format!("write {usage}")));
        }
        let must = one_of.or_else(|| source.map(ToString::to_string))?;
        let (meant, general) = (hint(&[option, &value.to_ascii_lowercase()]), hint(&[&format!("{option}=")]));
        let same = names.iter().find(|name| name.eq_ignore_ascii_case(value)).map(String::as_str);
        let near = self.text(ContextKind::SuggestedValue).filter(|_| meant.is_none() && general.is_none());
        let nearest = same.or(near).map(|name| format!("the nearest is {name}"));
        let problem = format!("{option} must be {must}, not '{value}'");
        Some(Diagnostic::new(problem).hints(nearest).hints(meant).hints(general))
    }

    fn value_of_none(&self) -> Option<Diagnostic> {
        Some(no_value(self.text(ContextKind::InvalidArg)?, self.text(ContextKind::InvalidValue)?))
    }

    fn unknown_option(&self, typed: &[OsString]) -> Option<Diagnostic> {
        let name = self.text(ContextKind::InvalidArg)?.split('=').next()?;
        if name == "-"
            && let Some((option, value)) = short_with_value(typed)
        {
            return Some(no_value(&option, &value));
        }
        let lower = name.to_ascii_lowercase();
        let near = || self.text(ContextKind::SuggestedArg).filter(|near| is_like(near, name));
        let hint = hint(&[name]).map(str::to_owned);
        let hint = hint.or_else(|| two_hyphens(&lower).filter(|_| name.starts_with("--")));
        let hint = hint.or_else(|| near().map(|near| format!("the nearest is {near}")));
        let hint = hint.unwrap_or_else(|| "--help lists all options".to_owned());
        Some(Diagnostic::new(format!("there is no option {}", escaped(name))).hint(hint))
    }

    fn conflict(&self) -> Option<Diagnostic> {
        let option = self.option(ContextKind::InvalidArg)?;
        let Some(other) = self.option(ContextKind::PriorArg) else {
            let problem = format!("{option} cannot be used with other arguments");
            return Some(Diagnostic::new(problem).hint("leave the others out"));
        };
        Some(excluded(option, other))
    }

    /// clap does not say which option needs the one that is missing. The hints do.
    fn needs_another(&self, typed: &[OsString]) -> Option<Diagnostic> {
        let missing = self.text(ContextKind::InvalidArg)?.replace(['<', '>'], "").replace('|', " or ");
        let needed = missing.split(' ').next()?;
        let names = typed.iter().filter_map(|word| word.to_str()?.split('=').next());
        let known = names.filter_map(|name| Some((name, hint(&["NEEDS", needed, name])?))).next();
        let name = known.map_or("another option", |(name, _)| name);
        Some(Diagnostic::new(format!("{name} needs {missing}")).hints(known.map(|(_, hint)| hint)))
    }
}

/// Returns `true` if a long option looks like what was typed. What clap suggests is often only a guess
/// otherwise, as `--leet` for `--silent`.
fn is_like(option: &str, typed: &str) -> bool {
    let begin = |letters: usize| option.get(..2 + letters).is_some_and(|start| typed.starts_with(start));
    let ends = option.get(option.len() - 2..).is_some_and(|end| typed.ends_with(end));
    begin(3) || begin(1) && (ends || option.len().abs_diff(typed.len()) <= 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hint that nobody can get is wrong, and so is one about an option that is gone.
    #[test]
    fn the_hints_name_what_exists() {
        let mut exist = false;
        for line in HINTS.lines().filter(|line| !line.is_empty()) {
            // The first of two parts is about options that do not exist.
            exist |= line.starts_with("# Values");
            let Some((words, hint)) = line.split_once(": ").filter(|_| !line.starts_with('#')) else {
                continue;
            };
            assert!(!hint.is_empty(), "{line}");
            for word in words.split(' ').filter(|word| word.starts_with('-')) {
                let name = word.split('=').next().unwrap();
                assert_eq!(option(name).is_some(), exist, "{word}");
            }
            assert_eq!(super::hint(&words.split(' ').collect::<Vec<_>>()), Some(hint), "{line}");
        }
        assert!(exist);
    }
}
