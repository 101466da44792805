//! The ledger: which keys a directory has, for whom they were made, and what is still missing.
//!
//! It is a file of JSON lines in the directory, one for each key, and holds nothing secret. A line is appended when the
//! key's files are durable and before the key is told. So a line that is missing is all that a killed process can leave
//! behind, and [`Ledger::take_stock`] enters it when the next search begins.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use crate::key::{HeldLines, Kept, Lines, StoredPair, read_key_file, shown};
use crate::pattern::{Kind, Matcher, Pattern, PatternId, Style};
use crate::search::Find;

use crate::report::{ledger_line, read_ledger_line};

/// The ledger's name in its directory.
const NAME: &str = "vanity-ed25519.jsonl";

/// Bytes of a line that are read. A longer one is not whole then, and counts for nothing.
const LONGEST: usize = 64 << 20;

/// The ledger of a directory.
pub struct Ledger {
    directory: PathBuf,
    lines: Lines,
}

/// What the ledger says of a key.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// The patterns that it was made for, as typed; at least one. The files are named after the first.
    pub patterns: Vec<(String, Kind)>,
    /// How they were read. The kind is that of the first.
    pub style: Style,
    /// The public line.
    pub line: String,
    /// The fingerprint, as `ssh-keygen -l` shows it.
    pub fingerprint: String,
    /// The name of the private file; that of the public one has `.pub` added.
    pub file: String,
    /// When it was made; the ledger holds whole seconds.
    pub time: SystemTime,
    /// Keys tried by that search until then, if they were counted.
    pub attempts: Option<u64>,
}

/// What a directory has of what is wanted.
#[derive(Default)]
pub struct Stock {
    /// Keys of each pattern; empty if there are none at all.
    pub each: Vec<u64>,
    /// Keys of any pattern.
    pub keys: u64,
    /// What there is to tell of the ledger.
    pub notes: Vec<String>,
}

impl Ledger {
    pub fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), lines: Lines::new(directory.join(NAME)) }
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub fn path(&self) -> &Path {
        self.lines.path()
    }

    /// Holds the ledger against other processes, from before a key has its names until it is entered.
    pub fn hold(&self) -> io::Result<HeldLines> {
        self.lines.hold()
    }

    /// Counts what the directory has for `patterns`: keys whose lines were made for the same patterns and whose files are
    /// there. Pairs of files without a line are entered if they are named after one of the patterns and show it; a public
    /// file that is missing is made again, if need be with that comment instead of the pattern.
    pub fn take_stock(&self, patterns: &[Pattern], comment: Option<&str>) -> io::Result<Stock> {
        if fs::symlink_metadata(self.path()).is_err() && StoredPair::names(&self.directory)?.is_empty() {
            return Ok(Stock::default());
        }
        let mut held = self.hold()?;
        let names: HashSet<String> = StoredPair::names(&self.directory)?.into_iter().collect();
        let mut count = Count::new(patterns);
        let mut listed = HashSet::new();
        let mut broken = 0;
        for line in held.read(LONGEST)? {
            let line = line?;
            if line.is_empty() {
                continue;
            }
            let entry = std::str::from_utf8(&line).ok().and_then(read_ledger_line);
            let Some(entry) = entry else {
                broken += 1;
                continue;
            };
            if !names.contains(&entry.file) || listed.contains(&entry.file) {
                continue;
            }
            let ids = count.asked_for(&entry);
            if ids.is_empty() || self.has(&entry)? {
                count.add(&ids);
                listed.insert(entry.file);
            }
        }
        let mut missing: Vec<&String> = names.difference(&listed).collect();
        missing.sort_unstable();
        let entries = self.unlisted(&missing, patterns, comment)?;
        for entry in &entries {
            count.add(&count.asked_for(entry));
        }
        held.append(&entries.iter().map(ledger_line).collect::<String>())?;

        let mut notes = Vec::new();
        let ledger = shown(self.path());
        match broken {
            0 => {}
            1 => notes.push(format!("note: 1 line of '{ledger}' is not whole and is left out")),
            _ => notes.push(format!("note: {broken} lines of '{ledger}' are not whole and are left out")),
        }
        match entries.len() {
            0 => {}
            1 => notes.push(format!("note: 1 key that was not in '{ledger}' is entered there")),
            more => notes.push(format!("note: {more} keys that were not in '{ledger}' are entered there")),
        }
        Ok(Stock { each: count.each, keys: count.keys, notes })
    }

    /// Whether the files of an entry hold its key. A public file that is missing is made again.
    fn has(&self, entry: &Entry) -> io::Result<bool> {
        // What stands behind the key is its owner's to change.
        let key = |line: &str| line.split(' ').take(2).map(str::to_owned).collect::<Vec<_>>();
        match read_key_file(&self.directory.join(format!("{}.pub", entry.file))) {
            Ok(line) => Ok(key(String::from_utf8_lossy(&line).trim_end()) == key(&entry.line)),
            Err(_) => {
                let comment = entry.line.splitn(3, ' ').nth(2).unwrap_or_default();
                let pair = StoredPair::open(&self.directory, &entry.file, comment)?;
                Ok(pair.is_some_and(|pair| key(&pair.line) == key(&entry.line)))
            }
        }
    }

    /// Entries for those of the files that were made for `patterns`.
    fn unlisted(
        &self,
        names: &[&String],
        patterns: &[Pattern],
        comment: Option<&str>,
    ) -> io::Result<Vec<Entry>> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let matcher = Matcher::new(patterns);
        let subject = matcher.subject();
        let mut entries = Vec::new();
        for name in names {
            let label = |id: &PatternId| patterns[*id].text();
            let Some(pair) = StoredPair::open(&self.directory, name, comment.unwrap_or_default())? else {
                continue;
            };
            let body = pair.public_key.body(subject);
            let mut ids = matcher.find(&pair.public_key.bytes(subject));
            ids.retain(|id| patterns[*id].find(&body).is_some());
            let Some(first) = ids.iter().position(|id| pair.is_named_after(label(id))) else { continue };
            ids[..=first].rotate_right(1);
            entries.push(Entry {
                patterns: ids.iter().map(|id| (label(id).to_owned(), patterns[*id].style().kind)).collect(),
                style: patterns[ids[0]].style(),
                fingerprint: pair.public_key.fingerprint(),
                line: pair.line,
                file: pair.name,
                time: fs::metadata(self.directory.join(name))?.modified()?,
                attempts: None,
            });
        }
        Ok(entries)
    }
}

impl Entry {
    /// The entry of a find that is kept in these files.
    pub fn of(find: &Find, patterns: &[Pattern], comment: &str, kept: &Kept) -> Self {
        let named = |id: &PatternId| (patterns[*id].text().to_owned(), patterns[*id].style().kind);
        Self {
            patterns: find.patterns.iter().map(named).collect(),
            style: patterns[find.patterns[0]].style(),
            line: find.public_key.line(comment),
            fingerprint: find.public_key.fingerprint(),
            file: kept.private_file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            time: SystemTime::now(),
            attempts: Some(find.attempts),
        }
    }
}

/// What counts for which pattern.
struct Count {
    ids: HashMap<Request, PatternId>,
    each: Vec<u64>,
    keys: u64,
}

/// A pattern as it is compared: without regard to case if that is ignored, expressions as they stand.
type Request = (Style, String);

fn request(text: &str, kind: Kind, style: Style) -> Request {
    // An expression says itself what --leet would.
    let style = Style { kind, leet: style.leet && kind != Kind::Regex, ..style };
    let as_it_stands = style.case_sensitive || kind == Kind::Regex;
    (style, if as_it_stands { text.to_owned() } else { text.to_ascii_lowercase() })
}

impl Count {
    fn new(patterns: &[Pattern]) -> Self {
        let requests = patterns.iter().map(|one| request(one.text(), one.style().kind, one.style()));
        Self { ids: requests.zip(0..).collect(), each: vec![0; patterns.len()], keys: 0 }
    }

    /// The patterns that an entry was made for.
    fn asked_for(&self, entry: &Entry) -> Vec<PatternId> {
        let id = |(text, kind): &(String, Kind)| self.ids.get(&request(text, *kind, entry.style)).copied();
        entry.patterns.iter().filter_map(id).collect()
    }

    fn add(&mut self, ids: &[PatternId]) {
        self.keys += u64::from(!ids.is_empty());
        for &id in ids {
            self.each[id] += 1;
        }
    }
}
