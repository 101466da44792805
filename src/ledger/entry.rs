//! Writes and reads lines of the ledger, which are JSON objects.
//!
//! A field is read only as the type that it must have, so other values in a line are never built in
//! memory.

use std::collections::BTreeMap;
use std::iter;
use std::time::{Duration, SystemTime};

use serde::de::value::MapDeserializer;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::escape::escaped_json;
use crate::key::PublicKey;
use crate::pattern::{KINDS, MatchOptions, Pattern, PatternId};
use crate::search::PublicFind;
use crate::store::Kept;
use crate::wire::Target;

/// The length of the longest line in bytes, without its line ending. Longer lines are neither read
/// nor written.
pub(super) const LONGEST: usize = 1 << 20;

/// The entry of a key in the ledger: the fields of its line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The first pattern that the key was made for. The files have their names from it.
    pattern: String,
    kind: String,
    case_sensitive: bool,
    leet: bool,
    r#in: String,
    #[serde(rename = "public_key")]
    pub(super) line: String,
    /// The fingerprint, as `ssh-keygen -l` shows it.
    fingerprint: String,
    /// The name of the private file. The name of the public file has `.pub` added.
    pub(super) file: String,
    /// The time when the key was made, in whole seconds.
    time: String,
    /// The number of keys that the search had tried, if it is known.
    #[serde(default, deserialize_with = "number", skip_serializing_if = "Option::is_none")]
    attempts: Option<Value>,
    /// The other patterns that the key was made for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    also: Vec<Named>,
}

/// A pattern, as typed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Named {
    pattern: String,
    kind: String,
}

const TARGETS: [(&str, Target); 2] = [("key", Target::Key), ("fingerprint", Target::Fingerprint)];

impl Entry {
    /// Returns the entry of a find that is kept in the files `kept`.
    pub fn of(find: &PublicFind, patterns: &[Pattern], comment: &str, kept: &Kept) -> Self {
        let file = kept.private_file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let line = find.public_key.line(comment);
        let entry = Self::new(&find.public_key, line, file, SystemTime::now(), &find.patterns, patterns);
        Self { attempts: Some(exact(find.attempts)), ..entry }
    }

    /// Returns the entry of a key that was made at `time` for the patterns `ids`, at least one.
    pub(super) fn new(
        public_key: &PublicKey,
        line: String,
        file: String,
        time: SystemTime,
        ids: &[PatternId],
        patterns: &[Pattern],
    ) -> Self {
        let named = |id: &PatternId| Named {
            pattern: patterns[*id].text().to_owned(),
            kind: word(&KINDS, patterns[*id].options().kind),
        };
        let mut also: Vec<_> = ids.iter().map(named).collect();
        let Named { pattern, kind } = also.remove(0);
        let MatchOptions { case_sensitive, leet, target, .. } = patterns[ids[0]].options();
        let (r#in, fingerprint, time) = (word(&TARGETS, target), public_key.fingerprint(), moment(time));
        Self {
            pattern,
            kind,
            case_sensitive,
            leet,
            r#in,
            line,
            fingerprint,
            file,
            time,
            attempts: None,
            also,
        }
    }

    /// Returns the patterns that the key was made for and their options. Returns `None` if a word for
    /// them is unknown.
    pub(super) fn patterns(&self) -> Option<Vec<(&str, MatchOptions)>> {
        let &Self { case_sensitive, leet, .. } = self;
        let target = meaning(&TARGETS, &self.r#in)?;
        let also = self.also.iter().map(|named| (&named.pattern, &named.kind));
        let each = iter::once((&self.pattern, &self.kind)).chain(also).map(|(pattern, kind)| {
            let kind = meaning(&KINDS, kind)?;
            Some((pattern.as_str(), MatchOptions { kind, case_sensitive, leet, target }))
        });
        each.collect()
    }

    /// Returns the public line without its comment, and the fingerprint.
    pub(super) fn key(&self) -> (impl PartialEq, &str) {
        let mut words = self.line.split(' ');
        ((words.next(), words.next()), &self.fingerprint)
    }

    /// Returns the entry as lines with line endings: one line, or several if the patterns do not
    /// fit into one.
    pub(super) fn lines(&self) -> String {
        let json = serde_json::to_string(self).unwrap_or_else(|_| unreachable!("it is all text"));
        let line = escaped_json(&json);
        if line.len() <= LONGEST || self.also.is_empty() {
            return line.into_owned() + "\n";
        }
        let (first, last) = self.also.split_at((self.also.len() - 1) / 2);
        let first = Self { also: first.to_vec(), ..self.clone() };
        let Named { pattern, kind } = last[0].clone();
        let last = Self { pattern, kind, also: last[1..].to_vec(), ..self.clone() };
        first.lines() + &last.lines()
    }

    /// Reads a line. Returns `None` if it is incomplete or is not a line of the ledger.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        // Of several fields with the same name the last one counts.
        let fields: BTreeMap<String, &RawValue> = serde_json::from_slice(line).ok()?;
        let entry = Self::deserialize(MapDeserializer::new(fields.into_iter())).ok()?;
        let is_known = entry.patterns().is_some() && humantime::parse_rfc3339(&entry.time).is_ok();
        is_known.then_some(entry)
    }
}

/// Reads a number that [`exact`] returned.
fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    let number = <&RawValue>::deserialize(from)?;
    number.get().trim_matches('"').parse().map(|number| Some(exact(number))).map_err(D::Error::custom)
}

/// The last second that RFC 3339 can express, counted from 1970.
const LAST_SECOND: u64 = 253_402_300_799;

/// Returns a time as text, in UTC. A time that RFC 3339 cannot express, from a wrong clock or a
/// file, becomes the nearest time that it can.
fn moment(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seconds = Duration::from_secs(since.as_secs().min(LAST_SECOND));
    humantime::format_rfc3339_seconds(SystemTime::UNIX_EPOCH + seconds).to_string()
}

fn word<T: PartialEq>(words: &[(&str, T)], meaning: T) -> String {
    words.iter().find(|(_, one)| *one == meaning).map_or("", |(word, _)| word).to_owned()
}

fn meaning<T: Copy>(words: &[(&str, T)], word: &str) -> Option<T> {
    words.iter().find(|(one, _)| *one == word).map(|(_, meaning)| *meaning)
}

/// The largest whole number that is written as a number. Larger ones are written as text, because
/// many readers of JSON have only 64-bit floats, which are not exact above this.
const LARGEST_NUMBER: u64 = (1 << f64::MANTISSA_DIGITS) - 1;

/// Returns a whole number as every reader of JSON reads it exactly.
pub fn exact(number: u64) -> Value {
    if number <= LARGEST_NUMBER { number.into() } else { number.to_string().into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_can_be_written() {
        let epoch = SystemTime::UNIX_EPOCH;
        let last = epoch + Duration::from_secs(LAST_SECOND);
        assert_eq!(moment(epoch - Duration::from_secs(1 << 33)), "1970-01-01T00:00:00Z");
        assert_eq!(moment(epoch + Duration::from_secs(1_800_000_000)), "2027-01-15T08:00:00Z");
        assert_eq!(moment(last + Duration::from_secs(1 << 35)), "9999-12-31T23:59:59Z");
        assert_eq!(humantime::parse_rfc3339(&moment(last)).unwrap(), last);
    }

    fn one(pattern: &str, kind: &str) -> Named {
        Named { pattern: pattern.into(), kind: kind.into() }
    }

    fn entry(mut patterns: Vec<Named>) -> Entry {
        let Named { pattern, kind } = patterns.remove(0);
        Entry {
            pattern,
            kind,
            case_sensitive: false,
            leet: true,
            r#in: "fingerprint".into(),
            line: "ssh-ed25519 AAAA größer".into(),
            fingerprint: "SHA256:x".into(),
            file: "a-0".into(),
            time: "2027-01-15T08:00:00Z".into(),
            attempts: Some(exact(u64::MAX)),
            also: patterns,
        }
    }

    #[test]
    fn a_line_can_be_read_and_a_part_of_it_cannot() {
        let single = entry(vec![one("^\"a\\d\n", "regex")]);
        let several = entry(KINDS.map(|(kind, _)| one(kind, kind)).to_vec());
        let several = Entry { attempts: None, ..several };
        for entry in [single, several] {
            let line = entry.lines();
            assert_eq!(line.find('\n'), Some(line.len() - 1));
            let line = line.trim_end().as_bytes();
            assert_eq!(Entry::read(line), Some(entry));
            for end in 0..line.len() {
                assert_eq!(Entry::read(&line[..end]), None, "{end}");
            }
        }
        for other in ["{}", "[]", "1", "{\"pattern\":\"a\",\"kind\":\"b\"}", "\u{ff}"] {
            assert_eq!(Entry::read(other.as_bytes()), None);
        }
    }

    #[test]
    fn a_field_has_its_type_and_the_last_of_its_name_counts() {
        let whole = entry(vec![one("a", "word"), one("b", "prefix")]);
        let line = whole.lines();
        let with = |from: &str, to: &str| {
            assert!(line.contains(from), "{from}");
            Entry::read(line.replace(from, to).trim_end().as_bytes())
        };
        for attempts in ["-1", "1.5", "null", "\"x\"", "[[1]]", "1e3", "18446744073709551616"] {
            assert_eq!(with("\"18446744073709551615\"", attempts), None, "{attempts}");
        }
        for (from, to) in [
            ("\"word\"", "\"Word\""),
            ("\"word\"", "null"),
            ("\"prefix\"", "\"\""),
            ("\"fingerprint\":\"", "\"fingerprint\":1,\"x\":\""),
            ("\"in\":\"fingerprint\"", "\"in\":\"text\""),
            ("true", "1"),
            ("false", "\"false\""),
            ("T08", " 08"),
            ("\"a-0\"", "[\"a-0\"]"),
            ("\"also\":[", "\"also\":[1,"),
            ("\"also\":", "\"also\":null,\"more\":"),
            ("\"time\"", "\"when\""),
        ] {
            assert_eq!(with(from, to), None, "{from} {to}");
        }
        assert_eq!(with("{\"pattern\":\"a\"", "{\"pattern\":[[1]],\"pattern\":\"a\""), Some(whole.clone()));
        assert_eq!(
            with("\"leet\"", "\"new\":{\"a\":[1]},\"leet\""),
            Some(whole),
            "a field of a later version"
        );
    }

    #[test]
    fn the_format_is_the_one_of_every_version() {
        let entry = entry(vec![one("^a", "regex"), one("b", "word")]);
        let line = "{\"pattern\":\"^a\",\"kind\":\"regex\",\"case_sensitive\":false,\"leet\":true,\
                    \"in\":\"fingerprint\",\"public_key\":\"ssh-ed25519 AAAA größer\",\"fingerprint\":\"SHA256:x\",\
                    \"file\":\"a-0\",\"time\":\"2027-01-15T08:00:00Z\",\"attempts\":\"18446744073709551615\",\
                    \"also\":[{\"pattern\":\"b\",\"kind\":\"word\"}]}\n";
        assert_eq!(entry.lines(), line);
        // One pattern alone has no list of others.
        let single = Entry { also: Vec::new(), ..entry };
        let (start, _) = line.split_once(",\"also\"").unwrap();
        assert_eq!(single.lines(), format!("{start}}}\n"));
    }

    #[test]
    fn patterns_that_do_not_fit_into_one_line_go_into_several() {
        let patterns: Vec<_> = (0..100_000).map(|number| one(&format!("a{number}"), "anywhere")).collect();
        let lines = entry(patterns.clone()).lines();
        let read: Vec<Entry> = lines.lines().map(|line| Entry::read(line.as_bytes()).unwrap()).collect();
        assert!(read.len() > 1 && lines.lines().all(|line| line.len() <= LONGEST));
        let of_one = |entry: Entry| iter::once(one(&entry.pattern, &entry.kind)).chain(entry.also);
        assert_eq!(read.into_iter().flat_map(of_one).collect::<Vec<_>>(), patterns);
    }
}
