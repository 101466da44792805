//! The ledger: which keys a directory has, for which patterns they were made, and what is still missing.
//!
//! It is a file of JSON lines in the directory, one for each key, and holds nothing secret. A line is appended when the
//! key's files are durable and before the key is reported. So a missing line is all that a killed process can leave
//! behind, and [`Ledger::reconcile`] enters it when the next search begins.
//!
//! A line proves nothing: a key counts when its private file was opened and its public key is the line's, shows the
//! pattern, and was not counted before.

mod entry;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use rayon::prelude::*;

use crate::key::{Passphrase, PublicKey, Storage};
use crate::pattern::{Identity, Kind, Matcher, Pattern, PatternId, Style};
use crate::store::{AppendLog, Flaw, HeldLog, StoredPair, file_label, parts_of_name};

pub use entry::{Count, Entry};

/// The ledger's name in its directory.
const NAME: &str = "vanity-ed25519.jsonl";

/// The ledger of a directory.
pub struct Ledger {
    directory: PathBuf,
    log: AppendLog,
}

/// What is looked for in a directory.
pub struct Wanted<'a> {
    pub patterns: &'a [Pattern],
    /// The comment of public files that are made again, if it is not the pattern.
    pub comment: Option<&'a str>,
    /// What opens encrypted files that do not show their public key.
    pub passphrase: Option<&'a Passphrase>,
    /// Whether keys have to be encrypted to count.
    pub encrypted: bool,
}

/// What a directory has of what is wanted.
#[derive(Default)]
pub struct Inventory {
    /// Keys of each pattern; empty if there are none at all.
    pub each: Vec<u64>,
    /// Keys of any pattern.
    pub keys: u64,
    /// Those of them that are encrypted.
    pub encrypted: u64,
    /// Those whose encrypted files were not opened, since there is no passphrase.
    pub unopened: Vec<PathBuf>,
    /// Private files in the clear that would count if keys did not have to be encrypted. If there is one, nothing was
    /// written.
    pub in_the_clear: Vec<PathBuf>,
    /// Private files that do not count, and why.
    pub flawed: Vec<(PathBuf, String)>,
    /// Lines of the ledger that are not whole.
    pub broken: u64,
    /// Keys without a line, which have one now.
    pub entered: u64,
}

impl Ledger {
    pub fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), log: AppendLog::new(directory.join(NAME)) }
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub fn path(&self) -> &Path {
        self.log.path()
    }

    /// Holds the ledger against other processes, from before a key has its names until it is entered.
    pub fn hold(&self) -> io::Result<HeldLog> {
        self.log.hold()
    }

    /// Appends entries, durably.
    ///
    /// # Errors
    ///
    /// What the operating system answers. Some of the entries may be in the ledger then.
    pub fn append(held: &mut HeldLog, entries: &[Entry]) -> io::Result<()> {
        held.append(&entries.iter().map(Entry::lines).collect::<String>())
    }

    /// Counts what the directory has of what is wanted: keys in the ledger that were made for the same patterns, and keys
    /// without a line whose files are named after one of the patterns. The latter are entered. A missing public file of
    /// either is made again.
    ///
    /// # Errors
    ///
    /// The directory or the ledger cannot be read or written.
    pub fn reconcile(&self, wanted: &Wanted) -> io::Result<Inventory> {
        let names: HashSet<String> = StoredPair::names(&self.directory)?.into_iter().collect();
        if names.is_empty() && fs::symlink_metadata(self.path()).is_err() {
            return Ok(Inventory::default());
        }
        let mut held = self.hold()?;
        let requests = Requests::new(wanted.patterns);
        let mut inventory = Inventory { each: vec![0; wanted.patterns.len()], ..Inventory::default() };
        let claims = claims(&mut held, &names, &requests, &mut inventory)?;
        let unlisted =
            self.unlisted(names.iter().filter(|name| !claims.contains_key(*name)), wanted.patterns);

        let asked_for = claims.iter().filter(|(_, claims)| claims.iter().any(|claim| !claim.ids.is_empty()));
        let candidates: Vec<(&String, &[Claim])> = asked_for
            .map(|(name, claims)| (name, claims.as_slice()))
            .chain(unlisted.iter().map(|name| (*name, &[][..])))
            .collect();
        let open =
            |(name, _): &(&String, &[Claim])| StoredPair::open(&self.directory, name, wanted.passphrase);
        // Without threads it takes longer.
        let opened: Vec<Result<StoredPair, Flaw>> = match rayon::ThreadPoolBuilder::new().build() {
            Ok(pool) => pool.install(|| candidates.par_iter().map(open).collect()),
            Err(_) => candidates.iter().map(open).collect(),
        };

        let matcher = Matcher::new(wanted.patterns);
        let mut seen = HashSet::new();
        let mut counted = Vec::new();
        for ((name, claims), opened) in candidates.into_iter().zip(opened) {
            let judged = opened.map_err(|flaw| flaw.to_string()).and_then(|pair| {
                let ids = judge(&pair, claims, wanted.patterns, &matcher)?;
                if seen.insert(pair.public_key) { Ok((pair, ids)) } else { Err(COPY.to_owned()) }
            });
            match judged {
                Ok((pair, ids)) => counted.push((pair, claims, ids)),
                Err(why) => inventory.flawed.push((self.directory.join(name), why)),
            }
        }
        let clear = counted.iter().filter(|(pair, ..)| wanted.encrypted && pair.storage == Storage::Clear);
        inventory.in_the_clear = clear.map(|(pair, ..)| self.directory.join(&pair.name)).collect();
        if !inventory.in_the_clear.is_empty() {
            return Ok(inventory);
        }

        let mut entries = Vec::new();
        for (pair, claims, ids) in &counted {
            let comment = claims.first().map(|claim| claim.comment.as_str()).or(wanted.comment);
            let line =
                pair.public_line(&self.directory, comment.unwrap_or_default()).map_err(io::Error::other)?;
            if claims.is_empty() {
                entries.push(self.entry(pair, line, ids, wanted.patterns)?);
            }
            inventory.count(&self.directory, pair, ids);
        }
        inventory.entered = entries.len() as u64;
        Self::append(&mut held, &entries)?;
        Ok(inventory)
    }

    /// Returns those of the names that begin as files of `patterns` do, sorted.
    fn unlisted<'a>(&self, names: impl Iterator<Item = &'a String>, patterns: &[Pattern]) -> Vec<&'a String> {
        let mut by_label: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
        for name in names {
            let (label, _) = parts_of_name(name).unwrap_or_default();
            by_label.entry(label).or_default().push(name);
        }
        if by_label.is_empty() {
            return Vec::new();
        }
        let labels = patterns.iter().map(|pattern| file_label(pattern.text()));
        let mut names: Vec<&String> = labels.filter_map(|label| by_label.remove(&*label)).flatten().collect();
        names.sort_unstable();
        names
    }

    /// Returns the entry of a pair without a line.
    fn entry(
        &self,
        pair: &StoredPair,
        line: String,
        ids: &[PatternId],
        patterns: &[Pattern],
    ) -> io::Result<Entry> {
        let named = |id: &PatternId| (patterns[*id].text().to_owned(), patterns[*id].style().kind);
        Ok(Entry {
            patterns: ids.iter().map(named).collect(),
            style: patterns[ids[0]].style(),
            fingerprint: pair.public_key.fingerprint(),
            line,
            file: pair.name.clone(),
            time: fs::metadata(self.directory.join(&pair.name))?.modified()?,
            attempts: None,
        })
    }
}

const COPY: &str = "it is a copy of a key that counts already";

/// What a line of the ledger says of a file.
struct Claim {
    public_key: PublicKey,
    comment: String,
    /// The wanted patterns that the key was made for.
    ids: Vec<PatternId>,
}

/// Reads what the ledger says of the files with these names, sorted by name.
fn claims(
    held: &mut HeldLog,
    names: &HashSet<String>,
    requests: &Requests,
    inventory: &mut Inventory,
) -> io::Result<BTreeMap<String, Vec<Claim>>> {
    let mut claims: BTreeMap<String, Vec<Claim>> = BTreeMap::new();
    for line in held.read(entry::LONGEST)? {
        let line = line?;
        if line.is_empty() {
            continue;
        }
        let entry = Entry::read(&line);
        let Some((entry, public_key)) =
            entry.and_then(|entry| PublicKey::of_line(&entry.line).map(|key| (entry, key)))
        else {
            inventory.broken += 1;
            continue;
        };
        if names.contains(&entry.file) {
            let ids = requests.asked_for(&entry);
            let comment = entry.line.splitn(3, ' ').nth(2).unwrap_or_default().to_owned();
            claims.entry(entry.file).or_default().push(Claim { public_key, comment, ids });
        }
    }
    Ok(claims)
}

/// Returns the patterns that a pair counts for: those that the ledger says, or without a line those that it shows, beginning
/// with the one that it is named after.
///
/// # Errors
///
/// Why it counts for none.
fn judge(
    pair: &StoredPair,
    claims: &[Claim],
    patterns: &[Pattern],
    matcher: &Matcher,
) -> Result<Vec<PatternId>, String> {
    let body = pair.public_key.body(matcher.target());
    let shows = |id: &PatternId| patterns[*id].find(&body).is_some();
    if claims.is_empty() {
        let mut ids = matcher.find(&pair.public_key.bytes(matcher.target()));
        ids.retain(shows);
        let first = ids.iter().position(|id| pair.is_named_after(patterns[*id].text()));
        let first = first.ok_or("it does not show the pattern that it is named after")?;
        ids[..=first].rotate_right(1);
        return Ok(ids);
    }
    let mut ids: Vec<PatternId> = Vec::new();
    for claim in claims.iter().filter(|claim| claim.public_key == pair.public_key) {
        ids.extend(claim.ids.iter().filter(|id| shows(id)));
    }
    ids.sort_unstable();
    ids.dedup();
    if claims.iter().all(|claim| claim.public_key != pair.public_key) {
        return Err(Flaw::OtherKey.to_string());
    }
    if ids.is_empty() { Err("it does not show the pattern that the ledger says".to_owned()) } else { Ok(ids) }
}

impl Inventory {
    fn count(&mut self, directory: &Path, pair: &StoredPair, ids: &[PatternId]) {
        self.keys += 1;
        for &id in ids {
            self.each[id] += 1;
        }
        self.encrypted += u64::from(pair.storage != Storage::Clear);
        if pair.storage == Storage::Unopened {
            self.unopened.push(directory.join(&pair.name));
        }
    }
}

/// The patterns that are wanted, to be found by what the ledger says of them.
struct Requests<'a>(HashMap<Identity<'a>, PatternId>);

impl<'a> Requests<'a> {
    fn new(patterns: &'a [Pattern]) -> Self {
        Self(patterns.iter().map(Pattern::identity).zip(0..).collect())
    }

    /// Returns the patterns that an entry was made for.
    fn asked_for(&self, entry: &Entry) -> Vec<PatternId> {
        let id = |(text, kind): &(String, Kind)| {
            let style = Style { kind: *kind, ..entry.style };
            self.0.get(&Identity::new(text, style)).copied()
        };
        entry.patterns.iter().filter_map(id).collect()
    }
}
