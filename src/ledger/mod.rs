//! The ledger of a directory: its keys, and the patterns that they were made for.
//!
//! The ledger is a file of JSON lines in the directory, one for each key. It has nothing secret. A
//! line is appended after the files of the key are durable and before the key is reported. So a
//! killed process can leave at most a missing line, and [`Ledger::reconcile`] adds it when the next
//! search begins.
//!
//! A line proves nothing. A key counts only if its private file was opened, its public key is that
//! of the line and matches the pattern, and it was not counted before. A line that is false by itself
//! counts for nothing: its key has another name, or does not match its pattern.

mod entry;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use std::{fs, io};

use crate::escape::escaped_path;
use crate::key::{Passphrase, PublicKey, Storage};
use crate::notice::Notice;
use crate::pattern::{Identity, Kind, Matcher, Pattern, PatternId};
use crate::search::Stop;
use crate::store::{AppendLog, HeldLog, OTHER_KEY, StoredPair, file_label, is_name_of, parts_of_name};
use crate::words::{counted, grouped};

pub use entry::{Entry, exact};

/// The name of the ledger in its directory.
const NAME: &str = "vanity-ed25519.jsonl";

/// How long another process may use a ledger before that is said, and the same with `--quiet`.
const SAID_AFTER: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(3)];

/// How long keys are opened without a word about it.
const LONG: Duration = Duration::from_secs(1);

/// How often a process that waits looks whether the waiting must end.
const POLL: Duration = Duration::from_millis(50);

/// The ledger of a directory.
pub struct Ledger {
    directory: PathBuf,
    /// The file. It is held from before a key's files get their names until its line is appended. Otherwise
    /// another process can find the files without their line, and add the line itself.
    pub log: AppendLog,
}

/// The keys that are wanted in a directory.
pub struct Criteria<'a> {
    /// The patterns of the keys.
    pub patterns: &'a [Pattern],
    /// The comment for public files that are written again, if it is not the pattern.
    pub comment: Option<&'a str>,
    /// The passphrase for encrypted files, with which each is opened.
    pub passphrase: Option<&'a Passphrase>,
    /// Whether keys must be encrypted to count.
    pub encrypted: bool,
    /// Whether keys count to which users other than the owner have access.
    pub allow_exposed: bool,
}

/// What happens while something takes long: another process uses the ledger, or keys are opened.
pub struct Waiting<'a> {
    /// Takes a notice about it, once.
    pub tell: &'a dyn Fn(Notice),
    /// Whether `--quiet` is given.
    pub quiet: bool,
    /// What ends the waiting.
    pub stop: &'a Stop,
}

/// The wanted keys that a directory has.
#[derive(Default)]
pub struct Inventory {
    /// The number of keys of each pattern; empty if the directory has no keys and no ledger.
    pub each: Vec<u64>,
    /// The number of keys of any pattern.
    pub keys: u64,
    /// How many of these keys are encrypted.
    pub encrypted: u64,
    /// The encrypted files that count although they were not opened, for lack of a passphrase.
    pub unopened: Vec<PathBuf>,
    /// Private files in the clear that would count if keys need not be encrypted. If there is one,
    /// nothing was written.
    pub in_the_clear: Vec<PathBuf>,
    /// Private files that do not count, and the reasons.
    pub flawed: Vec<(PathBuf, String)>,
    /// The number of lines of the ledger that are not valid, or false by themselves.
    pub broken: u64,
    /// The number of keys that had no line and have one now.
    pub entered: u64,
}

impl Ledger {
    pub fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), log: AppendLog::new(directory.join(NAME)) }
    }

    pub fn path(&self) -> &Path {
        self.log.path()
    }

    /// Opens and locks the ledger, however long another process uses it.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system, or [`io::ErrorKind::WouldBlock`] if the waiting must
    /// end.
    fn hold(&self, waiting: &Waiting) -> io::Result<HeldLog> {
        let (began, mut is_said) = (Instant::now(), false);
        loop {
            if let Some(held) = self.log.hold(POLL)? {
                return Ok(held);
            }
            if waiting.stop.requested().is_some() {
                return Err(in_use());
            }
            if !is_said && let Some(notice) = self.waits(began, waiting.quiet, "Ctrl-C ends the waiting") {
                is_said = true;
                (waiting.tell)(notice);
            }
        }
    }

    /// Returns the notice that another process uses the ledger, if it has done so for long. `--quiet` does
    /// not hide that.
    #[must_use]
    pub fn waits(&self, since: Instant, quiet: bool, meanwhile: &str) -> Option<Notice> {
        let path = escaped_path(self.path());
        let text = || format!("waiting for another process, which is using '{path}'; {meanwhile}");
        let is_long = since.elapsed() >= SAID_AFTER[usize::from(quiet)];
        is_long.then(|| if quiet { Notice::error(text()) } else { Notice::info(text()) })
    }

    /// Appends the entries that the ledger does not have, and syncs it.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system. Some of the entries may be in the ledger then.
    pub fn append_missing(held: &mut HeldLog, mut entries: Vec<Entry>) -> io::Result<()> {
        for line in held.read(entry::LONGEST)? {
            if let Some(entered) = Entry::read(&line?) {
                entries.retain(|entry| entry.file != entered.file || entry.key() != entered.key());
            }
        }
        Self::append(held, &entries)
    }

    /// Appends entries and syncs the ledger.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system. Some of the entries may be in the ledger then.
    pub fn append(held: &mut HeldLog, entries: &[Entry]) -> io::Result<()> {
        held.append(&entries.iter().map(Entry::lines).collect::<String>())
    }

    /// Counts the wanted keys in the directory.
    ///
    /// These are the keys in the ledger that were made for the same patterns, and the keys without
    /// a line whose files are named after one of the patterns. This adds the missing lines and
    /// writes the missing public files.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory or the ledger cannot be read or written, or
    /// [`io::ErrorKind::WouldBlock`] if the waiting for another process must end.
    pub fn reconcile(&self, criteria: &Criteria, waiting: &Waiting) -> io::Result<Inventory> {
        let names = || StoredPair::names(&self.directory);
        if names()?.is_empty() && fs::symlink_metadata(self.path()).is_err() {
            return Ok(Inventory::default());
        }
        let mut held = self.hold(waiting)?;
        // While this process waited, another one may have made keys.
        let names = names()?.into_iter().collect();
        let mut inventory = Inventory { each: vec![0; criteria.patterns.len()], ..Inventory::default() };
        let claims = claims(&mut held, &names, &WantedPatterns::new(criteria.patterns), &mut inventory)?;
        let judged = self.judged(claims, criteria, waiting, &mut inventory)?;
        if inventory.in_the_clear.is_empty() {
            self.enter(&mut held, &judged, criteria, &mut inventory)?;
        }
        Ok(inventory)
    }

    /// Opens the pairs that are claimed, and returns those that count. The others go to the inventory.
    ///
    /// # Errors
    ///
    /// Returns [`io::ErrorKind::WouldBlock`] if it must end.
    fn judged(
        &self,
        claims: Vec<(String, Vec<Claim>)>,
        criteria: &Criteria,
        waiting: &Waiting,
        inventory: &mut Inventory,
    ) -> io::Result<Vec<Judged>> {
        let opened = self.open(claims.iter().map(|(name, _)| name), criteria, waiting)?;
        let matcher = Matcher::new(criteria.patterns);
        let mut seen = HashSet::new();
        let mut judged = Vec::new();
        for ((name, claims), opened) in claims.into_iter().zip(opened) {
            let counted = opened.and_then(|pair| {
                let ids = judge(&pair, &claims, criteria.patterns, &matcher)?;
                if seen.insert(pair.public_key) { Ok((pair, ids)) } else { Err(COPY.to_owned()) }
            });
            match counted {
                Ok((pair, ids)) => {
                    if criteria.encrypted && pair.storage == Storage::Clear {
                        inventory.in_the_clear.push(self.directory.join(&name));
                    }
                    judged.push(Judged { pair, claims, ids });
                }
                Err(why) => inventory.flawed.push((self.directory.join(name), why)),
            }
        }
        Ok(judged)
    }

    /// Counts the pairs, writes the public files that are missing, and appends the lines that are missing.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    fn enter(
        &self,
        held: &mut HeldLog,
        judged: &[Judged],
        criteria: &Criteria,
        inventory: &mut Inventory,
    ) -> io::Result<()> {
        let mut entries = Vec::new();
        for Judged { pair, claims, ids } in judged {
            let comment = claims.first().map(|claim| claim.comment.as_str()).or(criteria.comment);
            let line =
                pair.public_line(&self.directory, comment.unwrap_or_default()).map_err(io::Error::other)?;
            if claims.is_empty() {
                let time = fs::metadata(self.directory.join(&pair.name))?.modified()?;
                let (key, name) = (&pair.public_key, pair.name.clone());
                entries.push(Entry::new(key, line, name, time, ids, criteria.patterns));
            }
            inventory.count(&self.directory, pair, ids);
        }
        inventory.entered = entries.len() as u64;
        Self::append(held, &entries)
    }

    /// Opens the pairs of these names, on all processors.
    ///
    /// # Errors
    ///
    /// Returns [`io::ErrorKind::WouldBlock`] if it must end. The files in hand are not waited for: with a
    /// passphrase each takes long.
    fn open<'a>(
        &self,
        names: impl ExactSizeIterator<Item = &'a String>,
        criteria: &Criteria,
        waiting: &Waiting,
    ) -> io::Result<Vec<Result<StoredPair, String>>> {
        let keys = names.len();
        let pool = rayon::ThreadPoolBuilder::new().panic_handler(drop).build();
        let (opened, receiver) = mpsc::channel();
        for (number, name) in names.enumerate() {
            let (directory, name, opened) = (self.directory.clone(), name.clone(), opened.clone());
            let (passphrase, allow_exposed) = (criteria.passphrase.cloned(), criteria.allow_exposed);
            let open = move || {
                let pair = StoredPair::open(&directory, &name, passphrase.as_ref(), allow_exposed);
                // Nobody waits for it any more if it must end.
                let _ = opened.send((number, pair));
            };
            match &pool {
                Ok(pool) => pool.spawn(open),
                // Without threads this takes longer.
                Err(_) => open(),
            }
        }
        drop(opened);
        let mut pairs = Vec::with_capacity(keys);
        let began = Instant::now();
        let mut quiet_until = Some(began + LONG);
        while pairs.len() < keys {
            // A few keys are opened also within the shortest limit.
            if began.elapsed() >= POLL && waiting.stop.requested().is_some() {
                return Err(io::Error::new(io::ErrorKind::WouldBlock, "opening its keys takes longer"));
            }
            match receiver.recv_timeout(POLL) {
                Ok(pair) => pairs.push(pair),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::other("the program panicked while it opened a key"));
                }
            }
            if quiet_until.take_if(|until| *until <= Instant::now()).is_some() {
                let (keys, open) = (counted(keys as u64, "existing key"), grouped(pairs.len() as u64));
                let text = format!("opening {keys}: {open} after 1 s; Ctrl-C ends it");
                (waiting.tell)(Notice::info(text));
            }
        }
        pairs.sort_unstable_by_key(|(number, _)| *number);
        Ok(pairs.into_iter().map(|(_, pair)| pair).collect())
    }
}

/// Returns the error if another process uses a ledger for too long.
pub fn in_use() -> io::Error {
    io::Error::new(io::ErrorKind::WouldBlock, "another process is using it")
}

const COPY: &str = "it is a copy of another key in the directory";

/// The claim of a line of the ledger about a file.
struct Claim {
    public_key: PublicKey,
    comment: String,
    /// The wanted patterns that the key was made for.
    ids: Vec<PatternId>,
}

/// A pair that counts, for these patterns.
struct Judged {
    pair: StoredPair,
    /// The claims about it. If there are none, it gets a line.
    claims: Vec<Claim>,
    ids: Vec<PatternId>,
}

/// Reads the claims of the ledger about the files with these names, by name. Files without a line follow,
/// without claims. Leaves out what was not asked for, and lines that are false by themselves.
fn claims(
    held: &mut HeldLog,
    names: &HashSet<String>,
    requests: &WantedPatterns,
    inventory: &mut Inventory,
) -> io::Result<Vec<(String, Vec<Claim>)>> {
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
        if !names.contains(&entry.file) {
            continue;
        }
        let asked_for = is_name_of(&entry.file, &public_key).then(|| requests.asked_for(&entry, &public_key));
        let Some(ids) = asked_for.flatten() else {
            inventory.broken += 1;
            continue;
        };
        let comment = entry.line.splitn(3, ' ').nth(2).unwrap_or_default().to_owned();
        claims.entry(entry.file).or_default().push(Claim { public_key, comment, ids });
    }
    let is_unlisted = |name: &&String| !claims.contains_key(*name) && requests.is_named(name);
    let mut unlisted: Vec<String> = names.iter().filter(is_unlisted).cloned().collect();
    unlisted.sort_unstable();
    claims.retain(|_, claims| claims.iter().any(|claim| !claim.ids.is_empty()));
    Ok(claims.into_iter().chain(unlisted.into_iter().map(|name| (name, Vec::new()))).collect())
}

/// Returns the patterns that a pair counts for. With a line in the ledger, these are the patterns
/// of the line that the key matches. Without one, they are all patterns that the key matches, and
/// the pattern that the files are named after comes first.
///
/// # Errors
///
/// Returns why the pair counts for no pattern.
fn judge(
    pair: &StoredPair,
    claims: &[Claim],
    patterns: &[Pattern],
    matcher: &Matcher,
) -> Result<Vec<PatternId>, String> {
    if claims.is_empty() {
        let body = pair.public_key.body(matcher.target());
        let mut ids = matcher.find(&pair.public_key.bytes(matcher.target()));
        ids.retain(|id| patterns[*id].find(&body).is_some());
        let first = ids.iter().position(|id| pair.is_named_after(patterns[*id].text()));
        let first = first.ok_or("it does not match the pattern in its name")?;
        ids[..=first].rotate_right(1);
        return Ok(ids);
    }
    let own = claims.iter().filter(|claim| claim.public_key == pair.public_key);
    let mut ids: Vec<PatternId> = own.flat_map(|claim| &claim.ids).copied().collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() { Err(OTHER_KEY.to_owned()) } else { Ok(ids) }
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

/// The wanted patterns, to find them from an entry of the ledger or the name of a file.
struct WantedPatterns<'a> {
    patterns: &'a [Pattern],
    ids: HashMap<Identity<'a>, PatternId>,
    /// The labels of files that are named after them.
    labels: HashSet<String>,
}

impl<'a> WantedPatterns<'a> {
    fn new(patterns: &'a [Pattern]) -> Self {
        Self {
            patterns,
            ids: patterns.iter().map(Pattern::identity).zip(0..).collect(),
            labels: patterns.iter().map(|pattern| file_label(pattern.text())).collect(),
        }
    }

    /// Whether a file is named after one of the patterns.
    fn is_named(&self, name: &str) -> bool {
        parts_of_name(name).is_some_and(|(label, _)| self.labels.contains(label))
    }

    /// Returns the patterns that an entry was made for. Returns `None` if its key does not match them.
    ///
    /// If it was made for other patterns, that matters only if its file would count without it.
    fn asked_for(&self, entry: &Entry, public_key: &PublicKey) -> Option<Vec<PatternId>> {
        let patterns = entry.patterns()?;
        let (text, options) = patterns[0];
        let body = public_key.body(options.target);
        let wanted = patterns.iter().map(|(text, options)| self.ids.get(&Identity::new(text, *options)));
        let mut ids: Vec<PatternId> = wanted.flatten().copied().collect();
        if !ids.is_empty() {
            ids.retain(|id| self.patterns[*id].find(&body).is_some());
            return (!ids.is_empty()).then_some(ids);
        }
        // An expression takes too long to compile.
        let is_shown = options.kind == Kind::Regex
            || !self.is_named(&entry.file)
            || Pattern::new(text, options).is_ok_and(|pattern| pattern.find(&body).is_some());
        is_shown.then_some(ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_missing_unless_the_file_and_the_key_are_there() {
        let directory = tempfile::tempdir().unwrap();
        let entry = |file: &str, key: &str| {
            let line = format!(
                "{{\"pattern\":\"a\",\"kind\":\"word\",\"case_sensitive\":false,\"leet\":false,\"in\":\"key\",\
                 \"public_key\":\"ssh-ed25519 {key}\",\"fingerprint\":\"SHA256:{key}\",\"file\":\"{file}\",\
                 \"time\":\"2027-01-15T08:00:00Z\"}}"
            );
            Entry::read(line.as_bytes()).unwrap()
        };
        let ledger = Ledger::new(directory.path());
        let mut held = ledger.log.hold(POLL).unwrap().unwrap();
        Ledger::append(&mut held, &[entry("a", "x")]).unwrap();
        let entries = vec![entry("a", "x"), entry("a", "y"), entry("b", "x")];
        Ledger::append_missing(&mut held, entries.clone()).unwrap();
        let lines = held.read(entry::LONGEST).unwrap().map(|line| Entry::read(&line.unwrap()).unwrap());
        assert!(lines.eq(entries));
    }
}
