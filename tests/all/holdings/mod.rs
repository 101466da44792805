//! Judges from the files alone what a directory of keys holds.
//!
//! Nothing here asks the program. `ssh-key`, `pkcs8` and the tests' own reader of PuTTY's files
//! open private keys, and lines of the ledger are read as JSON. Patterns are literals that may
//! stand anywhere, in upper or lower case.

#![cfg(target_os = "linux")]

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use pkcs8::{EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef, SecretDocument};
use serde_json::Value;
use vanity_search::key::{PublicKey, Seed};

use crate::{program, putty};
use program::{LEDGER, Ran, body, derived, public_path};

/// The passphrase of every encrypted key.
pub const PASSPHRASE: &str = "correct horse";

/// About how many opened keys are remembered.
const REMEMBERED: usize = 1000;

/// The keys that a run has to make.
#[derive(Clone, Debug)]
pub struct Asked {
    pub patterns: Vec<&'static str>,
    pub count: usize,
    /// Whether `count` is the number of all keys, and not of the keys for each pattern.
    pub any: bool,
    pub encrypted: bool,
}

/// A private key that was opened.
#[derive(Clone)]
pub struct Opened {
    /// The public line without a comment.
    pub line: String,
    pub encrypted: bool,
}

/// Opens the text of a private key of any form, with the passphrase if it is encrypted.
fn open_text(text: &str) -> Option<Opened> {
    let opened = |key: PublicKey, encrypted| Opened { line: key.line("").trim_end().to_owned(), encrypted };
    if let Ok(key) = ssh_key::PrivateKey::from_openssh(text) {
        let encrypted = key.is_encrypted();
        let key = if encrypted { key.decrypt(PASSPHRASE).ok()? } else { key };
        let seed = key.key_data().ed25519()?.private.to_bytes();
        return Some(opened(Seed::new(seed).public_key(), encrypted));
    }
    if text.starts_with(putty::PPK) {
        let key = putty::open(text, PASSPHRASE)?;
        return Some(opened(Seed::new(key.seed).public_key(), text.contains(putty::ENCRYPTED_PPK)));
    }
    let (label, document) = SecretDocument::from_pem(text).ok()?;
    if label == "ENCRYPTED PRIVATE KEY" {
        let info = EncryptedPrivateKeyInfoRef::try_from(document.as_bytes()).ok()?;
        let document = info.decrypt(PASSPHRASE).ok()?;
        let info = PrivateKeyInfoRef::try_from(document.as_bytes()).ok()?;
        let seed = info.private_key.as_bytes().strip_prefix(b"\x04\x20")?.try_into().ok()?;
        return Some(opened(Seed::new(seed).public_key(), true));
    }
    (label == "PRIVATE KEY" && text.ends_with('\n')).then(|| opened(derived(text), false))
}

/// Opens a private file, or a link to one. Returns nothing if other users can read the file.
pub fn open(private: &Path) -> Option<Opened> {
    thread_local! {
        /// The keys opened before, by their text, because it takes long to open an encrypted key.
        static OPENED: RefCell<HashMap<String, Option<Opened>>> = RefCell::default();
    }
    let found = fs::metadata(private).ok()?;
    if !found.is_file() || found.mode() & 0o077 != 0 {
        return None;
    }
    let text = fs::read_to_string(private).ok()?;
    OPENED.with_borrow_mut(|opened| {
        if opened.len() > REMEMBERED {
            opened.clear();
        }
        opened.entry(text).or_insert_with_key(|text| open_text(text)).clone()
    })
}

/// Opens a private file. Returns nothing unless the public file beside it holds its public key.
pub fn open_pair(private: &Path) -> Option<Opened> {
    let opened = open(private)?;
    let line = fs::read_to_string(public_path(private)).ok()?;
    (key_of(&line) == opened.line).then_some(opened)
}

/// Returns whether a private file shows its public key only with the passphrase. A run without the
/// passphrase has to trust the ledger and the public file.
fn shows_nothing(private: &Path) -> bool {
    fs::read_to_string(private).is_ok_and(|text| text.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"))
}

/// Returns the type and the key of a public line, without its comment.
pub fn key_of(line: &str) -> String {
    line.trim_end().splitn(3, ' ').take(2).collect::<Vec<_>>().join(" ")
}

/// Returns whether a key shows a pattern.
pub fn shows(line: &str, pattern: &str) -> bool {
    body(line).to_lowercase().contains(&pattern.to_lowercase())
}

/// Returns the lines of a ledger that are whole.
pub fn ledger(directory: &Path) -> Vec<Value> {
    let bytes = fs::read(directory.join(LEDGER)).unwrap_or_default();
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice(line).ok()).filter(Value::is_object).collect()
}

/// Returns the patterns of a line of a ledger: those that its key was made for.
fn patterns_of(entry: &Value) -> Vec<&str> {
    let also = entry["also"].as_array().into_iter().flatten();
    std::iter::once(entry).chain(also).filter_map(|entry| entry["pattern"].as_str()).collect()
}

/// Returns the private files that count, by pattern. The ledger names such a file, the file and its
/// public file are whole, and the key is the one in the ledger, shows the pattern, and is encrypted
/// if that is asked for.
fn kept(directory: &Path, asked: &Asked) -> BTreeMap<&'static str, BTreeSet<String>> {
    let mut kept: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
    for entry in ledger(directory) {
        let Some(name) = entry["file"].as_str().filter(|name| !name.contains('/')) else { continue };
        let private = directory.join(name);
        let believed = || {
            let line = fs::read_to_string(public_path(&private)).ok()?;
            (!asked.encrypted && name.ends_with(".pem") && shows_nothing(&private))
                .then(|| Opened { line: key_of(&line), encrypted: true })
        };
        let Some(opened) = open_pair(&private).or_else(believed) else { continue };
        let is_the_ledgers = entry["public_key"].as_str().map(key_of).as_ref() == Some(&opened.line);
        if !is_the_ledgers || asked.encrypted && !opened.encrypted {
            continue;
        }
        let made_for = patterns_of(&entry);
        for pattern in &asked.patterns {
            if shows(&opened.line, pattern) && made_for.iter().any(|made| made.eq_ignore_ascii_case(pattern))
            {
                kept.entry(pattern).or_default().insert(name.to_owned());
            }
        }
    }
    kept
}

/// Checks that the directory holds everything that was asked for. The error says what is missing.
pub fn missing(directory: &Path, asked: &Asked) -> Result<(), String> {
    let kept = kept(directory, asked);
    let enough = |have: usize, of: &str| {
        let text = || format!("{have} of {} keys{of}", asked.count);
        if have < asked.count { Err(text()) } else { Ok(()) }
    };
    if asked.any {
        let all: BTreeSet<&String> = kept.values().flatten().collect();
        return enough(all.len(), "");
    }
    let have = |pattern: &str| kept.get(pattern).map_or(0, BTreeSet::len);
    asked.patterns.iter().try_for_each(|pattern| enough(have(pattern), &format!(" for {pattern}")))
}

/// An entry of a directory: its mode, and the bytes of a file or the target of a link. A directory
/// has no bytes here.
type Held = (u32, Vec<u8>);

/// Everything that a directory holds.
pub type Snapshot = BTreeMap<String, Held>;

/// Reads everything in a directory. The snapshot is empty if the directory does not exist.
pub fn snapshot(directory: &Path) -> Snapshot {
    let Ok(entries) = fs::read_dir(directory) else { return Snapshot::new() };
    let held = |path: &PathBuf| -> Held {
        let found = fs::symlink_metadata(path).unwrap();
        let bytes = match found.file_type() {
            kind if kind.is_symlink() => fs::read_link(path).unwrap().into_os_string().into_encoded_bytes(),
            kind if kind.is_file() => fs::read(path).unwrap(),
            _ => Vec::new(),
        };
        (found.mode(), bytes)
    };
    entries
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_string_lossy().into_owned(), held(&path))
        })
        .collect()
}

/// Returns whether a name is a temporary one.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(".vanity-ed25519-") && name.ends_with(".tmp")
}

/// Returns a text about the first entry of `before` that has changed. A ledger may grow, and a
/// temporary file of a killed process may be gone.
fn changed(before: &Snapshot, after: &Snapshot) -> Option<String> {
    before.iter().find_map(|(name, old)| {
        let new = after.get(name);
        let kept = match new {
            _ if name == LEDGER => new.is_some_and(|new| new.0 == old.0 && new.1.starts_with(&old.1)),
            None => is_temporary(name),
            Some(new) => new == old,
        };
        (!kept).then(|| format!("{name} was {old:?} and is {new:?}"))
    })
}

/// Checks that a run has done no harm, whatever its options were and however it ended. `before` is
/// the directory before the run. `stdout` is that of the run: each of its public lines must belong
/// to a whole key.
pub fn harm(directory: &Path, before: &Snapshot, stdout: &str) -> Result<(), String> {
    let after = snapshot(directory);
    if let Some(changed) = changed(before, &after) {
        return Err(changed);
    }
    let is_new = |name: &str| after.contains_key(name) && !before.contains_key(name);
    let listed = ledger(directory);
    let mut keys = BTreeSet::new();
    for name in after.keys().filter(|name| *name != LEDGER && !name.ends_with(".pub")) {
        let private = directory.join(name);
        if is_temporary(name) {
            let is_key = |text: &str| text.contains("PRIVATE KEY") || text.contains("Private-Lines");
            let holds_a_key = || fs::read_to_string(&private).is_ok_and(|text| is_key(&text));
            if is_new(name) && holds_a_key() {
                return Err(format!("a private key is left over in {name}"));
            }
            continue;
        }
        let Some(opened) = open(&private) else {
            if is_new(name) {
                return Err(format!("{name} is new and not whole"));
            }
            continue;
        };
        keys.extend(open_pair(&private).map(|opened| opened.line));
        // The program writes a public file only beside a new key, or beside one that was made for a
        // pattern.
        let is_entered = listed.iter().any(|entry| {
            entry["file"] == **name
                && entry["public_key"].as_str().map(key_of).as_ref() == Some(&opened.line)
                && patterns_of(entry).iter().any(|pattern| shows(&opened.line, pattern))
        });
        let ours = is_entered || name.rsplit_once('-').is_some_and(|(label, _)| shows(&opened.line, label));
        if is_new(&format!("{name}.pub")) && !is_new(name) && !ours {
            return Err(format!("{name}.pub was written beside a key of someone else"));
        }
    }
    let belongs = |public: &str| open_pair(&directory.join(public.trim_end_matches(".pub"))).is_some();
    let mut publics = after.keys().filter(|name| name.ends_with(".pub"));
    if let Some(alone) = publics.find(|name| is_new(name) && !belongs(name)) {
        return Err(format!("{alone} is new and belongs to no private key"));
    }
    // What the directory does not take is kept in the working directory, beside it.
    let outer = directory.parent().unwrap();
    let beside = program::names(outer).into_iter().filter_map(|name| open_pair(&outer.join(name)));
    keys.extend(beside.map(|opened| opened.line));
    let whole_lines = stdout.rsplit_once('\n').map_or("", |(lines, _)| lines);
    match whole_lines.lines().find(|line| !keys.contains(&key_of(line))) {
        Some(lost) => Err(format!("{lost} was printed, but no whole key has this line")),
        None => Ok(()),
    }
}

/// Checks that a run that nobody killed did not panic, and that it printed an error if it failed.
pub fn misbehavior(ran: &Ran) -> Result<(), String> {
    if ran.stderr.contains("panicked") || ran.stderr.contains("RUST_BACKTRACE") {
        return Err("it panicked".into());
    }
    match ran.status {
        Some(0) => Ok(()),
        Some(1 | 2) if ran.stderr.lines().any(|line| line.starts_with("error: ")) => Ok(()),
        status => Err(format!("it ended with {status:?}")),
    }
}
