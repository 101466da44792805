//! Patterns in the words of the command line: hints about those that cannot be searched for, and
//! the options that search for one.

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

/// Returns what to do about `error`, which is about `text`.
pub(super) fn advice(error: &PatternError, origin: Origin, text: &str, options: MatchOptions) -> String {
    let searched = error.searched();
    let is_expression = Pattern::new(text, MatchOptions { kind: Kind::Regex, ..options }).is_ok();
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
        (Remedy::MakeRegex, _) if is_expression => format!("{make_regex} to search for a regular expression"),
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
        (Remedy::MakeRegex | Remedy::UseAlphabet, _) => {
            format!("{searched} is made of A-Z, a-z, 0-9, `+` and `/`")
        }
    }
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
