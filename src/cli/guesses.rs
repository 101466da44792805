//! Guesses what a person meant by an argument: a file, an option, a variable of the shell, several
//! patterns, an expression. `guesses.txt` has the shapes of such arguments, and the hints.

use regex_automata::nfa::thompson::pikevm::PikeVM;

use super::option_values::{by_name, name_of};
use super::usage;
use crate::escape::shell_argument;
use crate::notice::Notice;
use crate::pattern::{KINDS, Kind, MatchOptions, Pattern};
use crate::wire::Target;

/// A row of `guesses.txt`.
struct Guess {
    cases: &'static str,
    shape: &'static str,
    /// What another text must be, and this text.
    must: Option<(&'static str, &'static str)>,
    hint: &'static str,
}

/// Returns all rows, in their order.
fn guesses() -> impl Iterator<Item = Guess> {
    include_str!("guesses.txt").split("\n\n").filter_map(|row| {
        let lines: Vec<&str> = row.lines().filter(|line| !line.starts_with('#')).collect();
        let (&first, &hint) = (lines.first()?, lines.last()?);
        let (cases, shape) = first.rsplit_once(' ')?;
        let must = if lines.len() > 2 { lines[1].split_once(' ') } else { None };
        Some(Guess { cases, shape, must, hint })
    })
}

impl Guess {
    fn hint(&self, text: &str, options: MatchOptions) -> Option<String> {
        let shape = PikeVM::new(self.shape).expect("a test compiles every shape");
        let mut found = shape.create_captures();
        shape.captures(&mut shape.create_cache(), text, &mut found);
        found.get_match()?;
        let filled = |with: &str| found.interpolate_string(text, with);
        let words = match self.must {
            Some((must, other)) => words(must, &filled(other), options)?,
            None => String::new(),
        };
        let hint = self.hint.replace("OPTION", &format!("--{}", name_of(&KINDS, options.kind)));
        Some(hint.split("{}").map(filled).collect::<Vec<_>>().join(&words))
    }
}

/// Returns what a person probably meant by an argument that is not a pattern, as a hint.
pub(super) fn meant(text: &str, options: MatchOptions) -> Option<String> {
    let class = if options.kind == Kind::Regex { "all" } else { "literal" };
    first(&[name_of(&KINDS, options.kind), class, "all"], text, options)
}

/// Returns a note about an argument that is a pattern, if a person probably meant something else.
pub(super) fn note(text: &str, options: MatchOptions) -> Option<Notice> {
    let case = if options.kind == Kind::Regex { "regex-pattern" } else { "literal-pattern" };
    first(&[case], text, options).map(Notice::note)
}

/// Returns a hint about the last of several arguments, if it could be the name of a file.
pub(super) fn file_name(text: &str, options: MatchOptions) -> Option<String> {
    first(&["last"], text, options)
}

fn first(cases: &[&str], text: &str, options: MatchOptions) -> Option<String> {
    // No path is longer, and a long text would take long.
    if text.len() > 4096 {
        return None;
    }
    let mut guesses = guesses().filter(|guess| guess.cases.split(' ').any(|case| cases.contains(&case)));
    guesses.find_map(|guess| guess.hint(text, options))
}

/// Returns a text as words for a shell, if it is what it must be.
fn words(must: &str, text: &str, options: MatchOptions) -> Option<String> {
    let is = |text: &str, kind, target| Pattern::new(text, MatchOptions { kind, target, ..options }).is_ok();
    let fits = match must {
        "any" => true,
        "option" => usage::option(text).is_some(),
        "same" => is(text, options.kind, options.target),
        "start" => options.target == Target::Key && matches!(options.kind, Kind::Anywhere | Kind::Prefix),
        "fingerprint" => is(text, Kind::Prefix, Target::Fingerprint),
        "glob" => return words("regex", &text.replace('*', ".*").replace('?', "."), options),
        "list" => {
            let texts = text.trim_matches(['{', '}', '[', ']', '(', ')']).split([',', ';']).map(str::trim);
            let words = texts.filter(|text| !text.is_empty()).map(|text| words("same", text, options));
            return words
                .collect::<Option<Vec<_>>>()
                .filter(|words| !words.is_empty())
                .map(|words| words.join(" "));
        }
        kind => by_name(&KINDS, kind).is_some_and(|kind| is(text, kind, options.target)),
    };
    fits.then(|| shell_argument(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_complete() {
        let text = include_str!("guesses.txt");
        let rows = text.split("\n\n").filter(|row| row.lines().any(|line| !line.starts_with('#')));
        assert_eq!(guesses().count(), rows.count());
        for Guess { cases, shape, hint, .. } in guesses() {
            assert!(PikeVM::new(shape).is_ok(), "{shape}");
            assert!(!cases.is_empty() && hint.len() > 10, "{shape}");
        }
    }
}
