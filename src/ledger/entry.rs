//! Writes and reads lines of the ledger, which are JSON objects.
//!
//! A field is read only as the type that it must have, so other values in a line are never built in
//! memory.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::escape::escaped_json;
use crate::pattern::{KINDS, Kind, MatchOptions, Pattern, PatternId};
use crate::search::PublicFind;
use crate::store::Kept;
use crate::wire::Target;

/// The length of the longest line in bytes, without its line ending. Longer lines are neither read
/// nor written.
pub(super) const LONGEST: usize = 1 << 20;

/// The entry of a key in the ledger.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// The patterns that the key was made for, as typed; at least one. The files have their names
    /// from the first.
    pub patterns: Vec<(String, Kind)>,
    /// The options of the patterns. The kind is that of the first pattern.
    pub options: MatchOptions,
    pub line: String,
    /// The fingerprint, as `ssh-keygen -l` shows it.
    pub fingerprint: String,
    /// The name of the private file. The name of the public file has `.pub` added.
    pub file: String,
    /// The time when the key was made. The ledger has whole seconds.
    pub time: SystemTime,
    /// The number of keys that the search had tried, or `None` if it is not known.
    pub attempts: Option<u64>,
}

const TARGETS: [(&str, Target); 2] = [("key", Target::Key), ("fingerprint", Target::Fingerprint)];

/// The fields of an object, which are not read yet.
struct Fields<'a>(BTreeMap<String, &'a RawValue>);

impl Entry {
    /// Returns the entry of a find that is kept in the files `kept`.
    pub fn of(find: &PublicFind, patterns: &[Pattern], comment: &str, kept: &Kept) -> Self {
        let named = |id: &PatternId| (patterns[*id].text().to_owned(), patterns[*id].options().kind);
        Self {
            patterns: find.patterns.iter().map(named).collect(),
            options: patterns[find.patterns[0]].options(),
            line: find.public_key.line(comment),
            fingerprint: find.public_key.fingerprint(),
            file: kept.private_file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            time: SystemTime::now(),
            attempts: Some(find.attempts),
        }
    }

    /// Returns the public line without its comment, and the fingerprint.
    pub(super) fn key(&self) -> (impl PartialEq, &str) {
        let mut words = self.line.split(' ');
        ((words.next(), words.next()), &self.fingerprint)
    }

    /// Returns the entry as lines with line endings: one line, or several if the patterns do not
    /// fit into one.
    pub(super) fn lines(&self) -> String {
        let line = self.line();
        if line.len() <= LONGEST || self.patterns.len() < 2 {
            return line + "\n";
        }
        let (first, last) = self.patterns.split_at(self.patterns.len() / 2);
        [first, last].map(|patterns| Self { patterns: patterns.to_vec(), ..self.clone() }.lines()).concat()
    }

    fn line(&self) -> String {
        let named =
            |(pattern, kind): &(String, Kind)| json!({"pattern": pattern, "kind": word(&KINDS, *kind)});
        let mut patterns = self.patterns.iter().map(named);
        let mut line = patterns.next().unwrap_or_else(|| unreachable!("it has a pattern"));
        line["case_sensitive"] = self.options.case_sensitive.into();
        line["leet"] = self.options.leet.into();
        line["in"] = word(&TARGETS, self.options.target).into();
        line["public_key"] = self.line.as_str().into();
        line["fingerprint"] = self.fingerprint.as_str().into();
        line["file"] = self.file.as_str().into();
        line["time"] = moment(self.time).into();
        if let Some(attempts) = self.attempts {
            line["attempts"] = exact(attempts);
        }
        if patterns.len() > 0 {
            line["also"] = patterns.collect();
        }
        escaped_json(&line.to_string()).into_owned()
    }

    /// Reads a line. Returns `None` if it is incomplete or is not a line of the ledger.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let fields = Fields(serde_json::from_slice(line).ok()?);
        let mut patterns = vec![fields.pattern()?];
        if let Some(also) = fields.0.get("also") {
            for fields in serde_json::from_str::<Vec<_>>(also.get()).ok()? {
                patterns.push(Fields(fields).pattern()?);
            }
        }
        let options = MatchOptions {
            kind: patterns[0].1,
            case_sensitive: fields.flag("case_sensitive")?,
            leet: fields.flag("leet")?,
            target: meaning(&TARGETS, &fields.text("in")?)?,
        };
        Some(Self {
            patterns,
            options,
            line: fields.text("public_key")?,
            fingerprint: fields.text("fingerprint")?,
            file: fields.text("file")?,
            time: humantime::parse_rfc3339(&fields.text("time")?).ok()?,
            attempts: match fields.0.get("attempts") {
                Some(number) => Some(number.get().trim_matches('"').parse().ok()?),
                None => None,
            },
        })
    }
}

impl Fields<'_> {
    fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }

    fn flag(&self, name: &str) -> Option<bool> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }

    fn pattern(&self) -> Option<(String, Kind)> {
        Some((self.text("pattern")?, meaning(&KINDS, &self.text("kind")?)?))
    }
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

fn word<'a, T: PartialEq>(words: &[(&'a str, T)], meaning: T) -> &'a str {
    words.iter().find(|(_, one)| *one == meaning).map_or("", |(word, _)| word)
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

    fn one(text: &str, kind: Kind) -> (String, Kind) {
        (text.to_owned(), kind)
    }

    fn entry(patterns: Vec<(String, Kind)>) -> Entry {
        Entry {
            options: MatchOptions {
                kind: patterns[0].1,
                leet: true,
                target: Target::Fingerprint,
                ..MatchOptions::default()
            },
            patterns,
            line: "ssh-ed25519 AAAA größer".into(),
            fingerprint: "SHA256:x".into(),
            file: "a-0".into(),
            time: SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000),
            attempts: Some(u64::MAX),
        }
    }

    #[test]
    fn a_line_can_be_read_and_a_part_of_it_cannot() {
        let single = entry(vec![one("^\"a\\d\n", Kind::Regex)]);
        let several = entry(KINDS.map(|(text, kind)| one(text, kind)).to_vec());
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
        let line = entry(vec![one("a", Kind::Word)]).lines();
        for attempts in ["-1", "1.5", "null", "\"x\"", "[[1]]"] {
            let line = line.replace("\"18446744073709551615\"", attempts);
            assert_eq!(Entry::read(line.trim_end().as_bytes()), None, "{attempts}");
        }
    }

    #[test]
    fn the_format_is_the_one_of_every_version() {
        let entry = entry(vec![one("^a", Kind::Regex), one("b", Kind::Word)]);
        let line = "{\"pattern\":\"^a\",\"kind\":\"regex\",\"case_sensitive\":false,\"leet\":true,\
                    \"in\":\"fingerprint\",\"public_key\":\"ssh-ed25519 AAAA größer\",\"fingerprint\":\"SHA256:x\",\
                    \"file\":\"a-0\",\"time\":\"2027-01-15T08:00:00Z\",\"attempts\":\"18446744073709551615\",\
                    \"also\":[{\"pattern\":\"b\",\"kind\":\"word\"}]}\n";
        assert_eq!(entry.lines(), line);
        let more = line.replace("\"leet\"", "\"new\":{\"a\":[1]},\"leet\"");
        assert_eq!(
            Entry::read(more.trim_end().as_bytes()),
            Some(entry.clone()),
            "a field of a later version"
        );
        // One pattern alone has no list of others.
        let single = Entry { patterns: vec![entry.patterns[0].clone()], ..entry };
        let (start, _) = line.split_once(",\"also\"").unwrap();
        assert_eq!(single.lines(), format!("{start}}}\n"));
    }

    #[test]
    fn patterns_that_do_not_fit_into_one_line_go_into_several() {
        let patterns: Vec<_> =
            (0..100_000).map(|number| one(&format!("a{number}"), Kind::Anywhere)).collect();
        let lines = entry(patterns.clone()).lines();
        let read: Vec<Entry> = lines.lines().map(|line| Entry::read(line.as_bytes()).unwrap()).collect();
        assert!(read.len() > 1 && lines.lines().all(|line| line.len() <= LONGEST));
        assert_eq!(read.into_iter().flat_map(|entry| entry.patterns).collect::<Vec<_>>(), patterns);
    }
}
