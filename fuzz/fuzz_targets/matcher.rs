//! A matcher finds what plain comparison finds, and nothing else, for any list.
//!
//! The texts have few different symbols, so that they match, overlap, and differ only in case or in a
//! digit. Long lists are drawn at random and compiled once; the longest use every filter. An input
//! chooses the list and the values to search in. Short lists are part of the input.

#![no_main]

mod options;

use std::cell::RefCell;
use std::collections::HashMap;

use arbitrary::Arbitrary;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use libfuzzer_sys::fuzz_target;
use options::{MatchOptions, target};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use vanity_search::pattern::{self, KINDS, Kind, Matcher, Pattern, PatternId};
use vanity_search::wire::{self, ALPHABET, BODY_LEN, Body, Bytes, Target};

/// The most patterns, expressions, parts of an expression and values of an input.
const PATTERNS: usize = 8;
const EXPRESSIONS: usize = 2;
const PARTS: usize = 6;
const VALUES: usize = 16;

/// The most bytes of a compiled expression of an input. A larger one takes milliseconds for each
/// matcher.
const SMALL: usize = 64 << 10;

/// The most compiled expressions that are kept.
const REMEMBERED: usize = 2000;

/// The lengths of the long lists, and the number of these lists. A list of 5000 patterns uses other
/// filters.
const LENGTHS: [usize; 6] = [12, 32, 100, 400, 1200, 5000];
const LISTS: u8 = 24;

/// The most expressions of a long list, and their parts.
const MANY_EXPRESSIONS: usize = 8;
const MANY_PARTS: usize = 12;

/// The most plain comparisons of a long list with literals, before the last value. The comparison
/// with an expression takes as long as [`AN_EXPRESSION`] of them.
const COMPARISONS: usize = 5000;
const AN_EXPRESSION: usize = 40;

/// Base64 without padding. Decoding drops bits beyond the last byte.
const BASE64: GeneralPurpose = GeneralPurpose::new(&STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));

const FEW_SYMBOLS: &[u8] = b"AaBbIiLl14+/08Pw";

/// Parts of expressions, each with a text that it may match by itself.
const EXPRESSION: [(&str, &str); 36] = [
    ("A", "A"),
    ("a", "A"),
    ("B", "b"),
    ("i", "i"),
    ("l", "L"),
    ("1", "1"),
    ("4", "4"),
    ("[+]", "+"),
    ("/", "/"),
    ("P", "p"),
    (".", "w"),
    ("[A-P]", "I"),
    ("[^a]", "P"),
    ("[a-m0-9]", "8"),
    ("x?", "x"),
    ("*", ""),
    ("+", ""),
    ("?", ""),
    ("{2}", ""),
    ("{1,3}", ""),
    ("+?", ""),
    ("(", ""),
    ("(?:", ""),
    ("|", ""),
    (")", ""),
    ("^", ""),
    ("$", ""),
    (r"\b", "+"),
    (r"\B", ""),
    ("(?m)", ""),
    ("(?i)", ""),
    (".*", "0"),
    ("(?iu)", ""),
    ("k", "K"),
    (r"\A", ""),
    (r"\z", ""),
];

#[derive(Arbitrary, Debug)]
struct Input {
    fingerprint: bool,
    /// The number of a long list. For a number above the last list's, the list is `typed`.
    list: u8,
    typed: Vec<(MatchOptions, Vec<u8>)>,
    seed: u64,
    random_values: u8,
    values: Vec<Value>,
}

/// A value to search in.
#[derive(Arbitrary, Debug)]
enum Value {
    Bytes(Bytes),
    Body([u8; BODY_LEN]),
    /// The text of a pattern, or the texts of an expression's parts, with other symbols before and
    /// after. The place is anywhere, or near the end.
    Showing {
        pattern: u16,
        at: u8,
        from_end: bool,
        before: u8,
        after: u8,
    },
}

fuzz_target!(|input: Input| {
    let target = target(input.fingerprint);
    if input.list < LISTS {
        LONG_LISTS.with_borrow_mut(|lists| {
            let list = lists.entry((input.list, target)).or_insert_with(|| LongList::new(input.list, target));
            let expressions =
                list.patterns.iter().filter(|pattern| pattern.options().kind == Kind::Regex).count();
            let most = COMPARISONS / (list.patterns.len() + AN_EXPRESSION * expressions);
            compare(&list.matcher, list.patterns, &list.texts, &input, VALUES.min(1 + most));
        });
    } else {
        let (patterns, texts): (Vec<_>, Vec<_>) = typed(&input, target).into_iter().unzip();
        compare(&Matcher::new(&patterns), &patterns, &texts, &input, VALUES);
    }
});

thread_local! {
    static LONG_LISTS: RefCell<HashMap<(u8, Target), LongList>> = RefCell::default();
    static COMPILED: RefCell<HashMap<(String, pattern::MatchOptions), Option<Pattern>>> = RefCell::default();
}

/// A list that is compiled once in a process.
struct LongList {
    patterns: &'static [Pattern],
    texts: Vec<String>,
    matcher: Matcher<'static>,
}

impl LongList {
    /// Draws the list of this number.
    fn new(number: u8, target: Target) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(number.into());
        let length = LENGTHS[usize::from(number) % LENGTHS.len()];
        let symbols = if number % 2 == 0 { ALPHABET } else { FEW_SYMBOLS };
        // In a third of the lists, all patterns have the same options.
        let (_, kind) = KINDS[usize::from(number / 3) % (KINDS.len() - 1)];
        let options =
            pattern::MatchOptions { kind, case_sensitive: number % 4 == 0, leet: number % 5 == 0, target };
        let same = (number % 3 == 0).then_some(options);
        let (mut patterns, mut texts) = (Vec::new(), Vec::new());
        let mut expressions = 0;
        for _ in 0..length {
            let mut bytes = [0; 12];
            random.fill_bytes(&mut bytes);
            let [kind, flags, len, text @ ..] = &bytes;
            let (_, kind) = KINDS[usize::from(*kind) % KINDS.len()];
            let options =
                pattern::MatchOptions { kind, case_sensitive: flags & 3 == 0, leet: flags & 12 == 0, target };
            let options = same.unwrap_or(options);
            expressions += usize::from(options.kind == Kind::Regex);
            if options.kind == Kind::Regex && expressions > MANY_EXPRESSIONS {
                continue;
            }
            let (text, shown) =
                spelled(options.kind, &text[..1 + usize::from(*len) % text.len()], symbols, MANY_PARTS);
            if let Ok(pattern) = Pattern::new(&text, options) {
                patterns.push(pattern);
                texts.push(shown);
            }
        }
        let patterns: &'static [Pattern] = patterns.leak();
        Self { patterns, texts, matcher: Matcher::new(patterns) }
    }
}

/// Compares what the matcher finds in the values of the input with what plain comparison finds. Uses
/// the first `most` values.
fn compare(matcher: &Matcher, patterns: &[Pattern], texts: &[String], input: &Input, most: usize) {
    let target = target(input.fingerprint);
    let mut values: Vec<Bytes> =
        input.values.iter().filter_map(|value| bytes(value, patterns, texts, target)).collect();
    let mut random = ChaCha8Rng::seed_from_u64(input.seed);
    values.resize_with(values.len() + usize::from(input.random_values % 4), || {
        let mut bytes = Bytes::default();
        random.fill_bytes(&mut bytes);
        bytes
    });
    values.truncate(most);
    if target == Target::Key {
        values.iter_mut().for_each(|key| *key = wire::without_sign(*key));
    }

    let mut expected = Vec::new();
    for (place, value) in values.iter().enumerate() {
        let mut shown = check(matcher, patterns, value);
        if target == Target::Key {
            shown |= check(matcher, patterns, &wire::with_sign(*value));
        }
        if shown {
            expected.push(place);
        }
    }
    assert_eq!(matcher.candidates(&values), expected);
}

/// Returns whether any pattern matches. Checks that the matcher finds the same patterns as plain
/// comparison with the base64 text.
fn check(matcher: &Matcher, patterns: &[Pattern], value: &Bytes) -> bool {
    let text = match matcher.target() {
        Target::Key => BASE64.encode(wire::blob(value)),
        Target::Fingerprint => BASE64.encode(value),
    };
    let body: &Body = text.as_bytes().last_chunk().expect("43 characters");
    assert_eq!(matcher.target().body(value), *body);
    let plain: Vec<PatternId> = (0..patterns.len()).filter(|id| patterns[*id].find(body).is_some()).collect();
    assert_eq!(matcher.find(value), plain);
    assert_eq!(matcher.is_match(value), !plain.is_empty());
    !plain.is_empty()
}

/// Returns the typed patterns that are valid, each with a text that may match it.
fn typed(input: &Input, target: Target) -> Vec<(Pattern, String)> {
    let mut expressions = 0;
    let pattern = |(options, bytes): &(MatchOptions, Vec<u8>)| {
        let options = options.about(target);
        let (text, shown) = spelled(options.kind, bytes, FEW_SYMBOLS, PARTS);
        if options.kind != Kind::Regex {
            return Some((Pattern::new(&text, options).ok()?, shown));
        }
        expressions += 1;
        Some(((expressions <= EXPRESSIONS).then(|| expression(text, options))??, shown))
    };
    input.typed.iter().take(PATTERNS).filter_map(pattern).collect()
}

/// Returns the text of a pattern made from bytes, and a text that may match it.
fn spelled(kind: Kind, bytes: &[u8], symbols: &[u8], parts: usize) -> (String, String) {
    if kind == Kind::Regex {
        let part = |byte: &u8| EXPRESSION[usize::from(*byte) % EXPRESSION.len()];
        return bytes.iter().take(parts).map(part).unzip();
    }
    let text: String = bytes
        .iter()
        .take(BODY_LEN)
        .map(|byte| char::from(symbols[usize::from(*byte) % symbols.len()]))
        .collect();
    (text.clone(), text)
}

/// Returns a compiled expression, if it is valid and small. Keeps it for the next call.
fn expression(text: String, options: pattern::MatchOptions) -> Option<Pattern> {
    COMPILED.with_borrow_mut(|compiled| {
        if compiled.len() > REMEMBERED {
            compiled.clear();
        }
        let entry = compiled.entry((text, options));
        entry
            .or_insert_with_key(|(text, options)| {
                Pattern::new(text, *options).ok().filter(|pattern| Matcher::bytes_for(pattern) < SMALL)
            })
            .clone()
    })
}

/// Returns the bytes whose text is `value`.
fn bytes(value: &Value, patterns: &[Pattern], texts: &[String], target: Target) -> Option<Bytes> {
    let body = match value {
        Value::Bytes(bytes) => return Some(*bytes),
        Value::Body(symbols) => symbols.map(|byte| FEW_SYMBOLS[usize::from(byte) % FEW_SYMBOLS.len()]),
        Value::Showing { pattern, at, from_end, before, after } => {
            let id = usize::from(*pattern).checked_rem(patterns.len())?;
            let (kind, text) = (patterns[id].options().kind, texts[id].as_bytes());
            let last = BODY_LEN.checked_sub(text.len())?;
            // Most errors are near the ends.
            let at = match (kind, from_end) {
                (Kind::Prefix, _) => 0,
                (Kind::Suffix, _) => last,
                (_, false) => usize::from(*at) % (last + 1),
                (_, true) => last - usize::from(*at % 4).min(last),
            };
            let beside = if kind == Kind::Word { b"+/" } else { FEW_SYMBOLS };
            let mut body = [beside[usize::from(*after) % beside.len()]; BODY_LEN];
            body[..at].fill(beside[usize::from(*before) % beside.len()]);
            body[at..][..text.len()].copy_from_slice(text);
            body
        }
    };
    // The first character of a key's body holds two bits of the header. They go with the header.
    let fixed = if target == Target::Key { wire::FIXED } else { "" };
    let decoded = BASE64.decode([fixed.as_bytes(), &body].concat()).ok()?;
    decoded.last_chunk().copied()
}
