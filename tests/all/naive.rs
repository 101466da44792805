//! The matcher finds what a naive search of the text finds, for random keys and generated patterns
//! of all kinds.
//!
//! `VANITY_KEYS` sets how many keys are tried with each list.

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use regex::bytes::{Regex, RegexBuilder};
use vanity_search::pattern::{Kind, MatchOptions, Matcher, Pattern, PatternId};
use vanity_search::wire::{self, Target};

/// The number of patterns in a list.
const PATTERNS: usize = 500;

/// The number of keys that are matched together.
const BATCH: usize = 250;

/// The number of keys, unless `VANITY_KEYS` sets it.
const KEYS: usize = 1000;

/// A pattern that is searched for in strings, without the matcher.
pub enum Naive {
    /// For each character of the pattern, the bytes that it matches.
    Text(Vec<[bool; 256]>, Kind),
    Regex(Regex),
}

impl Naive {
    pub fn new(pattern: &Pattern) -> Self {
        let options = pattern.options();
        if options.kind != Kind::Regex {
            let reads = |typed: u8| std::array::from_fn(|seen| reads_as(typed, seen as u8, options));
            return Self::Text(pattern.text().bytes().map(reads).collect(), options.kind);
        }
        let mut regex = RegexBuilder::new(pattern.text());
        // Large automata are allowed, because they are the fastest.
        regex.unicode(false).case_insensitive(!options.case_sensitive).dfa_size_limit(4 << 20);
        Self::Regex(regex.build().unwrap())
    }

    pub fn is_in(&self, body: &[u8]) -> bool {
        let (text, kind) = match self {
            Self::Regex(regex) => return regex.is_match(body),
            Self::Text(text, kind) => (text, kind),
        };
        let delimiter =
            |at: Option<usize>| at.and_then(|at| body.get(at)).is_some_and(|byte| b"+/".contains(byte));
        (0..=body.len() - text.len()).any(|at| {
            let end = at + text.len();
            let stands = || match kind {
                Kind::Prefix => at == 0,
                Kind::Suffix => end == body.len(),
                Kind::Word => delimiter(at.checked_sub(1)) && delimiter(Some(end)),
                _ => true,
            };
            text.iter().zip(&body[at..end]).all(|(reads, seen)| reads[usize::from(*seen)]) && stands()
        })
    }
}

fn reads_as(typed: u8, seen: u8, options: MatchOptions) -> bool {
    let digits = ["a4", "b8", "e3", "g9", "i1", "l1", "o0", "s5", "t7", "z2"];
    let leet = || digits.iter().any(|pair| pair.as_bytes() == [typed.to_ascii_lowercase(), seen]);
    typed == seen || !options.case_sensitive && typed.eq_ignore_ascii_case(&seen) || options.leet && leet()
}

/// Returns patterns that one random key in some hundred to some million matches.
fn patterns(random: &mut ChaCha20Rng, target: Target) -> Vec<Pattern> {
    let mut below = |end: usize| random.next_u32() as usize % end;
    let mut patterns = Vec::new();
    while patterns.len() < PATTERNS {
        let kinds = [Kind::Anywhere, Kind::Prefix, Kind::Suffix, Kind::Word, Kind::Regex];
        let kind = kinds[below(kinds.len())];
        let mut symbols =
            |count: usize| -> String { (0..count).map(|_| char::from(wire::ALPHABET[below(64)])).collect() };
        let (one, two, three) = (symbols(1), symbols(2), symbols(3));
        let text = match (kind, below(8)) {
            (Kind::Regex, 0) => format!("^[A-P]{three}"),
            (Kind::Regex, 1) => format!("{two}.{{2}}{one}"),
            (Kind::Regex, 2) => format!("{one}.*[0-9]{{2}}.*{two}"),
            (Kind::Regex, 3) => format!("({two}|{three})[x-z]"),
            (Kind::Regex, 4) => format!("[a-m]{{3}}{one}[A-Q048]$"),
            (Kind::Regex, 5) => format!("^.{{7}}{three}"),
            (Kind::Regex, 6) => format!("{two}?{one}{{3}}"),
            (Kind::Regex, _) => format!("({three}|^A{one}|{two}[AQg0w]$)"),
            (_, 0) => two,
            (_, 1..4) => three,
            (_, 4..6) => three + &one,
            _ => three + &two + &one,
        };
        let text = if kind == Kind::Regex { text.replace('+', "[+]") } else { text };
        let (case_sensitive, leet) = (below(2) == 0, kind != Kind::Regex && below(4) == 0);
        patterns.extend(Pattern::new(&text, MatchOptions { kind, case_sensitive, leet, target }));
    }
    patterns
}

fn compare(target: Target, seed: u8) {
    let keys = std::env::var("VANITY_KEYS").map_or(KEYS, |keys| keys.parse().unwrap());
    let patterns = patterns(&mut ChaCha20Rng::from_seed([seed; 32]), target);
    let naive: Vec<Naive> = patterns.iter().map(Naive::new).collect();
    let matcher = Matcher::new(&patterns);
    // Each sign of a key counts as a key.
    let signs = if target == Target::Key { 2 } else { 1 };
    let batches = keys.div_ceil(signs * BATCH);
    let keys = batches * signs * BATCH;
    let matches: u64 = (0..batches)
        .into_par_iter()
        .map(|number| {
            let mut random = ChaCha20Rng::from_seed([0x80 | seed; 32]);
            random.set_stream(number as u64);
            let mut batch = vec![[0; wire::KEY_LEN]; BATCH];
            random.fill_bytes(batch.as_flattened_mut());
            if target == Target::Key {
                batch.iter_mut().for_each(|key| *key = wire::without_sign(*key));
            }
            let mut matches = 0;
            let mut expected = Vec::new();
            for (place, bytes) in batch.iter().enumerate() {
                let either = [*bytes, wire::with_sign(*bytes)];
                let mut any = false;
                for bytes in &either[..signs] {
                    let body = target.body(bytes);
                    let shown: Vec<PatternId> = (0..PATTERNS).filter(|&id| naive[id].is_in(&body)).collect();
                    assert_eq!(matcher.find(bytes), shown, "{}", String::from_utf8_lossy(&body));
                    assert_eq!(matcher.is_match(bytes), !shown.is_empty());
                    any |= !shown.is_empty();
                    matches += shown.len() as u64;
                }
                if any {
                    expected.push(place);
                }
            }
            assert!(matcher.candidates(&batch) == expected, "batch {number}");
            matches
        })
        .sum();
    println!("{keys} keys x {PATTERNS} patterns of {target:?}: {matches} matches, no difference");
    let mean: f64 = patterns.iter().map(|pattern| pattern.odds().probability()).sum();
    let expected = mean * keys as f64;
    assert!((matches as f64 / expected - 1.0).abs() < 10.0 / expected.sqrt() + 0.01, "{expected} expected");
}

#[test]
fn the_matcher_finds_in_keys_what_a_naive_search_finds() {
    compare(Target::Key, 1);
}

#[test]
fn the_matcher_finds_in_fingerprints_what_a_naive_search_finds() {
    compare(Target::Fingerprint, 2);
}
