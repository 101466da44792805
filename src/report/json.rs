//! What a script reads: one JSON object a line.

use std::time::{Duration, SystemTime};

use crate::pattern::{KINDS, Kind, Odds, Pattern, Style};
use crate::search::{End, Find, Measured, Summary};
use crate::wire::Subject;
use serde_json::{Value, json};

use super::{Delivered, Several};
use crate::ledger::Entry;

/// The largest whole number that is written as one. Up to it a 64-bit float, which is all that many readers of JSON
/// have, holds every whole number; larger ones are written as text.
const LARGEST_NUMBER: u64 = (1 << f64::MANTISSA_DIGITS) - 1;

/// About one pattern, which may be one of several.
pub(super) fn estimate(pattern: &Pattern, several: Option<&Several>, keys_per_second: f64) -> Value {
    let odds = pattern.odds();
    let mut estimate = json!({
        "type": "estimate",
        "pattern": pattern.text(),
        "probability": odds.probability(),
        "expected_attempts": odds.expected_attempts(),
        "seconds_50": seconds_for(odds, 0.50, keys_per_second),
        "seconds_95": seconds_for(odds, 0.95, keys_per_second),
        "keys_per_second": keys_per_second,
    });
    if let Some(several) = several {
        estimate["any_probability_min"] = several.any.at_least.probability().into();
        estimate["any_probability_max"] = several.any.at_most.probability().into();
        if let Some([half, most]) = several.attempts_for_all {
            estimate["all_seconds_50_max"] = (half / keys_per_second).into();
            estimate["all_seconds_95_max"] = (most / keys_per_second).into();
        }
    }
    estimate
}

pub(super) fn found(
    patterns: &[Pattern],
    find: &Find,
    line: &str,
    encrypted: bool,
    delivered: &Delivered,
) -> Value {
    let matched: Vec<&str> = find.patterns.iter().map(|&id| patterns[id].text()).collect();
    let mut found = json!({
        "type": "found",
        "pattern": matched[0],
        "patterns": matched,
        "public_key": line,
        "fingerprint": find.public_key.fingerprint(),
        "attempts": count(find.attempts),
        "seconds": find.elapsed.as_secs_f64(),
        "encrypted": encrypted,
    });
    match delivered {
        Delivered::Files(kept) => {
            found["private_key_file"] = kept.private_file.to_string_lossy().into();
            found["public_key_file"] = kept.public_file.to_string_lossy().into();
        }
        Delivered::Stdout(private_key) => found["private_key"] = (*private_key).into(),
    }
    found
}

pub(super) fn summary(summary: &Summary, patterns: &[Pattern], engine: &str, threads: usize) -> Value {
    let given_up: Vec<&str> = summary.given_up.iter().map(|&id| patterns[id].text()).collect();
    json!({
        "type": "summary",
        "found": count(summary.found),
        "attempts": count(summary.attempts),
        "seconds": summary.elapsed.as_secs_f64(),
        "keys_per_second": summary.keys_per_second(),
        "engine": engine,
        "threads": threads,
        "reason": match summary.end {
            End::Complete => "complete",
            End::Timeout => "timeout",
            End::Signal(_) => "signal",
        },
        "given_up": given_up,
    })
}

pub(super) fn bench(measured: &Measured) -> Value {
    json!({
        "type": "bench",
        "engine": measured.engine,
        "threads": measured.threads,
        "keys_per_second": measured.rate.median,
        "keys_per_second_min": measured.rate.min,
        "keys_per_second_max": measured.rate.max,
        "ratio": measured.ratio.median,
        "ratio_min": measured.ratio.min,
        "ratio_max": measured.ratio.max,
    })
}

/// A whole number, exactly, for every reader.
fn count(number: u64) -> Value {
    if number <= LARGEST_NUMBER { number.into() } else { number.to_string().into() }
}

/// The words of `--in`.
const SUBJECTS: [(&str, Subject); 2] = [("key", Subject::Key), ("fingerprint", Subject::Fingerprint)];

/// An entry of the ledger, with its line end.
pub fn ledger_line(entry: &Entry) -> String {
    let Entry { patterns, style, .. } = entry;
    let pattern = |(text, kind): &(String, Kind)| json!({"pattern": text, "kind": word(&KINDS, *kind)});
    let mut line = json!({
        "pattern": patterns[0].0,
        "kind": word(&KINDS, patterns[0].1),
        "case_sensitive": style.case_sensitive,
        "leet": style.leet,
        "in": word(&SUBJECTS, style.subject),
        "public_key": entry.line,
        "fingerprint": entry.fingerprint,
        "file": entry.file,
        "time": moment(entry.time),
    });
    if let Some(attempts) = entry.attempts {
        line["attempts"] = count(attempts);
    }
    if patterns.len() > 1 {
        line["also"] = patterns[1..].iter().map(pattern).collect();
    }
    format!("{line}\n")
}

/// The last second that RFC 3339 can write, counted from 1970.
const LAST_SECOND: u64 = 253_402_300_799;

/// A time in UTC. A clock may be wrong, and so may be the time of a file: what cannot be written is told as the nearest that can.
fn moment(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seconds = Duration::from_secs(since.as_secs().min(LAST_SECOND));
    humantime::format_rfc3339_seconds(SystemTime::UNIX_EPOCH + seconds).to_string()
}

/// Reads a line of the ledger. `None` if it is not whole, or none at all.
pub fn read_ledger_line(line: &str) -> Option<Entry> {
    let line: Value = serde_json::from_str(line).ok()?;
    let text = |field: &str| line[field].as_str().map(str::to_owned);
    let pattern = |value: &Value| {
        Some((value["pattern"].as_str()?.to_owned(), meaning(&KINDS, value["kind"].as_str()?)?))
    };
    let also: &[Value] = line["also"].as_array().map_or(&[], Vec::as_slice);
    let patterns: Vec<_> = std::iter::once(&line).chain(also).map(pattern).collect::<Option<_>>()?;
    Some(Entry {
        style: Style {
            kind: patterns[0].1,
            case_sensitive: line["case_sensitive"].as_bool()?,
            leet: line["leet"].as_bool()?,
            subject: meaning(&SUBJECTS, line["in"].as_str()?)?,
        },
        patterns,
        line: text("public_key")?,
        fingerprint: text("fingerprint")?,
        file: text("file")?,
        time: humantime::parse_rfc3339(line["time"].as_str()?).ok()?,
        attempts: number(&line["attempts"]),
    })
}

/// What [`count`] wrote.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

fn word<T: PartialEq>(words: &[(&'static str, T)], meaning: T) -> &'static str {
    words.iter().find(|(_, one)| *one == meaning).map_or("", |(word, _)| word)
}

fn meaning<T: Copy>(words: &[(&str, T)], word: &str) -> Option<T> {
    words.iter().find(|(one, _)| *one == word).map(|(_, meaning)| *meaning)
}

/// How long it takes until the chance of a match reaches `chance`.
pub(super) fn seconds_for(odds: Odds, chance: f64, keys_per_second: f64) -> f64 {
    odds.attempts_for(chance) / keys_per_second
}

#[cfg(test)]
mod tests {
    use crate::key::Seed;

    use super::*;

    /// No search gets as far as this while anyone looks on.
    #[test]
    fn large_counts_are_text_for_readers_whose_numbers_are_floats() {
        let schema: Value =
            serde_json::from_str(include_str!("../../docs/vanity-ed25519.schema.json")).unwrap();
        let schema = jsonschema::validator_for(&schema).unwrap();
        let patterns = [Pattern::new("abc", Style::default()).unwrap()];
        let seed = Seed::new([7; 32]);
        let public_key = seed.public_key();
        let line = public_key.line("abc");
        let mut find = Find {
            seed,
            public_key,
            patterns: vec![0],
            attempts: 1,
            elapsed: Duration::from_secs(1),
            prepared: None,
        };
        for (attempts, text) in [
            (1, "1"),
            ((1 << 53) - 1, "9007199254740991"),
            (1 << 53, "\"9007199254740992\""),
            ((1 << 53) + 1, "\"9007199254740993\""),
            (u64::MAX, "\"18446744073709551615\""),
        ] {
            find.attempts = attempts;
            let private_key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
            let found = found(&patterns, &find, &line, false, &Delivered::Stdout(private_key));
            let end = Summary {
                found: attempts,
                given_up: vec![0, 0],
                attempts,
                elapsed: Duration::MAX,
                end: End::Complete,
            };
            let summary = summary(&end, &patterns, "portable", 1);
            for object in [&found, &summary] {
                assert_eq!(object["attempts"].to_string(), text);
                schema.validate(object).unwrap_or_else(|error| panic!("{error}: {object}"));
            }
            assert_eq!(summary["found"].to_string(), text);
        }
    }

    #[test]
    fn every_time_can_be_written() {
        let epoch = SystemTime::UNIX_EPOCH;
        let last = epoch + Duration::from_secs(LAST_SECOND);
        assert_eq!(moment(epoch - Duration::from_secs(1 << 33)), "1970-01-01T00:00:00Z");
        assert_eq!(moment(epoch + Duration::from_secs(1_800_000_000)), "2027-01-15T08:00:00Z");
        assert_eq!(moment(last + Duration::from_secs(1 << 40)), "9999-12-31T23:59:59Z");
        assert_eq!(humantime::parse_rfc3339(&moment(last)).unwrap(), last);
    }

    #[test]
    fn what_the_ledger_says_can_be_read_and_a_part_of_it_cannot() {
        let one = |text: &str, kind| (text.to_owned(), kind);
        let style =
            Style { kind: Kind::Regex, leet: true, subject: Subject::Fingerprint, ..Style::default() };
        let entry = Entry {
            patterns: vec![one("^\"a\\d\n", Kind::Regex)],
            style,
            line: "ssh-ed25519 AAAA größer".into(),
            fingerprint: "SHA256:x".into(),
            file: "a-0".into(),
            time: SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000),
            attempts: Some(u64::MAX),
        };
        let patterns = KINDS.map(|(text, kind)| one(text, kind)).to_vec();
        let style = Style { kind: Kind::Anywhere, case_sensitive: true, ..Style::default() };
        let several = Entry { patterns, style, attempts: None, ..entry.clone() };
        for entry in [entry, several] {
            let line = ledger_line(&entry);
            assert_eq!(line.find('\n'), Some(line.len() - 1));
            assert_eq!(read_ledger_line(&line), Some(entry));
            for end in (0..line.len() - 1).filter(|end| line.is_char_boundary(*end)) {
                assert_eq!(read_ledger_line(&line[..end]), None, "{}", &line[..end]);
            }
        }
        for other in ["{}", "[]", "1", "{\"pattern\":\"a\",\"kind\":\"b\"}"] {
            assert_eq!(read_ledger_line(other), None);
        }
    }
}
