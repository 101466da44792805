//! A matcher finds what plain comparison finds: all of it, nothing else, whatever the list.
//!
//! The texts have few different symbols, so that they match, overlap, and differ by case and digit. Lists are made longer, up
//! to where every filter is in use, with patterns drawn from a seed.

#![no_main]

mod style;

use arbitrary::Arbitrary;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use libfuzzer_sys::fuzz_target;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use style::{Style, subject};
use vanity_ed25519::pattern::{self, KINDS, Kind, Matcher, Pattern, PatternId};
use vanity_ed25519::wire::{self, ALPHABET, BODY_LEN, Body, Bytes, Subject};

/// How many patterns are drawn. Some hundred are the slowest: all their windows are marked.
const DRAWN: [usize; 32] =
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 6, 8, 8, 16, 16, 32, 100, 5000];

/// The most expressions of a list and their parts: each takes milliseconds.
const EXPRESSIONS: usize = 8;
const PARTS: usize = 12;

/// The most values of a batch, and how many plain comparisons may be planned with literals. One with an expression takes as long
/// as [`AN_EXPRESSION`] of them.
const VALUES: usize = 80;
const COMPARISONS: usize = 10_000;
const AN_EXPRESSION: usize = 40;

/// Without padding; bits beyond the last byte are dropped.
const BASE64: GeneralPurpose = GeneralPurpose::new(&STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));

const FEW_SYMBOLS: &[u8] = b"AaBbIiLl14+/08Pw";

/// Parts of expressions, and what each of them may show by itself.
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
    drawn: u8,
    /// The style of all that are drawn; without it they are of all styles.
    same: Option<Style>,
    few_symbols: bool,
    seed: u64,
    random_values: u8,
    typed: Vec<(Style, Vec<u8>)>,
    values: Vec<Value>,
}

/// What is shown.
#[derive(Arbitrary, Debug)]
enum Value {
    Bytes(Bytes),
    Body([u8; BODY_LEN]),
    /// The text of a pattern, or what the parts of an expression show one after the other: somewhere, or some places
    /// before the end, and other symbols before and after it.
    Showing {
        pattern: u16,
        at: u8,
        from_end: bool,
        before: u8,
        after: u8,
    },
}

fuzz_target!(|input: Input| {
    let subject = subject(input.fingerprint);
    let mut random = ChaCha8Rng::seed_from_u64(input.seed);
    let (patterns, texts): (Vec<_>, Vec<_>) = patterns(&input, subject, &mut random).into_iter().unzip();
    let matcher = Matcher::new(&patterns);

    let mut values: Vec<Bytes> =
        input.values.iter().filter_map(|value| bytes(value, &patterns, &texts, subject)).collect();
    let random_values = usize::from(input.random_values).saturating_sub(128);
    values.resize_with(values.len() + random_values, || {
        let mut bytes = Bytes::default();
        random.fill_bytes(&mut bytes);
        bytes
    });
    let expressions = patterns.iter().filter(|pattern| pattern.style().kind == Kind::Regex).count();
    values.truncate(VALUES.min(COMPARISONS / (1 + patterns.len() + AN_EXPRESSION * expressions)));
    if subject == Subject::Key {
        values.iter_mut().for_each(|key| key[31] &= 0x7f);
    }

    let mut expected = Vec::new();
    for (place, value) in values.iter().enumerate() {
        let mut shown = check(&matcher, &patterns, value);
        if subject == Subject::Key {
            shown |= check(&matcher, &patterns, &wire::with_sign(*value));
        }
        if shown {
            expected.push(place);
        }
    }
    assert_eq!(matcher.candidates(&values), expected);
});

/// Whether any pattern matches; the matcher has to find the same ones as plain comparison with the base64 text.
fn check(matcher: &Matcher, patterns: &[Pattern], value: &Bytes) -> bool {
    let text = match matcher.subject() {
        Subject::Key => BASE64.encode(wire::blob(value)),
        Subject::Fingerprint => BASE64.encode(value),
    };
    let body: &Body = text.as_bytes().last_chunk().expect("43 characters");
    assert_eq!(matcher.subject().body(value), *body);
    let plain: Vec<PatternId> = (0..patterns.len()).filter(|id| patterns[*id].find(body).is_some()).collect();
    assert_eq!(matcher.find(value), plain);
    assert_eq!(matcher.is_match(value), !plain.is_empty());
    !plain.is_empty()
}

/// What is typed, as far as it makes patterns, and what is drawn; each with a text that may show it.
fn patterns(input: &Input, subject: Subject, random: &mut ChaCha8Rng) -> Vec<(Pattern, String)> {
    let mut expressions = 0;
    let mut pattern = |style: pattern::Style, bytes: &[u8], symbols: &[u8]| {
        let symbol = |byte: &u8| char::from(symbols[usize::from(*byte) % symbols.len()]);
        let part = |byte: &u8| EXPRESSION[usize::from(*byte) % EXPRESSION.len()];
        if style.kind != Kind::Regex {
            let text: String = bytes.iter().map(symbol).collect();
            return Some((Pattern::new(&text, style).ok()?, text));
        }
        expressions += 1;
        let parts = (expressions <= EXPRESSIONS).then(|| bytes.iter().take(PARTS).map(part))?;
        let (expression, text): (String, String) = parts.unzip();
        Some((Pattern::new(&expression, style).ok()?, text))
    };
    let typed =
        input.typed.iter().filter_map(|(style, bytes)| pattern(style.about(subject), bytes, FEW_SYMBOLS));
    let mut patterns: Vec<(Pattern, String)> = typed.collect();
    let symbols = if input.few_symbols { FEW_SYMBOLS } else { ALPHABET };
    for _ in 0..DRAWN[usize::from(input.drawn) % DRAWN.len()] {
        let mut bytes = [0; 12];
        random.fill_bytes(&mut bytes);
        let [kind, flags, len, text @ ..] = &bytes;
        let (_, kind) = KINDS[usize::from(*kind) % KINDS.len()];
        let drawn = pattern::Style { kind, case_sensitive: flags & 3 == 0, leet: flags & 12 == 0, subject };
        let style = input.same.map_or(drawn, |style| style.about(subject));
        patterns.extend(pattern(style, &text[..1 + usize::from(*len) % text.len()], symbols));
    }
    patterns
}

/// The bytes that are shown as something.
fn bytes(value: &Value, patterns: &[Pattern], texts: &[String], subject: Subject) -> Option<Bytes> {
    let body = match value {
        Value::Bytes(bytes) => return Some(*bytes),
        Value::Body(symbols) => symbols.map(|byte| FEW_SYMBOLS[usize::from(byte) % FEW_SYMBOLS.len()]),
        Value::Showing { pattern, at, from_end, before, after } => {
            let id = usize::from(*pattern).checked_rem(patterns.len())?;
            let (kind, text) = (patterns[id].style().kind, texts[id].as_bytes());
            let last = BODY_LEN.checked_sub(text.len())?;
            // Most of what goes wrong goes wrong near the ends.
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
    // The two bits of a key's first character that belong to the header are cut off with it.
    let fixed = if subject == Subject::Key { wire::FIXED } else { "" };
    let decoded = BASE64.decode([fixed.as_bytes(), &body].concat()).ok()?;
    decoded.last_chunk().copied()
}
