//! The words of the command line that search for a suggested pattern.

use crate::pattern::{KINDS, Kind, Pattern, Style};
use crate::wire::Target;

/// Returns the options and the text that search for a pattern.
pub(super) fn arguments(pattern: &Pattern) -> Vec<String> {
    let Style { kind, case_sensitive, leet, target } = pattern.style();
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
        let words = |text, style| arguments(&Pattern::new(text, style).unwrap()).join(" ");
        let plain = Style::default();
        assert_eq!(words("ab", plain), "ab");
        let regex = Style { kind: Kind::Regex, target: Target::Fingerprint, leet: true, ..plain };
        assert_eq!(words("^a.*b", regex), "--in fingerprint --regex ^a.*b");
        assert_eq!(words("-?ab", regex), "--in fingerprint --regex -- -?ab");
        let prefix = Style { kind: Kind::Prefix, case_sensitive: true, leet: true, ..plain };
        assert_eq!(words("Ab", prefix), "--prefix -s --leet Ab");
    }
}
