//! Patterns in the words of the command line: hints about those that cannot be searched for, and
//! the options that search for one.

use crate::pattern::{
    KINDS, Kind, MatchOptions, Pattern, PatternError, Reason, Remedy, last_characters, nearest,
};
use crate::wire::{self, Target};

use super::option_values::{TARGETS, name_of};
use super::usage::hint;
use crate::words::listed;

/// Where a pattern comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Argument,
    /// A line of a file.
    Line,
    /// A line of a file that names its kind itself.
    LineWithKind,
}

/// Returns the nearest texts to `text` that can be searched for, as a hint. `None` if there are
/// none.
pub(super) fn spellings(text: &str, options: MatchOptions) -> Option<String> {
    let spellings: Vec<String> = nearest(text, options).iter().map(|text| format!("`{text}`")).collect();
    let listed = listed(&spellings, "and");
    match spellings.len() {
        0 => None,
        1 => Some(format!("the nearest spelling is {listed}")),
        _ => Some(format!("the nearest spellings are {listed}")),
    }
}

/// Returns what to do about `error`, which is about `text`.
pub(super) fn advice(error: &PatternError, origin: Origin, text: &str, options: MatchOptions) -> String {
    let is_pattern = |text: &str, kind| Pattern::new(text, MatchOptions { kind, ..options }).is_ok();
    let mut chars = text.chars().skip(error.at().start);
    let remedy = match (error.remedy(), error.reason()) {
        (Remedy::MakeRegex, _) if !is_pattern(text, Kind::Regex) => "UseAlphabet".to_owned(),
        (Remedy::UseAlphabet, _) if origin == Origin::Line && chars.next() == Some(':') => {
            "NameKind".to_owned()
        }
        (Remedy::FitLength, Reason::TooLong { most, .. }) if *most < wire::BODY_LEN => "FitWord".to_owned(),
        (remedy, _) => format!("{remedy:?}"),
    };
    let origin = if origin == Origin::Argument { "OPTION" } else { "LINE" };
    let hint = hint(&["REMEDY", name_of(TARGETS, error.target()), origin, &remedy]).unwrap_or_default();
    let rest: String = text.chars().skip(error.at().end).collect();
    match rest.split_whitespace().next() {
        Some(rest) if *error.reason() == Reason::Header && is_pattern(rest, options.kind) => {
            format!("{hint}: `{rest}`")
        }
        _ => hint.replace("LAST", &last_characters()),
    }
}

/// Returns the options and the text that search for a pattern.
pub(super) fn arguments(pattern: &Pattern) -> Vec<String> {
    let MatchOptions { kind, case_sensitive, leet, target } = pattern.options();
    let mut words: Vec<String> = Vec::new();
    if target == Target::Fingerprint {
        words.extend(["--in", "fingerprint"].map(str::to_owned));
    }
    words.extend((kind != Kind::Anywhere).then(|| format!("--{}", name_of(&KINDS, kind))));
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
    fn every_remedy_has_its_hint() {
        use Remedy::*;
        let remedies = [
            GiveText,
            LeaveOutPadding,
            WritePlusAndSlash,
            SplitAtBlanks,
            MakeRegex,
            UseAlphabet,
            LeaveOutHeader,
            FitLength,
            ChangeFirstOrMove,
            ChangeFirst,
            ChangeLastOrMove,
            MakeLiteral,
            CorrectSyntax,
            ResolveContradiction,
            Simplify,
        ];
        for remedy in remedies.map(|remedy| format!("{remedy:?}")).iter().chain([&"FitWord".to_owned()]) {
            for (target, origin) in
                [("key", "LINE"), ("key", "OPTION"), ("fingerprint", "LINE"), ("fingerprint", "OPTION")]
            {
                assert!(hint(&["REMEDY", target, origin, remedy]).is_some(), "{remedy} {target} {origin}");
            }
        }
    }

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
