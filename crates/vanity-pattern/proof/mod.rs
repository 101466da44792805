//! Checks that each test of the matcher lets everything pass that shows a pattern, without random
//! texts.
//!
//! | file | what it checks | how |
//! | --- | --- | --- |
//! | `pairs` | `pair_bitmap` | for each needle and place, some tested window has all its possible values marked |
//! | `literals` | `symbol_classes` to `literals`, `device_filter` | all texts that show a literal, with all neighbors that count |
//! | `expressions` | `required_literals`, `dfa_scan`, `device_filter` | inclusion of languages; texts for each edge of an automaton |
//!
//! [`Pattern::find`], which shares no code with the tests, decides
//! what shows a pattern.

mod expressions;
mod literals;
mod pairs;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

use vanity_pattern::internals::literals::place_in_sieve;
use vanity_pattern::internals::lookup::SPREAD;
use vanity_pattern::internals::pair_bitmap::{ROW_WORDS, WINDOWS};
use vanity_pattern::wire::{
    ALPHABET, BODY_LEN, Bytes, KEY_LEN, SYMBOL_BITS, Target, with_sign, without_sign,
};
use vanity_pattern::{Kind, MatchOptions, Matcher, Pattern};

/// The values of the characters of a text.
type Values = [u8; BODY_LEN];

const TARGETS: [Target; 2] = [Target::Key, Target::Fingerprint];

fn options(kind: Kind, reading: usize, target: Target) -> MatchOptions {
    MatchOptions { kind, case_sensitive: reading & 1 == 1, leet: reading & 2 == 2, target }
}

/// Returns the bytes that a text shows. `None` if no bytes show it.
fn bytes_of(target: Target, values: &Values) -> Option<Bytes> {
    let mut bytes = [0; KEY_LEN];
    for (position, value) in values.iter().enumerate() {
        for bit in (0..SYMBOL_BITS).filter(|bit| value >> (SYMBOL_BITS - 1 - bit) & 1 == 1) {
            let place = (SYMBOL_BITS * position + bit).checked_sub(target.lead())?;
            *bytes.get_mut(place / 8)? |= 0x80 >> (place % 8);
        }
    }
    let body = values.map(|value| ALPHABET[usize::from(value)]);
    assert_eq!(target.body(&bytes), body);
    Some(bytes)
}

/// Returns bytes as an engine passes them: a key has no sign.
fn passed(target: Target, bytes: Bytes) -> Bytes {
    if target == Target::Key { without_sign(bytes) } else { bytes }
}

/// Returns whether a device's filter lets a key pass, by the layout in `device_filter` and in the
/// files that write its parts.
fn device_passes(words: &[u32], target: Target, bytes: &Bytes) -> bool {
    let signs: &[Bytes] = match target {
        Target::Key => &[*bytes, with_sign(*bytes)],
        Target::Fingerprint => &[*bytes],
    };
    let texts: Vec<Values> = signs
        .iter()
        .map(|bytes| std::array::from_fn(|position| target.window(bytes, position, 1) as u8))
        .collect();
    assert_eq!(words[0] as usize, target.lead());
    let (kind, sieve) = (words[2], &words[words[3] as usize..]);
    (kind == 4 || sieve_passes(kind, sieve, bytes))
        && (0..words[1] as usize).any(|clause| {
            let [rows, first_row, bloom, walk] = [0, 1, 2, 3].map(|at| words[4 + 4 * clause + at] as usize);
            let rows = (0..rows).all(|row| row_passes(&words[first_row + row * ROW_WORDS..], bytes));
            rows && (bloom == 0
                || texts.iter().any(|text| bloom_passes(&words[bloom..], (kind == 4).then_some(sieve), text)))
                && (walk == 0 || texts.iter().any(|text| walk_passes(&words[walk..], text)))
        })
}

/// Returns whether one of the windows of the row in a sieve has a marked value.
fn sieve_passes(first: u32, sieve: &[u32], bytes: &Bytes) -> bool {
    let value = |byte: usize| usize::from(bytes[byte]) | usize::from(bytes[byte + 1]) << 8;
    let is_marked = |value: usize| sieve[value / 32 % 1024] >> (value % 32) & 1 == 1;
    first == 0 || (0..10).any(|window| is_marked(value(first as usize - 1 + 3 * window)))
}

/// Returns whether one of the windows of a row has a marked value.
fn row_passes(row: &[u32], bytes: &Bytes) -> bool {
    let bitmap = &row[1 + WINDOWS..ROW_WORDS];
    row[1..1 + row[0] as usize].iter().any(|byte| {
        let byte = *byte as usize;
        let value = usize::from(bytes[byte]) | usize::from(bytes[byte + 1]) << 8;
        bitmap[value / 32] >> (value % 32) & 1 == 1
    })
}

fn bloom_passes(words: &[u32], sieve: Option<&[u32]>, text: &Values) -> bool {
    let pair = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
    let (starts, counts, shift, mask) = (pair(0), words[2], words[3], words[4]);
    let class = |value: u8| u64::from(words[5 + usize::from(value / 4)] >> (8 * (value % 4)) & 0xff);
    let is_in_sieve = |sieve: &[u32], start: usize| {
        let four = text[start..].iter().take(4).rev().fold(0, |four, value| four << 8 | class(*value) as u32);
        let place = place_in_sieve(four & mask);
        sieve[place / 32] >> (place % 32) & 1 == 1
    };
    (0..BODY_LEN).filter(|start| starts >> start & 1 == 1).any(|start| {
        let counts = (0..8).map(|at| (counts >> (4 * at) & 15) as usize).take_while(|count| *count > 0);
        counts.filter(|count| start + count <= BODY_LEN).any(|count| {
            let classes = text[start..start + count].iter().rev();
            let window = classes.fold(0, |window, value| window << 8 | class(*value));
            let product = u128::from(window | (count as u64) << 56) * u128::from(SPREAD);
            let hash = (product >> 64) as u64 ^ product as u64;
            let word = words[21 + (hash >> shift) as usize];
            sieve.is_none_or(|sieve| is_in_sieve(sieve, start))
                && [16, 21, 26, 31].into_iter().all(|at| word >> (hash >> at & 31) & 1 == 1)
        })
    })
}

fn walk_passes(words: &[u32], text: &Values) -> bool {
    let (start, len) = (words[0], words[1] as usize);
    let next = &words[2..2 + len];
    let last = text.iter().fold(start, |state, value| next[state as usize + usize::from(*value)]) / 64;
    words[2 + len + last as usize / 32] >> (last % 32) & 1 == 1
}

/// The most texts of a list whose patterns are compared one by one.
const EXACT: usize = 200;

/// Asserts that a text which shows a pattern passes the whole matcher and a device's filter.
fn assert_all_found(patterns: &[Pattern], texts: &[Values], target: Target) {
    let matcher = Matcher::new(patterns);
    let words = matcher.device_filter().words();
    let keys: Vec<Bytes> = texts.iter().map(|values| bytes_of(target, values).unwrap()).collect();
    let batch: Vec<Bytes> = keys.iter().map(|bytes| passed(target, *bytes)).collect();
    let names = || patterns.iter().map(Pattern::text).take(5).collect::<Vec<_>>().join(" ");
    let body = |at: usize| String::from_utf8_lossy(&target.body(&keys[at])).into_owned();
    let found = matcher.candidates(&batch);
    let lost = (0..keys.len()).find(|at| found.binary_search(at).is_err());
    assert_eq!(lost.map(body), None, "no candidate of {}", names());
    // The exact answers, for some of the texts.
    for at in (0..keys.len()).step_by(keys.len().div_ceil(EXACT)) {
        let shown: Vec<usize> =
            (0..patterns.len()).filter(|id| patterns[*id].find(&target.body(&keys[at])).is_some()).collect();
        assert!(!shown.is_empty(), "{} does not show {}", body(at), names());
        assert_eq!(matcher.find(&keys[at]), shown, "{} in {}", names(), body(at));
        assert!(matcher.is_match(&keys[at]), "{} in {}", names(), body(at));
        assert!(device_passes(&words, target, &batch[at]), "a device rejects {} of {}", body(at), names());
    }
}

/// The host of a device tests every key that passes, and is a hundred times as slow.
#[test]
fn a_device_lets_few_other_keys_pass() {
    let mut random = ChaCha8Rng::from_seed([11; 32]);
    let mut keys = vec![[0; KEY_LEN]; 50_000];
    random.fill_bytes(keys.as_flattened_mut());
    for count in [1, 30, 1000, 30_000] {
        let mut letter = |_| char::from(b'a' + (random.next_u32() % 26) as u8);
        let words: Vec<String> = (0..count).map(|_| (0..8).map(&mut letter).collect()).collect();
        for kind in [Kind::Anywhere, Kind::Word] {
            let options = MatchOptions { kind, ..MatchOptions::default() };
            let patterns: Vec<Pattern> =
                words.iter().map(|word| Pattern::new(word, options).unwrap()).collect();
            let words = Matcher::new(&patterns).device_filter().words();
            let passes = |key: &&Bytes| device_passes(&words, Target::Key, &without_sign(**key));
            let passing = keys.iter().filter(passes).count();
            assert!(passing < 50, "{passing} of 50,000 keys pass for {count} words, {kind:?}");
        }
    }
}

/// A device reads a sieve several times as fast as the tests behind it, so it pays only if few keys or
/// places pass.
#[test]
fn a_sieve_rejects_most_keys_or_places() {
    let mut random = ChaCha8Rng::from_seed([12; 32]);
    let mut keys = vec![[0; KEY_LEN]; 10_000];
    random.fill_bytes(keys.as_flattened_mut());
    let mut sieve_of = |count: usize, target| {
        let mut letter = |_| char::from(b'a' + (random.next_u32() % 26) as u8);
        let words: Vec<String> = (0..count).map(|_| (0..6).map(&mut letter).collect()).collect();
        let options = MatchOptions { target, ..MatchOptions::default() };
        let patterns: Vec<Pattern> = words.iter().map(|word| Pattern::new(word, options).unwrap()).collect();
        let words = Matcher::new(&patterns).device_filter().words();
        (words[2], words[words[3] as usize..][..1024].to_vec())
    };
    for target in TARGETS {
        for (count, most) in [(1, 200), (10, 1500)] {
            let (kind, sieve) = sieve_of(count, target);
            let passing = keys.iter().filter(|bytes| sieve_passes(kind, &sieve, bytes)).count();
            assert!((1..=3).contains(&kind) && passing < most, "{passing} of 10,000 pass {count} words");
        }
        let (kind, sieve) = sieve_of(1000, target);
        let marks: u32 = sieve.iter().map(|word| word.count_ones()).sum();
        assert!(kind == 4 && (900..=1000).contains(&marks), "{marks} of 32,768 places pass");
    }
}
